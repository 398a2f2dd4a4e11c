"""The ledger: every reply of a judge as it came, what was read from it, and under which seal, in one append-only file.

A line counts once it is on the disk. Lines are written in groups, each with one write and one fsync; a reading, which can
be made again from its reply, waits for the next group. Writing (`store`) and taking in (`take`) are apart, because the one
blocks and runs in a thread of its own, while the other changes what the running program sees. All that is known of a judge
is in its `Tally`.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Self

from judge._ledger import chain, entries
from judge._ledger.anchor import Anchor
from judge._ledger.chain import End
from judge._ledger.chained_file import ChainedFile
from judge._ledger.entries import Record, SealEntry
from judge._ledger.high_water_mark import HighWaterMark
from judge._ledger.tally import Job, Tally, Totals
from judge._ledger.texts import Texts
from judge._reading import replies
from judge._reading.replies import Reading
from pools._dataset.records import PairKey
from pools.errors import DataError

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
        self._lines = ChainedFile(path)
        self.history: tuple[SealEntry, ...] = ()
        self._now = clock
        self._tallies: dict[str, Tally] = {}
        self._seals: dict[str, SealEntry] = {}
        self._scales: dict[str, frozenset[int]] = {}
        self._ids: dict[str, str] = {}
        self._unread: dict[int, Record] = {}
        self._held: list[Record] = []
        self._number = 0

    @classmethod
    def read(cls, path: Path, *, texts: Texts | None = None) -> Self:
        """Return what a ledger says; a missing file says nothing. Needs neither a lock nor a folder that can be written to.

        With the `texts` of a dataset, what was rated of other texts than these counts as not rated (see `Tally.changed`).
        """
        ledger = cls(path, texts=texts)
        ledger._load()
        return ledger

    @classmethod
    def open(cls, path: Path, clock: Now = now, *, texts: Texts | None = None) -> Self:
        """Return a ledger that can be appended to, made if missing and locked against a second writer until it is closed.

        `texts` are those of the dataset, as in `read`. A torn last line is cut off, with a note. Raises `UsageError` where it
        is locked or cannot be written to, `DataError` where it was changed by hand.
        """
        ledger = cls(path, clock, texts=texts)
        try:
            ledger._lines.lock()
            ledger._load()
            ledger._lines.open()
            # Every reply gets its reading before anything is appended.
            if ledger._held:
                ledger.store(ledger.stage([]))
        except BaseException:
            ledger._lines.close()
            raise
        return ledger

    def __enter__(self) -> Self:
        return self

    def __exit__(self, _kind: type[BaseException] | None, _error: BaseException | None, _trace: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """Write what is held back, and let go of file and lock; doing so twice is harmless."""
        try:
            if self._lines.is_open and self._held:
                self.store(self.stage([]))
        finally:
            self._lines.close()

    @property
    def notes(self) -> tuple[str, ...]:
        """What was found wrong with the end of the file, and what was done about it, a line each."""
        torn = self._lines.end.torn
        left_out = f"{self.path}: the last line is not whole ({torn} bytes) and is left out"
        return (*self._lines.notes, left_out) if torn else self._lines.notes

    @property
    def anchor(self) -> Anchor:
        """What pins all that the ledger says: it tells the ledger from any other, a shorter or longer one included."""
        return self._lines.anchor

    @property
    def reached(self) -> HighWaterMark:
        """How far the ledger has got on the disk."""
        return self._lines.reached

    def continues(self, earlier: HighWaterMark) -> bool:
        """Return whether this ledger once ended there, and nothing before is gone or another since."""
        return self._lines.continues(earlier)

    def lost(self) -> HighWaterMark | None:
        """Return how far it was noted to have got, where it does not go on from there; else None."""
        return self._lines.lost()

    def remember(self) -> None:
        """Note beside the ledger how far it has got, unless it does not go on from where it was noted to have got before."""
        self._lines.remember()

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
        self._lines.append(staged)

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
            for record in self._lines.records():
                self._load_one(record)
            for number in sorted(self._unread):
                self._read(self._unread.pop(number))
        except (KeyError, TypeError, ValueError) as error:
            raise DataError(
                f"{self.path}:{self._lines.end.lines}: not a line of this version ({error}); use the version that wrote it"
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
