"""Words of code: identifiers come apart the way that searches are written."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pools._engines import codewords, grep_words


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("readFile", "read file"),
        ("ReadFile", "read file"),
        ("read_file", "read file"),
        ("READ_FILE", "read file"),
        ("__init__", "init"),
        ("parseHTTPDate2", "parse http date 2"),
        ("XMLHttpRequest", "xml http request"),
        ("HTTPServer", "http server"),
        ("userIDs", "user ids"),
        ("getURLsFrom", "get urls from"),
        ("IDsOf", "ids of"),
        ("sha256sum", "sha 256 sum"),
        ("x1Y2", "x 1 y 2"),
        ("A", "a"),
        ("kebab-case.dotted/path", "kebab case dotted path"),
        ("größe Straße Łódź smørrebrød", "grosse strasse lodz smorrebrod"),
        ("éclairÀLaCarte", "eclair a la carte"),
        ("\uff46\uff55\uff4c\uff4c \ufb01t", "full fit"),
        ("строка 文字列", "строка 文字列"),
        ("", ""),
        ("+-*/ \n\0\ud800", ""),
    ],
)
def test_words(text: str, words: str) -> None:
    assert codewords.split(text) == words.split()


@given(words=st.lists(st.text("abcdefghijklmnopqrstuvwxyz", min_size=2, max_size=8), min_size=1, max_size=5))
def test_every_way_to_join_words_gives_them_back(words: list[str]) -> None:
    camel = words[0] + "".join(word.capitalize() for word in words[1:])
    for joined in ("_".join(words), " ".join(words), "_".join(words).upper(), camel, camel[0].upper() + camel[1:]):
        assert codewords.split(joined) == words


@given(text=st.text(st.characters(exclude_categories=())))
def test_words_are_lower_case_and_split_no_further(text: str) -> None:
    for word in codewords.split(text):
        assert word
        assert word == word.lower()
        assert codewords.split(word) == [word] or not word.isascii()


def test_words_of_a_search_are_those_that_say_something() -> None:
    assert codewords.of_search("read the fileName from a file in the path") == ("read", "file", "name", "path")
    assert codewords.of_search("How is it? It is x") == ("how", "is", "it", "x")
    assert codewords.of_search("+") == ()


def test_what_the_grep_retrievers_look_for_beside_the_words_that_say_something() -> None:
    """The one difference between the two lists: pools hold what greps for these words have found."""
    assert sorted(codewords.STOP_WORDS - codewords.IN_BETWEEN) == ["i", "it", "that", "this"]
    assert grep_words.words("is this that x of a list") == ("this", "that", "list")
    assert codewords.of_search("is this that x of a list") == ("list",)
