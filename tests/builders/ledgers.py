"""Replies made by hand and the ledgers that they are in."""

import json
from pathlib import Path

from judge._batching.batches import Batch
from judge._endpoint.answer import Answer, Usage
from judge._ledger import entries
from judge._ledger.ledger import Ledger
from tests.builders.judging import identity, items, sealed

JUDGE = identity()
ID = JUDGE.judge_id


def reply(batch: Batch, ratings: dict[int, object], finish_reason: str = "stop", cost: float | None = None) -> entries.Record:
    """A reply that rates the batch's pairs at these places."""
    found = [{"id": batch.ids[place], "rating": rating} for place, rating in ratings.items()]
    answer = Answer(json.dumps({"ratings": found}), finish_reason, "m-2026", Usage(100, 10, 5), cost)
    return entries.reply(ID, "pool", batch=batch, answer=answer)


def filled(path: Path) -> tuple[Ledger, Batch, Batch]:
    """A ledger of two replies, the first of which lacks one pair."""
    book = sealed(path, JUDGE)
    first, second = Batch.of(items(3)), Batch.of(items(5)[3:])
    book.add(reply(first, {0: 3, 1: 0}))
    book.add(reply(second, {0: 1, 1: 2}, cost=0.5))
    return book, first, second
