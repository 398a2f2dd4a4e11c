"""`judge panel`: several judges of one ledger as one more, through gate, merge and export as any other."""

import json
from pathlib import Path

import pytest

from tests.builders.command import judge
from tests.builders.samples import QUICK, as_experts, plain_sample
from tests.builders.three_judges import RETRIEVERS, ledger_of, rate_with

Capture = pytest.CaptureFixture[str]
COMMON = ("--lang", "python")


def test_a_panel_goes_through_gate_merge_and_export_as_any_judge(capfd: Capture, three: Path) -> None:
    members = ledger_of(three).judges()
    common = ["--data", three, *COMMON]
    for one in members:
        verdict = judge(capfd, "gate", *common, "--judge", one).out
        assert ": missed (" in verdict
        assert "note: one of 3 judges tried on these expert ratings" in verdict
    before = len(ledger_of(three).judges())
    done = judge(capfd, "panel", *members, "--method", "majority", *common)
    assert done.code == 0, done.err
    again = judge(capfd, "panel", *reversed(members), "--method", "majority", *common)
    assert again.out == done.out
    ledger = ledger_of(three)
    assert len(ledger.judges()) == before + 1
    panel_id = ledger.judges()[-1]
    assert f"panel {panel_id}" in done.out
    gate = judge(capfd, "gate", *common)
    assert (gate.code, panel_id in gate.out) == (0, True)
    entry = json.loads(judge(capfd, "status", *common, "--json").out)["languages"][0]["judges"][-1]
    assert (entry["judge_id"], entry["verdict"]) == (panel_id, "passed")
    assert entry["rated"] == len(ledger.ratings(members[0]))
    assert judge(capfd, "merge", *common).code == 0
    assert judge(capfd, "export", "--data", three).code == 0
    assert "majority of 3 judges" in (three / "export" / "README.md").read_text(encoding="utf-8")
    replayed = three.parent / "replayed"
    plain_sample(replayed, QUICK)
    source = three / "work" / "python" / "judgements.jsonl"
    judge(capfd, "rate", "--data", replayed, *COMMON, "--replay", source)
    assert judge(capfd, "gate", "--data", replayed, *COMMON).out == gate.out
    compared = json.loads(judge(capfd, "compare", members[0], panel_id, *common, "--json").out)["languages"][0]
    assert compared["difference"] > 0.2
    assert compared["b"]["spending"]["requests"] == sum(ledger.totals(one).requests for one in members)


def test_what_was_merged_stays_exportable_when_another_judge_is_tried(capfd: Capture, three: Path) -> None:
    common = ["--data", three, *COMMON]
    judge(capfd, "panel", *ledger_of(three).judges(), "--method", "majority", *common)
    panel_id = ledger_of(three).judges()[-1]
    judge(capfd, "gate", *common)
    assert judge(capfd, "merge", *common).code == 0
    rate_with(three, "m4", as_experts(three, "python", wrong=100))
    assert judge(capfd, "export", "--data", three).code == 1
    assert judge(capfd, "merge", *common).code == 1
    assert judge(capfd, "gate", *common, "--judge", panel_id).code == 0
    assert judge(capfd, "export", "--data", three).code == 0
    assert judge(capfd, "merge", *common, "--judge", panel_id).code == 0


def test_no_panel_lowers_the_bar(capfd: Capture, three: Path) -> None:
    common = ["--data", three, *COMMON]
    first, second, third = ledger_of(three).judges()
    (three / "judge.toml").write_text(f"{RETRIEVERS}[gate]\nf1 = 0.1\n", encoding="utf-8")
    assert judge(capfd, "panel", first, second, "--method", "median", *common).code == 0
    done = judge(capfd, "gate", *common)
    assert (done.code, "gate.f1 is sealed as 0.67; judge.toml says 0.1" in done.out) == (1, True)
    assert judge(capfd, "merge", *common).code == 1
    judge(capfd, "gate", *common, "--judge", third, "--reseal", "a try")
    done = judge(capfd, "panel", first, third, "--method", "median", *common)
    assert (done.code, "are sealed differently" in done.error) == (2, True)
    judge(capfd, "gate", *common, "--judge", first, "--reseal", "another try")
    assert judge(capfd, "panel", first, third, "--method", "median", *common).code == 0
    assert judge(capfd, "gate", *common).code == 0
    for reason in ("a try", "another try"):
        assert reason in judge(capfd, "log", *common).out, "what its members' seals were lowered for is the panel's too"
    assert judge(capfd, "panel", first, "--method", "median", *common).code == 2
    assert judge(capfd, "panel", first, "nobody", "--method", "median", *common).code == 2
