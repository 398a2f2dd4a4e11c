"""The step `gate`: the verdict on a judge, language by language, what stands behind it, and which pairs to rate next."""

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from gates._measures.breakdown import Breakdown
from gates._measures.levels import Levels
from gates._report import wording
from gates._verdict import evidence as proof
from gates._verdict import findings, labels
from gates._verdict.evidence import Evidence
from gates._verdict.findings import Findings
from gates._verdict.gate_record import GateRecord
from gates._verdict.labels import Needed
from gates._verdict.seal import searches_left_out
from judge._ledger import anchor
from judge._ledger.ledger import Ledger
from judge.steps import circumstances, evidences, seals
from pools._dataset import files
from pools._dataset.partition import Partition
from pools.errors import UsageError


@dataclass(frozen=True, slots=True)
class Gated:
    """The verdict on the judge of one language, and what it was computed from.

    `closed` says, a line each, why ratings that passed may not leave all the same: the expert ratings are not those sealed, or
    the judge has been found to have changed since.
    """

    partition: Partition
    evidence: Evidence
    record: GateRecord
    closed: tuple[str, ...]

    @property
    def language(self) -> str:
        return self.partition.language

    @property
    def passed(self) -> bool:
        """Whether the gate is open."""
        return self.record.passed and not self.closed


@dataclass(frozen=True, slots=True)
class Together:
    """The agreement over several languages together, and by language."""

    levels: Levels
    breakdown: Breakdown


@dataclass(frozen=True, slots=True)
class Details:
    """What stands behind verdicts, a `Findings` a language in their order; `together` is None for a single language."""

    findings: tuple[Findings, ...]
    together: Together | None


@dataclass(frozen=True, slots=True)
class Suggested:
    """The file of pairs suggested to experts, and how many it has: fewer than asked for where there are not as many."""

    path: Path
    pairs: int


def gate(
    partitions: Iterable[Partition], *, judge: str | None = None, reseal: str | None = None, expect: str | None = None
) -> tuple[Gated, ...]:
    """Return the verdict on a judge for each language, and write the gate record of each that has a ledger.

    `judge` is an id, None for the judge sealed last. `reseal` is a reason, which stays on record, to seal first what judge.toml
    and the expert ratings say now. `expect` is the head of the chain, or the SHA-256, that the ledger of the one language has
    to be at. Raises `UsageError` where there is no judge, and `GateClosed` where the ledger is another one than expected,
    before any verdict is written.
    """
    chosen = tuple(partitions)
    if expect is not None:
        _expect(chosen, expect)
    if reseal is not None:
        for partition in chosen:
            seals.reseal(partition, judge_id=judge, reason=reseal)
    found = [(partition, evidences.required(partition, judge_id=judge)) for partition in chosen]
    return tuple(_gated(partition, evidence) for partition, evidence in found)


def _expect(partitions: Sequence[Partition], expected: str) -> None:
    languages = [partition.language for partition in partitions]
    if len(languages) != 1:
        raise UsageError(f"--expect is the head of one language's ledger; name it with --lang: {', '.join(languages)}")
    path = partitions[0].ledger_path
    if not path.is_file():
        raise UsageError(f"{path}: no ledger, so none can be expected; bring the one that was published, or leave --expect out")
    anchor.check(path, Ledger.read(path).anchor, expected=expected)


def details(gated: Sequence[Gated]) -> Details:
    """Return what stands behind verdicts; trains the baseline judge for the floor, which takes a while."""
    behind = tuple(circumstances.find(one.partition, evidence=one.evidence, record=one.record) for one in gated)
    return Details(behind, _together(gated) if len(gated) > 1 else None)


def needed(gated: Gated) -> Needed | None:
    """Return how many further expert ratings would make a verdict clear; None where it is, or no number can be named."""
    if gated.record.clear:
        return None
    left_out = _left_out(gated)
    return findings.needed(gated.record, gated.partition.experts, ratings=gated.evidence.ratings, left_out=left_out)


def suggest(gated: Gated, count: int, *, out: Path) -> Suggested:
    """Draw pairs for experts to rate, and write them to a CSV file with an empty column `rating`.

    They are drawn from the pairs of the pool that the judge rated and no expert did; raises `UsageError` where there are none.
    """
    partition, evidence, language = gated.partition, gated.evidence, gated.language
    drawn = labels.suggest(
        evidence.pool,
        evidence.ratings,
        experts=partition.experts,
        relevant_from=evidence.seal.relevant_from,
        count=count,
        seed=partition.settings.seed,
    )
    if not drawn:
        raise UsageError(
            f"{language}: no pair of the pool is rated by the judge and by no expert, so none can be suggested; run "
            f"`judge pool --lang {language}` and `judge rate --lang {language} --continue`"
        )
    sheet = labels.sheet(language, drawn, queries=partition.queries, functions=partition.functions)
    files.replace(out, sheet.encode("utf-8", "backslashreplace"))
    return Suggested(out, len(drawn))


def document(gated: Sequence[Gated], behind: Details) -> dict[str, Any]:
    """Return verdicts with everything behind them as a JSON object, every figure unrounded."""
    closed = [line for one in gated for line in one.closed]
    out = wording.document([one.record for one in gated], closed)
    for entry, part, one in zip(out["gates"], behind.findings, gated, strict=True):
        entry["details"] = findings.document(part)
        entry["ledger"] = _anchored(one.evidence)
        entry["changed_texts"] = {
            "pairs": len(one.evidence.changed),
            "functions": proof.changed_functions(one.evidence.changed),
            "searches": proof.changed_searches(one.evidence.changed),
        }
    return out | ({} if behind.together is None else {"together": asdict(behind.together)})


def _anchored(evidence: Evidence) -> dict[str, Any] | None:
    """Return what pins the ledger that the figures are of, None for a dataset without one."""
    pinned = evidence.anchor
    return None if pinned is None else {"head": pinned.head, "lines": pinned.lines, "sha256": pinned.sha256}


def _gated(partition: Partition, evidence: Evidence) -> Gated:
    record = evidences.verdict(partition, found=evidence)
    return Gated(partition, evidence, record, _closed(record, evidence) if record.passed else ())


def _closed(record: GateRecord, evidence: Evidence) -> tuple[str, ...]:
    lines = [f"{record.language}: the gate is closed again: {alarm}" for alarm in evidence.alarms]
    if evidence.seal.gold_sha256 not in (None, record.gold_sha256):
        lines.append(
            f"{record.language}: the gate stays closed, because the expert ratings are not those that were sealed; seal these "
            f"with `judge gate --lang {record.language} --reseal REASON`, or restore them"
        )
    return tuple(lines)


def _left_out(gated: Gated) -> frozenset[str]:
    return searches_left_out(gated.partition.dataset, gated.language, gate=gated.evidence.seal.gate)


def _together(gated: Sequence[Gated]) -> Together:
    parts = {}
    for one in gated:
        left_out = _left_out(one)
        counted = {pair: given for pair, given in one.partition.experts.items() if pair[0] not in left_out}
        parts[one.language] = (counted, one.evidence.ratings)
    first = gated[0].record
    levels, by_language = findings.together(
        parts,
        gated[0].partition.scale.values,
        relevant_from=first.relevant_from,
        resamples=first.resamples,
        seed=first.seed,
    )
    return Together(levels, by_language)
