"""Replay: a ledger's replies read again by today's rules, into a ledger of their own, with no network and no cost."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from judge._ledger import ledger
from judge._ledger.entries import Record
from judge._ledger.ledger import Ledger
from pools.errors import DataError, UsageError

GROUP = 1000


@dataclass(frozen=True, slots=True)
class Replayed:
    """What was replayed: replies, and pairs whose rating is another than in the ledger they come from, by judge."""

    replies: int
    changed: dict[str, int]


def replay(source: Path, target: Ledger) -> Replayed:
    """Copy every line, in order and with its time, and read every reply anew.

    Read by the same rules, the copy is the same file, so what is computed from it is the same too, its anchor included.
    Raises `UsageError` where the target already says something of a judge, or there is no source; `DataError` where the
    source was changed by hand.
    """
    if not source.is_file():
        raise UsageError(f"{source}: no such ledger; name one with --replay")
    if source.resolve() == target.path.resolve() or target.judges():
        raise UsageError(f"{target.path}: already holds a judge's replies; replay into a dataset without a ledger")
    before = Ledger.read(source, texts=target.texts)
    count = 0

    def counted() -> Iterator[list[Record]]:
        nonlocal count
        for group in _groups(_copied(source)):
            count += sum(record["kind"] == "reply" for record in group)
            yield group

    target.transcribe(counted())
    changed = {
        judge_id: len(set(before.ratings(judge_id).items()) ^ set(target.ratings(judge_id).items()))
        for judge_id in before.judges()
    }
    return Replayed(count, changed)


def _copied(source: Path) -> Iterator[Record]:
    last = 0
    for record in ledger.records(source):
        if record["kind"] == "reply":
            last += 1
            if record["number"] != last:
                raise DataError(f"{source}: reply {record['number']} where {last} should be; restore the file from a copy")
        yield {key: value for key, value in record.items() if key != "chain"}


def _groups(records: Iterable[Record]) -> Iterator[list[Record]]:
    rest = iter(records)
    while group := list(islice(rest, GROUP)):
        yield group
