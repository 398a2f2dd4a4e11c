"""Resampling whole searches: against a plain loop, exact at its edges, and independent of order and of the way it is drawn."""

import random
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gates._measures import resampling

rows = st.lists(st.tuples(*[st.integers(0, 6)] * 4), min_size=1, max_size=30)


def _plain(confusion: Sequence[tuple[int, ...]], resamples: int) -> list[float]:
    """F1 of resamples by the textbook: draw searches one by one."""
    source = random.Random(3)
    out = []
    for _ in range(resamples):
        drawn = [source.choice(confusion) for _ in confusion]
        both, errors = sum(row[0] for row in drawn), sum(row[1] + row[2] for row in drawn)
        out.append(2 * both / (2 * both + errors) if both + errors else 0.0)
    return out


@pytest.mark.parametrize("kinds", [2, 60], ids=["few kinds: multinomial", "every search its own kind: drawn one by one"])
def test_distribution_is_that_of_drawing_searches_one_by_one(kinds: int) -> None:
    source = random.Random(1)
    base = [(source.randint(0, 9), source.randint(0, 4), source.randint(0, 4), source.randint(0, 9)) for _ in range(kinds)]
    confusion = (base * 60)[:60]
    assert (len({(row[0], row[1] + row[2]) for row in confusion}) * resampling.KIND_COST <= 60) == (kinds == 2)
    mine = np.sort(resampling.f1_of_resamples(np.array(confusion), 20_000, seed=7))
    theirs = np.sort(np.array(_plain(confusion, 20_000)))
    places = np.concatenate([mine, theirs])
    gap = np.abs(np.searchsorted(mine, places, "right") - np.searchsorted(theirs, places, "right")).max() / 20_000
    # The 0.1 % point of the two-sample Kolmogorov-Smirnov distance.
    assert gap < 1.95 * (2 / 20_000) ** 0.5


@given(rows, st.randoms(use_true_random=False))
def test_order_of_searches_does_not_matter(given_rows: list[tuple[int, ...]], source: random.Random) -> None:
    shuffled = list(given_rows)
    source.shuffle(shuffled)
    first, second = (resampling.resample(np.array(some), 0.67, resamples=200, seed=1) for some in (given_rows, shuffled))
    assert first == second


@given(rows)
def test_interval_and_share_stay_in_range(given_rows: list[tuple[int, ...]]) -> None:
    found = resampling.resample(np.array(given_rows), 0.67, resamples=200, seed=1)
    assert found is not None
    low, high = found.interval
    assert 0 <= low <= high <= 1
    assert 0 <= found.share <= 1


def test_one_search_leaves_nothing_to_chance() -> None:
    found = resampling.resample(np.array([[67, 33, 33, 5]]), 0.67, resamples=300, seed=1)
    assert found == resampling.Resampled((0.67, 0.67), 1.0)


def test_a_resample_without_f1_does_not_reach_any_threshold() -> None:
    # One search of two has relevant pairs: a quarter of the resamples holds none, and those count as 0.
    found = resampling.resample(np.array([[5, 0, 0, 0], [0, 0, 0, 5]]), 0.67, resamples=20_000, seed=1)
    assert found is not None
    assert found.share == pytest.approx(0.75, abs=0.01)
    assert found.interval == (0.0, 1.0)


def test_same_seed_same_draws_over_several_chunks() -> None:
    confusion = np.array([(number % 7, number % 3, number % 2, 1) for number in range(90)])
    resamples = 2 * resampling.CHUNK // 90 + 5
    one, same, other = (resampling.f1_of_resamples(confusion, resamples, seed=seed) for seed in (4, 4, 5))
    assert len(one) == resamples
    assert (one == same).all()
    assert (one != other).any()
    # No chunk repeats another's draws.
    assert (one[:1000] != one[resampling.CHUNK // 90 :][:1000]).any()


def test_no_search_no_interval() -> None:
    assert resampling.resample(np.zeros((0, 4), np.int64), 0.67, resamples=100, seed=1) is None
