"""The CodeSearchNet Challenge's expert ratings, `annotationStore.csv`, as records.

One row is one rating, so a pair that several experts rated stands in the file several times, in rating order. A function is
known by where it is, not by how its address is spelt, because escapes and a lone line number can be spelt in two ways.
"""

import csv
import io
from collections.abc import Iterator
from dataclasses import dataclass

from pools._checkouts import sources
from pools._checkouts.sources import Location
from pools.errors import DataError
from prompts.scales import Scale

LANGUAGES = {"Python": "python", "Java": "java", "JavaScript": "javascript", "PHP": "php", "Ruby": "ruby", "Go": "go"}
"""The Challenge's names of its languages and the dataset's, in the order of the published dataset."""

COLUMNS = ("Language", "Query", "GitHubUrl", "Relevance")


@dataclass(frozen=True, slots=True)
class Annotation:
    """An expert's rating of a pair; `url` is as the file spells it, `language` as the dataset does."""

    language: str
    search: str
    url: str
    location: Location
    rating: int


def parse(content: bytes, name: str, *, scale: Scale) -> tuple[Annotation, ...]:
    """Return the ratings of a file in file order; further columns (Notes) are left aside.

    Raises `DataError` with the file's name and the line on which the row at fault begins.
    """
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise DataError(f"{name}: not UTF-8 ({error.reason}); fetch it again, as published") from error
    rows = _rows(text, name)
    header = next(rows, (1, []))[1]
    lacking = [column for column in COLUMNS if column not in header]
    if lacking:
        raise DataError(f"{name}:1: no column {', '.join(lacking)}; the first line must name {', '.join(COLUMNS)}")
    found = []
    for line, row in rows:
        if len(row) != len(header):
            raise DataError(f"{name}:{line}: {len(row)} columns where the first line has {len(header)}; fetch the file again")
        try:
            found.append(_annotation(dict(zip(header, row, strict=True)), scale))
        except ValueError as error:
            raise DataError(f"{name}:{line}: {error}") from error
    if not found:
        raise DataError(f"{name}: no ratings; fetch it again, as published")
    return tuple(found)


def _rows(text: str, name: str) -> Iterator[tuple[int, list[str]]]:
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    line = 1
    try:
        for row in reader:
            if row:
                yield line, row
            line = reader.line_num + 1
    except csv.Error as error:
        raise DataError(f"{name}:{line}: not CSV ({error}); fetch the file again, as published") from error


def _annotation(row: dict[str, str], scale: Scale) -> Annotation:
    spelt = {name.lower(): language for name, language in LANGUAGES.items()}
    language = spelt.get(row["Language"].strip().lower())
    if language is None:
        raise ValueError(f"unknown language {row['Language']!r}; valid are {', '.join(LANGUAGES)}")
    search = row["Query"].strip()
    if not search:
        raise ValueError("Query is empty; write what was searched for")
    rating = row["Relevance"].strip()
    if rating not in {str(value) for value in scale.values}:
        raise ValueError(f"Relevance is {rating!r}, which is no whole number on the scale {scale.lowest}-{scale.highest}")
    url = row["GitHubUrl"].strip()
    return Annotation(language, search, url, sources.locate(url), int(rating))
