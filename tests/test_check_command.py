"""`judge check`: every fault, a line each."""

import json
from pathlib import Path

import pytest

from pools._dataset import tables
from tests.builders.command import judge
from tests.builders.rows import qrel_row

Capture = pytest.CaptureFixture[str]


def test_check_lists_all_faults_a_line_each(capfd: Capture, folder: Path) -> None:
    rows = [qrel_row("q0", 1, [3]) | {"expert_ratings": [7]}, qrel_row("q8", 2, [3]), qrel_row("q0", 9, [1])]
    tables.write(folder / "qrels.jsonl.gz", rows)
    done = judge(capfd, "check", "--data", folder)
    assert done.code == 3
    assert len(done.out.splitlines()) == 3
    assert json.loads(judge(capfd, "check", "--data", folder, "--json").out)["faults"] == done.out.splitlines()
