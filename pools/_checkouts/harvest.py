"""The corpus made of a checkout's functions, and how an existing one grows by them.

A row is never changed into another function and never dropped: its id may have been judged for money. Identical code is one
row however often it occurs, with the other places in `copies` and their number, its own place included, in `count`. New rows
are numbered on behind the existing ones in order of path and line, so the same checkout read twice changes no byte, and a
later commit adds only what is new. A row keeps the commit, path and lines at which it was first read, which stay true.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from pools._checkouts import extraction, grammars, licence, near_duplicates
from pools._checkouts.checkout import Checkout
from pools._dataset import files, tables
from pools._dataset.records import Function, function_of, function_row
from pools.errors import DataError

COPIES, COUNT, NEAR = "copies", "count", "near_duplicate_of"
_PLACE = ("repository", "path", "first_line", "last_line")


@dataclass(frozen=True, slots=True)
class Harvest:
    """Every function of a checkout's source files in order of path and line, each without an id.

    `faulty` files have a syntax error, so functions of theirs may be missing; `broken` functions are left out because one is
    within them; `undecodable` files hold bytes that are no text in their encoding and are kept as U+FFFD.
    """

    functions: tuple[Function, ...]
    faulty: int
    broken: int
    undecodable: int


@dataclass(frozen=True, slots=True)
class Growth:
    """A corpus after a checkout was read into it, and what happened to each function found there.

    `found` = `added` (new rows) + `repeated` (same code as another one found) + `known` (same code as a row from before).
    `near_duplicates` are those among all rows of the language.
    """

    functions: tuple[Function, ...]
    found: int
    added: int
    repeated: int
    known: int
    near_duplicates: int


def read(folder: Path) -> tuple[Path, tuple[Function, ...]]:
    """Return the path of a folder's corpus and its functions, none where it has no corpus yet; raises `DataError`."""
    path = tables.find(folder, "corpus")
    if path is None:
        return folder / "corpus.jsonl.gz", ()
    out, seen = [], set()
    for place, row in tables.read(path):
        try:
            function = function_of(row)
        except ValueError as error:
            raise DataError(f"{place}: {error}") from error
        if function.id in seen:
            raise DataError(f"{place}: {function.id!r} is there twice; keep one of them")
        seen.add(function.id)
        out.append(function)
    return path, tuple(out)


def write(path: Path, functions: Iterable[Function]) -> None:
    """Replace a corpus atomically."""
    tables.write(path, [function_row(function) for function in functions])


def harvest(checkout: Checkout, language: str, *, sources: Iterable[tuple[str, bytes]]) -> Harvest:
    """Extract the functions of a checkout's source files, given as the paths and contents that `checkout.sources` yields."""
    licences = _licences(checkout)
    out = []
    faulty = broken = undecodable = 0
    for path, content in sorted(sources):
        text = extraction.decode(content, language)
        undecodable += "\ufffd" in text and "\ufffd".encode() not in content
        extracted = extraction.functions(text, language, suffix=Path(path).suffix.lower())
        faulty += extracted.faulty
        broken += extracted.broken
        commit, spdx = checkout.commit_of(path), licence.of_file(path, content, by_folder=licences)
        for span in extracted.spans:
            origin = {
                "url": checkout.url(path, span.first_line, last_line=span.last_line), "repository": checkout.repository,
                "commit": commit, "path": path, "first_line": span.first_line, "last_line": span.last_line, "license": spdx,
                "sha256": _sha256(span.code),
            }  # fmt: skip
            out.append(Function("", language, span.code, origin))
    return Harvest(tuple(out), faulty, broken, undecodable)


def _licences(checkout: Checkout) -> dict[str, str | None]:
    texts: dict[str, list[str]] = {}
    for path in checkout.paths:
        folder, _, name = path.rpartition("/")
        place = checkout.root / path
        if licence.is_licence_file(name) and place.is_file() and not place.is_symlink():
            texts.setdefault(folder, []).append(files.read(place).decode("utf-8", "replace"))
    return {folder: licence.identify(found) for folder, found in texts.items()}


def grow(existing: Sequence[Function], language: str, *, harvested: Sequence[Function]) -> Growth:
    """Return a corpus grown by the functions that `harvest` found in a checkout.

    Rows of other languages are left as they are. A row's copies in the checkout's repository become those that were found
    now, where its code was found at all; copies in other repositories stay.
    """
    of_code: dict[str, int] = {}
    rows = list(existing)
    for position, function in enumerate(rows):
        if function.language == language:
            of_code.setdefault(_sha256(function.code), position)
    places: dict[str, list[Function]] = {}
    for function in harvested:
        places.setdefault(function.origin["sha256"], []).append(function)
    known = 0
    number = _next_number(rows, language)
    for code, found in places.items():
        if code in of_code:
            known += len(found)
            rows[of_code[code]] = _counted(rows[of_code[code]], found)
        else:
            rows.append(_counted(replace(found[0], id=f"{language}/{number:04}"), found))
            number += 1
    added = len(rows) - len(existing)
    marked, near = _marked(rows, language)
    return Growth(marked, len(harvested), added, len(harvested) - added - known, known, near)


def _counted(row: Function, found: Sequence[Function]) -> Function:
    here = found[0].origin["repository"]
    elsewhere = [dict(place) for place in row.origin.get(COPIES) or () if place["repository"] != here]
    places = [_place(function.origin) for function in found]
    if row.origin.get("repository") == here:
        # Where the row's function has moved since it was read, the first place found is where it moved to.
        own = _place(row.origin)
        places.remove(own if own in places else places[0])
    copies = sorted(elsewhere + places, key=lambda place: tuple(place[column] for column in _PLACE))
    return replace(row, origin={**row.origin, COUNT: 1 + len(copies), COPIES: copies})


def _place(origin: Mapping[str, Any]) -> dict[str, Any]:
    return {column: origin.get(column) for column in _PLACE}


def _marked(rows: Sequence[Function], language: str) -> tuple[tuple[Function, ...], int]:
    positions = [position for position, function in enumerate(rows) if function.language == language]
    marks = near_duplicates.find([rows[position].code for position in positions])
    out = list(rows)
    for position, mark in zip(positions, marks, strict=True):
        origin = rows[position].origin
        near = None if mark is None else rows[positions[mark]].id
        copies = {COUNT: origin.get(COUNT, 1), COPIES: origin.get(COPIES) or []}
        out[position] = replace(rows[position], origin={**origin, **copies, NEAR: near})
    return tuple(out), sum(mark is not None for mark in marks)


def _next_number(rows: Iterable[Function], language: str) -> int:
    numbered = (re.fullmatch(rf"{re.escape(language)}/(\d+)", function.id) for function in rows)
    return max((int(match[1]) + 1 for match in numbered if match is not None), default=0)


def _sha256(code: str) -> str:
    return files.sha256(code.encode("utf-8", "surrogatepass"))


def suffixes(language: str) -> tuple[str, ...]:
    """Return the suffixes of a language's source files; raises `UsageError` for one without a grammar."""
    return tuple(grammars.of(language).suffixes)
