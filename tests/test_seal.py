"""The seal: which searches count by it, and how it differs from what is stated now."""

from dataclasses import replace
from pathlib import Path

import pytest

from gates._verdict.seal import Seal, searches_left_out
from pools._dataset.dataset import Dataset
from pools._dataset.records import Query
from pools._dataset.settings import GateSettings
from pools.errors import UsageError
from tests.builders.verdicts import SETTINGS


def test_searches_left_out_are_those_of_the_tuning_split() -> None:
    data = Dataset(Path(), (Query("go", "q0", "words", "tuning"), Query("go", "q1", "words")), None, ())
    assert searches_left_out(data, "go", gate=replace(SETTINGS, split="test")) == {"q0"}
    assert searches_left_out(data, "go", gate=SETTINGS) == frozenset()
    with pytest.raises(UsageError, match=r"gate\.split is 'dev'; valid are all, test"):
        searches_left_out(data, "go", gate=replace(SETTINGS, split="dev"))


def test_differences_are_shown_with_both_values() -> None:
    sealed = Seal(GateSettings(), 2.0, "aa")
    now = Seal(GateSettings(f1=0.5), 1.5, "bb")
    assert sealed.differences(now) == (
        "gate.f1 is sealed as 0.67; judge.toml says 0.5",
        "relevant_from is sealed as 2.0; judge.toml says 1.5",
        "the expert ratings are sealed as aa; they are bb now; `judge gate --reseal REASON` seals them",
    )
    assert sealed.differences(Seal(GateSettings(), 2.0)) == ()
