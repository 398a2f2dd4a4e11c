"""The corpus of a checkout: its rows, its copies, and that it grows without losing or renumbering anything."""

from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pools._checkouts import checkout, harvest
from pools._checkouts.harvest import Growth
from pools._dataset import files, records
from pools._dataset.records import Function
from tests.builders.repositories import ONE, git, licensed, write


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A git checkout under the MIT licence in which one function occurs twice."""
    return licensed(tmp_path / "project")


def grown(folder: Path, existing: tuple[Function, ...] = (), language: str = "python", suffix: str = ".py") -> Growth:
    found = checkout.open_checkout(folder)
    sources = checkout.sources(found, {suffix}, include_vendored=False, left_out=Counter())
    return harvest.grow(existing, language, harvested=harvest.harvest(found, language, sources=sources).functions)


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
