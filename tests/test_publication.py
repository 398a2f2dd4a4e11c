"""Export: the same bytes every time, everything or nothing, and no judge rating without a pass or an override on record."""

import gzip
import json
import os
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from gates._release import journal, publication, qrels
from gates._release.journal import Event
from gates._verdict import evidence, gate_record, hashes
from gates._verdict.evidence import Evidence
from gates._verdict.seal import Seal
from pools._dataset import dataset, records, tables
from pools._dataset.dataset import Dataset
from pools._dataset.settings import GateSettings, Settings
from pools.errors import DataError, GateClosed, UsageError
from prompts.scales import Scale
from tests.builders.rows import PoolEntry, function_row, qrel_row

SETTINGS = Settings(gate=GateSettings(resamples=200))
JUDGE = "0123456789abcdef"
IDENTITY = {"model": "some-model", "pairs_per_batch": 40, "shown_characters": 20000, "sampling": {"temperature": 0.0}}


@dataclass
class World:
    """A folder with two languages: python's judge passes and was merged, go has experts alone."""

    folder: Path
    scale: Scale
    ratings: dict[tuple[str, str], int]
    pool: tuple[PoolEntry, ...]

    def data(self) -> Dataset:
        return dataset.load(self.folder, self.scale)

    def evidence(self) -> dict[str, Evidence]:
        seal = Seal(SETTINGS.gate, 2.0, hashes.of_gold(self.data().experts_of("python")))
        return {"python": Evidence(JUDGE, self.ratings, seal, seal, IDENTITY, self.pool)}

    def assess(self) -> None:
        shown = self.evidence()["python"]
        record = gate_record.assess(
            "python",
            self.data().experts_of("python"),
            ratings=self.ratings,
            gate=SETTINGS.gate,
            relevant_from=2.0,
            seed=1,
            judge_id=shown.judge_id,
        )
        gate_record.write(gate_record.path(self.folder, "python"), record)

    def merge(self) -> None:
        qrels.write(self.folder, qrels.merge(self.data(), "python", pool=self.pool, ratings=self.ratings, relevant_from=2.0))

    def export(self) -> tuple[Path, ...]:
        return publication.export(self.data(), self.evidence(), settings=SETTINGS, scale=self.scale)

    def exported(self) -> dict[str, bytes]:
        folder = self.folder / "export"
        return {path.name: path.read_bytes() for path in sorted(folder.iterdir())} if folder.is_dir() else {}


@pytest.fixture
def world(tmp_path: Path, scale: Scale) -> World:
    languages = ("python", "go")
    queries = [
        {"language": language, "search_id": f"q{number}", "search": "x|y", "split": "test"}
        for language in languages
        for number in (1, 0)
    ]
    corpus = [function_row(number, f"code {number}", language) for language in languages for number in range(8)]
    corpus[0]["license"] = None
    corpus[1]["license"] = "BSD-3-Clause"
    judgements = [
        qrel_row(f"q{number % 2}", number, [3 * (number % 3 == 0), 2 * (number % 3 == 0)], language)
        for language in languages
        for number in range(6)
    ]
    for name, rows in (("queries", queries), ("corpus", corpus), ("qrels", judgements)):
        tables.write(tmp_path / f"{name}.jsonl", rows)
    ratings = {
        (row["search_id"], row["function_id"]): int(row["relevance"]) for row in judgements if row["language"] == "python"
    }
    ratings |= {("q0", "python/0006"): 3, ("q1", "python/0007"): 0}
    pool = (
        PoolEntry("q0", "python/0006", "pooled"),
        PoolEntry("q1", "python/0007", "unflagged-sample", ()),
        PoolEntry("q0", "python/0000", None),
    )
    made = World(tmp_path, scale, ratings, pool)
    made.assess()
    made.merge()
    return made


def test_files_hold_the_dataset_sorted_and_the_card_comes_last(world: World) -> None:
    paths = world.export()
    assert [path.name for path in paths] == ["queries.jsonl.gz", "corpus.jsonl.gz", "qrels.jsonl.gz", "README.md"]
    out = dataset.load(world.folder / "export", world.scale)
    assert [(query.language, query.search_id) for query in out.queries] == [
        ("python", "q0"), ("python", "q1"), ("go", "q0"), ("go", "q1"),
    ]  # fmt: skip
    assert out.qrels == world.data().qrels
    assert len(out.corpus or ()) == 16
    row = json.loads(gzip.decompress(paths[2].read_bytes()).splitlines()[0])
    assert list(row) == list(records.QREL_COLUMNS)
    assert not [path for path in world.folder.iterdir() if path.name.startswith(".export")]


def test_two_exports_are_the_same_bytes_whatever_the_order_of_the_rows(world: World, tmp_path: Path) -> None:
    world.export()
    first = world.exported()
    for name in ("corpus", "qrels"):
        path = world.folder / f"{name}.jsonl"
        path.write_bytes(b"".join(reversed(path.read_bytes().splitlines(keepends=True))))
    (world.folder / "export" / "qrels.jsonl.gz").unlink()
    world.export()
    assert world.exported() == first


def _check_refused(world: World, cause: str) -> None:
    world.folder.joinpath("export").mkdir(exist_ok=True)
    (world.folder / "export" / "README.md").write_text("as it was", encoding="utf-8")
    with pytest.raises(GateClosed) as refused:
        world.export()
    assert cause in str(refused.value)
    assert world.exported() == {"README.md": b"as it was"}


def test_no_record_no_export(world: World) -> None:
    gate_record.path(world.folder, "python").unlink()
    _check_refused(world, "python: no gate record")


def test_no_ledger_no_export(world: World) -> None:
    with pytest.raises(GateClosed, match="there is no ledger or audit to show for them"):
        publication.export(world.data(), {}, settings=SETTINGS, scale=world.scale)
    assert not world.exported()


def test_a_rating_that_the_ledger_does_not_have_is_found(world: World) -> None:
    world.ratings[("q0", "python/0006")] = 2
    _check_refused(world, "the judgement of q0 python/0006 has judge_rating 3, the ledger of judge 0123456789abcdef has 2")
    del world.ratings[("q0", "python/0006")]
    _check_refused(world, "has none; run `judge merge --lang python` again")


def test_a_judge_row_edited_to_be_relevant_is_found(world: World) -> None:
    data = world.data()
    edited = [replace(qrel, relevance=3.0, relevant=True) if qrel.function_id == "python/0007" else qrel for qrel in data.qrels]
    qrels.write(world.folder, edited)
    _check_refused(world, "python/0007 has source judge, and its relevance does not follow from a judge_rating")


def test_a_missed_gate_needs_an_override_which_the_card_shows(world: World) -> None:
    expert = [pair for pair in world.data().experts_of("python") if world.ratings[pair]]
    for pair in expert:
        world.ratings[pair] = 0
    world.assess()
    world.merge()
    _check_refused(world, "python: the gate is missed: F1 0.0000 is below 0.67")
    journal.append(world.folder, Event("2026-01-02T03:04:05Z", "override", "python", JUDGE, "asked for | by the board"))
    world.export()
    card = world.exported()["README.md"].decode("utf-8")
    assert "**python: the gate was overridden** on 2026-01-02T03:04:05Z, with the reason: asked for \\| by the board" in card
    assert "| missed (clear) | yes, by override |" in card
    journal.append(world.folder, Event("2026-01-03T03:04:05Z", "withdraw", "python", JUDGE, "thought better of it"))
    with pytest.raises(GateClosed):
        world.export()


def test_an_override_of_another_judge_does_not_count(world: World) -> None:
    gate_record.path(world.folder, "python").unlink()
    journal.append(world.folder, Event("2026-01-02T03:04:05Z", "override", "python", "fedcba9876543210", "for another one"))
    _check_refused(world, "python: no gate record")


def test_without_a_corpus_nothing_is_exported(world: World) -> None:
    (world.folder / "corpus.jsonl").unlink()
    with pytest.raises(DataError, match="no corpus"):
        world.export()
    assert not world.exported()


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_read_only_folder_is_named(world: World) -> None:
    world.folder.chmod(0o555)
    try:
        with pytest.raises(UsageError, match="cannot be written"):
            world.export()
    finally:
        world.folder.chmod(0o755)


def test_a_file_in_the_way_is_named(world: World) -> None:
    (world.folder / "export").write_text("in the way", encoding="utf-8")
    with pytest.raises(UsageError, match="export: cannot be written"):
        world.export()


def test_a_published_dataset_is_its_own_evidence_but_opens_no_gate(world: World) -> None:
    data = world.data()
    found = evidence.published(data, "python", settings=SETTINGS)
    assert found is not None
    assert found.judge_id is None
    assert set(found.ratings) == set(world.ratings)
    assert evidence.published(data, "go", settings=SETTINGS) is None
    record = evidence.verdict(data, "python", evidence=found)
    assert record.verdict == "passed"
    gate_record.write(gate_record.path(world.folder, "python"), record)
    with pytest.raises(GateClosed, match="came without a ledger"):
        publication.export(data, {"python": found}, settings=SETTINGS, scale=world.scale)
    journal.append(world.folder, Event("2026-01-02T03:04:05Z", "override", "python", None, "as it was published"))
    publication.export(data, {"python": found}, settings=SETTINGS, scale=world.scale)
    assert "| python | as published | none: no ledger |" in world.exported()["README.md"].decode("utf-8")
