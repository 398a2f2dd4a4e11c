"""The further conditions of the gate: measured, met or not, and held to in every resample."""

from dataclasses import replace
from pathlib import Path

import pytest

from gates._report import wording
from gates._verdict import gate_record, hashes
from gates._verdict.seal import Seal
from pools._dataset.settings import GateSettings
from pools.errors import GateClosed
from tests.builders.verdicts import JUDGE, SETTINGS, assess, ratings_of


@pytest.mark.parametrize(
    ("name", "met", "unmet"),
    [
        ("precision", replace(SETTINGS, precision=0.9), replace(SETTINGS, precision=0.96)),
        ("recall", replace(SETTINGS, recall=0.9), replace(SETTINGS, recall=0.96)),
        ("kappa", replace(SETTINGS, kappa=0.8), replace(SETTINGS, kappa=0.9)),
        ("relevant_pairs", replace(SETTINGS, relevant_pairs=95), replace(SETTINGS, relevant_pairs=96)),
    ],
)
def test_further_conditions(tmp_path: Path, name: str, met: GateSettings, unmet: GateSettings) -> None:
    experts, ratings = ratings_of(90, 5, 5, 50)
    record = assess(experts, ratings, met)
    assert (record.verdict, [condition.met for condition in record.conditions]) == ("passed", [True])
    record = assess(experts, ratings, unmet)
    least = getattr(unmet, name)
    assert (record.verdict, record.conditions[0].name, record.conditions[0].least) == ("missed", name, least)
    assert f"{name} below {least:g}: missed" in wording.sentence(record)
    assert f"{name} " in gate_record.refusal(record)
    assert any(line.startswith(f"least {name}") and "not met" in line for line in wording.render(record).splitlines())
    path = tmp_path / "gate.json"
    gate_record.write(path, record)
    assert gate_record.read(path) == record


@pytest.mark.parametrize(("short", "verdict"), [(15, "passed"), (16, "missed")])
def test_pairs_asked_for_in_fewer_than_the_production_do_not_count_as_measured(
    tmp_path: Path, short: int, verdict: str
) -> None:
    experts, ratings = ratings_of(90, 5, 5, 50)
    asked = replace(SETTINGS, full_batches=0.9)
    full = frozenset(sorted(experts)[short:])
    record = gate_record.assess("go", experts, ratings=ratings, gate=asked, relevant_from=2, seed=1, judge_id=JUDGE, full=full)
    assert (record.verdict, record.clear, record.conditions[0].value) == (verdict, True, (150 - short) / 150)
    seal = Seal(asked, 2.0, hashes.of_gold(experts))
    if verdict == "passed":
        assert (
            gate_record.admits(record, "go", judge_id=JUDGE, experts=experts, ratings=ratings, seal=seal, full=full) == record
        )
        with pytest.raises(GateClosed, match=r"does not follow from the ratings \(.*conditions"):
            gate_record.admits(
                record, "go", judge_id=JUDGE, experts=experts, ratings=ratings, seal=seal, full=frozenset(sorted(experts)[20:])
            )
    else:
        with pytest.raises(GateClosed, match=r"full_batches 0\.8933 < 0\.9"):
            gate_record.admits(record, "go", judge_id=JUDGE, experts=experts, ratings=ratings, seal=seal, full=full)
    # A dataset without a ledger does not tell, and what cannot be shown is not met.
    unknown = gate_record.assess("go", experts, ratings=ratings, gate=asked, relevant_from=2, seed=1, judge_id=None)
    assert (unknown.verdict, unknown.conditions[0].value) == ("missed", None)
    tuning = gate_record.assess(
        "go", experts, ratings=ratings, gate=asked, relevant_from=2, seed=1, judge_id=JUDGE, left_out={"q00"}, full=full
    )
    assert tuning.conditions[0].value == sum(pair in full for pair in experts if pair[0] != "q00") / tuning.expert_pairs


def test_resamples_pass_only_where_every_condition_is_met() -> None:
    experts, ratings = ratings_of(90, 5, 15, 50)
    recall = 90 / 105
    share = assess(experts, ratings, replace(SETTINGS, recall=recall)).share
    assert assess(experts, ratings).share == 1.0
    assert share == pytest.approx(0.5, abs=0.1)
    assert assess(experts, ratings, replace(SETTINGS, relevant_pairs=106)).share == 0.0
    assert assess(experts, ratings, replace(SETTINGS, recall=recall)).verdict == "passed"
