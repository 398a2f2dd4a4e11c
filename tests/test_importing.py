"""The step `import` as Python calls it, and the commands made of the formats."""

from pathlib import Path
from typing import Any

import pytest

from judge.steps.importing import ImportedLanguage, import_collection
from judge.steps.progress import Progress
from pools.errors import UsageError
from tests.builders.command import judge
from tests.builders.repositories import repository

Capture = pytest.CaptureFixture[str]


@pytest.fixture
def topics(tmp_path: Path) -> dict[str, Any]:
    """The files of a small TREC collection, as the format calls them."""
    texts = {"topics": "1\topen a file\n", "documents": '{"id": "d", "text": "open(path)"}\n', "qrels": "1 0 d 1\n"}
    for name, text in texts.items():
        (tmp_path / name).write_text(text, "utf-8")
    return {"topics": tmp_path / "topics", "documents": [tmp_path / "documents"], "qrels": tmp_path / "qrels"}


def test_the_step_returns_what_each_language_has(tmp_path: Path, topics: dict[str, Any]) -> None:
    notes: list[str] = []
    [found] = import_collection("trec", data=tmp_path / "data", note=notes.append, **topics)
    assert found == ImportedLanguage("all", 1, 0, 1, None, 1, 0)
    assert found.document() == {"language": "all", "searches": 1, "tuning": 0, "functions": 1, "pairs": 1, "relevant": 0}
    assert notes == [
        "no pair is relevant: the highest rating is 1; set scale and relevant_from in " + str(tmp_path / "data" / "judge.toml")
    ]
    assert (tmp_path / "data" / "queries.jsonl.gz").is_file()


def test_progress_is_told_of_each_file_of_code(tmp_path: Path) -> None:
    commit = repository(tmp_path / "clones" / "o+n", {"a.go": b"1\n2\n", "b.go": b"1\n"})
    lines = [f"Go,x,https://github.com/o/n/blob/{commit}/{name}#L1,2," for name in ("a.go", "b.go", "c.go")]
    (tmp_path / "a.csv").write_text("Language,Query,GitHubUrl,Relevance,Notes\n" + "\n".join(lines) + "\n", "utf-8")
    told: list[Progress] = []
    [found] = import_collection(
        "csn",
        data=tmp_path / "data",
        progress=told.append,
        annotations=tmp_path / "a.csv",
        code=str(tmp_path / "clones"),
    )
    assert told == [Progress("code", "file", done, 3) for done in range(4)]
    assert (found.language, found.functions, found.unresolved, found.document()["unresolved"]) == ("go", 2, 1, 1)


def test_missing_and_unknown_inputs_are_named(tmp_path: Path, topics: dict[str, Any]) -> None:
    del topics["qrels"]
    with pytest.raises(UsageError, match="trec is read from topics, documents, qrels; not given or not known: qrels, runs"):
        import_collection("trec", data=tmp_path / "data", runs=1, **topics)
    with pytest.raises(UsageError, match=r"unresolved \(optional\); not given or not known: annotations, code"):
        import_collection("csn", data=tmp_path / "data")
    assert not (tmp_path / "data").exists()


def test_an_unknown_format_lists_the_valid_ones(capfd: Capture, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="unknown format 'xml'; valid are beir, csn, hf, trec"):
        import_collection("xml", data=tmp_path)
    done = judge(capfd, "import", "xml", "--data", tmp_path)
    assert (done.code, "No such command 'xml'" in done.error) == (2, True)
