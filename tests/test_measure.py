"""A measure of whole numbers: exact whatever the counts are."""

import numpy as np

from gates._measures import measure, standard


def test_more_pairs_than_floating_point_holds_squares_of_are_no_less_exact() -> None:
    counts = (2**27 + 1, 2**26 + 3, 2**26 + 5, 2**27 + 7)
    assert sum(counts) > measure.EXACT_PAIRS
    assert standard.KAPPA.vectorised(np.array([counts]))[0] == standard.KAPPA.scalar(counts)
