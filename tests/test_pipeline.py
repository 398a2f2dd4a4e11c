"""The pipeline end to end through the command line: pool, rate, gate, merge, export, against a real server on loopback."""

import gzip
import json
import re
from collections import Counter
from pathlib import Path

import pytest

from judge._ledger import high_water_mark
from judge._ledger.ledger import Ledger
from pools._dataset import dataset, settings
from prompts import scales
from tests.builders.command import judge
from tests.builders.fake_api import FakeApi
from tests.builders.rows import files_of
from tests.builders.samples import WITHOUT_CONTROLS, as_experts, shown

Capture = pytest.CaptureFixture[str]


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
