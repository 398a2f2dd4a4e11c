"""Folders that earlier releases made are read and gated as they were then; one of each is kept in tests/old_folders."""

import json
import shutil
from pathlib import Path

import pytest

from pools._dataset import files
from tests.builders.command import judge
from tests.builders.fake_api import FakeApi, Script
from tests.builders.places import ROOT

OLD = ROOT / "tests" / "old_folders" / "0.1.0"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The folder that 0.1.0 left after pool, rate, gate, merge and export, with a judge that is an LLM, and one in the pool."""
    return Path(shutil.copytree(OLD, tmp_path / "0.1.0"))


def test_the_verdict_is_what_it_was(capfd: pytest.CaptureFixture[str], folder: Path) -> None:
    record = (folder / "work" / "go" / "gate.json").read_bytes()
    done = judge(capfd, "gate", "--data", folder)
    assert (done.code, done.out) == (0, OLD.with_name("0.1.0.gate.txt").read_text(encoding="utf-8"))
    assert (folder / "work" / "go" / "gate.json").read_bytes() == record
    [shown] = json.loads(judge(capfd, "gate", "--data", folder, "--json").out)["gates"]
    assert json.loads(record).items() <= shown.items()


def test_its_ratings_are_merged_and_exported_to_the_same_bytes(capfd: pytest.CaptureFixture[str], folder: Path) -> None:
    before = {
        name: (folder / name).read_bytes() for name in ("qrels.jsonl", "export/queries.jsonl.gz", "export/corpus.jsonl.gz")
    }
    before["export/qrels.jsonl.gz"] = (folder / "export" / "qrels.jsonl.gz").read_bytes()
    shutil.rmtree(folder / "export")
    assert judge(capfd, "merge", "--data", folder).code == 0
    assert judge(capfd, "export", "--data", folder).code == 0
    assert {name: (folder / name).read_bytes() for name in before} == before


def test_nothing_of_it_is_asked_again(capfd: pytest.CaptureFixture[str], folder: Path) -> None:
    ledger = files.sha256((folder / "work" / "go" / "judgements.jsonl").read_bytes())
    answers = files.sha256((folder / "work" / "go" / "yesno.jsonl").read_bytes())
    pool = (folder / "work" / "go" / "pool.parquet").read_bytes()
    # The script is empty, so a single request fails the test.
    with FakeApi(faults=Script()) as api:
        assert judge(capfd, "pool", "--data", folder, "--base-url", api.url).code == 0
        assert judge(capfd, "rate", "--data", folder, "--base-url", api.url).code == 0
        assert not api.requests
    assert files.sha256((folder / "work" / "go" / "judgements.jsonl").read_bytes()) == ledger
    assert files.sha256((folder / "work" / "go" / "yesno.jsonl").read_bytes()) == answers
    assert (folder / "work" / "go" / "pool.parquet").read_bytes() == pool


def test_its_status_and_history_are_read(capfd: pytest.CaptureFixture[str], folder: Path) -> None:
    [entry] = json.loads(judge(capfd, "status", "--data", folder, "--json").out)["languages"]
    [by] = entry["judges"]
    assert (by["rated"], by["verdict"], entry["merged"], entry["expert_pairs"]) == (138, "passed", 75, 63)
    assert judge(capfd, "log", "--data", folder).out.split()[2] == "merge"
