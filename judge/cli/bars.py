"""Progress bars: one for each stage that a step tells of, on a terminal only."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, NoReturn

if TYPE_CHECKING:
    from judge.steps.progress import Listener, Progress


@contextmanager
def shown() -> "Iterator[Listener]":
    """Give a step's listener; a stage's bar is closed when all of it is done, the next one begins, or at the end."""
    from tqdm import tqdm

    bars: dict[str, tqdm[NoReturn]] = {}

    def tell(progress: "Progress") -> None:
        if progress.stage not in bars:
            close()
            bar: tqdm[NoReturn] = tqdm(total=progress.total, desc=progress.stage, unit=progress.unit, disable=None)
            bars[progress.stage] = bar
        bars[progress.stage].update(progress.done - bars[progress.stage].n)
        if progress.done == progress.total:
            close()

    def close() -> None:
        for bar in bars.values():
            bar.close()

    try:
        yield tell
    finally:
        close()
