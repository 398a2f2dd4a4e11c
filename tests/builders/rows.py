"""Rows in the published columns, small dataset folders, and what lies in a folder."""

from dataclasses import dataclass
from pathlib import Path

from pools._dataset import files, tables
from pools._dataset.tables import Row


@dataclass(frozen=True)
class PoolEntry:
    """As much of a pair of the pool as merging and the card look at."""

    search_id: str
    function_id: str
    stratum: str | None
    retrievers: tuple[str, ...] = ("grep-all",)


def function_row(number: int, code: str, language: str = "python") -> Row:
    """A row of a corpus."""
    return {
        "id": f"{language}/{number:04}",
        "language": language,
        "code": code,
        "url": None,
        "repository": "some/where",
        "commit": None,
        "path": "a.py",
        "first_line": 1,
        "last_line": 1 + code.count("\n"),
        "license": "MIT",
        "sha256": files.sha256(code.encode("utf-8", "surrogatepass")),
    }


def qrel_row(search_id: str, number: int, ratings: list[int], language: str = "python") -> Row:
    """A row of expert-rated qrels."""
    mean = round(sum(ratings) / len(ratings), 4)
    return {
        "language": language,
        "search_id": search_id,
        "function_id": f"{language}/{number:04}",
        "relevance": mean,
        "relevant": mean >= 2,
        "source": "expert",
        "expert_ratings": ratings,
        "judge_rating": None,
        "rated_because": "expert",
    }


def write_dataset(folder: Path, suffix: str = ".jsonl.gz") -> None:
    """Write the dataset of the fixture `folder` in one of the three forms."""
    queries: list[Row] = [
        {"language": "python", "search_id": "q0", "search": "reverse a string", "split": "test"},
        {"language": "python", "search_id": "q1", "search": "open a file", "split": "tuning"},
    ]
    corpus = [
        function_row(0, "def backwards(text):\n    return text[::-1]"),
        function_row(1, "def reverse_string(s):\n    return ''.join(reversed(s))"),
        function_row(2, "def read(path):\n    return open(path).read()"),
        function_row(3, "def add(a, b):\n    return a + b"),
    ]
    qrels = [qrel_row("q0", 1, [3, 2]), qrel_row("q0", 3, [0]), qrel_row("q1", 2, [3])]
    for name, rows in (("queries", queries), ("corpus", corpus), ("qrels", qrels)):
        tables.write(folder / (name + suffix), rows)


def rows_of(path: Path) -> list[Row]:
    """The rows of a table."""
    return [row for _, row in tables.read(path)]


def files_of(folder: Path) -> dict[str, bytes]:
    """What is in every file of a folder and of the folders in it, by its path from there."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def files_beside(folder: Path) -> dict[str, bytes]:
    """What is in every file of a folder, leaving out the folders in it."""
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}
