"""The course of a rating: batches handed out within the limits, their replies taken in, until nothing is left or it is ended.

How batches get to a judge and replies back is a transport's business: live requests (`judge._rating.live`), or jobs of the
endpoint's batch interface (`judge._rating.jobs`). Everything else is here, once: what the ledger gets and in which order, the
limits, the alarm that the canaries raise, what is told while it goes on, interrupts, and how it ends. A rating that is ended
lets what is out come back, because it is paid for, and repeats nothing; only a second interrupt or a disk that takes no more
gives that up.
"""

import asyncio
import signal
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol

from judge._batching.batches import Batch
from judge._endpoint.answer import Answer, Unfit, Usage
from judge._ledger import entries
from judge._ledger.entries import Record
from judge._ledger.ledger import Ledger
from judge._ledger.tally import Purpose
from judge._rating import money
from judge._rating.agenda import Agenda, GivenUp
from judge._rating.controls import Watcher
from judge._rating.money import Spent
from judge._rating.task import SILENT, Outcome, Progress, Reports, Task
from judge._reading.replies import Reading
from pools.errors import Stopped, UsageError


@dataclass(frozen=True, slots=True)
class Reply:
    """What came of a batch: an answer, `Unfit` where only fewer pairs could be answered, None where it is to be asked again.

    `purpose` is None where it is the task's; `source` is what the ledger's line says of where the reply came from. Replies to
    what an `earlier` call asked were never handed out by this one.
    """

    batch: Batch
    answer: Answer | Unfit | None
    purpose: Purpose | None = None
    source: dict[str, str] = field(default_factory=dict)
    earlier: bool = False


class Transport(Protocol):
    """A way to have batches judged. One is used once, for one course."""

    @property
    def judge_id(self) -> str:
        """The judge that the batches are put to."""

    async def work(self, course: "Course") -> None:
        """Bring in what earlier calls asked, `begin`, then have batches judged until the course hands out no more.

        Returns, too, when the course is ended and what is out has come back. What it raises ends the course at once.
        """

    async def keep(self, record: Record) -> Reading | None:
        """Append a record to the ledger, and return when it is on the disk: a reply's reading, None for other records.

        A record whose caller is cancelled is written all the same. Raises `Stopped` where the disk takes no more.
        """

    def estimate(self, batch: Batch) -> Usage | None:
        """Return the tokens that a batch can be expected to take, None where only the replies so far tell what it may cost."""

    def interrupt(self, course: "Course") -> None:
        """Do what Ctrl-C asks for."""


class Course:
    """One task on its way, as its transport sees it."""

    def __init__(self, task: Task, transport: Transport, *, ledger: Ledger, reports: Reports) -> None:
        self.task, self.note = task, reports.note
        self.tally = ledger.tally(transport.judge_id)
        self.end_reason: Exception | None = None
        self._transport, self._progress = transport, reports.progress
        self._agenda = Agenda(task, self.tally)
        controls = task.controls
        self._watcher = None if controls is None else Watcher(self.tally, controls.experts, controls.relevant_from)
        self._spent = Spent()
        self._reserved = 0.0
        self._failed = 0
        self._begun = False
        self._changed = asyncio.Event()

    @property
    def out(self) -> int:
        """Batches that were handed out and have not come back."""
        return self._agenda.out

    async def begin(self) -> None:
        """Plan what is left, once the replies to what earlier calls asked are in; nothing is handed out before."""
        exhausted = self._agenda.begin()
        self._failed = sum(1 for item in self.task.items if item.pair in self.tally.failed)
        self._begun = True
        await self._give_up(exhausted)

    async def next(self) -> Batch | None:
        """Hand out a batch; waits while that depends on what is out. None when no more will come."""
        while self.end_reason is None:
            batch = self.ready()
            if batch is not None:
                return batch
            if not self.out:
                # The last one out wakes the others, which find the same.
                self._changed.set()
                return None
            self._changed.clear()
            await self._changed.wait()
        return None

    def ready(self, *, together: bool = False) -> Batch | None:
        """Hand out a batch, if there is one that may be asked now; ends the course where a limit forbids it for good.

        With `together`, all that is handed out before the next reply goes to the judge as one.
        """
        batch = None if self.end_reason is not None else self._agenda.next(together=together)
        if batch is None:
            return None
        refused = self._refused(batch)
        if refused is None:
            self._spent.sent += 1
            return batch
        self._agenda.put_back(batch)
        if not self.out:
            self.end(Stopped(refused))
        return None

    def _refused(self, batch: Batch) -> str | None:
        """Say why the limits do not allow a batch beside those that are out; it may be otherwise when these have come back."""
        limits, spent, others = self.task.limits, self._spent, self.out - 1
        if limits.requests is not None and spent.sent >= limits.requests:
            return limits.requests_reached
        if limits.cost is None:
            return None
        if limits.cost <= 0:
            return "nothing is left to spend (--max-cost); the same command with more goes on from here"
        total = spent.total(self.task.prices)
        if total is None:
            return "the endpoint does not tell what it costs; set [prices] in judge.toml to use --max-cost"
        expected = self._transport.estimate(batch)
        if expected is not None:
            estimate = money.cost(expected, self.task.prices)
            self._reserved = self._reserved if others else 0.0
        else:
            if not spent.requests:
                return "the first reply tells what the others may cost" if others else None
            estimate = total / spent.requests
            self._reserved = others * estimate
        if total + self._reserved + estimate >= limits.cost:
            return (
                f"${total:.4f} of ${limits.cost:g} are spent (--max-cost), and the next batch is estimated at ${estimate:.4f}; "
                "the same command with more goes on"
            )
        self._reserved += estimate
        return None

    async def take(self, reply: Reply) -> None:
        """Take in what came of a batch: write it down, tell of it, and see to what it left open."""
        try:
            await self._take(reply)
        finally:
            if not reply.earlier:
                self._agenda.out -= 1
            self._changed.set()

    async def _take(self, reply: Reply) -> None:
        batch, answer, earlier = reply.batch, reply.answer, reply.earlier
        judge_id, purpose = self._transport.judge_id, reply.purpose or self.task.purpose
        if answer is None:
            self._agenda.lost(batch, earlier=earlier)
            return
        if isinstance(answer, Unfit):
            if answer.answer is not None:
                self._spent.add(len(batch.entries), answer.answer)
                record = entries.discarded(judge_id, purpose, batch=batch, answer=answer.answer, reason=answer.reason)
                await self._transport.keep(record | reply.source)
            await self._give_up(self._agenda.unfit(batch, answer.reason, earlier=earlier))
            return
        # From here to the queue of the ledger nothing is awaited, so that a reply that came back cannot get lost.
        self._spent.add(len(batch.entries), answer)
        before = len(self._agenda.unrated(batch))
        record = entries.reply(judge_id, purpose, batch=batch, answer=answer)
        reading = await self._transport.keep(record | reply.source if reply.source else record)
        self._agenda.left -= before - len(self._agenda.unrated(batch))
        self._tell()
        self._watch()
        if reading is not None:
            await self._give_up(self._agenda.read(batch, reading, earlier=earlier))

    async def _give_up(self, given_up: GivenUp) -> None:
        for pair, reason in given_up:
            await self._transport.keep(entries.failure(self._transport.judge_id, pair, reason=reason))
            self._failed += 1
            self._agenda.left -= 1
            self._tell()

    def _watch(self) -> None:
        """Raise the alarm, once, when the agreement on canaries has fallen below the gate's."""
        if self._watcher is not None and (alarm := self._watcher.alarm()) is not None:
            self.note(alarm)

    def _tell(self) -> None:
        if not self._begun:
            return
        spent, total = self._spent, len(self.task.items)
        cost = spent.total(self.task.prices)
        self._progress(Progress(total - self._agenda.left, total, self._failed, spent.requests, spent.usage, cost))

    def end(self, error: Exception) -> None:
        """Hand out nothing more; what is out is seen through to its replies, and then the error is raised."""
        self.end_reason = self.end_reason or error
        self._changed.set()

    def outcome(self) -> Outcome:
        """Return how it ended; raises what ended it before all was done."""
        if self.end_reason is not None:
            raise self.end_reason
        if not self._agenda.complete:
            raise Stopped(self.task.limits.pairs_reached)
        tally, items, spent = self.tally, self.task.items, self._spent
        failed = {item.pair: tally.failed[item.pair] for item in items if item.pair in tally.failed}
        rated = sum(1 for item in items if item.pair in tally.ratings)
        return Outcome(rated, failed, spent.requests, spent.pairs, spent.usage, spent.total(self.task.prices))


async def run(task: Task, transport: Transport, *, ledger: Ledger, reports: Reports = SILENT) -> Outcome:
    """Have every pair of a task rated that the ledger has no rating of by this judge, and has not given up.

    Raises `Stopped` when a limit, the endpoint, the disk or an interrupt ends it before all is done: everything answered is in
    the ledger then, and the same call resumes. Raises `UsageError` where the ledger holds no seal of this judge.
    """
    if transport.judge_id not in ledger.judges():
        raise UsageError(f"{ledger.path}: judge {transport.judge_id} is not sealed; seal it before its first rating")
    course = Course(task, transport, ledger=ledger, reports=reports)
    remove = _listen(lambda: transport.interrupt(course))
    try:
        await transport.work(course)
    finally:
        remove()
    return course.outcome()


def _listen(interrupt: Callable[[], None]) -> Callable[[], object]:
    """Have Ctrl-C call a function; returns what undoes that."""
    if threading.current_thread() is not threading.main_thread():
        return lambda: None
    loop = asyncio.get_running_loop()
    loop.add_signal_handler(signal.SIGINT, interrupt)
    return lambda: loop.remove_signal_handler(signal.SIGINT)
