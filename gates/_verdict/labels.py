"""What would settle an uncertain verdict: how many more expert ratings, of which pairs, and how they come back.

F1 on the logit scale, log(2 hits / errors), moves with other searches by a variance that falls as one over the number of pairs
(Davison and Hinkley, Bootstrap Methods and their Application, 1997, section 2.7, for the linearisation). The verdict becomes
clear when the distance to the threshold is enough standard errors; how much new pairs scatter is counted too, so that the
number given suffices with probability `POWER`, not just on average.
"""

import csv
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import NormalDist

import numpy as np

from gates._measures.arrays import Floats, Integers
from gates._release import qrels
from gates._verdict.evidence import PooledBy
from gates._verdict.gate_record import GateRecord
from pools._dataset import files
from pools._dataset.dataset import Dataset
from pools._dataset.records import Function, PairKey, Qrel, Query
from pools.errors import DataError, UsageError
from pools.relevance import is_relevant
from prompts.scales import Scale

POWER = 0.9
MOST = 10**9
CELL = 32_000
"""Characters that fit into a cell of any spreadsheet."""
COLUMNS = ("language", "search_id", "function_id", "probability", "rating", "search", "code")
RATERS = "raters"
"""The extra column of judgements that says who gave each of `expert_ratings` and when ("" for those there at first)."""


@dataclass(frozen=True, slots=True)
class Needed:
    """Expert-rated pairs to add for a clear verdict at the present F1, and how many of them would be relevant."""

    pairs: int
    relevant: int


@dataclass(frozen=True, slots=True)
class Suggestion:
    """A pair for an expert to rate, and the probability with which it was drawn."""

    pair: PairKey
    probability: float


def needed(record: GateRecord, confusion: Integers) -> Needed | None:
    """Return how many more expert-rated pairs would make a verdict clear, with the same kind of searches and the present F1.

    `confusion` has the counts that the record was computed from, a row a search. Nought for a clear verdict. None where no
    number can be given: an incomplete verdict, one that rests on a further condition, F1 on the threshold, or no hit or no
    error yet.
    """
    if record.clear:
        return Needed(0, 0)
    f1, pairs = record.agreement.f1, record.agreement.pairs
    hits, errors = confusion[:, 0], confusion[:, 1] + confusion[:, 2]
    settled = record.verdict == "incomplete" or f1 is None or any(not condition.met for condition in record.conditions)
    if settled or f1 is None or not hits.sum() or not errors.sum() or not 0 < record.threshold < 1:
        return None
    distance = abs(np.log(f1 / (1 - f1)) - np.log(record.threshold / (1 - record.threshold)))
    influence = hits / hits.sum() - errors / errors.sum()
    variance = float((influence**2).sum()) * len(confusion) / max(len(confusion) - 1, 1) * pairs
    sure, lucky = NormalDist().inv_cdf(record.confidence), NormalDist().inv_cdf(POWER)

    def suffices(total: int) -> bool:
        scatter = (variance * (total - pairs)) ** 0.5 / total
        return bool(distance - lucky * scatter >= sure * (variance / total) ** 0.5)

    if not suffices(MOST):
        return None
    low, high = pairs, MOST
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if suffices(middle) else (middle, high)
    extra = high - pairs
    return Needed(extra, round(extra * record.agreement.expert_relevant / pairs))


def suggest(
    pool: Sequence[PooledBy],
    ratings: Mapping[PairKey, int],
    *,
    experts: Mapping[PairKey, Sequence[int]],
    relevant_from: float,
    count: int,
    seed: int,
) -> tuple[Suggestion, ...]:
    """Return `count` pairs (fewer where there are not as many) whose expert rating would tell most about F1, in random order.

    Of the pool's pairs that the judge rated and no expert did, each is drawn with a probability in proportion to
    sqrt(p (1 - p)), where p is how often experts called a pair with that judge's rating relevant: Neyman's allocation. Pairs
    are drawn systematically through the list ordered by the judge's rating and the retrievers, at random within, which
    stratifies by both; every pair has a chance, and it is returned, so that estimates can be weighted.
    """
    entries = [
        entry
        for entry in sorted(pool, key=lambda entry: (entry.search_id, entry.function_id))
        if (entry.search_id, entry.function_id) in ratings and (entry.search_id, entry.function_id) not in experts
    ]
    if not entries or count < 1:
        return ()
    random = np.random.default_rng(seed)
    order = [entries[index] for index in random.permutation(len(entries))]
    order.sort(key=lambda entry: (ratings[entry.search_id, entry.function_id], entry.retrievers))
    spread = _spread(ratings, experts, relevant_from=relevant_from)
    sizes = np.array([spread[ratings[entry.search_id, entry.function_id]] for entry in order])
    chances = _chances(sizes, min(count, len(order)))
    # Rounded, or the last pair could be lost to the sum's last bit.
    ends = np.round(np.cumsum(chances), 9)
    drawn = np.searchsorted(ends, np.arange(round(float(ends[-1]))) + random.random(), side="right")
    chosen = [order[int(index)] for index in np.unique(np.minimum(drawn, len(order) - 1))]
    probability = {(entry.search_id, entry.function_id): chance for entry, chance in zip(order, chances, strict=True)}
    pairs = [(entry.search_id, entry.function_id) for entry in chosen]
    return tuple(
        Suggestion(pairs[int(index)], float(probability[pairs[int(index)]])) for index in random.permutation(len(pairs))
    )


def _spread(
    ratings: Mapping[PairKey, int], experts: Mapping[PairKey, Sequence[int]], *, relevant_from: float
) -> dict[int, float]:
    out = {}
    for rating in set(ratings.values()):
        verdicts = [is_relevant(experts[pair], relevant_from) for pair in experts if ratings.get(pair) == rating]
        share = (sum(verdicts) + 0.5) / (len(verdicts) + 1)
        out[rating] = (share * (1 - share)) ** 0.5
    return out


def _chances(sizes: Floats, count: int) -> Floats:
    """Probabilities in proportion to `sizes`, none above 1, that sum to `count`."""
    chances = np.zeros(len(sizes))
    certain = np.zeros(len(sizes), bool)
    while True:
        left = count - int(certain.sum())
        chances = np.where(certain, 1.0, 0.0)
        if not certain.all():
            chances[~certain] = sizes[~certain] * left / sizes[~certain].sum()
        over = (chances > 1) & ~certain
        if not over.any():
            return chances
        certain |= over


def sheet(language: str, suggestions: Sequence[Suggestion], *, queries: Sequence[Query], functions: Sequence[Function]) -> str:
    """Return suggestions as a CSV for a person to fill in the column `rating`; what the judge said is not in it."""
    searches = {query.search_id: query.search for query in queries}
    codes = {function.id: function.code for function in functions}
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(COLUMNS)
    for entry in suggestions:
        search_id, function_id = entry.pair
        shown = _cell(searches[search_id]), _cell(codes[function_id])
        writer.writerow((language, search_id, function_id, f"{entry.probability:.6f}", "", *shown))
    return out.getvalue()


def _cell(text: str) -> str:
    # A spreadsheet would compute what begins like a formula, as code with a decorator does.
    text = f" {text}" if text.startswith(("=", "+", "-", "@")) else text
    return text if len(text) <= CELL else text[:CELL] + "…"


def read_sheet(path: Path, scale: Scale) -> dict[tuple[str, str, str], int]:
    """Return the ratings filled in, by language, search and function; rows left empty are skipped.

    Raises `DataError` with file and row for a missing column, a rating that is not on the scale, or a pair that stands twice.
    """
    try:
        rows = list(csv.DictReader(io.StringIO(files.read(path).decode("utf-8-sig"), newline="")))
    except (UnicodeDecodeError, csv.Error) as error:
        raise DataError(f"{path}: not a CSV in UTF-8 ({error}); save it again as one") from error
    out: dict[tuple[str, str, str], int] = {}
    for number, row in enumerate(rows, start=2):
        missing = [column for column in ("language", "search_id", "function_id", "rating") if row.get(column) is None]
        if missing:
            raise DataError(f"{path}, row {number}: no column {missing[0]}; keep the columns {', '.join(COLUMNS)}")
        given = row["rating"].strip()
        if not given:
            continue
        if given not in {str(value) for value in scale.values}:
            raise DataError(f"{path}, row {number}: rating {given!r} is not a whole number of {scale.lowest}-{scale.highest}")
        key = (row["language"], row["search_id"], row["function_id"])
        if key in out:
            raise DataError(f"{path}, row {number}: {' '.join(key)} stands twice; keep one of them")
        out[key] = int(given)
    return out


def add_layer(
    data: Dataset, given: Mapping[tuple[str, str, str], int], *, rater: str, date: str, relevant_from: float
) -> tuple[Qrel, ...]:
    """Return the dataset's judgements with an expert's further ratings, each behind those that a pair has already.

    The extra column `raters` gets rater and date beside each rating. Raises `UsageError` without a rater, `DataError` for a
    search or function that the dataset lacks, or where this rater's ratings of this date are there already.
    """
    if not rater.strip():
        raise UsageError("ratings need a rater; name one, which stays beside them")
    by = f"{rater.strip()} {date}"
    searches = {(query.language, query.search_id) for query in data.queries}
    functions = None if data.corpus is None else {(function.language, function.id) for function in data.corpus}
    rows = {(qrel.language, *qrel.pair): qrel for qrel in data.qrels}
    for key, rating in given.items():
        language, search_id, function_id = key
        if (language, search_id) not in searches or (functions is not None and (language, function_id) not in functions):
            raise DataError(f"{data.folder}: no such search and function: {' '.join(key)}; correct the row or leave it out")
        before = rows.get(key)
        had = before.expert_ratings if before else ()
        raters = list(before.extra.get(RATERS) or [""] * len(had)) if before else []
        if by in raters:
            raise DataError(f"{data.folder}: {' '.join(key)} already has a rating by {by}; it was imported before")
        ratings = (*had, rating)
        mean = round(sum(ratings) / len(ratings), 4)
        base = before or Qrel(language, search_id, function_id, mean, False, "expert")
        rows[key] = replace(
            base, relevance=mean, relevant=is_relevant(ratings, relevant_from), source="expert", expert_ratings=ratings,
            rated_because="expert", extra={**base.extra, RATERS: [*raters, by]},
        )  # fmt: skip
    return qrels.ordered(data, rows.values())
