"""Lines of a file at a commit: cut exactly, and a reason for each that cannot be."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pools._checkouts import sources
from pools._checkouts.sources import File, Location, Missing

FILE = File("o/n", "a" * 40, "x.py")


def code(content: bytes, first: int, last: int) -> str:
    """The code of lines, or the reason in angle brackets."""
    location = Location(FILE, first, last)
    found = sources.resolve([location], [(FILE, content)])
    return found.codes.get(location) or f"<{found.reasons[location]}>"


def test_lines_are_cut_as_the_pages_count_them() -> None:
    assert code(b"a\nb\nc\nd\n", 2, 3) == "b\nc"
    assert code(b"a\r\n  b\r\nc\r\n", 2, 3) == "  b\nc"
    assert code(b"\xef\xbb\xbfa\nb", 1, 1) == "a"
    assert code("a\x0c\x0b\u2028\x85b\rc\nd".encode(), 1, 1) == "a\x0c\x0b\u2028\x85b\rc"
    assert code(b"caf\xe9\n", 1, 1) == "caf\ufffd"
    assert code(b"a\nb\n", 1, 3) == "a\nb\n"


def test_lines_that_are_not_there_have_a_reason() -> None:
    assert code(b"a\nb", 2, 3) == "<lines 2-3 of a file that has 2>"
    assert code(b"", 1, 2) == "<lines 1-2 of a file that has 1>"
    assert code(b"a\n \n\t\nb", 2, 3) == "<lines 2-3 are blank>"


@given(st.lists(st.text(st.characters(exclude_characters="\r\n\ufeff", exclude_categories=["Cs"])), min_size=1), st.data())
def test_any_lines_come_back_from_a_file_made_of_them(lines: list[str], data: st.DataObject) -> None:
    first = data.draw(st.integers(1, len(lines)))
    last = data.draw(st.integers(first, len(lines)))
    end = data.draw(st.sampled_from(["\n", "\r\n"]))
    wanted = "\n".join(lines[first - 1 : last])
    assert code(end.join(lines).encode(), first, last) == (wanted if wanted.strip() else f"<lines {first}-{last} are blank>")


def test_each_file_is_taken_once_for_all_its_functions() -> None:
    other = File("o/n", "b" * 40, "x.py")
    locations = [Location(FILE, 1, 1), Location(other, 1, 1), Location(FILE, 2, 2), Location(FILE, 9, 9)]
    assert sources.files_of(locations) == [FILE, other]
    contents: list[sources.Content] = [(other, Missing("gone")), (FILE, b"a\nb")]
    found = sources.resolve(locations, iter(contents))
    assert found.codes == {locations[0]: "a", locations[2]: "b"}
    assert found.reasons == {locations[1]: "gone", locations[3]: "lines 9-9 of a file that has 2"}


def test_a_reader_that_forgets_a_file_is_found_out() -> None:
    with pytest.raises(AssertionError, match="no content was given"):
        sources.resolve([Location(FILE, 1, 1)], [])


def test_an_address_is_taken_apart() -> None:
    commit = "0" * 40
    found = sources.locate(f"https://github.com/a-b/c.d_e/blob/{commit}/x y/#L1/z.py#L10-L20")
    assert found == Location(File("a-b/c.d_e", commit, "x y/#L1/z.py"), 10, 20)
