"""`judge compare` and `judge panel`: several judges of one ledger, and of others."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from gates._measures import comparison
from judge._ledger.ledger import Ledger
from pools._dataset import dataset
from prompts import scales
from tests.builders.command import judge
from tests.builders.fake_api import FakeApi
from tests.builders.samples import QUICK, as_experts, plain_sample

Capture = pytest.CaptureFixture[str]
COMMON = ("--lang", "python")
RETRIEVERS = '[pool]\nretrievers = ["grep-agent", "grep-all", "grep-any"]\n'


def wrong_from(folder: Path, start: int, count: int) -> Callable[[str, str], int]:
    """A judge that rates as the experts did, but for `count` pairs from the `start`-th on."""
    right, some, more = (as_experts(folder, "python", wrong=number) for number in (0, start, start + count))

    def rate(search: str, code: str) -> int:
        return right(search, code) if some(search, code) != right(search, code) else more(search, code)

    return rate


def rate_with(capfd: Capture, folder: Path, model: str, rate: Callable[[str, str], int], *more: str) -> None:
    with FakeApi(rate=rate) as api:
        done = judge(capfd, "rate", "--data", folder, *COMMON, "--model", model, "--base-url", api.url, "--continue", *more)
    assert done.code == 0, done.err


@pytest.fixture
def three(capfd: Capture, tmp_path: Path) -> Path:
    """The sample with a pool and three judges, who are wrong on 60 pairs each, no two on the same."""
    folder = tmp_path / "sample"
    plain_sample(folder, QUICK)
    (folder / "judge.toml").write_text(f"{RETRIEVERS}[prices]\nprompt = 2.0\ncompletion = 8.0\n", encoding="utf-8")
    judge(capfd, "pool", "--data", folder, *COMMON)
    for number in range(3):
        rate_with(capfd, folder, f"m{number}", wrong_from(folder, 50 * number, 50))
    return folder


def ledger_of(folder: Path) -> Ledger:
    return Ledger.read(folder / "work" / "python" / "judgements.jsonl")


def test_two_judges_of_a_ledger_are_compared_pair_by_pair(capfd: Capture, three: Path) -> None:
    ledger = ledger_of(three)
    first, second, _ = ledger.judges()
    done = judge(capfd, "compare", first, second, "--data", three, *COMMON, "--json")
    assert done.code == 0, done.err
    found = json.loads(done.out)["languages"][0]
    experts = dataset.load(three, scales.load("relevance")).experts_of("python")
    expected = comparison.compare(
        experts, ledger.ratings(first), second=ledger.ratings(second), relevant_from=2, resamples=10_000, seed=1
    )
    assert (found["pairs"], found["corrected"], found["spoiled"]) == (168, expected.corrected, expected.spoiled)
    assert found["corrected"] > 20
    assert found["interval"] == list(expected.interval or ())
    totals = ledger.totals(second)
    spent = found["b"]["spending"]
    assert (spent["requests"], spent["prompt_tokens"]) == (totals.requests, totals.usage.prompt)
    assert spent["cost"] == pytest.approx((totals.usage.prompt * 2 + totals.usage.completion * 8) / 1e6)
    text = judge(capfd, "compare", first, second, "--data", three, *COMMON).out
    assert f"B is judge {second} (m1)" in text
    assert f"${spent['cost']:.4f}" in text


def test_other_ledgers_and_published_qrels_are_compared_too(capfd: Capture, three: Path, tmp_path: Path, csn: Path) -> None:
    path = three / "work" / "python" / "judgements.jsonl"
    first, _, last = ledger_of(three).judges()
    by_file = json.loads(judge(capfd, "compare", first, path, "--data", three, *COMMON, "--json").out)["languages"][0]
    by_id = json.loads(judge(capfd, "compare", f"{path}:{first}", last, "--data", three, *COMMON, "--json").out)["languages"][0]
    assert by_file["b"]["judge_id"] == by_id["b"]["judge_id"] == last
    assert by_file["difference"] == by_id["difference"]
    done = judge(capfd, "compare", csn, csn, "--data", csn, "--json")
    assert done.code == 0, done.err
    entries = json.loads(done.out)["languages"]
    assert [entry["difference"] for entry in entries] == [0.0] * 6
    assert entries[0]["a"]["spending"] is None
    assert judge(capfd, "compare", path, first, "--data", three).code == 2
    assert "is no judge of python" in judge(capfd, "compare", "nobody", first, "--data", three, *COMMON).error


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
    rate_with(capfd, three, "m4", as_experts(three, "python", wrong=100))
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
