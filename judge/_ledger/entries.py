"""The ledger's kinds of lines: what each holds, made from this program's records and made into them again.

    seal, reseal  judge_id, identity, gate, relevant_from, gold_sha256, canaries, retest; a reseal's reason
    reply         judge_id, number, purpose, sent, finish_reason, model, usage, cost, raw
    reading       number, parser, ratings {id: rating}, faults {id: status}, foreign [id, …]
    failure       judge_id, pair, texts [hash of search, hash of code], reason: the pair is given up
    discarded     like a reply, with the reason why it cannot be used, and never read
    upload        file, purpose, size, batches {custom id: sent}: what a job of the endpoint's batch interface is to ask
    job, job-end  job, file: the job made of an upload; how it ended. Its replies carry `file` and `custom_id`

`sent` is [[id, search_id, function_id, hash of search, hash of code], …] in the order shown (see `judge._ledger.texts`). Every
line but a reading has a `time`; a reading can be made again from its reply, so it depends on nothing else. Lines of older
releases lack the hashes, and what is sealed of the controls.
"""

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from judge._batching.batches import Batch
from judge._endpoint.answer import Answer
from judge._ledger import texts
from judge._ledger.tally import Purpose
from judge._reading import replies
from judge._reading.replies import Reading
from pools._dataset.records import PairKey
from pools._dataset.settings import GateSettings

Record = dict[str, Any]


@dataclass(frozen=True, slots=True)
class SealEntry:
    """What was fixed for a judge before its first rating; `reason` is why it was sealed anew, None for a first seal.

    `canaries` a batch and the share of pairs to `retest` are None in ledgers of older releases, which did not seal them.
    """

    time: str
    judge_id: str
    identity: Mapping[str, Any]
    gate: GateSettings
    relevant_from: float
    gold_sha256: str
    reason: str | None = None
    canaries: int | None = None
    retest: float | None = None

    @property
    def scale_values(self) -> frozenset[int]:
        return frozenset(value for value, _ in self.identity["scale"]["levels"])


class Sealable(Protocol):
    """An identity that can be sealed: a judge's, or that of a panel of judges."""

    @property
    def judge_id(self) -> str: ...
    def document(self) -> dict[str, Any]: ...


def seal(
    identity: Sealable,
    gate: GateSettings,
    *,
    relevant_from: float,
    gold_sha256: str,
    canaries: int | None = None,
    retest: float | None = None,
) -> Record:
    """Return the line that seals a judge."""
    return {
        "kind": "seal",
        "judge_id": identity.judge_id,
        "identity": identity.document(),
        "gate": dataclasses.asdict(gate),
        "relevant_from": relevant_from,
        "gold_sha256": gold_sha256,
        **_controls(canaries, retest),
    }


def reseal(
    sealed: SealEntry,
    gate: GateSettings,
    *,
    relevant_from: float,
    gold_sha256: str,
    reason: str,
    canaries: int | None = None,
    retest: float | None = None,
) -> Record:
    """Return the line that seals anew a judge that is sealed, with the reason."""
    return {
        "kind": "reseal",
        "judge_id": sealed.judge_id,
        "identity": dict(sealed.identity),
        "gate": dataclasses.asdict(gate),
        "relevant_from": relevant_from,
        "gold_sha256": gold_sha256,
        **_controls(canaries, retest),
        "reason": reason,
    }


def _controls(canaries: int | None, retest: float | None) -> Record:
    return {} if canaries is None else {"canaries": canaries, "retest": retest}


def seal_of(record: Record) -> SealEntry:
    """Make a seal of its line."""
    names = ("time", "judge_id", "identity", "relevant_from", "gold_sha256", "reason", "canaries", "retest")
    known = {name: record.get(name) for name in names}
    return SealEntry(gate=GateSettings(**record["gate"]), **known)  # type: ignore[arg-type]


def reply(judge_id: str, purpose: Purpose, *, batch: Batch, answer: Answer) -> Record:
    """Return the line of a reply, but for its number, which the ledger gives."""
    record: Record = {
        "kind": "reply",
        "judge_id": judge_id,
        "purpose": purpose,
        "sent": sent(batch),
        "finish_reason": answer.finish_reason,
        "model": answer.model,
        "usage": {
            "prompt": answer.usage.prompt,
            "cached": answer.usage.cached,
            "completion": answer.usage.completion,
        },
        "cost": answer.cost,
        "raw": answer.text,
    }
    if answer.logprobs:
        record["logprobs"] = [list(entry) for entry in answer.logprobs]
    return record | {"redacted": answer.redacted} if answer.redacted else record


def discarded(judge_id: str, purpose: Purpose, *, batch: Batch, answer: Answer, reason: str) -> Record:
    """Return the line of a reply that was paid for and cannot be used."""
    return reply(judge_id, purpose, batch=batch, answer=answer) | {"kind": "discarded", "reason": reason}


def reading(number: int, read: Reading) -> Record:
    """Return the line of a reply's reading."""
    return {
        "kind": "reading",
        "number": number,
        "parser": replies.PARSER,
        "ratings": {key: entry.rating for key, entry in read.entries.items() if entry.rating is not None},
        "faults": {key: entry.status for key, entry in read.entries.items() if entry.rating is None},
        "foreign": list(read.foreign),
    }


def failure(judge_id: str, pair: PairKey, *, reason: str) -> Record:
    """Return the line that gives a pair up."""
    return {"kind": "failure", "judge_id": judge_id, "pair": list(pair), "reason": reason}


def upload(judge_id: str, purpose: Purpose, *, file: str, size: int, planned: Mapping[str, Batch]) -> Record:
    """Return the line of a file of batches, each under its custom id, made with up to `size` pairs each."""
    return {
        "kind": "upload",
        "judge_id": judge_id,
        "purpose": purpose,
        "file": file,
        "size": size,
        "batches": {custom_id: sent(batch) for custom_id, batch in planned.items()},
    }


def job(judge_id: str, job_id: str, *, file: str) -> Record:
    """Return the line of the job that was made of an upload."""
    return {"kind": "job", "judge_id": judge_id, "job": job_id, "file": file}


def job_end(judge_id: str, job_id: str, *, file: str, status: str) -> Record:
    """Return the line after the last reply of a job."""
    return {"kind": "job-end", "judge_id": judge_id, "job": job_id, "file": file, "status": status}


def sent(batch: Batch) -> list[list[str]]:
    """Return the pairs of a batch as a line holds them, in the order shown."""
    return [[entry_id, *item.pair, texts.digest(item.search), texts.digest(item.code)] for entry_id, item in batch.entries]
