"""The step `merge`: a judge's ratings into the qrels, where the gate passed."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from gates._release import journal, qrels
from gates._release.journal import Event
from gates._verdict import evidence
from gates._verdict.evidence import Evidence
from judge._ledger.ledger import now
from judge.steps import evidences
from pools._dataset.dataset import Dataset
from pools._dataset.folder import DatasetFolder
from pools._dataset.partition import Partition
from pools.errors import GateClosed, JudgeError


@dataclass(frozen=True, slots=True)
class MergedLanguage:
    """The judge merged into one language, how many pairs have its rating alone, and whether that took an override.

    `changed` says which pairs stay out because their texts changed since they were rated; None where none did.
    """

    language: str
    judge_id: str
    pairs: int
    override: bool
    changed: str | None = None


@dataclass(frozen=True, slots=True)
class Merged:
    """The languages that were merged, and an error, whose text names the language, for each that was refused."""

    languages: tuple[MergedLanguage, ...]
    refused: tuple[JudgeError, ...]


def merge(folder: DatasetFolder, *, judge: str | None = None, override: str | None = None) -> Merged:
    """Put a judge's ratings into the qrels of every language that is meant and whose gate admits them.

    `judge` is an id, None for the judge sealed last; `override` is the reason to merge although the gate is shut, which stays
    on record. What is refused is in the result, and the other languages are merged all the same. Raises `UsageError` for a
    judge that a ledger does not hold or an override without a reason; then nothing is written.
    """
    moment = now()
    merged = folder.dataset
    events: list[Event] = []
    done: list[MergedLanguage] = []
    refused: list[JudgeError] = []
    for partition in folder:
        language = partition.language
        try:
            found = evidences.for_release(partition, judge_id=judge)
            if found is None or found.judge_id is None:
                refused.append(JudgeError(f"{language}: no ledger to merge from; run `judge rate --lang {language}`"))
                continue
            qrels.check(folder.dataset, language, relevant_from=found.seal.relevant_from)
        except GateClosed as unsound:
            refused.append(unsound)
            continue
        closed = _closed(partition, found=found)
        if closed is not None:
            if override is None:
                refused.append(closed)
                continue
            events.append(Event(moment, "override", language, found.judge_id, override, str(closed)))
        rows = qrels.merge(merged, language, pool=found.pool, ratings=found.ratings, relevant_from=found.seal.relevant_from)
        merged = replace(merged, qrels=rows)
        added = sum(row.language == language and row.source == "judge" for row in rows)
        changed = evidence.changed_texts(language, found.changed)
        done.append(MergedLanguage(language, found.judge_id, added, closed is not None, changed))
        events.append(Event(moment, "merge", language, found.judge_id, None, f"{added} pairs"))
    _write(merged, events)
    return Merged(tuple(done), tuple(refused))


def _write(merged: Dataset, events: Sequence[Event]) -> None:
    # The log first: what is merged by override must be on record even if the next write fails.
    for event in events:
        journal.append(merged.folder, event)
    if events:
        qrels.write(merged.folder, merged.qrels)


def _closed(partition: Partition, *, found: Evidence) -> GateClosed | None:
    try:
        evidence.admits(partition.dataset, partition.language, evidence=found)
    except GateClosed as closed:
        return closed
    return None
