"""The further conditions of the gate beside the threshold of F1: what is asked for, what was measured, whether it is met."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from gates._measures import registry, resampling
from gates._measures.agreement import Agreement
from gates._measures.arrays import Booleans, Integers
from pools._dataset.settings import GateSettings

MEASURED = ("precision", "recall", "kappa")
"""The measures that a gate may ask for; each has a setting of its name."""


@dataclass(frozen=True, slots=True)
class Condition:
    """A further condition of the gate: the least value asked for, the value measured (None: undefined), whether it is met."""

    name: str
    least: float
    value: float | None
    met: bool


def measured(figures: Agreement, gate: GateSettings, *, full: float | None) -> tuple[Condition, ...]:
    """Return the conditions that a gate asks for; `full` is the share of pairs rated in batches of the production's size."""
    asked: list[tuple[str, float, float | None]] = [
        *((name, getattr(gate, name), getattr(figures, name)) for name in MEASURED),
        ("relevant_pairs", gate.relevant_pairs, figures.expert_relevant),
        ("full_batches", gate.full_batches, full),
    ]
    return tuple(
        Condition(name, least, value, value is not None and value >= least) for name, least, value in asked if least > 0
    )


def passes(conditions: Sequence[Condition]) -> resampling.Passes | None:
    """Return what says of each resample whether the conditions hold in it; None where there are none."""
    if not conditions:
        return None
    estimates = [(registry.get(item.name), item.least) for item in conditions if item.name in MEASURED]
    # How many pairs there are, and how they were asked for, is no estimate, so it is not resampled.
    counts = all(condition.met for condition in conditions if condition.name not in MEASURED)

    def hold(sums: Integers) -> Booleans:
        met = np.full(len(sums), counts)
        for measure, least in estimates:
            # What is undefined in a resample is not a number, and not at least anything.
            met &= measure.vectorised(sums) >= least
        return met

    return hold
