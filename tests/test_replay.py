"""Replaying a ledger: the same ratings without a network, and today's rules for replies that older ones could not read."""

from pathlib import Path

import pytest

from judge._batching.batches import Batch
from judge._ledger import chain, ledger
from judge._ledger.ledger import Ledger
from judge._ledger.replay import replay
from judge._reading import replies
from pools.errors import DataError, UsageError
from tests.builders.fake_api import FakeApi, share
from tests.builders.judging import identity, items, rate, sealed
from tests.builders.ledgers import ID, JUDGE, reply


def test_a_replayed_ledger_says_the_same(tmp_path: Path) -> None:
    source, target = tmp_path / "a" / "l.jsonl", tmp_path / "b" / "l.jsonl"
    with FakeApi(share(3, "missing", "conflict", "cut", "overflow", "shortened", of=0.4)) as fake:
        rate(fake, source, items(150))
    with Ledger.open(target) as book:
        found = replay(source, book)
    before, after = Ledger.read(source), Ledger.read(target)
    judge = identity().judge_id
    assert (found.replies, found.changed) == (
        max(entry["number"] for entry in ledger.records(source) if "number" in entry),
        {judge: 0},
    )
    assert after.tally(judge) == before.tally(judge)
    assert after.history == before.history
    # By the rules that read it before, it is the same file, so a figure that names its head is proven by the copy as well.
    assert target.read_bytes() == source.read_bytes()
    assert after.anchor == before.anchor
    with Ledger.open(tmp_path / "c" / "l.jsonl") as book:
        replay(target, book)
    assert (tmp_path / "c" / "l.jsonl").read_bytes() == target.read_bytes()


def test_a_reply_that_older_rules_could_not_read_is_read(tmp_path: Path) -> None:
    source = tmp_path / "l.jsonl"
    batch = Batch.of(items(2))
    with sealed(source, JUDGE):
        pass
    stored = {"kind": "reply", "time": "x"} | reply(batch, {0: 3, 1: 1}) | {"number": 1}
    text, last = chain.line(stored, list(ledger.records(source))[-1]["chain"])
    old = {"kind": "reading", "number": 1, "parser": replies.PARSER, "ratings": {}, "faults": {}, "foreign": []}
    source.write_bytes(source.read_bytes() + text + chain.line(old, last)[0])
    assert Ledger.read(source).ratings(ID) == {}
    with Ledger.open(tmp_path / "b.jsonl") as book:
        assert replay(source, book).changed == {ID: 2}
        assert sorted(book.ratings(ID).values()) == [1, 3]


def test_what_cannot_be_replayed_is_refused(tmp_path: Path) -> None:
    source = tmp_path / "l.jsonl"
    sealed(source, JUDGE).close()
    with Ledger.open(tmp_path / "b.jsonl") as book:
        with pytest.raises(UsageError, match="no such ledger"):
            replay(tmp_path / "none.jsonl", book)
        replay(source, book)
        with pytest.raises(UsageError, match="already holds"):
            replay(source, book)
    source.write_bytes(source.read_bytes().replace(b'"f1":0.67', b'"f1":0.07'))
    with Ledger.open(tmp_path / "c.jsonl") as book, pytest.raises(DataError, match="by hand"):
        replay(source, book)
    assert (tmp_path / "c.jsonl").read_bytes() == b""
