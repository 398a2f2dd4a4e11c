"""How a step tells what it does: notes for a person, and how far it is. By default nobody listens."""

from collections.abc import Callable
from dataclasses import dataclass

from judge._rating import task


@dataclass(frozen=True, slots=True)
class Progress:
    """How far one stage of a step is: `done` of `total` (None: not known yet), counted in `unit`, earlier runs included.

    `stage` names language and stage, as "go pool". `failed` of those done came to nothing; `requests` and `tokens` are what
    this run has used, as is `cost` in US dollars, None where nobody tells it.
    """

    stage: str
    unit: str
    done: int
    total: int | None
    failed: int = 0
    requests: int = 0
    tokens: int = 0
    cost: float | None = None


Note = Callable[[str], None]
"""Takes a line that a person should know at once."""
Listener = Callable[[Progress], None]
"""Takes how far a step is, after each bit of work that is done for good."""


def ignore(_: object) -> None:
    """Do nothing with a note or progress."""


def of_pairs(progress: Listener, stage: str, *, total: int) -> Callable[[task.Progress], None]:
    """Return what a run of ratings can tell its progress to; `progress` is told at once that nothing is done yet."""
    progress(Progress(stage, "pair", 0, total))

    def tell(run: task.Progress) -> None:
        tokens = run.usage.prompt + run.usage.completion
        progress(Progress(stage, "pair", run.done, run.total, run.failed, run.requests, tokens, run.cost))

    return tell
