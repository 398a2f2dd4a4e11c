"""Agreement on the scale: scikit-learn and krippendorff as oracles, hand-worked cases for what they do not have."""

import math
import warnings

import krippendorff
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import cohen_kappa_score, precision_score, recall_score

from gates._measures import agreement, levels
from gates._measures.measure import Figure

SCALE = (0, 1, 2, 3)
rows_strategy = st.lists(
    st.tuples(st.integers(0, 5), st.lists(st.integers(0, 3), min_size=1, max_size=4), st.integers(0, 3)),
    min_size=1,
    max_size=40,
)


def _maps(rows: list[tuple[int, list[int], int]]) -> tuple[dict[tuple[str, str], list[int]], dict[tuple[str, str], int]]:
    pairs = [(f"q{search}", f"f{number:03}") for number, (search, _, _) in enumerate(rows)]
    return (
        dict(zip(pairs, [given for _, given, _ in rows], strict=True)),
        dict(zip(pairs, [rating for _, _, rating in rows], strict=True)),
    )


def _same(mine: float | None, theirs: float) -> bool:
    return math.isnan(theirs) if mine is None else mine == pytest.approx(theirs, abs=1e-9)


@given(rows_strategy)
def test_figures_equal_the_oracles(rows: list[tuple[int, list[int], int]]) -> None:
    experts, ratings = _maps(rows)
    found = levels.compare(experts, ratings, scale=SCALE, relevant_from=2, resamples=20, seed=1)
    truth = [math.floor(sum(given) / len(given) + 0.5) for given in experts.values()]
    judged = list(ratings.values())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        weighted = cohen_kappa_score(truth, judged, labels=SCALE, weights="quadratic")
        precision = precision_score(truth, judged, labels=SCALE, average=None, zero_division=math.nan)
        recall = recall_score(truth, judged, labels=SCALE, average=None, zero_division=math.nan)
        data = [[*given, *[math.nan] * (4 - len(given)), rating] for _, given, rating in rows]
        several = len({value for row in data for value in row if value == value}) > 1
        alpha = (
            krippendorff.alpha(np.array(data).T, value_domain=list(SCALE), level_of_measurement="ordinal")
            if several
            else math.nan
        )
    assert _same(found.weighted_kappa.value, weighted)
    assert _same(found.alpha.value, alpha)
    assert found.kappa.value == pytest.approx(agreement.compare(experts, ratings, relevant_from=2).kappa)
    for level, first, second in zip(found.levels, precision, recall, strict=True):
        assert _same(level.precision.value, first)
        assert _same(level.recall.value, second)
        assert (level.experts, level.judge) == (truth.count(level.rating), judged.count(level.rating))
    mean = np.mean([rating - sum(given) / len(given) for _, given, rating in rows])
    assert found.leniency.value == pytest.approx(mean, abs=1e-9)


@given(rows_strategy)
def test_resampled_alpha_is_the_librarys(rows: list[tuple[int, list[int], int]]) -> None:
    """The formula that is resampled, applied to the whole, is what the library gives."""
    pairs = agreement.align(*_maps(rows)).rated
    values = levels._values(pairs, SCALE)
    whole = levels._coincidences(values, np.zeros(len(values), np.int64), searches=1).reshape(1, 4, 4)
    if len({value for _, given, rating in rows for value in (*given, rating)}) > 1:
        assert levels._alpha(whole)[0] == pytest.approx(levels._library_alpha(values, SCALE))
    else:
        assert math.isnan(levels._alpha(whole)[0])


def test_intervals_hold_their_figure_and_do_not_depend_on_order() -> None:
    source = np.random.default_rng(1)
    rows = [(number % 12, [int(source.integers(0, 4))], 0) for number in range(120)]
    rows = [(search, given, min(3, given[0] + int(source.integers(0, 2)))) for search, given, _ in rows]
    experts, ratings = _maps(rows)
    found = levels.compare(experts, ratings, scale=SCALE, relevant_from=2, resamples=400, seed=1)
    for figure in (found.kappa, found.weighted_kappa, found.alpha, found.leniency):
        assert figure.value is not None
        assert figure.interval is not None
        assert figure.interval[0] < figure.value < figure.interval[1]
    assert found.leniency.interval is not None
    assert found.leniency.interval[0] > 0
    turned = levels.compare(dict(reversed(experts.items())), ratings, scale=SCALE, relevant_from=2, resamples=400, seed=1)
    assert turned == found


def test_an_undefined_figure_is_none() -> None:
    found = levels.compare({("q", "f"): (3,)}, {("q", "f"): 3}, scale=SCALE, relevant_from=2, resamples=10, seed=1)
    assert (found.kappa.value, found.alpha.value, found.levels[0].recall.value) == (None, None, None)
    assert found.levels[3].recall == Figure(1.0, (1.0, 1.0))
    assert levels.compare({}, {}, scale=SCALE, relevant_from=2, resamples=10, seed=1).leniency.value is None


def test_halves_are_rounded_up() -> None:
    found = levels.compare({("q", "f"): (1, 2)}, {("q", "f"): 2}, scale=SCALE, relevant_from=2, resamples=10, seed=1)
    assert found.table == ((0, 0, 0, 0), (0, 0, 0, 0), (0, 0, 1, 0), (0, 0, 0, 0))


def test_experts_left_out_in_turn() -> None:
    # 3, 1, 2: left out 3 against 1.5 no, 1 against 2.5 no, 2 against 2 yes: a third the same.
    experts = {("q", f"f{number}"): (3, 1, 2) for number in range(30)}
    found = levels.left_out(experts, 2)
    assert found is not None
    assert found.same == pytest.approx(1 / 3)
    assert found.f1 == pytest.approx(2 * (1 / 3) / (2 / 3 + 2 / 3))
    turned = levels.left_out(dict.fromkeys(experts, (2, 3, 1)), 2)
    assert turned is not None
    assert (turned.same, turned.f1) == pytest.approx((found.same, found.f1))
    del experts["q", "f0"]
    assert levels.left_out(experts, 2) is None
