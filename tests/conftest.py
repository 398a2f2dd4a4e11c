"""Fixtures shared by all tests: folders, small datasets, and an environment that keeps the user's own out."""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

from judge.steps.pool import pool
from pools._dataset.folder import load
from prompts import scales
from prompts.scales import Scale
from tests.builders import three_judges as judges
from tests.builders.places import CSN
from tests.builders.rows import write_dataset
from tests.builders.samples import QUICK, plain_sample

# The same examples in every run, and no deadline: the machine's speed is not what is tested.
settings.register_profile("fixed", derandomize=True, deadline=None)
settings.load_profile("fixed")


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


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A sound dataset of one language: two searches, four functions, three expert-rated pairs."""
    write_dataset(tmp_path / "data")
    return tmp_path / "data"


@pytest.fixture
def sample(tmp_path: Path) -> Path:
    """The sample, with the quick retrievers, and without canaries and retests."""
    return plain_sample(tmp_path / "sample")


@pytest.fixture(scope="session")
def _pooled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = plain_sample(tmp_path_factory.mktemp("pooled") / "sample", QUICK)
    pool(load(folder, ["python"]))
    return folder


@pytest.fixture
def pooled_sample(_pooled: Path, tmp_path: Path) -> Path:
    """The sample, with the quick retrievers and the pool of one language drawn."""
    return Path(shutil.copytree(_pooled, tmp_path / "sample"))


@pytest.fixture(scope="session")
def _three(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return judges.make(tmp_path_factory.mktemp("three") / "sample")


@pytest.fixture
def three(_three: Path, tmp_path: Path) -> Path:
    """The sample with the pool of Python and three judges, as `tests.builders.three_judges` makes it."""
    return Path(shutil.copytree(_three, tmp_path / "sample"))
