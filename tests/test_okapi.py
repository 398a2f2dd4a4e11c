"""BM25: the scores of the published formula, the best of each search, whatever the order of what comes in."""

import math
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from pools._dataset.records import Function, Query
from pools._engines import codewords, okapi
from pools._sampling import hits

WORDS = ["read", "file", "openFile", "sort_list", "the", "é", "x9"]
texts = st.lists(st.sampled_from(WORDS), max_size=6).map(" ".join)


def functions_of(codes: list[str]) -> list[Function]:
    return [Function(f"f{number}", "go", code) for number, code in enumerate(codes)]


def formula(search: str, codes: list[str]) -> list[float]:
    """The score of each code, summed word by word."""
    counts = [Counter(codewords.split(code)) for code in codes]
    mean = sum(map(Counter.total, counts)) / len(codes)
    scores = []
    for held in counts:
        score = 0.0
        for word in codewords.of_search(search):
            holders = sum(word in other for other in counts)
            rarity = math.log(1 + (len(codes) - holders + 0.5) / (holders + 0.5))
            if held[word]:
                score += rarity * held[word] / (held[word] + 1.2 * (1 - 0.75 + 0.75 * held.total() / mean))
        scores.append(score)
    return scores


@hypothesis_settings(max_examples=60)
@given(codes=st.lists(texts, min_size=1, max_size=8), search=texts.filter(bool), depth=st.integers(1, 9))
def test_scores_ranks_and_depth_are_those_of_the_formula(codes: list[str], search: str, depth: int) -> None:
    found = okapi.search([Query("go", "q", search)], functions_of(codes), depth=depth)
    expected = {f"f{number}": score for number, score in enumerate(formula(search, codes)) if score > 0}
    best = sorted(expected, key=lambda name: (-round(expected[name], okapi.PLACES), name))[:depth]
    assert [hit.function_id for hit in found] == best
    assert [hit.rank for hit in found] == list(range(1, len(best) + 1))
    assert [hit.score for hit in found] == pytest.approx([expected[name] for name in best], abs=1e-6)


def test_identifiers_are_found_by_their_words() -> None:
    functions = functions_of(["func readFile() {}", "func read_file() {}", "func spreadfiles() {}"])
    assert {hit.function_id for hit in okapi.search([Query("go", "q", "Read the file")], functions, depth=10)} == {"f0", "f1"}


def test_ties_go_by_id_and_nothing_depends_on_the_order_of_rows() -> None:
    functions = functions_of(["a list", "list b", "c", "list list"])
    queries = [Query("go", "q1", "list"), Query("go", "q0", "b list"), Query("go", "q2", "nothing")]
    found = okapi.search(queries, functions, depth=2)
    assert [hit.function_id for hit in found if hit.search_id == "q1"] == ["f3", "f0"]
    assert set(okapi.search(queries[::-1], functions[::-1], depth=2)) == set(found)
    assert {hit.search_id for hit in found} == {"q0", "q1"}


def test_hits_of_any_order_are_written_as_the_same_bytes(tmp_path: Path) -> None:
    functions = functions_of(["read file", "file", "open the file", "read"])
    queries = [Query("go", f"q{number}", search) for number, search in enumerate(["read file", "file", "open file read"])]
    for name, step in (("a", 1), ("b", -1)):
        hits.write(tmp_path / name, okapi.search(queries[::step], functions[::step], depth=3))
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


@pytest.mark.parametrize("codes", [[], [""], ["+-*/", ""]])
def test_a_corpus_without_words_has_no_hits(codes: list[str]) -> None:
    assert okapi.search([Query("go", "q", "read file"), Query("go", "r", "+")], functions_of(codes), depth=5) == ()


@given(
    codes=st.lists(texts, min_size=1, max_size=8), words=st.lists(st.sampled_from(["read", "file", "list", "no"]), unique=True)
)
def test_a_score_is_at_most_the_rarities_of_the_words_that_a_text_holds(codes: list[str], words: list[str]) -> None:
    held = [codewords.split(code) for code in codes]
    scores = okapi.Index(held).scores(words).tolist()
    for text, score in zip(held, scores, strict=True):
        most = sum(
            okapi.rarity(sum(word in other for other in held), len(codes)) for word in words if word in text
        )  # fmt: skip
        assert 0 <= score <= most
        assert bool(score) == bool(set(words) & set(text))


def test_a_rarity_falls_with_every_text_that_holds_the_word_and_stays_above_0() -> None:
    figures = [okapi.rarity(holders, 5) for holders in range(6)]
    assert figures == sorted(figures, reverse=True)
    assert len(set(figures)) == 6
    assert figures[0] == math.log(1 + 5.5 / 0.5)
    assert figures[-1] > 0
