"""Settings of a judge, or of a yes/no retriever, side by side on the tuning searches: how each does, what it costs, the choice.

Ratings arrive as plain values, so that the table can be computed again from the ledgers of the trials. The tuning searches are
for choosing only: what is chosen is measured by the gate, on pairs that had no part in the choice where `gate.split` is `test`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from gates._measures import agreement, interval, resampling
from gates._measures.arrays import Floats, Integers
from gates._measures.measure import Figure
from gates._report import wording
from pools import _grid as grid
from pools._dataset.records import PairKey
from pools.relevance import is_relevant_rating

CELLS = 4_000_000
"""Figures of resamples held at a time; bounds the memory."""


@dataclass(frozen=True, slots=True)
class Trial:
    """What one setting rated and took: model, prompt, pairs a prompt; `cost` in US dollars, None where nobody tells.

    A retriever's hit has the highest rating, and what is none the lowest. `scores` are what pairs are ranked by where that is
    finer than the ratings: a probability. `spent` are pairs asked for and US dollars, a reply each; empty where nobody tells.
    """

    model: str
    prompt: str
    pairs_per_batch: int
    judge_id: str
    ratings: Mapping[PairKey, int]
    requests: int
    prompt_tokens: int
    completion_tokens: int
    cost: float | None
    scores: Mapping[PairKey, float] = field(default_factory=dict)
    spent: Sequence[tuple[int, float]] = ()


@dataclass(frozen=True, slots=True)
class Result:
    """How a trial did on the tuning pairs, of which it left `unrated` without a rating.

    `flips` is the share of the pairs, rated by both, whose verdict is not that of the first trial; None for the first.
    """

    trial: Trial
    pairs: int
    unrated: int
    f1: Figure
    area: Figure
    cost_a_thousand: Figure
    flips: Figure | None


def results(
    experts: Mapping[PairKey, Sequence[int]],
    trials: Sequence[Trial],
    *,
    relevant_from: float,
    resamples: int,
    seed: int,
) -> tuple[Result, ...]:
    """Return how each trial did, in their order.

    - F1 of "relevant", with the interval of `gates._measures.interval`.
    - area: the area under the ROC curve of the score, or of the rating where there is none, that is the probability that a
      relevant pair has a higher one than another, ties counting half (Hanley and McNeil, The meaning and use of the area under
      a receiver operating characteristic curve, 1982); 0.5 is chance. Its interval is from resampling whole searches.
    - flips, with the interval of a share in `gates._measures.interval`.
    - cost_a_thousand: US dollars for each thousand pairs rated, those included that were asked for in vain. Its interval says
      how far it would move with other requests: that of a ratio of two sums over requests, linearised, with Student's t
      (Cochran, Sampling Techniques, 3rd edition, 1977, section 6.3).
    """
    out = []
    for index, trial in enumerate(trials):
        pairs = agreement.align(experts, trial.ratings)
        verdicts = agreement.verdicts(pairs, relevant_from)
        confusion = verdicts.confusion()
        f1 = agreement.compare(experts, trial.ratings, relevant_from=relevant_from).f1
        rated = pairs.rated
        scores = trial.scores or trial.ratings
        levels, level = np.unique(np.array([scores[key] for key in rated.keys], np.float64), return_inverse=True)
        counts = _counts(verdicts, level, levels=len(levels))
        out.append(
            Result(
                trial=trial,
                pairs=len(rated.keys),
                unrated=len(pairs.keys) - len(rated.keys),
                f1=Figure(f1, interval.of_f1(confusion) if f1 is not None else None),
                area=_area_figure(counts, resamples, seed=seed),
                cost_a_thousand=_cost(trial.spent, len(rated.keys)),
                flips=_flips(trials[0].ratings, trial.ratings, pairs=experts, relevant_from=relevant_from) if index else None,
            )
        )
    return tuple(out)


def choose(found: Sequence[Result]) -> Result | None:
    """Return the result with the greatest F1, of equals that with the greater area, then the lower cost, then the first.

    One that left a pair unrated is not chosen, because what it refuses would not count against it; None where all did.
    """
    whole = [result for result in found if not result.unrated and result.f1.value is not None]
    return max(whole, key=_merit, default=None)


def _merit(result: Result) -> tuple[float, float, float, int]:
    trial = result.trial
    cost = trial.cost if trial.cost is not None else 0.0
    return (result.f1.value or 0.0, result.area.value or 0.0, -cost, -(trial.prompt_tokens + trial.completion_tokens))


def _counts(verdicts: agreement.Verdicts, level: Integers, *, levels: int) -> Integers:
    """A row a search: pairs at each level of the score that are relevant by the experts, then those that are not."""
    cell = verdicts.search * 2 * levels + np.where(verdicts.expert, 0, levels) + level
    return np.bincount(cell, minlength=verdicts.searches * 2 * levels).reshape(verdicts.searches, 2 * levels)


def _area_figure(counts: Integers, resamples: int, *, seed: int) -> Figure:
    if not len(counts):
        return Figure(None, None)
    whole = counts.sum(axis=0, keepdims=True)
    levels = counts.shape[1] // 2
    if not whole[0, :levels].sum() or not whole[0, levels:].sum():
        return Figure(None, None)
    chunk = max(1, CELLS // counts.shape[1])
    resampled = np.concatenate(
        [
            _area(resampling.sums_of_resamples(counts, min(chunk, resamples - start), seed=seed + number))
            for number, start in enumerate(range(0, resamples, chunk))
        ]
    )
    return Figure(float(_area(whole)[0]), resampling.percentile_interval(resampled))


def _area(sums: Integers) -> Floats:
    """The area of each row of counts; chance where all pairs are of one kind, because that shows nothing."""
    levels = sums.shape[1] // 2
    relevant, others = sums[:, :levels].astype(float), sums[:, levels:].astype(float)
    lower = np.cumsum(others, axis=1) - others / 2
    whole = relevant.sum(axis=1) * others.sum(axis=1)
    area: Floats = np.divide((relevant * lower).sum(axis=1), whole, out=np.full(len(sums), 0.5), where=whole != 0)
    return area


def _flips(
    first: Mapping[PairKey, int], other: Mapping[PairKey, int], *, pairs: Mapping[PairKey, Sequence[int]], relevant_from: float
) -> Figure:
    shared = sorted(pair for pair in pairs if pair in first and pair in other)
    if not shared:
        return Figure(None, None)
    flipped = np.array(
        [is_relevant_rating(first[pair], relevant_from) != is_relevant_rating(other[pair], relevant_from) for pair in shared]
    )
    _, search = np.unique([search_id for search_id, _ in shared], return_inverse=True)
    counts = np.bincount(search)
    hits = np.bincount(search, weights=flipped).astype(np.int64)
    return Figure(float(flipped.mean()), interval.of_share(hits, counts, sizes=counts))


def _cost(spent: Sequence[tuple[int, float]], rated: int) -> Figure:
    if not spent or not rated:
        return Figure(None, None)
    pairs, dollars = np.array(spent, np.float64).T
    ratio, requests = dollars.sum() / pairs.sum(), len(pairs)
    # Asked for more than once or not: as many times a pair as in this trial.
    times = 1_000 * pairs.sum() / rated
    if requests < 2:
        return Figure(float(times * ratio), None)
    variance = ((dollars - ratio * pairs) ** 2).sum() * requests / (requests - 1) / pairs.sum() ** 2
    half = interval.students_t((1 + interval.LEVEL) / 2, requests - 1) * variance**0.5
    return Figure(float(times * ratio), (float(times * max(0.0, ratio - half)), float(times * (ratio + half))))


def text(found: Sequence[Result], chosen: Result | None) -> str:
    """Return the results as an aligned table, a line each, the choice marked."""
    rows = [
        ("model", "prompt", "pairs a prompt", "rated", "F1", "area", "flips", "requests", "tokens", "cost", "a thousand", "")
    ]
    for result in found:
        trial = result.trial
        rows.append(
            (
                trial.model,
                trial.prompt,
                str(trial.pairs_per_batch),
                str(result.pairs) if not result.unrated else f"{result.pairs}/{result.pairs + result.unrated}",
                _figure(result.f1),
                _figure(result.area),
                "" if result.flips is None else _figure(result.flips),
                str(trial.requests),
                str(trial.prompt_tokens + trial.completion_tokens),
                "not known" if trial.cost is None else f"${trial.cost:.4f}",
                _dollars(result.cost_a_thousand),
                "chosen" if result is chosen else "",
            )
        )
    return "\n".join(grid.lines(rows))


def _figure(figure: Figure) -> str:
    return wording.UNDEFINED if figure.value is None else f"{figure.value:.3f} ({wording.interval(figure.interval)})"


def _dollars(figure: Figure) -> str:
    if figure.value is None:
        return "not known"
    bounds = "" if figure.interval is None else f" ({figure.interval[0]:.3g}-{figure.interval[1]:.3g})"
    return f"${figure.value:.3g}{bounds}"
