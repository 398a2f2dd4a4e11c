"""Two judges side by side, and several as a panel."""

import random

from gates._measures import agreement, comparison

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
