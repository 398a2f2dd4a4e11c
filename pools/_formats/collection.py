"""A test collection that comes in from another form: its records, checked, and how they become a dataset's files.

What all imports share is here: which rows are refused, how document text is made, and that files which are there already
are never replaced by others. An import reads everything before it writes anything.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from pools._dataset import files, tables
from pools._dataset.records import ONLY_LANGUAGE, Function, Qrel, Query, function_row, qrel_row, query_row
from pools._dataset.tables import Row
from pools.errors import DataError, UsageError
from pools.relevance import is_relevant
from prompts.scales import Scale

R = TypeVar("R")

FORM = ".jsonl.gz"

_QUERY_COLUMNS = ("language", "search_id", "search", "split")
_FUNCTION_COLUMNS = ("id", "language", "code", "sha256")


@dataclass(frozen=True, slots=True)
class Collection:
    """Searches, functions (None where it has no corpus) and judgements, in the order in which they are written.

    `notes` says what was left out and anything else that its owner should know, a line each; `unresolved` how many functions
    of each language have no code and were left out, empty where a form has all code in itself; `beside` are further files to
    write beside the dataset's, by name.
    """

    queries: tuple[Query, ...]
    corpus: tuple[Function, ...] | None
    qrels: tuple[Qrel, ...]
    notes: tuple[str, ...] = ()
    unresolved: Mapping[str, int] = field(default_factory=dict)
    beside: Mapping[str, bytes] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Judged:
    """A line of a qrels file: which document was given which level for which search."""

    place: str
    search_id: str
    document: str
    level: str


def write(folder: Path, found: Collection) -> None:
    """Write queries, corpus and qrels, then what is to lie beside them; tables of the same rows stay, in whatever form.

    Raises `UsageError`, with nothing written, where one of them holds other rows.
    """
    rows = {"corpus": None if found.corpus is None else [function_row(function) for function in found.corpus]}
    rows["qrels"] = [qrel_row(qrel) for qrel in found.qrels]
    # Last, because a folder is a dataset when it has queries.
    rows["queries"] = [query_row(query) for query in found.queries]
    missing = {name: made for name, made in rows.items() if made is not None and not is_there(folder, name, rows=made)}
    contents = {name + FORM: files.compress(lines(name + FORM, made)) for name, made in missing.items()}
    for name, content in contents.items():
        files.replace(folder / name, content)
    for name, content in found.beside.items():
        files.replace(folder / name, content)


def lines(name: str, rows: Iterable[Row]) -> bytes:
    """Return rows as the JSON lines of a file; raises `DataError` with its name for a value that is no JSON."""
    try:
        return tables.lines(rows)
    except (TypeError, ValueError) as error:
        table = Path(name).name.partition(".")[0]
        raise DataError(f"{table}: a value that {name} cannot hold ({error}); write it as text or number first") from error


def is_there(folder: Path, name: str, *, rows: list[Row]) -> bool:
    """Tell whether a folder has a table with these rows; raises `UsageError` where it has one with others."""
    path = tables.find(folder, name)
    if path is None:
        return False
    if [row for _, row in tables.read(path)] != rows:
        raise UsageError(f"{path} holds something else than what is imported; name a new folder with --data, or move it away")
    return True


def unique(items: Iterable[tuple[str, R]], key: Callable[[R], str], *, what: str) -> tuple[R, ...]:
    """Return the records of (place, record) in order; raises `DataError` naming both places of a key that comes twice."""
    seen: dict[str, str] = {}
    records = []
    for place, record in items:
        if key(record) in seen:
            raise DataError(f"{place}: {what} {key(record)!r} is already at {seen[key(record)]}; keep one of them")
        seen[key(record)] = place
        records.append(record)
    return tuple(records)


def query(place: str, identifier: str, *, text: str, extra: Mapping[str, Any], split: str = "test") -> Query:
    """Return a search of a collection without languages; raises `DataError` for one without text."""
    search = " ".join(text.split())
    if not identifier or not search:
        raise DataError(f"{place}: a search needs an id and a text, not {identifier!r} and {search!r}; add it or remove it")
    return Query(ONLY_LANGUAGE, identifier, search, split, _renamed(extra, _QUERY_COLUMNS))


def document(place: str, identifier: str, *, title: str, text: str, extra: Mapping[str, Any]) -> Function:
    """Return a document of a collection without languages; its code is its title, if it has one, and its text below that.

    Columns of its own stay, those that mean something else in a dataset under source_NAME. Raises `DataError` for a document
    without text.
    """
    code = code_of(title, text)
    if not identifier or not code:
        raise DataError(f"{place}: document {identifier!r} has no id or no text; add it, or remove the document")
    own = {"title": title} if title.strip() else {}
    sha256 = files.sha256(code.encode("utf-8", "surrogatepass"))
    return Function(identifier, ONLY_LANGUAGE, code, {**own, **_renamed(extra, _FUNCTION_COLUMNS), "sha256": sha256})


def code_of(title: str, text: str) -> str:
    """Return what is judged of a document: its title, if it has one, and its text below that."""
    return "\n".join(part for part in (title.strip(), text) if part.strip())


def text_lines(path: Path) -> list[str]:
    """Return the lines of a text file, without line ends; raises `DataError` where it is not UTF-8."""
    try:
        lines = files.read(path).decode("utf-8-sig").removesuffix("\n").split("\n")
    except UnicodeDecodeError as error:
        raise DataError(f"{path}: not UTF-8 ({error.reason} at byte {error.start}); write it again as UTF-8") from error
    return [line.removesuffix("\r") for line in lines]


def identifier(place: str, row: Row, *columns: str) -> str:
    """Return the id in the first of the columns that a row has, a number as text; raises `DataError` where it has none."""
    return str(row[chosen(place, row, "id", *columns)]).strip()


def text(place: str, row: Row, *columns: str) -> str:
    """Return the text in the first of the columns that a row has; raises `DataError` where it has none."""
    return str(row[chosen(place, row, "text", *columns)])


def chosen(place: str, row: Row, what: str, *columns: str) -> str:
    """Return the first of the columns in which a row has a text or whole number; raises `DataError` where none has."""
    for column in columns:
        if isinstance(row.get(column), str) or type(row.get(column)) is int:
            return column
    raise DataError(f"{place}: no {what}; it must be a text in {' or '.join(columns)}")


def judgements(
    lines: Iterable[Judged], queries: Iterable[Query], *, corpus: Iterable[Function], scale: Scale, relevant_from: float
) -> tuple[Qrel, ...]:
    """Return the judgements of a qrels file as expert ratings, sorted.

    Raises `DataError` naming the line for a level that is no whole number on the scale, a search or document that the
    collection lacks, and a pair that comes twice.
    """
    searches = {query.search_id for query in queries}
    documents = {function.id for function in corpus}
    found = []
    for line in lines:
        if line.search_id not in searches:
            raise DataError(f"{line.place}: no search {line.search_id!r} in the collection; add it or remove the line")
        if line.document not in documents:
            raise DataError(f"{line.place}: no document {line.document!r} in the collection; add it or remove the line")
        found.append(
            (
                line.place,
                expert(
                    ONLY_LANGUAGE,
                    line.search_id,
                    function_id=line.document,
                    ratings=(_level(line, scale),),
                    relevant_from=relevant_from,
                ),
            )
        )
    return tuple(sorted(unique(found, _pair, what="pair"), key=lambda qrel: qrel.pair))


def expert(language: str, search_id: str, *, function_id: str, ratings: tuple[int, ...], relevant_from: float) -> Qrel:
    """Return the judgement of a pair that experts rated, in rating order; relevant where their mean is."""
    mean = sum(ratings) / len(ratings)
    return Qrel(language, search_id, function_id, round(mean, 4), is_relevant(ratings, relevant_from), "expert", ratings)


def _pair(qrel: Qrel) -> str:
    return f"{qrel.search_id} {qrel.function_id}"


def _level(line: Judged, scale: Scale) -> int:
    if not re.fullmatch(r"[+-]?[0-9]{1,9}", line.level):
        raise DataError(f"{line.place}: level {line.level!r} is no whole number; correct the line")
    if int(line.level) not in scale.values:
        raise DataError(
            f"{line.place}: level {line.level} is off the scale {scale.lowest}-{scale.highest}; name a scale file of your own "
            'that has it in judge.toml (scale = "levels.toml"), or change the line'
        )
    return int(line.level)


def _renamed(extra: Mapping[str, Any], known: tuple[str, ...]) -> Row:
    return {f"source_{column}" if column in known else column: value for column, value in extra.items()}
