"""Steps called as a notebook does: they give records, say nothing to the terminal, and do what the commands do."""

import dataclasses
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from judge._ledger.ledger import Ledger
from judge.steps.check import check
from judge.steps.compare import compare
from judge.steps.export import export
from judge.steps.gate import gate, needed, suggest
from judge.steps.init import init
from judge.steps.log import log
from judge.steps.merge import MergedLanguage, merge
from judge.steps.panel import panel
from judge.steps.progress import Progress
from judge.steps.rate import Rated, plan, rate, replay
from judge.steps.ratings import Added, add
from judge.steps.status import status
from judge.steps.tune import tune
from judge.steps.withdraw import Withdrawn, withdraw
from pools._dataset import dataset
from pools._dataset.folder import DatasetFolder, load
from pools.errors import GateClosed, Stopped, UsageError
from tests.builders.command import judge
from tests.builders.fake_api import FakeApi
from tests.builders.rows import files_of
from tests.builders.samples import QUICK, as_experts, plain_sample

Capture = pytest.CaptureFixture[str]


@pytest.fixture
def sample(capfd: Capture, tmp_path: Path) -> Path:
    """The sample with the pool of one language drawn."""
    folder = plain_sample(tmp_path / "sample", QUICK)
    assert judge(capfd, "pool", "--data", folder, "--lang", "python").code == 0
    capfd.readouterr()
    return folder


def rated(folder: Path, *languages: str, wrong: int = 10, model: str = "m", **further: Any) -> tuple[Rated, ...]:
    with FakeApi(rate=as_experts(folder, "python", wrong=wrong)) as api:
        return rate(load(folder, languages), model=model, base_url=api.url, concurrency=2, **further)


def test_a_dataset_goes_from_rating_to_export_without_a_terminal(capfd: Capture, sample: Path) -> None:
    notes: list[str] = []
    (done,) = rated(sample, "python", note=notes.append)
    assert (done.verdict, done.validation_rated, done.pool_rated, done.failed) == ("passed", 168, done.pool_pairs, {})
    folder = load(sample, ["python"])
    (gated,) = gate(folder)
    assert (gated.passed, gated.record.judge_id, gated.record.agreement.f1) == (True, done.judge_id, done.f1)
    assert needed(gated) is None
    merged = merge(folder)
    assert (merged.languages, merged.refused) == ((MergedLanguage("python", done.judge_id, done.pool_pairs, False),), ())
    exported = export(load(sample)).files
    assert [path.name for path in exported] == ["queries.jsonl.gz", "corpus.jsonl.gz", "qrels.jsonl.gz", "README.md"]
    assert all(path.is_file() for path in exported)
    assert withdraw(load(sample)["python"], judge=done.judge_id, reason="a test") == Withdrawn(
        "python", done.judge_id, done.pool_pairs
    )
    assert [event.kind for event in log(load(sample))] == ["merge", "withdraw"]
    assert notes == []
    assert capfd.readouterr() == ("", "")


def test_a_record_is_frozen_and_prints_as_the_command_does(capfd: Capture, sample: Path) -> None:
    (done,) = rated(sample, "python")
    with pytest.raises(dataclasses.FrozenInstanceError):
        done.verdict = "missed"  # type: ignore[misc]
    found = json.loads(judge(capfd, "status", "--data", sample, "--json").out)["languages"]
    assert found == [json.loads(json.dumps(status(partition).document())) for partition in load(sample)]
    with FakeApi(rate=as_experts(sample, "python", wrong=10)) as api:
        shown = judge(capfd, "rate", "--data", sample, "--lang", "python", "--model", "m", "--base-url", api.url, "--json")
    assert json.loads(shown.out)["languages"] == [done.document()]
    (compared,) = compare(load(sample, ["python"]), done.judge_id, b=done.judge_id)
    shown = judge(capfd, "compare", done.judge_id, done.judge_id, "--data", sample, "--lang", "python", "--json")
    assert json.loads(shown.out)["languages"] == [json.loads(json.dumps(compared.document()))]


def test_progress_goes_up_stage_by_stage(sample: Path) -> None:
    told: list[Progress] = []
    (done,) = rated(sample, "python", progress=told.append)
    stages = list(dict.fromkeys(step.stage for step in told))
    assert stages == ["python validation", "python pool"]
    for stage, total in zip(stages, (done.validation_pairs, done.pool_pairs), strict=True):
        steps = [step for step in told if step.stage == stage]
        assert (steps[0].done, steps[-1].done) == (0, total)
        assert [step.done for step in steps] == sorted(step.done for step in steps)
        assert {(step.total, step.unit, step.failed) for step in steps} == {(total, "pair", 0)}
        assert steps[-1].requests > 0
        assert steps[-1].tokens > 0


def test_limits_are_for_all_languages_together(tmp_path: Path) -> None:
    alone, both = (plain_sample(tmp_path / name, QUICK) for name in ("alone", "both"))
    (first,) = rated(alone, "python", continue_=True)
    with FakeApi(rate=as_experts(both, "python", wrong=10)) as api, pytest.raises(Stopped, match="--max-requests"):
        rate(load(both), model="m", base_url=api.url, max_requests=first.requests + 1, continue_=True)
    ledgers = [Ledger.read(load(both)[language].ledger_path) for language in ("python", "go")]
    spent = [ledger.totals(first.judge_id).requests for ledger in ledgers]
    assert spent == [first.requests, 1], "the second language has what the first left"


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
    sample: Path, step: Callable[[DatasetFolder], object], words: str
) -> None:
    before = files_of(sample)
    with pytest.raises(UsageError, match=words):
        step(load(sample))
    changed = files_of(sample)
    # A ledger that was opened to be written to is there, empty; its lock too.
    assert {name: content for name, content in changed.items() if content} == {
        name: text for name, text in before.items() if text
    }


def test_merging_goes_on_after_a_language_that_is_refused(sample: Path) -> None:
    rated(sample, "python", wrong=90, continue_=True)
    before = (sample / "qrels.jsonl").read_bytes()
    done = merge(load(sample))
    assert done.languages == ()
    assert [str(error).split(":")[0] for error in done.refused] == ["python", "go"]
    assert isinstance(done.refused[0], GateClosed)
    assert "judge rate --lang go" in str(done.refused[1])
    assert (sample / "qrels.jsonl").read_bytes() == before
    done = merge(load(sample), override="both agreed")
    assert ([one.language for one in done.languages], [one.override for one in done.languages]) == (["python"], [True])
    assert len(done.refused) == 1
    with pytest.raises(UsageError, match="reason"):
        merge(load(sample), override=" ")


def test_a_panel_is_a_judge_of_its_own(sample: Path) -> None:
    ids = [rated(sample, "python", wrong=wrong, model=f"m{wrong}")[0].judge_id for wrong in (10, 20, 30)]
    made = panel(load(sample)["python"], ids, method="median")
    assert (made.language, made.method, made.judges) == ("python", "median", 3)
    assert Ledger.read(load(sample)["python"].ledger_path).judges()[-1] == made.judge_id
    assert panel(load(sample)["python"], ids[::-1], method="median") == made
    (gated,) = gate(load(sample, ["python"]))
    assert gated.record.judge_id == made.judge_id


def test_ratings_of_a_sheet_come_back_as_expert_ratings(sample: Path) -> None:
    rated(sample, "python")
    (gated,) = gate(load(sample, ["python"]))
    sheet = sample.parent / "sheet.csv"
    assert suggest(gated, 3, out=sheet).pairs == 3
    (sheet).write_text(sheet.read_text(encoding="utf-8").replace(",,", ",3,"), encoding="utf-8")
    assert add(load(sample), sheet, rater=" A ", date="2026-05-31") == (Added("python", 3, "A", "2026-05-31", True),)
    (gated,) = gate(load(sample, ["python"]))
    assert not gated.passed


def test_a_plan_asks_for_nothing_and_a_replay_gives_the_same_verdict(sample: Path) -> None:
    found = plan(load(sample)["python"], model="m")
    assert found.validation.pairs == 168
    assert list(found.document()) == ["language", "judge_id", "model", "validation", "pool"]
    (done,) = rated(sample, "python", wrong=50)
    assert plan(load(sample)["python"], model="m").validation.pairs == 0
    ledger = load(sample)["python"].ledger_path
    other = plain_sample(sample.parent / "other", QUICK)
    read = replay(load(other)["python"], ledger)
    assert (read.changed, read.verdicts) == ({done.judge_id: 0}, {done.judge_id: done.verdict})


def test_one_model_may_be_named_by_itself_and_the_best_is_written(sample: Path) -> None:
    notes: list[str] = []
    told: list[Progress] = []
    with FakeApi(rate=as_experts(sample, "python", wrong=10)) as api:
        asked: dict[str, Any] = {"model": "gpt", "pairs": (20, 40), "base_url": api.url, "progress": told.append}
        done = tune(load(sample), print_only=True, **asked)
        assert (done.written, len(done.results)) == (None, 2)
        done = tune(load(sample), note=notes.append, **asked)
    assert done.choice is not None
    assert done.written == sample / "judge.toml"
    assert load(sample).settings.judge.model == "gpt"
    assert load(sample).settings.judge.pairs_per_batch == done.choice.trial.pairs_per_batch
    assert any(line.startswith("go: no expert-rated pair") for line in notes)
    assert {step.stage for step in told} == {"python gpt judge 20", "python gpt judge 40"}


def test_a_check_lists_faults_and_raises_for_none_of_them(sample: Path) -> None:
    assert check(sample).faults == ()
    with (sample / "qrels.jsonl").open("a", encoding="utf-8") as file:
        file.write("{}\n[]\n")
    assert len(check(sample).faults) == 2
    assert dataset.work(sample, "python").is_dir()
