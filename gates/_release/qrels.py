"""The extended judgements: a judge's ratings put beside the experts', and taken out again.

Both directions are pure functions from judgements to judgements over the whole dataset. An expert's row only ever changes in
its `judge_rating`; everything with source `judge` in the language belongs to the last merge and is replaced by the next, so
merging twice is merging once, and withdrawing undoes it. Whether a judge may be merged at all is asked of
`gates._verdict.gate_record` before.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Protocol

from pools._dataset import faults, tables
from pools._dataset.dataset import Dataset
from pools._dataset.records import PairKey, Qrel, qrel_row
from pools.errors import GateClosed
from pools.relevance import is_relevant_rating

POOLED = "pooled"


class Pooled(Protocol):
    """What merging needs of a pair of the pool: `stratum` is None for one that experts had rated before samples were drawn."""

    @property
    def search_id(self) -> str: ...
    @property
    def function_id(self) -> str: ...
    @property
    def stratum(self) -> str | None: ...


def merge(
    data: Dataset, language: str, *, pool: Iterable[Pooled], ratings: Mapping[PairKey, int], relevant_from: float
) -> tuple[Qrel, ...]:
    """Return the dataset's judgements with one judge's ratings of a language in them, sorted.

    Expert rows get the judge's rating as `judge_rating` (None where it has none) and are otherwise kept; every other rated
    pair of the pool becomes a row of source `judge`, keeping the extra columns that an earlier row of the pair had; judge rows
    of an earlier merge that are not rated now go. Sorted by language (in the order of the searches), search and function.
    """
    kept = [
        replace(qrel, judge_rating=ratings.get(qrel.pair)) if qrel.language == language else qrel
        for qrel in data.qrels
        if qrel.language != language or of_expert(qrel)
    ]
    before = {qrel.pair: qrel for qrel in data.qrels_of(language)}
    taken = {qrel.pair for qrel in kept if qrel.language == language}
    for entry in pool:
        pair = (entry.search_id, entry.function_id)
        if entry.stratum is None or pair in taken or pair not in ratings:
            continue
        taken.add(pair)
        kept.append(
            Qrel(
                language=language,
                search_id=entry.search_id,
                function_id=entry.function_id,
                relevance=round(float(ratings[pair]), 4),
                relevant=is_relevant_rating(ratings[pair], relevant_from),
                source="judge",
                judge_rating=ratings[pair],
                rated_because="pooled" if entry.stratum == POOLED else "sample",
                extra=before[pair].extra if pair in before else {},
            )
        )
    return ordered(data, kept)


def withdraw(data: Dataset, language: str) -> tuple[Qrel, ...]:
    """Return the dataset's judgements without any judge's ratings of a language, sorted; expert ratings all stay."""
    return merge(data, language, pool=(), ratings={}, relevant_from=0)


def carries(data: Dataset, language: str) -> bool:
    """Return whether a language's judgements hold any rating by a judge."""
    return any(qrel.judge_rating is not None or not of_expert(qrel) for qrel in data.qrels_of(language))


def of_expert(qrel: Qrel) -> bool:
    """Return whether a row is the experts', and so never dropped."""
    return qrel.source == "expert" or bool(qrel.expert_ratings)


def check(data: Dataset, language: str, *, relevant_from: float) -> None:
    """Raise `GateClosed` for a row of the experts' that does not follow from their ratings.

    Nothing asks the gate about such a row, so a judge's rating that poses as an expert's would leave with it.
    """
    for qrel in data.qrels_of(language):
        found = faults.of_judgement(qrel, relevant_from) if of_expert(qrel) else []
        if found:
            raise GateClosed(
                f"{language}: qrels have {qrel.search_id} {qrel.function_id} {found[0]}; restore the experts' row, or take it "
                f"out (`judge check` lists all such rows)"
            )


def ordered(data: Dataset, qrels: Iterable[Qrel]) -> tuple[Qrel, ...]:
    """Return judgements sorted by language (in the order of the dataset's searches), search and function."""
    place = {language: index for index, language in enumerate(data.languages)}
    last = len(place)
    return tuple(
        sorted(qrels, key=lambda qrel: (place.get(qrel.language, last), qrel.language, qrel.search_id, qrel.function_id))
    )


def write(folder: Path, qrels: Sequence[Qrel]) -> Path:
    """Replace the folder's judgements, in the form that it has them (.jsonl.gz where it has none), and return the file."""
    path = tables.find(folder, "qrels") or folder / "qrels.jsonl.gz"
    tables.write(path, [qrel_row(qrel) for qrel in qrels])
    return path
