"""The gate: verdicts at their edges, records that keep their bytes, and every attempt to get past it refused by name."""

import json
import random
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gates._report import wording
from gates._verdict import gate_record, hashes
from gates._verdict.gate_record import GateRecord
from gates._verdict.seal import Seal
from pools._dataset.settings import GateSettings
from pools.errors import GateClosed
from tests.builders.verdicts import JUDGE, SETTINGS, Experts, Ratings, assess, ratings_of


def test_f1_on_the_threshold_passes_and_just_under_it_is_missed() -> None:
    on, under = ratings_of(67, 33, 33, 50), ratings_of(67, 34, 33, 50)
    assert assess(*on).agreement.f1 == 0.67
    assert assess(*on).verdict == "passed"
    assert assess(*under).verdict == "missed"


def test_a_verdict_is_clear_when_the_resamples_say_so_too() -> None:
    assert [
        (record.verdict, record.clear) for record in (assess(*ratings_of(90, 5, 5, 50)), assess(*ratings_of(20, 40, 40, 50)))
    ] == [
        ("passed", True),
        ("missed", True),
    ]
    uncertain = assess(*ratings_of(67, 32, 33, 50))
    assert (uncertain.verdict, uncertain.clear) == ("passed", False)
    assert uncertain.share is not None
    assert 0.05 < uncertain.share < 0.95


def test_an_uncertain_pass_is_inconclusive_where_confidence_is_required() -> None:
    strict = replace(SETTINGS, require_confidence=True)
    assert assess(*ratings_of(67, 32, 33, 50), strict).verdict == "inconclusive"
    assert assess(*ratings_of(90, 5, 5, 50), strict).verdict == "passed"
    assert assess(*ratings_of(67, 40, 33, 50), strict).verdict == "missed"


def test_one_unrated_pair_makes_it_incomplete() -> None:
    experts, ratings = ratings_of(90, 5, 5, 50)
    del ratings[next(iter(ratings))]
    record = assess(experts, ratings)
    assert (record.verdict, record.agreement.pairs, record.expert_pairs) == ("incomplete", 149, 150)
    assert assess(experts, {}).verdict == "incomplete"
    assert assess({}, {}).verdict == "incomplete"


def test_undefined_f1_is_missed() -> None:
    record = assess(*ratings_of(0, 0, 0, 40))
    assert (record.verdict, record.agreement.f1, record.interval, record.share) == ("missed", None, None, 0.0)
    assert "undefined" in wording.sentence(record)


@given(st.randoms(use_true_random=False))
def test_a_record_depends_on_the_ratings_and_not_on_their_order(source: random.Random) -> None:
    experts, ratings = ratings_of(30, 9, 9, 12)
    shuffled = list(experts)
    source.shuffle(shuffled)
    extra = {("q00", "not validated"): 3}
    assert assess({pair: experts[pair] for pair in shuffled}, {**ratings, **extra}) == assess(experts, ratings)


def test_a_record_survives_its_file_and_keeps_its_bytes(tmp_path: Path) -> None:
    for number, record in enumerate((assess(*ratings_of(67, 32, 33, 50)), assess(*ratings_of(0, 0, 0, 4)), assess({}, {}))):
        path = tmp_path / f"{number}.json"
        noted = replace(record, notes=("gate.f1 is sealed as 0.67; judge.toml says 0.5",))
        gate_record.write(path, noted)
        before = path.read_bytes()
        found = gate_record.read(path)
        assert found == noted
        gate_record.write(path, noted)
        assert path.read_bytes() == before
    assert gate_record.read(tmp_path / "none.json") is None


@pytest.mark.parametrize("content", ["", "{}", "[]", '{"format": 1}', "no json", '{"format": 2, "language": "go"}'])
def test_what_is_no_record_is_refused(tmp_path: Path, content: str) -> None:
    path = tmp_path / "gate.json"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(GateClosed, match=r"gate\.json: not a gate record .* run `judge gate`"):
        gate_record.read(path)


@dataclass
class Attempt:
    """What is presented to the gate: at first a language, judge and ratings that pass."""

    folder: Path
    record: GateRecord | None
    experts: Experts
    ratings: Ratings
    seal: Seal
    stated: Seal
    language: str = "go"
    judge_id: str = JUDGE

    def present(self) -> GateRecord:
        return gate_record.admits(
            self.record,
            self.language,
            judge_id=self.judge_id,
            experts=self.experts,
            ratings=self.ratings,
            seal=self.seal,
            stated=self.stated,
        )

    def edit(self, **values: object) -> None:
        """Change gate.json by hand."""
        path = self.folder / "gate.json"
        assert self.record is not None
        gate_record.write(path, self.record)
        document = json.loads(path.read_text(encoding="utf-8"))
        for key, value in values.items():
            document[key] = {**document[key], **value} if isinstance(value, dict) else value
        path.write_text(json.dumps(document), encoding="utf-8")
        self.record = gate_record.read(path)

    def assess(self) -> None:
        self.record = gate_record.assess(
            self.language,
            self.experts,
            ratings=self.ratings,
            gate=self.seal.gate,
            relevant_from=self.seal.relevant_from,
            seed=1,
            judge_id=self.judge_id,
        )


def attempt(folder: Path, *counts: int, settings: GateSettings = SETTINGS) -> Attempt:
    experts, ratings = ratings_of(*counts)
    seal = Seal(settings, 2.0, hashes.of_gold(experts))
    made = Attempt(folder, None, experts, ratings, seal, seal)
    made.assess()
    return made


PASSING = (90, 5, 5, 50)
MISSING = (40, 30, 30, 50)


def test_a_pass_is_admitted_whatever_else_was_rated_since(tmp_path: Path) -> None:
    made = attempt(tmp_path, *PASSING)
    made.ratings[("q00", "from the pool")] = 3
    assert made.present() == made.record


def _no_record(made: Attempt) -> None:
    made.record = None


def _another_model(made: Attempt) -> None:
    made.judge_id = "fedcba9876543210"


def _other_language(made: Attempt) -> None:
    made.language = "ruby"


def _edited_gold(made: Attempt) -> None:
    made.experts[next(iter(made.experts))] = (3, 3)


def _edited_gold_and_gated_again(made: Attempt) -> None:
    _edited_gold(made)
    made.assess()


def _edited_gold_without_a_seal(made: Attempt) -> None:
    made.seal = replace(made.seal, gold_sha256=None)
    _edited_gold(made)


def _dropped_gold(made: Attempt) -> None:
    del made.experts[next(iter(made.experts))]


def _ratings_changed(made: Attempt) -> None:
    pair = next(iter(made.ratings))
    made.ratings[pair] = 3 - made.ratings[pair]


def _ratings_removed(made: Attempt) -> None:
    del made.ratings[next(iter(made.ratings))]


def _verdict_written_by_hand(made: Attempt) -> None:
    made.edit(verdict="passed", clear=True)


def _figures_written_by_hand(made: Attempt) -> None:
    made.edit(verdict="passed", agreement={"f1": 0.9})


def _threshold_written_by_hand(made: Attempt) -> None:
    made.edit(verdict="passed", threshold=0.3)


def _gated_at_a_lower_threshold(made: Attempt) -> None:
    sealed = made.seal
    made.seal = replace(sealed, gate=replace(sealed.gate, f1=0.3))
    made.assess()
    assert made.record is not None
    assert made.record.passed
    made.seal = sealed


def _judge_toml_lowered(made: Attempt) -> None:
    made.stated = replace(made.stated, gate=replace(made.stated.gate, f1=0.3))


def _relevant_from_lowered(made: Attempt) -> None:
    made.edit(relevant_from=1.0)


def _incomplete(made: Attempt) -> None:
    del made.ratings[next(iter(made.ratings))]
    made.assess()


def _incomplete_called_passed(made: Attempt) -> None:
    _incomplete(made)
    made.edit(verdict="passed")


def _nothing(made: Attempt) -> None:
    pass


ATTEMPTS: list[tuple[Callable[[Attempt], None], tuple[int, ...], str]] = [
    (_no_record, PASSING, "go: no gate record; run `judge gate --lang go`"),
    (_another_model, PASSING, "is of judge 0123456789abcdef, these ratings are by fedcba9876543210"),
    (_other_language, PASSING, "ruby: its gate record is that of go"),
    (_edited_gold, PASSING, "the expert ratings are not those sealed before the first rating"),
    (_edited_gold_and_gated_again, PASSING, "the expert ratings are not those sealed before the first rating"),
    (_edited_gold_without_a_seal, PASSING, "the expert ratings were edited since the verdict"),
    (_dropped_gold, PASSING, "the expert ratings are not those sealed before the first rating"),
    (_ratings_changed, PASSING, "the judge's ratings of expert-rated pairs changed since the verdict"),
    (_ratings_removed, PASSING, "the judge's ratings of expert-rated pairs changed since the verdict"),
    (_ratings_changed, MISSING, "the judge's ratings of expert-rated pairs changed since the verdict"),
    (_verdict_written_by_hand, MISSING, "does not follow from the ratings (verdict, clear): it was edited"),
    (_figures_written_by_hand, MISSING, "does not follow from the ratings (verdict, agreement): it was edited"),
    (_threshold_written_by_hand, MISSING, "the gate record has threshold 0.3, sealed is 0.67"),
    (_gated_at_a_lower_threshold, MISSING, "the gate record has threshold 0.3, sealed is 0.67"),
    (_judge_toml_lowered, MISSING, "have more pairs rated; gate.f1 is sealed as 0.67; judge.toml says 0.3"),
    (_relevant_from_lowered, MISSING, "the gate record has relevant_from 1.0, sealed is 2.0"),
    (_incomplete, PASSING, "validation is incomplete: 149 of 150 expert-rated pairs"),
    (_incomplete_called_passed, PASSING, "does not follow from the ratings (verdict)"),
    (_nothing, MISSING, "the gate is missed: F1 0.5714 is below 0.67"),
    (_nothing, (0, 0, 0, 9), "the gate is missed: F1 is undefined"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("way", "counts", "cause"), ATTEMPTS, ids=[f"{way.__name__[1:]}-{number}" for number, (way, _, _) in enumerate(ATTEMPTS)]
)
def test_attempts_to_get_past_the_gate(
    tmp_path: Path, way: Callable[[Attempt], None], counts: tuple[int, ...], cause: str
) -> None:
    made = attempt(tmp_path, *counts)
    way(made)
    with pytest.raises(GateClosed) as refused:
        made.present()
    assert cause in str(refused.value)
    assert refused.value.exit_code == 1


def test_the_gate_closes_again_on_an_alarm(tmp_path: Path) -> None:
    made = attempt(tmp_path, *PASSING)
    with pytest.raises(GateClosed, match="closed again: agreement fell to 61%"):
        gate_record.admits(
            made.record,
            "go",
            judge_id=JUDGE,
            experts=made.experts,
            ratings=made.ratings,
            seal=made.seal,
            alarms=("agreement fell to 61%",),
        )


def test_tuning_searches_can_be_left_out_and_which_is_sealed() -> None:
    experts, ratings = ratings_of(90, 5, 5, 50)
    for pair in ratings:
        if pair[0] == "q00":
            ratings[pair] = 0
    settings = replace(SETTINGS, split="test")
    record = gate_record.assess(
        "go", experts, ratings=ratings, gate=settings, relevant_from=2, seed=1, judge_id=JUDGE, left_out={"q00"}
    )
    assert (record.split, record.left_out, record.searches) == ("test", 8, 19)
    assert record.agreement == assess({pair: given for pair, given in experts.items() if pair[0] != "q00"}, ratings).agreement
    assert "; 8 of tuning searches left out" in wording.render(record)
    sealed = Seal(settings, 2.0, hashes.of_gold(experts, {"q00"}))
    assert (
        gate_record.admits(record, "go", judge_id=JUDGE, experts=experts, ratings=ratings, seal=sealed, left_out={"q00"})
        == record
    )
    with pytest.raises(GateClosed, match="not those sealed"):
        gate_record.admits(record, "go", judge_id=JUDGE, experts=experts, ratings=ratings, seal=sealed, left_out={"q00", "q01"})
    del ratings[next(pair for pair in ratings if pair[0] == "q00")]
    assert (
        gate_record.assess(
            "go", experts, ratings=ratings, gate=settings, relevant_from=2, seed=1, judge_id=JUDGE, left_out={"q00"}
        ).verdict
        == "passed"
    )


def test_an_inconclusive_verdict_does_not_open_the_gate(tmp_path: Path) -> None:
    made = attempt(tmp_path, 67, 32, 33, 50, settings=replace(SETTINGS, require_confidence=True))
    with pytest.raises(GateClosed, match="the gate is inconclusive: F1 0"):
        made.present()


def test_any_edited_figure_is_noticed(tmp_path: Path) -> None:
    original = attempt(tmp_path, *PASSING).record
    assert original is not None
    for key, value in gate_record.document(original).items():
        if key in {"format", "notes", "between_experts", "conditions"}:
            continue
        made = attempt(tmp_path, *PASSING)
        made.edit(
            **{key: {"same": 7} if isinstance(value, dict) else [0.1, 0.2] if isinstance(value, tuple) else _other(value)}
        )
        with pytest.raises(GateClosed):
            made.present()


def _other(value: object) -> object:
    if isinstance(value, bool):
        return not value
    return value + 1 if isinstance(value, int | float) else f"{value}x"
