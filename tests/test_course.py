"""The course of a rating over a transport of this file's own: what it hands out, takes in, tells, and how it ends."""

import asyncio
from collections.abc import Callable
from pathlib import Path

import pytest

from judge._batching.batches import Batch
from judge._endpoint.answer import Answer, Unfit, Usage
from judge._ledger.entries import Record
from judge._ledger.ledger import Ledger, records
from judge._rating import course
from judge._rating.course import Course, Reply
from judge._rating.money import Limits
from judge._rating.task import Outcome, Progress, Reports, Task
from judge._reading.replies import Reading, encode
from pools._dataset.settings import JudgeSettings, PriceSettings
from pools.errors import Stopped, UsageError
from tests.builders.judging import SEED, identity, items, sealed

JUDGE = identity()
ID = JUDGE.judge_id
PRICES = PriceSettings(prompt=1e6)
"""A dollar a token."""


def rated(batch: Batch) -> Answer:
    return Answer(encode(dict.fromkeys(batch.ids, 1)), "stop", "m", Usage(1, 0, 0))


class Rounds:
    """Answers all that may be asked together, round by round."""

    judge_id = ID

    def __init__(self, ledger: Ledger, answer: Callable[[Batch], Answer | Unfit | None] = rated, expected: int = 1) -> None:
        self.rounds: list[list[Batch]] = []
        self._ledger, self._answer, self._expected = ledger, answer, expected

    async def work(self, course: Course) -> None:
        await course.begin()
        while together := list(iter(lambda: course.ready(together=True), None)):
            self.rounds.append(together)
            assert course.out == len(together)
            for batch in together:
                await course.take(Reply(batch, self._answer(batch), source={"from": "here"}))

    async def keep(self, record: Record) -> Reading | None:
        return self._ledger.add(record)[0]

    def estimate(self, _batch: Batch) -> Usage | None:
        return Usage(self._expected, 0, 0)

    def interrupt(self, course: Course) -> None:
        course.end(Stopped("interrupted"))


def go(path: Path, transport: Callable[[Ledger], Rounds], *, count: int = 40, limits: Limits | None = None) -> Outcome:
    task = Task(items(count), "pool", SEED, JudgeSettings(pairs_per_batch=10), limits or Limits(), PRICES)
    with sealed(path, JUDGE) as ledger:
        return asyncio.run(course.run(task, transport(ledger), ledger=ledger))


def test_a_reply_is_written_with_where_it_came_from_and_told_of(tmp_path: Path) -> None:
    told: list[Progress] = []
    with sealed(tmp_path / "l.jsonl", JUDGE) as ledger:
        task = Task(items(40), "validation", SEED, JudgeSettings(pairs_per_batch=10))
        outcome = asyncio.run(course.run(task, Rounds(ledger), ledger=ledger, reports=Reports(told.append)))
    assert (outcome.rated, outcome.requests, outcome.pairs, outcome.usage) == (40, 4, 40, Usage(4, 0, 0))
    assert [step.done for step in told] == [10, 20, 30, 40]
    kept = [record for record in records(tmp_path / "l.jsonl") if record["kind"] == "reply"]
    assert [(record["from"], record["purpose"]) for record in kept] == [("here", "validation")] * 4


def test_what_is_lost_is_asked_again_as_it_was_and_what_is_unfit_in_halves(tmp_path: Path) -> None:
    fates = iter([None, Unfit("too long"), Unfit("cut", Answer("x", None, "m", Usage(5, 0, 0)))])
    made: list[Rounds] = []

    def transport(ledger: Ledger) -> Rounds:
        made.append(Rounds(ledger, lambda batch: next(fates, rated(batch))))
        return made[0]

    outcome = go(tmp_path / "l.jsonl", transport)
    first, second = made[0].rounds
    assert [len(batch.entries) for batch in second] == [10, 5, 5, 5, 5]
    assert second[0].items == first[0].items
    assert not set(second[0].ids) & set(first[0].ids), "a request has ids of its own"
    assert (outcome.rated, outcome.failed, outcome.requests, outcome.usage.prompt) == (40, {}, 7, 11)


def test_a_limit_holds_back_what_would_exceed_it_until_what_is_out_has_told_its_cost(tmp_path: Path) -> None:
    made: list[Rounds] = []

    def transport(ledger: Ledger) -> Rounds:
        made.append(Rounds(ledger, expected=3))
        return made[-1]

    with pytest.raises(Stopped, match=r"\$4.0000 of \$6.5 are spent \(--max-cost\), and the next batch is estimated at \$3"):
        go(tmp_path / "l.jsonl", transport, count=100, limits=Limits(cost=6.5))
    # Three dollars are expected of each, and one is what it costs.
    assert [len(together) for together in made[0].rounds] == [2, 1, 1]
    with pytest.raises(Stopped, match="5 requests are made"):
        go(tmp_path / "m.jsonl", transport, count=100, limits=Limits(requests=5))
    assert [len(together) for together in made[1].rounds] == [5]


def test_what_is_out_is_taken_in_after_the_end(tmp_path: Path) -> None:
    class Ending(Rounds):
        async def keep(self, record: Record) -> Reading | None:
            if len(self.rounds[0]) == 4:
                self.rounds[0].append(self.rounds[0][0])
                self.interrupt(self.course)
            return await super().keep(record)

        async def work(self, course: Course) -> None:
            self.course = course
            await super().work(course)

    with pytest.raises(Stopped, match="interrupted"):
        go(tmp_path / "l.jsonl", Ending)
    assert len(Ledger.read(tmp_path / "l.jsonl").ratings(ID)) == 40


def test_a_judge_must_be_sealed_whatever_the_transport(tmp_path: Path) -> None:
    with Ledger.open(tmp_path / "l.jsonl") as ledger:
        transport = Rounds(ledger)
        with pytest.raises(UsageError, match="is not sealed"):
            asyncio.run(course.run(Task(items(1), "pool", SEED, JudgeSettings()), transport, ledger=ledger))
    assert transport.rounds == []
