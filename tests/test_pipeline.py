"""The pipeline end to end through the command line: pool, rate, gate, merge, export, against a real server on loopback."""

import gzip
import json
import os
import re
import signal
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from judge._ledger import high_water_mark
from judge._ledger.ledger import Ledger
from pools._dataset import dataset, settings
from prompts import scales
from tests.builders.command import judge
from tests.builders.fake_api import FakeApi, Script
from tests.builders.places import ROOT
from tests.builders.rows import files_of
from tests.builders.samples import QUICK, WITHOUT_CONTROLS, as_experts, plain_sample, shown

Capture = pytest.CaptureFixture[str]


@pytest.fixture
def sample(tmp_path: Path) -> Path:
    """The sample without canaries and retests, which ask for some pairs a second time on purpose."""
    return plain_sample(tmp_path / "sample")


def test_from_pool_to_export(capfd: Capture, sample: Path) -> None:
    common = ["--data", sample, "--lang", "python"]
    before = (sample / "qrels.jsonl").read_bytes()
    assert judge(capfd, "pool", *common).code == 0
    with FakeApi(rate=as_experts(sample, "python", wrong=10)) as api:
        done = judge(capfd, "rate", *common, "--model", "m", "--base-url", api.url, "--json")
        assert done.code == 0, done.err
        asked = Counter(api.asked_pairs)
    entry = json.loads(done.out)["languages"][0]
    assert (entry["validation_rated"], entry["pool_rated"], entry["failed"]) == (168, entry["pool_pairs"], {})
    assert set(asked.values()) == {1}
    ledger = sample / "work" / "python" / "judgements.jsonl"
    known = high_water_mark.read(high_water_mark.path(ledger))
    assert known is not None
    assert known.size > ledger.read_bytes().rindex(b'"kind":"reply"'), "the replies after the verdict are noted too"
    first = [pair for request in api.requests for pair in request.pairs.values()][:168]
    data = dataset.load(sample, scales.load("relevance"))
    searches = {query.search_id: query.search for query in data.queries_of("python")}
    codes = {function.id: shown(function.code) for function in data.functions_of("python")}
    validation = {(searches[search], codes[function]) for search, function in data.experts_of("python")}
    assert set(first) == validation, "the expert-rated pairs come before any other"

    assert judge(capfd, "gate", *common).code == 0
    assert judge(capfd, "merge", *common).code == 0
    assert judge(capfd, "export", "--data", sample).code == 0
    merged = dataset.load(sample, scales.load("relevance"))
    by_judge = [qrel for qrel in merged.qrels if qrel.source == "judge"]
    assert len(by_judge) == entry["pool_pairs"]
    assert {qrel.rated_because for qrel in by_judge} == {"pooled", "sample"}
    assert {qrel.judge_rating is not None for qrel in merged.qrels_of("python")} == {True}
    assert [qrel.expert_ratings for qrel in merged.qrels if qrel.source == "expert"] == [
        qrel.expert_ratings for qrel in data.qrels
    ]
    exported = files_of(sample / "export")
    assert sorted(exported) == ["README.md", "corpus.jsonl.gz", "qrels.jsonl.gz", "queries.jsonl.gz"]
    assert len(gzip.decompress(exported["qrels.jsonl.gz"]).splitlines()) == len(merged.qrels)
    assert judge(capfd, "export", "--data", sample).code == 0
    assert files_of(sample / "export") == exported
    assert judge(capfd, "status", "--data", sample, "--json").code == 0
    assert (sample / "qrels.jsonl").read_bytes() != before
    judge_id = entry["judge_id"]
    assert judge(capfd, "withdraw", *common, "--judge", "another", "--reason", "why").code == 2
    done = judge(capfd, "withdraw", *common, "--judge", judge_id, "--reason", "the endpoint served another model")
    assert done.code == 0, done.err
    assert (sample / "qrels.jsonl").read_bytes() == before
    assert judge(capfd, "withdraw", *common, "--judge", judge_id, "--reason", "again").code == 2
    assert "the endpoint served another model" in judge(capfd, "log", *common).out


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


def test_a_missed_gate_keeps_the_pool_unrated_and_the_qrels_shut(capfd: Capture, sample: Path) -> None:
    common = ["--data", sample, "--lang", "go"]
    judge(capfd, "pool", *common)
    before = (sample / "qrels.jsonl").read_bytes()
    with FakeApi() as api:
        endpoint = ["--model", "m", "--base-url", api.url]
        done = judge(capfd, "rate", *common, *endpoint)
        assert (done.code, len(api.asked_pairs)) == (1, 164)
        assert judge(capfd, "rate", *common, *endpoint, "--continue").code == 0
        assert len(api.asked_pairs) > 164
        assert len(set(api.asked_pairs)) == len(api.asked_pairs)
    for command in ("gate", "merge"):
        assert judge(capfd, command, *common).code == 1
    assert (sample / "qrels.jsonl").read_bytes() == before
    assert "there" not in judge(capfd, "export", "--data", sample).err
    assert judge(capfd, "merge", *common, "--override", "tried on purpose").code == 0
    assert judge(capfd, "export", "--data", sample).code == 0
    assert "tried on purpose" in (sample / "export" / "README.md").read_text(encoding="utf-8")
    assert "tried on purpose" in judge(capfd, "log", "--data", sample).out


def test_a_verdict_says_that_another_model_answered_under_the_name(capfd: Capture, sample: Path) -> None:
    """Five requests are the expert-rated pairs; what rates the pool afterwards calls itself something else."""
    common = ["--data", sample, "--lang", "python"]
    judge(capfd, "pool", *common)
    rate = ["rate", *common, "--model", "m", "--base-url"]
    with FakeApi(rate=as_experts(sample, "python")) as api:
        assert judge(capfd, *rate, api.url, "--max-requests", 5).code == 4
    assert "several models" not in judge(capfd, "gate", *common).out
    with FakeApi(rate=as_experts(sample, "python"), release="2027") as api:
        assert judge(capfd, *rate, api.url).code == 0
        replies = len(api.answered)
    done = judge(capfd, "gate", *common)
    assert (done.code, f"with so many replies each: m-2026 (5), m-2027 ({replies})" in done.out) == (0, True)


def test_a_limit_stays_a_limit_where_nothing_can_be_noted(capfd: Capture, sample: Path) -> None:
    note = sample / "work" / "python" / "extent.json"
    note.mkdir(parents=True)
    rate = ["rate", "--data", sample, "--lang", "python", "--model", "m", "--base-url"]
    with FakeApi() as api:
        stopped = judge(capfd, *rate, api.url, "--max-requests", 1)
        assert (stopped.code, "--max-requests" in stopped.err) == (4, True)


def test_the_threshold_cannot_be_lowered_after_looking(capfd: Capture, sample: Path) -> None:
    common = ["--data", sample, "--lang", "go"]
    judge(capfd, "pool", *common)
    with FakeApi() as api:
        judge(capfd, "rate", *common, "--model", "m", "--base-url", api.url)
    (sample / settings.FILE).write_text("[gate]\nf1 = 0.1\n" + WITHOUT_CONTROLS, encoding="utf-8")
    done = judge(capfd, "gate", *common)
    assert done.code == 1
    assert re.search(r"gate\.f1 is sealed as 0\.67; judge\.toml says 0\.1", done.out)
    assert judge(capfd, "merge", *common).code == 1
    assert judge(capfd, "gate", *common, "--reseal", " ").code == 2
    done = judge(capfd, "gate", *common, "--reseal", "a lower bar, for all to see")
    assert (done.code, "F1" in done.out) == (0, True)
    assert judge(capfd, "merge", *common).code == 0
    events = judge(capfd, "log", *common).out.splitlines()
    assert ["a lower bar, for all to see" in line for line in events] == [True, False], "in their order"
    assert all(re.match(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ  go  ", line) for line in events)
    assert judge(capfd, "export", "--data", sample).code == 0
    assert "a lower bar, for all to see" in (sample / "export" / "README.md").read_text(encoding="utf-8")


def test_a_second_judge_of_a_ledger_has_a_gate_of_its_own(capfd: Capture, sample: Path) -> None:
    common = ["--data", sample, "--lang", "python"]
    judge(capfd, "pool", *common)
    with FakeApi(rate=as_experts(sample, "python")) as api:
        assert judge(capfd, "rate", *common, "--model", "good", "--base-url", api.url).code == 0
    with FakeApi() as api:
        done = judge(capfd, "rate", *common, "--model", "poor", "--base-url", api.url, "--json")
        assert (done.code, len(api.asked_pairs)) == (1, 168), "the pool stays unrated, whatever the first judge passed"
    entry = json.loads(done.out)["languages"][0]
    ledger = Ledger.read(sample / "work" / "python" / "judgements.jsonl")
    assert (entry["verdict"], entry["judge_id"]) == ("missed", ledger.judges()[1])
    record = json.loads((sample / "work" / "python" / "gate.json").read_bytes())
    assert (record["verdict"], record["judge_id"]) == ("missed", ledger.judges()[1])


def test_tuning_searches_left_out_of_the_gate_do_not_shut_it(capfd: Capture, sample: Path) -> None:
    with (sample / settings.FILE).open("a", encoding="utf-8") as file:
        file.write('\n[gate]\nsplit = "test"\n')
    common = ["--data", sample, "--lang", "python"]
    judge(capfd, "pool", *common)
    with FakeApi(rate=as_experts(sample, "python", wrong=9)) as api:
        assert judge(capfd, "rate", *common, "--model", "m", "--base-url", api.url).code == 0
    record = json.loads((sample / "work" / "python" / "gate.json").read_bytes())
    data = dataset.load(sample, scales.load("relevance"))
    tuning = {query.search_id for query in data.queries_of("python") if query.split == "tuning"}
    pairs = sum(search in tuning for search, _ in data.experts_of("python"))
    assert (record["split"], record["searches"], record["left_out"]) == ("test", 20 - len(tuning), pairs)
    assert record["agreement"]["pairs"] == 168 - pairs < 168
    assert judge(capfd, "merge", *common).code == 0
    assert judge(capfd, "export", "--data", sample).code == 0


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


def test_grep_agents_patterns_are_written_by_the_model_and_kept(capfd: Capture, sample: Path) -> None:
    path = sample / "work" / "go" / "patterns.jsonl"
    path.unlink()
    done = judge(capfd, "pool", "--data", sample, "--lang", "go")
    assert (done.code, "grep-agent left out" in done.err) == (0, True)

    def chat(prompt: str) -> str:
        return json.dumps(dict.fromkeys(re.findall(r"^(q\d\d):", prompt, re.MULTILINE), "func"))

    with FakeApi(chat=chat) as api:
        done = judge(capfd, "pool", "--data", sample, "--lang", "go", "--model", "m", "--base-url", api.url)
        assert (done.code, len(api.requests)) == (0, 1), done.err
        written = path.read_bytes()
        assert b'"model": "m"' in written
        path.write_bytes(written.replace(b'"func"', b'"type|func"', 1))
        judge(capfd, "pool", "--data", sample, "--lang", "go", "--model", "m", "--base-url", api.url)
        assert len(api.requests) == 1
    assert b'"type|func"' in path.read_bytes()


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
