"""The step `log`: what was merged, overridden, resealed and withdrawn, when and why."""

from gates._release import journal
from gates._release.journal import Event
from judge._ledger.ledger import Ledger
from judge.steps import evidences
from pools._dataset.folder import DatasetFolder


def log(folder: DatasetFolder) -> tuple[Event, ...]:
    """Return the events of the languages meant by time: those of their logs, and what was changed in their ledgers' seals."""
    changes = [
        event for partition in folder for event in evidences.changes(Ledger.read(partition.ledger_path), partition.language)
    ]
    return journal.history(folder.path, folder.languages, further=changes)
