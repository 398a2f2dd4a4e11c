"""The Challenge as a test collection: equal to the published dataset, over HTTP and from clones."""

import csv
import json
from collections.abc import Callable, Collection
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from judge.cli.importing import importing
from pools._checkouts.sources import Resolution
from pools._dataset import dataset, faults, files, tables
from pools._dataset.settings import Settings
from pools._formats import annotations, csn
from pools.errors import DataError, Stopped, UsageError
from prompts.scales import Scale
from tests.builders.command import run_import
from tests.builders.host import Reply, Request, ok, serve
from tests.builders.repositories import repository
from tests.builders.rows import files_beside, rows_of


def without_judge(found: list[tables.Row]) -> list[tables.Row]:
    return [row | {"judge_rating": None} for row in found]


def host_of(csn: Path, gone: Collection[str] = ()) -> Callable[[Request], Reply]:
    """A host whose files are as long as their last rated function needs, each line its own number; 404 for the files gone."""
    lengths: dict[str, int] = {}
    with (csn / "annotationStore.csv").open(newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            url, last = row["GitHubUrl"].split("#L")
            path = raw(url)
            lengths[path] = max(lengths.get(path, 0), int(last.split("-L")[-1]))

    def answer(request: Request) -> Reply:
        if request.path in gone:
            return 404, {}, b""
        return ok("".join(f"{number}\r\n" for number in range(1, lengths[request.path] + 1)).encode())

    return answer


def raw(url: str) -> str:
    """The path that a raw host has for an address."""
    return url.removeprefix("https://github.com").split("#")[0].replace("/blob/", "/", 1)


def test_the_challenge_comes_out_as_published(csn: Path, tmp_path: Path, scale: Scale) -> None:
    """Once where the host says which files are missing, once where the published list does; the second asks for nothing."""
    given = [line.split("\t") for line in (csn / "missing_urls.tsv").read_text("utf-8").splitlines()]
    arguments = ("csn", "--annotations", csn / "annotationStore.csv", "--data", tmp_path, "--code")
    with serve(host_of(csn, {raw(url) for _, url in given})) as host:
        done = run_import(*arguments, host.url, "--json")
        assert set(host.asked.values()) == {1}
        assert "128 functions do not resolve" in done.stderr
        listed = [line.split("\t") for line in (tmp_path / "unresolved.tsv").read_text("utf-8").splitlines()]
        assert sorted(fields[:2] for fields in listed) == sorted(given)
        assert {reason for _, _, reason in listed[1:]} == {"HTTP 404, no such file"}
        before = files_beside(tmp_path)
        run_import(*arguments, host.url, "--unresolved", csn / "missing_urls.tsv")
        assert set(host.asked.values()) == {1}
    after = files_beside(tmp_path)
    assert after.pop("unresolved.tsv") != before.pop("unresolved.tsv")
    assert after == before
    assert rows_of(tmp_path / "queries.jsonl.gz") == rows_of(csn / "queries.jsonl.gz")
    assert rows_of(tmp_path / "qrels.jsonl.gz") == without_judge(rows_of(csn / "qrels.jsonl.gz"))
    assert faults.find(tmp_path, scale, settings=Settings()) == []
    figures = {entry["language"]: entry for entry in json.loads(done.stdout)["languages"]}
    assert list(figures) == ["python", "java", "javascript", "php", "ruby", "go"]
    assert figures["go"] == {
        "language": "go", "searches": 83, "tuning": 0, "functions": 161, "unresolved": 4, "pairs": 162, "relevant": 40,
    }  # fmt: skip
    assert (figures["python"]["tuning"], figures["python"]["functions"]) == (20, 943)
    corpus = rows_of(tmp_path / "corpus.jsonl.gz")
    with (csn / "validation_pairs.csv").open(newline="", encoding="utf-8") as file:
        assert {row["id"]: row["url"] for row in corpus} == {row["function_id"]: row["url"] for row in csv.DictReader(file)}
    assert all(
        row["code"] == "\n".join(str(number) for number in range(row["first_line"], row["last_line"] + 1)) for row in corpus
    )
    first = next(row for row in corpus if row["id"] == "python/0354")
    assert (first["repository"], first["path"]) == ("ethereum/pyethereum", "ethereum/tools/keys.py")
    assert (first["license"], first["sha256"]) == (None, files.sha256(first["code"].encode()))


HEADER = "Language,Query,GitHubUrl,Relevance,Notes\n"


def challenge(folder: Path, *ratings: tuple[str, str, str, int]) -> Path:
    path = folder / "a.csv"
    path.write_text(HEADER + "".join(f"{language},{search},{url},{rating},\n" for language, search, url, rating in ratings))
    return path


def address(repo: str, commit: str, lines: str, path: str = "a.go") -> str:
    return f"https://github.com/{repo}/blob/{commit}/{path}#{lines}"


@pytest.fixture
def small(tmp_path: Path) -> tuple[Path, Path]:
    """Ratings of three functions in two clones, one of which lacks a line that is rated, and the clones' folder."""
    one = repository(tmp_path / "clones" / "o+n", {"a.go": b"func A() {\n}\n\nfunc B() {\n}\n"})
    two = repository(tmp_path / "clones" / "p" / "q", {"a.go": b"func C() {\n}"})
    path = challenge(
        tmp_path,
        ("Go", "zip", address("p/q", two, "L1-L2"), 3),
        ("Go", "add", address("o/n", one, "L4-L5"), 1),
        ("Go", "zip", address("p/q", two, "L1-L2"), 0),
        ("Go", "add", address("o/n", one, "L4-L50"), 3),
        ("Ruby", "cut", address("x/y", one, "L1"), 3),
        ("Go", "add", address("o/n", one, "L1-L2"), 2),
    )
    return path, tmp_path / "clones"


def test_code_from_clones(small: tuple[Path, Path], tmp_path: Path, scale: Scale) -> None:
    path, clones = small
    done = run_import("csn", "--annotations", path, "--code", clones, "--data", tmp_path / "d")
    found = dataset.load(tmp_path / "d", scale)
    assert [(query.language, query.search_id, query.search, query.split) for query in found.queries] == [
        ("ruby", "q01", "cut", "test"), ("go", "q00", "add", "test"), ("go", "q02", "zip", "test"),
    ]  # fmt: skip
    assert [(function.id, function.code) for function in found.functions_of("go")] == [
        ("go/0000", "func A() {\n}"), ("go/0001", "func B() {\n}"), ("go/0002", "func C() {\n}"),
    ]  # fmt: skip
    assert found.experts_of("go") == {("q00", "go/0000"): (2,), ("q00", "go/0001"): (1,), ("q02", "go/0002"): (3, 0)}
    assert [qrel.relevance for qrel in found.qrels] == [2.0, 1.0, 1.5]
    unresolved = (tmp_path / "d" / "unresolved.tsv").read_text("utf-8").splitlines()
    assert [line.split("\t")[2] for line in unresolved] == ["reason", "no clone of x/y", "lines 4-50 of a file that has 6"]
    assert done.stdout.splitlines() == [
        "ruby: 1 searches (0 tuning), 0 functions (1 unresolved), 0 rated pairs, 0 relevant",
        "go: 2 searches (0 tuning), 3 functions (1 unresolved), 3 rated pairs, 1 relevant",
    ]


def test_the_list_of_unresolved_functions_is_taken_back(small: tuple[Path, Path], tmp_path: Path) -> None:
    path, clones = small
    run_import("csn", "--annotations", path, "--code", clones, "--data", tmp_path / "d")
    before = files_beside(tmp_path / "d")
    arguments = ("csn", "--annotations", path, "--code", clones, "--unresolved", tmp_path / "d" / "unresolved.tsv")
    run_import(*arguments, "--data", tmp_path / "e")
    assert files_beside(tmp_path / "e") == before


def test_the_order_of_the_ratings_of_different_pairs_does_not_matter(small: tuple[Path, Path], tmp_path: Path) -> None:
    path, clones = small
    run_import("csn", "--annotations", path, "--code", clones, "--data", tmp_path / "d")
    head, *lines = path.read_text().splitlines(keepends=True)
    path.write_text(head + "".join(sorted(lines, key=lambda line: (line.split(",")[1], -lines.index(line) % 2))))
    run_import("csn", "--annotations", path, "--code", clones, "--data", tmp_path / "e")
    assert files_beside(tmp_path / "d") == files_beside(tmp_path / "e")


def test_files_in_the_cache_are_not_asked_for_again(small: tuple[Path, Path], tmp_path: Path) -> None:
    path, _ = small
    data = tmp_path / "d"
    with serve(lambda request: (404, {}, b"") if request.path.startswith("/x/y") else ok(b"1\n2\n3\n4\n5\n6")) as host:
        run_import("csn", "--annotations", path, "--code", host.url, "--data", data)
        asked = dict(host.asked)
        for name in ("queries", "corpus", "qrels"):
            (data / f"{name}.jsonl.gz").unlink()
        run_import("csn", "--annotations", path, "--code", host.url, "--data", data)
        assert [path for path, count in host.asked.items() if count > asked[path]] == [
            path for path in asked if path.startswith("/x/y")
        ]
    assert len(list((data / "work" / "cache").iterdir())) == 2


def test_another_dataset_is_never_replaced(small: tuple[Path, Path], folder: Path) -> None:
    path, clones = small
    before = files_beside(folder)
    with pytest.raises(UsageError, match=r"queries\.jsonl\.gz holds something else than what is imported; name a new folder"):
        run_import("csn", "--annotations", path, "--code", clones, "--data", folder)
    assert files_beside(folder) == before
    assert not (folder / "work").exists()


@pytest.mark.parametrize("name", ["qrels", "corpus"])
def test_ratings_added_since_are_never_replaced(small: tuple[Path, Path], tmp_path: Path, name: str) -> None:
    path, clones = small
    run_import("csn", "--annotations", path, "--code", clones, "--data", tmp_path / "d")
    table = tmp_path / "d" / f"{name}.jsonl.gz"
    tables.write(table, rows_of(table)[:-1])
    before = files_beside(tmp_path / "d")
    with pytest.raises(UsageError, match=rf"{name}\.jsonl\.gz holds something else"):
        run_import("csn", "--annotations", path, "--code", clones, "--data", tmp_path / "d")
    assert files_beside(tmp_path / "d") == before


def test_bad_input_writes_nothing(small: tuple[Path, Path], tmp_path: Path) -> None:
    path, clones = small
    path.write_text(path.read_text().replace(",3,", ",5,"))
    with pytest.raises(DataError, match=r"a\.csv:2: Relevance is '5'"):
        run_import("csn", "--annotations", path, "--code", clones, "--data", tmp_path / "d")
    assert not (tmp_path / "d").exists()


def test_a_folder_that_is_none_is_said(small: tuple[Path, Path], tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"no such folder; valid are raw, the http\(s\) URL of a mirror, a folder of git"):
        run_import("csn", "--annotations", small[0], "--code", "rwa", "--data", tmp_path / "d")


def test_functions_listed_but_not_annotated_are_noted(small: tuple[Path, Path], tmp_path: Path) -> None:
    path, clones = small
    listed = tmp_path / "m.tsv"
    listed.write_text(f"go\t{address('z/z', '0' * 40, 'L1')}\n")
    done = run_import("csn", "--annotations", path, "--code", clones, "--unresolved", listed, "--data", tmp_path / "d")
    assert f"1 of the functions in {listed} are not annotated in {path}" in done.stderr


def test_a_list_that_is_not_utf8_is_said() -> None:
    with pytest.raises(DataError, match=r"m\.tsv: not UTF-8"):
        csn.listed(b"\xff", "m.tsv")


def test_a_file_is_no_folder_for_a_dataset(small: tuple[Path, Path], tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"a\.csv is no folder; name one with --data"):
        run_import("csn", "--annotations", small[0], "--code", small[1], "--data", small[0])


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("Go\tx", r"m\.tsv:2: must be language, url and perhaps a reason"),
        ("go", r"m\.tsv:2: must be language"),
        ("go\thttps://example.org/x", r"m\.tsv:2: .* is not https://github\.com/"),
    ],
)
def test_a_faulty_list_is_named(line: str, message: str) -> None:
    with pytest.raises(DataError, match=message):
        csn.listed(f"language\turl\n{line}\n".encode(), "m.tsv")


def test_numbers_grow_wider_than_the_published_ones(scale: Scale) -> None:
    lines = [
        f"PHP,search {number},{address('o/n', '0' * 40, f'L{number + 1}', 'a.php')},1," for number in range(10_001)
    ]  # fmt: skip
    rated = annotations.parse((HEADER + "\n".join(lines)).encode(), "a.csv", scale=scale)
    codes = {location: "x" for _, location in csn.functions(rated)}
    found, left_out = csn.build(rated, {}, resolution=Resolution(codes), relevant_from=2)
    assert (found.queries[0].search_id, found.queries[-1].search_id) == ("q00000", "q10000")
    assert found.corpus is not None
    assert (found.corpus[0].id, found.corpus[-1].id) == ("php/00000", "php/10000")
    assert left_out == ()
    assert {query.split for query in found.queries} == {"test"}


def test_a_function_spelt_in_two_ways_is_one_under_the_first_of_them(scale: Scale) -> None:
    spellings = [address("o/n", "0" * 40, lines, path) for lines, path in (("L1", "b c"), ("L1-L1", "b%20c"))]
    lines = [f"Go,x,{spellings[0]},1,", f"Go,x,{spellings[1]},3,", f"Go,x,{spellings[0]},2,"]
    for order in (lines, [lines[1], lines[0], lines[2]]):
        rated = annotations.parse((HEADER + "\n".join(order)).encode(), "a.csv", scale=scale)
        (place,) = csn.functions(rated)
        found, _ = csn.build(rated, {}, resolution=Resolution({place[1]: "x"}), relevant_from=2)
        assert found.corpus is not None
        assert [function.origin["url"] for function in found.corpus] == [spellings[0]]
        assert sorted(found.qrels[0].expert_ratings) == [1, 2, 3]


def test_the_help_has_examples() -> None:
    names = importing.list_commands(click.Context(importing))
    assert {"beir", "csn", "hf", "trec"} <= set(names)
    for name in names:
        text = CliRunner().invoke(importing, [name, "--help"]).output
        assert f"judge import {name} " in text
        assert "--data DIR" in text


def test_a_host_out_of_order_stops_with_nothing_written(small: tuple[Path, Path], tmp_path: Path) -> None:
    from pools._checkouts import mirrors, sources

    rated = annotations.parse(files.read(small[0]), "a.csv", scale=Scale("s", ((0, "a"), (1, "b"), (2, "c"), (3, "d"))))
    locations = [location for _, location in csn.functions(rated)]
    with serve(lambda _: (502, {}, b"")) as host:
        mirror = mirrors.Mirror(host.url, tmp_path / "cache", lambda _: None)
        with pytest.raises(Stopped, match="HTTP 502, 5 times"):
            sources.resolve(locations, mirror.read(sources.files_of(locations)))
    assert not (tmp_path / "cache").exists()
