"""A rating asked for argument by argument, by a judge without a network: what is asked, kept, given up and raised."""

import asyncio
from pathlib import Path

import pytest

from judge._batching.batches import Batch
from judge._endpoint.answer import Answer, Unfit, Usage
from judge._judges.identity import Identity
from judge._ledger import entries, ledger
from judge._ledger.ledger import Ledger
from judge._rating import rating
from judge._rating.controls import Controls
from judge._reading.replies import encode
from pools._dataset.settings import JudgeSettings
from pools.errors import UsageError
from tests.builders.judging import identity, items, sealed

ID = identity().judge_id


def test_a_judge_must_be_sealed(tmp_path: Path) -> None:
    judge = Sure(identity())
    with Ledger.open(tmp_path / "l.jsonl") as book, pytest.raises(UsageError, match="is not sealed"):
        asyncio.run(rating.rate(items(1), "pool", judge=judge, ledger=book, settings=JudgeSettings(), seed=1))
    assert judge.batches == []


class Sure:
    """A judge without a network, which rates everything 2, and fails as it is told."""

    def __init__(self, judge: Identity, error: Exception | None = None) -> None:
        self.identity = judge
        self.batches: list[Batch] = []
        self._error = error

    async def answer(self, batch: Batch) -> Answer:
        self.batches.append(batch)
        if self._error is not None:
            raise self._error
        return Answer(encode(dict.fromkeys(batch.ids, 2)), None, "sure", Usage(1, 0, 1), 0.125)


def test_any_judge_can_be_run(tmp_path: Path) -> None:
    with sealed(tmp_path / "l.jsonl", identity()) as book:
        outcome = asyncio.run(
            rating.rate(
                items(12), "validation", judge=Sure(identity()), ledger=book, settings=JudgeSettings(pairs_per_batch=5), seed=1
            )
        )
        assert set(book.ratings(ID).values()) == {2}
    assert (outcome.rated, outcome.requests, outcome.cost) == (12, 3, 0.375)
    purposes = {record["purpose"] for record in ledger.records(tmp_path / "l.jsonl") if record["kind"] == "reply"}
    assert purposes == {"validation"}


def test_a_fault_of_the_judge_itself_is_raised_and_nothing_is_lost(tmp_path: Path) -> None:
    with sealed(tmp_path / "l.jsonl", identity()) as book, pytest.raises(ZeroDivisionError):
        asyncio.run(
            rating.rate(
                items(12), "pool", judge=Sure(identity(), ZeroDivisionError()), ledger=book, settings=JudgeSettings(), seed=1
            )
        )
    Ledger.open(tmp_path / "l.jsonl").close()


def test_what_does_not_fit_is_asked_for_in_halves(tmp_path: Path) -> None:
    class Small(Sure):
        async def answer(self, batch: Batch) -> Answer:
            answer = await super().answer(batch)
            if len(batch.entries) > 2 or batch.items[0].pair == items(5)[4].pair:
                raise Unfit("too long")
            return answer

    settings = JudgeSettings(pairs_per_batch=5, concurrency=1)
    with sealed(tmp_path / "l.jsonl", identity()) as book:
        judge = Small(identity())
        outcome = asyncio.run(rating.rate(items(5), "pool", judge=judge, ledger=book, settings=settings, seed=1))
    whole, left, right = judge.batches[:3]
    assert left.items + right.items == whole.items, "each half keeps its pairs in their order"
    assert (len(left.items), len(right.items)) == (3, 2)
    assert not set(whole.ids) & {entry_id for batch in judge.batches[1:] for entry_id in batch.ids}, "ids are fresh"
    assert min(len(batch.entries) for batch in judge.batches) == 1
    assert outcome.failed == {items(5)[4].pair: "too long"}, "a pair alone has no halves"


def test_a_fault_in_what_comes_next_is_raised_too(tmp_path: Path) -> None:
    controls = Controls([], {}, 2, 0, "a few")  # type: ignore[arg-type]
    with sealed(tmp_path / "l.jsonl", identity()) as book, pytest.raises(TypeError):
        asyncio.run(
            rating.rate(
                items(2), "pool", judge=Sure(identity()), ledger=book, settings=JudgeSettings(), seed=1, controls=controls
            )
        )


def test_a_paid_reply_that_cannot_be_used_is_kept_and_counted(tmp_path: Path) -> None:
    paid = Answer("no", None, "m", Usage(7, 0, 3), 0.5)
    with sealed(tmp_path / "l.jsonl", identity()) as book:
        outcome = asyncio.run(
            rating.rate(
                items(1), "pool", judge=Sure(identity(), Unfit("cut", paid)), ledger=book, settings=JudgeSettings(), seed=1
            )
        )
        assert outcome.failed == {items(1)[0].pair: "cut"}
        assert outcome.cost == 0.5
        assert book.totals(ID).usage == Usage(7, 0, 3)
    kept = [record for record in ledger.records(tmp_path / "l.jsonl") if record["kind"] == "discarded"]
    assert [(record["raw"], record["reason"]) for record in kept] == [("no", "cut")]
    assert Ledger.read(tmp_path / "l.jsonl").totals(ID).cost == 0.5


def test_a_pair_whose_last_reply_came_before_a_kill_is_given_up(tmp_path: Path) -> None:
    settings = JudgeSettings(attempts=1)
    with sealed(tmp_path / "l.jsonl", identity()) as book:
        batch = Batch.of(items(1))
        book.add(entries.reply(ID, "pool", batch=batch, answer=Answer("?", "stop", "m")))
        judge = Sure(identity())
        outcome = asyncio.run(rating.rate(items(2), "pool", judge=judge, ledger=book, settings=settings, seed=1))
    assert outcome.failed == {items(1)[0].pair: "no rating after 1 attempts"}
    assert [item.pair for batch in judge.batches for item in batch.items] == [items(2)[1].pair]


def test_cancelling_writes_what_was_answered(tmp_path: Path) -> None:
    class Slow(Sure):
        busy = asyncio.Event()

        async def answer(self, batch: Batch) -> Answer:
            answer = await super().answer(batch)
            if len(self.batches) == 6:
                self.busy.set()
            if len(self.batches) > 3:
                await asyncio.Event().wait()
            return answer

    async def cancelled(book: Ledger) -> None:
        judge = Slow(identity())
        running = asyncio.create_task(
            rating.rate(items(60), "pool", judge=judge, ledger=book, settings=JudgeSettings(pairs_per_batch=10), seed=1)
        )
        await judge.busy.wait()
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running

    with sealed(tmp_path / "l.jsonl", identity()) as book:
        asyncio.run(cancelled(book))
        assert len(book.ratings(ID)) == 30
    assert len(Ledger.read(tmp_path / "l.jsonl").ratings(ID)) == 30
