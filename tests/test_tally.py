"""What a ledger says of one judge: the first rating stands, and what counts as an attempt."""

from pathlib import Path

import pytest

from judge._batching.batches import Batch
from judge._ledger import entries
from judge._ledger.tally import Repeat
from tests.builders.judging import items, sealed
from tests.builders.ledgers import ID, JUDGE, reply


def test_the_first_rating_stands_and_later_ones_are_kept_beside_it(tmp_path: Path) -> None:
    with sealed(tmp_path / "l.jsonl", JUDGE) as book:
        batch = Batch.of(items(4))
        book.add(reply(batch, dict.fromkeys(range(4), 2)))
        book.add(reply(Batch.of(items(4)[::-1]), {0: 3, 3: 0}))
        assert book.ratings(ID) == {item.pair: 2 for item in items(4)}
        assert book.tally(ID).repeats == [
            Repeat(items(4)[3].pair, "pool", 3, 0.0, 2),
            Repeat(items(4)[0].pair, "pool", 0, 0.75, 2),
        ]
        assert book.tally(ID).attempts == {}
        assert book.tally(ID).places == {2: [1, 0, 1, 0, 0, 1, 0, 1, 0, 0]}


@pytest.mark.parametrize(
    ("ratings", "finish_reason", "count", "attempts"),
    [
        ({0: 1}, "stop", 3, 1),
        ({}, "stop", 3, 0),
        ({0: 1}, "length", 3, 0),
        ({}, "stop", 1, 1),
        ({}, "length", 1, 1),
    ],
    ids=["others-rated", "nothing-rated", "cut-off", "alone", "alone-and-cut-off"],
)
def test_an_attempt_is_one_that_says_something_of_the_pair(
    tmp_path: Path, ratings: dict[int, object], finish_reason: str, count: int, attempts: int
) -> None:
    with sealed(tmp_path / "l.jsonl", JUDGE) as book:
        book.add(reply(Batch.of(items(count)), ratings, finish_reason))
        assert book.tally(ID).attempts.get(items(count)[-1].pair, 0) == attempts


def test_a_rating_ends_a_failure(tmp_path: Path) -> None:
    with sealed(tmp_path / "l.jsonl", JUDGE) as book:
        batch = Batch.of(items(1))
        book.add(entries.failure(ID, items(1)[0].pair, reason="refused"))
        book.add(reply(batch, {0: 1}))
        book.add(entries.failure(ID, items(1)[0].pair, reason="refused"))
        assert book.failed(ID) == {}
