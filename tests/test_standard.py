"""The standard measures: scalar and vectorised are one thing for all counts, and scikit-learn says the same."""

import math
import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import cohen_kappa_score, precision_recall_fscore_support

from gates._measures import standard
from gates._measures.measure import Measure

Counts = tuple[int, int, int, int]
# Small ones to meet every nought, large ones to leave behind what floating point holds without rounding.
count = st.one_of(st.integers(0, 3), st.integers(0, 10_000), st.integers(0, 2**30))
many = st.lists(st.tuples(count, count, count, count), max_size=8)


def same(one: float | None, other: float) -> bool:
    return math.isnan(other) if one is None else one == other


@pytest.mark.parametrize("found", standard.MEASURES, ids=lambda found: found.name)
@given(many)
def test_vectorised_is_scalar_row_by_row(found: Measure, rows: list[Counts]) -> None:
    figures = found.vectorised(np.array(rows, np.int64).reshape(-1, 4))
    assert figures.shape == (len(rows),)
    assert all(same(found.scalar(row), float(figure)) for row, figure in zip(rows, figures, strict=True))


@given(st.tuples(*[st.one_of(st.integers(0, 3), st.integers(0, 10_000))] * 4))
def test_figures_equal_those_of_scikit_learn(counts: Counts) -> None:
    truth, judged = [True, False, True, False], [True, True, False, False]
    if not sum(counts):
        assert {found.scalar(counts) for found in standard.MEASURES} == {None}
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        precision, recall, f1, _ = precision_recall_fscore_support(
            truth, judged, average="binary", sample_weight=counts, zero_division=math.nan
        )
        kappa = cohen_kappa_score(truth, judged, sample_weight=counts)
        always = precision_recall_fscore_support(
            truth, [True] * 4, average="binary", sample_weight=counts, zero_division=math.nan
        )[2]
    theirs = {"precision": precision, "recall": recall, "f1": f1, "kappa": kappa, "always_f1": always}
    assert theirs.keys() == {found.name for found in standard.MEASURES}
    for found in standard.MEASURES:
        mine = found.scalar(counts)
        if mine is None:
            assert math.isnan(theirs[found.name])
        elif found.name == "kappa" and math.isnan(kappa):
            pytest.fail(f"kappa {mine} where the library has none")
        else:
            # The library subtracts shares where they nearly cancel out, so it is the less exact of the two.
            assert mine == pytest.approx(theirs[found.name], rel=1e-6, abs=1e-9)


def test_a_value_on_the_threshold_equals_it() -> None:
    assert standard.F1.scalar((67, 33, 33, 50)) == 0.67
    assert standard.F1.vectorised(np.array([[67, 33, 33, 50]]))[0] == 0.67
