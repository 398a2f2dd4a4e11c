"""The estimate of relevant pairs over many seeds of a small world whose truth is known, and by hand."""

import math
import random
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import NamedTuple

import pytest
from scipy.stats import chi2

from pools._dataset.records import PairKey, Query
from pools._dataset.settings import PoolSettings
from pools._sampling import frame, pooled
from pools._sampling.estimate import Estimate, relevant_pairs
from pools._sampling.frame import Frame
from pools._sampling.hits import Hit
from pools._sampling.pooled import PoolPair

QUERIES = [Query("python", f"q{number}", "search") for number in range(5)]
IDS = [f"f{number:03}" for number in range(100)]
LOOSE = {"grep-any"}
SIZES = PoolSettings(grep_any_sample=10, unflagged_sample=10)
SEEDS = 2000


class World(NamedTuple):
    """Hits, those of one more retriever, and which pairs are relevant."""

    flagged: dict[str, list[Hit]]
    further: list[Hit]
    relevant: dict[PairKey, bool]


def made_up(rates: tuple[float, float, float]) -> World:
    """Return a world where pairs are relevant at a rate each for what grep-all, only grep-any and neither returned."""
    rng = random.Random(1)
    loose = [Hit(query.search_id, name, 1) for query in QUERIES for name in rng.sample(IDS, 33)]
    strict = [hit for hit in loose if rng.random() < 0.2]
    further = [Hit(query.search_id, name, 1) for query in QUERIES for name in rng.sample(IDS, 10)]
    rate = dict.fromkeys(((query.search_id, name) for query in QUERIES for name in IDS), rates[2])
    rate |= {hit.pair: rates[1] for hit in loose} | {hit.pair: rates[0] for hit in strict}
    return World({"grep-all": strict, "grep-any": loose}, further, {pair: rng.random() < rate[pair] for pair in rate})


def rated_by_experts(drawn: Sequence[PoolPair], relevant: Mapping[PairKey, bool]) -> set[PairKey]:
    """What experts rate once they have seen the pool: what is relevant of the samples, and pairs of their own choice."""
    seen = {entry.pair for entry in drawn if entry.stratum in pooled.SAMPLES and relevant[entry.pair]}
    return seen | set(random.Random(2).sample([pair for pair in sorted(relevant) if pair[1] in IDS[:75]], 60))


def once(seed: int, world: World) -> tuple[PoolPair, ...]:
    return pooled.draw(QUERIES, frame.of(IDS, seed), hits=world.flagged, validation=set(), settings=SIZES, loose=LOOSE)


def with_a_new_retriever(seed: int, world: World) -> tuple[PoolPair, ...]:
    first = once(seed, world)
    return again(first, frame.grown(frame.of(IDS, seed), IDS), world.flagged | {"bm25": world.further})


def with_new_functions(seed: int, world: World) -> tuple[PoolPair, ...]:
    began = frame.of(IDS[:60], seed)
    first = pooled.draw(QUERIES, began, hits=world.flagged, validation=set(), settings=SIZES, loose=LOOSE)
    second = again(first, (grown := frame.grown(began, IDS[:85])), world.flagged)
    return again(second, frame.grown(grown, IDS), world.flagged)


def with_both(seed: int, world: World) -> tuple[PoolPair, ...]:
    began = frame.of(IDS[:75], seed)
    first = pooled.draw(QUERIES, began, hits=world.flagged, validation=set(), settings=SIZES, loose=LOOSE)
    return again(first, frame.grown(began, IDS), world.flagged | {"bm25": world.further})


def with_grep_any_last(seed: int, world: World) -> tuple[PoolPair, ...]:
    began = frame.of(IDS[:75], seed)
    first = pooled.draw(
        QUERIES, began, hits={"grep-all": world.flagged["grep-all"]}, validation=set(), settings=SIZES, loose=LOOSE
    )
    return again(first, frame.grown(began, IDS), world.flagged | {"bm25": world.further})


def with_ratings_of_what_was_drawn(seed: int, world: World) -> tuple[PoolPair, ...]:
    began = frame.of(IDS[:75], seed)
    first = pooled.draw(QUERIES, began, hits=world.flagged, validation=set(), settings=SIZES, loose=LOOSE)
    rated = rated_by_experts(first, world.relevant)
    second = again(first, (grown := frame.grown(began, IDS)), world.flagged | {"bm25": world.further}, rated)
    assert rated <= {entry.pair for entry in second}
    return again(second, frame.grown(grown, IDS), world.flagged | {"bm25": world.further}, rated)


def with_a_pool_of_an_older_release(seed: int, world: World) -> tuple[PoolPair, ...]:
    """Nobody knows of which functions and with which seed the first was drawn, and experts have rated what they found in it."""
    first = pooled.draw(
        QUERIES, frame.of(IDS[:75], seed + SEEDS), hits=world.flagged, validation=set(), settings=SIZES, loose=LOOSE
    )
    rated = rated_by_experts(first, world.relevant)
    return again(first, frame.grown(frame.of(IDS, seed), IDS), world.flagged | {"bm25": world.further}, rated)


def again(
    first: tuple[PoolPair, ...], grown: Frame, flagged: dict[str, list[Hit]], rated: Collection[PairKey] = ()
) -> tuple[PoolPair, ...]:
    """Draw a pool again, which loses no pair."""
    second = pooled.draw(QUERIES, grown, hits=flagged, validation=rated, settings=SIZES, loose=LOOSE, earlier=first)
    assert {entry.pair for entry in first} <= {entry.pair for entry in second}
    return second


RATES = {"common": (0.6, 0.33, 0.33), "rare": (0.6, 0.05, 0.01)}


@pytest.mark.parametrize(
    "drawn", [once, with_a_new_retriever, with_new_functions, with_both, with_grep_any_last], ids=lambda drawn: drawn.__name__
)
def test_the_estimate_is_unbiased_and_its_interval_covers(drawn: Callable[[int, World], tuple[PoolPair, ...]]) -> None:
    """Over 2,000 seeds: the mean is the truth within 3 standard errors, and at least 93 % of the 95 % intervals hold it."""
    worlds = [made_up(rates) for rates in RATES.values()]
    # What is drawn depends on what was returned, which both worlds have in common, and on no verdict.
    assert worlds[0].flagged == worlds[1].flagged
    assert worlds[0].further == worlds[1].further
    estimates: list[list[Estimate]] = [[] for _ in worlds]
    for seed in range(SEEDS):
        pool = drawn(seed, worlds[0])
        for world, found in zip(worlds, estimates, strict=True):
            found.append(relevant_pairs(pool, world.relevant, pairs=len(world.relevant)))
    for world, found in zip(worlds, estimates, strict=True):
        check(found, sum(world.relevant.values()))


@pytest.mark.parametrize("rates", RATES.values(), ids=RATES)
@pytest.mark.parametrize(
    "drawn", [with_ratings_of_what_was_drawn, with_a_pool_of_an_older_release], ids=lambda drawn: drawn.__name__
)
def test_it_is_so_too_where_what_is_drawn_depends_on_verdicts(
    rates: tuple[float, float, float], drawn: Callable[[int, World], tuple[PoolPair, ...]]
) -> None:
    world = made_up(rates)
    found = [relevant_pairs(drawn(seed, world), world.relevant, pairs=len(world.relevant)) for seed in range(SEEDS)]
    check(found, sum(world.relevant.values()))


def check(found: Sequence[Estimate], truth: int) -> None:
    """The mean of the estimates is the truth within 3 standard errors, and at least 93 % of their intervals hold it."""
    assert {(estimate.unrated, estimate.uncovered) for estimate in found} == {(0, 0)}
    totals = [estimate.total for estimate in found]
    mean = sum(totals) / len(totals)
    deviation = math.sqrt(sum((value - mean) ** 2 for value in totals) / (len(totals) - 1))
    assert deviation > 0
    assert abs(mean - truth) < 3 * deviation / math.sqrt(len(totals))
    assert sum(estimate.lower <= truth <= estimate.upper for estimate in found) / len(found) >= 0.93


def sampled(count: int, probability: float) -> list[PoolPair]:
    return [PoolPair("q0", f"s{number}", (), pooled.UNFLAGGED_SAMPLE, probability) for number in range(count)]


def test_by_hand() -> None:
    entries = [
        PoolPair("q0", "expert", (), None, None),
        PoolPair("q0", "pooled", ("bm25",), pooled.POOLED, 1.0),
        PoolPair("q0", "unrated", ("bm25",), pooled.POOLED, 1.0),
        PoolPair("q0", "kept", (), pooled.UNFLAGGED_SAMPLE, None),
        *sampled(10, 0.01),
    ]
    verdicts = {("q0", name): True for name in ("expert", "pooled", "kept", "s0", "s1")}
    verdicts |= {("q0", f"s{number}"): False for number in range(2, 10)}
    estimate = relevant_pairs(entries, verdicts, pairs=1010)
    assert (estimate.found, estimate.total, estimate.missed) == (5, 202.0, 197.0)
    assert (estimate.unrated, estimate.uncovered) == (1, 7)
    assert 5 <= estimate.lower < 202 < estimate.upper < 1000


def test_a_sample_without_a_relevant_pair_bounds_them_by_the_poisson_distribution() -> None:
    estimate = relevant_pairs(sampled(10, 0.001), {("q0", f"s{number}"): False for number in range(10)}, pairs=10_000)
    assert (estimate.found, estimate.total, estimate.lower) == (0, 0.0, 0.0)
    assert estimate.upper == pytest.approx(1000 * chi2.ppf(0.975, 2) / 2, rel=0.01)
    assert estimate.upper == pytest.approx(3689, rel=0.01)


def test_pairs_without_a_verdict_are_stood_for_by_the_others() -> None:
    verdicts = {("q0", "s0"): True, ("q0", "s1"): False}
    estimate = relevant_pairs(sampled(10, 0.1), verdicts, pairs=100)
    assert (estimate.found, estimate.total, estimate.unrated, estimate.uncovered) == (1, 50.0, 8, 0)
    assert relevant_pairs(sampled(10, 0.1), {}, pairs=100) == Estimate(0, 0.0, 0.0, 0.0, 10, 100)


def test_a_pool_that_leaves_nothing_out_is_counted() -> None:
    entries = sampled(3, 1.0)
    verdicts = {("q0", "s0"): True, ("q0", "s1"): False, ("q0", "s2"): True}
    assert relevant_pairs(entries, verdicts, pairs=3) == Estimate(2, 2.0, 2.0, 2.0, 0, 0)


def test_no_more_pairs_are_relevant_than_there_are() -> None:
    verdicts = {("q0", f"s{number}"): True for number in range(5)}
    estimate = relevant_pairs(sampled(5, 0.5), verdicts, pairs=10)
    assert (estimate.total, estimate.upper) == (10.0, 10.0)
    assert 5 < estimate.lower < 10
