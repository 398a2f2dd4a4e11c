"""A run: pairs become batches, workers have them judged, every reply goes to the ledger, and what is open is asked again.

What to do with a reply follows from its reading alone. Pairs that a reply left unrated, while it rated others, wait for other
such stragglers and are asked together, up to `attempts`. A batch that cannot be answered, or in which nothing was rated, is
halved, so that a pair that spoils it for the others ends up alone. A run that is stopped lets what is in flight come back,
because it is paid for, and repeats nothing; only a second interrupt or a disk that takes no more gives it up.
"""

import asyncio
import signal
import threading
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Protocol, runtime_checkable

from judge.batching import batches
from judge.batching.batches import Batch, Item
from judge.endpoint.answer import NOTHING, Answer, Unfit, Usage
from judge.endpoint.pace import Drained
from judge.judges.identity import Identity
from judge.ledger import entries
from judge.ledger.group_commit import GroupCommit
from judge.ledger.ledger import Ledger
from judge.ledger.tally import Purpose, Tally
from judge.rating.controls import Controls, Hider, Watcher, retests
from judge.rating.money import NO_LIMITS, Limits, Spent
from judge.reading.replies import Reading
from pools.dataset.records import PairKey
from pools.dataset.settings import JudgeSettings, PriceSettings
from pools.errors import Stopped, UsageError


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


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a run is: pairs done (rated or given up, earlier runs included) of all, and what this run has used.

    `cost` is in US dollars, None where neither the endpoint nor judge.toml tells it.
    """

    done: int
    total: int
    failed: int
    requests: int
    usage: Usage
    cost: float | None


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a run ended: pairs rated, earlier runs included, those given up with the reason, and what this run has used."""

    rated: int
    failed: Mapping[PairKey, str]
    requests: int = 0
    pairs: int = 0
    usage: Usage = NOTHING
    cost: float | None = 0.0


def _ignore(_: object) -> None:
    pass


async def rate(
    items: Sequence[Item],
    purpose: Purpose,
    *,
    judge: Judge,
    ledger: Ledger,
    settings: JudgeSettings,
    seed: int,
    progress: Callable[[Progress], None] = _ignore,
    limits: Limits = NO_LIMITS,
    prices: PriceSettings = PriceSettings(),  # noqa: B008  frozen
    note: Callable[[str], None] = _ignore,
    controls: Controls | None = None,
) -> Outcome:
    """Have every pair rated that the ledger has no rating of by this judge, and has not given up.

    With `controls`, expert-rated pairs are hidden among them, and when all are done a share of them is rated once more.

    `progress` is told after each reply that is on the disk, `note` what a person should know at once. Raises `Stopped` when a
    limit, the endpoint, the disk or an interrupt ends the run before all is done: everything answered is in the ledger then,
    and the same call resumes. Raises `UsageError` where the ledger holds no seal of this judge.
    """
    judge_id = judge.identity.judge_id
    if judge_id not in ledger.judges():
        raise UsageError(f"{ledger.path}: judge {judge_id} is not sealed; seal it before its first rating")
    async with GroupCommit(ledger) as commits:
        run = _Run(
            items,
            purpose,
            judge=judge,
            ledger=ledger,
            commits=commits,
            settings=settings,
            seed=seed,
            limits=limits,
            prices=prices,
            controls=controls,
        )
        run.progress, run.note = progress, note
        return await run.all()


class _Run:
    def __init__(
        self,
        items: Sequence[Item],
        purpose: Purpose,
        *,
        judge: Judge,
        ledger: Ledger,
        commits: GroupCommit,
        settings: JudgeSettings,
        seed: int,
        limits: Limits,
        prices: PriceSettings,
        controls: Controls | None,
    ) -> None:
        self._items, self._purpose, self._judge, self._commits = items, purpose, judge, commits
        self._settings, self._limits, self._prices = settings, limits, prices
        self._judge_id = judge.identity.judge_id
        self._tally: Tally = ledger.tally(self._judge_id)
        self._spent = Spent()
        tally = self._tally
        open_items = [item for item in items if item.pair not in tally.ratings and item.pair not in tally.failed]
        # A run that was killed may have got the last reply to a pair, and not have given it up yet.
        self._exhausted = [item.pair for item in open_items if tally.attempts.get(item.pair, 0) >= settings.attempts]
        open_items = [item for item in open_items if tally.attempts.get(item.pair, 0) < settings.attempts]
        self._seed, self._controls = seed, controls
        self._hider = None if controls is None else Hider(controls, tally, seed)
        self._watcher = None if controls is None else Watcher(tally, controls.experts, controls.relevant_from)
        self._retested = controls is None
        self._planned: Iterator[Batch] = self._plan(open_items, limits.pairs)
        self._open = len(open_items)
        self._left = self._open + len(self._exhausted)
        self._failed = sum(1 for item in items if item.pair in tally.failed)
        self._again: deque[Batch] = deque()
        self._stragglers: list[Item] = []
        self._in_flight = 0
        self._changed = asyncio.Event()
        self._workers: list[asyncio.Task[None]] = []
        self._end: Exception | None = None
        self.progress: Callable[[Progress], None] = _ignore
        self.note: Callable[[str], None] = _ignore

    async def all(self) -> Outcome:
        """Work until nothing is left, or until the run is ended."""
        remove = self._listen()
        try:
            for pair in self._exhausted:
                await self._give_up(pair, f"no rating after {self._tally.attempts[pair]} attempts")
            workers = min(self._settings.concurrency, self._open or len(self._retests()))
            self._workers = [asyncio.create_task(self._work()) for _ in range(workers)]
            await asyncio.gather(*self._workers, return_exceptions=True)
        finally:
            remove()
        if self._end is not None:
            raise self._end
        if not self._complete:
            raise Stopped(self._limits.pairs_reached)
        tally = self._tally
        failed = {item.pair: tally.failed[item.pair] for item in self._items if item.pair in tally.failed}
        spent = self._spent
        return Outcome(
            sum(1 for item in self._items if item.pair in tally.ratings),
            failed,
            spent.requests,
            spent.pairs,
            spent.usage,
            spent.total(self._prices),
        )

    async def _work(self) -> None:
        while (batch := await self._next()) is not None:
            self._in_flight += 1
            try:
                await self._judged(batch)
            except Drained:
                pass
            except Exception as error:  # noqa: BLE001  the others' replies are paid for: they come back before it is raised
                self._finish(error, at_once=self._commits.broken)
            finally:
                self._in_flight -= 1
                self._changed.set()

    async def _next(self) -> Batch | None:
        """Return what is to be asked next; waits while that depends on what is in flight. None when nothing will come."""
        while self._end is None:
            batch = self._choose()
            if batch is not None:
                if self._may_ask():
                    return batch
                self._again.appendleft(batch)
                if self._end is not None:
                    break
            elif not self._in_flight:
                # The last one out wakes the others, which find the same.
                self._changed.set()
                return None
            self._changed.clear()
            await self._changed.wait()
        return None

    def _choose(self) -> Batch | None:
        if self._again:
            return self._again.popleft()
        size = self._settings.pairs_per_batch
        if len(self._stragglers) < size and (batch := next(self._planned, None)) is not None:
            return batch
        if self._stragglers and (len(self._stragglers) >= size or not self._in_flight):
            waiting, self._stragglers = self._stragglers, []
            first, *rest = batches.plan(waiting, len(waiting), settings=self._settings)
            self._again.extend(rest)
            return first
        if not self._in_flight and not self._retested and self._complete:
            self._retested = True
            self._planned = self._plan(self._retests(), None)
            return next(self._planned, None)
        return None

    @property
    def _complete(self) -> bool:
        """Whether all pairs were within the limits."""
        return self._limits.pairs is None or self._open <= self._limits.pairs

    def _plan(self, items: Sequence[Item], most: int | None) -> Iterator[Batch]:
        """Make batches of up to so many of the pairs, with canaries among them if there are any."""
        size = self._settings.pairs_per_batch
        settings = self._settings
        if self._hider is not None:
            settings = replace(settings, pairs_per_batch=self._hider.room(size))
        planned = _within(batches.plan(items, self._seed, settings=settings), most)
        return planned if self._hider is None else self._hider.hide(planned, size)

    def _retests(self) -> list[Item]:
        controls = self._controls
        return [] if controls is None else retests(self._items, controls, tally=self._tally, seed=self._seed)

    def _may_ask(self) -> bool:
        """Say whether another request is within the limits, given what those in flight will use; ends the run if not."""
        limits, spent = self._limits, self._spent
        if limits.requests is not None and spent.sent >= limits.requests:
            self._close(Stopped(limits.requests_reached))
            return False
        if limits.cost is None:
            return True
        if limits.cost <= 0:
            self._close(Stopped("nothing is left to spend (--max-cost); the same command with more goes on from here"))
            return False
        total = spent.total(self._prices)
        if total is None:
            self._close(Stopped("the endpoint does not tell what it costs; set [prices] in judge.toml to use --max-cost"))
            return False
        if not spent.requests and limits.cost > 0:
            return self._in_flight == 0
        if total + (self._in_flight + 1) * total / max(1, spent.requests) < limits.cost:
            return True
        if not self._in_flight:
            self._close(Stopped(f"${total:.4f} of ${limits.cost:g} are spent (--max-cost); the same command with more goes on"))
        return False

    async def _judged(self, batch: Batch) -> None:
        self._spent.sent += 1
        before = len(self._unrated(batch))
        try:
            answer = await self._judge.answer(batch)
        except Unfit as unfit:
            if unfit.answer is not None:
                self._spent.add(len(batch.entries), unfit.answer)
                record = entries.discarded(self._judge_id, self._purpose, batch=batch, answer=unfit.answer, reason=unfit.reason)
                await self._commits.put(record)
            if len(batch.entries) > 1:
                self._halve(self._unrated(batch))
            elif before:
                await self._give_up(batch.items[0].pair, unfit.reason)
            return
        # From here to the queue of the ledger nothing is awaited, so that a reply that came back cannot get lost.
        self._spent.add(len(batch.entries), answer)
        reading = await self._commits.put(entries.reply(self._judge_id, self._purpose, batch=batch, answer=answer))
        self._left -= before - len(self._unrated(batch))
        self._tell()
        self._watch()
        if reading is not None:
            await self._follow_up(batch, reading)

    def _watch(self) -> None:
        """Raise the alarm, once, when the agreement on canaries has fallen below the gate's."""
        if self._watcher is not None and (alarm := self._watcher.alarm()) is not None:
            self.note(alarm)

    async def _follow_up(self, batch: Batch, reading: Reading) -> None:
        """Decide what becomes of the pairs that a reply left without a rating."""
        unrated = self._unrated(batch)
        alone = len(batch.entries) == 1
        if not alone and all(entry.rating is None for entry in reading.entries.values()):
            self._halve(unrated)
            return
        status = {item.pair: reading.entries[entry_id].status for entry_id, item in batch.entries}
        cut = [] if alone else [item for item in unrated if status[item.pair] == "truncated"]
        self._halve(cut)
        for item in unrated:
            attempts = self._tally.attempts.get(item.pair, 0)
            if attempts >= self._settings.attempts:
                await self._give_up(item.pair, f"{status[item.pair]} after {attempts} attempts")
            elif item not in cut:
                self._stragglers.append(item)

    def _unrated(self, batch: Batch) -> list[Item]:
        return [item for item in batch.items if item.pair not in self._tally.ratings]

    def _halve(self, unrated: list[Item]) -> None:
        middle = (len(unrated) + 1) // 2
        self._again.extend(Batch.of(part) for part in (unrated[:middle], unrated[middle:]) if part)

    async def _give_up(self, pair: PairKey, reason: str) -> None:
        await self._commits.put(entries.failure(self._judge_id, pair, reason=reason))
        self._failed += 1
        self._left -= 1
        self._tell()

    def _tell(self) -> None:
        spent, total = self._spent, len(self._items)
        cost = spent.total(self._prices)
        self.progress(Progress(total - self._left, total, self._failed, spent.requests, spent.usage, cost))

    def _finish(self, error: Exception, at_once: bool = False) -> None:
        """End the run: nothing new is sent, and what is in flight comes back first, unless it is to end at once."""
        self._close(error)
        if isinstance(self._judge, Drainable):
            self._judge.drain()
        if at_once:
            for worker in self._workers:
                worker.cancel()

    def _close(self, error: Exception) -> None:
        """Take no further batch, and see those that were taken through to their replies."""
        self._end = self._end or error
        self._changed.set()

    def _interrupt(self) -> None:
        if isinstance(self._end, Stopped):
            self._finish(self._end, at_once=True)
            return
        self.note(f"finishing {self._in_flight} requests in flight; Ctrl-C again stops at once")
        self._finish(Stopped("interrupted; the same command goes on from here"))

    def _listen(self) -> Callable[[], object]:
        if threading.current_thread() is not threading.main_thread():
            return lambda: None
        loop = asyncio.get_running_loop()
        loop.add_signal_handler(signal.SIGINT, self._interrupt)
        return lambda: loop.remove_signal_handler(signal.SIGINT)


def _within(planned: Iterator[Batch], most: int | None) -> Iterator[Batch]:
    """Cut what is planned at so many pairs."""
    left = most
    for batch in planned:
        if left is None:
            yield batch
        elif left > 0:
            yield batch if len(batch.entries) <= left else Batch(batch.entries[:left])
            left -= len(batch.entries)
        else:
            return
