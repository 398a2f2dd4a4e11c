"""What "relevant" means: the experts' mean, or the judge's rating, is at least `relevant_from`. Decided here and nowhere else.

A mean of whole numbers is a ratio, and so is a threshold as it is written in judge.toml (2.6667 is 26667/10000, not the nearest
binary fraction), so they are compared as ratios: a mean that lies on the threshold reaches it, one a hair below does not,
however many experts rated. What is rounded to 4 places is only what is printed or published.
"""

from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache


def is_relevant(ratings: Sequence[int], relevant_from: float) -> bool:
    """Return whether a pair with these ratings (one or more) is relevant: by their exact mean."""
    return sum(ratings) >= least_sum(len(ratings), relevant_from)


def is_relevant_rating(rating: int, relevant_from: float) -> bool:
    """Return `is_relevant` of a single rating, such as a judge's."""
    return rating >= least_sum(1, relevant_from)


def is_relevant_value(relevance: float, relevant_from: float) -> bool:
    """Return whether a relevance is, of which nothing shows the ratings behind it; it is taken as it is written."""
    return _as_written(relevance) >= _as_written(relevant_from)


@lru_cache(maxsize=4096)
def least_sum(count: int, relevant_from: float) -> int:
    """Return the least sum of `count` ratings whose mean is relevant.

    The same question in whole numbers, for those who ask it of millions of pairs at a time.
    """
    exact = _as_written(relevant_from) * count
    return -(-exact.numerator // exact.denominator)


def _as_written(number: float) -> Fraction:
    return Fraction(repr(float(number)))
