"""How far F1 would move with other searches: whole searches are drawn again, with replacement, many times.

Searches, not pairs, are resampled, because pairs of one search agree or fail together. F1 depends on a search only
through its true positives and its errors, so searches with the same two counts are one kind, and the number of each kind
in a resample is multinomial: exactly the same distribution as drawing searches one by one, at a cost that grows with the
kinds and not with the searches. Where nearly every search is a kind of its own they are drawn one by one. Both ways work in
chunks, so memory does not grow with the resamples.

A resample without a relevant pair on either side has no F1. It counts as 0: it does not reach the threshold, and lowers
the interval, because what shows no agreement must not help a judge.
"""

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np

from gates._measures.arrays import Booleans, Floats, Integers
from gates._measures.standard import F1

LEVEL = 0.95
CHUNK = 1_000_000
# A binomial draw for a kind costs about as much as drawing this many searches.
KIND_COST = 8


@dataclass(frozen=True, slots=True)
class Resampled:
    """The percentile interval of F1 at `LEVEL`, and the share of the resamples that pass."""

    interval: tuple[float, float]
    share: float


Passes = Callable[[Integers], Booleans]
"""Takes the four counts of many resamples, a row each, and says which of them pass besides reaching the threshold of F1."""


def resample(
    confusion: Integers, threshold: float, *, resamples: int, seed: int, passes: Passes | None = None
) -> Resampled | None:
    """Return the interval and the share for the rows of `Verdicts.confusion`, one a search; None without any search.

    A resample passes where its F1 is at least the threshold and `passes`, if given, agrees. The same rows in whatever order,
    number of resamples and seed give the same result. (Efron and Tibshirani, An Introduction to the Bootstrap, 1993, chapter
    13; resampling whole clusters: Davison and Hinkley, Bootstrap Methods and their Application, 1997, section 3.8.)
    """
    if not len(confusion):
        return None
    if passes is None:
        f1 = f1_of_resamples(confusion, resamples, seed=seed)
        passing = f1 >= threshold
    else:
        sums = sums_of_resamples(confusion, resamples, seed=seed)
        f1 = f1_of(sums[:, 0], sums[:, 1] + sums[:, 2])
        passing = (f1 >= threshold) & passes(sums)
    return Resampled(percentile_interval(f1), float(np.count_nonzero(passing)) / resamples)


def percentile_interval(values: Floats) -> tuple[float, float]:
    """Return the central `LEVEL` of resampled values."""
    low, high = np.quantile(values, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return float(low), float(high)


def f1_of_resamples(confusion: Integers, resamples: int, *, seed: int) -> Floats:
    """Return F1 of each resample of the rows (both, judge only, expert only, neither), 0 where it is undefined."""
    hits_and_errors = np.column_stack([confusion[:, 0], confusion[:, 1] + confusion[:, 2]])
    return f1_of(*sums_of_resamples(hits_and_errors, resamples, seed=seed).T)


def f1_of(hits: Integers, errors: Integers) -> Floats:
    """Return F1 of each pair of counts, 0 where it is undefined; whose the errors are does not matter to it."""
    nothing = np.zeros_like(hits)
    return np.nan_to_num(F1.vectorised(np.column_stack([hits, errors, nothing, nothing])), copy=False)


def sums_of_resamples(rows: Integers, resamples: int, *, seed: int) -> Integers:
    """Return the column sums of `resamples` draws, with replacement, of as many rows as there are: (resamples, columns).

    Depends on the rows only as a collection, not on their order, and not on how many threads there are.
    """
    kinds, counts = np.unique(rows, axis=0, return_counts=True)
    ordered = np.repeat(kinds, counts, axis=0)
    by_kind = len(kinds) * KIND_COST <= len(rows)
    chunk = max(1, CHUNK // (len(kinds) if by_kind else len(rows)))
    sizes = [min(chunk, resamples - start) for start in range(0, resamples, chunk)]

    def draw(size: int, source: np.random.SeedSequence) -> Integers:
        random = np.random.default_rng(source)
        if by_kind:
            sums: Integers = random.multinomial(len(rows), counts / len(rows), size=size) @ kinds
            return sums
        drawn = random.integers(0, len(rows), size=(size, len(rows)), dtype=np.int32)
        return np.column_stack([np.take(column, drawn).sum(axis=1) for column in ordered.T])

    # numpy draws outside the interpreter's lock, so threads are enough.
    with ThreadPoolExecutor(os.cpu_count()) as threads:
        return np.concatenate(list(threads.map(draw, sizes, np.random.SeedSequence(seed).spawn(len(sizes)))))
