"""The interval shown: against the textbook where searches do not matter, at its edges, and that it holds the truth."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench import bench_coverage
from gates._measures import interval
from tests.builders.places import ROOT


def _wilson(hits: int, count: int) -> tuple[float, float]:
    share, z = hits / count, 1.959963984540054
    middle = (share + z * z / (2 * count)) / (1 + z * z / count)
    half = z / (1 + z * z / count) * (share * (1 - share) / count + z * z / (4 * count * count)) ** 0.5
    return middle - half, middle + half


@pytest.mark.parametrize(("hits", "count"), [(0, 10), (10, 10), (7, 20), (50, 100)])
def test_of_one_search_it_is_wilsons(hits: int, count: int) -> None:
    one = np.array([hits])
    all_of_it = np.array([count])
    assert interval.of_share(one, all_of_it, sizes=all_of_it) == pytest.approx(_wilson(hits, count))


@given(st.lists(st.tuples(*[st.integers(0, 5)] * 4), min_size=1, max_size=20))
def test_it_holds_the_estimate_and_stays_in_range(rows: list[tuple[int, ...]]) -> None:
    confusion = np.array(rows)
    both, errors = confusion[:, 0].sum(), confusion[:, 1:3].sum()
    bounds = interval.of_f1(confusion)
    if not both + errors:
        assert bounds is None
        return
    assert bounds is not None
    assert 0 <= bounds[0] <= 2 * both / (2 * both + errors) <= bounds[1] <= 1
    assert bounds[1] - bounds[0] > 0


def test_pairs_that_fail_together_widen_it() -> None:
    alone = np.array([[1, 0, 0, 0], [0, 1, 0, 0]] * 100)
    together = np.array([[10, 0, 0, 0], [0, 10, 0, 0]] * 10)
    narrow, wide = interval.of_f1(alone), interval.of_f1(together)
    assert narrow is not None
    assert wide is not None
    assert wide[1] - wide[0] > 2.5 * (narrow[1] - narrow[0])


@pytest.mark.parametrize("f1", bench_coverage.TRUTHS)
def test_it_holds_the_truth_in_93_to_98_of_100_simulations(f1: float) -> None:
    """1,000 simulated judges of a known F1 at each size from 30 to 1,000 pairs, searches unequally hard."""
    for shape in bench_coverage.SHAPES:
        found = bench_coverage.coverage(f1, shape, world=bench_coverage.USUAL, simulations=1_000, seed=2, resamples=0)
        assert 0.93 <= found.shown <= 0.98, shape


def test_the_documented_figures_are_the_measured_ones() -> None:
    text = (ROOT / "docs" / "coverage.md").read_text(encoding="utf-8")
    shape, world = bench_coverage.SHAPES[0], bench_coverage.USUAL
    found = {0.6: bench_coverage.coverage(0.6, shape, world=world, simulations=bench_coverage.SIMULATIONS, seed=1)}
    assert bench_coverage.row(shape, world, found=found).removesuffix(" |") in text
