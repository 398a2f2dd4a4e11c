"""The pool: strata, inclusion probabilities, and a draw that depends on nothing but what it is drawn from."""

import math
import random
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from pools import hits, pool
from pools.dataset import Query
from pools.hits import Hit
from pools.pool import PoolPair
from pools.settings import PoolSettings

QUERIES = [Query("python", f"q{number}", "search") for number in range(3)]
IDS = [f"f{number:03}" for number in range(60)]
SIZES = PoolSettings(grep_any_sample=5, unflagged_sample=7)


def world(seed: int) -> tuple[dict[str, list[Hit]], set[tuple[str, str]]]:
    rng = random.Random(seed)
    flagged = {
        name: [Hit(query.search_id, name_, 1) for query in QUERIES for name_ in rng.sample(IDS, count)]
        for name, count in (("grep-any", 25), ("grep-all", 6), ("bm25", 4))
    }
    return flagged, {(query.search_id, name) for query in QUERIES for name in rng.sample(IDS, 8)}


def test_strata_and_probabilities() -> None:
    flagged, validation = world(1)
    drawn = pool.draw(QUERIES, IDS, flagged, validation, SIZES, seed=1)
    assert [entry.pair for entry in drawn] == sorted({entry.pair for entry in drawn})
    by_pair: dict[tuple[str, str], set[str]] = {}
    for name, found in flagged.items():
        for hit in found:
            by_pair.setdefault(hit.pair, set()).add(name)
    for query in QUERIES:
        every = [(query.search_id, name) for name in IDS]
        strict = {pair for pair in every if by_pair.get(pair, set()) - {"grep-any"}} - validation
        loose = {pair for pair in every if by_pair.get(pair) == {"grep-any"}} - validation
        rest = {pair for pair in every if pair not in by_pair} - validation
        own = {entry.pair: entry for entry in drawn if entry.search_id == query.search_id}
        assert {pair for pair, entry in own.items() if entry.stratum == pool.POOLED} == strict
        for stratum, candidates, size in ((pool.GREP_ANY_SAMPLE, loose, 5), (pool.UNFLAGGED_SAMPLE, rest, 7)):
            chosen = {pair for pair, entry in own.items() if entry.stratum == stratum}
            assert chosen <= candidates
            assert len(chosen) == size
            assert {own[pair].probability for pair in chosen} == {size / len(candidates)}
        for pair in validation & set(every):
            assert own[pair] == PoolPair(*pair, tuple(sorted(by_pair.get(pair, ()))), None, None)


@given(st.randoms(use_true_random=False))
def test_the_order_of_inputs_does_not_matter(rng: random.Random) -> None:
    flagged, validation = world(2)
    expected = pool.draw(QUERIES, IDS, flagged, validation, SIZES, seed=3)
    queries, ids = rng.sample(QUERIES, len(QUERIES)), rng.sample(IDS, len(IDS))
    names = rng.sample(sorted(flagged), len(flagged))
    shuffled = {name: rng.sample(flagged[name], len(flagged[name])) for name in names}
    assert pool.draw(queries, ids, shuffled, validation, SIZES, seed=3) == expected


def test_a_small_stratum_is_taken_whole_and_another_seed_draws_others() -> None:
    drawn = pool.draw(QUERIES, IDS[:4], {}, set(), SIZES, seed=1)
    assert {(entry.stratum, entry.probability) for entry in drawn} == {(pool.UNFLAGGED_SAMPLE, 1.0)}
    assert len(drawn) == 12
    first, second = (pool.draw(QUERIES, IDS, {}, set(), SIZES, seed=seed) for seed in (1, 2))
    assert first != second


def test_the_weighted_estimate_of_relevant_pairs_is_unbiased() -> None:
    """Over 2,000 seeds: the mean of sum(relevant / probability) is the truth within 3 standard errors."""
    flagged, _ = world(4)
    rng = random.Random(5)
    relevant = {(query.search_id, name) for query in QUERIES for name in rng.sample(IDS, 20)}
    estimates = []
    for seed in range(2000):
        drawn = pool.draw(QUERIES, IDS, flagged, set(), SIZES, seed)
        estimates.append(sum(1 / (entry.probability or math.nan) for entry in drawn if entry.pair in relevant))
    mean = sum(estimates) / len(estimates)
    deviation = math.sqrt(sum((value - mean) ** 2 for value in estimates) / (len(estimates) - 1))
    assert deviation > 0
    assert abs(mean - len(relevant)) < 3 * deviation / math.sqrt(len(estimates))


def test_files_round_trip_with_the_same_bytes(tmp_path: Path) -> None:
    flagged, validation = world(6)
    drawn = pool.draw(QUERIES, IDS, flagged, validation, SIZES, seed=1)
    path = pool.path(tmp_path, "python")
    pool.write(path, drawn)
    assert pool.read(path) == drawn
    first = path.read_bytes()
    path.unlink()
    pool.write(path, drawn)
    assert path.read_bytes() == first
    for given_hits in ([], flagged["bm25"], [Hit("q0", "f1", 1, 0.5, 0.25)]):
        target = hits.path(tmp_path, "python", "bm25")
        hits.write(target, given_hits)
        assert sorted(hits.read(target), key=lambda hit: hit.pair) == sorted(given_hits, key=lambda hit: hit.pair)
