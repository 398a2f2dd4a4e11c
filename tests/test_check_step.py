"""The step `check` as Python calls it."""

from pathlib import Path

from judge.steps.check import check
from pools._dataset import dataset


def test_a_check_lists_faults_and_raises_for_none_of_them(pooled_sample: Path) -> None:
    assert check(pooled_sample).faults == ()
    with (pooled_sample / "qrels.jsonl").open("a", encoding="utf-8") as file:
        file.write("{}\n[]\n")
    assert len(check(pooled_sample).faults) == 2
    assert dataset.work(pooled_sample, "python").is_dir()
