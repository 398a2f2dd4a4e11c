"""BEIR folders: what becomes a search, a function, a rating, and which searches belong to other splits."""

from pathlib import Path

import pytest

from pools._dataset import dataset, faults, tables
from pools._dataset.settings import Settings
from pools._formats import beir
from pools._formats.collection import Collection
from pools.errors import DataError, UsageError
from prompts.scales import Scale
from tests.builders.command import run_import
from tests.builders.rows import files_beside

HEADER = "query-id\tcorpus-id\tscore\n"


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """A BEIR folder with test and train qrels."""
    folder = tmp_path / "beir"
    tables.write(
        folder / "corpus.jsonl",
        [
            {"_id": "d2", "title": "Reads", "text": "def read():\n  pass", "metadata": {"url": "u"}},
            {"_id": "d1", "title": "", "text": "x = 1", "language": "python"},
            {"_id": "d0", "text": "y = 1", "metadata": {}},
        ],
    )
    queries = [{"_id": f"q{number}", "text": f"search {number}", "metadata": {"n": number}} for number in range(4)]
    tables.write(folder / "queries.jsonl", queries[::-1])
    (folder / "qrels").mkdir()
    (folder / "qrels" / "test.tsv").write_text(HEADER + "q1\td2\t1\nq0\td1\t3\nq0\td2\t0\n")
    (folder / "qrels" / "train.tsv").write_text(HEADER + "q2\td2\t1\nq0\td0\t3\n")
    return folder


def load(folder: Path, scale: Scale) -> Collection:
    return beir.load(folder, scale, relevant_from=2)


def test_a_folder_becomes_a_collection(source: Path, scale: Scale) -> None:
    found = load(source, scale)
    assert [(query.search_id, query.search, query.extra["metadata"]) for query in found.queries] == [
        ("q0", "search 0", {"n": 0}), ("q1", "search 1", {"n": 1}), ("q3", "search 3", {"n": 3}),
    ]  # fmt: skip
    assert {query.language for query in found.queries} == {"all"}
    assert found.corpus is not None
    assert [(function.id, function.code) for function in found.corpus] == [
        ("d0", "y = 1"), ("d1", "x = 1"), ("d2", "Reads\ndef read():\n  pass"),
    ]  # fmt: skip
    assert (found.corpus[1].origin["source_language"], found.corpus[2].origin["title"]) == ("python", "Reads")
    assert found.corpus[2].origin["metadata"] == {"url": "u"}
    assert [(qrel.pair, qrel.expert_ratings, qrel.relevant) for qrel in found.qrels] == [
        (("q0", "d1"), (3,), True), (("q0", "d2"), (0,), False), (("q1", "d2"), (1,), False),
    ]  # fmt: skip


def test_searches_of_other_splits_are_left_out_and_counted(source: Path, tmp_path: Path, scale: Scale) -> None:
    done = run_import("beir", source, "--data", tmp_path / "d")
    assert done.stderr == "1 searches that only the qrels of other splits name are left out\n"
    assert done.stdout == "all: 3 searches (0 tuning), 3 functions, 3 rated pairs, 1 relevant\n"
    assert faults.find(tmp_path / "d", scale, settings=Settings()) == []
    assert dataset.load(tmp_path / "d", scale).experts_of("all")["q0", "d1"] == (3,)
    (source / "qrels" / "train.tsv").unlink()
    assert len(load(source, scale).queries) == 4


def test_the_order_of_rows_does_not_matter(source: Path, tmp_path: Path) -> None:
    run_import("beir", source, "--data", tmp_path / "d")
    for name in ("corpus", "queries"):
        path = source / f"{name}.jsonl"
        content = [row for _, row in tables.read(path)]
        path.unlink()
        tables.write(source / f"{name}.jsonl.gz", content[::-1])
    run_import("beir", source, "--data", tmp_path / "e")
    assert files_beside(tmp_path / "d") == files_beside(tmp_path / "e")


FAULTS = [
    ("qrels/test.tsv", HEADER + "q1\td2\t-1\n", r"test\.tsv:2: level -1 is off the scale 0-3; name a scale file of your own"),
    ("qrels/test.tsv", HEADER + "q1\td2\t4\n", r"test\.tsv:2: level 4 is off the scale"),
    ("qrels/test.tsv", HEADER + "q1\td2\tx\n", r"test\.tsv:2: level 'x' is no whole number"),
    ("qrels/test.tsv", "q1\td2\t1\n", r"test\.tsv:1: no header; the first line must name query-id, corpus-id and score"),
    ("qrels/test.tsv", HEADER + "q1 d2 1\n", r"test\.tsv:2: 1 columns; must be query-id, corpus-id and score"),
    ("qrels/test.tsv", HEADER + "q9\td2\t1\n", r"test\.tsv:2: no search 'q9'"),
    ("qrels/test.tsv", HEADER + "q1\td9\t1\n", r"test\.tsv:2: no document 'd9'"),
    ("qrels/test.tsv", HEADER + "q1\td2\t1\nq1\td2\t2\n", r"test\.tsv:3: pair 'q1 d2' is already at .*test\.tsv:2"),
    ("qrels/train.tsv", "q1\n", r"train\.tsv:1: 1 columns"),
    ("corpus.jsonl", '{"_id": "a", "title": "", "text": " "}\n', r"corpus\.jsonl:1: document 'a' has no id or no text"),
    ("corpus.jsonl", '{"_id": "a", "text": "x"}\n{"_id": "a", "text": "y"}\n', r"corpus\.jsonl:2: document 'a' is already at"),
    ("corpus.jsonl", '{"text": "x"}\n', r"corpus\.jsonl:1: no id; it must be a text in _id"),
    ("queries.jsonl", '{"_id": "q0"}\n', r"queries\.jsonl:1: no text; it must be a text in text"),
    ("queries.jsonl", '{"_id": "q0", "text": "\\n"}\n', r"queries\.jsonl:1: a search needs an id and a text"),
]


@pytest.mark.parametrize(("name", "content", "message"), FAULTS)
def test_a_fault_is_named_and_nothing_written(source: Path, tmp_path: Path, name: str, content: str, message: str) -> None:
    (source / name).write_text(content)
    with pytest.raises(DataError, match=message):
        run_import("beir", source, "--data", tmp_path / "d")
    assert not (tmp_path / "d").exists()


@pytest.mark.parametrize("name", ["corpus.jsonl", "queries.jsonl", "qrels/test.tsv"])
def test_a_folder_that_lacks_a_file_is_none(source: Path, scale: Scale, name: str) -> None:
    (source / name).unlink()
    with pytest.raises(UsageError, match=r"a BEIR folder has corpus\.jsonl, queries\.jsonl and qrels/test\.tsv"):
        load(source, scale)
