"""A measure: a figure of how a judge's verdicts agree with the experts', computed from four counts of pairs.

The counts are of pairs relevant by both, by the judge alone, by the experts alone, and by neither. Most measures are a ratio
of two whole numbers made of them; such a measure is written down once, in whole numbers up to the one division, so that a
value on a threshold compares as equal to it, and holds for one set of counts as for those of many resamples.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from gates._measures.arrays import Floats, Integers

EXACT_PAIRS = 2**26
"""Pairs up to which the square of their number, and so what a ratio divides, is a floating-point number without rounding."""

Ratio = Callable[[Any, Any, Any, Any], tuple[Any, Any]]
"""Takes the four counts, whole numbers or arrays of them, and returns what is divided and by what: of degree two at most."""


@dataclass(frozen=True, slots=True)
class Measure:
    """A measure under its `name`, by which records and JSON call it.

    `scalar` takes the four counts and returns the figure, None where it is undefined; `vectorised` takes counts of many
    resamples, (resamples, 4), and returns as many figures, not a number where undefined. The two agree on all counts. `label`
    is how text calls it and `heading` the column of a table, `format` the format of its value as `format` takes it; `source`
    says who defined it, and where. Of a `resampled` one the percentile interval over resampled searches is recorded too.
    """

    name: str
    label: str
    scalar: Callable[[Iterable[int]], float | None]
    vectorised: Callable[[Integers], Floats]
    definition: str
    source: str
    heading: str = ""
    format: str = ".4f"
    resampled: bool = False


@dataclass(frozen=True, slots=True)
class Figure:
    """A figure and its percentile interval over resampled searches; None where undefined (the interval: in a resample)."""

    value: float | None
    interval: tuple[float, float] | None


def scalar(ratio: Ratio) -> Callable[[Iterable[int]], float | None]:
    """Return the scalar form of a ratio, which is undefined where it would divide by nought."""

    def figure(counts: Iterable[int]) -> float | None:
        part, whole = ratio(*map(int, counts))
        return part / whole if whole else None

    return figure


def vectorised(ratio: Ratio) -> Callable[[Integers], Floats]:
    """Return the vectorised form of a ratio; equal to the scalar one for every row, however many pairs it has."""
    one = scalar(ratio)

    def figures(counts: Integers) -> Floats:
        if len(counts) and counts.sum(axis=1).max() > EXACT_PAIRS:
            return np.array([one(row) for row in counts.tolist()], np.float64)
        part, whole = ratio(*counts.T)
        out: Floats = np.divide(part, whole, out=np.full(len(counts), np.nan), where=whole != 0)
        return out

    return figures
