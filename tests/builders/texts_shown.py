"""Two searches and two functions whose texts may change, and ledgers of what was said about them."""

from pathlib import Path

from judge._batching.batches import Batch, Item
from judge._endpoint.answer import Answer
from judge._ledger import entries
from judge._ledger.ledger import Ledger
from judge._ledger.texts import Texts
from judge._reading import replies
from pools._dataset.settings import GateSettings
from tests.builders.judging import identity

JUDGE = identity()
SEARCHES = {"q0": "read a file", "q1": "sort a list"}
CODES = {"f0": "def f(): ...", "f1": "def g(): ..."}


def texts(searches: dict[str, str] | None = None, **codes: str) -> Texts:
    """The texts, some of them replaced."""
    return Texts(SEARCHES | (searches or {}), CODES | codes)


def batch(*pairs: tuple[str, str], now: Texts | None = None) -> Batch:
    """A batch of pairs, with the texts that they have now."""
    known = now or texts()
    return Batch.of([Item(pair, known.searches[pair[0]], known.functions[pair[1]]) for pair in pairs])


def reply(sent: Batch, *ratings: int | None) -> entries.Record:
    """A reply that rates the batch's pairs in order, and leaves out those that have None."""
    given = {entry_id: rating for entry_id, rating in zip(sent.ids, ratings, strict=True) if rating is not None}
    return entries.reply(JUDGE.judge_id, "pool", batch=sent, answer=Answer(replies.encode(given), "stop", "m"))


def write(path: Path, *added: entries.Record, now: Texts | None = None) -> None:
    """Add to a ledger, in which the judge is sealed first."""
    with Ledger.open(path, texts=now) as ledger:
        if ledger.seal(JUDGE.judge_id) is None:
            ledger.add(entries.seal(JUDGE, GateSettings(), relevant_from=2, gold_sha256="0" * 64))
        ledger.add(*added)
