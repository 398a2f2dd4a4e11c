"""Settings side by side: the area against scikit-learn's, intervals, flips, and the choice."""

import random
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gates._measures import agreement, tuning
from gates._measures.measure import Figure
from gates._measures.tuning import Result, Trial
from pools._dataset.records import PairKey

PAIRS = [(f"go q{n % 10}", f"f{n}") for n in range(100)]
RANDOM = random.Random(3)
EXPERTS: dict[PairKey, tuple[int, ...]] = {pair: (RANDOM.randrange(4),) for pair in PAIRS}


def trial(ratings: dict[PairKey, int], cost: float | None = 1.0, tokens: int = 100) -> Trial:
    return Trial("m", "judge", 40, "id", ratings, 3, tokens, 10, cost)


def noisy(seed: int, share: float) -> dict[PairKey, int]:
    rng = random.Random(seed)
    return {pair: rng.randrange(4) if rng.random() < share else given[0] for pair, given in EXPERTS.items()}


def results(*trials: Trial) -> tuple[Result, ...]:
    return tuning.results(EXPERTS, trials, relevant_from=2, resamples=400, seed=1)


def cost(*spent: tuple[int, float], rated: int = 100) -> Figure:
    ratings = dict.fromkeys(PAIRS[:rated], 0)
    return results(replace(trial(ratings), spent=spent))[0].cost_a_thousand


def test_the_cost_of_a_thousand_by_hand() -> None:
    assert cost() == Figure(None, None)
    assert cost((1, 1.0), rated=0) == Figure(None, None)
    assert cost((100, 0.5)) == Figure(5.0, None)
    # Two of ten pairs were asked for twice: 12 asked, 0.06 dollars, of which the requests differ by 0.01 from the ratio's.
    found = cost((6, 0.04), (6, 0.02), rated=10)
    half = 12.706205 * (2 * 0.01**2 * 2 / 12**2) ** 0.5
    assert found.value == pytest.approx(6.0)
    assert found.interval == pytest.approx((0.0, 1_000 * 12 / 10 * (0.06 / 12 + half)))
    assert cost((6, 0.03), (6, 0.03), rated=10) == Figure(6.0, (6.0, 6.0))


def test_the_interval_of_the_cost_holds_the_truth() -> None:
    """Requests of 1 to 20 pairs, whose tokens vary: what a thousand pairs cost in the long run is known."""
    rng = random.Random(5)
    held = 0
    for _ in range(1_000):
        sizes = [rng.randint(1, 20) for _ in range(25)]
        [low, high] = cost(*[(size, size * 0.002 * rng.uniform(0.5, 1.5)) for size in sizes]).interval or (0, 0)
        truth = 1_000 * sum(sizes) / 100 * 0.002
        held += low <= truth <= high
    assert 930 <= held <= 980


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=2, max_size=60))
def test_the_area_is_that_of_scikit_learn(rated: list[tuple[int, int]]) -> None:
    from sklearn.metrics import roc_auc_score

    experts = {(f"q{n % 4}", f"f{n}"): (expert,) for n, (expert, _) in enumerate(rated)}
    ratings = {(f"q{n % 4}", f"f{n}"): judged for n, (_, judged) in enumerate(rated)}
    found = tuning.results(experts, [trial(ratings)], relevant_from=2, resamples=100, seed=1)[0].area
    relevant = [expert >= 2 for expert, _ in rated]
    if len(set(relevant)) == 1:
        assert found == Figure(None, None)
    else:
        assert found.value == pytest.approx(roc_auc_score(relevant, [judged for _, judged in rated]))
        assert found.interval is not None


@given(st.lists(st.tuples(st.integers(0, 3), st.floats(0, 1)), min_size=2, max_size=60))
def test_the_area_goes_by_scores_where_there_are_any(scored: list[tuple[int, float]]) -> None:
    from sklearn.metrics import roc_auc_score

    experts = {(f"q{n % 4}", f"f{n}"): (expert,) for n, (expert, _) in enumerate(scored)}
    scores = {(f"q{n % 4}", f"f{n}"): score for n, (_, score) in enumerate(scored)}
    hits = {pair: 3 if score >= 0.3 else 0 for pair, score in scores.items()}
    [found] = tuning.results(experts, [replace(trial(hits), scores=scores)], relevant_from=2, resamples=100, seed=1)
    relevant = [expert >= 2 for expert, _ in scored]
    assert found.f1.value == agreement.compare(experts, hits, relevant_from=2).f1
    if len(set(relevant)) == 1:
        assert found.area == Figure(None, None)
    else:
        assert found.area.value == pytest.approx(roc_auc_score(relevant, [score for _, score in scored]))


def test_the_interval_of_many_scores_is_that_of_few_and_is_made_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = random.Random(4)
    scores = {pair: given[0] / 3 + rng.uniform(-0.8, 0.8) for pair, given in EXPERTS.items()}
    ratings = dict.fromkeys(EXPERTS, 3)
    whole = tuning.results(EXPERTS, [replace(trial(ratings), scores=scores)], relevant_from=2, resamples=4000, seed=1)[0].area
    monkeypatch.setattr(tuning, "CELLS", 200 * 20)
    parts = tuning.results(EXPERTS, [replace(trial(ratings), scores=scores)], relevant_from=2, resamples=4000, seed=1)[0].area
    assert whole.interval is not None
    assert parts.interval is not None
    assert parts != whole
    assert parts.value == whole.value
    assert parts.interval == pytest.approx(whole.interval, abs=0.01)
    assert whole.interval[0] < (whole.value or 0) < whole.interval[1]


def test_a_judge_that_knows_nothing_is_at_chance_and_its_interval_says_so() -> None:
    good, poor, constant = results(trial(noisy(1, 0.2)), trial(noisy(2, 1.0)), trial(dict.fromkeys(PAIRS, 3)))
    assert good.area.interval is not None
    assert good.area.interval[0] > 0.75
    assert poor.area.interval is not None
    assert poor.area.interval[0] < 0.5 < poor.area.interval[1]
    assert constant.area == Figure(0.5, (0.5, 0.5))
    assert good.f1.value == agreement.compare(EXPERTS, noisy(1, 0.2), relevant_from=2).f1
    assert good.f1.interval is not None


def test_flips_are_against_the_first() -> None:
    first = noisy(1, 0.0)
    other = {pair: 3 - rating if number < 25 else rating for number, (pair, rating) in enumerate(first.items())}
    one, two = results(trial(first), trial(other))
    assert one.flips is None
    assert two.flips is not None
    assert two.flips.value == 0.25
    assert two.flips.interval is not None
    assert two.flips.interval[0] < 0.25 < two.flips.interval[1]


def test_the_best_is_chosen_then_the_cheaper_and_never_one_that_left_pairs_out() -> None:
    right = {pair: given[0] for pair, given in EXPERTS.items()}
    partly = dict(list(right.items())[1:])
    found = results(trial(noisy(1, 0.3)), trial(partly), trial(right, 2.0), trial(right, 1.0), trial(right, 1.0, 200))
    assert tuning.choose(found) is found[3]
    assert found[1].unrated == 1
    assert tuning.choose(found[1:2]) is None
    unpriced = tuning.results(
        EXPERTS, [trial(right, None, 300), trial(right, None, 200)], relevant_from=2, resamples=100, seed=1
    )
    assert tuning.choose(unpriced) is unpriced[1]
    lines = tuning.text(found, found[3]).splitlines()
    assert [line.endswith("chosen") for line in lines] == [False] * 4 + [True, False]
    assert "99/100" in lines[2]


def test_nothing_rated_is_no_figure() -> None:
    found = results(trial({}), replace(trial({}), model="n"))
    assert [(entry.pairs, entry.unrated, entry.f1.value, entry.area.value) for entry in found] == [(0, 100, None, None)] * 2
    assert found[1].flips == Figure(None, None)
    assert "undefined" in tuning.text(found, None)
