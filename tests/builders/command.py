"""Runs the `judge` command as a user does: in a process of its own, or in this one where only speed differs."""

import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from judge import cli
from judge.cli.importing import importing
from pools.errors import JudgeError
from tests.builders.places import ROOT


@dataclass(frozen=True, slots=True)
class Finished:
    """How a command ended."""

    code: int
    out: str
    err: str

    @property
    def error(self) -> str:
        """The one line of an error; fails where there are more, or a traceback."""
        lines = self.err.strip().split("\n")
        assert "Traceback" not in self.err
        assert len(lines) == 1, self.err
        assert lines[0].startswith("judge: "), self.err
        return lines[0]


def judge(capfd: pytest.CaptureFixture[str], *arguments: object) -> Finished:
    """Run a command in this process."""
    capfd.readouterr()
    with pytest.raises(SystemExit) as ended:
        cli.run([str(argument) for argument in arguments])
    out, err = capfd.readouterr()
    assert isinstance(ended.value.code, int)
    return Finished(ended.value.code, out, err)


def process(
    *arguments: object, environment: Mapping[str, str] | None = None, folder: Path = ROOT, module: str = "judge"
) -> Finished:
    """Run a command in a process of its own; `module` may be one that ends in the same command line."""
    done = subprocess.run(
        [sys.executable, "-m", module, *map(str, arguments)],
        cwd=folder,
        env=None if environment is None else dict(environment),
        capture_output=True,
        text=True,
        check=False,
        stdin=subprocess.DEVNULL,
    )
    return Finished(done.returncode, done.stdout, done.stderr)


def run_import(*arguments: object) -> Result:
    """Run `judge import`; an error of the project's own is raised."""
    done = CliRunner().invoke(importing, [str(argument) for argument in arguments])
    if isinstance(done.exception, JudgeError):
        raise done.exception
    assert done.exit_code == 0, done.output
    return done
