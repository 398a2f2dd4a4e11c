"""What is left to ask: whatever replies come, every pair ends up rated or given up, and none is out twice at a time."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judge._batching.batches import Batch
from judge._ledger.tally import Sent, Tally
from judge._rating.agenda import Agenda
from judge._rating.controls import Controls
from judge._rating.money import Limits
from judge._rating.task import Task
from judge._reading import replies
from judge._reading.replies import Entry, Reading
from pools._dataset.records import PairKey
from pools._dataset.settings import JudgeSettings
from tests.builders.judging import SEED, items

SETTINGS = JudgeSettings(pairs_per_batch=8)
FATES = ("rated", "rated", "some", "nothing", "cut", "unfit", "lost")


class Table:
    """An agenda with a tally that takes in what is made up for its batches, as a ledger would."""

    def __init__(self, count: int, settings: JudgeSettings = SETTINGS, limits: Limits | None = None) -> None:
        self.items = items(count)
        self.tally = Tally()
        self.agenda = Agenda(Task(self.items, "pool", SEED, settings, limits or Limits()), self.tally)
        self.given_up: dict[PairKey, str] = {}
        self.replies = 0

    def give_up(self, found: list[tuple[PairKey, str]]) -> None:
        for pair, reason in found:
            assert pair not in self.given_up
            self.given_up[pair] = reason
            self.tally.give_up(pair, reason)

    def come_back(self, batch: Batch, fate: str, rng: random.Random, *, earlier: bool = False) -> None:
        if fate == "lost":
            self.agenda.lost(batch, earlier=earlier)
        elif fate == "unfit":
            self.give_up(self.agenda.unfit(batch, "too long", earlier=earlier))
        else:
            reading = self._reading(batch, fate, rng)
            self.give_up(self.agenda.read(batch, reading, earlier=earlier))
        self.agenda.out -= not earlier

    def _reading(self, batch: Batch, fate: str, rng: random.Random) -> Reading:
        kept = {"rated": 1.0, "some": 0.6, "cut": 0.6, "nothing": 0.0}[fate]
        ratings = {entry_id: 2 for entry_id in batch.ids if rng.random() < kept}
        status: replies.Status = "truncated" if fate == "cut" else "missing"
        sent: list[Sent] = [(entry_id, *item.pair) for entry_id, item in batch.entries]
        self.replies += 1
        self.tally.take(
            self.replies, "pool", sent=sent, ratings=ratings, faults=dict.fromkeys(set(batch.ids) - set(ratings), status)
        )
        return Reading({entry_id: Entry("rated", 2) if entry_id in ratings else Entry(status, None) for entry_id in batch.ids})


@given(st.integers(0, 60), st.lists(st.sampled_from(FATES), max_size=80), st.booleans(), st.integers(0, 99))
def test_every_pair_ends_up_rated_or_given_up(count: int, fates: list[str], together: bool, seed: int) -> None:
    rng, table = random.Random(seed), Table(count)
    table.give_up(table.agenda.begin())
    out: list[Batch] = []
    waiting = iter(fates)
    for _ in range(2_000):
        batch = table.agenda.next(together=together)
        if batch is not None:
            out.append(batch)
            asked = [item.pair for one in out for item in one.items]
            assert len(asked) == len(set(asked)), "a pair is out twice"
            assert not set(asked) & set(table.given_up)
        if batch is None and not out:
            break
        if batch is None or rng.random() < 0.4:
            table.come_back(out.pop(rng.randrange(len(out))), next(waiting, "rated"), rng)
    assert table.agenda.out == len(out) == 0
    assert set(table.tally.ratings) | set(table.given_up) == {item.pair for item in table.items}
    assert not set(table.tally.ratings) & set(table.given_up)


def test_stragglers_fill_a_batch_or_wait_for_what_is_out_unless_all_goes_together() -> None:
    rng, table = random.Random(1), Table(16)
    table.agenda.begin()
    first, second = table.agenda.next(together=False), table.agenda.next(together=False)
    assert first is not None
    assert second is not None
    table.come_back(first, "some", rng)
    left = {item.pair for item in first.items} - set(table.tally.ratings)
    assert left
    assert table.agenda.next(together=False) is None, "the other batch may bring more of them"
    batch = table.agenda.next(together=True)
    assert batch is not None
    assert {item.pair for item in batch.items} == left


def test_what_an_earlier_call_asked_is_neither_planned_twice_nor_halved_for_another_task() -> None:
    rng, table = random.Random(1), Table(40)
    own, others = table.items[:8], items(60)[50:58]
    table.come_back(Batch.of([*own[:4], *others[:4]]), "unfit", rng, earlier=True)
    table.come_back(Batch.of(own[4:]), "lost", rng, earlier=True)
    table.agenda.begin()
    handed = []
    while (batch := table.agenda.next(together=True)) is not None:
        handed.append([item.pair for item in batch.items])
    assert handed[:2] == [[item.pair for item in own[:2]], [item.pair for item in own[2:4]]]
    assert sorted(pair for pairs in handed for pair in pairs) == sorted(item.pair for item in table.items)


def test_retests_come_when_nothing_is_out_and_all_were_within_the_limits() -> None:
    for most, expected in ((None, 20), (10, 0)):
        pairs = items(20)
        tally = Tally()
        task = Task(pairs, "pool", SEED, SETTINGS, Limits(pairs=most), controls=Controls([], {}, 2, 0, 1.0))
        agenda = Agenda(task, tally)
        agenda.begin()
        first = []
        while (batch := agenda.next(together=True)) is not None:
            first.append(batch)
        asked = [item.pair for batch in first for item in batch.items]
        assert len(asked) == (most or 20)
        tally.ratings.update(dict.fromkeys(asked, 1))
        agenda.out = 0
        again = []
        while (batch := agenda.next(together=True)) is not None:
            again += [item.pair for item in batch.items]
        assert len(again) == expected


@pytest.mark.parametrize("attempts", [1, 3])
def test_a_pair_that_was_asked_for_often_enough_is_given_up_at_once(attempts: int) -> None:
    table = Table(3, JudgeSettings(pairs_per_batch=8, attempts=attempts))
    table.tally.attempts[table.items[0].pair] = attempts
    assert table.agenda.begin() == [(table.items[0].pair, f"no rating after {attempts} attempts")]
    batch = table.agenda.next(together=False)
    assert batch is not None
    assert {item.pair for item in batch.items} == {item.pair for item in table.items[1:]}
