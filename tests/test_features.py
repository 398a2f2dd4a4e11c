"""The baseline's columns: figures that can be worked out by hand, the same in any order."""

import math

import pytest

from judge._judges import features
from judge._judges.features import COLUMNS, Features
from pools._dataset.records import Function, Query
from pools._engines.vectors import Similarity

CODES = {
    "f0": "def read_file(path):\n    # Read a file at once.\n    return open(path).read()",
    "f1": "def fileload(path):\n    return open(path).readlines()",
    "f2": "def add(a, b):\n    return a + b",
    "f3": "def sub(a, b):\n    return a - b",
}
QUERIES = [Query("python", "q0", "read a file"), Query("python", "q1", "zebra"), Query("python", "q2", "the")]
FUNCTIONS = [Function(key, "python", code) for key, code in CODES.items()]
PAIRS = [(query.search_id, function.id) for query in QUERIES for function in FUNCTIONS]


def rows(made: Features) -> dict[tuple[str, str], dict[str, float]]:
    table = made.table(PAIRS).tolist()
    return {pair: dict(zip(COLUMNS, row, strict=True)) for pair, row in zip(PAIRS, table, strict=True)}


@pytest.fixture(scope="module")
def made() -> dict[tuple[str, str], dict[str, float]]:
    return rows(Features(QUERIES, FUNCTIONS, shown_characters=20_000))


def test_the_columns_do_not_depend_on_the_order_of_anything(made: dict[tuple[str, str], dict[str, float]]) -> None:
    assert rows(Features(QUERIES[::-1], FUNCTIONS[::-1], shown_characters=20_000)) == made


def test_bm25_is_the_published_formula_as_a_share_of_the_most_it_can_be(made: dict[tuple[str, str], dict[str, float]]) -> None:
    lengths = {key: len(features.stems(code)) for key, code in CODES.items()}
    mean = sum(lengths.values()) / 4

    def term(holders: int, count: int, length: int) -> tuple[float, float]:
        rarity = math.log(1 + (4 - holders + 0.5) / (holders + 0.5))
        return rarity * count * 2.2 / (count + 1.2 * (0.25 + 0.75 * length / mean)), rarity * 2.2

    assert [features.stems(CODES[key]).count("read") for key in CODES] == [3, 0, 0, 0]
    assert [features.stems(CODES[key]).count("fil") for key in CODES] == [2, 0, 0, 0]
    read, file = term(1, 3, lengths["f0"]), term(1, 2, lengths["f0"])
    assert made["q0", "f0"]["bm25"] == pytest.approx((read[0] + file[0]) / (read[1] + file[1]))
    assert made["q0", "f1"]["bm25"] == 0


def test_shares_names_and_ranks(made: dict[tuple[str, str], dict[str, float]]) -> None:
    best, other = made["q0", "f0"], made["q0", "f2"]
    assert (best["words"], best["words_in_name"], best["name_precision"], best["bm25_of_best"]) == (1, 1, 1, 1)
    assert (best["words_in_code"], best["words_in_comments"], best["has_comments"]) == (1, 1, 1)
    assert (other["words"], other["words_in_comments"], other["has_comments"], other["name_precision"]) == (0, 0, 0, 0)
    assert best["bm25_rank"] == 0
    assert other["bm25_rank"] == pytest.approx(math.log(3))
    assert best["ngrams"] > other["ngrams"]
    assert best["search_length"] == 2
    assert best["length"] == pytest.approx(math.log(1 + len(features.stems(CODES["f0"]))))


def test_a_function_that_shares_no_word_is_found_by_beginnings_of_words_and_by_likeness(
    made: dict[tuple[str, str], dict[str, float]],
) -> None:
    alike, other = made["q0", "f1"], made["q0", "f2"]
    assert alike["words"] == 0
    assert alike["related"] > other["related"] == 0
    assert alike["related_in_name"] > other["related_in_name"]
    assert alike["words_like_best"] > other["words_like_best"]
    assert alike["ngrams_like_best"] > other["ngrams_like_best"]


def test_a_search_without_a_hit_or_of_stop_words_has_figures_too(made: dict[tuple[str, str], dict[str, float]]) -> None:
    for search_id in ("q1", "q2"):
        for row in (made[search_id, key] for key in CODES):
            assert all(math.isfinite(figure) for figure in row.values())
            assert (row["bm25"], row["bm25_of_best"], row["words_like_best"]) == (0, 0, 0)


def test_only_the_characters_shown_count() -> None:
    cut = rows(Features(QUERIES, FUNCTIONS, shown_characters=4))
    assert cut["q0", "f0"]["words"] == 0


def test_code_without_words_has_figures() -> None:
    made = rows(Features(QUERIES, [Function(key, "python", "+") for key in CODES], shown_characters=100))
    assert all(math.isfinite(figure) for row in made.values() for figure in row.values())


@pytest.mark.parametrize(
    ("code", "name"),
    [
        ("def read_file(x):", "read_file"),
        ("# def other(x)\nasync def main():", "main"),
        ("// Close(x) shuts.\nfunc (r *Reader) Close() error {", "Close"),
        ("func Map[T any](x []T) {", "Map"),
        ("function foo(a) {}", "foo"),
        ("const bar = (a) => a", "bar"),
        ("x.baz = function(a) {}", "baz"),
        ('@Named("x")\npublic static int add(int a) {', "add"),
        ("def self.build(x)\nend", "build"),
        ("public function index() {", "index"),
        ("x + 1", ""),
    ],
)
def test_the_name_of_a_function(code: str, name: str) -> None:
    assert features.name_of(code) == name


def test_comments_of_every_kind() -> None:
    assert features.comments('"""a"""\n# b\n// c\n/* d */ e').split() == ["a", "b", "c", "d"]


def test_stems_bring_the_forms_of_a_word_together() -> None:
    assert len({features.stem(word) for word in ("parse", "parses", "parsed", "parsing", "parser", "parsers")}) == 1
    assert features.stem("is") == "is"


def test_with_vectors_the_cosine_is_the_last_column(made: dict[tuple[str, str], dict[str, float]]) -> None:
    import numpy

    similarity = Similarity(
        "angles",
        {query.search_id: numpy.array([1.0, 0.0]) for query in QUERIES},
        {key: numpy.array([0.6, 0.8]) if key == "f1" else numpy.array([0.0, 1.0]) for key in CODES},
    )
    assert features.columns(similarity) == (*COLUMNS, "cosine")
    table = Features(QUERIES, FUNCTIONS, shown_characters=20_000, similarity=similarity).table(PAIRS).tolist()
    assert [row[-1] for row in table] == [0.6 if pair[1] == "f1" else 0.0 for pair in PAIRS]
    assert [dict(zip(COLUMNS, row[:-1], strict=True)) for row in table] == [made[pair] for pair in PAIRS]
