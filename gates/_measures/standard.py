"""The measures that every gate record has, each with its definition: precision, recall, F1, kappa, F1 of always relevant.

All are of the verdict relevant or not, on pairs that experts and judge both rated.
"""

from typing import Any

from gates._measures.measure import Measure, scalar, vectorised

VAN_RIJSBERGEN = "van Rijsbergen, Information Retrieval, 1979, chapter 7"


def _precision(both: Any, judge_only: Any, _expert_only: Any, _neither: Any) -> tuple[Any, Any]:
    return both, both + judge_only


def _recall(both: Any, _judge_only: Any, expert_only: Any, _neither: Any) -> tuple[Any, Any]:
    return both, both + expert_only


def _f1(both: Any, judge_only: Any, expert_only: Any, _neither: Any) -> tuple[Any, Any]:
    return 2 * both, 2 * both + judge_only + expert_only


def _kappa(both: Any, judge_only: Any, expert_only: Any, neither: Any) -> tuple[Any, Any]:
    pairs = both + judge_only + expert_only + neither
    judged, experts = both + judge_only, both + expert_only
    chance = judged * experts + (pairs - judged) * (pairs - experts)
    return (both + neither) * pairs - chance, pairs * pairs - chance


def _always_f1(both: Any, judge_only: Any, expert_only: Any, neither: Any) -> tuple[Any, Any]:
    return _f1(both + expert_only, judge_only + neither, 0, 0)


PRECISION = Measure(
    "precision",
    "precision",
    scalar(_precision),
    vectorised(_precision),
    definition="relevant by both / relevant by the judge",
    source=VAN_RIJSBERGEN,
)
RECALL = Measure(
    "recall",
    "recall",
    scalar(_recall),
    vectorised(_recall),
    definition="relevant by both / relevant by the experts",
    source=VAN_RIJSBERGEN,
)
F1 = Measure(
    "f1",
    "F1",
    scalar(_f1),
    vectorised(_f1),
    definition="2 both / (2 both + judge alone + experts alone), the harmonic mean of precision and recall; undefined only "
    "where no pair is relevant on either side",
    source=VAN_RIJSBERGEN,
)
KAPPA = Measure(
    "kappa",
    "kappa",
    scalar(_kappa),
    vectorised(_kappa),
    definition="(observed - expected) / (1 - expected) agreement of the two verdicts; undefined where both always say the same "
    "one thing",
    source="Cohen, A coefficient of agreement for nominal scales, 1960",
)
ALWAYS_F1 = Measure(
    "always_f1",
    "F1 of always relevant",
    scalar(_always_f1),
    vectorised(_always_f1),
    definition="the F1 of a judge that calls every pair relevant, the floor to read F1 against",
    source=VAN_RIJSBERGEN,
    heading="always",
    format=".3f",
)
MEASURES = (PRECISION, RECALL, F1, KAPPA, ALWAYS_F1)
"""In the order in which they are shown."""
