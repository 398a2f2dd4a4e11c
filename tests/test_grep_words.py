"""grep-all and grep-any against plain ripgrep, a word and a function at a time."""

import ast
import gc
import os
import random
import signal
import subprocess
import tempfile
import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pools._dataset import dataset
from pools._dataset.records import Function, Query
from pools._engines import grep_words, ripgrep
from pools._sampling.hits import Hit
from pools.errors import Stopped
from prompts.scales import Scale
from tests.builders.places import ROOT


def plain(word: str, code: str) -> bool:
    """Whether `rg -i -F WORD` hits a text."""
    command = [ripgrep.program(), "--no-config", "--text", "--encoding=none", "--quiet", "-i", "-F", "-e", word]
    done = subprocess.run([*command, "-"], input=code.encode("utf-8", "surrogatepass"), check=False)
    assert done.returncode in {0, 1}
    return done.returncode == 0


def functions(codes: list[str]) -> list[Function]:
    return [Function(f"f{number:03}", "python", code) for number, code in enumerate(codes)]


def queries(searches: list[str]) -> list[Query]:
    return [Query("python", f"q{number}", search) for number, search in enumerate(searches)]


def pairs(hits: tuple[Hit, ...]) -> set[tuple[str, str]]:
    return {hit.pair for hit in hits}


@pytest.mark.parametrize(
    ("search", "expected"),
    [
        ("How to read a CSV file in the folder", ("read", "csv", "file", "folder")),
        ("sort sort SORT", ("sort",)),
        ("snake_case-word, utf8 x 2", ("snake", "case", "word", "utf8", "2")),
        ("the of a based on another x", ()),
        ("Größe ändern", ("größe", "ändern")),
        ("", ()),
    ],
)
def test_words(search: str, expected: tuple[str, ...]) -> None:
    assert grep_words.words(search) == expected


def check_against_ripgrep(searches: list[str], codes: list[str]) -> None:
    found = grep_words.search_words(queries(searches), functions(codes))
    expected_any, expected_all = set(), set()
    for query in queries(searches):
        words = grep_words.words(query.search)
        for function in functions(codes):
            held = [plain(word, function.code) for word in words]
            if any(held):
                expected_any.add((query.search_id, function.id))
            if held and all(held):
                expected_all.add((query.search_id, function.id))
    assert pairs(found["grep-any"]) == expected_any
    assert pairs(found["grep-all"]) == expected_all


def test_hits_are_those_of_plain_ripgrep_on_hard_text() -> None:
    check_against_ripgrep(
        ["list lists is st", "straße", "aéb béc", "ΣΊΣΥΦΟΣ ώ", "ǆ \u210c ²", "列表 list", "e\u0301t \u0345 \u03b9",
         "kelvin mask", "İstanbul ilk", "é", "byte mark", "last line", "\u017fet set"],
        [
            "LISTS of things", "a lis\nt", "STRASSE straẞe STRAßE", "\u212aELVIN ma\u017f\u212a", "istanbul İLK i\u0307lk",
            "e\u0301 É", "\ufeffbyte MARK\0x", "one\r\nlast\r\nline", "\ud800 set", "", "x" * 200_000 + "list", "\rlast\rline",
            "end\n", "σίσυφος Ώ list列表s", "ǅ \u2126 2² \u1fbe \u0345", "kelvi\0n", "byte:mark", "\n\n", "aÉbéC",
            "\xa0ask\u2028last",
        ],
    )  # fmt: skip


WORDS = st.sampled_from(
    ["list", "lists", "is", "ask", "\u212a", "\u017f", "ß", "ẞ", "İ", "i", "é", "file", "0", "x9", "\0", "\ud800"]
)
TEXT = st.lists(WORDS | st.sampled_from(["\n", " ", "\r\n", "_", "\u2028"]), max_size=8).map("".join)


@settings(max_examples=25)
@given(st.lists(TEXT, min_size=1, max_size=3), st.lists(TEXT, min_size=1, max_size=4))
def test_hits_are_those_of_plain_ripgrep(searches: list[str], codes: list[str]) -> None:
    check_against_ripgrep(searches, codes)


def test_letters_that_ripgrep_takes_for_ascii_ones_are_known(tmp_path: Path) -> None:
    characters = [chr(code) for code in range(0x110000) if not 0xD800 <= code < 0xE000 and code != 0x0A]
    file = tmp_path / "characters"
    file.write_bytes("\n".join(characters).encode())
    matched = {characters[number - 1] for number in ripgrep.lines(file, "[0-9a-z]", "--ignore-case")}
    assert {character for character in matched if not character.isascii()} == set(grep_words.FOLDED)
    assert {character for character in matched if character.isascii()} == {c for c in characters if c.isascii() and c.isalnum()}
    for character, letter in grep_words.FOLDED.items():
        assert plain(letter, character)
        assert [other for other in "abcdefghijklmnopqrstuvwxyz" if plain(other, character)] == [letter]


def test_no_letter_or_digit_matches_what_ends_a_run(tmp_path: Path) -> None:
    letters = [character for code in range(128, 0x110000) if (character := chr(code)).isalnum()]
    ends = [character for code in range(128) if not (character := chr(code)).isalnum() and character != "\n"]
    file = tmp_path / "ends"
    file.write_bytes("\n".join(ends).encode())
    for start in range(0, len(letters), 20_000):
        assert ripgrep.lines(file, "|".join(letters[start : start + 20_000]), "--ignore-case", "--regex-size-limit=1G") == []


def test_many_words_over_real_code_hit_what_one_ripgrep_a_word_hits() -> None:
    source = Path(ast.__file__).read_text()
    codes = [ast.unparse(node) for node in ast.walk(ast.parse(source)) if isinstance(node, ast.FunctionDef)]
    codes = ["", *codes[:150], "", ""]
    rng = random.Random(1)
    pieces = [source[start : start + rng.randint(1, 7)] for start in rng.sample(range(len(source)), 2500)]
    wanted = {word for piece in pieces for word in grep_words.words(piece)}
    assert len(wanted) > grep_words.WORDS_PER_PASS
    shuffled = rng.sample(functions(codes), len(codes))
    found = grep_words.search_words([Query("python", word, word) for word in wanted], shuffled)
    by_word: dict[str, set[str]] = {word: set() for word in wanted}
    for hit in found["grep-any"]:
        by_word[hit.search_id].add(hit.function_id)
    assert found["grep-all"] == found["grep-any"]
    with ripgrep.haystack(functions(codes)) as hay:
        assert by_word == {word: set(hay.hits(word, "--ignore-case", "--fixed-strings")) for word in wanted}


def test_nothing_to_find_and_nothing_to_search() -> None:
    assert grep_words.search_words(queries(["the of"]), functions(["the of"])) == {"grep-all": (), "grep-any": ()}
    assert grep_words.search_words([], functions(["a"])) == {"grep-all": (), "grep-any": ()}
    assert grep_words.search_words(queries(["read"]), []) == {"grep-all": (), "grep-any": ()}
    assert grep_words.search_words(queries(["read"]), functions(["", ""])) == {"grep-all": (), "grep-any": ()}


def test_a_ripgrep_that_is_killed_is_no_search_without_hits() -> None:
    with ripgrep.haystack(functions(["read\n" * 3_000_000])) as hay:
        blocks = hay.matches("read")
        assert next(blocks).startswith(b"1:read\n2:read\n")
        children = Path(f"/proc/self/task/{threading.get_native_id()}/children").read_text().split()
        (running,) = [int(child) for child in children if Path(f"/proc/{child}/comm").read_text() == "rg\n"]
        os.kill(running, signal.SIGKILL)
        with pytest.raises(Stopped, match=r"ripgrep was ended from outside \(SIGKILL\)"):
            list(blocks)


def test_no_temporary_file_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    assert grep_words.search_words(queries(["read"]), functions(["read"]))["grep-any"]
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("switch", [gc.enable, gc.disable])
def test_garbage_collection_is_left_as_it_was(switch: Callable[[], None]) -> None:
    switch()
    before = gc.isenabled()
    try:
        assert grep_words.search_words(queries(["read"]), functions(["read"]))["grep-any"]
        assert gc.isenabled() is before
    finally:
        gc.enable()


def test_hits_are_those_of_plain_ripgrep_on_the_sample(scale: Scale) -> None:
    sample = dataset.load(ROOT / "pools" / "_sample", scale)
    searches = [query.search for query in sample.queries_of("go")][:6]
    check_against_ripgrep(searches, [function.code for function in sample.functions_of("go")][:25])


def test_ranks_go_by_words_held_then_by_id() -> None:
    found = grep_words.search_words(queries(["read file"]), functions(["read", "read file", "file", "none"]))
    assert [(hit.function_id, hit.rank, hit.score) for hit in found["grep-any"]] == [
        ("f001", 1, 2.0),
        ("f000", 2, 1.0),
        ("f002", 3, 1.0),
    ]
    assert [hit.function_id for hit in found["grep-all"]] == ["f001"]


def test_a_users_ripgrep_settings_change_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "rc").write_text("--invert-match\n")
    monkeypatch.setenv("RIPGREP_CONFIG_PATH", str(tmp_path / "rc"))
    assert pairs(grep_words.search_words(queries(["read"]), functions(["read", "no"]))["grep-any"]) == {("q0", "f000")}
