"""`judge pool` over the sample: the same bytes whatever the order of rows, and drawn again after the dataset grew."""

import json
import random
import re
from collections import Counter
from pathlib import Path

import pytest

from judge._ledger.ledger import Ledger
from pools._dataset import dataset, settings, tables
from pools._sampling import frame, pooled
from prompts import scales
from tests.builders.command import judge
from tests.builders.fake_api import FakeApi
from tests.builders.rows import files_of
from tests.builders.samples import as_experts, plain_sample, rate_as_expert

Capture = pytest.CaptureFixture[str]


def drawn(folder: Path) -> dict[tuple[str, str], pooled.PoolPair]:
    return {entry.pair: entry for entry in pooled.read(pooled.path(folder, "go"))}


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
    assert len(files) == 5
    for file in files:
        assert (folder / file).read_bytes() == (shuffled / file).read_bytes()


def test_a_pool_drawn_again_keeps_all_it_has_and_only_the_new_is_asked_about(capfd: Capture, tmp_path: Path) -> None:
    folder = plain_sample(tmp_path / "data")
    pool_go, rate_go = ("pool", "--data", folder, "--lang", "go"), ("rate", "--data", folder, "--lang", "go", "--model", "m")
    assert judge(capfd, *pool_go).code == 0
    before = drawn(folder)
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
        after = drawn(folder)
        assert before.keys() <= after.keys()
        added = after.keys() - before.keys()
        assert json.loads(done.out)["languages"][0]["new"] == len(added) > 0
        assert {name.endswith("-more") for _, name in added} == {True, False}
        assert all(entry.probability for entry in after.values() if entry.stratum is not None)
        asked = len(api.asked_pairs)
        assert judge(capfd, *rate_go, "--continue", "--base-url", api.url).code in {0, 1}
        assert len(api.asked_pairs) - asked == len(added)
    ledger = Ledger.read(folder / "work" / "go" / "judgements.jsonl")
    assert ledger.ratings(ledger.judges()[0]).keys() == after.keys()


def test_another_seed_is_refused_as_long_as_there_is_a_pool(capfd: Capture, tmp_path: Path) -> None:
    folder = plain_sample(tmp_path / "data")
    command = ("pool", "--data", folder, "--lang", "go")
    assert judge(capfd, *command, "--seed", 1).code == 0
    before = files_of(folder)
    done = judge(capfd, *command, "--seed", 2)
    assert (done.code, "add --seed 1, or remove the file" in done.error) == (2, True)
    assert files_of(folder) == before
    path = pooled.path(folder, "go")
    path.unlink()
    assert judge(capfd, *command, "--seed", 2).code == 0
    assert path.read_bytes() != before["work/go/pool.parquet"]
    path.unlink()
    assert judge(capfd, *command, "--seed", 1).code == 0
    assert files_of(folder) == before


def test_a_pool_of_an_older_release_keeps_its_pairs_and_says_what_is_not_known(capfd: Capture, tmp_path: Path) -> None:
    """Its frame is made up of the functions of now; what experts rated since is in no doubt a candidate for the samples."""
    folder = plain_sample(tmp_path / "data")
    command = ("pool", "--data", folder, "--lang", "go")
    assert judge(capfd, *command, "--seed", 1).code == 0
    before = drawn(folder)
    frame.path(folder, "go").unlink()
    codes = [function.id for function in dataset.load(folder, scales.load("relevance")).functions_of("go")]
    search_id = min(search for search, _ in before)
    unseen = min((search_id, name) for name in codes if (search_id, name) not in before)
    rate_as_expert(folder, unseen)
    done = judge(capfd, *command, "--seed", 2)
    assert (done.code, "does not tell from which functions and with which seed" in done.err) == (0, True)
    after = drawn(folder)
    assert before.keys() | {unseen} <= after.keys()
    assert after[unseen].stratum in pooled.SAMPLES
    lost = [pair for pair, entry in after.items() if pair in before and entry.probability is None and entry.stratum]
    assert lost, "another seed draws others"
    sizes = Counter((e.search_id, e.stratum) for e in after.values() if e.probability and e.stratum in pooled.SAMPLES)
    assert set(sizes.values()) == set(
        Counter((e.search_id, e.stratum) for e in before.values() if e.stratum in pooled.SAMPLES).values()
    )
    assert "does not tell" not in judge(capfd, *command, "--seed", 2).err
    assert drawn(folder) == after


def test_what_experts_rate_after_it_was_drawn_is_a_validation_pair_everywhere(capfd: Capture, tmp_path: Path) -> None:
    folder = plain_sample(tmp_path / "data")
    common = ("--data", folder, "--lang", "go")
    assert judge(capfd, "pool", *common).code == 0
    before = drawn(folder)
    late = min(pair for pair, entry in before.items() if entry.stratum == pooled.UNFLAGGED_SAMPLE)
    rate_as_expert(folder, late)
    done = json.loads(judge(capfd, "pool", *common, "--json").out)["languages"][0]
    after = drawn(folder)
    assert after == before, "it stays what it was in the samples"
    experts = dataset.load(folder, scales.load("relevance")).experts_of("go")
    in_samples = [entry for pair, entry in before.items() if pair not in experts]
    assert (done["pairs"], done["new"], sum(done["strata"].values())) == (len(in_samples), 0, len(in_samples))
    assert done["validation"] == len(experts)
    shown = json.loads(judge(capfd, "status", *common, "--json").out)["languages"][0]
    assert shown["pool"] == {name: count for name, count in done["strata"].items() if count}
    with FakeApi(rate=as_experts(folder, "go")) as api:
        limited = ("rate", *common, "--model", "m", "--base-url", api.url)
        assert judge(capfd, *limited, "--max-pairs", len(experts)).code in {0, 4}
        searches = {query.search_id: query.search for query in dataset.load(folder, scales.load("relevance")).queries}
        assert len(api.asked_pairs) == len(experts), "the experts' pairs, and none of the pool"
        assert searches[late[0]] in {search for search, _ in api.asked_pairs}
        ledger = Ledger.read(folder / "work" / "go" / "judgements.jsonl")
        assert ledger.ratings(ledger.judges()[0]).keys() == experts.keys()
        shown = json.loads(judge(capfd, "status", *common, "--json").out)["languages"][0]
        assert shown["relevant"] is None, "a judge that rated the experts' pairs alone has rated none of the pool"
        assert judge(capfd, *limited).code == 0
    assert judge(capfd, "merge", *common).code == 0
    rows = {qrel.pair: qrel for qrel in dataset.load(folder, scales.load("relevance")).qrels_of("go")}
    assert (rows[late].source, rows[late].rated_because, rows[late].expert_ratings) == ("expert", "expert", (3,))
    assert {pair for pair, qrel in rows.items() if qrel.source == "judge"} == {entry.pair for entry in in_samples}
    ratings = Ledger.read(folder / "work" / "go" / "judgements.jsonl")
    verdicts = {pair: rating >= 2 for pair, rating in ratings.ratings(ratings.judges()[0]).items()}
    verdicts |= {pair: sum(given) / len(given) >= 2 for pair, given in experts.items()}
    total = sum(1 / (entry.probability or 1) for pair, entry in after.items() if verdicts[pair])
    shown = json.loads(judge(capfd, "status", *common, "--json").out)["languages"][0]
    assert shown["relevant"]["total"] == pytest.approx(total)
    assert shown["relevant"]["found"] == sum(verdicts[pair] for pair in after)


def test_grep_agents_patterns_are_written_by_the_model_and_kept(capfd: Capture, sample: Path) -> None:
    path = sample / "work" / "go" / "patterns.jsonl"
    path.unlink()
    done = judge(capfd, "pool", "--data", sample, "--lang", "go")
    assert (done.code, "grep-agent left out" in done.err) == (0, True)

    def chat(prompt: str) -> str:
        return json.dumps(dict.fromkeys(re.findall(r"^(q\d\d):", prompt, re.MULTILINE), "func"))

    with FakeApi(chat=chat) as api:
        done = judge(capfd, "pool", "--data", sample, "--lang", "go", "--model", "m", "--base-url", api.url)
        assert (done.code, len(api.requests)) == (0, 1), done.err
        written = path.read_bytes()
        assert b'"model": "m"' in written
        path.write_bytes(written.replace(b'"func"', b'"type|func"', 1))
        judge(capfd, "pool", "--data", sample, "--lang", "go", "--model", "m", "--base-url", api.url)
        assert len(api.requests) == 1
    assert b'"type|func"' in path.read_bytes()
