"""What is left to ask, batch by batch, and what becomes of the pairs that a reply left unrated; nothing is sent or written.

What to do with a reply follows from its reading alone. Pairs that a reply left unrated, while it rated others, wait for other
such stragglers and are asked together, up to `attempts`. A batch that cannot be answered, or in which nothing was rated, is
halved, so that a pair that spoils it for the others ends up alone. When all is rated, a share of it is rated once more.
"""

from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cached_property

from judge._batching import batches
from judge._batching.batches import Batch, Item
from judge._ledger.tally import Tally
from judge._rating.controls import Hider, retests
from judge._rating.task import Task
from judge._reading.replies import Reading
from pools._dataset.records import PairKey

GivenUp = list[tuple[PairKey, str]]
"""Pairs that are not to be asked for again, each with the reason."""


class Agenda:
    """The batches of one task. `out` counts those that were handed out and have not come back."""

    def __init__(self, task: Task, tally: Tally) -> None:
        self.out = 0
        self.left = 0
        self._task, self._tally = task, tally
        self._hider = None if task.controls is None else Hider(task.controls, tally, task.seed)
        self._retested = task.controls is None
        self._planned: Iterator[Batch] = iter(())
        self._again: deque[Batch] = deque()
        self._stragglers: list[Item] = []
        self._open = 0

    @cached_property
    def _own(self) -> frozenset[PairKey]:
        return frozenset(item.pair for item in self._task.items)

    @property
    def complete(self) -> bool:
        """Whether all pairs were within the limits."""
        most = self._task.limits.pairs
        return most is None or self._open <= most

    def begin(self) -> GivenUp:
        """Plan what has no rating and is not on the agenda yet; returns the pairs that were asked for often enough.

        There are such where a run was killed that had got the last reply to a pair, and had not given it up yet.
        """
        tally, most = self._tally, self._task.settings.attempts
        waiting = {item.pair for batch in self._again for item in batch.items} | {item.pair for item in self._stragglers}
        left = [item for item in self._task.items if item.pair not in tally.ratings and item.pair not in tally.failed]
        self.left = len(left)
        fresh = [item for item in left if item.pair not in waiting]
        planned = [item for item in fresh if tally.attempts.get(item.pair, 0) < most]
        self._planned, self._open = self._plan(planned, self._task.limits.pairs), len(planned)
        if len(planned) == len(fresh):
            return []
        exhausted = [item.pair for item in fresh if tally.attempts.get(item.pair, 0) >= most]
        return [(pair, f"no rating after {tally.attempts[pair]} attempts") for pair in exhausted]

    def next(self, *, together: bool) -> Batch | None:
        """Hand out what is to be asked next; None where that depends on what is out, and when nothing is left.

        Stragglers wait until they fill a batch or nothing is out, but not where all that is handed out goes `together`.
        """
        batch = self._choose(together)
        self.out += batch is not None
        return batch

    def put_back(self, batch: Batch) -> None:
        """Take back what was handed out and not asked; it comes first the next time."""
        self.out -= 1
        self._again.appendleft(batch)

    def _choose(self, together: bool) -> Batch | None:
        if self._again:
            return self._again.popleft()
        size = self._task.settings.pairs_per_batch
        if len(self._stragglers) < size and (batch := next(self._planned, None)) is not None:
            return batch
        if self._stragglers and (len(self._stragglers) >= size or together or not self.out):
            waiting, self._stragglers = self._stragglers, []
            first, *rest = batches.plan(waiting, len(waiting), settings=self._task.settings)
            self._again.extend(rest)
            return first
        if not self.out and not self._retested and self.complete and self._task.controls is not None:
            self._retested = True
            again = retests(self._task.items, self._task.controls, tally=self._tally, seed=self._task.seed)
            self._planned = self._plan(again, None)
            return next(self._planned, None)
        return None

    def _plan(self, items: Sequence[Item], most: int | None) -> Iterator[Batch]:
        """Make batches of up to so many of the pairs, with canaries among them if there are any."""
        settings = self._task.settings
        size = settings.pairs_per_batch
        if self._hider is not None:
            settings = replace(settings, pairs_per_batch=self._hider.room(size))
        planned = _within(batches.plan(items, self._task.seed, settings=settings), most)
        return planned if self._hider is None else self._hider.hide(planned, size)

    def unrated(self, batch: Batch) -> list[Item]:
        """Return the pairs of a batch that have no rating."""
        return [item for item in batch.items if item.pair not in self._tally.ratings]

    def lost(self, batch: Batch, *, earlier: bool) -> None:
        """Have the same asked again, under fresh ids; what an `earlier` call asked is planned anew, or another task's."""
        if not earlier and self.unrated(batch):
            self._again.append(Batch.of(batch.items))

    def unfit(self, batch: Batch, reason: str, *, earlier: bool) -> GivenUp:
        """Have fewer pairs asked at a time, as the batch cannot be answered as it is; one that is alone is given up."""
        unrated = self.unrated(batch)
        if len(batch.entries) > 1:
            self._halve(self._mine(unrated, earlier))
            return []
        return [(item.pair, reason) for item in unrated]

    def read(self, batch: Batch, reading: Reading, *, earlier: bool) -> GivenUp:
        """Decide what becomes of the pairs that a reply left without a rating."""
        unrated = self._mine(self.unrated(batch), earlier)
        alone = len(batch.entries) == 1
        if not alone and all(entry.rating is None for entry in reading.entries.values()):
            self._halve(unrated)
            return []
        status = {item.pair: reading.entries[entry_id].status for entry_id, item in batch.entries}
        cut = [] if alone else [item for item in unrated if status[item.pair] == "truncated"]
        self._halve(cut)
        given_up = []
        for item in unrated:
            attempts = self._tally.attempts.get(item.pair, 0)
            if attempts >= self._task.settings.attempts:
                given_up.append((item.pair, f"{status[item.pair]} after {attempts} attempts"))
            elif item not in cut:
                self._stragglers.append(item)
        return given_up

    def _mine(self, items: list[Item], earlier: bool) -> list[Item]:
        """Leave out what an earlier call asked for that is no pair of this task."""
        return [item for item in items if item.pair in self._own] if earlier else items

    def _halve(self, unrated: list[Item]) -> None:
        middle = (len(unrated) + 1) // 2
        self._again.extend(Batch.of(part) for part in (unrated[:middle], unrated[middle:]) if part)


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
