"""The ledger: every reply of a judge as it came, what was read from it, and under which seal, in one append-only file.

A line counts once it is on the disk. Lines are written in groups, each with one write and one fsync; a reading, which can
be made again from its reply, waits for the next group. Writing (`store`) and taking in (`take`) are apart, because the one
blocks and runs in a thread of its own, while the other changes what the running program sees. All that is known of a judge
is in its `Tally`.
"""

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Self

from filelock import FileLock, Timeout

from judge._ledger import chain, entries, high_water_mark
from judge._ledger.anchor import Anchor
from judge._ledger.chain import End
from judge._ledger.entries import Record, SealEntry
from judge._ledger.high_water_mark import HighWaterMark
from judge._ledger.tally import Job, Tally, Totals
from judge._ledger.texts import Texts
from judge._reading import replies
from judge._reading.replies import Reading
from pools._dataset.records import PairKey
from pools.errors import DataError, Stopped, UsageError

LAST = 20
"""Bytes at the end of a line that its chain is in."""
Now = Callable[[], str]
"""Tells the time as ISO 8601, UTC."""


def now() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def records(path: Path) -> Iterator[Record]:
    """Yield all lines of a ledger as they are, without `chain` checked twice; raises `DataError` for a line at fault."""
    with path.open("rb") as file:
        yield from chain.scan(file, path, end=End())


class Ledger:
    """One language's ledger, opened for appending (`open`, a context manager) or as it is (`read`)."""

    def __init__(self, path: Path, clock: Now = now, *, texts: Texts | None = None) -> None:
        self.path = path
        self.texts = texts
        self.notes: tuple[str, ...] = ()
        self.history: tuple[SealEntry, ...] = ()
        self._now = clock
        self._tallies: dict[str, Tally] = {}
        self._seals: dict[str, SealEntry] = {}
        self._scales: dict[str, frozenset[int]] = {}
        self._ids: dict[str, str] = {}
        self._unread: dict[int, Record] = {}
        self._held: list[Record] = []
        self._number = 0
        self._end = End()
        self._file: int | None = None
        self._lock: FileLock | None = None

    @classmethod
    def read(cls, path: Path, *, texts: Texts | None = None) -> Self:
        """Return what a ledger says; a missing file says nothing. Needs neither a lock nor a folder that can be written to.

        With the `texts` of a dataset, what was rated of other texts than these counts as not rated (see `Tally.changed`).
        """
        ledger = cls(path, texts=texts)
        ledger._load()
        if ledger._end.torn:
            ledger.notes += (f"{path}: the last line is not whole ({ledger._end.torn} bytes) and is left out",)
        return ledger

    @classmethod
    def open(cls, path: Path, clock: Now = now, *, texts: Texts | None = None) -> Self:
        """Return a ledger that can be appended to, made if missing and locked against a second writer until it is closed.

        `texts` are those of the dataset, as in `read`. A torn last line is cut off, with a note. Raises `UsageError` where it
        is locked or cannot be written to, `DataError` where it was changed by hand.
        """
        ledger = cls(path, clock, texts=texts)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            ledger._lock = FileLock(path.with_name(f".{path.name}.lock"), timeout=0)
            ledger._lock.acquire()
            ledger._load()
            ledger._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o666)
            ledger._mend()
        except Timeout:
            raise UsageError(f"{path}: another process is writing to it; wait until it is done, or stop it") from None
        except OSError as error:
            ledger.close()
            raise UsageError(
                f"{path}: cannot be written ({error.strerror or error}); choose a folder that can, with --data"
            ) from error
        except BaseException:
            ledger.close()
            raise
        return ledger

    def __enter__(self) -> Self:
        return self

    def __exit__(self, _kind: type[BaseException] | None, _error: BaseException | None, _trace: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """Write what is held back, and let go of file and lock; doing so twice is harmless."""
        try:
            if self._file is not None and self._held:
                self.store(self.stage([]))
        finally:
            if self._file is not None:
                os.close(self._file)
                self._file = None
            if self._lock is not None:
                self._lock.release()
                self._lock = None

    @property
    def anchor(self) -> Anchor:
        """What pins all that the ledger says: it tells the ledger from any other, a shorter or longer one included."""
        return Anchor(self._end.chain, self._end.lines, self._end.digest.hexdigest())

    @property
    def reached(self) -> HighWaterMark:
        """How far the ledger has got on the disk."""
        return HighWaterMark(self._end.offset, self._end.chain)

    def continues(self, earlier: HighWaterMark) -> bool:
        """Return whether this ledger once ended there, and nothing before is gone or another since."""
        if not 0 < earlier.size <= self._end.offset:
            return earlier.size == 0
        with self.path.open("rb") as file:
            file.seek(max(0, earlier.size - LAST))
            return file.read(min(earlier.size, LAST)).rstrip(b"\n").endswith(f'{earlier.last}"}}'.encode())

    def lost(self) -> HighWaterMark | None:
        """Return how far it was noted to have got, where it does not go on from there; else None."""
        known = high_water_mark.read(high_water_mark.path(self.path))
        return None if known is None or self.continues(known) else known

    def remember(self) -> None:
        """Note beside the ledger how far it has got, unless it does not go on from where it was noted to have got before."""
        if self.lost() is None:
            high_water_mark.write(high_water_mark.path(self.path), self.reached)

    def seal(self, judge_id: str) -> SealEntry | None:
        """Return the seal in force for a judge, None where it has none yet."""
        return self._seals.get(judge_id)

    def judges(self) -> tuple[str, ...]:
        """Return the judges in the order in which they were first sealed."""
        return tuple(self._seals)

    def tally(self, judge_id: str) -> Tally:
        """Return what is known of a judge, as it stands: later lines change it. An unknown judge has an empty one."""
        return self._tallies.get(judge_id) or self._tallies.setdefault(judge_id, Tally())

    def ratings(self, judge_id: str) -> dict[PairKey, int]:
        """Return the first rating of every pair that a judge rated."""
        return dict(self.tally(judge_id).ratings)

    def failed(self, judge_id: str) -> dict[PairKey, str]:
        """Return the pairs that were given up, each with its reason."""
        return dict(self.tally(judge_id).failed)

    def totals(self, judge_id: str) -> Totals:
        """Return the sums over a judge's replies, those that could not be used included."""
        return self.tally(judge_id).totals

    def add(self, *added: Record) -> list[Reading | None]:
        """Append records and wait until they are on the disk; returns the reading of each that is a reply.

        Raises `Stopped` where the disk takes no more, and then nothing of these records is left in the file.
        """
        staged = self.stage(added)
        self.store(staged)
        return self.settle(staged)[-len(added) :] if added else []

    def transcribe(self, groups: Iterable[Sequence[Record]]) -> None:
        """Append another ledger's lines as they are, with their times, but for readings: these are made anew by today's rules.

        Where the rules are those that read it before, the copy is the same file, byte for byte. Each group is written at once;
        raises as `add` does, and `KeyError` for a reading whose reply did not come before it.
        """
        fresh: dict[int, Record] = {}
        for group in groups:
            lines = []
            for record in group:
                if record["kind"] == "reading":
                    lines.append(fresh.pop(record["number"]))
                    continue
                lines.append(record)
                self._take(record)
                if record["kind"] == "reply":
                    self._number = record["number"]
                    fresh[self._number] = self._held.pop()
            self.store(lines)
        self._held += fresh.values()

    def stage(self, added: Iterable[Record]) -> list[Record]:
        """Return records ready to be stored: behind the readings that were held back, with time, and replies numbered."""
        staged, self._held = self._held, []
        for record in added:
            if record["kind"] == "reply":
                self._number += 1
                record = record | {"number": self._number}
            staged.append({"kind": record["kind"], "time": self._now()} | self._bound(record))
        return staged

    def _bound(self, record: Record) -> Record:
        """Return a record with the texts that it is about, where whoever made it could not know them."""
        if record["kind"] == "failure" and self.texts is not None and "texts" not in record:
            shown = self.texts.shown(*record["pair"])
            return record if shown is None else record | {"texts": list(shown)}
        if "custom_id" in record:
            # A job's reply is to what was uploaded, which the dataset may not hold any more.
            sent = self.tally(record["judge_id"]).jobs[record["file"]].batches[record["custom_id"]]
            return record | {"sent": [list(entry) for entry in sent]}
        return record

    def store(self, staged: Sequence[Record]) -> None:
        """Write records with one write and one fsync; to be called by one thread at a time.

        Raises `Stopped` where the disk takes no more; the file then ends where it ended before.
        """
        if self._file is None:
            raise Stopped(f"{self.path}: closed after an error; run the command again")
        end = self._end
        last = end.chain
        lines = []
        for record in staged:
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
        self._end = End(last, end.lines + len(lines), end.offset + len(content), digest=end.digest)

    def settle(self, stored: Sequence[Record]) -> list[Reading | None]:
        """Take in records that are on the disk, and return the reading of each that is a reply; readings are held back."""
        return [self._take(record) for record in stored if record["kind"] != "reading"]

    def _take(self, record: Record) -> Reading | None:
        match record["kind"]:
            case "reply":
                return self._read(record)
            case "failure":
                self._give_up(record)
            case "discarded":
                self._spend(record)
            case "seal" | "reseal":
                seal = entries.seal_of(record)
                self.history += (seal,)
                self._seals[seal.judge_id] = seal
                self._scales[seal.judge_id] = seal.scale_values
                self.tally(seal.judge_id)
            case "upload" | "job" | "job-end":
                self._job(record)
            case kind:
                raise KeyError(f"kind {kind!r}")
        return None

    def _give_up(self, record: Record) -> None:
        search_id, function_id = record["pair"]
        if not self._is_changed(search_id, function_id, shown=record.get("texts", ())):
            self.tally(record["judge_id"]).give_up((search_id, function_id), record["reason"])

    def _is_changed(self, search_id: str, function_id: str, *, shown: Sequence[str]) -> bool:
        """Return whether a pair's texts are others now than those shown (none in ledgers of older releases)."""
        if self.texts is None or not shown:
            return False
        return self.texts.change(search_id, function_id, shown=(shown[0], shown[1])) is not None

    def _read(self, reply: Record) -> Reading:
        """Read a reply with today's rules, take in the result, and hold its reading back."""
        sent = reply["sent"]
        scale_values = self._scales[reply["judge_id"]]
        reading = replies.reconcile(
            [entry[0] for entry in sent], reply["raw"], scale_values=scale_values, finish_reason=reply["finish_reason"]
        )
        record = entries.reading(reply["number"], reading)
        self._spend(reply)
        self._note(reply, record)
        self._held.append(record)
        return reading

    def _spend(self, reply: Record) -> None:
        usage = reply["usage"]
        models = self.tally(reply["judge_id"]).models
        models[reply["model"]] = models.get(reply["model"], 0) + 1
        self.tally(reply["judge_id"]).spend(
            len(reply["sent"]),
            (usage["prompt"], usage["cached"], usage["completion"]),
            cost=reply["cost"],
            redacted=reply.get("redacted", 0),
        )

        if "custom_id" in reply:
            self.tally(reply["judge_id"]).jobs[reply["file"]].stored.add(reply["custom_id"])

    def _job(self, record: Record) -> None:
        jobs = self.tally(record["judge_id"]).jobs
        file = record["file"]
        if record["kind"] == "upload":
            batches = {key: [tuple(entry) for entry in sent] for key, sent in record["batches"].items()}
            jobs[file] = Job(file, record["purpose"], record["size"], batches)
        elif record["kind"] == "job":
            jobs[file].job = record["job"]
        else:
            del jobs[file]

    def _note(self, reply: Record, reading: Record) -> None:
        share = self._ids.setdefault
        sent = [
            (entry_id, share(search, search), share(function, function), *shown)
            for entry_id, search, function, *shown in reply["sent"]
        ]
        self.tally(reply["judge_id"]).take(
            reply["number"],
            reply["purpose"],
            sent=sent,
            ratings=reading["ratings"],
            faults=reading["faults"],
            texts=self.texts,
        )

    def _load(self) -> None:
        try:
            file = self.path.open("rb", buffering=1 << 20)
        except FileNotFoundError:
            return
        with file:
            try:
                for record in chain.scan(file, self.path, end=self._end):
                    self._load_one(record)
                for number in sorted(self._unread):
                    self._read(self._unread.pop(number))
            except (KeyError, TypeError, ValueError) as error:
                raise DataError(
                    f"{self.path}:{self._end.lines}: not a line of this version ({error}); use the version that wrote it"
                ) from error

    def _load_one(self, record: Record) -> None:
        kind = record["kind"]
        if kind == "reply":
            self._number = record["number"]
            self._unread[self._number] = record
        elif kind == "reading":
            reply = self._unread.pop(record["number"])
            if record["parser"] == replies.PARSER:
                self._spend(reply)
                self._note(reply, record)
            else:
                self._read(reply)
                self._held.pop()
        else:
            self._take(record)

    def _mend(self) -> None:
        """Make the file end with a whole line, and give every reply its reading, before anything is appended."""
        if self._file is None:
            return
        if self._end.torn:
            os.ftruncate(self._file, self._end.offset)
            self.notes += (
                f"{self.path}:{self._end.lines + 1}: the last line was not whole; its {self._end.torn} bytes are cut off, and "
                "what they held will be asked for again",
            )
            self._end.torn = 0
        if self._end.bare:
            os.write(self._file, b"\n")
            self._end.offset += 1
            self._end.digest.update(b"\n")
            self._end.bare = False
            self.notes += (f"{self.path}:{self._end.lines}: the last line was whole but for its line end, which is put there",)
        if self._held:
            self.store(self.stage([]))

    def _withdraw(self) -> None:
        """After an error, cut off what may have been written of a group, and close: what the disk then holds is not known."""
        file, self._file = self._file, None
        if file is None:
            return
        try:
            os.ftruncate(file, self._end.offset)
            os.fsync(file)
        except OSError as error:
            self.notes += (f"{self.path}: its end could not be cut off ({error.strerror}); the next opening does",)
        finally:
            os.close(file)
