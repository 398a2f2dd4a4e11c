"""The real ratings of six languages must give the figures published with them, to every digit printed there."""

from pathlib import Path

import numpy as np
import pytest
from sklearn.metrics import cohen_kappa_score, precision_recall_fscore_support

from gates._measures import agreement, resampling
from gates._verdict import evidence
from gates._verdict.evidence import Evidence
from gates._verdict.gate_record import GateRecord
from pools._dataset import dataset
from pools._dataset.dataset import Dataset
from pools._dataset.settings import Settings
from prompts.scales import Scale

# pairs, judge relevant, experts relevant, both, same, precision, recall, F1, verdict, kappa, always; interval, share
PUBLISHED = {
    "python": (956, 459, 427, 330, "730 (76%)", "0.7190", "0.7728", "0.7449", "passed", "0.5252", "0.617", 0.697, 0.786, 0.998),
    "java": (769, 340, 241, 209, "606 (79%)", "0.6147", "0.8672", "0.7194", "passed", "0.5569", "0.477", 0.669, 0.764, 0.97),
    "javascript":
        (305, 123, 110, 91, "254 (83%)", "0.7398", "0.8273", "0.7811", "passed", "0.6465", "0.530", 0.720, 0.833, 0.999),
    "php": (289, 128, 122, 95, "229 (79%)", "0.7422", "0.7787", "0.7600", "passed", "0.5773", "0.594", 0.690, 0.821, 0.99),
    "ruby": (300, 90, 82, 61, "250 (83%)", "0.6778", "0.7439", "0.7093", "passed", "0.5928", "0.429", 0.620, 0.787, 0.82),
    "go": (162, 49, 40, 28, "129 (80%)", "0.5714", "0.7000", "0.6292", "missed", "0.4908", "0.396", 0.500, 0.742, 0.23),
}  # fmt: skip


@pytest.fixture(scope="module")
def data(csn: Path, scale: Scale) -> Dataset:
    return dataset.load(csn, scale)


@pytest.fixture(scope="module")
def records(data: Dataset) -> dict[str, GateRecord]:
    return {language: evidence.verdict(data, language, evidence=published(data, language)) for language in data.languages}


def published(data: Dataset, language: str) -> Evidence:
    found = evidence.published(data, language, settings=Settings())
    assert found is not None
    return found


def test_languages_are_the_published_ones(data: Dataset) -> None:
    assert set(data.languages) == set(PUBLISHED)


@pytest.mark.parametrize("language", PUBLISHED)
def test_figures_are_the_published_ones(language: str, records: dict[str, GateRecord]) -> None:
    record, figures = records[language], records[language].agreement
    share = f"{figures.same} ({figures.same / figures.pairs:.0%})"
    assert (
        figures.pairs, figures.judge_relevant, figures.expert_relevant, figures.both, share, f"{figures.precision:.4f}",
        f"{figures.recall:.4f}", f"{figures.f1:.4f}", record.verdict, f"{figures.kappa:.4f}", f"{figures.always_f1:.3f}",
    ) == PUBLISHED[language][:11]  # fmt: skip
    assert record.passed == (language != "go")


@pytest.mark.parametrize("language", PUBLISHED)
def test_intervals_and_shares_are_the_published_ones(language: str, records: dict[str, GateRecord]) -> None:
    low, high, share = PUBLISHED[language][11:]
    record = records[language]
    assert record.percentile == pytest.approx((low, high), abs=0.01)
    # All but Go's are within a point. That one is 24.6 % in a million resamples; the published 23 % comes from 2,000, of
    # which one figure in ten is as far off.
    error = (share * (1 - share) / 2000) ** 0.5
    assert record.share == pytest.approx(share, abs=2 * error if language == "go" else 0.01)


@pytest.mark.parametrize("language", PUBLISHED)
def test_shares_are_those_of_drawing_searches_one_by_one(language: str, data: Dataset, records: dict[str, GateRecord]) -> None:
    """A bootstrap of ten lines, many times longer, must give the same share within a point: the exact one, as it were."""
    pairs = agreement.align(data.experts_of(language), published(data, language).ratings)
    both, judge_only, expert_only, _ = agreement.verdicts(pairs, 2).confusion().T
    drawn = np.random.default_rng(7)
    reached = 0
    for _ in range(100):
        chosen = drawn.integers(len(both), size=(2_000, len(both)))
        hits, errors = both[chosen].sum(axis=1), (judge_only + expert_only)[chosen].sum(axis=1)
        reached += int(np.count_nonzero(2 * hits >= 0.67 * (2 * hits + errors)))
    assert records[language].share == pytest.approx(reached / 200_000, abs=0.01)


def test_only_clear_verdicts_are_called_clear(records: dict[str, GateRecord]) -> None:
    assert {language for language, record in records.items() if not record.clear} == {"ruby", "go"}


def test_experts_against_each_other(records: dict[str, GateRecord]) -> None:
    between = records["python"].between_experts
    assert between is not None
    assert (between.pairs, between.same, f"{between.f1:.3f}") == (848, 597, "0.711")
    assert all(record.between_experts is None for language, record in records.items() if language != "python")


@pytest.mark.parametrize("language", PUBLISHED)
def test_scikit_learn_agrees(language: str, data: Dataset, records: dict[str, GateRecord]) -> None:
    experts, ratings = data.experts_of(language), published(data, language).ratings
    truth = [sum(experts[pair]) / len(experts[pair]) >= 2 for pair in ratings]
    judged = [rating >= 2 for rating in ratings.values()]
    figures = records[language].agreement
    theirs = precision_recall_fscore_support(truth, judged, average="binary")[:3]
    assert (figures.precision, figures.recall, figures.f1) == pytest.approx(theirs)
    assert figures.kappa == pytest.approx(cohen_kappa_score(truth, judged))


def test_shares_converge(data: Dataset) -> None:
    """With other seeds the share moves by no more than its Monte-Carlo error."""
    pairs = agreement.align(data.experts_of("go"), published(data, "go").ratings)
    confusion = agreement.verdicts(pairs, 2).confusion()
    found = [resampling.resample(confusion, 0.67, resamples=10_000, seed=seed) for seed in range(10)]
    assert np.std([resampled.share for resampled in found if resampled]) < 0.01
