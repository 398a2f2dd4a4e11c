"""The Challenge's ratings: every row with its place, languages by the dataset's names, functions by where they are."""

from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pools._formats import annotations
from pools.errors import DataError
from prompts import scales
from prompts.scales import Scale

HEADER = "Language,Query,GitHubUrl,Relevance,Notes"
COMMIT = "0123456789abcdef0123456789abcdef01234567"
URL = f"https://github.com/some/where/blob/{COMMIT}/a/b.py#L3-L5"
ROW = f"Python,open a file,{URL},2,"


def parse(*lines: str) -> tuple[annotations.Annotation, ...]:
    return annotations.parse("\r\n".join((HEADER, *lines, "")).encode(), "a.csv", scale=scales.load("relevance"))


def test_the_published_file(csn: Path, scale: Scale) -> None:
    found = annotations.parse((csn / "annotationStore.csv").read_bytes(), "annotationStore.csv", scale=scale)
    assert Counter(entry.language for entry in found) == {
        "python": 2079, "java": 813, "javascript": 319, "ruby": 315, "php": 314, "go": 166,
    }  # fmt: skip
    assert (len({entry.search for entry in found}), len({entry.url for entry in found})) == (99, 2874)
    assert Counter(entry.rating for entry in found) == {0: 1314, 1: 982, 2: 863, 3: 847}


def test_every_spelling_of_an_address_is_one_function() -> None:
    spellings = [
        f"https://github.com/o/n/blob/{COMMIT}/My%20Dir/x.js#L7-L7",
        f" https://github.com/o/n/blob/{COMMIT}/My Dir/x.js#L7 ",
        f"http://www.GitHub.com/o/n/blob/{COMMIT.upper()}/My%20Dir/x%2Ejs#L7",
    ]
    found = parse(*(f"JavaScript,q,{spelling},1," for spelling in spellings))
    assert len({entry.location for entry in found}) == 1
    assert found[0].location.file.path == "My Dir/x.js"
    assert [entry.url for entry in found] == [spelling.strip() for spelling in spellings]


def test_a_byte_order_mark_is_no_part_of_the_first_column(scale: Scale) -> None:
    assert len(annotations.parse(f"\ufeff{HEADER}\n{ROW}\n".encode(), "a.csv", scale=scale)) == 1


def test_spaces_within_a_search_are_its_own() -> None:
    assert parse(ROW.replace("open a file", " open  a file "))[0].search == "open  a file"


def test_notes_over_several_lines_do_not_shift_the_line_named() -> None:
    noted = f'Python,open a file,{URL},2,"two\r\nlines, ""quoted"""'
    assert [entry.rating for entry in parse(noted, ROW)] == [2, 2]
    with pytest.raises(DataError, match=r"^a\.csv:4: Relevance is '7'"):
        parse(noted, ROW.replace(",2,", ",7,"))


@pytest.mark.parametrize(
    ("row", "message"),
    [
        (ROW.replace("Python", "Pyton"), r"a\.csv:3: unknown language 'Pyton'; valid are Python, Java, .*Go"),
        (ROW.replace("open a file", "  "), r"a\.csv:3: Query is empty"),
        (ROW.replace(",2,", ",,"), r"a\.csv:3: Relevance is '', which is no whole number on the scale 0-3"),
        (ROW.replace(",2,", ",2.5,"), r"a\.csv:3: Relevance is '2\.5'"),
        (ROW.replace(",2,", ",-1,"), r"a\.csv:3: Relevance is '-1'"),
        (ROW.replace(",2,", ",\u0662,"), r"a\.csv:3: Relevance is"),
        (ROW.replace(COMMIT, "master"), r"a\.csv:3: .* with a commit of 40 hex digits"),
        (ROW.replace("a/b.py", "a/../../b.py"), r"a\.csv:3: .* has a path that is none inside a repository"),
        (ROW.replace("a/b.py", "a/%2e%2e/b.py"), r"a\.csv:3: .* has a path that is none inside a repository"),
        (ROW.replace("a/b.py", "a%0ab.py"), r"a\.csv:3: .* has a path that is none inside a repository"),
        (ROW.replace("some/where", "../where"), r"a\.csv:3: .* has a path that is none inside a repository"),
        (ROW.replace("L3-L5", "L5-L3"), r"a\.csv:3: .* has lines that are no range"),
        (ROW.replace("L3-L5", "L0-L3"), r"a\.csv:3: .* has lines that are no range"),
        (ROW + ",more", r"a\.csv:3: 6 columns where the first line has 5"),
        ('Python,"open"x,y', r"a\.csv:3: not CSV"),
    ],
)
def test_a_row_at_fault_is_named(row: str, message: str) -> None:
    with pytest.raises(DataError, match=message):
        parse(ROW, row)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", r"^a\.csv:1: no column Language, Query"),
        (b"Language,Query,GitHubUrl\r\n", r"^a\.csv:1: no column Relevance; the first line must name"),
        (HEADER.encode(), r"^a\.csv: no ratings"),
        (HEADER.encode() + b"\r\n\xff", r"^a\.csv: not UTF-8"),
    ],
)
def test_a_file_at_fault_is_named(content: bytes, message: str, scale: Scale) -> None:
    with pytest.raises(DataError, match=message):
        annotations.parse(content, "a.csv", scale=scale)


@given(st.binary(max_size=200))
def test_whatever_is_in_the_file_the_error_is_one_of_data(content: bytes) -> None:
    for whole in (content, HEADER.encode() + b"\n" + content, f"{HEADER}\n{ROW}\n".encode() + content):
        try:
            found = annotations.parse(whole, "a.csv", scale=scales.load("relevance"))
        except DataError:
            continue
        assert all(entry.language in annotations.LANGUAGES.values() for entry in found)
