"""Agreement on the scale itself, not only on relevant or not: the table of ratings, chance-corrected figures, and leniency.

Every figure but one follows from counts that add up over searches, so whole searches are resampled by weighting each one's
counts with how often it was drawn. Leniency needs the experts' exact means, which are summed the same way. Krippendorff's
alpha is computed by the library; its interval comes from the coincidences of each search, which add up too.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from gates._measures import agreement, resampling
from gates._measures.arrays import Floats, Integers
from gates._measures.measure import Figure
from gates._measures.standard import KAPPA
from pools._dataset.records import PairKey
from pools.relevance import is_relevant, is_relevant_rating

WEIGHTS = 4_000_000


@dataclass(frozen=True, slots=True)
class Level:
    """One level of the scale: pairs that the judge, or the experts (mean, rounded half up), put there."""

    rating: int
    judge: int
    experts: int
    precision: Figure
    recall: Figure


@dataclass(frozen=True, slots=True)
class Levels:
    """Agreement on the scale over the pairs that both rated; `table` has a row a level by the experts, columns by the judge."""

    pairs: int
    table: tuple[tuple[int, ...], ...]
    levels: tuple[Level, ...]
    kappa: Figure
    weighted_kappa: Figure
    alpha: Figure
    leniency: Figure


@dataclass(frozen=True, slots=True)
class LeftOut:
    """Experts among themselves, whatever their order: each left out in turn against the mean of the others, pairs alike.

    `same` is the share of same verdicts and `f1` that of the left-out expert, both averaged over who is left out.
    """

    pairs: int
    same: float
    f1: float | None


def compare(
    experts: Mapping[PairKey, Sequence[int]],
    ratings: Mapping[PairKey, int],
    *,
    scale: Sequence[int],
    relevant_from: float,
    resamples: int,
    seed: int,
) -> Levels:
    """Return the agreement on the levels of `scale`, each figure with its 95 % interval by resampling searches.

    - precision of a level: of the pairs the judge put there, the share the experts' rounded mean puts there; recall: the
      other way round.
    - kappa: of the verdict relevant or not (Cohen, 1960), as in the gate.
    - weighted kappa: 1 - sum(w o) / sum(w e) over the table, with w the squared difference of ratings (Cohen, Weighted
      kappa, 1968).
    - alpha: Krippendorff's, ordinal, over all raters: every expert's rating and the judge's (Krippendorff, Content Analysis,
      2004, chapter 11).
    - leniency: the mean of the judge's rating less the experts' mean; above 0 the judge is the more generous.
    """
    pairs = agreement.align(experts, ratings).rated
    size = len(scale)
    rows = _rows(pairs, scale, relevant_from=relevant_from)
    drawn = _resampled(rows, resamples, seed=seed) if len(rows) else rows
    whole = rows.sum(axis=0, keepdims=True)
    cells, counts = size * size, size * size + 4

    def figure(statistic: Callable[[Floats], Floats]) -> Figure:
        value = float(statistic(whole)[0]) if len(pairs.keys) else np.nan
        if np.isnan(value):
            return Figure(None, None)
        resampled = statistic(drawn)
        bounds = None if np.isnan(resampled).any() else resampling.percentile_interval(resampled)
        return Figure(value, bounds)

    table = whole[0, :cells].reshape(size, size).astype(int)
    alpha = figure(lambda sums: _alpha(sums[:, counts:-1].reshape(-1, size, size)))
    return Levels(
        pairs=len(pairs.keys),
        table=tuple(tuple(int(count) for count in row) for row in table),
        levels=tuple(
            Level(
                rating=rating,
                judge=int(table[:, level].sum()),
                experts=int(table[level].sum()),
                precision=figure(lambda sums, level=level: _share(sums, size, level=level, axis=1)),  # type: ignore[misc]
                recall=figure(lambda sums, level=level: _share(sums, size, level=level, axis=2)),  # type: ignore[misc]
            )
            for level, rating in enumerate(scale)
        ),
        kappa=figure(lambda sums: KAPPA.vectorised(sums[:, cells:counts].astype(np.int64))),
        weighted_kappa=figure(lambda sums: _weighted_kappa(sums[:, :cells].reshape(-1, size, size))),
        alpha=Figure(_library_alpha(_values(pairs, scale), scale) if alpha.value is not None else None, alpha.interval),
        leniency=figure(lambda sums: _ratio(sums[:, -1], sums[:, :cells].sum(axis=1))),
    )


def left_out(experts: Mapping[PairKey, Sequence[int]], relevant_from: float) -> LeftOut | None:
    """Return the order-free agreement of the experts over pairs rated twice or more; None where there are fewer than 30."""
    several = [given for given in experts.values() if len(given) > 1]
    if len(several) < agreement.MIN_BETWEEN_EXPERTS:
        return None
    same = both = either = 0.0
    for given in several:
        for index, rating in enumerate(given):
            mine = is_relevant_rating(rating, relevant_from)
            others = is_relevant([*given[:index], *given[index + 1 :]], relevant_from)
            same += (mine == others) / len(given)
            both += (mine and others) / len(given)
            either += (int(mine) + int(others)) / len(given)
    return LeftOut(len(several), same / len(several), 2 * both / either if either else None)


def _rows(pairs: agreement.Pairs, scale: Sequence[int], *, relevant_from: float) -> Floats:
    """A row a search: the table of levels, the four counts of verdicts, the coincidences, and the sum of judge less experts."""
    verdicts = agreement.verdicts(pairs, relevant_from)
    judged = np.array(pairs.judge, np.int64) - scale[0]
    means = np.array([sum(given) / len(given) for given in pairs.experts]) - scale[0]
    cell = np.floor(means + 0.5).astype(np.int64) * len(scale) + judged
    tables = _by_search(verdicts.search, cell, searches=verdicts.searches, cells=len(scale) ** 2)
    coincidences = _coincidences(_values(pairs, scale), verdicts.search, searches=verdicts.searches)
    gaps = np.bincount(verdicts.search, weights=judged - means, minlength=verdicts.searches)
    return np.column_stack([tables, verdicts.confusion(), coincidences, gaps])


def _by_search(search: Integers, cell: Integers, *, searches: int, cells: int) -> Integers:
    return np.bincount(search * cells + cell, minlength=searches * cells).reshape(searches, cells)


def _resampled(rows: Floats, resamples: int, *, seed: int) -> Floats:
    """Sums of the rows of resampled searches: (resamples, columns)."""
    random = np.random.default_rng(seed)
    count = len(rows)
    out = np.empty((resamples, rows.shape[1]))
    step = max(1, WEIGHTS // count)
    for start in range(0, resamples, step):
        size = min(step, resamples - start)
        places = random.integers(0, count, size=(size, count)) + np.arange(size)[:, None] * count
        weights = np.bincount(places.ravel(), minlength=size * count).reshape(size, count)
        out[start : start + size] = weights.astype(float) @ rows
    return out


def _values(pairs: agreement.Pairs, scale: Sequence[int]) -> Integers:
    """How many raters, the judge among them, gave each pair each value: (pairs, levels)."""
    values = np.zeros((len(pairs.keys), len(scale)), np.int64)
    for row, given, rating in zip(values, pairs.experts, pairs.judge, strict=True):
        for value in (*given, rating):
            assert value is not None  # noqa: S101  only rated pairs come here
            row[value - scale[0]] += 1
    return values


def _coincidences(values: Integers, search: Integers, *, searches: int) -> Floats:
    """Each search's coincidence matrix: ordered pairs of values that two raters gave a pair, weighted 1 / (raters - 1)."""
    size = values.shape[1]
    products = (values[:, :, None] * values[:, None, :] - np.eye(size) * values[:, None, :]).astype(float)
    products /= values.sum(axis=1)[:, None, None] - 1
    out = np.zeros((searches, size * size))
    np.add.at(out, search, products.reshape(len(values), size * size))
    return out


def _alpha(coincidences: Floats) -> Floats:
    """Krippendorff's ordinal alpha of each coincidence matrix of a stack."""
    totals = coincidences.sum(axis=2)
    pairable = totals.sum(axis=1)
    ends = np.cumsum(totals, axis=1) - totals / 2
    metric = (ends[:, :, None] - ends[:, None, :]) ** 2
    observed = (coincidences * metric).sum(axis=(1, 2))
    expected = (totals[:, :, None] * totals[:, None, :] * metric).sum(axis=(1, 2))
    return 1 - _ratio((pairable - 1) * observed, expected)


def _library_alpha(values: Integers, scale: Sequence[int]) -> float:
    import krippendorff

    return float(krippendorff.alpha(value_counts=values, value_domain=list(scale), level_of_measurement="ordinal"))


def _weighted_kappa(tables: Floats) -> Floats:
    """Kappa of each table of a stack with weights of squared distance."""
    places = np.arange(tables.shape[1])
    weights = (places[:, None] - places[None, :]) ** 2
    rows, columns, pairs = tables.sum(axis=2), tables.sum(axis=1), tables.sum(axis=(1, 2))
    expected = (rows[:, :, None] * columns[:, None, :] * weights).sum(axis=(1, 2))
    return 1 - _ratio((tables * weights).sum(axis=(1, 2)) * pairs, expected)


def _share(sums: Floats, size: int, *, level: int, axis: int) -> Floats:
    tables = sums[:, : size * size].reshape(-1, size, size)
    whole = tables.sum(axis=axis)[:, level]
    return _ratio(tables[:, level, level], whole)


def _ratio(part: Floats, whole: Floats) -> Floats:
    """Part / whole, not a number where whole is nought."""
    ratio: Floats = np.divide(part, whole, out=np.full(len(whole), np.nan), where=whole != 0)
    return ratio
