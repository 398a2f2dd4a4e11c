"""What would settle a verdict: numbers that suffice when they are tried, pairs drawn as said, and ratings that come back."""

import csv
import io
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from bench import bench_coverage
from bench.bench_coverage import Shape
from gates._measures import agreement, interval, resampling
from gates._measures.arrays import Integers
from gates._verdict import gate_record, labels
from gates._verdict.gate_record import GateRecord
from pools._dataset import dataset
from pools._dataset.records import Function, Qrel
from pools._dataset.settings import GateSettings
from pools.errors import DataError, UsageError
from prompts.scales import Scale
from tests.builders.rows import PoolEntry, write_dataset
from tests.builders.verdicts import assess, ratings_of

SETTINGS = GateSettings(resamples=400)


def _record(confusion: Integers, threshold: float) -> GateRecord:
    """A record of these counts, its ratings left out."""
    empty = gate_record.assess("go", {}, ratings={}, gate=SETTINGS, relevant_from=2, seed=1, judge_id=None)
    figures = agreement.agreement(confusion.sum(axis=0))
    resampled = resampling.resample(confusion, threshold, resamples=SETTINGS.resamples, seed=1)
    assert resampled is not None
    assert figures.f1 is not None
    passed = figures.f1 >= threshold
    share = resampled.share if passed else 1 - resampled.share
    return replace(
        empty,
        verdict="passed" if passed else "missed",
        clear=share >= SETTINGS.confidence,
        threshold=threshold,
        agreement=figures,
        share=resampled.share,
        interval=interval.of_f1(confusion),
    )


@pytest.mark.parametrize(("f1", "threshold"), [(0.72, 0.67), (0.62, 0.67), (0.75, 0.67)])
def test_so_many_labels_make_it_clear_in_four_of_five_cases(f1: float, threshold: float) -> None:
    """Start from uncertain validations whose F1 is near the judge's own, add as many pairs as asked for, and look again."""
    random = np.random.default_rng(3)
    shape, settled, tried = Shape(30, (1, 3, 5)), 0, 0
    while tried < 150:
        confusion = bench_coverage.simulate(f1, shape, world=bench_coverage.USUAL, random=random)
        record = _record(confusion, threshold)
        if record.clear or abs((record.agreement.f1 or 0) - f1) > 0.01:
            continue
        needed = labels.needed(record, confusion)
        assert needed is not None
        assert needed.pairs > 0
        # Three pairs a search on average.
        larger = Shape(-(-needed.pairs // 3), shape.pairs)
        further = bench_coverage.simulate(f1, larger, world=bench_coverage.USUAL, random=random)
        after = _record(np.concatenate([confusion, further]), threshold)
        settled += after.clear and after.verdict == record.verdict
        tried += 1
    assert settled / tried >= 0.8


def test_a_clear_verdict_needs_none_and_some_have_no_number() -> None:
    experts, ratings = ratings_of(90, 5, 5, 50)
    confusion = agreement.verdicts(agreement.align(experts, ratings), 2).confusion()
    assert labels.needed(assess(experts, ratings), confusion) == labels.Needed(0, 0)
    experts, ratings = ratings_of(67, 33, 33, 50)
    confusion = agreement.verdicts(agreement.align(experts, ratings), 2).confusion()
    on_the_threshold = assess(experts, ratings)
    assert not on_the_threshold.clear
    assert labels.needed(on_the_threshold, confusion) is None
    del ratings[next(iter(ratings))]
    assert labels.needed(assess(experts, ratings), confusion) is None


def test_nearer_the_threshold_more_are_needed() -> None:
    counts = []
    for both in (70, 72, 75):
        experts, ratings = ratings_of(both, 33, 33, 50)
        confusion = agreement.verdicts(agreement.align(experts, ratings), 2).confusion()
        found = labels.needed(assess(experts, ratings), confusion)
        assert found is not None
        assert 0 < found.relevant < found.pairs
        counts.append(found.pairs)
    assert counts == sorted(counts, reverse=True)


POOL = [
    PoolEntry(f"q{number % 7}", f"f{number:03}", "pooled", (("bm25",), ("bm25", "grep-all"), ())[number % 3])
    for number in range(300)
]
JUDGED = {(entry.search_id, entry.function_id): min(3, number % 5) for number, entry in enumerate(POOL)}
EXPERTS = {("q0", f"f{number:03}"): (JUDGED["q0", f"f{number:03}"],) for number in range(0, 300, 7)}


def test_pairs_are_drawn_with_the_probability_said() -> None:
    drawn: dict[tuple[str, str], int] = {}
    chances: dict[tuple[str, str], float] = {}
    for seed in range(600):
        found = labels.suggest(POOL, JUDGED, experts=EXPERTS, relevant_from=2, count=40, seed=seed)
        assert len({entry.pair for entry in found}) == 40
        for entry in found:
            drawn[entry.pair] = drawn.get(entry.pair, 0) + 1
            chances[entry.pair] = entry.probability
    assert not set(drawn) & set(EXPERTS)
    assert len(drawn) == 300 - len(EXPERTS)
    assert sum(chances.values()) == pytest.approx(40)
    for pair, chance in chances.items():
        assert drawn[pair] / 600 == pytest.approx(chance, abs=4.5 * (chance * (1 - chance) / 600) ** 0.5)


def test_pairs_of_whose_rating_experts_disagree_more_are_drawn_more() -> None:
    experts = EXPERTS | {pair: (3 * (index % 2),) for index, pair in enumerate(pair for pair in JUDGED if JUDGED[pair] == 1)}
    some = {pair: given for pair, given in experts.items() if pair in EXPERTS or pair[1] < "f100"}
    found = labels.suggest(POOL, JUDGED, experts=some, relevant_from=2, count=40, seed=1)
    chances = {JUDGED[entry.pair]: entry.probability for entry in found}
    assert chances[1] == max(chances.values())
    assert labels.suggest(POOL, JUDGED, experts=some, relevant_from=2, count=40, seed=1) == labels.suggest(
        list(reversed(POOL)), JUDGED, experts=some, relevant_from=2, count=40, seed=1
    )


def test_every_stratum_gets_its_share() -> None:
    found = labels.suggest(POOL, JUDGED, experts={}, relevant_from=2, count=60, seed=5)
    chance = {entry.pair: entry.probability for entry in found}
    for rating in range(4):
        expected = sum(1 for pair in JUDGED if JUDGED[pair] == rating) * next(chance[p] for p in chance if JUDGED[p] == rating)
        assert abs(sum(JUDGED[pair] == rating for pair in chance) - expected) < 2


def test_never_more_than_there_are() -> None:
    assert len(labels.suggest(POOL[:9], JUDGED, experts={}, relevant_from=2, count=100, seed=1)) == 9
    assert labels.suggest([], JUDGED, experts={}, relevant_from=2, count=5, seed=1) == ()
    assert labels.suggest(POOL, {}, experts={}, relevant_from=2, count=5, seed=1) == ()


def _sheet(folder: Path, scale: Scale, *ratings: str) -> Path:
    data = dataset.load(folder, scale)
    suggestions = [labels.Suggestion(("q0", "python/0000"), 0.5), labels.Suggestion(("q1", "python/0002"), 0.25)]
    text = labels.sheet("python", suggestions, queries=data.queries, functions=data.corpus or ())
    for rating in ratings:
        text = text.replace("00,,", f"00,{rating},", 1)
    path = folder / "sheet.csv"
    path.write_text(text, encoding="utf-8")
    return path


def test_a_sheet_goes_out_without_the_judges_word_and_comes_back_as_a_layer(folder: Path, scale: Scale) -> None:
    path = _sheet(folder, scale, "3", "1")
    assert path.read_text(encoding="utf-8").splitlines()[0] == "language,search_id,function_id,probability,rating,search,code"
    given = labels.read_sheet(path, scale)
    assert given == {("python", "q0", "python/0000"): 3, ("python", "q1", "python/0002"): 1}
    data = dataset.load(folder, scale)
    layered = labels.add_layer(data, given, rater="anna", date="2026-01-02", relevant_from=2)
    rows = {qrel.pair: qrel for qrel in layered}
    assert rows["q0", "python/0000"] == Qrel(
        "python", "q0", "python/0000", 3.0, True, "expert", (3,), None, "expert", {"raters": ["anna 2026-01-02"]}
    )
    assert rows["q1", "python/0002"].expert_ratings == (3, 1)
    assert (rows["q1", "python/0002"].relevance, rows["q1", "python/0002"].extra["raters"]) == (2.0, ["", "anna 2026-01-02"])
    assert rows["q0", "python/0001"] == data.qrels[0]
    with pytest.raises(DataError, match="already has a rating by anna 2026-01-02"):
        labels.add_layer(replace(data, qrels=layered), given, rater="anna", date="2026-01-02", relevant_from=2)
    again = labels.add_layer(replace(data, qrels=layered), given, rater="bert", date="2026-01-02", relevant_from=2)
    assert {qrel.pair: qrel.expert_ratings for qrel in again}["q1", "python/0002"] == (3, 1, 1)


def test_a_judges_row_becomes_an_experts_and_keeps_the_judges_word(folder: Path, scale: Scale) -> None:
    data = dataset.load(folder, scale)
    judged = Qrel("python", "q0", "python/0000", 0.0, False, "judge", (), 0, "pooled")
    layered = labels.add_layer(
        replace(data, qrels=(*data.qrels, judged)),
        {("python", "q0", "python/0000"): 2},
        rater="anna",
        date="d",
        relevant_from=2,
    )
    found = {qrel.pair: qrel for qrel in layered}["q0", "python/0000"]
    assert (found.source, found.rated_because, found.judge_rating, found.relevance) == ("expert", "expert", 0, 2.0)


def test_empty_rows_are_skipped(folder: Path, scale: Scale) -> None:
    assert labels.read_sheet(_sheet(folder, scale), scale) == {}


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("language,search_id,function_id\npython,q0,x\n", "row 2: no column rating"),
        ("language,search_id,function_id,rating\npython,q0,x,7\n", "row 2: rating '7' is not a whole number of 0-3"),
        ("language,search_id,function_id,rating\npython,q0,x,2.5\n", "row 2: rating '2.5'"),
        ("language,search_id,function_id,rating\npython,q0,x,2\npython,q0,x,2\n", "row 3: python q0 x stands twice"),
    ],
)
def test_what_is_no_sheet_is_named_with_its_row(tmp_path: Path, scale: Scale, text: str, fault: str) -> None:
    path = tmp_path / "sheet.csv"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(DataError) as error:
        labels.read_sheet(path, scale)
    assert fault in str(error.value)


def test_a_layer_needs_a_rater_and_pairs_there_are(tmp_path: Path, scale: Scale) -> None:
    write_dataset(tmp_path)
    data = dataset.load(tmp_path, scale)
    with pytest.raises(UsageError, match="need a rater"):
        labels.add_layer(data, {}, rater=" ", date="2026-01-02", relevant_from=2)
    with pytest.raises(DataError, match="no such search and function: python q0 python/9999"):
        labels.add_layer(data, {("python", "q0", "python/9999"): 1}, rater="anna", date="2026-01-02", relevant_from=2)


def test_a_spreadsheet_neither_computes_nor_overflows(folder: Path, scale: Scale) -> None:
    data = dataset.load(folder, scale)
    pair = (data.queries[0].search_id, "x")
    for code, shown in (("@cache\ndef f(): ...", " @cache\ndef f(): ..."), ("=1", " =1"), ("a" * 40_000, "a" * 32_000 + "…")):
        text = labels.sheet(
            "python", [labels.Suggestion(pair, 1.0)], queries=data.queries, functions=[Function("x", "python", code)]
        )
        assert list(csv.reader(io.StringIO(text)))[1][-1] == shown
