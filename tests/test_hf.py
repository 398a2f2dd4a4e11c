"""The published layout: every way in which a table may lie there gives the same rows_of, all columns kept."""

from pathlib import Path

import pytest

from pools._dataset import tables
from pools._formats import hf
from pools.errors import DataError, UsageError
from prompts.scales import Scale
from tests.builders.command import run_import
from tests.builders.rows import files_beside, rows_of, write_dataset

NAMES = ("queries", "corpus", "qrels")
WAYS = [
    "{name}.jsonl",
    "{name}.jsonl.gz",
    "{name}.parquet",
    "{name}/train.jsonl.gz",
    "{name}/test/0000.parquet",
    "data/{name}.parquet",
    "data/{name}-00000-of-00001.parquet",
    "data/{name}/part.jsonl.gz",
]
OWN: tables.Row = {"own": [1, 2], "zeta": {"x": "y"}}


def lay(folder: Path, source: Path, way: str) -> Path:
    """Lay the tables of a dataset out in one of the ways, with a column that nothing knows."""
    for name in NAMES:
        tables.write(folder / way.format(name=name), [row | OWN for row in rows_of(source / f"{name}.jsonl.gz")])
    (folder / "README.md").write_text("card")
    (folder / ".cache").mkdir()
    return folder


@pytest.mark.parametrize("way", WAYS)
def test_every_layout_gives_the_same_dataset(folder: Path, tmp_path: Path, way: str) -> None:
    source = lay(tmp_path / "hub", folder, way)
    done = run_import("hf", source, "--data", tmp_path / "d")
    for name in NAMES:
        expected = [row | OWN for row in rows_of(folder / f"{name}.jsonl.gz")]
        assert rows_of(tmp_path / "d" / f"{name}.jsonl.gz") == expected
    assert done.stdout == "python: 2 searches (1 tuning), 4 functions, 3 rated pairs, 2 relevant\n"


def test_the_published_ratings_come_back_as_they_are(csn: Path, tmp_path: Path) -> None:
    done = run_import("hf", csn, "--data", tmp_path)
    assert done.stderr == f"{csn} has no corpus, so there is no code\n"
    for name in ("queries", "qrels"):
        assert rows_of(tmp_path / f"{name}.jsonl.gz") == rows_of(csn / f"{name}.jsonl.gz")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["qrels.jsonl.gz", "queries.jsonl.gz"]


def test_a_dataset_that_is_there_already_stays_in_its_form(folder: Path, tmp_path: Path) -> None:
    write_dataset(tmp_path / "d", ".parquet")
    before = files_beside(tmp_path / "d")
    run_import("hf", folder, "--data", tmp_path / "d")
    assert files_beside(tmp_path / "d") == before


def test_shards_are_read_in_order_and_all_of_them(folder: Path, tmp_path: Path, scale: Scale) -> None:
    source = lay(tmp_path / "hub", folder, "{name}.jsonl")
    corpus = rows_of(source / "corpus.jsonl")
    (source / "corpus.jsonl").unlink()
    for number in range(2):
        tables.write(source / "data" / f"corpus-0000{number}-of-00002.parquet", corpus[2 * number : 2 * number + 2])
    assert [function.id for function in hf.load(source, scale).corpus or ()] == [row["id"] for row in corpus]
    (source / "data" / "corpus-00000-of-00002.parquet").unlink()
    with pytest.raises(DataError, match=r"corpus-00000-of-00002\.parquet: no such file, and corpus-00001-of-00002\.parquet"):
        hf.load(source, scale)


def test_languages_may_be_files_of_a_configuration(folder: Path, tmp_path: Path, scale: Scale) -> None:
    source = lay(tmp_path / "hub", folder, "{name}/python.jsonl")
    tables.write(source / "queries" / "go.jsonl", [{"language": "go", "search_id": "q0", "search": "x"}])
    assert [(query.language, query.search_id) for query in hf.load(source, scale).queries] == [
        ("go", "q0"), ("python", "q0"), ("python", "q1"),
    ]  # fmt: skip


def test_a_table_that_is_there_twice_is_an_error(folder: Path, tmp_path: Path, scale: Scale) -> None:
    source = lay(tmp_path / "hub", folder, "{name}.jsonl")
    tables.write(source / "data" / "qrels-00000-of-00001.parquet", rows_of(source / "qrels.jsonl"))
    with pytest.raises(DataError, match=r"qrels is both qrels\.jsonl and data/qrels-00000-of-00001\.parquet; keep one"):
        hf.load(source, scale)


def test_a_folder_without_queries_is_none(tmp_path: Path, scale: Scale) -> None:
    with pytest.raises(UsageError, match=r"no queries; a published dataset has queries, corpus and qrels"):
        hf.load(tmp_path, scale)


FAULTS = [
    ("qrels", {"relevance": "x"}, r"qrels\.parquet, row 1: relevance must be a number"),
    ("qrels", {"judge_rating": 5}, r"qrels\.parquet, row 1: judge_rating holds 5"),
    ("qrels", {"search_id": "q1", "function_id": "python/0002"}, r"qrels\.parquet, row 3: qrels 'python q1 python/0002' is al"),
    ("qrels", {"search_id": "q9"}, r"qrels\.parquet, row 1: no search 'q9' of python in queries"),
    ("qrels", {"function_id": "python/0009"}, r"qrels\.parquet, row 1: no function 'python/0009' of python in corpus"),
    ("queries", {"search": None}, r"queries\.parquet, row 1: search must be a text"),
    ("corpus", {"code": ""}, r"corpus\.parquet, row 1: code must be a text"),
]


@pytest.mark.parametrize(("name", "change", "message"), FAULTS)
def test_a_fault_is_named_and_nothing_written(
    folder: Path, tmp_path: Path, name: str, change: tables.Row, message: str
) -> None:
    source = lay(tmp_path / "hub", folder, "{name}.jsonl")
    first, *others = rows_of(source / f"{name}.jsonl")
    (source / f"{name}.jsonl").unlink()
    changed = [first | change, *others]
    if change.get("relevance") == "x":
        changed = [first | change]
    tables.write(source / f"{name}.parquet", changed)
    with pytest.raises(DataError, match=message):
        run_import("hf", source, "--data", tmp_path / "d")
    assert not (tmp_path / "d").exists()
