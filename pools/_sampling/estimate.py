"""How many pairs are relevant, estimated from the pool: the found ones, and what the samples say of those nobody looked at.

The total is the Horvitz-Thompson estimate (Horvitz and Thompson, "A generalization of sampling without replacement from a
finite universe", JASA 47, 1952): every relevant pair counts 1 / its inclusion probability. Its interval must hold where a
sample of ten has no relevant pair, as most have, and a normal one would then be of no width; so it is the gamma interval for
weighted sums of rare events (Fay and Feuer, "Confidence intervals for directly standardized rates", Statistics in Medicine 16,
1997), whose variance is here that of drawing without replacement from a finite stratum. It is too wide, never too narrow,
where relevant pairs are common.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from pools._dataset.records import PairKey
from pools._sampling.pooled import PoolPair


@dataclass(frozen=True, slots=True)
class Estimate:
    """The number of relevant pairs of a language.

    `found` are known to be relevant; `total` is estimated, between `lower` and `upper` at the confidence asked for. `unrated`
    pairs of the pool have no verdict yet, and of `uncovered` pairs nothing is known, not even by a sample: neither is in the
    total. `total` has no bias, so chance can put it below `found`.
    """

    found: int
    total: float
    lower: float
    upper: float
    unrated: int
    uncovered: int

    @property
    def missed(self) -> float:
        """The relevant pairs that are estimated beside those found."""
        return max(0.0, self.total - self.found)


def relevant_pairs(
    pool: Iterable[PoolPair], verdicts: Mapping[PairKey, bool], *, pairs: int, confidence: float = 0.95
) -> Estimate:
    """Return the estimate for one language.

    `verdicts` says of each rated pair whether it is relevant, `pairs` is the number of searches times that of functions. Of a
    sample, the rated pairs stand for the whole stratum: those without a verdict are taken to be missing at random.
    """
    certain = found = unrated = covered = 0
    samples: dict[tuple[str, str, float], list[bool | None]] = {}
    for entry in pool:
        verdict = verdicts.get(entry.pair)
        found += bool(verdict)
        unrated += verdict is None
        if entry.stratum is None or entry.probability == 1:
            certain += bool(verdict)
            covered += 1
        elif entry.probability is not None:
            samples.setdefault((entry.search_id, entry.stratum, entry.probability), []).append(verdict)
    seen, weights = certain, [0.0]
    counted: list[tuple[float, int]] = []
    unseen = 0
    for (_, _, probability), sample in samples.items():
        size, rated = round(len(sample) / probability), len(sample) - sample.count(None)
        if not rated:
            continue
        covered += size
        unseen += size - rated
        weights.append(size / rated)
        seen += sample.count(True)
        counted.append((size / rated, sample.count(True)))
    rest = sum((weight - 1) * relevant for weight, relevant in counted)
    variance = sum(weight * (weight - 1) * relevant for weight, relevant in counted)
    lower, upper = _gamma_interval(rest, variance, heaviest=max(weights), confidence=confidence)
    return Estimate(
        found, seen + rest, max(found, seen + lower), max(found, seen + min(upper, unseen)), unrated, pairs - covered
    )


def _gamma_interval(rest: float, variance: float, *, heaviest: float, confidence: float) -> tuple[float, float]:
    """Return Fay and Feuer's interval for the relevant pairs not looked at; the upper end supposes one more relevant pair."""
    from scipy.special import gammaincinv

    tail = (1 - confidence) / 2
    lower = float(gammaincinv(rest**2 / variance, tail)) * variance / rest if rest else 0.0
    if heaviest <= 1:
        return lower, rest
    rest, variance = rest + heaviest - 1, variance + heaviest * (heaviest - 1)
    return lower, float(gammaincinv(rest**2 / variance, 1 - tail)) * variance / rest
