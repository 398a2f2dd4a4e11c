"""Progress bars: one a stage, on a terminal only."""

import contextlib
import io

import pytest

from judge.cli import bars
from judge.steps.progress import Progress


class Terminal(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        return True


def stages() -> None:
    with bars.shown() as progress:
        progress(Progress("go validation", "pair", 0, 3))
        progress(Progress("go validation", "pair", 3, 3, failed=1, requests=2, tokens=70, cost=0.25))
        progress(Progress("go pool", "text", 0, None))
        progress(Progress("go pool", "text", 5, 9))


def test_a_terminal_sees_a_bar_a_stage() -> None:
    with contextlib.redirect_stderr(Terminal()) as shown:
        stages()
    first, second = (line.split("\r")[-1] for line in shown.getvalue().rstrip("\n").split("\n"))
    assert first.startswith("go validation: 100%")
    assert "3/3" in first
    assert "70 tokens, $0.2500, 1 failed" in first
    assert second.startswith("go pool:  56%")
    assert "5/9" in second


def test_nothing_is_shown_elsewhere(capfd: pytest.CaptureFixture[str]) -> None:
    stages()
    assert capfd.readouterr() == ("", "")


def test_the_last_bar_ends_where_a_step_is_stopped() -> None:
    with contextlib.redirect_stderr(Terminal()) as shown, contextlib.suppress(ZeroDivisionError), bars.shown() as progress:
        progress(Progress("go pool", "pair", 1, 3))
        raise ZeroDivisionError
    assert shown.getvalue().endswith("\n")
