"""Group commit: records of many workers on their way to the disk, one write and one fsync for all that wait at a time.

Whoever puts a record may be cancelled while waiting; the record is written all the same. The disk is waited for in a thread
of its own, so that requests go on meanwhile.
"""

import asyncio
from concurrent.futures import ThreadPoolExecutor
from types import TracebackType
from typing import Self

from judge._ledger.entries import Record
from judge._ledger.ledger import Ledger
from judge._reading.replies import Reading
from pools.errors import Stopped

Waiting = list[tuple[Record, "asyncio.Future[Reading | None]"]]


class GroupCommit:
    """The only writer to a ledger while it is entered; an asynchronous context manager that leaves nothing unwritten."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._waiting: Waiting = []
        self._writing: asyncio.Task[None] | None = None
        self._thread = ThreadPoolExecutor(1, "ledger")
        self._error: Stopped | None = None

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, _kind: type[BaseException] | None, _error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        if self._writing is not None:
            await self._writing
        self._thread.shutdown()

    @property
    def broken(self) -> bool:
        """Whether the disk has refused a group, after which it gets no other."""
        return self._error is not None

    def put(self, record: Record) -> "asyncio.Future[Reading | None]":
        """Queue a record; the future holds the reading of a reply once it is on the disk, or `Stopped` if it never will be."""
        future: asyncio.Future[Reading | None] = asyncio.get_running_loop().create_future()
        if self._error is not None:
            future.set_exception(self._error)
            return future
        self._waiting.append((record, future))
        if self._writing is None:
            self._writing = asyncio.create_task(self._write())
        return future

    async def _write(self) -> None:
        loop = asyncio.get_running_loop()
        group: Waiting = []
        try:
            while self._waiting:
                group, self._waiting = self._waiting, []
                staged = self._ledger.stage(record for record, _ in group)
                await loop.run_in_executor(self._thread, self._ledger.store, staged)
                for (_, future), reading in zip(group, self._ledger.settle(staged), strict=True):
                    if not future.done():
                        future.set_result(reading)
        except Stopped as error:
            self._error = error
            for _, future in group + self._waiting:
                if not future.done():
                    future.set_exception(error)
            self._waiting = []
        finally:
            self._writing = None
