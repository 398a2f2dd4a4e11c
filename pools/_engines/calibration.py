"""Calibration: from a retriever's score to the probability that a pair is relevant, learned from expert-rated pairs.

The curve is a logistic one with two figures, which a few dozen pairs settle; a free-form one would follow their noise. It is
learned from the searches of the tuning split where these hold enough pairs, else from all. Either way no pair gets a
probability from a curve that saw a rating of its search: a search that the curve was learned from has one of its own, learned
without its fold. So all figures here are of unseen searches, and no rating can put its own pair among the hits.
"""

import json
import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from pools._dataset import dataset, files
from pools._dataset.records import PairKey

FOLDS = 10
LEAST_SEARCHES = 5
LEAST_PAIRS = 10
"""Relevant pairs, and others, that a curve is learned from at least."""
BINS = 10
PLACES = 6


@dataclass(frozen=True, slots=True)
class Curve:
    """The probability 1 / (1 + exp(-(slope * score + intercept))). With a slope of 0 or less the score tells nothing."""

    slope: float
    intercept: float

    def probability(self, score: float) -> float:
        """Return the probability in (0, 1) of a score, rounded."""
        # Beyond 30 all of it is rounding, and exp would overflow.
        exponent = max(-30.0, min(30.0, self.slope * score + self.intercept))
        return round(1 / (1 + math.exp(-exponent)), PLACES)


@dataclass(frozen=True, slots=True)
class Bin:
    """The pairs whose probability lies in one tenth: how many, their mean probability, and the share that is relevant."""

    pairs: int
    probability: float
    relevant: float


@dataclass(frozen=True, slots=True)
class Calibration:
    """What was learned, and how well it does on searches that it did not see.

    `learned_from` is "tuning" or "all"; `held_out` has the curves of the searches among those. `brier` is the mean squared
    difference between probability and outcome, `base_rate_brier` that of giving every pair the share of relevant ones, both in
    [0, 1], over `pairs` expert-rated pairs; `reliability` covers the same.
    """

    learned_from: str
    curve: Curve
    held_out: Mapping[str, Curve]
    pairs: int
    searches: int
    brier: float
    base_rate_brier: float
    reliability: tuple[Bin, ...]

    def of_search(self, search_id: str) -> Curve:
        """Return the curve that saw no rating of a search."""
        return self.held_out.get(search_id, self.curve)


def fit(scores: Mapping[PairKey, float], relevant: Mapping[PairKey, bool], *, tuning: Collection[str]) -> Calibration | None:
    """Learn from the scores of expert-rated pairs; `tuning` are the searches of that split.

    Returns None where even all of them have fewer than 5 searches, 10 relevant pairs or 10 others. The result does not depend
    on the order of anything.
    """
    pairs = sorted(relevant)
    tuned = [pair for pair in pairs if pair[0] in tuning]
    if not enough(relevant):
        return None
    training = tuned if _enough(tuned, relevant) else pairs
    curve = platt([scores[pair] for pair in training], [relevant[pair] for pair in training])
    searches = sorted({search_id for search_id, _ in training})
    held_out: dict[str, Curve] = {}
    for number in range(min(FOLDS, len(searches))):
        fold = searches[number::FOLDS]
        seen = [pair for pair in training if pair[0] not in fold]
        held_out |= dict.fromkeys(fold, platt([scores[pair] for pair in seen], [relevant[pair] for pair in seen]))
    probabilities = [held_out.get(pair[0], curve).probability(scores[pair]) for pair in pairs]
    outcomes = [relevant[pair] for pair in pairs]
    share = sum(outcomes) / len(outcomes)
    return Calibration(
        "tuning" if training is tuned else "all",
        curve,
        dict(sorted(held_out.items())),
        len(pairs),
        len({search_id for search_id, _ in pairs}),
        brier(probabilities, outcomes),
        brier([share] * len(outcomes), outcomes),
        reliability(probabilities, outcomes),
    )


def enough(relevant: Mapping[PairKey, bool]) -> bool:
    """Say whether there is anything to be learned from so many pairs, whatever their scores."""
    return _enough(list(relevant), relevant)


def _enough(pairs: Sequence[PairKey], relevant: Mapping[PairKey, bool]) -> bool:
    found = sum(relevant[pair] for pair in pairs)
    return len({search_id for search_id, _ in pairs}) >= LEAST_SEARCHES and min(found, len(pairs) - found) >= LEAST_PAIRS


def platt(scores: Sequence[float], relevant: Sequence[bool]) -> Curve:
    """Return the logistic curve of greatest likelihood.

    Outcomes count as (n + 1) / (n + 2) and 1 / (m + 2) for n relevant pairs and m others instead of 1 and 0, which keeps the
    slope finite where the scores part them cleanly (Platt, Probabilistic Outputs for Support Vector Machines, 1999). Scores
    that are all the same have a slope of 0.
    """
    import numpy
    from sklearn.linear_model import LogisticRegression

    count = sum(relevant)
    targets = [(count + 1) / (count + 2) if outcome else 1 / (len(relevant) - count + 2) for outcome in relevant]
    values = numpy.array(scores, dtype=float)
    middle, spread = float(values.mean()), float(values.std())
    if spread < 10**-PLACES:
        share = math.fsum(targets) / len(targets)
        return Curve(0.0, round(math.log(share / (1 - share)), PLACES))
    # A target between 0 and 1 is a pair that is both, with weights.
    rows = numpy.tile((values - middle) / spread, 2)[:, None]
    outcomes = numpy.repeat([True, False], len(scores))
    weights = numpy.array([*targets, *(1 - target for target in targets)])
    model = LogisticRegression(C=math.inf, solver="newton-cholesky", tol=1e-9).fit(rows, outcomes, weights)
    slope = float(model.coef_[0, 0]) / spread
    return Curve(round(slope, PLACES), round(float(model.intercept_[0]) - slope * middle, PLACES))


def brier(probabilities: Sequence[float], outcomes: Sequence[bool]) -> float:
    """Return the mean squared difference of probabilities and outcomes (Brier, 1950), in [0, 1], rounded."""
    squares = [(probability - outcome) ** 2 for probability, outcome in zip(probabilities, outcomes, strict=True)]
    return round(math.fsum(squares) / len(squares), PLACES)


def reliability(probabilities: Sequence[float], outcomes: Sequence[bool]) -> tuple[Bin, ...]:
    """Return the bins of equal width that hold a pair, by rising probability."""
    bins: dict[int, list[tuple[float, bool]]] = {}
    for probability, outcome in zip(probabilities, outcomes, strict=True):
        bins.setdefault(min(int(probability * BINS), BINS - 1), []).append((probability, outcome))
    return tuple(
        Bin(
            len(held),
            round(math.fsum(probability for probability, _ in held) / len(held), PLACES),
            round(sum(outcome for _, outcome in held) / len(held), PLACES),
        )
        for _, held in sorted(bins.items())
    )


def path(folder: Path, language: str, *, retriever: str) -> Path:
    """Return where a retriever's calibration is kept."""
    return dataset.work(folder, language) / "calibration" / f"{retriever}.json"


def write(path: Path, calibration: Calibration, *, model: str) -> None:
    """Replace a calibration file, which people read; `model` is what the scores come from."""
    document = {"model": model, **asdict(calibration)}
    files.replace(path, json.dumps(document, ensure_ascii=False, indent=2).encode("utf-8", "replace") + b"\n")
