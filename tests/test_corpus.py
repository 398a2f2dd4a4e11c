"""The corpus of a checkout: its rows, its copies, and that it grows without losing or renumbering anything."""

import json
from collections import Counter
from dataclasses import replace
from pathlib import Path

import click
import pytest
from click.testing import CliRunner, Result
from hypothesis import given
from hypothesis import strategies as st

from judge.cli.corpus import corpus as command
from pools._checkouts import checkout, harvest
from pools._checkouts.harvest import Growth
from pools._dataset import faults, files, records, tables
from pools._dataset.records import Function
from pools._dataset.settings import Settings
from pools.errors import DataError, UsageError
from prompts.scales import Scale
from tests.builders.repositories import MIT, git, write

ONE = b"def one(a, b):\n    return a + b\n"
TWO = b"\n\nclass Two:\n    def two(self):\n        return 2\n"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A git checkout under the MIT licence in which one function occurs twice."""
    folder = tmp_path / "project"
    write(folder, "LICENSE", content=MIT.encode())
    write(folder, "a.py", content=ONE + TWO)
    write(folder, "b/c.py", content=b"x = 1\n" + ONE)
    write(folder, "b/d.go", content=b"package b\n\nfunc one(a int) int { return a }\n")
    git(folder, "init", "-q")
    git(folder, "remote", "add", "origin", "https://github.com/some/where")
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "-m", "first")
    return folder


def grown(folder: Path, existing: tuple[Function, ...] = (), language: str = "python", suffix: str = ".py") -> Growth:
    found = checkout.open_checkout(folder)
    sources = checkout.sources(found, {suffix}, include_vendored=False, left_out=Counter())
    return harvest.grow(existing, language, harvested=harvest.harvest(found, language, sources=sources).functions)


def run(*arguments: object) -> Result:
    return CliRunner().invoke(command, [str(argument) for argument in arguments])


def test_rows_say_where_their_code_is_from(project: Path) -> None:
    growth = grown(project)
    commit = git(project, "rev-parse", "HEAD")
    assert (growth.found, growth.added, growth.repeated, growth.known) == (3, 2, 1, 0)
    assert records.function_row(growth.functions[0]) == {
        "id": "python/0000",
        "language": "python",
        "code": "def one(a, b):\n    return a + b",
        "url": f"https://github.com/some/where/blob/{commit}/a.py#L1-L2",
        "repository": "some/where",
        "commit": commit,
        "path": "a.py",
        "first_line": 1,
        "last_line": 2,
        "license": "MIT",
        "sha256": files.sha256(b"def one(a, b):\n    return a + b"),
        "count": 2,
        "copies": [{"repository": "some/where", "path": "b/c.py", "first_line": 2, "last_line": 3}],
        "near_duplicate_of": None,
    }
    second = growth.functions[1]
    assert (second.id, second.code) == ("python/0001", "    def two(self):\n        return 2")
    assert (second.origin["first_line"], second.origin["count"], second.origin["copies"]) == (6, 1, [])


def test_code_is_what_git_has_at_the_commit_on_those_lines(project: Path) -> None:
    for function in grown(project).functions:
        content = git(project, "show", f"{function.origin['commit']}:{function.origin['path']}")
        assert content.split("\n")[function.origin["first_line"] - 1 : function.origin["last_line"]] == function.code.split(
            "\n"
        )


def test_the_same_checkout_again_changes_nothing(project: Path) -> None:
    first = grown(project)
    again = grown(project, first.functions)
    assert again.functions == first.functions
    assert (again.found, again.added, again.repeated, again.known) == (3, 0, 0, 3)


def test_a_later_commit_adds_only_what_is_new_and_keeps_what_was_read(project: Path) -> None:
    first = grown(project)
    write(project, "a.py", content=b"# moved\n" + ONE)
    write(project, "0.py", content=b"def new():\n    return 0\n")
    write(project, "b/e.py", content=ONE)
    git(project, "add", "-A")
    git(project, "commit", "-q", "-m", "second")
    second = grown(project, first.functions)
    one, two, new = second.functions
    assert (new.id, new.origin["path"], new.origin["commit"]) == ("python/0002", "0.py", git(project, "rev-parse", "HEAD"))
    assert two == first.functions[1], "a function that is gone stays"
    assert {**one.origin, "count": 0, "copies": 0} == {**first.functions[0].origin, "count": 0, "copies": 0}
    assert one.origin["count"] == 3, "moved within a.py, still in b/c.py, new in b/e.py"
    assert [place["path"] for place in one.origin["copies"]] == ["b/c.py", "b/e.py"]


def test_a_copy_that_sorts_before_its_row_is_the_copy(tmp_path: Path) -> None:
    write(tmp_path, "b.py", content=ONE)
    first = grown(tmp_path)
    write(tmp_path, "a.py", content=ONE)
    [row] = grown(tmp_path, first.functions).functions
    assert row.origin["path"] == "b.py"
    assert [place["path"] for place in row.origin["copies"]] == ["a.py"]


def test_the_same_code_in_two_languages_is_two_rows(tmp_path: Path) -> None:
    write(tmp_path, "a.js", "a.ts", content=b"function f() { return 1 }\n")
    script = grown(tmp_path, (), "javascript", ".js")
    both = grown(tmp_path, script.functions, "typescript", ".ts")
    assert [function.id for function in both.functions] == ["javascript/0000", "typescript/0000"]


def test_another_repository_counts_its_copies_and_takes_none_away(project: Path, tmp_path: Path) -> None:
    first = grown(project)
    write(tmp_path / "other", "x.py", content=ONE + ONE)
    second = grown(tmp_path / "other", first.functions)
    assert [function.id for function in second.functions] == ["python/0000", "python/0001"]
    assert second.functions[0].origin["count"] == 4
    assert [(place["repository"], place["first_line"]) for place in second.functions[0].origin["copies"]] == [
        ("other", 1),
        ("other", 3),
        ("some/where", 2),
    ]
    assert grown(project, second.functions).functions == second.functions
    assert grown(tmp_path / "other", second.functions).functions == second.functions


def test_other_languages_and_foreign_ids_stay_as_they_are(project: Path) -> None:
    foreign = Function("my-id", "python", "def mine(): pass", {"stars": 3})
    numbered = Function("python/0041", "python", "def ours(): pass")
    go = grown(project, (foreign, numbered), "go", ".go")
    assert go.functions[:2] == (foreign, numbered)
    assert go.functions[2].id == "go/0000"
    python = grown(project, go.functions)
    assert python.functions[2] == go.functions[2]
    assert [function.id for function in python.functions[3:]] == ["python/0042", "python/0043"]
    assert python.functions[0].origin == {"stars": 3, "count": 1, "copies": [], "near_duplicate_of": None}


def test_nearly_identical_functions_are_marked_with_the_earlier_id(tmp_path: Path) -> None:
    lines = [f"    total{number} = compute(total, {number}, rate)" for number in range(30)]
    text = "\n".join(["def a(total, rate):", *lines, "", "def b(total, rate):", *lines[:-1], "    return 1", ""])
    write(tmp_path, "x.py", content=text.encode())
    growth = grown(tmp_path)
    assert growth.near_duplicates == 1
    assert [function.origin["near_duplicate_of"] for function in growth.functions] == [None, "python/0000"]


@given(st.lists(st.tuples(st.sampled_from("abcd"), st.integers(1, 9), st.sampled_from(["x", "y", "z"])), max_size=12))
def test_every_function_found_is_counted_once_whatever_was_there(places: list[tuple[str, int, str]]) -> None:
    found = tuple(
        Function(
            "", "python", code,
            {"repository": "r", "path": path, "first_line": line, "last_line": line, "sha256": files.sha256(code.encode())},
        )
        for path, line, code in sorted(set(places))
    )  # fmt: skip
    whole = harvest.grow((), "python", harvested=found)
    assert sum(function.origin["count"] for function in whole.functions) == len(found)
    assert whole.found == whole.added + whole.repeated + whole.known == len(found)
    half = harvest.grow((), "python", harvested=found[: len(found) // 2])
    rest = harvest.grow(half.functions, "python", harvested=found)
    assert rest.functions[: len(half.functions)] == tuple(
        replace(new, id=old.id) for old, new in zip(half.functions, rest.functions, strict=False)
    )
    assert sum(function.origin["count"] for function in rest.functions) == len(found)
    assert harvest.grow(rest.functions, "python", harvested=found).functions == rest.functions


def test_broken_functions_and_undecodable_files_are_counted(tmp_path: Path) -> None:
    write(tmp_path, "a.py", content=b"def f():\n    return 1 +\n\n\ndef g():\n    return 2\n")
    write(tmp_path, "b.py", content=b"def h():\n    return '\xff'\n")
    write(tmp_path, "c.py", content="def i():\n    return '\ufffd'\n".encode())
    found = checkout.open_checkout(tmp_path)
    harvested = harvest.harvest(
        found, "python", sources=checkout.sources(found, {".py"}, include_vendored=False, left_out=Counter())
    )
    assert [function.code.split("(")[0] for function in harvested.functions] == ["def g", "def h", "def i"]
    assert (harvested.faulty, harvested.broken, harvested.undecodable) == (1, 1, 1)


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
