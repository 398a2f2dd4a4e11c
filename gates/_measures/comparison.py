"""Two judges side by side on the same expert-rated pairs: how F1 differs, how sure that is, and which verdicts flip.

The difference is paired: each resample draws the same searches for both judges, so what makes a search hard for both cancels
out, and a difference shows that two separate intervals would hide.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from gates._measures import agreement, resampling
from pools._dataset.records import PairKey
from pools.relevance import is_relevant_rating


@dataclass(frozen=True, slots=True)
class Flips:
    """Pairs, of those that both rated, that only the first or only the second judge calls relevant."""

    pairs: int
    first_only: int
    second_only: int


@dataclass(frozen=True, slots=True)
class Comparison:
    """The second judge's F1 less the first's, over the `pairs` that experts and both judges rated.

    `interval` is the percentile interval of the difference, `share` the share of resamples in which the second is better;
    both None where a judge's F1 is undefined. `corrected` counts the pairs whose verdict is wrong by the first and right by
    the second judge, `spoiled` the other way round. `flips` are over all pairs that both judges rated.
    """

    pairs: int
    first: float | None
    second: float | None
    difference: float | None
    interval: tuple[float, float] | None
    share: float | None
    corrected: int
    spoiled: int
    flips: Flips


def compare(
    experts: Mapping[PairKey, Sequence[int]],
    first: Mapping[PairKey, int],
    *,
    second: Mapping[PairKey, int],
    relevant_from: float,
    resamples: int,
    seed: int,
) -> Comparison:
    """Return how the second judge does against the first; a resample without a relevant pair counts as F1 0 for that judge."""
    shared = {pair: given for pair, given in experts.items() if pair in first and pair in second}
    one = agreement.verdicts(agreement.align(shared, first), relevant_from)
    two = agreement.verdicts(agreement.align(shared, second), relevant_from)
    counts = one.confusion(), two.confusion()
    f1 = [agreement.agreement(confusion.sum(axis=0)).f1 for confusion in counts]
    difference = interval = share = None
    if f1[0] is not None and f1[1] is not None:
        difference = f1[1] - f1[0]
        rows = np.column_stack([part for some in counts for part in (some[:, 0], some[:, 1] + some[:, 2])])
        sums = resampling.sums_of_resamples(rows, resamples, seed=seed)
        moved = resampling.f1_of(sums[:, 2], sums[:, 3]) - resampling.f1_of(sums[:, 0], sums[:, 1])
        interval, share = resampling.percentile_interval(moved), float(np.mean(moved > 0))
    right = one.judge == one.expert, two.judge == two.expert
    return Comparison(
        pairs=len(shared),
        first=f1[0],
        second=f1[1],
        difference=difference,
        interval=interval,
        share=share,
        corrected=int((~right[0] & right[1]).sum()),
        spoiled=int((right[0] & ~right[1]).sum()),
        flips=flips(first, second, relevant_from=relevant_from),
    )


def flips(first: Mapping[PairKey, int], second: Mapping[PairKey, int], *, relevant_from: float) -> Flips:
    """Return how often two judges' verdicts differ, either way, over every pair that both rated."""
    shared = [pair for pair in first if pair in second]
    verdicts = [
        (is_relevant_rating(first[pair], relevant_from), is_relevant_rating(second[pair], relevant_from)) for pair in shared
    ]
    return Flips(len(shared), verdicts.count((True, False)), verdicts.count((False, True)))
