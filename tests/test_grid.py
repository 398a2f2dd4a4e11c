"""Rows as lines: whatever is in the cells, columns stand under each other, and nothing of a cell is lost or guessed at."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pools import _grid as grid

NARROW = st.text(st.characters(min_codepoint=33, max_codepoint=126), max_size=8)
ANY = st.text(st.sampled_from("ab 1.0e-中文한\uff46é\u0301\u200d🐍"), max_size=8)


@st.composite
def tables(draw: st.DrawFn, cells: st.SearchStrategy[str]) -> list[list[str]]:
    width = draw(st.integers(1, 5))
    return draw(st.lists(st.lists(cells, min_size=width, max_size=width), min_size=1, max_size=6))


@given(tables(NARROW), st.sets(st.integers(0, 4)))
def test_cells_of_narrow_characters_are_padded_to_the_longest(rows: list[list[str]], right: set[int]) -> None:
    widths = [max(len(row[place]) for row in rows) for place in range(len(rows[0]))]
    expected = [
        "  ".join(f"{cell:{'>' if place in right else '<'}{widths[place]}}" for place, cell in enumerate(row)).rstrip()
        for row in rows
    ]
    assert grid.lines(rows, right) == expected


@given(tables(ANY))
def test_columns_begin_at_the_same_place_of_a_terminal(rows: list[list[str]]) -> None:
    rows = [[*row, "|"] for row in rows]
    found = grid.lines(rows)
    assert {grid.width(line) for line in found} == {grid.width(found[0])}
    for line, row in zip(found, rows, strict=True):
        assert line.replace(" ", "") == "".join(row).replace(" ", "")


def test_no_number_is_taken_for_one() -> None:
    assert grid.lines([("n", "a"), ("007", "1e5"), ("1.50", "")]) == ["n     a", "007   1e5", "1.50"]


@pytest.mark.parametrize(
    ("text", "columns"), [("abc", 3), ("中文", 4), ("\uff46", 2), ("e\u0301", 1), ("🐍", 2), ("a\u200db", 2), ("", 0)]
)
def test_the_columns_a_text_takes(text: str, columns: int) -> None:
    assert grid.width(text) == columns
