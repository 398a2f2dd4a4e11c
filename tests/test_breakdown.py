"""Where a judge disagrees: groups counted right, flagged where there is something to find and seldom where there is not."""

import random

import pytest

from gates._measures import breakdown


def _ratings(wrong: float, worse: dict[str, float], seed: int, searches: int = 40) -> tuple[
    dict[tuple[str, str], tuple[int, ...]], dict[tuple[str, str], int], dict[tuple[str, str], str]
]:  # fmt: skip
    """600 pairs in six groups; the judge errs with `wrong`, or as `worse` says of a group."""
    source = random.Random(seed)
    pairs = [(f"q{number % searches:02}", f"f{number:03}") for number in range(600)]
    group = {pair: f"g{source.randrange(6)}" for pair in pairs}
    experts: dict[tuple[str, str], tuple[int, ...]] = {pair: (source.choice((0, 3)),) for pair in pairs}
    ratings = {pair: abs(experts[pair][0] - 3 * (source.random() < worse.get(group[pair], wrong))) for pair in pairs}
    return experts, ratings, group


def test_a_group_that_is_worse_is_flagged_and_the_others_are_not() -> None:
    experts, ratings, group = _ratings(0.15, {"g3": 0.5}, 1)
    found = breakdown.by("retriever", experts, ratings=ratings, relevant_from=2, groups=lambda pair: (group[pair],))
    assert [entry.name for entry in found.groups if entry.flagged] == ["g3"]
    assert (found.dimension, found.pairs) == ("retriever", 600)
    assert sum(entry.pairs for entry in found.groups) == 600
    assert sum(entry.same for entry in found.groups) == found.same
    for entry in found.groups:
        assert entry.interval[0] <= entry.same / entry.pairs <= entry.interval[1]
        if entry.flagged:
            assert not entry.interval[0] <= found.same / found.pairs <= entry.interval[1]
        assert 0.95 <= entry.level < 1


def test_at_most_one_breakdown_in_twenty_flags_what_is_not_there() -> None:
    flagged = 0
    for seed in range(200):
        experts, ratings, group = _ratings(0.2, {}, seed)
        found = breakdown.by(
            "length",
            experts,
            ratings=ratings,
            relevant_from=2,
            groups=lambda pair, group=group: (group[pair],),  # type: ignore[misc]
        )
        flagged += any(entry.flagged for entry in found.groups)
    assert flagged <= 17  # 5 % of 200 and two standard errors more


def test_a_search_is_one_group_of_pairs_that_stand_for_themselves() -> None:
    experts, ratings, _ = _ratings(0.1, {}, 2)
    for pair in ratings:
        if pair[0] == "q07":
            ratings[pair] = 3 - experts[pair][0]
    found = breakdown.by("search", experts, ratings=ratings, relevant_from=2, groups=lambda pair: (pair[0],))
    assert len(found.groups) == 40
    assert [entry.name for entry in found.groups if entry.flagged] == ["q07"]


def test_a_pair_may_be_in_several_groups_or_none() -> None:
    experts = {("q", "a"): (3,), ("q", "b"): (0,), ("r", "c"): (0,)}
    ratings = {("q", "a"): 3, ("q", "b"): 3, ("r", "c"): 0}
    groups = {("q", "a"): ("bm25", "grep-all"), ("q", "b"): ("bm25",), ("r", "c"): ()}
    found = breakdown.by("retriever", experts, ratings=ratings, relevant_from=2, groups=groups.__getitem__)
    assert [(entry.name, entry.pairs, entry.same, entry.expert_relevant, entry.judge_relevant) for entry in found.groups] == [
        ("bm25", 2, 1, 1, 2),
        ("grep-all", 1, 1, 1, 1),
    ]
    assert (found.pairs, found.same) == (3, 2)


def test_nothing_rated_nothing_broken_down() -> None:
    assert breakdown.by("search", {}, ratings={}, relevant_from=2, groups=lambda pair: (pair[0],)) == breakdown.Breakdown(
        "search", 0, 0, ()
    )


@pytest.mark.parametrize(
    ("values", "names"),
    [
        (list(range(1, 101)), {" 1- 25": 25, "26- 50": 25, "51- 75": 25, "76-100": 25}),
        ([5] * 10, {"5-5": 10}),
        ([1] * 9 + [7], {"1-1": 9, "2-7": 1}),
    ],
)
def test_bands_hold_about_as_many_each(values: list[int], names: dict[str, int]) -> None:
    numbers = {("q", f"f{index}"): value for index, value in enumerate(values)}
    band = breakdown.bands(numbers)
    counts: dict[str, int] = {}
    for pair in numbers:
        (name,) = band(pair)
        counts[name.replace(" ", "")] = counts.get(name.replace(" ", ""), 0) + 1
    assert counts == {name.replace(" ", ""): count for name, count in names.items()}
    assert not tuple(band(("other", "pair")))
    assert not tuple(breakdown.bands({})(("q", "f")))
