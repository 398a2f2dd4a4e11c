"""Where a judge disagrees: the share of same verdicts by retriever, length, search, place in the batch, or any other grouping.

Among many groups some look bad by chance, so each group's interval is widened by Holm's step-down correction over the groups
of its dimension, and a group is flagged only where that interval excludes the overall share: then at most one breakdown in
twenty flags anything where there is nothing to find (Holm, A simple sequentially rejective multiple test procedure, 1979).
A pair may be in several groups of a dimension, as when two retrievers returned it; Holm's correction does not mind.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from gates._measures import agreement, interval
from gates._measures.arrays import Booleans, Integers
from pools._dataset.records import PairKey

ALPHA = 0.05


@dataclass(frozen=True, slots=True)
class Group:
    """One group of a dimension: its pairs, those with the same verdict, those relevant by either side, the share's interval.

    `interval` is at the level that Holm's correction asks of this group; `flagged` where it excludes the overall share.
    """

    name: str
    pairs: int
    same: int
    expert_relevant: int
    judge_relevant: int
    interval: tuple[float, float]
    level: float
    flagged: bool


@dataclass(frozen=True, slots=True)
class Breakdown:
    """The groups of one dimension, by name, beside the share of same verdicts over all pairs."""

    dimension: str
    pairs: int
    same: int
    groups: tuple[Group, ...]


def by(
    dimension: str,
    experts: Mapping[PairKey, Sequence[int]],
    *,
    ratings: Mapping[PairKey, int],
    relevant_from: float,
    groups: Callable[[PairKey], Iterable[str]],
) -> Breakdown:
    """Return the breakdown over the groups that `groups` says a pair is in (none: it only counts overall)."""
    pairs = agreement.align(experts, ratings).rated
    verdicts = agreement.verdicts(pairs, relevant_from)
    same = verdicts.expert == verdicts.judge
    members: dict[str, list[int]] = {}
    for index, pair in enumerate(pairs.keys):
        for name in groups(pair):
            members.setdefault(name, []).append(index)
    chosen = {name: np.array(members[name]) for name in sorted(members)}
    overall = float(same.mean()) if len(same) else 0.0
    levels = _holm({name: _error(same[index], verdicts.search[index], overall=overall) for name, index in chosen.items()})
    found = []
    for name, of_group in chosen.items():
        level, rejected = levels[name]
        bounds = _interval(same[of_group], verdicts.search[of_group], level=level)
        found.append(
            Group(
                name=name,
                pairs=len(of_group),
                same=int(same[of_group].sum()),
                expert_relevant=int(verdicts.expert[of_group].sum()),
                judge_relevant=int(verdicts.judge[of_group].sum()),
                interval=bounds,
                level=level,
                flagged=rejected,
            )
        )
    return Breakdown(dimension, len(same), int(same.sum()), tuple(found))


def bands(values: Mapping[PairKey, int], count: int = 4) -> Callable[[PairKey], Iterable[str]]:
    """Return a grouping of pairs by a number (length of code, place in the batch) into bands of about equal size."""
    if not values:
        return lambda _: ()
    numbers = np.array(list(values.values()))
    edges = np.unique(np.quantile(numbers, np.linspace(0, 1, count + 1)[1:-1], method="lower"))
    tops = [*(int(edge) for edge in edges if edge < numbers.max()), int(numbers.max())]
    bottoms = [int(numbers.min()), *(top + 1 for top in tops[:-1])]
    width = len(str(tops[-1]))
    names = [f"{bottom:>{width}}-{top:>{width}}" for bottom, top in zip(bottoms, tops, strict=True)]

    def band(pair: PairKey) -> Iterable[str]:
        return (names[int(np.searchsorted(tops, values[pair]))],) if pair in values else ()

    return band


def _interval(same: Booleans, search: Integers, *, level: float) -> tuple[float, float]:
    _, number = np.unique(search, return_inverse=True)
    counts = np.bincount(number)
    hits = np.bincount(number, weights=same).astype(np.int64)
    bounds = interval.of_share(hits, counts, sizes=counts, level=level)
    assert bounds is not None  # noqa: S101  a group has a pair
    return bounds


def _error(same: Booleans, search: Integers, *, overall: float) -> float:
    """The smallest alpha at which the group's interval excludes the overall share, by bisection: its p-value."""
    low, high = 0.0, 1.0
    for _ in range(40):
        middle = (low + high) / 2
        bounds = _interval(same, search, level=1 - middle)
        low, high = (low, middle) if not bounds[0] <= overall <= bounds[1] else (middle, high)
    return high


def _holm(errors: Mapping[str, float]) -> dict[str, tuple[float, bool]]:
    """Each group's level and whether it is flagged: the smallest p-value is held against alpha / k, the next / (k - 1), …"""
    out: dict[str, tuple[float, bool]] = {}
    rejecting = True
    for rank, name in enumerate(sorted(errors, key=lambda key: (errors[key], key))):
        alpha = ALPHA / (len(errors) - rank)
        rejecting = rejecting and errors[name] <= alpha
        out[name] = (1 - alpha, rejecting)
    return out
