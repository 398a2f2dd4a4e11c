"""The gate: the verdict on one judge for one language, its record, and the proof asked for before anything leaves.

A record is never trusted. `admits` computes the verdict again from the ratings themselves under the sealed conditions, and
the record on disk has to equal the result, so neither an edited record nor an edited setting opens the gate; what refuses
says why and what to do. A record carries no clock time: the same ratings give the same bytes.
"""

import dataclasses
import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from gates._measures import agreement, further, interval, registry, resampling
from gates._measures.agreement import Agreement, ExpertAgreement
from gates._measures.further import FurtherFigure
from gates._verdict import conditions, hashes
from gates._verdict.conditions import Condition
from gates._verdict.seal import Seal
from pools._dataset import dataset, files
from pools._dataset.records import PairKey
from pools._dataset.settings import GateSettings
from pools.errors import GateClosed

Verdict = Literal["passed", "missed", "incomplete", "inconclusive"]
Experts = Mapping[PairKey, Sequence[int]]
Ratings = Mapping[PairKey, int]

FORMAT = 1
SEED = 1
"""The seed of every verdict's resampling; no setting, because who may choose it tries others until a pass is clear."""


@dataclass(frozen=True, slots=True)
class GateRecord:
    """The verdict for one language and one judge, and everything that it follows from.

    `judge_id` is None for a published dataset without a ledger; `interval` is that of `gates._measures.interval`, `percentile`
    and `share` (of the resamples that pass) those of `gates._measures.resampling`, None where no pair was rated or F1 is
    undefined; `clear` says whether the resamples give the verdict too, at `confidence`; `expert_pairs` is how many pairs
    there are to rate, `left_out` how many more belong to searches that do not count; the two hashes are of all the language's
    expert ratings and of the judge's ratings of those pairs; `further` are the figures of registered measures beyond those of
    the agreement.
    """

    language: str
    judge_id: str | None
    verdict: Verdict
    clear: bool
    threshold: float
    confidence: float
    require_confidence: bool
    relevant_from: float
    agreement: Agreement
    conditions: tuple[Condition, ...]
    interval: tuple[float, float] | None
    percentile: tuple[float, float] | None
    share: float | None
    searches: int
    split: str
    left_out: int
    expert_pairs: int
    between_experts: ExpertAgreement | None
    gold_sha256: str
    ratings_sha256: str
    seed: int
    resamples: int
    notes: tuple[str, ...] = ()
    further: tuple[FurtherFigure, ...] = ()

    @property
    def passed(self) -> bool:
        return self.verdict == "passed"


def assess(
    language: str,
    experts: Experts,
    *,
    ratings: Ratings,
    gate: GateSettings,
    relevant_from: float,
    seed: int,
    judge_id: str | None,
    notes: Sequence[str] = (),
    left_out: Collection[str] = (),
    full: Collection[PairKey] | None = None,
) -> GateRecord:
    """Return the verdict on a judge's ratings of one language.

    `experts` holds every expert-rated pair of the language, `ratings` any of the judge's, `left_out` the searches that do not
    count (see `gates._verdict.seal`). The verdict is `incomplete` while a pair that counts has no rating (or there is none to
    rate), else `passed` where F1 is at least `gate.f1` and every further condition is met, else `missed`, also where F1 is
    undefined. With `gate.require_confidence` a pass that is not clear is `inconclusive`. `full` are the pairs that were rated
    in batches of the production's size, None where that is not known. `notes` are lines to show beside it and have no part
    in it.
    """
    pairs = agreement.align(experts, ratings)
    rated = pairs.rated
    keys = hashes.of_keys(pairs.keys)
    counted = pairs.without(left_out)
    confusion = agreement.verdicts(counted, relevant_from).confusion()
    figures = agreement.agreement(confusion.sum(axis=0))
    asked = conditions.measured(figures, gate, full=_share_in(full, counted.keys))
    resampled = resampling.resample(confusion, gate.f1, resamples=gate.resamples, seed=seed, passes=conditions.passes(asked))
    share = resampled.share if resampled else None
    verdict, clear = _verdict(figures, asked, expert_pairs=len(counted.keys), share=share, gate=gate)
    return GateRecord(
        language=language,
        judge_id=judge_id,
        verdict=verdict,
        clear=clear,
        threshold=gate.f1,
        confidence=gate.confidence,
        require_confidence=gate.require_confidence,
        relevant_from=relevant_from,
        agreement=figures,
        conditions=asked,
        interval=interval.of_f1(confusion),
        percentile=resampled.interval if resampled and figures.f1 is not None else None,
        share=share,
        searches=len(confusion),
        split=gate.split,
        left_out=len(pairs.keys) - len(counted.keys),
        expert_pairs=len(counted.keys),
        between_experts=agreement.between_experts(experts, relevant_from),
        gold_sha256=hashes.of_sorted_gold(keys, pairs.experts, left_out=left_out),
        ratings_sha256=hashes.of_values(keys if rated is pairs else hashes.of_keys(rated.keys), rated.judge),
        seed=seed,
        resamples=gate.resamples,
        notes=tuple(notes),
        further=further.figures(confusion, registry.further(), resamples=gate.resamples, seed=seed),
    )


def _share_in(full: Collection[PairKey] | None, keys: Sequence[PairKey]) -> float | None:
    return None if full is None or not keys else sum(key in full for key in keys) / len(keys)


def _verdict(
    figures: Agreement, asked: Sequence[Condition], *, expert_pairs: int, share: float | None, gate: GateSettings
) -> tuple[Verdict, bool]:
    if share is None or figures.pairs < expert_pairs:
        return "incomplete", False
    if figures.f1 is None or figures.f1 < gate.f1 or not all(condition.met for condition in asked):
        # Rounded because 1 - 0.95 is a little more than 0.05.
        return "missed", share <= round(1 - gate.confidence, 12)
    clear = share >= gate.confidence
    return ("passed" if clear or not gate.require_confidence else "inconclusive"), clear


def path(folder: Path, language: str) -> Path:
    """Return where a language's gate record is kept."""
    return dataset.work(folder, language) / "gate.json"


def document(record: GateRecord) -> dict[str, Any]:
    """Return a record as a JSON object; `further` is in it where there is a further measure."""
    made = {"format": FORMAT, **dataclasses.asdict(record)}
    if not record.further:
        del made["further"]
    return made


def write(path: Path, record: GateRecord) -> None:
    """Replace a record file; equal records give equal bytes."""
    text = json.dumps(document(record), sort_keys=True, indent=2, ensure_ascii=False, allow_nan=False) + "\n"
    files.replace(path, text.encode("utf-8", "surrogatepass"))


def read(path: Path) -> GateRecord | None:
    """Return the record in a file, None where there is no file; raises `GateClosed` where the file holds none."""
    if not path.is_file():
        return None
    try:
        given = json.loads(files.read(path).decode("utf-8", "surrogatepass"))
        if given.pop("format") != FORMAT:
            raise ValueError("another format")
        between = given.pop("between_experts")
        return GateRecord(
            agreement=Agreement(**given.pop("agreement")),
            between_experts=None if between is None else ExpertAgreement(**between),
            conditions=tuple(Condition(**entry) for entry in given.pop("conditions")),
            interval=_interval(given.pop("interval")),
            percentile=_interval(given.pop("percentile")),
            notes=tuple(given.pop("notes")),
            further=tuple(
                FurtherFigure(str(entry["name"]), entry["value"], _interval(entry["interval"]))
                for entry in given.pop("further", ())
            ),
            **given,
        )
    except (ValueError, TypeError, KeyError, AttributeError, IndexError) as error:
        raise GateClosed(f"{path}: not a gate record ({error}); run `judge gate` again") from error


def _interval(bounds: Any) -> tuple[float, float] | None:
    return None if bounds is None else (bounds[0], bounds[1])


def admits(
    record: GateRecord | None,
    language: str,
    *,
    judge_id: str | None,
    experts: Experts,
    ratings: Ratings,
    seal: Seal,
    stated: Seal | None = None,
    left_out: Collection[str] = (),
    alarms: Sequence[str] = (),
    full: Collection[PairKey] | None = None,
) -> GateRecord:
    """Return the verdict that lets a judge's ratings of a language through, or raise `GateClosed` with the cause and remedy.

    `experts` and `ratings` are the present ones, `seal` what was fixed before the first rating, `stated` what judge.toml says
    now (only named in the message), `left_out` the searches that do not count, `alarms` what has been found wrong with the
    judge since the verdict, a line each, `full` the pairs rated in batches of the production's size. Ratings pass only where
    there are no alarms, a verdict computed afresh is `passed`, and the record equals it in everything but its notes, and such
    further figures as only one of the two has.
    """
    again = f"run `judge gate --lang {language}` again"
    if record is None:
        raise GateClosed(f"{language}: no gate record; run `judge gate --lang {language}`")
    _same_subject(record, language, judge_id=judge_id, gold=hashes.of_gold(experts, left_out), seal=seal)
    _same_conditions(record, language, seal=seal)
    fresh = assess(
        language,
        experts,
        ratings=ratings,
        gate=seal.gate,
        relevant_from=seal.relevant_from,
        seed=SEED,
        judge_id=judge_id,
        notes=record.notes,
        left_out=left_out,
        full=full,
    )
    if fresh.ratings_sha256 != record.ratings_sha256:
        raise GateClosed(f"{language}: the judge's ratings of expert-rated pairs changed since the verdict; {again}")
    differing = _differences(fresh, record)
    if differing:
        raise GateClosed(
            f"{language}: the gate record does not follow from the ratings ({', '.join(differing)}): it was edited; {again}"
        )
    if not fresh.passed:
        raise GateClosed(f"{language}: {refusal(fresh)}" + "".join(f"; {line}" for line in _stated(seal, stated)))
    if alarms:
        raise GateClosed(f"{language}: the gate is closed again: {'; '.join(alarms)}")
    return fresh


def _same_subject(record: GateRecord, language: str, *, judge_id: str | None, gold: str, seal: Seal) -> None:
    again = f"run `judge gate --lang {language}` again"
    if record.language != language:
        raise GateClosed(f"{language}: its gate record is that of {record.language}; {again}")
    if record.judge_id != judge_id:
        raise GateClosed(
            f"{language}: the gate record is of judge {record.judge_id}, these ratings are by {judge_id} (another model, "
            f"prompt, scale or batch makes another judge); rate and gate with this judge, or go back to the other's settings"
        )
    if seal.gold_sha256 not in (None, gold):
        raise GateClosed(
            f"{language}: the expert ratings are not those sealed before the first rating ({seal.gold_sha256} then, {gold} "
            f"now); restore them, or seal the new ones with `judge gate --reseal REASON`"
        )
    if record.gold_sha256 != gold:
        raise GateClosed(f"{language}: the expert ratings were edited since the verdict; restore them, or {again}")


def _differences(fresh: GateRecord, record: GateRecord) -> tuple[str, ...]:
    """Return the names of the fields in which a record is not the one computed afresh."""
    one = dataclasses.replace(fresh, further=further.compared(fresh.further, record.further))
    other = dataclasses.replace(record, further=further.compared(record.further, fresh.further))
    return tuple(item.name for item in dataclasses.fields(one) if getattr(one, item.name) != getattr(other, item.name))


def _same_conditions(record: GateRecord, language: str, *, seal: Seal) -> None:
    compared = [
        ("threshold", record.threshold, seal.gate.f1),
        ("confidence", record.confidence, seal.gate.confidence),
        ("require_confidence", record.require_confidence, seal.gate.require_confidence),
        ("resamples", record.resamples, seal.gate.resamples),
        ("relevant_from", record.relevant_from, seal.relevant_from),
        ("split", record.split, seal.gate.split),
    ]
    for name, has, sealed in compared:
        if has != sealed:
            raise GateClosed(
                f"{language}: the gate record has {name} {has}, sealed is {sealed}; run `judge gate --lang {language}` again, "
                f"or change what is sealed with --reseal REASON"
            )
    if record.seed != SEED:
        raise GateClosed(
            f"{language}: the gate record has seed {record.seed}, and every verdict has {SEED}; run "
            f"`judge gate --lang {language}` again"
        )


def _stated(seal: Seal, stated: Seal | None) -> tuple[str, ...]:
    return () if stated is None else seal.differences(stated)


def refusal(record: GateRecord) -> str:
    """Return in one line why a record does not open the gate and what would."""
    figures = record.agreement
    if record.verdict == "incomplete":
        return (
            f"validation is incomplete: {figures.pairs} of {record.expert_pairs} expert-rated pairs have a rating by this "
            f"judge; run `judge rate --lang {record.language}`, then `judge gate`"
        )
    if record.verdict == "inconclusive":
        return (
            f"the gate is inconclusive: F1 {figures.f1:.4f} reaches {record.threshold:g} in only {record.share:.1%} of the "
            f"resamples, and {record.confidence:.0%} are required; have experts rate more pairs"
        )
    unmet = [condition for condition in record.conditions if not condition.met]
    if figures.f1 is not None and figures.f1 >= record.threshold and unmet:
        short = ", ".join(
            f"{item.name} {item.value if item.value is None else f'{item.value:.4g}'} < {item.least:g}" for item in unmet
        )
        return f"the gate is missed: {short}; improve the judge, or have more pairs rated"
    if figures.f1 is None:
        return "the gate is missed: F1 is undefined, no pair is relevant on either side; have experts rate more pairs"
    return f"the gate is missed: F1 {figures.f1:.4f} is below {record.threshold:g}; improve the judge, or have more pairs rated"
