"""What stands behind a verdict: everything over the pairs that count, and only what is known is broken down."""

import random

import pytest

from gates._measures import levels
from gates._verdict import findings, gate_record
from gates._verdict.findings import Circumstances
from pools._dataset.records import PairKey
from pools._dataset.settings import GateSettings

RANDOM = random.Random(5)
PAIRS = [(f"q{n % 20}", f"f{n}") for n in range(240)]
EXPERTS: dict[PairKey, tuple[int, ...]] = {pair: (RANDOM.choice((0, 1, 2, 3)), RANDOM.choice((0, 2, 3))) for pair in PAIRS}
RATINGS = {pair: given[0] if RANDOM.random() < 0.8 else 3 - given[0] for pair, given in EXPERTS.items()}
SCALE = (0, 1, 2, 3)
SETTINGS = GateSettings(resamples=400)


def found(known: Circumstances, left_out: frozenset[str] = frozenset()) -> findings.Findings:
    record = gate_record.assess(
        "go", EXPERTS, ratings=RATINGS, gate=SETTINGS, relevant_from=2, seed=1, judge_id="judge", left_out=left_out
    )
    return findings.find(record, EXPERTS, ratings=RATINGS, scale=SCALE, known=known, left_out=left_out)


def test_only_what_is_known_is_broken_down() -> None:
    assert [entry.dimension for entry in found(Circumstances()).breakdowns] == ["search"]
    whole = found(
        Circumstances(
            retrievers={PAIRS[0]: ("bm25", "grep-all"), PAIRS[1]: ()},
            characters={pair: number for number, pair in enumerate(PAIRS)},
            places={pair: number % 40 + 1 for number, pair in enumerate(PAIRS)},
            again={PAIRS[0]: RATINGS[PAIRS[0]], PAIRS[1]: 3 - RATINGS[PAIRS[1]]},
            baseline=dict.fromkeys(PAIRS, 3),
        )
    )
    by = {entry.dimension: {group.name: group.pairs for group in entry.groups} for entry in whole.breakdowns}
    assert by["retriever"] == {"bm25": 1, "grep-all": 1, "none": 1}
    assert by["rated once more"] == {"another verdict": 1, "the same again": 1}
    assert [sum(by[name].values()) for name in ("characters of code", "place in the batch", "search")] == [240] * 3
    assert whole.baseline_f1 == whole.record.agreement.always_f1


def test_a_retriever_whose_pairs_are_judged_worse_is_flagged_and_no_other() -> None:
    wrong = {pair: 3 - round(sum(EXPERTS[pair]) / 2) if number % 3 == 0 else round(sum(EXPERTS[pair]) / 2 + 0.01)
             for number, pair in enumerate(PAIRS)}  # fmt: skip
    record = gate_record.assess("go", EXPERTS, ratings=wrong, gate=SETTINGS, relevant_from=2, seed=1, judge_id="judge")
    retrievers = {pair: ("llm",) if number % 3 == 0 else ("bm25",) for number, pair in enumerate(PAIRS)}
    entry = findings.find(record, EXPERTS, ratings=wrong, scale=SCALE, known=Circumstances(retrievers=retrievers)).breakdowns[0]
    assert {group.name: group.flagged for group in entry.groups} == {"bm25": True, "llm": True}
    assert "differs" in findings.text(
        findings.find(record, EXPERTS, ratings=wrong, scale=SCALE, known=Circumstances(retrievers=retrievers))
    )


def test_searches_that_do_not_count_are_in_no_figure() -> None:
    left_out = frozenset({"q0", "q1"})
    part = found(Circumstances(), left_out)
    assert part.levels.pairs == part.record.agreement.pairs == 216
    assert part.levels.kappa.value == pytest.approx(part.record.agreement.kappa)
    assert not left_out & {group.name for group in part.breakdowns[0].groups}
    assert part.left_out is not None
    assert part.left_out.pairs == 216


def test_languages_together_keep_searches_of_equal_id_apart() -> None:
    halves = {"go": dict(list(EXPERTS.items())[:120]), "python": dict(list(EXPERTS.items())[120:])}
    whole, by_language = findings.together(
        {name: (given, RATINGS) for name, given in halves.items()}, SCALE, relevant_from=2, resamples=200, seed=1
    )
    assert whole.table == levels.compare(EXPERTS, RATINGS, scale=SCALE, relevant_from=2, resamples=200, seed=1).table
    assert {group.name: group.pairs for group in by_language.groups} == {"go": 120, "python": 120}


def test_the_document_is_plain_and_the_text_names_why_there_is_no_baseline() -> None:
    import json

    part = found(Circumstances(no_baseline="no corpus"))
    document = json.loads(json.dumps(findings.document(part)))
    assert document["needed"] is not None
    assert document["levels"]["kappa"]["value"] == part.levels.kappa.value
    assert document["breakdowns"][0]["dimension"] == "search"
    text = findings.text(part)
    assert "not run (no corpus)" in text
    assert "(8 more, none of which differs, are in the JSON)" in text
