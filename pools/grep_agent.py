"""grep-agent: one ripgrep pattern a search, as a coding agent would write it, and what the patterns hit.

An LLM writes the patterns from the searches alone, never having seen the code. They are kept in patterns.jsonl, one line a
search, where a person can read, edit or write them; a pattern that is there is never asked for again unless its search
changed. A pattern that ripgrep cannot compile is asked for once more with ripgrep's message. A search that gets no pattern has
none: nothing is made up for it.
"""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from pools import dataset, ripgrep, tables
from pools.dataset import Function, Query
from pools.errors import DataError
from pools.hits import Hit
from prompts import templates

Ask = Callable[[str], str]
"""Sends one prompt and returns the text of the reply."""

SEARCHES_PER_REQUEST = 20
HAND = "hand"
"""The `model` of a pattern that a person wrote."""


@dataclass(frozen=True, slots=True)
class Pattern:
    """The pattern of one search; `search` is the text it was written for, `model` who wrote it."""

    search_id: str
    search: str
    pattern: str
    model: str = HAND


def path(folder: Path, language: str) -> Path:
    """Return where a language's patterns are kept."""
    return dataset.work(folder, language) / "patterns.jsonl"


def read(path: Path) -> tuple[Pattern, ...]:
    """Return a file's patterns, none where there is no file.

    Raises `DataError` with file and line for a line that is no pattern, a search's second one, or what ripgrep refuses.
    """
    if not path.is_file():
        return ()
    out: dict[str, Pattern] = {}
    for place, row in tables.read(path):
        try:
            pattern = Pattern(**row)
        except TypeError as error:
            raise DataError(f"{place}: not a pattern ({error}); columns are search_id, search, pattern, model") from error
        if not all(isinstance(value, str) for value in asdict(pattern).values()):
            raise DataError(f"{place}: search_id, search, pattern and model must be texts")
        if pattern.search_id in out:
            raise DataError(f"{place}: search {pattern.search_id!r} has a pattern already; keep one of them")
        complaint = ripgrep.complaint(pattern.pattern)
        if complaint is not None:
            raise DataError(f"{place}: ripgrep cannot compile {pattern.pattern!r} ({complaint}); mend the pattern")
        out[pattern.search_id] = pattern
    return tuple(out.values())


def write(path: Path, patterns: Sequence[Pattern]) -> None:
    """Replace a patterns file, sorted by search."""
    tables.write(path, [asdict(pattern) for pattern in sorted(patterns, key=lambda pattern: pattern.search_id)])


def missing(queries: Sequence[Query], patterns: Sequence[Pattern]) -> tuple[Query, ...]:
    """Return the searches without a pattern, or whose text is not the one that their pattern was written for."""
    written = {(pattern.search_id, pattern.search) for pattern in patterns}
    return tuple(query for query in queries if (query.search_id, query.search) not in written)


def ask_for(queries: Sequence[Query], ask: Ask, language: str, model: str) -> tuple[Pattern, ...]:
    """Return the patterns that an LLM writes for searches, `SEARCHES_PER_REQUEST` of them a request.

    What is missing from a reply, and what ripgrep refuses (told its message), is asked for once more; what then has no pattern
    that compiles is left out.
    """
    found: dict[str, Pattern] = {}
    refused: dict[str, tuple[str, str]] = {}
    for _ in range(2):
        waiting = [query for query in queries if query.search_id not in found]
        for start in range(0, len(waiting), SEARCHES_PER_REQUEST):
            asked = waiting[start : start + SEARCHES_PER_REQUEST]
            written = parse(ask(_prompt(asked, refused, language)))
            for query in asked:
                text = written.get(query.search_id)
                if text is None:
                    continue
                complaint = ripgrep.complaint(text)
                if complaint is None:
                    found[query.search_id] = Pattern(query.search_id, query.search, text, model)
                else:
                    refused[query.search_id] = (text, complaint)
    return tuple(found.values())


def _prompt(queries: Sequence[Query], refused: Mapping[str, tuple[str, str]], language: str) -> str:
    entries = []
    for query in queries:
        pattern, complaint = refused.get(query.search_id, ("", ""))
        entries.append(
            {"id": query.search_id, "search": " ".join(query.search.split()), "pattern": pattern, "complaint": complaint}
        )
    return templates.render(templates.text("patterns"), language=language, searches=entries)


def parse(reply: str) -> dict[str, str]:
    """Return the patterns by search id of the last JSON object in a reply whose values are texts that are not empty."""
    out: dict[str, str] = {}
    decoder = json.JSONDecoder(strict=False)
    place = 0
    while (start := re.compile(r"\{").search(reply, place)) is not None:
        try:
            value, place = decoder.raw_decode(reply, start.start())
        except (ValueError, RecursionError):
            place = start.end()
            continue
        found = {key: text for key, text in value.items() if isinstance(text, str) and text.strip()}
        out = found or out
    return out


def search_patterns(queries: Sequence[Query], functions: Sequence[Function], patterns: Sequence[Pattern]) -> tuple[Hit, ...]:
    """Return the functions that hold a line which their search's pattern matches.

    A hit's score is the number of its lines that match; ranks go by falling score, then by id. A search without a pattern
    has no hit.
    """
    by_search = {pattern.search_id: pattern.pattern for pattern in patterns}
    out: list[Hit] = []
    with ripgrep.haystack(functions) as hay:
        for query in queries:
            if query.search_id in by_search:
                counts = hay.hits(by_search[query.search_id], "--crlf")
                ordered = sorted(counts, key=lambda name: (-counts[name], name))
                out += [Hit(query.search_id, name, rank, float(counts[name])) for rank, name in enumerate(ordered, start=1)]
    return tuple(out)
