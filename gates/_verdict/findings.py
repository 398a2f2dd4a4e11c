"""What stands behind a verdict, gathered for one language or several: levels, floor and ceiling, labels needed, breakdowns.

Everything is computed over the pairs that count for the verdict. What only the ledger, the pool, the corpus or another judge
can tell arrives as plain values for each pair, so nothing here reads a file.
"""

import dataclasses
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from gates._measures import agreement, breakdown, levels
from gates._measures.breakdown import Breakdown
from gates._measures.levels import LeftOut, Levels
from gates._report import details
from gates._verdict import labels
from gates._verdict.gate_record import GateRecord
from gates._verdict.labels import Needed
from pools._dataset.records import PairKey
from pools.relevance import is_relevant_rating

Experts = Mapping[PairKey, Sequence[int]]
Ratings = Mapping[PairKey, int]


@dataclass(frozen=True, slots=True)
class Circumstances:
    """What is known of pairs besides their ratings; a pair may be missing in any of it.

    `retrievers` returned it; `characters` is the length of its code; `places` where in its batch, from 1, it was first rated;
    `again` the rating that it got when it was rated once more; `baseline` the baseline judge's cross-validated rating, by
    what `baseline_sees` (None: it was not run, and `no_baseline` says why).
    """

    retrievers: Mapping[PairKey, Sequence[str]] = field(default_factory=dict)
    characters: Mapping[PairKey, int] = field(default_factory=dict)
    places: Mapping[PairKey, int] = field(default_factory=dict)
    again: Mapping[PairKey, int] = field(default_factory=dict)
    baseline: Ratings | None = None
    baseline_sees: str | None = None
    no_baseline: str | None = None


@dataclass(frozen=True, slots=True)
class Findings:
    """What stands behind the verdict of `record`; `baseline_f1` is None where the baseline judge was not run."""

    record: GateRecord
    levels: Levels
    left_out: LeftOut | None
    baseline_f1: float | None
    baseline_sees: str | None
    no_baseline: str | None
    needed: Needed | None
    breakdowns: tuple[Breakdown, ...]


def find(
    record: GateRecord,
    experts: Experts,
    *,
    ratings: Ratings,
    scale: Sequence[int],
    known: Circumstances,
    left_out: Collection[str] = (),
) -> Findings:
    """Return the findings on a language: `experts` and `ratings` are those that `record` was computed from, as is `left_out`.

    Breakdowns by what is known of no pair are left out.
    """
    counted = {pair: given for pair, given in experts.items() if pair[0] not in left_out}
    relevant_from = record.relevant_from
    baseline = None if known.baseline is None else agreement.compare(counted, known.baseline, relevant_from=relevant_from).f1
    return Findings(
        record=record,
        levels=levels.compare(
            counted, ratings, scale=scale, relevant_from=relevant_from, resamples=record.resamples, seed=record.seed
        ),
        left_out=levels.left_out(counted, relevant_from),
        baseline_f1=baseline,
        baseline_sees=known.baseline_sees,
        no_baseline=known.no_baseline,
        needed=needed(record, experts, ratings=ratings, left_out=left_out),
        breakdowns=tuple(_breakdowns(counted, ratings, relevant_from=relevant_from, known=known)),
    )


def needed(record: GateRecord, experts: Experts, *, ratings: Ratings, left_out: Collection[str] = ()) -> Needed | None:
    """Return how many more expert-rated pairs would make a verdict clear (see `gates._verdict.labels.needed`)."""
    counted = agreement.align(experts, ratings).without(left_out)
    return labels.needed(record, agreement.verdicts(counted, record.relevant_from).confusion())


def _breakdowns(experts: Experts, ratings: Ratings, *, relevant_from: float, known: Circumstances) -> Iterable[Breakdown]:
    rated = [pair for pair in experts if pair in ratings]
    retrievers, again = known.retrievers, known.again
    characters = {pair: known.characters[pair] for pair in rated if pair in known.characters}
    places = {pair: known.places[pair] for pair in rated if pair in known.places}
    if any(pair in retrievers for pair in rated):
        yield breakdown.by(
            "retriever", experts, ratings=ratings, relevant_from=relevant_from,
            groups=lambda pair: (retrievers[pair] or ("none",)) if pair in retrievers else (),
        )  # fmt: skip
    if characters:
        yield breakdown.by(
            "characters of code", experts, ratings=ratings, relevant_from=relevant_from, groups=breakdown.bands(characters)
        )
    if places:
        yield breakdown.by(
            "place in the batch", experts, ratings=ratings, relevant_from=relevant_from, groups=breakdown.bands(places)
        )
    if any(pair in again for pair in rated):

        def steadiness(pair: PairKey) -> Iterable[str]:
            if pair not in again:
                return ()
            same = is_relevant_rating(again[pair], relevant_from) == is_relevant_rating(ratings[pair], relevant_from)
            return ("the same again" if same else "another verdict",)

        yield breakdown.by("rated once more", experts, ratings=ratings, relevant_from=relevant_from, groups=steadiness)
    yield breakdown.by("search", experts, ratings=ratings, relevant_from=relevant_from, groups=lambda pair: (pair[0],))


def together(
    parts: Mapping[str, tuple[Experts, Ratings]], scale: Sequence[int], *, relevant_from: float, resamples: int, seed: int
) -> tuple[Levels, Breakdown]:
    """Return the agreement on the scale over several languages, and its breakdown by language.

    `parts` has each language's experts' and judge's ratings of the pairs that count; searches of equal id are told apart.
    """
    experts: dict[PairKey, Sequence[int]] = {}
    ratings: dict[PairKey, int] = {}
    language_of: dict[str, str] = {}
    for language, (given, judged) in parts.items():
        for (search_id, function_id), values in given.items():
            search = f"{language} {search_id}"
            language_of[search] = language
            experts[search, function_id] = values
            if (search_id, function_id) in judged:
                ratings[search, function_id] = judged[search_id, function_id]
    return (
        levels.compare(experts, ratings, scale=scale, relevant_from=relevant_from, resamples=resamples, seed=seed),
        breakdown.by(
            "language", experts, ratings=ratings, relevant_from=relevant_from, groups=lambda pair: (language_of[pair[0]],)
        ),
    )


def document(found: Findings) -> dict[str, Any]:
    """Return findings as a JSON object, every figure unrounded."""
    entry = {item.name: getattr(found, item.name) for item in dataclasses.fields(found) if item.name != "record"}
    return {name: _plain(value) for name, value in entry.items()}


def _plain(value: Any) -> Any:
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return dataclasses.asdict(value)
    return [dataclasses.asdict(item) for item in value] if isinstance(value, tuple) else value


def text(found: Findings) -> str:
    """Return findings as blocks of lines for a terminal, an empty line between two."""
    return "\n\n".join(
        [
            details.bounds(
                found.record,
                found.baseline_f1,
                left_out=found.left_out,
                no_baseline=found.no_baseline,
                sees=found.baseline_sees,
            ),
            details.labels(found.record, found.needed),
            "Ratings (the interval of each figure is from resampling searches)\n" + details.levels(found.levels),
            *(details.breakdown(entry) for entry in found.breakdowns),
        ]
    )
