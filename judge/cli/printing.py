"""What commands print: results to stdout as text, JSON or CSV, and notes for a person to stderr."""

import csv
import io
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Literal

import click

Form = Literal["text", "json", "csv"]
Cell = str | int | float | None
Row = Mapping[str, Cell]
"""A record's cells by the name of their column."""
BEGINS_FORMULA = ("=", "+", "-", "@", "\t", "\r")


def show(
    form: Form,
    text: Callable[[], str],
    *,
    document: Callable[[], object],
    rows: Callable[[], Iterable[Row]],
    columns: Sequence[str] = (),
) -> None:
    """Print a result in the form asked for; each is a function, because only one of them has to be made."""
    if form == "json":
        show_json(document())
    elif form == "csv":
        click.echo(csv_text(rows(), columns), nl=False)
    elif words := text():
        click.echo(words)


def csv_text(rows: Iterable[Row], columns: Sequence[str] = ()) -> str:
    """Return records as CSV: a header row, then a row each, figures unrounded, an empty cell for what is None.

    `columns` are those of the first record unless they are given, as they have to be where there may be none. A text that a
    spreadsheet would take for a formula begins with an apostrophe, which makes it a text there too.
    """
    records = list(rows)
    header = tuple(columns or (records[0] if records else ()))
    return "".join([_line(header), *(_line([_cell(record[name]) for name in header]) for record in records)])


def _line(cells: Sequence[Cell]) -> str:
    # With a line end of its own the writer would leave another kind of line break in a cell unquoted.
    out = io.StringIO()
    csv.writer(out).writerow(cells)
    return out.getvalue().removesuffix("\r\n") + "\n"


def ends(name: str, bounds: tuple[float, float] | None) -> Row:
    """Return the two cells of an interval."""
    lower, upper = (None, None) if bounds is None else bounds
    return {f"{name}_lower": lower, f"{name}_upper": upper}


def _cell(value: Cell) -> Cell:
    if isinstance(value, bool):
        return str(value).lower()
    return f"'{value}" if isinstance(value, str) and value.startswith(BEGINS_FORMULA) else value


def json_text(document: object) -> str:
    """Return figures as text for a program to read."""
    return json.dumps(document, ensure_ascii=False, indent=2)


def show_json(document: object) -> None:
    """Print figures for a program to read."""
    click.echo(json_text(document))


def note(message: str) -> None:
    """Print a note for the person at the terminal; results alone go to stdout."""
    click.echo(message, err=True)
