"""`judge rate` against a real server: planned, limited, stopped, killed, replayed and put into jobs."""

import json
import os
import re
import signal
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from judge._ledger.ledger import Ledger
from pools._dataset import dataset, settings
from prompts import scales
from tests.builders.command import judge
from tests.builders.fake_api import FakeApi, Script
from tests.builders.places import ROOT
from tests.builders.rows import files_of
from tests.builders.samples import QUICK, as_experts, plain_sample, shown

Capture = pytest.CaptureFixture[str]


def test_canaries_and_retests_are_hidden_counted_and_replace_nothing(capfd: Capture, tmp_path: Path) -> None:
    plain_sample(tmp_path, QUICK)
    common = ["--data", tmp_path, "--lang", "python"]
    judge(capfd, "pool", *common)
    with FakeApi(rate=as_experts(tmp_path, "python")) as api:
        assert judge(capfd, "rate", *common, "--model", "m", "--base-url", api.url).code == 0
        asked = Counter(api.asked_pairs)
    ledger = Ledger.read(tmp_path / "work" / "python" / "judgements.jsonl")
    judge_id = ledger.judges()[0]
    repeats = ledger.tally(judge_id).repeats
    experts = dataset.load(tmp_path, scales.load("relevance")).experts_of("python")
    canaries = [repeat for repeat in repeats if repeat.pair in experts]
    retests = [repeat for repeat in repeats if repeat.pair not in experts]
    assert len(canaries) >= 8, "one a batch of the pool, of which there are eight at least"
    assert 0 < len(retests) < 30, "two in a hundred of 287 pairs"
    assert sum(asked.values()) - len(asked) == len(repeats)
    ratings = ledger.ratings(judge_id)
    assert {repeat.rating == ratings[repeat.pair] for repeat in repeats} == {True}
    assert len(ratings) == 168 + 287
    entry = json.loads(judge(capfd, "status", *common, "--json").out)["languages"][0]["judges"][0]
    assert entry["canaries"] == {"rated": len(canaries), "same_verdict": len(canaries), "alarm": None}
    assert entry["retest"] == {"pairs": len(retests), "same_rating": len(retests), "flip_rate": 0.0}
    assert sum(place["ratings"] for place in entry["places"]) == len(ratings)
    assert "rated again" in judge(capfd, "status", *common).out
    judge(capfd, "gate", *common)
    record = json.loads((tmp_path / "work" / "python" / "gate.json").read_bytes())
    assert any("0 verdicts flipped (0.0%)" in line for line in record["notes"])
    assert any("by place in the batch" in line for line in record["notes"])


def test_a_dry_run_tells_the_cost_and_sends_nothing(capfd: Capture, sample: Path) -> None:
    with (sample / settings.FILE).open("a", encoding="utf-8") as file:
        file.write("\n[prices]\nprompt = 1.0\ncompletion = 4.0\n")
    judge(capfd, "pool", "--data", sample)
    before = files_of(sample)
    done = judge(capfd, "rate", "--data", sample, "--model", "m", "--dry-run", "--json")
    assert done.code == 0, done.err
    plans = json.loads(done.out)["languages"]
    assert [plan["language"] for plan in plans] == ["python", "go"]
    assert [plan["validation"]["pairs"] for plan in plans] == [168, 164]
    assert files_of(sample) == before
    with FakeApi(rate=as_experts(sample, "python")) as api:
        judge(capfd, "rate", "--data", sample, "--lang", "python", "--model", "m", "--base-url", api.url)
        characters = sum(len(request.prompt) for request in api.requests)
        assert plans[0]["validation"]["batches"] + plans[0]["pool"]["batches"] == len(api.requests)
    assert abs(plans[0]["validation"]["characters"] + plans[0]["pool"]["characters"] - characters) < characters / 100
    found = plans[0]["validation"]
    assert found["cost"] == pytest.approx((found["prompt_tokens"] + 4 * found["completion_tokens"]) / 1e6)
    shown = judge(capfd, "rate", "--data", sample, "--lang", "python", "--model", "m", "--dry-run").out
    assert re.search(r"python +validation +0 +0 +0 ", shown), "what is rated is not planned again"


def test_a_replay_gives_the_same_bytes_without_a_network(capfd: Capture, sample: Path, tmp_path: Path) -> None:
    common = ["--lang", "python", "--data"]
    judge(capfd, "pool", *common, sample)
    with FakeApi(rate=as_experts(sample, "python", wrong=9)) as api:
        assert judge(capfd, "rate", *common, sample, "--model", "m", "--base-url", api.url).code == 0
    again = plain_sample(tmp_path / "again")
    judge(capfd, "pool", *common, again)
    ledger = sample / "work" / "python" / "judgements.jsonl"
    done = judge(capfd, "rate", *common, again, "--replay", ledger)
    assert done.code == 0, done.err
    assert "0 ratings changed, gate passed" in done.out
    for folder in (sample, again):
        for command in ("gate", "merge"):
            assert judge(capfd, command, *common, folder).code == 0
        assert judge(capfd, "export", "--data", folder).code == 0
    replayed, first = files_of(again), files_of(sample)
    for name in ("work/python/gate.json", "qrels.jsonl", *(name for name in first if name.startswith("export/"))):
        assert replayed[name] == first[name], name
    assert judge(capfd, "rate", *common, again, "--replay", ledger).code == 2
    assert judge(capfd, "rate", "--data", again, "--replay", ledger).code == 2


def test_the_batch_interface_gives_the_same_ratings(capfd: Capture, sample: Path, tmp_path: Path) -> None:
    direct = plain_sample(tmp_path / "direct")
    found = []
    for folder, further in ((sample, ["--batch-api"]), (direct, [])):
        judge(capfd, "pool", "--data", folder)
        with FakeApi(rate=as_experts(sample, "python")) as api:
            done = judge(capfd, "rate", "--data", folder, "--lang", "python", "--model", "m", "--base-url", api.url, *further)
        assert done.code == 0, done.err
        ledger = Ledger.read(folder / "work" / "python" / "judgements.jsonl")
        judge_id = ledger.judges()[0]
        assert ledger.totals(judge_id).redacted > 0, "the sample has an e-mail address in a function"
        found.append((judge_id, ledger.ratings(judge_id), ledger.totals(judge_id).redacted))
    assert found[0] == found[1]
    assert judge(capfd, "rate", "--data", sample, "--judge", "baseline", "--batch-api").code == 2


def test_a_limit_stays_a_limit_where_nothing_can_be_noted(capfd: Capture, sample: Path) -> None:
    note = sample / "work" / "python" / "extent.json"
    note.mkdir(parents=True)
    rate = ["rate", "--data", sample, "--lang", "python", "--model", "m", "--base-url"]
    with FakeApi() as api:
        stopped = judge(capfd, *rate, api.url, "--max-requests", 1)
        assert (stopped.code, "--max-requests" in stopped.err) == (4, True)


def test_what_stops_a_run_is_one_line_and_resumable(capfd: Capture, sample: Path) -> None:
    common = ["--data", sample, "--lang", "python", "--model", "m"]
    judge(capfd, "pool", "--data", sample)
    with FakeApi(rate=as_experts(sample, "python")) as api:
        done = judge(capfd, "rate", *common, "--base-url", api.url, "--max-requests", 2, "--concurrency", 1)
        assert (done.code, "--max-requests" in done.error) == (4, True)
    os.environ["OPENAI_API_KEY"] = "sk-secret"
    try:
        with FakeApi(Script("401", "401", "401", "401")) as api:
            done = judge(capfd, "rate", *common, "--base-url", api.url, "--concurrency", 2)
        assert (done.code, "OPENAI_API_KEY" in done.error, "sk-secret" in done.error) == (4, True, False)
    finally:
        del os.environ["OPENAI_API_KEY"]
    with FakeApi(rate=as_experts(sample, "python")) as api:
        assert judge(capfd, "rate", *common, "--base-url", api.url).code == 0
        assert len(api.asked_pairs) == len(set(api.asked_pairs))
    ledger = Ledger.read(sample / "work" / "python" / "judgements.jsonl")
    assert b"sk-secret" not in (sample / "work" / "python" / "judgements.jsonl").read_bytes()
    assert not ledger.failed(ledger.judges()[0])


def test_no_model_and_no_key_are_named(capfd: Capture, sample: Path) -> None:
    done = judge(capfd, "rate", "--data", sample)
    assert (done.code, "--model" in done.error) == (2, True)
    done = judge(capfd, "rate", "--data", sample, "--model", "m")
    assert (done.code, "OPENAI_API_KEY is not set" in done.error) == (2, True)
    assert not (sample / "work" / "python" / "judgements.jsonl").exists()


def test_a_killed_run_goes_on_where_it_was(capfd: Capture, sample: Path, tmp_path: Path) -> None:
    judge(capfd, "pool", "--data", sample)
    whole = plain_sample(tmp_path / "whole")
    judge(capfd, "pool", "--data", whole)
    rate = as_experts(sample, "python", wrong=5)
    ledger_path = sample / "work" / "python" / "judgements.jsonl"
    with FakeApi(rate=rate, latency=0.05) as api:
        command = [sys.executable, "-m", "judge", "rate", "--data", str(sample), "--lang", "python", "--model", "m"]
        command += ["--base-url", api.url, "--concurrency", "2"]
        run = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        while not ledger_path.is_file() or ledger_path.read_bytes().count(b'"kind":"reply"') < 5:
            assert run.poll() is None, "the run ended before it was killed"
        run.send_signal(signal.SIGKILL)
        run.wait()
        judge_id = Ledger.read(ledger_path).judges()[0]
        answered = Ledger.read(ledger_path).ratings(judge_id)
        assert 0 < len(answered) < 168 + 287
        before = len(api.requests)
        done = judge(capfd, "rate", "--data", sample, "--lang", "python", "--model", "m", "--base-url", api.url)
        assert done.code == 0, done.err
        data = dataset.load(sample, scales.load("relevance"))
        searches = {query.search_id: query.search for query in data.queries_of("python")}
        codes = {function.id: shown(function.code) for function in data.functions_of("python")}
        again = {pair for request in api.requests[before:] for pair in request.pairs.values()}
        assert not again & {(searches[search], codes[function]) for search, function in answered}
        judge(capfd, "rate", "--data", whole, "--lang", "python", "--model", "m", "--base-url", api.url)
    resumed, undisturbed = (
        Ledger.read(folder / "work" / "python" / "judgements.jsonl").ratings(judge_id) for folder in (sample, whole)
    )
    assert resumed == undisturbed
    assert len(resumed) == 168 + 287
