"""`judge init`: a folder that can be filled."""

from pathlib import Path

import pytest

from tests.builders.command import judge
from tests.builders.rows import write_dataset

Capture = pytest.CaptureFixture[str]


def test_init_then_check(capfd: Capture, tmp_path: Path) -> None:
    done = judge(capfd, "init", tmp_path / "new")
    assert done.code == 0
    assert (tmp_path / "new" / "judge.toml").is_file()
    assert "there already" in judge(capfd, "init", tmp_path / "new").error
    assert judge(capfd, "check", "--data", tmp_path / "new").code == 2
    write_dataset(tmp_path / "new")
    assert judge(capfd, "check", "--data", tmp_path / "new").code == 0
