"""`judge corpus`: a dataset extended in its own form, the same bytes every time, and every error with its remedy."""

import json
from pathlib import Path

import click
import pytest
from click.testing import CliRunner, Result

from judge.cli.corpus import corpus as command
from pools._checkouts import harvest
from pools._dataset import faults, tables
from pools._dataset.settings import Settings
from pools.errors import DataError, UsageError
from prompts.scales import Scale
from tests.builders.repositories import ONE, git, licensed, write


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A git checkout under the MIT licence in which one function occurs twice."""
    return licensed(tmp_path / "project")


def run(*arguments: object) -> Result:
    return CliRunner().invoke(command, [str(argument) for argument in arguments])


@pytest.mark.parametrize("suffix", tables.SUFFIXES)
def test_the_command_extends_a_dataset_in_its_own_form(project: Path, folder: Path, scale: Scale, suffix: str) -> None:
    path = folder / f"corpus{suffix}"
    before = [function.code for function in harvest.read(folder)[1]]
    harvest.write(path, harvest.read(folder)[1])
    if suffix != ".jsonl.gz":
        (folder / "corpus.jsonl.gz").unlink()
    result = run("--from", project, "--lang", "python", "--lang", "go", "--data", folder, "--json")
    assert result.exit_code == 0, result.output
    report = json.loads(result.stdout)
    assert report["corpus"] == str(path)
    assert report["languages"]["python"] | {"left_out": {}} == {
        "found": 3, "added": 2, "repeated": 1, "known": 0, "near_duplicates": 0, "left_out": {},
        "changed_files": 0, "faulty_files": 0, "undecodable_files": 0,
    }  # fmt: skip
    functions = harvest.read(folder)[1]
    assert [function.code for function in functions[:4]] == before
    assert [function.id for function in functions] == [f"python/000{number}" for number in range(6)] + ["go/0000"]
    assert faults.find(folder, scale, settings=Settings()) == []
    content = path.read_bytes()
    assert run("--from", project, "--lang", "python", "--lang", "go", "--data", folder).exit_code == 0
    assert path.read_bytes() == content


def test_the_command_makes_the_same_bytes_of_the_same_checkout(project: Path, tmp_path: Path) -> None:
    for name in ("x", "y"):
        assert run("--from", project, "--lang", "python", "--data", tmp_path / name).exit_code == 0
    assert (tmp_path / "x/corpus.jsonl.gz").read_bytes() == (tmp_path / "y/corpus.jsonl.gz").read_bytes()


def test_the_command_says_what_it_left_out_and_altered(project: Path, tmp_path: Path) -> None:
    write(project, "node_modules/m.py", content=ONE)
    write(project, "bad.py", content=b"def bad():\n    return '\xff'\n\ndef broken():\n    x = = 1\n\ndef last():\n    pass\n")
    git(project, "add", "-A")
    result = run("--from", project, "--lang", "python", "--data", tmp_path / "x")
    assert result.stdout.splitlines() == [
        "python: 5 functions found: 4 added, 1 the same as others, 0 known before; "
        "0 rows are near-duplicates of an earlier one",
        "  left out, function with a syntax error within: 1",
        "  left out, vendored: 1",
        "  files that differ from the commit, so none is noted for them: 2",
        "  files with a syntax error, of which functions may be missing: 1",
        "  files with undecodable bytes, kept as U+FFFD: 1",
    ]
    result = run("--from", project, "--lang", "python", "--data", tmp_path / "x", "--include-vendored", "--json")
    assert json.loads(result.stdout)["languages"]["python"]["known"] == 6
    plain = tmp_path / "plain"
    write(plain, "a.py", content=ONE)
    assert "git tracks nothing here" in run("--from", plain, "--lang", "python", "--data", tmp_path / "z").stderr


def test_errors_name_the_remedy_and_leave_the_corpus_alone(project: Path, folder: Path) -> None:
    content = (folder / "corpus.jsonl.gz").read_bytes()
    write(project, "vendor/E.java", content=b"class E { int f() { return 1; } }\n")
    git(project, "add", "-A")
    for arguments, message in (
        (("--from", project, "--lang", "cobol"), "python, java, javascript, typescript, php, ruby, go"),
        (("--from", project, "--lang", "ruby"), r"no ruby function in \*.rb, \*.rake; name another"),
        (("--from", project, "--lang", "python", "--lang", "java"), r"no java function in \*.java, left out: vendored 1"),
        (("--from", project / "no", "--lang", "python"), "no such folder"),
    ):
        with pytest.raises(UsageError, match=message):
            raise_of(*arguments, "--data", folder)
    assert (folder / "corpus.jsonl.gz").read_bytes() == content
    with pytest.raises(UsageError, match="not a folder"):
        raise_of("--from", project, "--lang", "python", "--data", folder / "corpus.jsonl.gz")
    (folder / "corpus.jsonl.gz").unlink()
    (folder / "corpus.jsonl").write_text('{"id": "x", "code": "y"}\n{"id": "x", "code": "y"}\n')
    with pytest.raises(DataError, match=r"corpus\.jsonl:2: 'x' is there twice"):
        raise_of("--from", project, "--lang", "python", "--data", folder)
    (folder / "corpus.jsonl").write_text('{"id": "x"}\n')
    with pytest.raises(DataError, match=r"corpus\.jsonl:1: code must be"):
        raise_of("--from", project, "--lang", "python", "--data", folder)


def raise_of(*arguments: object) -> None:
    """Run the command and raise what it raises."""
    with click.Context(command):
        command.main([str(argument) for argument in arguments], standalone_mode=False)
