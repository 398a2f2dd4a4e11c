"""Seals: what judge.toml and the expert ratings say now, beside what a ledger holds as sealed.

Apart from the evidence that gates rest on, because a run seals before it rates and should not wait for more.
"""

from pathlib import Path

from gates._verdict import hashes
from gates._verdict.seal import Seal, searches_left_out
from judge._judges.identity import Identity
from judge._ledger import entries
from judge._ledger.entries import SealEntry as Sealed
from judge._ledger.ledger import Ledger
from pools._dataset.partition import Partition
from pools.errors import DataError, UsageError


def stated(partition: Partition, *, sealed: Sealed | None = None) -> Seal:
    """Return what judge.toml and the expert ratings say now, in the form that is sealed.

    To be compared with a seal, the expert ratings are those of the searches that count by it, whatever judge.toml leaves out.
    """
    counting = partition.settings.gate if sealed is None else sealed.gate
    left_out = searches_left_out(partition.dataset, partition.language, gate=counting)
    gold = hashes.of_gold(partition.experts, left_out)
    found = partition.settings
    return Seal(found.gate, found.relevant_from, gold, found.judge.canaries, found.judge.retest)


def first(partition: Partition, ledger: Ledger, *, identity: Identity) -> None:
    """Seal what is stated now for a judge that the ledger does not know yet; what is sealed already stays."""
    if ledger.seal(identity.judge_id) is None:
        now = stated(partition)
        ledger.add(
            entries.seal(
                identity,
                now.gate,
                relevant_from=now.relevant_from,
                gold_sha256=now.gold_sha256 or "",
                canaries=now.canaries,
                retest=now.retest,
            )
        )


def seal_of(sealed: Sealed) -> Seal:
    """Return a ledger's seal as the gate takes it."""
    return Seal(sealed.gate, sealed.relevant_from, sealed.gold_sha256, sealed.canaries, sealed.retest)


def watched(partition: Partition, sealed: Sealed | None) -> tuple[int, float]:
    """Return the canaries a batch and the share of pairs rated again that count: the sealed ones, else judge.toml's."""
    if sealed is None or sealed.canaries is None or sealed.retest is None:
        return partition.settings.judge.canaries, partition.settings.judge.retest
    return sealed.canaries, sealed.retest


def choose(ledger: Ledger, path: Path, *, judge_id: str | None) -> str | None:
    """Return the judge meant: the one named, else the last sealed; None for an empty ledger."""
    judges = ledger.judges()
    if judge_id is not None and judge_id not in judges:
        raise UsageError(f"{path}: no judge {judge_id}; it has {', '.join(judges) or 'none'}")
    return judge_id or (judges[-1] if judges else None)


def reseal(partition: Partition, *, judge_id: str | None, reason: str) -> None:
    """Seal what judge.toml and the expert ratings say now, for good on record with the reason."""
    if not reason.strip():
        raise UsageError("--reseal needs a reason, which stays on record; give one")
    path = partition.ledger_path
    chosen = choose(Ledger.read(path), path, judge_id=judge_id)
    if chosen is None:
        raise UsageError(f"{partition.language}: nothing is sealed yet; run `judge rate --lang {partition.language}`")
    now = stated(partition)
    with Ledger.open(path) as ledger:
        sealed = ledger.seal(chosen)
        if sealed is None:
            raise DataError(f"{path}: judge {chosen} has no seal; restore the ledger")
        ledger.add(
            entries.reseal(
                sealed,
                now.gate,
                relevant_from=now.relevant_from,
                gold_sha256=now.gold_sha256 or "",
                reason=reason,
                canaries=now.canaries,
                retest=now.retest,
            )
        )
