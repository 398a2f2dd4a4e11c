"""The file under a ledger: chained lines that are only ever added to, by one process at a time, each group with one fsync.

It knows lines and no meaning of theirs. What a crash, a full disk or a second writer may do to a file is dealt with here: a
torn last line is cut off, a group that the disk refuses leaves nothing behind, and a lock keeps another process out.
"""

import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from filelock import FileLock, Timeout

from judge._ledger import chain, high_water_mark
from judge._ledger.anchor import Anchor
from judge._ledger.chain import End
from judge._ledger.entries import Record
from judge._ledger.high_water_mark import HighWaterMark
from pools.errors import Stopped, UsageError

LAST = 20
"""Bytes at the end of a line that its chain is in."""


class ChainedFile:
    """A file of chained lines; `end` is where those that were read or written end, `notes` what was done to it, a line each."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.notes: tuple[str, ...] = ()
        self.end = End()
        self._file: int | None = None
        self._lock: FileLock | None = None

    @property
    def is_open(self) -> bool:
        """Whether lines can be added."""
        return self._file is not None

    def lock(self) -> None:
        """Keep other writers out until the file is closed; raises `UsageError` where there is one, or none can write."""
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self._lock = FileLock(self.path.with_name(f".{self.path.name}.lock"), timeout=0)
            self._lock.acquire()
        except Timeout:
            raise UsageError(f"{self.path}: another process is writing to it; wait until it is done, or stop it") from None
        except OSError as error:
            raise self._unwritable(error) from error

    def records(self) -> Iterator[Record]:
        """Yield all lines, none of a file that is missing, keeping `end` up to date; raises `DataError` as `chain.scan`."""
        try:
            file = self.path.open("rb", buffering=1 << 20)
        except FileNotFoundError:
            return
        with file:
            yield from chain.scan(file, self.path, end=self.end)

    def open(self) -> None:
        """Make the file writable, and end with a whole line; `records` must have been read to the end before."""
        try:
            self._file = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o666)
            self._mend(self._file)
        except OSError as error:
            raise self._unwritable(error) from error

    def append(self, records: Sequence[Record]) -> None:
        """Write records with one write and one fsync; to be called by one thread at a time.

        Raises `Stopped` where the disk takes no more; the file then ends where it ended before.
        """
        if self._file is None:
            raise Stopped(f"{self.path}: closed after an error; run the command again")
        end, last, lines = self.end, self.end.chain, []
        for record in records:
            text, last = chain.line(record, last)
            lines.append(text)
        content = b"".join(lines)
        try:
            written = 0
            while written < len(content):
                written += os.write(self._file, content[written:] if written else content)
            os.fsync(self._file)
        except OSError as error:
            self._withdraw()
            raise Stopped(
                f"{self.path}: cannot be written any further ({error.strerror or error}); free some space and run the command "
                "again, which resumes after the last reply that was stored"
            ) from error
        end.digest.update(content)
        self.end = End(last, end.lines + len(lines), end.offset + len(content), digest=end.digest)

    def close(self) -> None:
        """Let go of file and lock; doing so twice is harmless."""
        if self._file is not None:
            os.close(self._file)
            self._file = None
        if self._lock is not None:
            self._lock.release()
            self._lock = None

    @property
    def anchor(self) -> Anchor:
        """What pins all that the file says: it tells the file from any other, a shorter or longer one included."""
        return Anchor(self.end.chain, self.end.lines, self.end.digest.hexdigest())

    @property
    def reached(self) -> HighWaterMark:
        """How far it has got on the disk."""
        return HighWaterMark(self.end.offset, self.end.chain)

    def continues(self, earlier: HighWaterMark) -> bool:
        """Return whether this file once ended there, and nothing before is gone or another since."""
        if not 0 < earlier.size <= self.end.offset:
            return earlier.size == 0
        with self.path.open("rb") as file:
            file.seek(max(0, earlier.size - LAST))
            return file.read(min(earlier.size, LAST)).rstrip(b"\n").endswith(f'{earlier.last}"}}'.encode())

    def lost(self) -> HighWaterMark | None:
        """Return how far it was noted to have got, where it does not go on from there; else None."""
        known = high_water_mark.read(high_water_mark.path(self.path))
        return None if known is None or self.continues(known) else known

    def remember(self) -> None:
        """Note beside the file how far it has got, unless it does not go on from where it was noted to have got before."""
        if self.lost() is None:
            high_water_mark.write(high_water_mark.path(self.path), self.reached)

    def _mend(self, file: int) -> None:
        end = self.end
        if end.torn:
            os.ftruncate(file, end.offset)
            self.notes += (
                f"{self.path}:{end.lines + 1}: the last line was not whole; its {end.torn} bytes are cut off, and what they "
                "held will be asked for again",
            )
            end.torn = 0
        if end.bare:
            os.write(file, b"\n")
            end.offset += 1
            end.digest.update(b"\n")
            end.bare = False
            self.notes += (f"{self.path}:{end.lines}: the last line was whole but for its line end, which is put there",)

    def _withdraw(self) -> None:
        """After an error, cut off what may have been written of a group, and close: what the disk then holds is not known."""
        file, self._file = self._file, None
        if file is None:
            return
        try:
            os.ftruncate(file, self.end.offset)
            os.fsync(file)
        except OSError as error:
            self.notes += (f"{self.path}: its end could not be cut off ({error.strerror}); the next opening does",)
        finally:
            os.close(file)

    def _unwritable(self, error: OSError) -> UsageError:
        return UsageError(f"{self.path}: cannot be written ({error.strerror or error}); choose a folder that can, with --data")
