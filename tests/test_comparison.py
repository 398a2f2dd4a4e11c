"""Two judges side by side, and several as a panel."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gates._measures import agreement, comparison
from gates._verdict import panels
from pools.errors import UsageError

PAIRS = [(f"q{number % 15:02}", f"f{number:03}") for number in range(150)]


def _judge(seed: int, errors: float) -> dict[tuple[str, str], int]:
    source = random.Random(seed)
    return {pair: 3 * ((index % 3 == 0) != (source.random() < errors)) for index, pair in enumerate(PAIRS)}


EXPERTS = {pair: (3 * (index % 3 == 0),) for index, pair in enumerate(PAIRS)}


def test_a_better_judge_shows() -> None:
    bad, good = _judge(1, 0.3), _judge(2, 0.05)
    found = comparison.compare(EXPERTS, bad, second=good, relevant_from=2, resamples=500, seed=1)
    assert found.first == agreement.compare(EXPERTS, bad, relevant_from=2).f1
    assert found.second == agreement.compare(EXPERTS, good, relevant_from=2).f1
    assert found.difference is not None
    assert found.interval is not None
    assert 0 < found.interval[0] < found.difference < found.interval[1]
    assert found.share is not None
    assert found.share > 0.99
    back = comparison.compare(EXPERTS, good, second=bad, relevant_from=2, resamples=500, seed=1)
    assert back.difference == -found.difference
    assert (back.corrected, back.spoiled) == (found.spoiled, found.corrected)
    right = [sum((3 * (index % 3 == 0)) == judge[pair] for index, pair in enumerate(PAIRS)) for judge in (bad, good)]
    assert found.corrected - found.spoiled == right[1] - right[0]


def test_pairing_takes_out_what_both_find_hard() -> None:
    """Two judges with the same errors but one pair: each one's own interval is wide, that of the difference is not."""
    first = _judge(1, 0.3)
    second = first | {PAIRS[1]: 3 - first[PAIRS[1]]}
    found = comparison.compare(EXPERTS, first, second=second, relevant_from=2, resamples=500, seed=1)
    assert found.interval is not None
    assert found.interval[1] - found.interval[0] < 0.03


def test_a_judge_against_itself_does_not_differ() -> None:
    judge = _judge(1, 0.2)
    found = comparison.compare(EXPERTS, judge, second=judge, relevant_from=2, resamples=100, seed=1)
    assert (found.difference, found.interval, found.share) == (0.0, (0.0, 0.0), 0.0)
    assert found.flips == comparison.Flips(150, 0, 0)


def test_flips_are_counted_over_all_that_both_rated_and_f1_may_be_undefined() -> None:
    found = comparison.compare(
        {("q", "a"): (0,)},
        {("q", "a"): 0, ("q", "b"): 3, ("q", "c"): 1},
        second={("q", "a"): 0, ("q", "b"): 1},
        relevant_from=2,
        resamples=10,
        seed=1,
    )
    assert (found.pairs, found.first, found.difference, found.interval) == (1, None, None, None)
    assert found.flips == comparison.Flips(2, 1, 0)
    assert comparison.compare({}, {}, second={}, relevant_from=2, resamples=10, seed=1).pairs == 0


@pytest.mark.parametrize(
    ("method", "given_ratings", "rating"),
    [
        ("majority", (3, 3, 0), 3), ("majority", (3, 0), 0), ("majority", (3, 2, 1), 1), ("majority", (3, 3, 1, 1), 1),
        ("median", (3, 0, 2), 2), ("median", (3, 2), 2), ("median", (0, 1, 2, 3), 1),
    ],
)  # fmt: skip
def test_a_panel_decides_and_ties_go_down(method: str, given_ratings: tuple[int, ...], rating: int) -> None:
    members = {f"judge{number}": {("q", "f"): given} for number, given in enumerate(given_ratings)}
    assert panels.ratings(members, method) == {("q", "f"): rating}


@given(
    st.lists(st.dictionaries(st.sampled_from(PAIRS[:8]), st.integers(0, 3)), min_size=2, max_size=5),
    st.sampled_from(panels.METHODS),
)
def test_a_panel_rates_what_every_member_rated(given_ratings: list[dict[tuple[str, str], int]], method: str) -> None:
    members = {str(number): ratings for number, ratings in enumerate(given_ratings)}
    found = panels.ratings(members, method)
    assert set(found) == set.intersection(*(set(ratings) for ratings in given_ratings))
    for pair, rating in found.items():
        assert rating in [ratings[pair] for ratings in given_ratings]
    assert found == panels.ratings(dict(reversed(members.items())), method)


def test_a_panel_is_a_judge_of_its_own() -> None:
    scale = {"name": "relevance", "levels": [[0, "no"], [1, "yes"]]}

    def judge_id(*members: str, method: str = "median") -> str:
        return panels.judge_id(panels.identity(members, method, scale=scale))

    one = judge_id("bb", "aa")
    assert one == judge_id("aa", "bb", "aa")
    assert len({one, judge_id("aa", "bb", method="majority"), judge_id("aa", "cc")}) == 3
    assert len(one) == 16
    assert panels.identity(["bb", "aa"], "median", scale=scale)[panels.MEMBERS] == ["aa", "bb"]


def test_a_panel_needs_two_judges_and_a_method() -> None:
    with pytest.raises(UsageError, match="needs two judges or more"):
        panels.ratings({"aa": {}}, "median")
    with pytest.raises(UsageError, match="valid are majority, median"):
        panels.identity(["aa", "bb"], "mean", scale={})
