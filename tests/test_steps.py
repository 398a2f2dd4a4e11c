"""Steps called as a notebook does: they give records, say nothing to the terminal, and do what the commands do."""

import dataclasses
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from judge.steps.compare import compare
from judge.steps.export import export
from judge.steps.gate import gate, needed
from judge.steps.init import init
from judge.steps.log import log
from judge.steps.merge import MergedLanguage, merge
from judge.steps.panel import panel
from judge.steps.rate import plan, rate, replay
from judge.steps.ratings import add
from judge.steps.status import status
from judge.steps.tune import tune
from judge.steps.withdraw import Withdrawn, withdraw
from pools._dataset.folder import DatasetFolder, load
from pools.errors import UsageError
from tests.builders.command import judge
from tests.builders.fake_api import FakeApi
from tests.builders.rows import files_of
from tests.builders.samples import as_experts, rate_python

Capture = pytest.CaptureFixture[str]


def test_a_dataset_goes_from_rating_to_export_without_a_terminal(capfd: Capture, pooled_sample: Path) -> None:
    notes: list[str] = []
    (done,) = rate_python(pooled_sample, "python", note=notes.append)
    assert (done.verdict, done.validation_rated, done.pool_rated, done.failed) == ("passed", 168, done.pool_pairs, {})
    folder = load(pooled_sample, ["python"])
    (gated,) = gate(folder)
    assert (gated.passed, gated.record.judge_id, gated.record.agreement.f1) == (True, done.judge_id, done.f1)
    assert needed(gated) is None
    merged = merge(folder)
    assert (merged.languages, merged.refused) == ((MergedLanguage("python", done.judge_id, done.pool_pairs, False),), ())
    exported = export(load(pooled_sample)).files
    assert [path.name for path in exported] == ["queries.jsonl.gz", "corpus.jsonl.gz", "qrels.jsonl.gz", "README.md"]
    assert all(path.is_file() for path in exported)
    assert withdraw(load(pooled_sample)["python"], judge=done.judge_id, reason="a test") == Withdrawn(
        "python", done.judge_id, done.pool_pairs
    )
    assert [event.kind for event in log(load(pooled_sample))] == ["merge", "withdraw"]
    assert notes == []
    assert capfd.readouterr() == ("", "")


def test_a_record_is_frozen_and_prints_as_the_command_does(capfd: Capture, pooled_sample: Path) -> None:
    (done,) = rate_python(pooled_sample, "python")
    with pytest.raises(dataclasses.FrozenInstanceError):
        done.verdict = "missed"  # type: ignore[misc]
    found = json.loads(judge(capfd, "status", "--data", pooled_sample, "--json").out)["languages"]
    assert found == [json.loads(json.dumps(status(partition).document())) for partition in load(pooled_sample)]
    with FakeApi(rate=as_experts(pooled_sample, "python", wrong=10)) as api:
        shown = judge(
            capfd, "rate", "--data", pooled_sample, "--lang", "python", "--model", "m", "--base-url", api.url, "--json"
        )
    assert json.loads(shown.out)["languages"] == [done.document()]
    (compared,) = compare(load(pooled_sample, ["python"]), done.judge_id, b=done.judge_id)
    shown = judge(capfd, "compare", done.judge_id, done.judge_id, "--data", pooled_sample, "--lang", "python", "--json")
    assert json.loads(shown.out)["languages"] == [json.loads(json.dumps(compared.document()))]


@pytest.mark.parametrize(
    ("step", "words"),
    [
        (lambda folder: rate(folder, judge="oracle"), "llm, baseline"),
        (lambda folder: rate(folder), "no model"),
        (lambda folder: rate(folder, judge="baseline", batch_api=True), "--batch-api"),
        (lambda folder: plan(folder["python"]), "no model"),
        (lambda folder: gate(folder), "judge rate"),
        (lambda folder: gate(folder, judge="abc"), "abc"),
        (lambda folder: gate(folder, reseal="  "), "reason"),
        (lambda folder: panel(folder["python"], [], method="median"), "two judges"),
        (lambda folder: panel(folder["python"], ["a", "b"], method="median"), "no judge a"),
        (lambda folder: compare(folder, "a", b="b"), "no judge of python"),
        (lambda folder: withdraw(folder["python"], judge="a", reason="r"), "nothing to withdraw"),
        (lambda folder: tune(folder, model="m", retriever="bm25"), "valid is llm"),
        (lambda folder: tune(folder, model="m", retriever="llm", pairs=2), "one pair at a time"),
        (lambda folder: tune(folder, model="m", prompt="nope"), "judge.prompt"),
        (lambda folder: tune(folder, model="m", prompt="nope", retriever="llm"), "llm.prompt"),
        (lambda folder: replay(folder["python"], Path("nowhere")), "no such ledger"),
        (lambda folder: add(folder, folder.path / "qrels.jsonl", rater="A", date="2026-02-30"), "no date"),
        (lambda folder: init(folder.path), "there already"),
    ],
)
def test_what_cannot_be_done_is_a_usage_error_and_changes_nothing(
    pooled_sample: Path, step: Callable[[DatasetFolder], object], words: str
) -> None:
    before = files_of(pooled_sample)
    with pytest.raises(UsageError, match=words):
        step(load(pooled_sample))
    changed = files_of(pooled_sample)
    # A ledger that was opened to be written to is there, empty; its lock too.
    assert {name: content for name, content in changed.items() if content} == {
        name: text for name, text in before.items() if text
    }
