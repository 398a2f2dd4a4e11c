"""The step `corpus` as Python calls it: records and callbacks in place of a terminal."""

import json
from pathlib import Path

import pytest

from judge.steps.harvesting import harvest_checkout
from judge.steps.progress import Progress
from pools.errors import UsageError
from tests.builders.command import judge

Capture = pytest.CaptureFixture[str]


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """A folder without git: two files of Python, one of Go, one that is generated."""
    folder = tmp_path / "source"
    folder.mkdir()
    (folder / "a.py").write_text("def one(a):\n    return a\n", "utf-8")
    (folder / "b.py").write_text("def two(a):\n    return a + 1\n\n\ndef broken(:\n", "utf-8")
    (folder / "c.go").write_text("package c\n\nfunc three(a int) int { return a }\n", "utf-8")
    (folder / "d_pb2.py").write_text("def four(a):\n    return a\n", "utf-8")
    return folder


def test_the_step_tells_what_it_does_and_returns_what_became_of_it(source: Path, tmp_path: Path) -> None:
    notes: list[str] = []
    told: list[Progress] = []
    data = tmp_path / "data"
    found = harvest_checkout(source, ["python", "go", "python"], data=data, note=notes.append, progress=told.append)
    assert found.path == data / "corpus.jsonl.gz"
    assert found.path.is_file()
    python, go = found.languages
    assert (python.language, python.found, python.added, python.faulty_files) == ("python", 2, 2, 1)
    assert python.left_out == {"function with a syntax error within": 1, "generated": 1}
    assert (go.language, go.added, dict(go.left_out)) == ("go", 1, {})
    assert notes == [f"{source}: git tracks nothing here, so every file is read and no commit is noted"]
    assert [(progress.stage, progress.done) for progress in told] == [
        ("python", 0), ("python", 1), ("python", 2), ("go", 0), ("go", 1),
    ]  # fmt: skip


def test_the_command_prints_the_steps_record(capfd: Capture, source: Path, tmp_path: Path) -> None:
    found = harvest_checkout(source, ["python"], data=tmp_path / "one")
    done = judge(capfd, "corpus", "--from", source, "--lang", "python", "--data", tmp_path / "other", "--json")
    printed = json.loads(done.out)
    assert printed["languages"] == found.document()["languages"]
    assert list(printed["languages"]["python"]) == [
        "found", "added", "repeated", "known", "near_duplicates", "left_out", "changed_files", "faulty_files",
        "undecodable_files",
    ]  # fmt: skip


def test_a_language_without_a_function_writes_nothing(source: Path, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"no ruby function in \*\.rb"):
        harvest_checkout(source, ["python", "ruby"], data=tmp_path / "data")
    assert not (tmp_path / "data").exists()
