"""Figures of the measures beyond the standard ones, as a gate record has them.

No verdict goes by them, so a record that was written before a measure was registered, or after it was given up, is as valid.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from gates._measures import resampling
from gates._measures.arrays import Integers
from gates._measures.measure import Measure


@dataclass(frozen=True, slots=True)
class FurtherFigure:
    """A measure's figure by its name: the value and, of a resampled measure, the percentile interval; None where undefined."""

    name: str
    value: float | None
    interval: tuple[float, float] | None = None


def figures(confusion: Integers, measures: Sequence[Measure], *, resamples: int, seed: int) -> tuple[FurtherFigure, ...]:
    """Return the measures' figures, in their order, from the rows of `Verdicts.confusion`, one a search."""
    whole = confusion.sum(axis=0).tolist()
    # Drawn once for all of them, and not at all where none asks for it.
    resampled = len(confusion) and any(measure.resampled for measure in measures)
    sums = resampling.sums_of_resamples(confusion, resamples, seed=seed) if resampled else confusion[:0]
    return tuple(_figure(measure, whole, sums=sums) for measure in measures)


def _figure(measure: Measure, whole: Sequence[int], *, sums: Integers) -> FurtherFigure:
    value = measure.scalar(whole)
    if value is None or not measure.resampled or not len(sums):
        return FurtherFigure(measure.name, value)
    values = measure.vectorised(sums)
    return FurtherFigure(measure.name, value, None if np.isnan(values).any() else resampling.percentile_interval(values))


def compared(one: Sequence[FurtherFigure], other: Sequence[FurtherFigure]) -> tuple[FurtherFigure, ...]:
    """Return those of the first's figures whose measure the second has too, by name: what two records can differ in."""
    names = {figure.name for figure in other}
    return tuple(sorted((figure for figure in one if figure.name in names), key=lambda figure: figure.name))
