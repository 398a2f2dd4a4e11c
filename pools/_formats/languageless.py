"""A collection written in a form without languages, as TREC's and BEIR's: a folder a language, and one whole grade a pair.

What such a form cannot hold is the same in all of them: whose a rating is and how many there were, splits, which pairs were
sampled, and functions of a language without a search. A dataset without languages needs no folder of its own in it.

A grade is the relevance rounded to the nearest whole number, halves up, that is on the same side of what makes a pair
relevant: with 2 and more relevant, 1.5 and 1.6667 are written as 1, so that whoever counts grades from 2 on counts the same
pairs.
"""

import math
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, TypeVar

from pools._dataset import dataset
from pools._dataset.records import ONLY_LANGUAGE, ORIGIN_COLUMNS, Function, Qrel, Query
from pools._dataset.tables import Row
from pools._formats import collection
from pools._formats.collection import Collection
from pools.errors import DataError

R = TypeVar("R", Query, Function, Qrel)


def parts(found: Collection) -> dict[str, Collection]:
    """Return the collection of each language that has a search, by the path of its folder, "" or ending in a slash."""
    queries, corpus, qrels = _by_language(found.queries), _by_language(found.corpus or ()), _by_language(found.qrels)
    return {
        _folder(language, queries): Collection(tuple(searches), tuple(corpus.get(language, ())), tuple(qrels.get(language, ())))
        for language, searches in queries.items()
    }


def _by_language(records: Iterable[R]) -> dict[str, list[R]]:
    out: dict[str, list[R]] = {}
    for record in records:
        out.setdefault(record.language, []).append(record)
    return out


def _folder(language: str, languages: Iterable[str]) -> str:
    # The name is checked where the language's own folder is named.
    return "" if set(languages) == {ONLY_LANGUAGE} else f"{dataset.work(Path(), language).name}/"


def grade(qrel: Qrel, relevant_from: float) -> int:
    """Return a pair's relevance as a whole number: the nearest, halves up, on the same side of `relevant_from`."""
    nearest, least = math.floor(qrel.relevance + 0.5), math.ceil(relevant_from)
    return max(nearest, least) if qrel.relevant else min(nearest, least - 1)


def with_text(function: Function) -> Function:
    """Return the function; raises `DataError` for one of white space alone, which no reader takes for a document."""
    if not function.code.strip():
        raise DataError(
            f"function {function.id!r} of {function.language}: its code is white space alone, which this form cannot hold; "
            "write another format, or remove it"
        )
    return function


def document(function: Function, *, identifier: str, text: str) -> Row:
    """Return a function as a row of documents, its id and text in the columns named, which `collection.document` reads.

    A title that its code begins with is the title. Columns of its own that have another meaning in the form stay under
    source_NAME.
    """
    origin = {
        column: value
        for column, value in function.origin.items()
        if column != "sha256" and not (value is None and column in ORIGIN_COLUMNS)
    }
    title, body = _taken_apart(function.code, origin.get("title"))
    if title:
        del origin["title"]
    return {identifier: function.id, "title": title, text: body, **freed(origin, {identifier, "title", text})}


def _taken_apart(code: str, title: object) -> tuple[str, str]:
    """Return title and text that make the code; no title where the code does not begin with it."""
    if isinstance(title, str) and title.strip():
        text = code.removeprefix(title.strip()).removeprefix("\n")
        if collection.code_of(title, text) == code:
            return title, text
    return "", code


def freed(columns: Mapping[str, Any], taken: Iterable[str]) -> Row:
    """Return columns with those that a form needs for itself under source_NAME."""
    out = {column: value for column, value in columns.items() if column not in taken}
    for column in columns.keys() - out.keys():
        name = f"source_{column}"
        while name in columns or name in taken:
            name = f"source_{name}"
        out[name] = columns[column]
    return out
