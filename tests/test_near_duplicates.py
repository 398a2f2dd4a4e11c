"""Marks of nearly identical functions, against the similarity of every pair computed outright."""

import random
import re

from hypothesis import given
from hypothesis import strategies as st

from pools._checkouts import near_duplicates
from pools._checkouts.near_duplicates import LEAST_WORDS, SIMILAR, WORDS


def similarity(one: str, other: str) -> float:
    """Jaccard similarity of the 5-grams of words, on the words themselves."""
    grams = []
    for code in (one, other):
        words = re.findall(r"\w+", code)
        grams.append({tuple(words[start : start + WORDS]) for start in range(len(words) - WORDS + 1)})
    return len(grams[0] & grams[1]) / len(grams[0] | grams[1])


def body(length: int, seed: int) -> list[str]:
    draw = random.Random(seed)
    return [f"word{draw.randrange(10_000)}" for _ in range(length)]


def test_a_renamed_function_is_marked_and_a_different_one_is_not() -> None:
    words = body(100, 1)
    renamed = ["other", *words[1:]]
    codes = [" ".join(words), " ".join(body(100, 2)), "(".join(renamed), " ".join(words[:50] + body(50, 3))]
    assert near_duplicates.find(codes) == [None, None, 0, None]


def test_short_functions_are_never_marked() -> None:
    short = "return self value " * (LEAST_WORDS // 3)
    assert near_duplicates.find([short, short + "\n", short + " one more word", short + " one more word."]) == [
        None,
        None,
        None,
        2,
    ]


def test_marks_point_to_the_most_similar_unmarked_function() -> None:
    words = body(200, 1)
    near, nearer = [*words[:170], *body(30, 2)], [*words[:185], *body(15, 3)]
    codes = [" ".join(words), " ".join(near), " ".join(nearer)]
    assert similarity(codes[0], codes[1]) > SIMILAR
    assert near_duplicates.find(codes) == [None, 0, 0]


def test_of_two_similar_ones_the_more_similar_is_named_and_marked_ones_are_not_compared_with() -> None:
    words, others = body(300, 1), body(300, 2)
    far, between = [*words[:240], *others[240:]], [*words[:265], *others[265:]]
    codes = [" ".join(part) for part in (words, far, between)]
    assert similarity(codes[1], codes[2]) > similarity(codes[0], codes[2]) > SIMILAR
    step = [" ".join([*words[: 300 - changed], *others[300 - changed :]]) for changed in (0, 45, 70)]
    assert similarity(step[1], step[2]) > SIMILAR > similarity(step[0], step[2])
    assert near_duplicates.find(codes) == [None, None, 1]
    assert near_duplicates.find(step) == [None, 0, None]


def test_no_mark_is_wrong_and_few_are_missing() -> None:
    draw = random.Random(4)
    codes = []
    for number in range(400):
        words = body(20 + number // 4, number // 2)
        for _ in range(number % 2 * draw.randrange(4)):
            words[draw.randrange(len(words))] = "changed"
        codes.append(" ".join(words))
    marks = near_duplicates.find(codes)
    wanted = [
        any(marks[other] is None and similarity(codes[position], codes[other]) >= SIMILAR for other in range(position))
        for position in range(len(codes))
    ]
    for position, mark in enumerate(marks):
        if mark is not None:
            assert mark < position
            assert marks[mark] is None
            assert similarity(codes[position], codes[mark]) >= SIMILAR
    missed = sum(want and mark is None for want, mark in zip(wanted, marks, strict=True))
    assert sum(wanted) > 80
    assert missed <= 0.05 * sum(wanted)


@given(st.lists(st.lists(st.sampled_from("abcdef"), min_size=8, max_size=20).map(" ".join), max_size=12), st.integers(0, 12))
def test_functions_added_behind_change_no_mark(codes: list[str], cut: int) -> None:
    assert near_duplicates.find(codes)[:cut] == near_duplicates.find(codes[:cut])
