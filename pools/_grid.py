"""Rows of cells as lines for a terminal, their columns aligned by the room that characters take there, not by their number."""

import unicodedata
from collections.abc import Collection, Sequence

GAP = "  "


def lines(rows: Sequence[Sequence[str]], right: Collection[int] = ()) -> list[str]:
    """Return rows of equally many cells, none of them with a line break, as a line each; no line ends in white space.

    Columns stand at the left of their width, those at the places `right` (from 0) at the right.
    """
    widths = [max(map(width, column)) for column in zip(*rows, strict=True)]
    out = []
    for row in rows:
        cells = []
        for place, (cell, wide) in enumerate(zip(row, widths, strict=True)):
            room = " " * (wide - width(cell))
            cells.append(room + cell if place in right else cell + room)
        out.append(GAP.join(cells).rstrip())
    return out


def width(text: str) -> int:
    """Return how many columns of a terminal a text takes: two for a wide character, none for one that marks another."""
    if text.isascii():
        return len(text)
    return sum(_columns(character) for character in text)


def _columns(character: str) -> int:
    if unicodedata.category(character) in {"Mn", "Me", "Cf"}:
        return 0
    return 2 if unicodedata.east_asian_width(character) in {"W", "F"} else 1
