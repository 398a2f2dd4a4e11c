"""Progress bars: what steps tell of their progress, shown on stderr where that is a terminal."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from judge.steps.progress import Listener, Progress


@contextmanager
def shown() -> "Iterator[Listener]":
    """Yield what shows progress: a bar a stage, the one before ending where the next begins, and the last on leaving."""
    bars = _Bars()
    try:
        yield bars.show
    finally:
        bars.close()


class _Bars:
    def __init__(self) -> None:
        self._stage = ""
        self._bar: Any = None

    def show(self, progress: "Progress") -> None:
        """Show how far a stage is, in a bar of its own."""
        from tqdm import tqdm

        if self._bar is None or progress.stage != self._stage:
            self.close()
            self._stage = progress.stage
            self._bar = tqdm(total=progress.total, desc=progress.stage, unit=progress.unit, disable=None)
        if progress.requests:
            cost = "" if progress.cost is None else f", ${progress.cost:.4f}"
            self._bar.set_postfix_str(f"{progress.tokens} tokens{cost}, {progress.failed} failed", refresh=False)
        self._bar.total = progress.total
        self._bar.update(progress.done - self._bar.n)
        if progress.done == progress.total:
            # Its line ends here, so that a note does not go on behind it.
            self._bar.close()

    def close(self) -> None:
        """End the bar that is shown, if there is one."""
        if self._bar is not None:
            self._bar.close()
            self._bar = None
