"""grep-all and grep-any against plain ripgrep, a word and a function at a time."""

import subprocess
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pools import dataset, grep_words, ripgrep
from pools.dataset import Function, Query
from pools.hits import Hit
from prompts.scales import Scale
from tests.conftest import ROOT


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
        ["list lists", "straße", "kelvin mask", "İstanbul ilk", "é", "byte mark", "last line", "\u017fet set"],
        [
            "LISTS of things", "a lis\nt", "STRASSE straẞe STRAßE", "\u212aELVIN ma\u017f\u212a", "istanbul İLK i\u0307lk",
            "e\u0301 É", "\ufeffbyte MARK\0x", "one\r\nlast\r\nline", "\ud800 set", "", "x" * 200_000 + "list", "\rlast\rline",
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


def test_hits_are_those_of_plain_ripgrep_on_the_sample(scale: Scale) -> None:
    sample = dataset.load(ROOT / "pools" / "sample", scale)
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
