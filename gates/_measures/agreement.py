"""How far a judge's verdicts agree with the experts', and the experts' with each other: counts first, figures from counts.

A pair enters as two booleans, relevant by the experts and relevant by the judge, kept in numpy arrays beside the number of
its search, because everything that says how sure a figure is resamples or sums whole searches. A figure whose denominator
is nought is None, never 0 or 1: what cannot be measured must not look measured.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from operator import itemgetter

import numpy as np

from gates._measures.arrays import Booleans, Integers
from gates._measures.standard import ALWAYS_F1, F1, KAPPA, PRECISION, RECALL
from pools._dataset.records import PairKey
from pools.relevance import is_relevant, is_relevant_rating, least_sum

MIN_BETWEEN_EXPERTS = 30
"""Pairs rated twice or more below which the experts' agreement is not shown: it would be noise."""


@dataclass(frozen=True, slots=True)
class Agreement:
    """A judge against the experts on the pairs that both rated; the four counts determine every other figure.

    Each of the shares is in 0-1 and `kappa` in -1-1; None where undefined (see `agreement`).
    """

    pairs: int
    judge_relevant: int
    expert_relevant: int
    both: int
    same: int
    precision: float | None
    recall: float | None
    f1: float | None
    kappa: float | None
    always_f1: float | None


@dataclass(frozen=True, slots=True)
class ExpertAgreement:
    """The first expert's verdict against the mean of the others, over pairs rated at least twice."""

    pairs: int
    same: int
    f1: float | None


@dataclass(frozen=True, slots=True)
class Verdicts:
    """Relevant or not, a pair each: `search` numbers the searches 0..`searches` - 1 in the order of their ids."""

    searches: int
    search: Integers
    expert: Booleans
    judge: Booleans

    def confusion(self) -> Integers:
        """Return a row a search: pairs relevant by both, by the judge alone, by the experts alone, by neither."""
        cell = np.where(self.judge, np.where(self.expert, 0, 1), np.where(self.expert, 2, 3))
        return np.bincount(self.search * 4 + cell, minlength=4 * self.searches).reshape(-1, 4)


@dataclass(frozen=True, slots=True)
class Pairs:
    """Every expert-rated pair in sorted order, the experts' ratings of it, and the judge's (None where it has none).

    In parallel lists because millions of pairs are read several times: one lookup a pair is what takes the time.
    """

    keys: list[PairKey]
    experts: list[Sequence[int]]
    judge: list[int | None]

    @property
    def rated(self) -> "Pairs":
        """The pairs that the judge rated too."""
        if None not in self.judge:
            return self
        return self._chosen([index for index, rating in enumerate(self.judge) if rating is not None])

    def without(self, searches: Collection[str]) -> "Pairs":
        """The pairs of other searches."""
        if not searches:
            return self
        return self._chosen([index for index, (search, _) in enumerate(self.keys) if search not in searches])

    def _chosen(self, chosen: list[int]) -> "Pairs":
        return Pairs(
            [self.keys[index] for index in chosen],
            [self.experts[index] for index in chosen],
            [self.judge[index] for index in chosen],
        )


def align(experts: Mapping[PairKey, Sequence[int]], ratings: Mapping[PairKey, int]) -> Pairs:
    """Put the two sides' ratings beside each other."""
    keys = sorted(experts)
    # Judgements are mostly read in sorted order already, and then the lookups can be spared.
    in_order = keys == list(experts)
    given = list(experts.values()) if in_order else list(map(experts.__getitem__, keys))
    return Pairs(keys, given, list(map(ratings.get, keys)))


def verdicts(pairs: Pairs, relevant_from: float) -> Verdicts:
    """Return the verdicts on every pair that both rated."""
    rated = pairs.rated
    # Sorted pairs have the searches in order, so how many each has is all there is to know of them.
    pairs_of_search = np.array(list(Counter(map(itemgetter(0), rated.keys)).values()), np.int64)
    searches = len(pairs_of_search)
    return Verdicts(
        searches=searches,
        search=np.repeat(np.arange(searches), pairs_of_search),
        expert=_by_experts(rated.experts, relevant_from),
        judge=np.array(rated.judge, np.int64) >= least_sum(1, relevant_from),
    )


def _by_experts(experts: Sequence[Sequence[int]], relevant_from: float) -> Booleans:
    """Return `pools.relevance.is_relevant` of many pairs."""
    sizes = np.fromiter(map(len, experts), np.int64, len(experts))
    ratings = np.fromiter(chain.from_iterable(experts), np.int64, int(sizes.sum()))
    sums = np.add.reduceat(ratings, np.cumsum(sizes) - sizes) if len(ratings) else ratings
    least = np.array([least_sum(count, relevant_from) for count in range(int(sizes.max(initial=0)) + 1)], np.int64)
    relevant: Booleans = sums >= least[sizes]
    return relevant


def compare(experts: Mapping[PairKey, Sequence[int]], ratings: Mapping[PairKey, int], *, relevant_from: float) -> Agreement:
    """Return the agreement over the pairs that both rated.

    `experts` has one or more ratings a pair, in rating order, `ratings` the judge's; a pair is relevant where the experts'
    mean, or the judge's rating, is at least `relevant_from`.
    """
    return agreement(total(verdicts(align(experts, ratings), relevant_from)))


def total(given: Verdicts) -> Integers:
    """Return the four counts of `Verdicts.confusion` over all searches."""
    return given.confusion().sum(axis=0, dtype=np.int64) if given.searches else np.zeros(4, np.int64)


def agreement(counts: Iterable[int]) -> Agreement:
    """Return the figures that follow from counts of pairs: relevant by both, judge alone, experts alone, neither.

    `gates._measures.standard` has their definitions.
    """
    both, judge_only, expert_only, neither = cells = tuple(map(int, counts))
    return Agreement(
        pairs=sum(cells),
        judge_relevant=both + judge_only,
        expert_relevant=both + expert_only,
        both=both,
        same=both + neither,
        precision=PRECISION.scalar(cells),
        recall=RECALL.scalar(cells),
        f1=F1.scalar(cells),
        kappa=KAPPA.scalar(cells),
        always_f1=ALWAYS_F1.scalar(cells),
    )


def between_experts(experts: Mapping[PairKey, Sequence[int]], relevant_from: float) -> ExpertAgreement | None:
    """Return how the first expert's verdict agrees with that of the mean of the others, as published with CodeSearchNet.

    Taken over pairs with two ratings or more; None where there are fewer than 30 of them.
    """
    several = [given for given in experts.values() if len(given) > 1]
    if len(several) < MIN_BETWEEN_EXPERTS:
        return None
    first = np.array([is_relevant_rating(given[0], relevant_from) for given in several])
    others = np.array([is_relevant(given[1:], relevant_from) for given in several])
    cells = [int((one & two).sum()) for one in (first, ~first) for two in (others, ~others)]
    return ExpertAgreement(len(several), cells[0] + cells[3], F1.scalar(cells))
