"""The step `withdraw`: a judge's ratings out of the qrels again."""

from dataclasses import dataclass, replace

from gates._release import journal, qrels
from judge._ledger.ledger import now
from pools._dataset.partition import Partition
from pools.errors import UsageError


@dataclass(frozen=True, slots=True)
class Withdrawn:
    """The judge whose ratings were withdrawn from a language, and of how many pairs that experts had not rated."""

    language: str
    judge_id: str
    pairs: int


def withdraw(partition: Partition, *, judge: str, reason: str) -> Withdrawn:
    """Take the merged ratings of a judge, named by its id, out of a language's qrels; the ledger keeps them.

    Raises `UsageError` where another judge's or none are merged, or where there is no reason.
    """
    folder, language, data = partition.folder, partition.language, partition.dataset
    merged = journal.merged(journal.read(folder, language))
    if merged is None or not qrels.carries(data, language):
        raise UsageError(f"{language}: no judge's ratings are merged, so there is nothing to withdraw; see `judge log`")
    if merged.judge_id != judge:
        raise UsageError(f"{language}: the ratings merged are by judge {merged.judge_id}, not {judge}; name that one")
    before = sum(qrel.source == "judge" for qrel in partition.qrels)
    journal.append(folder, journal.Event(now(), "withdraw", language, judge, reason, f"{before} pairs"))
    qrels.write(folder, replace(data, qrels=qrels.withdraw(data, language)).qrels)
    return Withdrawn(language, judge, before)
