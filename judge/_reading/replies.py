"""Reading a reply: which of the ids that were sent it rates, and what became of the others.

Only a whole number on the scale, under an id that was sent, is a rating. It is read from an object with `id` and `rating`,
or from a member whose name is an id (`{"ID": 2}`, `{"ID": {"rating": 2}}`), at any depth of any JSON in the reply, whatever
prose or fence surrounds it. A whole number is a JSON number without fraction and exponent, or a string of just its digits: 2
and "2", but not 2.0, which is how a judge writes that rates on another scale. Nothing is fished out of prose.

JSON inside `<think>…</think>` is no answer, nor is what stands before a `</think>` whose beginning is missing. Where JSON
stops being JSON (the reply was cut off, a quote is missing), the objects closed before count, and so does each member of an
open map of ids that a comma follows; an entry that is not closed does not.

One pass of the C decoder does it, whose hook sees every object as it closes; only what the decoder refuses is read again, by
`judge._reading.partial_json`. Everything here is a pure function of its arguments.
"""

import json
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from json import JSONDecodeError, JSONDecoder
from typing import Any, Literal

from judge._reading import partial_json
from judge._reading.partial_json import Member

PARSER = 1
"""Version of the rules above; stored with each reading, so that one made by older rules is known as such."""

Status = Literal[
    "rated", "missing", "duplicate-equal", "duplicate-conflicting", "off-scale", "not-a-number", "refused", "truncated"
]

# Where JSON with names or ids in it may begin (most braces in prose cannot), or thinking begins or ends.
_START = re.compile(
    r"""\{(?=[ \t\n\r]*+(?:["}]|\Z))|\[(?=[ \t\n\r]*+(?:[\[{"\]\-0-9tfnNI]|\Z))|<(/?)think(?:ing)?>""", re.IGNORECASE
)
_THOUGHT = re.compile(r"</think(?:ing)?>", re.IGNORECASE)
_WHOLE = re.compile(r"0|-?[1-9][0-9]*")
_REFUSAL = re.compile(
    r"\bI (?:can(?:no|['\u2019])t|can not|won['\u2019]t|will not|must decline|decline|refuse)\b"
    r"|\bI(?:['\u2019]m| am) (?:sorry|unable|not able|not comfortable)\b"
    r"|\b(?:sorry|apologies|apologi[sz]e|unable to (?:help|assist|comply|rate|answer))\b",
    re.IGNORECASE,
)
# Digits that are kept of a number: more than any scale has, and fewer than Python takes minutes to convert.
_DIGITS = 20
# How often, at most, a reply's length is read again in search of JSON behind a brace that began none.
_RESCANS = 4


@dataclass(frozen=True, slots=True)
class Entry:
    """What became of one id; it has a rating where the status is `rated` or `duplicate-equal`."""

    status: Status
    rating: int | None = None


@dataclass(frozen=True, slots=True)
class Reading:
    """One entry for each id sent, in the order sent; and the ids the reply rated though they were not sent, each once."""

    entries: Mapping[str, Entry]
    foreign: tuple[str, ...] = ()


def encode(ratings: Mapping[str, int]) -> str:
    """Return ratings by id as the reply that the prompt asks for."""
    return json.dumps({"ratings": [{"id": entry_id, "rating": rating} for entry_id, rating in ratings.items()]})


def reconcile(ids: Sequence[str], raw: str, *, scale_values: Collection[int], finish_reason: str | None = None) -> Reading:
    """Read a reply against the ids sent and the scale's whole numbers; never raises, whatever the reply holds.

    An id claimed more than once is `duplicate-equal` where all claims are the same rating on the scale, and
    `duplicate-conflicting` where they differ in any way. An id without a claim is `refused` where a content filter ended the
    reply, or where it rates nothing and says that it will not; `truncated` where it ended at its greatest length, inside JSON
    or while thinking; and `missing` otherwise.
    """
    answer = _Answer(frozenset(ids))
    answer.read(raw)
    values: dict[str, list[int | None]] = {}
    for entry_id, value in answer.claims:
        values.setdefault(entry_id, []).append(value)
    absent = _entry("missing" if len(values) == len(ids) else _absence(answer, raw, finish_reason=finish_reason), None)
    entries = {entry_id: _judged(values[entry_id], scale_values) if entry_id in values else absent for entry_id in ids}
    return Reading(entries, tuple(dict.fromkeys(answer.foreign)))


def _judged(claims: Sequence[int | None], scale_values: Collection[int]) -> Entry:
    first = claims[0]
    if any(claim != first for claim in claims[1:]):
        return _entry("duplicate-conflicting", None)
    if first is None:
        return _entry("not-a-number", None)
    if first not in scale_values:
        return _entry("off-scale", None)
    return _entry("rated" if len(claims) == 1 else "duplicate-equal", first)


# There are few different entries, and a million replies to be read again.
@lru_cache(maxsize=256)
def _entry(status: Status, rating: int | None) -> Entry:
    return Entry(status, rating)


def _absence(answer: "_Answer", raw: str, *, finish_reason: str | None) -> Status:
    if finish_reason == "content_filter":
        return "refused"
    if finish_reason == "length" or answer.cut:
        return "truncated"
    if not answer.claims and not answer.foreign and _REFUSAL.search(raw, answer.thought):
        return "refused"
    return "missing"


class _Object:
    """What is kept of a JSON object once closed: the one id it has, or, where it has none, its ratings."""

    __slots__ = ("entry_id", "ratings")

    def __init__(self, entry_id: str | None, ratings: list[Any]) -> None:
        self.entry_id = entry_id
        self.ratings = ratings


class _Answer:
    """The claims of one reply, gathered from its objects as they close: an id, and a whole number or None for anything else."""

    __slots__ = ("_ids", "claims", "cut", "foreign", "thought")

    def __init__(self, ids: frozenset[str]) -> None:
        self._ids = ids
        self.claims: list[tuple[str, int | None]] = []
        self.foreign: list[str] = []
        self.cut = False
        self.thought = 0

    def read(self, raw: str) -> None:
        """Gather the claims of all JSON in a reply that is not within its thinking."""
        decoder = JSONDecoder(object_pairs_hook=self.close, parse_int=self.number, strict=False)
        place = 0
        effort = _RESCANS * len(raw)
        while (start := _START.search(raw, place)) is not None:
            place = start.end()
            if start[0] in "{[":
                known = len(self.claims), len(self.foreign)
                try:
                    place = decoder.raw_decode(raw, start.start())[1]
                except (JSONDecodeError, RecursionError):
                    del self.claims[known[0] :], self.foreign[known[1] :]
                    end, self.cut = partial_json.read(raw, start.start(), sink=self)
                    effort -= end - start.start()
                    # A brace in prose may have begun a string that swallowed the beginning of the answer.
                    if self.cut or effort < 0 or known != (len(self.claims), len(self.foreign)):
                        place = end
                continue
            if start[1]:
                self.claims.clear()
                self.foreign.clear()
            else:
                end_tag = _THOUGHT.search(raw, place)
                self.cut = end_tag is None
                place = len(raw) if end_tag is None else end_tag.end()
            self.thought = place

    def number(self, token: str) -> int | None:
        """Return the whole number that a token is, or None."""
        return int(token[:_DIGITS]) if _WHOLE.fullmatch(token) else None

    def close(self, members: list[Member]) -> _Object:
        """Take a whole object, its members in order, those with the same name included."""
        if len(members) == 2 and members[0][0] == "id" and members[1][0] == "rating":
            entry_id, rating = members[0][1], members[1][1]
            if type(rating) is int and type(entry_id) is str and entry_id in self._ids:
                self.claims.append((entry_id, rating))
                return _Object(entry_id, [])
        entry_ids = _ids_of(members)
        ratings = [value for name, value in members if name == "rating"]
        for entry_id in entry_ids:
            for rating in ratings:
                # With several ids there is no telling which of them is rated.
                self._claim(entry_id, rating if len(entry_ids) == 1 else None)
        self.leave_open(members)
        return _Object(entry_ids[0] if len(entry_ids) == 1 else None, [] if entry_ids else ratings)

    def leave_open(self, members: list[Member]) -> None:
        """Take the members that are named by ids sent, and as foreign what is rated beside them under other names."""
        if self._ids.isdisjoint([name for name, _ in members]):
            return
        is_entry = bool(_ids_of(members))
        for name, value in members:
            if name in {"id", "rating"} and (is_entry or name not in self._ids):
                continue
            if type(value) is not _Object:
                self._claim(name, value)
            elif value.ratings:
                for rating in value.ratings:
                    self._claim(name, rating)
            elif value.entry_id != name:
                self._claim(name, None)

    def break_off(self, members: list[Member], name: str) -> None:
        """Take a broken member as a claim, but of no number, where a whole one would have been a claim."""
        if name == "rating":
            for entry_id in _ids_of(members):
                self._claim(entry_id, None)
        elif name in self._ids:
            self._claim(name, None)

    def _claim(self, entry_id: str, value: Any) -> None:
        number = value if type(value) is int else self.number(value) if type(value) is str else None
        if entry_id in self._ids:
            self.claims.append((entry_id, number))
        elif number is not None:
            self.foreign.append(entry_id)


def _ids_of(members: list[Member]) -> list[str]:
    return list(dict.fromkeys(value for name, value in members if name == "id" and type(value) is str))
