"""Batches: which pairs go into one prompt, under which ids, and how they are shown.

Code is data, whatever it holds. Each function stands between two lines that carry its pair's id, and an id is drawn at
random until it occurs in no search and no code of its batch, so nothing that was written beforehand can close the fence,
open another pair or answer for one. Characters that cannot be seen, or that reorder what is seen, are shown as `<U+202E>`;
line ends of every kind become one kind, so that a line is the same line for every reader.
"""

import os
import random
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from judge._batching import redaction
from judge._judges.identity import Identity
from pools._dataset.records import PairKey
from pools._dataset.settings import JudgeSettings
from pools.errors import UsageError
from prompts import templates
from prompts.scales import Scale

Choose = Callable[[str], str]
"""Picks one character of a text, at random."""

# No vowels, so that no word comes up; no 0, 1 and l, which are easily misread. A letter first: an id is never a number.
LETTERS = "bcdfghjkmnpqrstvwxz"
SYMBOLS = LETTERS + "23456789"
ID_LENGTH = 8


class _System:
    """Picks by the operating system's random bytes, many of which come at a time, because each call for some is slow."""

    def __init__(self) -> None:
        self._bytes = iter(b"")

    def __call__(self, symbols: str) -> str:
        count = len(symbols)
        while True:
            for byte in self._bytes:
                if byte < 256 - 256 % count:  # the others would make the first symbols likelier
                    return symbols[byte % count]
            self._bytes = iter(os.urandom(4096))


at_random: Choose = _System()

# Controls but tab and line feed, lone surrogates, line and paragraph separators, interlinear annotation, and all that
# Unicode calls "default ignorable": soft hyphen, zero-width and bidirectional characters, variation selectors, tags, fillers.
_CONTROLS = r"\x00-\x08\x0b-\x1f\x7f"
_ASCII_INVISIBLE = re.compile(f"[{_CONTROLS}]")
_INVISIBLE = re.compile(
    f"[{_CONTROLS}\x80-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e\u2060-\u206f"
    "\u3164\ud800-\udfff\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\U0001bca0-\U0001bca3\U0001d173-\U0001d17a"
    "\U000e0000-\U000e0fff]"
)


@dataclass(frozen=True, slots=True)
class Item:
    """A pair to be rated, with the texts that the judge sees; `code` is whole here, and cut when it is shown."""

    pair: PairKey
    search: str
    code: str


@dataclass(frozen=True, slots=True)
class Batch:
    """The pairs of one prompt in the order shown, each behind its id."""

    entries: tuple[tuple[str, Item], ...]

    @classmethod
    def of(cls, items: Sequence[Item], choose: Choose = at_random) -> "Batch":
        """Put pairs under fresh ids, which are unique and occur in no search or code of these pairs."""
        texts = "\n".join([text for item in items for text in (item.search, item.code)])
        ids: dict[str, None] = {}
        while len(ids) < len(items):
            candidate = choose(LETTERS) + "".join([choose(SYMBOLS) for _ in range(ID_LENGTH - 1)])
            if candidate not in texts:
                ids[candidate] = None
        return cls(tuple(zip(ids, items, strict=True)))

    @property
    def ids(self) -> tuple[str, ...]:
        return tuple(entry_id for entry_id, _ in self.entries)

    @property
    def items(self) -> tuple[Item, ...]:
        return tuple(item for _, item in self.entries)


def plan(items: Iterable[Item], seed: int, *, settings: JudgeSettings, choose: Choose = at_random) -> Iterator[Batch]:
    """Shuffle pairs with the seed and cut them into batches.

    The order depends on the seed and the pairs alone, not on the order they come in; the ids are fresh each time. A batch
    holds up to `pairs_per_batch` pairs, and fewer where its searches and code as shown would exceed
    `max_batch_characters`; a pair that exceeds it by itself is a batch of its own.
    """
    waiting = sorted(items, key=lambda item: item.pair)
    random.Random(seed).shuffle(waiting)  # noqa: S311  an order, not a secret
    batch: list[Item] = []
    characters = 0
    for item in waiting:
        size = len(show_search(item.search)) + len(show_code(item.code, settings.shown_characters))
        if batch and (len(batch) >= settings.pairs_per_batch or characters + size > settings.max_batch_characters):
            yield Batch.of(batch, choose)
            batch, characters = [], 0
        batch.append(item)
        characters += size
    if batch:
        yield Batch.of(batch, choose)


@dataclass(frozen=True, slots=True)
class Prompt:
    """A batch as the judge sees it, and how many secrets of each kind were masked in its code."""

    text: str
    redacted: Mapping[str, int]


def prompt(batch: Batch, identity: Identity) -> str:
    """Return the text of `render`."""
    return render(batch, identity).text


def render(batch: Batch, identity: Identity, *, setting: str = "judge.prompt") -> Prompt:
    """Fill the identity's template with a batch's ids, searches and code, its secrets masked first where `redact` says so.

    The template is given `items` (each with `id`, `search`, `code` fenced, `characters` of the whole code, and `cut`, the
    characters shown, 0 where all are), `scale` (its levels in words) and `values` (the whole numbers). Raises `UsageError`
    for a template that cannot be filled, or that leaves out a search or code, naming the `setting` that named its file.
    """
    limit = identity.shown_characters
    redacted: Counter[str] = Counter()
    shown = []
    for entry_id, item in batch.entries:
        code = item.code
        if identity.redact:
            masked = redaction.mask(code)
            code = masked.text
            redacted += masked.counts
        shown.append(
            {
                "id": entry_id,
                "search": show_search(item.search),
                "code": f"<code {entry_id}>\n{show_code(code, limit)}\n</code {entry_id}>",
                "characters": len(code),
                "cut": limit if len(code) > limit else 0,
            }
        )
    try:
        text = templates.render(
            identity.prompt, items=shown, scale=identity.scale.describe(), values=list(identity.scale.values)
        )
    except ValueError as error:
        raise UsageError(f"{error}; mend the .j2 file named by {setting}") from error
    for entry in shown:
        for part in ("search", "code"):
            if str(entry[part]) not in text:
                raise UsageError(
                    f"the prompt template does not show item.{part} as it is; mend the .j2 file named by {setting}"
                )
    return Prompt(text, redacted)


def reply_schema(batch: Batch, scale: Scale) -> dict[str, Any]:
    """Return the JSON schema of a whole reply: an object `ratings` with as many entries of id and rating as the batch has.

    The ids themselves are left out on purpose: endpoints compile a schema when they first see it, and with ids in it every
    request would bring a new one.
    """
    entry = {
        "type": "object",
        "properties": {"id": {"type": "string"}, "rating": {"type": "integer", "enum": list(scale.values)}},
        "required": ["id", "rating"],
        "additionalProperties": False,
    }
    count = len(batch.entries)
    return {
        "type": "object",
        "properties": {"ratings": {"type": "array", "items": entry, "minItems": count, "maxItems": count}},
        "required": ["ratings"],
        "additionalProperties": False,
    }


def show_search(search: str) -> str:
    """Return a search as one line, every run of white space one space, invisible characters as escapes."""
    return _visible(" ".join(search.split()))


def show_code(code: str, limit: int) -> str:
    """Return the first `limit` characters of code with `\\n` as its only line end and invisible characters as escapes."""
    shown = code[:limit]
    if "\r" in shown:
        shown = shown.replace("\r\n", "\n").replace("\r", "\n")
    return _visible(shown)


def _visible(text: str) -> str:
    pattern = _ASCII_INVISIBLE if text.isascii() else _INVISIBLE
    return pattern.sub(lambda match: f"<U+{ord(match[0]):04X}>", text)
