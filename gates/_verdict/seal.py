"""The seal: what was fixed before the first rating, and which searches count by it.

It stands apart from the gate that holds to it, because a run seals before it rates, and what the gate computes with takes
longer to load than a first request may wait.
"""

import dataclasses
from dataclasses import dataclass
from typing import Any

from pools._dataset.dataset import Dataset
from pools._dataset.settings import GateSettings
from pools.errors import UsageError

SPLITS = ("all", "test")


@dataclass(frozen=True, slots=True)
class Seal:
    """What was fixed before the first rating; `gold_sha256` is None where nothing was sealed (a dataset without a ledger).

    `canaries` and `retest` say how closely the judge is watched while it rates the pool; None in ledgers of older releases.
    """

    gate: GateSettings
    relevant_from: float
    gold_sha256: str | None = None
    canaries: int | None = None
    retest: float | None = None

    def differences(self, stated: "Seal") -> tuple[str, ...]:
        """Return a line for each value that judge.toml or the dataset states otherwise now, with both values."""
        out = [f"{key} is sealed as {was}; judge.toml says {now}" for key, was, now in self._beside(stated)]
        was, now = self.gold_sha256, stated.gold_sha256
        if None not in (was, now) and was != now:
            out.append(f"the expert ratings are sealed as {was}; they are {now} now; `judge gate --reseal REASON` seals them")
        return tuple(out)

    def changes(self, later: "Seal") -> tuple[str, ...]:
        """Return what a later seal fixes otherwise, as "gate.f1 from 0.67 to 0.5"."""
        out = [f"{key} from {was} to {now}" for key, was, now in self._beside(later)]
        was, now = self.gold_sha256, later.gold_sha256
        return (*out, f"the expert ratings from {(was or '')[:12]} to {(now or '')[:12]}") if was != now else tuple(out)

    def _beside(self, other: "Seal") -> list[tuple[str, Any, Any]]:
        pairs: list[tuple[str, Any, Any]] = [
            (f"gate.{item.name}", getattr(self.gate, item.name), getattr(other.gate, item.name))
            for item in dataclasses.fields(GateSettings)
        ]
        pairs.append(("relevant_from", self.relevant_from, other.relevant_from))
        if self.canaries is not None and other.canaries is not None:
            pairs.append(("judge.canaries", self.canaries, other.canaries))
            pairs.append(("judge.retest", self.retest, other.retest))
        return [(key, was, now) for key, was, now in pairs if was != now]


def searches_left_out(data: Dataset, language: str, *, gate: GateSettings) -> frozenset[str]:
    """Return the searches of a language that do not count; raises `UsageError` where `gate.split` is no choice there is."""
    if gate.split not in SPLITS:
        raise UsageError(f"gate.split is {gate.split!r}; valid are {', '.join(SPLITS)}")
    tuning = gate.split == "test"
    return frozenset(query.search_id for query in data.queries_of(language) if tuning and query.split == "tuning")
