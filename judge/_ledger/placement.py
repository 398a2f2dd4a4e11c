"""Where in its batch a pair stood when it got the rating that counts, read from a ledger's lines."""

from pathlib import Path

from judge._ledger import ledger
from judge._ledger.entries import Record
from judge._ledger.texts import Texts
from judge._reading import replies
from pools._dataset.records import PairKey


def first(path: Path, judge_id: str, *, texts: Texts | None = None) -> dict[PairKey, int]:
    """Return each rated pair's place, from 1, in the batch whose reply rated it first; of the `texts` that there are now.

    Goes by the readings of the ledger, and reads a reply again where an older version of the rules had read it or where it
    has no reading. Raises `DataError` for a line that was changed or put there by hand.
    """
    places: dict[PairKey, int] = {}
    scale_values: frozenset[int] = frozenset()
    unread: dict[int, Record] = {}
    for record in ledger.records(path):
        kind = record["kind"]
        if kind == "seal" and record["judge_id"] == judge_id:
            scale_values = frozenset(value for value, _ in record["identity"]["scale"]["levels"])
        elif kind == "reply" and record["judge_id"] == judge_id:
            unread[record["number"]] = record
        elif kind == "reading" and (reply := unread.pop(record["number"], None)) is not None:
            rated = record["ratings"] if record["parser"] == replies.PARSER else _again(reply, scale_values)
            _place(reply, rated, places=places, texts=texts)
    for number in sorted(unread):
        _place(unread[number], _again(unread[number], scale_values), places=places, texts=texts)
    return places


def _again(reply: Record, scale_values: frozenset[int]) -> set[str]:
    reading = replies.reconcile(
        [entry[0] for entry in reply["sent"]], reply["raw"], scale_values=scale_values, finish_reason=reply["finish_reason"]
    )
    return {entry_id for entry_id, entry in reading.entries.items() if entry.rating is not None}


def _place(reply: Record, rated: "set[str] | dict[str, int]", *, places: dict[PairKey, int], texts: Texts | None) -> None:
    for place, (entry_id, search_id, function_id, *shown) in enumerate(reply["sent"], start=1):
        is_changed = texts is not None and shown and texts.change(search_id, function_id, shown=(shown[0], shown[1]))
        if entry_id in rated and not is_changed:
            places.setdefault((search_id, function_id), place)
