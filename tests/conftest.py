"""Fixtures shared by all tests: folders, small datasets, and an environment that keeps the user's own out."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

from pools._dataset import files, tables
from pools._dataset.tables import Row
from prompts import scales
from prompts.scales import Scale

# The same examples in every run, and no deadline: the machine's speed is not what is tested.
settings.register_profile("fixed", derandomize=True, deadline=None)
settings.load_profile("fixed")

ROOT = Path(__file__).resolve().parent.parent
CSN = ROOT.parent / "shared" / "csn"


@pytest.fixture(autouse=True, scope="session")
def _own_environment(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Point the user's folders to a temporary one, and drop keys and settings that would change what tests see."""
    home = str(tmp_path_factory.mktemp("home"))
    before = dict(os.environ)
    for name in ("HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_DATA_HOME"):
        os.environ[name] = home
    for name in [name for name in os.environ if name.startswith(("OPENAI_", "JUDGE_")) or name == "RIPGREP_CONFIG_PATH"]:
        del os.environ[name]
    yield
    os.environ.clear()
    os.environ.update(before)


@pytest.fixture(scope="session")
def csn() -> Path:
    """The folder of real CodeSearchNet ratings beside the checkout; tests of it are skipped where it is absent."""
    if not CSN.is_dir():
        pytest.skip("no ../shared/csn beside the checkout")
    return CSN


@pytest.fixture(scope="session")
def scale() -> Scale:
    return scales.load("relevance")


def function_row(number: int, code: str, language: str = "python") -> Row:
    """A row of a corpus in the published columns."""
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
    """A row of expert-rated qrels in the published columns."""
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


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A sound dataset of one language: two searches, four functions, three expert-rated pairs."""
    write_dataset(tmp_path / "data")
    return tmp_path / "data"


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
