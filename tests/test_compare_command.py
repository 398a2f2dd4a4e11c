"""`judge compare`: judges of one ledger, of others, and of published qrels."""

import json
from pathlib import Path

import pytest

from gates._measures import comparison
from pools._dataset import dataset
from prompts import scales
from tests.builders.command import judge
from tests.builders.three_judges import ledger_of

Capture = pytest.CaptureFixture[str]
COMMON = ("--lang", "python")


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
