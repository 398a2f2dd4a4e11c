"""`judge export` in the forms of others: there and back, checked and complete, or not there."""

from pathlib import Path

import pytest

from pools._dataset import dataset, tables
from prompts import scales
from tests.builders.command import judge
from tests.builders.rows import function_row as row_of
from tests.builders.rows import write_dataset

Capture = pytest.CaptureFixture[str]
SCALE = scales.load("relevance")


@pytest.mark.parametrize("name", ["trec", "beir", "hf"])
def test_the_commands_take_a_dataset_there_and_back(capfd: Capture, folder: Path, tmp_path: Path, name: str) -> None:
    chosen = [part for form in ("hf", "trec", "beir") for part in ("--format", form)]
    done = judge(capfd, "export", "--data", folder, *chosen)
    assert done.code == 0, done.err
    place = folder / "export" / {"hf": ".", "trec": "trec/python", "beir": "beir/python"}[name]
    where: list[object] = [place]
    if name == "trec":
        where = ["--topics", place / "topics.tsv", "--documents", place / "documents.jsonl", "--qrels", place / "qrels.txt"]
    assert judge(capfd, "import", name, *where, "--data", tmp_path / "back").code == 0
    before, after = (dataset.load(path, SCALE) for path in (folder, tmp_path / "back"))
    assert [query.search for query in after.queries] == [query.search for query in before.queries]
    assert [function.code for function in after.corpus or ()] == [function.code for function in before.corpus or ()]
    assert [(qrel.pair, qrel.relevant) for qrel in after.qrels] == [(qrel.pair, qrel.relevant) for qrel in before.qrels]


def test_an_export_in_another_form_is_checked_and_complete_or_not_there(capfd: Capture, tmp_path: Path) -> None:
    write_dataset(tmp_path)
    spaced = row_of(4, "def more():\n    pass") | {"id": "with space"}
    path = tmp_path / "corpus.jsonl.gz"
    tables.write(path, [*(row for _, row in tables.read(path)), spaced])
    done = judge(capfd, "export", "--data", tmp_path, "--format", "hf", "--format", "trec")
    assert (done.code, "function 'with space' of python: TREC qrels cannot hold an id with white space" in done.error) == (
        3,
        True,
    )
    assert not (tmp_path / "export").exists()
    done = judge(capfd, "export", "--data", tmp_path, "--format", "csn")
    assert (done.code, "format csn can only be read" in done.error) == (2, True)


def test_a_form_that_an_earlier_export_left_is_said(capfd: Capture, folder: Path) -> None:
    first = judge(capfd, "export", "--data", folder, "--format", "beir")
    assert (first.code, first.err) == (0, "")
    assert [line.rpartition("export/")[2] for line in first.out.splitlines()] == [
        "beir/python/corpus.jsonl", "beir/python/queries.jsonl", "beir/python/qrels/test.tsv", "README.md",
    ]  # fmt: skip
    second = judge(capfd, "export", "--data", folder)
    assert second.err == f"{folder / 'export'} still holds beir of an earlier export; add --format beir, or remove it\n"
    assert judge(capfd, "export", "--data", folder, "--format", "hf", "--format", "beir").err == ""
