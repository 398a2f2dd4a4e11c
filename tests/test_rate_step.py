"""The step `rate` as Python calls it: progress, limits for all languages together, plans and replays."""

from pathlib import Path

import pytest

from judge._ledger.ledger import Ledger
from judge.steps.progress import Progress
from judge.steps.rate import plan, rate, replay
from pools._dataset.folder import load
from pools.errors import Stopped
from tests.builders.fake_api import FakeApi
from tests.builders.samples import QUICK, as_experts, plain_sample, rate_python


def test_progress_goes_up_stage_by_stage(pooled_sample: Path) -> None:
    told: list[Progress] = []
    (done,) = rate_python(pooled_sample, "python", progress=told.append)
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
    (first,) = rate_python(alone, "python", continue_=True)
    with FakeApi(rate=as_experts(both, "python", wrong=10)) as api, pytest.raises(Stopped, match="--max-requests"):
        rate(load(both), model="m", base_url=api.url, max_requests=first.requests + 1, continue_=True)
    ledgers = [Ledger.read(load(both)[language].ledger_path) for language in ("python", "go")]
    spent = [ledger.totals(first.judge_id).requests for ledger in ledgers]
    assert spent == [first.requests, 1], "the second language has what the first left"


def test_a_plan_asks_for_nothing_and_a_replay_gives_the_same_verdict(pooled_sample: Path) -> None:
    found = plan(load(pooled_sample)["python"], model="m")
    assert found.validation.pairs == 168
    assert list(found.document()) == ["language", "judge_id", "model", "validation", "pool"]
    (done,) = rate_python(pooled_sample, "python", wrong=50)
    assert plan(load(pooled_sample)["python"], model="m").validation.pairs == 0
    ledger = load(pooled_sample)["python"].ledger_path
    other = plain_sample(pooled_sample.parent / "other", QUICK)
    read = replay(load(other)["python"], ledger)
    assert (read.changed, read.verdicts) == ({done.judge_id: 0}, {done.judge_id: done.verdict})
