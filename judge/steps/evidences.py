"""Where the parts meet: a language's ledger read into the evidence that gates, merges and exports rest on.

Gates and judge know nothing of each other. This module hands the ratings, the seal and the reseals of a ledger to the gate as
plain values, and decides which judge is meant where a ledger holds several.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from gates._release import journal
from gates._verdict import evidence, gate_record, panels
from gates._verdict.evidence import Evidence
from gates._verdict.gate_record import GateRecord
from gates._verdict.seal import Seal
from judge._ledger import high_water_mark
from judge._ledger.entries import SealEntry as Sealed
from judge._ledger.high_water_mark import HighWaterMark
from judge._ledger.ledger import Ledger
from judge._ledger.texts import Change
from judge._rating import controls
from judge.steps import ledgers, seals
from pools._dataset.partition import Partition
from pools._dataset.records import PairKey
from pools._sampling import pooled
from pools.errors import DataError, GateClosed, UsageError


def find(partition: Partition, *, judge_id: str | None = None) -> Evidence | None:
    """Return a language's evidence: from its ledger, else from judge ratings in its own qrels, else None.

    Without `judge_id` the judge sealed last is meant. Raises `UsageError` for a judge that the ledger does not hold.
    """
    path = partition.ledger_path
    if not path.is_file():
        if judge_id is not None:
            raise UsageError(f"{path}: no ledger, so no judge {judge_id}; run `judge rate --lang {partition.language}`")
        return evidence.published(partition.dataset, partition.language, settings=partition.settings)
    ledger = ledgers.read(partition)
    chosen = seals.choose(ledger, path, judge_id=judge_id)
    if chosen is None:
        return None
    pool_path = pooled.path(partition.folder, partition.language)
    return replace(
        of_judge(partition, ledger=ledger, chosen=chosen), pool=pooled.read(pool_path) if pool_path.is_file() else ()
    )


def of_judge(partition: Partition, *, ledger: Ledger, chosen: str) -> Evidence:
    """Return the evidence of one judge from a ledger that is read already, for a verdict alone: without the pool.

    Raises `DataError` where the judge is not sealed.
    """
    sealed = ledger.seal(chosen)
    if sealed is None:
        raise DataError(f"{ledger.path}: ratings of judge {chosen} without a seal; restore the ledger")
    experts = partition.experts
    cut, tried = _of_cut(ledger), _tried(ledger, experts)
    return Evidence(
        judge_id=chosen,
        ratings=ratings(ledger, chosen),
        seal=seals.seal_of(sealed),
        stated=seals.stated(partition, sealed=sealed),
        identity=sealed.identity,
        changes=changes(ledger, partition.language, judge_id=chosen),
        alarms=(
            *cut,
            *_of_scale(partition, sealed),
            *_of_canaries(experts, ledger, judge_id=chosen, relevant_from=sealed.relevant_from),
        ),
        observations=(
            *_of_tries(tried),
            *_of_models(ledger, chosen),
            *controls.stability(ledger.tally(chosen), experts, relevant_from=sealed.relevant_from).lines(),
        ),
        full=_full(ledger, chosen),
        tried=tried,
        changed=_changed(ledger, chosen),
        anchor=ledger.anchor,
        # What an earlier verdict knew of a ledger that was cut since is not forgotten.
        reached=None if cut else (ledger.reached.size, ledger.reached.last),
    )


def changes(ledger: Ledger, language: str, *, judge_id: str | None = None) -> tuple[journal.Event, ...]:
    """Return every change of what is sealed that a language's ledger has on record, in its order.

    That is a reseal, and the first seal of a further judge under other conditions than those sealed last: who has seen how one
    judge does could otherwise lower the bar by making another. With `judge_id` only what came before that judge's own seal
    was fixed.
    """
    events, last, own, known = [], None, 0, dict[str, Seal]()
    for entry in ledger.history:
        now = seals.seal_of(entry)
        before = known.get(entry.judge_id, last)
        changed = before.changes(now) if before else ()
        if entry.reason is not None or changed:
            kind: journal.Kind = "seal" if entry.reason is None else "reseal"
            events.append(journal.Event(entry.time, kind, language, entry.judge_id, entry.reason, "; ".join(changed) or None))
        known[entry.judge_id] = last = now
        if entry.judge_id == judge_id:
            own = len(events)
    return tuple(events if judge_id is None else events[:own])


def for_release(partition: Partition, *, judge_id: str | None = None) -> Evidence | None:
    """Return what `find` does; raises `GateClosed` where it cannot be read, because what cannot be read proves nothing."""
    try:
        return find(partition, judge_id=judge_id)
    except DataError as fault:
        raise GateClosed(f"{partition.language}: no judge's ratings are let through: {fault}") from fault


def of_merged(partition: Partition) -> Evidence | None:
    """Return `for_release` of the judge whose ratings were merged last, whichever was sealed since; else as without one."""
    merged = journal.merged(journal.read(partition.folder, partition.language))
    try:
        return for_release(partition, judge_id=merged.judge_id if merged else None)
    except UsageError as gone:
        raise GateClosed(f"{partition.language}: nothing shows for the judge that was merged last: {gone}") from gone


def ratings(ledger: Ledger, judge_id: str) -> dict[PairKey, int]:
    """Return a judge's ratings; a panel's follow from those of its members, which the same ledger holds."""
    sealed = ledger.seal(judge_id)
    listed = sealed.identity.get(panels.MEMBERS) if sealed else None
    if sealed is None or listed is None:
        return ledger.ratings(judge_id)
    return panels.ratings({member: ratings(ledger, member) for member in listed}, sealed.identity["method"])


def members(ledger: Ledger, judge_id: str) -> tuple[str, ...]:
    """Return the ids of the judges that a panel's ratings follow from; a judge that is no panel is its only one."""
    sealed = ledger.seal(judge_id)
    listed = sealed.identity.get(panels.MEMBERS) if sealed else None
    return (judge_id,) if listed is None else tuple(dict.fromkeys(one for each in listed for one in members(ledger, each)))


def _changed(ledger: Ledger, judge_id: str) -> dict[PairKey, Change]:
    """Return the pairs that a judge, or a member of a panel, rated only on texts that have changed since."""
    return {pair: change for member in members(ledger, judge_id) for pair, change in ledger.tally(member).changed.items()}


def _full(ledger: Ledger, judge_id: str) -> frozenset[PairKey]:
    """Return the pairs that every judge meant rated in a batch as large as its production's are."""
    found = []
    for member in members(ledger, judge_id):
        sealed = ledger.seal(member)
        size = sealed.identity["pairs_per_batch"] if sealed else 0
        found.append({pair for pair, pairs in ledger.tally(member).sizes.items() if pairs >= size > 0})
    return frozenset(set.intersection(*found))


def _of_cut(ledger: Ledger) -> tuple[str, ...]:
    known = ledger.lost()
    if known is None:
        return ()
    return (
        f"{ledger.path} does not go on from the {known.size} bytes that it had at an earlier verdict or run: its end was cut "
        f"off, or it is another ledger; restore it from a copy, or begin anew in another folder (`judge rate --replay` brings "
        f"what is left)",
    )


def _tried(ledger: Ledger, experts: Mapping[PairKey, Sequence[int]]) -> int:
    """Return how many judges, panels included, have ratings of expert-rated pairs."""
    return sum(
        any(pair in experts for member in members(ledger, judge_id) for pair in ledger.tally(member).ratings)
        for judge_id in ledger.judges()
    )


def _of_tries(tried: int) -> tuple[str, ...]:
    if tried < 2:
        return ()
    return (f"one of {tried} judges tried on these expert ratings; the more are tried, the likelier one passes by chance",)


def _of_models(ledger: Ledger, judge_id: str) -> tuple[str, ...]:
    """Say where an endpoint served several models under the one name that a judge's identity has."""
    lines = []
    for member in members(ledger, judge_id):
        served = ledger.tally(member).models
        if len(served) > 1:
            told = ", ".join(f"{name} ({count})" for name, count in sorted(served.items()))
            lines.append(f"judge {member} was answered by several models under one name, with so many replies each: {told}")
    return tuple(lines)


def _of_scale(partition: Partition, sealed: Sealed) -> tuple[str, ...]:
    if sealed.identity["scale"]["levels"] == [list(level) for level in partition.scale.levels]:
        return ()
    return (
        f"judge.toml's scale is not the one that judge {sealed.judge_id} rated on, in its values or its words; restore that "
        f"one, or rate on this one, as another judge",
    )


def _of_canaries(
    experts: Mapping[PairKey, Sequence[int]], ledger: Ledger, *, judge_id: str, relevant_from: float
) -> tuple[str, ...]:
    watched = [
        controls.watch(ledger.tally(one), experts, relevant_from=relevant_from).alarm for one in members(ledger, judge_id)
    ]
    return tuple(alarm for alarm in watched if alarm is not None)


def _noted(event: journal.Event) -> str:
    """Return a change of what is sealed as a note of a gate record, which has no time in it."""
    return (
        f"{journal.change(event)}{f': {event.details}' if event.details else ''}{f' ({event.reason})' if event.reason else ''}"
    )


def required(partition: Partition, *, judge_id: str | None = None) -> Evidence:
    """Return what `find` does; raises `UsageError` where there is no judge."""
    found = find(partition, judge_id=judge_id)
    if found is None:
        raise UsageError(
            f"{partition.language}: {partition.folder} has no ratings by a judge; run `judge rate --lang {partition.language}`"
        )
    return found


def assess(partition: Partition, *, judge_id: str | None = None) -> GateRecord:
    """Return the verdict on a language, and write its record where there is a ledger that it belongs to."""
    return verdict(partition, found=required(partition, judge_id=judge_id))


def verdict(partition: Partition, *, found: Evidence) -> GateRecord:
    """Return the verdict that follows from a language's evidence, and write its record where it is a ledger's."""
    record = judged(partition, found=found)
    if found.judge_id is not None:
        gate_record.write(gate_record.path(partition.folder, partition.language), record)
        if found.reached is not None:
            high_water_mark.write(high_water_mark.path(partition.ledger_path), HighWaterMark(*found.reached))
    return record


def judged(partition: Partition, *, found: Evidence) -> GateRecord:
    """Return the verdict that follows from a language's evidence; nothing is written."""
    notes = (
        *(found.seal.differences(found.stated) if found.stated else ()),
        *(_noted(event) for event in found.changes),
        *found.alarms,
        *found.observations,
    )
    return evidence.verdict(partition.dataset, partition.language, evidence=found, notes=notes)
