"""ripgrep over a corpus: where the program is, and what a pattern hits in which function.

All functions go into one temporary file, one after the other, and a hit's line number says whose line it was; so a search
costs one process, however many functions there are. ripgrep is told to take the bytes as they are: no configuration file, no
guessing at binary files or encodings.
"""

import shutil
import signal
import subprocess
import sys
import tempfile
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from pools._dataset.records import Function
from pools.errors import Stopped, UsageError

PLAIN = ("--no-config", "--text", "--encoding=none", "--color=never", "--no-heading", "--no-filename", "--line-number")
BLOCK = 1 << 22


def program() -> str:
    """Return the path of the rg binary: the one installed beside this Python, else one on the PATH."""
    beside = Path(sys.executable).with_name("rg")
    found = str(beside) if beside.is_file() else shutil.which("rg")
    if found is None:
        raise UsageError("ripgrep (rg) is not installed; install the project with pip, which brings it, or put rg on the PATH")
    return found


def complaint(pattern: str, *options: str) -> str | None:
    """Return ripgrep's message in one line where it cannot compile a pattern under these options, else None."""
    if "\0" in pattern:
        return r"a pattern cannot hold a NUL byte; write \x00"
    try:
        given = pattern.encode("utf-8")
    except UnicodeEncodeError:
        return "a pattern cannot hold half a surrogate pair"
    command: list[str | bytes] = [program(), *PLAIN, *options, b"--regexp=" + given]
    done = subprocess.run(command, input=b"", capture_output=True, check=False)
    _check_signal(done.returncode)
    return " ".join(done.stderr.decode("utf-8", "replace").split()) or None


def lines(file: Path, pattern: str, *options: str) -> list[int]:
    """Return the numbers, from 1 and rising, of a file's matching lines; raises `UsageError` with ripgrep's message."""
    # Lines themselves are not wanted, only their numbers, so all but the shortest are left out of the output.
    command: list[str | bytes] = [program(), *PLAIN, "--max-columns=1", *options]
    command += [b"--regexp=" + pattern.encode("utf-8"), "--", str(file)]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, check=False)
    _check_signal(done.returncode)
    if done.returncode > 1:
        raise UsageError(f"ripgrep refused {pattern!r}: {done.stderr.decode('utf-8', 'replace')}; mend the pattern")
    return [int(line[: line.index(b":")]) for line in done.stdout.split(b"\n")[:-1]]


def _check_signal(code: int) -> None:
    if code < 0:
        name = signal.Signals(-code).name
        raise Stopped(f"ripgrep was ended from outside ({name}), for want of memory perhaps; run the command again")


@dataclass(frozen=True, slots=True)
class Haystack:
    """Functions laid out in one file: `starts` are the lines, from 1, on which each begins.

    An empty function has no line, so it shares its start with the next one and nothing hits it.
    """

    file: Path
    ids: tuple[str, ...]
    starts: tuple[int, ...]

    def hits(self, pattern: str, *options: str) -> dict[str, int]:
        """Return the number of matching lines of each function that has one; raises `UsageError` with ripgrep's message."""
        found: dict[str, int] = {}
        for number in lines(self.file, pattern, *options):
            owner = self.ids[bisect_right(self.starts, number) - 1]
            found[owner] = found.get(owner, 0) + 1
        return found

    def matches(self, pattern: str, *options: str) -> Iterator[bytes]:
        """Yield what a pattern matches, as blocks of whole lines `number:match`, the last of them without its end.

        The pattern is handed over in a file, so it may be as long as it likes; raises `UsageError` with ripgrep's message.
        """
        patterns = self.file.with_name("pattern")
        patterns.write_bytes(pattern.encode("utf-8") + b"\n")
        command = [program(), *PLAIN, "--only-matching", *options, f"--file={patterns}", "--", str(self.file)]
        with (
            tempfile.TemporaryFile() as errors,
            subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=errors) as run,
        ):
            assert run.stdout is not None  # noqa: S101  it was asked for
            rest = b""
            while block := run.stdout.read(BLOCK):
                whole, end, rest = (rest + block).rpartition(b"\n")
                if end:
                    yield whole
            _check_signal(run.wait())
            if run.returncode > 1:
                errors.seek(0)
                raise UsageError(f"ripgrep failed: {errors.read().decode('utf-8', 'replace')}; install another version of it")


@contextmanager
def haystack(functions: Sequence[Function]) -> Iterator[Haystack]:
    """Lay functions out, in order of their ids, in a temporary file that is removed at the end.

    Raises `UsageError` where the file cannot be written.
    """
    ordered = sorted(functions, key=lambda function: function.id)
    starts, line = [], 1
    with tempfile.TemporaryDirectory(prefix="judge-") as folder:
        file = Path(folder) / "corpus"
        try:
            with file.open("wb") as out:
                for function in ordered:
                    code = function.code.encode("utf-8", "surrogatepass")
                    if code and not code.endswith(b"\n"):
                        code += b"\n"
                    out.write(code)
                    starts.append(line)
                    line += code.count(b"\n")
        except OSError as error:
            raise UsageError(f"{folder}: cannot be written ({error.strerror or error}); free space, or set TMPDIR") from error
        yield Haystack(file, tuple(function.id for function in ordered), tuple(starts))
