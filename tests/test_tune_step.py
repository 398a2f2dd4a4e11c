"""The step `tune` as Python calls it."""

from pathlib import Path
from typing import Any

from judge.steps.progress import Progress
from judge.steps.tune import tune
from pools._dataset.folder import load
from tests.builders.fake_api import FakeApi
from tests.builders.samples import as_experts


def test_one_model_may_be_named_by_itself_and_the_best_is_written(pooled_sample: Path) -> None:
    notes: list[str] = []
    told: list[Progress] = []
    with FakeApi(rate=as_experts(pooled_sample, "python", wrong=10)) as api:
        asked: dict[str, Any] = {"model": "gpt", "pairs": (20, 40), "base_url": api.url, "progress": told.append}
        done = tune(load(pooled_sample), print_only=True, **asked)
        assert (done.written, len(done.results)) == (None, 2)
        done = tune(load(pooled_sample), note=notes.append, **asked)
    assert done.choice is not None
    assert done.written == pooled_sample / "judge.toml"
    assert load(pooled_sample).settings.judge.model == "gpt"
    assert load(pooled_sample).settings.judge.pairs_per_batch == done.choice.trial.pairs_per_batch
    assert any(line.startswith("go: no expert-rated pair") for line in notes)
    assert {step.stage for step in told} == {"python gpt judge 20", "python gpt judge 40"}
