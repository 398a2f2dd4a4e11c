"""The `judge` command with a measure and a format of a third party's, added through the registries alone.

Run as `python -m tests.with_registered ARGUMENTS`: what is registered stays in this process, so no other test meets it.
"""

import numpy as np

from gates.measures import registry as measures
from gates.measures.measure import Measure, scalar, vectorised
from judge import cli


def _jaccard(both: int, judge_only: int, expert_only: int, _neither: int) -> tuple[int, int]:
    return both, both + judge_only + expert_only


def _matthews(counts: "np.typing.NDArray[np.int64]") -> "np.typing.NDArray[np.float64]":
    both, judge_only, expert_only, neither = counts.T.astype(float)
    scale = (both + judge_only) * (both + expert_only) * (neither + judge_only) * (neither + expert_only)
    with np.errstate(invalid="ignore", divide="ignore"):
        found: np.typing.NDArray[np.float64] = (both * neither - judge_only * expert_only) / np.sqrt(scale)
    return found


JACCARD = Measure(
    "jaccard",
    "Jaccard index",
    scalar(_jaccard),
    vectorised(_jaccard),
    definition="relevant by both / relevant by either",
    source="Jaccard, The distribution of the flora in the alpine zone, 1912",
    heading="Jaccard",
    format=".2%",
    resampled=True,
)
MATTHEWS = Measure(
    "matthews",
    "Matthews' correlation",
    lambda counts: float(_matthews(np.array([list(counts)], np.int64))[0]),
    _matthews,
    definition="the correlation of the two verdicts",
    source="Matthews, Comparison of the predicted and observed secondary structure of T4 phage lysozyme, 1975",
)

if __name__ == "__main__":
    measures.register(JACCARD)
    measures.register(MATTHEWS)
    cli.run()
