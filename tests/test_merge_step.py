"""The step `merge` as Python calls it."""

from pathlib import Path

import pytest

from judge.steps.merge import merge
from pools._dataset.folder import load
from pools.errors import GateClosed, UsageError
from tests.builders.samples import rate_python


def test_merging_goes_on_after_a_language_that_is_refused(pooled_sample: Path) -> None:
    rate_python(pooled_sample, "python", wrong=90, continue_=True)
    before = (pooled_sample / "qrels.jsonl").read_bytes()
    done = merge(load(pooled_sample))
    assert done.languages == ()
    assert [str(error).split(":")[0] for error in done.refused] == ["python", "go"]
    assert isinstance(done.refused[0], GateClosed)
    assert "judge rate --lang go" in str(done.refused[1])
    assert (pooled_sample / "qrels.jsonl").read_bytes() == before
    done = merge(load(pooled_sample), override="both agreed")
    assert ([one.language for one in done.languages], [one.override for one in done.languages]) == (["python"], [True])
    assert len(done.refused) == 1
    with pytest.raises(UsageError, match="reason"):
        merge(load(pooled_sample), override=" ")
