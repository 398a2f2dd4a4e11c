"""Seals: what judge.toml and the expert ratings say now, beside what a ledger holds as sealed.

Apart from the evidence that gates rest on, because a run seals before it rates and should not wait for more.
"""

from pathlib import Path

from gates.verdict import hashes
from gates.verdict.seal import Seal, searches_left_out
from judge.cli.workspace import Workspace
from judge.ledger import entries
from judge.ledger.entries import SealEntry as Sealed
from judge.ledger.ledger import Ledger
from pools.errors import DataError, UsageError


def stated(workspace: Workspace, language: str, *, sealed: Sealed | None = None) -> Seal:
    """Return what judge.toml and the expert ratings say now, in the form that is sealed.

    To be compared with a seal, the expert ratings are those of the searches that count by it, whatever judge.toml leaves out.
    """
    counting = workspace.settings.gate if sealed is None else sealed.gate
    left_out = searches_left_out(workspace.dataset, language, gate=counting)
    gold = hashes.of_gold(workspace.dataset.experts_of(language), left_out)
    return Seal(workspace.settings.gate, workspace.settings.relevant_from, gold)


def seal_of(sealed: Sealed) -> Seal:
    """Return a ledger's seal as the gate takes it."""
    return Seal(sealed.gate, sealed.relevant_from, sealed.gold_sha256)


def choose(ledger: Ledger, path: Path, *, judge_id: str | None) -> str | None:
    """Return the judge meant: the one named, else the last sealed; None for an empty ledger."""
    judges = ledger.judges()
    if judge_id is not None and judge_id not in judges:
        raise UsageError(f"{path}: no judge {judge_id}; it has {', '.join(judges) or 'none'}")
    return judge_id or (judges[-1] if judges else None)


def reseal(workspace: Workspace, language: str, *, judge_id: str | None, reason: str) -> None:
    """Seal what judge.toml and the expert ratings say now, for good on record with the reason."""
    if not reason.strip():
        raise UsageError("--reseal needs a reason, which stays on record; give one")
    path = workspace.ledger_path(language)
    chosen = choose(Ledger.read(path), path, judge_id=judge_id)
    if chosen is None:
        raise UsageError(f"{language}: nothing is sealed yet; run `judge rate --lang {language}`")
    now = stated(workspace, language)
    with Ledger.open(path) as ledger:
        sealed = ledger.seal(chosen)
        if sealed is None:
            raise DataError(f"{path}: judge {chosen} has no seal; restore the ledger")
        ledger.add(
            entries.reseal(sealed, now.gate, relevant_from=now.relevant_from, gold_sha256=now.gold_sha256 or "", reason=reason)
        )
