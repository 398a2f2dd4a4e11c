"""Live requests: workers that put one batch after another to a judge, and a ledger written in groups meanwhile."""

import asyncio
from typing import Protocol, runtime_checkable

from judge._batching.batches import Batch
from judge._endpoint.answer import Answer, Unfit, Usage
from judge._endpoint.pace import Drained
from judge._judges.identity import Identity
from judge._ledger.entries import Record
from judge._ledger.group_commit import GroupCommit
from judge._ledger.ledger import Ledger
from judge._rating.course import Course, Reply
from judge._reading.replies import Reading
from pools.errors import Stopped


class Judge(Protocol):
    """Whoever rates: an LLM behind a client, or the baseline."""

    identity: Identity

    async def answer(self, batch: Batch) -> Answer:
        """Return the reply to a batch as text; raises `Unfit` where only fewer pairs could be answered."""


@runtime_checkable
class Drainable(Protocol):
    """A judge that repeats requests by itself, until it is told not to."""

    def drain(self) -> None:
        """Send nothing new; `answer` raises `Drained` where it would have to."""


class Live:
    """A transport of as many requests at a time as the task's `concurrency` says."""

    def __init__(self, judge: Judge, ledger: Ledger) -> None:
        self.judge_id = judge.identity.judge_id
        self._judge = judge
        self._commits = GroupCommit(ledger)
        self._workers: list[asyncio.Task[None]] = []

    async def work(self, course: Course) -> None:
        """Work until nothing is left, or until the course is ended; nothing that came back is left unwritten."""
        async with self._commits:
            await course.begin()
            self._workers = [asyncio.create_task(self._ask(course)) for _ in range(course.task.settings.concurrency)]
            await asyncio.gather(*self._workers, return_exceptions=True)

    async def keep(self, record: Record) -> Reading | None:
        """Write a record with all others that wait to be written."""
        return await self._commits.put(record)

    def estimate(self, _batch: Batch) -> Usage | None:
        """Return None: what a request costs is known when it was answered."""

    async def _ask(self, course: Course) -> None:
        try:
            while (batch := await course.next()) is not None:
                await course.take(Reply(batch, await self._answer(batch)))
        except Exception as error:  # noqa: BLE001  the others' replies are paid for: they come back before it is raised
            self._end(course, error, at_once=self._commits.broken)

    async def _answer(self, batch: Batch) -> Answer | Unfit | None:
        try:
            return await self._judge.answer(batch)
        except Unfit as unfit:
            return unfit
        except Drained:
            return None

    def _end(self, course: Course, error: Exception, *, at_once: bool = False) -> None:
        """End the course: nothing new is sent, and what is in flight comes back first, unless it is to end at once."""
        course.end(error)
        if isinstance(self._judge, Drainable):
            self._judge.drain()
        if at_once:
            for worker in self._workers:
                worker.cancel()

    def interrupt(self, course: Course) -> None:
        """Let what is in flight come back, the first time; stop at once the second time."""
        if isinstance(course.end_reason, Stopped):
            self._end(course, course.end_reason, at_once=True)
            return
        course.note(f"finishing {course.out} requests in flight; Ctrl-C again stops at once")
        self._end(course, Stopped("interrupted; the same command goes on from here"))
