"""grep-agent: one ripgrep pattern a search, as a coding agent would write it, and what the patterns hit.

An LLM writes the patterns from the searches alone, never having seen the code. They are kept in patterns.jsonl, one line a
search, where a person can read, edit or write them; a pattern that is there is never asked for again unless its search
changed, and what a reply brought is kept before the next request is sent. A pattern that ripgrep cannot compile is asked for
once more with ripgrep's message. A search that gets no pattern has none: nothing is made up for it.
"""

import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from pools._dataset import dataset, files, tables
from pools._dataset.partition import Partition
from pools._dataset.records import Function, Query
from pools._engines import ripgrep
from pools._retrievers.retriever import Access, LeftOut, Retriever
from pools._sampling.hits import Hit
from pools.errors import DataError
from prompts import templates

Ask = Callable[[str], str]
"""Sends one prompt and returns the text of the reply."""

SEARCHES_PER_REQUEST = 20
HAND = "hand"
"""The `model` of a pattern that a person wrote."""
# As ripgrep does unless told otherwise, patterns go line by line and mind the case; but `$` is also before a Windows line end.
OPTIONS = ("--crlf",)


@dataclass(frozen=True, slots=True)
class Pattern:
    """The pattern of one search; `search` is the text it was written for, `model` who wrote it.

    `digest` is of the pattern as the model wrote it, and tells whether a person changed it since; empty where it is not known.
    """

    search_id: str
    search: str
    pattern: str
    model: str = HAND
    digest: str = ""

    @property
    def edited(self) -> bool:
        """Whether the pattern is no longer the one that the model wrote."""
        return self.digest not in {"", _digest(self.pattern)}


def _digest(pattern: str) -> str:
    return files.sha256(pattern.encode("utf-8", "surrogatepass"))[:16]


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
            raise DataError(
                f"{place}: not a pattern ({error}); columns are search_id, search, pattern, model, digest"
            ) from error
        if not all(isinstance(value, str) for value in asdict(pattern).values()):
            raise DataError(f"{place}: search_id, search, pattern, model and digest must be texts")
        if pattern.search_id in out:
            raise DataError(f"{place}: search {pattern.search_id!r} has a pattern already; keep one of them")
        complaint = ripgrep.complaint(pattern.pattern, *OPTIONS)
        if complaint is not None:
            raise DataError(f"{place}: ripgrep cannot compile {pattern.pattern!r} ({complaint}); mend the pattern")
        out[pattern.search_id] = pattern
    return tuple(out.values())


def write(path: Path, patterns: Sequence[Pattern]) -> None:
    """Replace a patterns file, sorted by search."""
    ordered = sorted(patterns, key=lambda pattern: pattern.search_id)
    rows = [asdict(pattern) for pattern in ordered]
    tables.write(path, [{column: row[column] for column in row if column != "digest" or row[column]} for row in rows])


def missing(queries: Sequence[Query], patterns: Sequence[Pattern]) -> tuple[Query, ...]:
    """Return the searches without a pattern, or whose text is not the one that their pattern was written for."""
    written = {(pattern.search_id, pattern.search) for pattern in patterns}
    return tuple(query for query in queries if (query.search_id, query.search) not in written)


def complete(path: Path, queries: Sequence[Query], *, ask: Ask, language: str, model: str) -> tuple[Pattern, ...]:
    """Have an LLM write the patterns that a file lacks, and return all that the file then has.

    The file is replaced after every request, so whatever stops the asking, no reply is lost. A pattern that is not missing is
    left as it is; one whose search changed stays until there is a new one. Raises what `read` and `ask` raise.
    """
    patterns = {pattern.search_id: pattern for pattern in read(path)}
    for written in ask_for(missing(queries, tuple(patterns.values())), ask, language=language, model=model):
        if written:
            patterns |= {pattern.search_id: pattern for pattern in written}
            write(path, tuple(patterns.values()))
    return tuple(sorted(patterns.values(), key=lambda pattern: pattern.search_id))


def ask_for(queries: Sequence[Query], ask: Ask, *, language: str, model: str) -> Iterator[tuple[Pattern, ...]]:
    """Yield after each request the patterns that an LLM wrote for up to `SEARCHES_PER_REQUEST` searches.

    What is missing from a reply, and what ripgrep refuses (told its message), is asked for once more; what then has no pattern
    that compiles is left out.
    """
    done: set[str] = set()
    refused: dict[str, tuple[str, str]] = {}
    for _ in range(2):
        waiting = [query for query in queries if query.search_id not in done]
        for start in range(0, len(waiting), SEARCHES_PER_REQUEST):
            asked = waiting[start : start + SEARCHES_PER_REQUEST]
            reply = parse(ask(_prompt(asked, refused, language=language)))
            written = []
            for query in asked:
                text = reply.get(query.search_id)
                if text is None:
                    continue
                complaint = ripgrep.complaint(text, *OPTIONS)
                if complaint is None:
                    written.append(Pattern(query.search_id, query.search, text, model, _digest(text)))
                    done.add(query.search_id)
                else:
                    refused[query.search_id] = (text, complaint)
            yield tuple(written)


def _prompt(queries: Sequence[Query], refused: Mapping[str, tuple[str, str]], *, language: str) -> str:
    entries = []
    for query in queries:
        pattern, complaint = refused.get(query.search_id, ("", ""))
        entries.append(
            {"id": query.search_id, "search": " ".join(query.search.split()), "pattern": pattern, "complaint": complaint}
        )
    return templates.render(templates.text("patterns"), language=language, searches=entries)


def parse(reply: str) -> dict[str, str]:
    """Return the patterns by search id of the last JSON object in a reply whose values are texts that are not empty.

    A search that the object gives two different patterns has none.
    """
    out: dict[str, str] = {}
    decoder = json.JSONDecoder(strict=False, object_pairs_hook=_without_conflicts)
    place = 0
    while (start := reply.find("{", place)) >= 0:
        try:
            value, place = decoder.raw_decode(reply, start)
        except (ValueError, RecursionError):
            place = start + 1
            continue
        found = {key: text for key, text in value.items() if isinstance(text, str) and text.strip()}
        out = found or out
    return out


def _without_conflicts(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    out = dict(pairs)
    return out | {key: None for key, value in pairs if value != out[key]}


def search_patterns(queries: Sequence[Query], functions: Sequence[Function], *, patterns: Sequence[Pattern]) -> tuple[Hit, ...]:
    """Return the functions that hold a line which their search's pattern matches.

    A hit's score is the number of its lines that match; ranks go by falling score, then by id. A search without a pattern
    written for its present text has no hit.
    """
    by_search = {(pattern.search_id, pattern.search): pattern.pattern for pattern in patterns}
    out: list[Hit] = []
    with ripgrep.haystack(functions) as hay:
        for query in queries:
            pattern = by_search.get((query.search_id, query.search))
            if pattern is not None:
                counts = hay.hits(pattern, *OPTIONS)
                ordered = sorted(counts, key=lambda name: (-counts[name], name))
                out += [Hit(query.search_id, name, rank, float(counts[name])) for rank, name in enumerate(ordered, start=1)]
    return tuple(out)


def useless(hits: Sequence[Hit], functions: Sequence[Function]) -> tuple[str, ...]:
    """Return the searches, sorted, whose pattern hits every function that is not empty, and so says nothing."""
    everything = sum(bool(function.code) for function in functions)
    counts = Counter(hit.search_id for hit in hits)
    return tuple(sorted(search_id for search_id, count in counts.items() if count >= everything))


def _hits(partition: Partition, access: Access) -> tuple[Hit, ...] | LeftOut:
    queries, functions, language = partition.queries, partition.functions, partition.language
    file = path(partition.folder, language)
    patterns = read(file)
    if access.llm is not None and missing(queries, patterns):
        patterns = complete(file, queries, ask=access.llm.ask, language=language, model=access.llm.model)
    lacking = missing(queries, patterns)
    if lacking and len(lacking) == len(queries):
        return LeftOut(f"no patterns in {file}; write them, or name an LLM with --model")
    if lacking:
        ids = ", ".join(query.search_id for query in lacking)
        access.note(f"{language}: grep-agent has no pattern for {ids}; write them into {file}, or name an LLM with --model")
    found = search_patterns(queries, functions, patterns=patterns)
    if names := useless(found, functions):
        access.note(f"{language}: the patterns for {', '.join(names)} hit every function; edit them in {file}")
    return found


RETRIEVER = Retriever(
    "grep-agent",
    "functions with a line that the search's own ripgrep pattern matches",
    _hits,
    needs=("a pattern a search in work/<language>/patterns.jsonl, or an LLM that writes them (--model or judge.model)",),
)
