"""`judge pool` over the sample: the same bytes whatever the order of rows, and drawn again after the dataset grew."""

import json
import random
from pathlib import Path

import pytest

from judge.ledger import Ledger
from pools import pool, settings, tables
from tests.command import judge
from tests.fake_api import FakeApi
from tests.test_pipeline import plain_sample

Capture = pytest.CaptureFixture[str]


def pooled(folder: Path) -> dict[tuple[str, str], pool.PoolPair]:
    return {entry.pair: entry for entry in pool.read(pool.path(folder, "go"))}


def test_the_order_of_rows_changes_no_byte(capfd: Capture, tmp_path: Path) -> None:
    folder, shuffled = (plain_sample(tmp_path / name) for name in ("sorted", "shuffled"))
    rng = random.Random(1)
    for name in ("queries", "corpus", "qrels"):
        path = tables.find(shuffled, name)
        assert path is not None
        rows = [row for _, row in tables.read(path)]
        tables.write(path, rng.sample(rows, len(rows)))
    for each in (folder, shuffled):
        assert judge(capfd, "pool", "--data", each, "--lang", "go").code == 0
    files = sorted(path.relative_to(folder) for path in folder.glob("work/go/**/*.parquet"))
    assert len(files) == 4
    for file in files:
        assert (folder / file).read_bytes() == (shuffled / file).read_bytes()


def test_a_pool_drawn_again_keeps_what_is_rated_and_asks_for_the_new_alone(capfd: Capture, tmp_path: Path) -> None:
    folder = plain_sample(tmp_path / "data")
    pool_go, rate_go = ("pool", "--data", folder, "--lang", "go"), ("rate", "--data", folder, "--lang", "go", "--model", "m")
    assert judge(capfd, *pool_go).code == 0
    before = pooled(folder)
    with FakeApi() as api:
        assert judge(capfd, *rate_go, "--continue", "--base-url", api.url).code in {0, 1}
        corpus = tables.find(folder, "corpus")
        assert corpus is not None
        rows = [row for _, row in tables.read(corpus)]
        more = [row | {"id": row["id"] + "-more", "code": "// more\n" + row["code"]} for row in rows if row["language"] == "go"]
        tables.write(corpus, rows + [{key: row[key] for key in row if key != "sha256"} for row in more])
        toml = folder / settings.FILE
        toml.write_text(toml.read_text().replace('"grep-any"]', '"grep-any", "bm25"]'))
        done = judge(capfd, *pool_go, "--json")
        assert done.code == 0, done.err
        after = pooled(folder)
        assert before.keys() <= after.keys()
        added = after.keys() - before.keys()
        assert json.loads(done.out)["languages"][0]["new"] == len(added) > 0
        assert {name.endswith("-more") for _, name in added} == {True, False}
        kept = [entry for entry in after.values() if entry.stratum is not None and entry.probability is None]
        assert kept
        asked = len(api.asked_pairs)
        assert judge(capfd, *rate_go, "--continue", "--base-url", api.url).code in {0, 1}
        assert len(api.asked_pairs) - asked == len(added)
    ledger = Ledger.read(folder / "work" / "go" / "judgements.jsonl")
    assert ledger.ratings(ledger.judges()[0]).keys() == after.keys()


def test_what_nobody_rated_is_drawn_as_if_for_the_first_time(capfd: Capture, tmp_path: Path) -> None:
    folder = plain_sample(tmp_path / "data")
    judge(capfd, "pool", "--data", folder, "--lang", "go", "--seed", 1)
    first = pool.path(folder, "go").read_bytes()
    judge(capfd, "pool", "--data", folder, "--lang", "go", "--seed", 2)
    assert pool.path(folder, "go").read_bytes() != first
    judge(capfd, "pool", "--data", folder, "--lang", "go", "--seed", 1)
    assert pool.path(folder, "go").read_bytes() == first
