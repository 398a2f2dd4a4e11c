"""The step `panel`: several judges decide together, as a judge of its own."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gates._verdict import panels
from judge._ledger import entries
from judge._ledger.ledger import Ledger
from judge.steps import evidences, ledgers, seals
from pools._dataset.partition import Partition
from pools.errors import UsageError


@dataclass(frozen=True, slots=True)
class Panel:
    """A panel as it was made: how many judges decide by which method, and how many pairs have its rating."""

    language: str
    judge_id: str
    method: str
    judges: int
    pairs: int


@dataclass(frozen=True, slots=True)
class PanelIdentity:
    """A panel's identity as the ledger seals it."""

    judge_id: str
    content: dict[str, Any]

    def document(self) -> dict[str, Any]:
        return self.content


def panel(partition: Partition, ids: Sequence[str], *, method: str) -> Panel:
    """Seal a panel of judges of a language's ledger as a judge of its own, unless it is there already.

    Raises `UsageError` for an unknown judge or method, fewer than two judges, or judges that differ in scale or seal.
    """
    path = partition.ledger_path
    identity = _identity(Ledger.read(path), path, ids=ids, method=method)
    with ledgers.opened(partition) as ledger:
        first = ledger.seal(ids[0])
        if first is not None and ledger.seal(identity.judge_id) is None:
            ledger.add(
                entries.seal(
                    identity,
                    first.gate,
                    relevant_from=first.relevant_from,
                    gold_sha256=first.gold_sha256,
                    canaries=first.canaries,
                    retest=first.retest,
                )
            )
        members = {member: evidences.ratings(ledger, member) for member in identity.content[panels.MEMBERS]}
    return Panel(partition.language, identity.judge_id, method, len(set(ids)), len(panels.ratings(members, method)))


def _identity(ledger: Ledger, path: Path, *, ids: Sequence[str], method: str) -> PanelIdentity:
    sealed_as = []
    for judge_id in ids:
        seals.choose(ledger, path, judge_id=judge_id)
        sealed = ledger.seal(judge_id)
        if sealed is not None:
            sealed_as.append(sealed)
    scale = sealed_as[0].identity["scale"] if sealed_as else {}
    for sealed in sealed_as[1:]:
        if sealed.identity["scale"] != scale:
            raise UsageError(f"{path}: judges {ids[0]} and {sealed.judge_id} rate on different scales, and cannot be a panel")
        differences = seals.seal_of(sealed_as[0]).differences(seals.seal_of(sealed))
        if differences:
            raise UsageError(
                f"{path}: judges {ids[0]} and {sealed.judge_id} are sealed differently, so a panel has no seal to take over; "
                f"seal one of them anew with `judge gate --judge ID --reseal REASON`"
            )
    content = panels.identity(ids, method, scale=scale)
    return PanelIdentity(panels.judge_id(content), content)
