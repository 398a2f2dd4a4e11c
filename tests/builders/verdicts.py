"""Ratings with given counts of agreement, and the verdict on them."""

import random

from gates._verdict import gate_record
from gates._verdict.gate_record import GateRecord
from pools._dataset.settings import GateSettings

Experts = dict[tuple[str, str], tuple[int, ...]]
Ratings = dict[tuple[str, str], int]

SETTINGS = GateSettings(resamples=400)
JUDGE = "0123456789abcdef"


def ratings_of(both: int, judge_only: int, expert_only: int, neither: int, searches: int = 20) -> tuple[Experts, Ratings]:
    """Ratings with exactly these counts, dealt to the searches in turn."""
    cells = [(3, 2)] * both + [(1, 3)] * judge_only + [(2, 0)] * expert_only + [(0, 1)] * neither
    random.Random(0).shuffle(cells)
    pairs = [(f"q{number % searches:02}", f"f{number:04}") for number in range(len(cells))]
    return (
        {pair: (expert,) for pair, (expert, _) in zip(pairs, cells, strict=True)},
        {pair: judged for pair, (_, judged) in zip(pairs, cells, strict=True)},
    )


def assess(experts: Experts, ratings: Ratings, settings: GateSettings = SETTINGS) -> GateRecord:
    """The verdict on Go, with few resamples."""
    return gate_record.assess("go", experts, ratings=ratings, gate=settings, relevant_from=2, seed=1, judge_id=JUDGE)
