"""Measures: scalar and vectorised are one thing for all counts, scikit-learn says the same, and the registry finds them."""

import numpy as np
import pytest

from gates._measures import registry, standard
from gates._measures.measure import Measure
from pools.errors import UsageError


def test_the_registry_has_the_standard_ones_and_lists_names_for_an_unknown_one() -> None:
    assert registry.names()[:5] == ("precision", "recall", "f1", "kappa", "always_f1")
    assert registry.get("kappa") is standard.KAPPA
    with pytest.raises(UsageError, match="unknown measure 'bleu'; valid are precision, recall, f1, kappa, always_f1"):
        registry.get("bleu")


def test_a_name_is_registered_once() -> None:
    registry.register(standard.KAPPA)
    mine = Measure("kappa", "mine", lambda _: 1.0, lambda counts: np.ones(len(counts)), definition="", source="")
    with pytest.raises(UsageError, match="measure 'kappa' is there already; name another than precision"):
        registry.register(mine)
    assert registry.get("kappa") is standard.KAPPA
