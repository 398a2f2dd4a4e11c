"""The pace that all workers share: how many requests are in flight, and how long all of them hold back after a fault.

One worker's 429 slows the others before they meet their own. A wait doubles with each fault that comes without an answer in
between, and has jitter, so that the workers do not come back as one; what the endpoint asks for (Retry-After) is a floor
under it. The number in flight falls by a third at an overload and climbs by one for each round of answers. Faults of requests
that were on their way when the others were already told to wait are the same burst, and change nothing more.
"""

import asyncio
import random
import time
from collections import deque
from typing import Protocol

from tenacity import RetryCallState, Retrying, wait_exponential

FIRST_WAIT = 0.5
LONGEST_WAIT = 60.0
FALL = 0.7
_growing = wait_exponential(FIRST_WAIT, LONGEST_WAIT)


class Clock(Protocol):
    """Where time comes from, so that a test need not wait for it to pass."""

    def monotonic(self) -> float:
        """Seconds from some moment on."""

    def unix(self) -> float:
        """Seconds since 1970."""

    async def wait(self, event: asyncio.Event, seconds: float, /) -> None:
        """Return when the event is set, and after these seconds at the latest."""


class SystemClock:
    """Time as it is."""

    def monotonic(self) -> float:
        return time.monotonic()

    def unix(self) -> float:
        return time.time()

    async def wait(self, event: asyncio.Event, seconds: float) -> None:
        try:
            async with asyncio.timeout(seconds):
                await event.wait()
        except TimeoutError:
            pass


class Drained(Exception):
    """The run is being ended: nothing new is sent, and what failed is not tried again."""


class Pace:
    """Slots for requests; `enter` before each and `leave` after it, with a word on how it went in between."""

    def __init__(self, concurrency: int, clock: Clock, *, rng: random.Random) -> None:
        self.answers = 0
        self.faults = RetryCallState(Retrying(), None, (), {})
        self.faults.attempt_number = 0
        self._most = concurrency
        self._limit = float(concurrency)
        self._active = 0
        self._queue: deque[asyncio.Future[None]] = deque()
        self._clock = clock
        self._rng = rng
        self._resume = 0.0
        self._told = float("-inf")
        self._draining = asyncio.Event()

    @property
    def streak(self) -> int:
        """Faults in a row, of whichever request, those of one burst counted once.

        They are `faults`' attempts, so that what stops and waits in tenacity's words can be asked of them.
        """
        return self.faults.attempt_number

    @property
    def limit(self) -> int:
        """Requests that may be in flight now, at least 1."""
        return int(self._limit)

    async def enter(self) -> float:
        """Wait for a slot, in turn, and for the end of a shared wait; returns the time. Raises `Drained` once drained."""
        while True:
            await self._slot()
            try:
                now = await self._resumed()
            except BaseException:
                self.leave()
                raise
            if self._active <= self.limit:
                return now
            self.leave()

    def leave(self) -> None:
        """Give the slot back, to whoever has waited longest."""
        self._active -= 1
        while self._queue and self._active < self.limit:
            turn = self._queue.popleft()
            if not turn.done():
                self._active += 1
                turn.set_result(None)

    async def _slot(self) -> None:
        if self._draining.is_set():
            raise Drained
        if not self._queue and self._active < self.limit:
            self._active += 1
            return
        turn = asyncio.get_running_loop().create_future()
        self._queue.append(turn)
        try:
            await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():
                self.leave()
            raise

    async def _resumed(self) -> float:
        while (left := self._resume - (now := self._clock.monotonic())) > 0:
            await self._clock.wait(self._draining, left + self._rng.uniform(0, min(left, 1) / 10))
            if self._draining.is_set():
                raise Drained
        return now

    def answered(self) -> None:
        """Note an answer: waits start small again, and one request more is let in for each round of answers."""
        self.answers += 1
        self.faults.attempt_number = 0
        if self._limit < self._most:
            self._limit = min(self._most, self._limit + 1 / self._limit)

    def failed(self, started: float, retry_after: float | None, *, overloaded: bool) -> None:
        """Note a fault of a request that started at that time, and make everyone wait.

        `retry_after` is in seconds, None where the endpoint did not say; `overloaded` also takes slots away.
        """
        now = self._clock.monotonic()
        wait = 0.0
        if started >= self._told:
            self.faults.attempt_number += 1
            self._told = now
            wait = _growing(self.faults) * self._rng.uniform(0.5, 1)
            if overloaded:
                self._limit = max(1.0, self._limit * FALL)
        self._resume = max(self._resume, now + max(wait, retry_after or 0.0))

    def drain(self) -> None:
        """Let nobody in any more; whoever waits gets `Drained`."""
        self._draining.set()
        while self._queue:
            turn = self._queue.popleft()
            if not turn.done():
                turn.set_exception(Drained())
