"""Several judges as a panel: what it rates, and that it is a judge of its own."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gates._verdict import panels
from pools.errors import UsageError

PAIRS = [(f"q{number % 15:02}", f"f{number:03}") for number in range(150)]


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
