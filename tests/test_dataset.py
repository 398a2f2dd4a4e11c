"""The dataset: strict reading with places, all three forms, extra columns kept."""

from pathlib import Path
from typing import Any

import pytest

from pools._dataset import dataset, faults, records, tables
from pools._dataset.settings import Settings
from pools._dataset.tables import Row
from pools.errors import DataError, UsageError
from prompts.scales import Scale
from tests.builders.rows import rows_of, write_dataset


@pytest.mark.parametrize("suffix", tables.SUFFIXES)
def test_all_forms_give_the_same_dataset(tmp_path: Path, scale: Scale, suffix: str) -> None:
    write_dataset(tmp_path, suffix)
    found = dataset.load(tmp_path, scale)
    assert found.languages == ("python",)
    assert found.experts_of("python") == {
        ("q0", "python/0001"): (3, 2),
        ("q0", "python/0003"): (0,),
        ("q1", "python/0002"): (3,),
    }
    assert [function.id for function in found.functions_of("python")] == [f"python/000{n}" for n in range(4)]
    assert [records.query_row(query) for query in found.queries] == rows_of(tmp_path / f"queries{suffix}")
    assert [records.function_row(function) for function in found.corpus or ()] == rows_of(tmp_path / f"corpus{suffix}")
    assert [records.qrel_row(qrel) for qrel in found.qrels] == rows_of(tmp_path / f"qrels{suffix}")


def test_extra_columns_survive_a_round_trip(folder: Path, scale: Scale) -> None:
    for name in ("queries", "corpus", "qrels"):
        path = folder / f"{name}.jsonl.gz"
        tables.write(path, [row | {"zeta": [1, {"b": None}], "alpha": index} for index, row in enumerate(rows_of(path))])
    found = dataset.load(folder, scale)
    assert [records.query_row(record) for record in found.queries] == rows_of(folder / "queries.jsonl.gz")
    assert [records.function_row(record) for record in found.corpus or ()] == rows_of(folder / "corpus.jsonl.gz")
    assert [records.qrel_row(record) for record in found.qrels] == rows_of(folder / "qrels.jsonl.gz")


def test_published_rows_come_back_as_they_were(csn: Path, scale: Scale) -> None:
    found = dataset.load(csn, scale)
    assert (len(found.queries), len(found.qrels)) == (573, 2781)
    assert [records.qrel_row(record) for record in found.qrels] == rows_of(csn / "qrels.jsonl.gz")
    assert faults.find(csn, scale, settings=Settings()) == []


def test_a_dataset_without_languages_has_one(tmp_path: Path, scale: Scale) -> None:
    tables.write(tmp_path / "queries.jsonl", [{"search_id": "q", "search": "x"}])
    assert dataset.load(tmp_path, scale).languages == (records.ONLY_LANGUAGE,)


FAULTS: list[tuple[str, dict[str, Any], str]] = [
    ("queries", {"search": ""}, r"queries\.jsonl\.gz:1: search must be a text that is not empty"),
    ("queries", {"search": " \t"}, r"queries\.jsonl\.gz:1: search 'q0' is empty"),
    ("queries", {"search_id": 3}, r"queries\.jsonl\.gz:1: search_id must be a text"),
    ("queries", {"search_id": "q1"}, r"queries\.jsonl\.gz:2: 'python q1' is already at .*queries\.jsonl\.gz:1"),
    ("queries", {"split": "dev"}, r"queries\.jsonl\.gz:1: split is 'dev'; valid are test, tuning"),
    ("corpus", {"id": "python/0003"}, r"corpus\.jsonl\.gz:4: 'python/0003' is already at"),
    ("queries", {"search_id": "q\ud800"}, r"queries\.jsonl\.gz:1: search_id 'q\\ud800' holds half a surrogate pair"),
    ("corpus", {"id": "\udfff"}, r"corpus\.jsonl\.gz:1: id '\\udfff' holds half a surrogate pair"),
    ("qrels", {"function_id": "\ud800"}, r"qrels\.jsonl\.gz:1: function_id '\\ud800' holds half a surrogate pair"),
    ("corpus", {"code": None}, r"corpus\.jsonl\.gz:1: code must be a text"),
    ("qrels", {"expert_ratings": [7]}, r"qrels\.jsonl\.gz:1: expert_ratings holds 7, which is off the scale 0-3"),
    ("qrels", {"expert_ratings": [2.5]}, r"expert_ratings holds 2\.5, which is no whole number"),
    ("qrels", {"expert_ratings": [True]}, r"expert_ratings holds True, which is no whole number"),
    ("qrels", {"expert_ratings": ["3"]}, r"expert_ratings holds '3', which is no whole number"),
    ("qrels", {"expert_ratings": 3}, r"expert_ratings must be a list"),
    ("qrels", {"judge_rating": -1}, r"judge_rating holds -1, which is off the scale"),
    ("qrels", {"relevance": "high"}, r"relevance must be a number"),
    ("qrels", {"relevance": 7}, r"relevance 7 is off the scale"),
    ("qrels", {"relevant": 1}, r"relevant must be true or false"),
    ("qrels", {"source": "me"}, r"source is 'me'; valid are expert, judge"),
    ("qrels", {"rated_because": "luck"}, r"rated_because is 'luck'; valid are expert, pooled, sample"),
    ("qrels", {"search_id": "q9"}, r"qrels have search 'q9' of python, which queries lacks"),
    ("qrels", {"function_id": "python/0099"}, r"qrels have function 'python/0099' of python, which corpus lacks"),
]


@pytest.mark.parametrize(("name", "change", "message"), FAULTS, ids=[f"{name}-{change}" for name, change, _ in FAULTS])
def test_a_fault_is_named_with_its_place(folder: Path, scale: Scale, name: str, change: Row, message: str) -> None:
    path = folder / f"{name}.jsonl.gz"
    first, *rest = rows_of(path)
    tables.write(path, [first | change, *rest])
    with pytest.raises(DataError, match=message):
        dataset.load(folder, scale)
    assert len(faults.find(folder, scale, settings=Settings())) >= 1


def test_numbers_too_large_for_a_float_are_no_ratings(folder: Path, scale: Scale) -> None:
    row = (folder / "qrels.jsonl.gz").with_name("qrels.jsonl")
    text = tables.lines(rows_of(folder / "qrels.jsonl.gz")).decode().replace('"judge_rating": null', '"judge_rating": 1e400', 1)
    (folder / "qrels.jsonl.gz").unlink()
    row.write_text(text, encoding="utf-8")
    with pytest.raises(DataError, match=r"qrels\.jsonl:1: judge_rating holds inf, which is no whole number"):
        dataset.load(folder, scale)


@pytest.mark.parametrize("column", ["search_id", "search"])
def test_a_missing_column_is_named(folder: Path, scale: Scale, column: str) -> None:
    path = folder / "queries.jsonl.gz"
    tables.write(path, [{key: value for key, value in row.items() if key != column} for row in rows_of(path)])
    with pytest.raises(DataError, match=rf":1: {column} must be a text that is not empty, is missing"):
        dataset.load(folder, scale)


def test_folders_that_are_no_dataset(tmp_path: Path, scale: Scale) -> None:
    with pytest.raises(UsageError, match="no such folder"):
        dataset.load(tmp_path / "nowhere", scale)
    with pytest.raises(UsageError, match="judge init"):
        dataset.load(tmp_path, scale)


def test_languages_are_chosen_by_name(folder: Path, scale: Scale) -> None:
    found = dataset.load(folder, scale)
    assert found.choose([]) == ("python",)
    with pytest.raises(UsageError, match=r"unknown language 'cobol'; .* has python"):
        found.choose(["cobol"])
    for name in ("", "..", "a/b"):
        with pytest.raises(DataError, match="cannot name a folder"):
            dataset.work(folder, name)
