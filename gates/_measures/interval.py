"""An interval of F1 that holds from 30 pairs up, which the percentiles of a bootstrap over few searches do not.

F1 = 2 J / (1 + J), where J is the share of the pairs relevant on at least one side that both call relevant; so J is a
proportion, and its score interval (Wilson, Probable inference, the law of succession, and statistical inference, 1927)
becomes one of F1. Pairs of one search agree or fail together, so the number of pairs is divided by a design effect: the
variance of J between whole searches (linearised, with the factor n / (n - 1)) over that of independent pairs. How well it is
known is a matter of searches, not pairs, so the quantile is Student's t; its degrees of freedom are the effective number of
searches, (sum of pairs)^2 / (sum of squared pairs), less one. From few searches a design effect can come out far too small,
so the interval is never narrower than that of independent pairs with the normal quantile.
`docs/coverage.md` has how often it holds the truth.
"""

from statistics import NormalDist

import numpy as np

from gates._measures.arrays import Integers

LEVEL = 0.95


def of_f1(confusion: Integers, level: float = LEVEL) -> tuple[float, float] | None:
    """Return the interval of F1 from the rows of `Verdicts.confusion`, one a search; None where F1 is undefined."""
    hits, misses = confusion[:, 0], confusion[:, 1] + confusion[:, 2]
    bounds = of_share(hits, hits + misses, sizes=confusion.sum(axis=1), level=level)
    return None if bounds is None else (_f1(bounds[0]), _f1(bounds[1]))


def of_share(hits: Integers, counts: Integers, *, sizes: Integers, level: float = LEVEL) -> tuple[float, float] | None:
    """Return the interval of sum(hits) / sum(counts), both a search each; None where nothing was counted.

    `sizes` is how many pairs each search has, counted or not. With fewer than two searches independence is all there is.
    """
    hit, count = int(hits.sum()), int(counts.sum())
    if not count:
        return None
    share = hit / count
    normal = NormalDist().inv_cdf((1 + level) / 2)
    spread = normal**2 / count
    binomial = count * share * (1 - share)
    searches = int(np.count_nonzero(sizes))
    if searches > 1 and binomial > 0:
        between = float(((hits - share * counts) ** 2).sum()) * searches / (searches - 1)
        freedom = float(sizes.sum()) ** 2 / float((sizes.astype(float) ** 2).sum()) - 1
        spread = max(spread, students_t((1 + level) / 2, freedom) ** 2 * between / binomial / count)
    middle = (share + spread / 2) / (1 + spread)
    half = (spread * share * (1 - share) + spread**2 / 4) ** 0.5 / (1 + spread)
    return max(0.0, middle - half), min(1.0, middle + half)


def students_t(share: float, freedom: float) -> float:
    """Return the quantile of Student's t distribution."""
    from scipy.special import stdtrit

    return float(stdtrit(freedom, share))


def _f1(jaccard: float) -> float:
    return 2 * jaccard / (1 + jaccard)
