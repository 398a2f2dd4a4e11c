"""The pool: the pairs to be judged, each with who returned it at which rank, its stratum, and the probability of being drawn.

What a retriever returned is judged whole; of what only a loose one returned, or none did, a random sample is, so that what
the retrievers miss can be estimated without bias. A sample is the n candidates with the smallest lots, random numbers that
depend on seed, search and function alone: every candidate has the same chance, and nothing but the candidates matters.

A pool can be drawn again, after a new retriever, new functions or new expert ratings, and then keeps every pair of the earlier
drawing. Its samples stay random ones of known probability, whatever the history, because of how they grow:

- a pair that was ever `pooled` stays so with probability 1. That it was depends on no chance, so it is simply no candidate
  for a sample any more. Where it had been in a sample, the next smallest lot takes its place.
- functions that came with a later drawing are sampled by themselves (`pools._sampling.frame` tells which these are): of a
  search's new candidates as many are drawn as is their share of the stratum's candidates so far, rounded up. So a probability
  is always that of n smallest lots among N candidates of one stratum and drawing.
- where more of them are kept than would be drawn now (a sample was made smaller, say), all are; they are still the smallest.
- a pair of a stratum with samples that experts rate afterwards stays what it was: in the sample with its probability, or out
  of it with none. Experts may have rated it because it was drawn, and a sample that loses what was found in it lies.
- where a stratum gained candidates in another way (a search's words were changed, say), a pair that was drawn may not be among
  the smallest lots any more. It stays in the pool, but without a probability, so that no estimate counts it.
"""

import dataclasses
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from pools._dataset import dataset, tables
from pools._dataset.records import PairKey, Query
from pools._dataset.settings import PoolSettings
from pools._sampling import lots
from pools._sampling.frame import Frame
from pools._sampling.hits import Hit
from pools._sampling.lots import Lots
from pools.errors import DataError

POOLED = "pooled"
GREP_ANY_SAMPLE = "grep-any-sample"
UNFLAGGED_SAMPLE = "unflagged-sample"
STRATA = (POOLED, GREP_ANY_SAMPLE, UNFLAGGED_SAMPLE)
SAMPLES = (GREP_ANY_SAMPLE, UNFLAGGED_SAMPLE)
VALIDATION = -1
"""What stands for no stratum among the numbers of strata."""


@dataclass(frozen=True, slots=True)
class PoolPair:
    """A pair to be judged.

    `retrievers` are all that returned it, sorted; `ranks` and `scores` (None where a retriever gives none) are what each of
    them gave it. `stratum` is None for a validation pair, which is judged because experts rated it. `probability` is the pair's
    inclusion probability in (0, 1]; None for a validation pair, and for a pair of a stratum with samples that is there for
    another reason than its lot, and therefore counts in no estimate.
    """

    search_id: str
    function_id: str
    retrievers: tuple[str, ...]
    stratum: str | None
    probability: float | None
    ranks: tuple[int, ...] = ()
    scores: tuple[float | None, ...] = ()

    @property
    def pair(self) -> PairKey:
        return (self.search_id, self.function_id)


def draw(
    queries: Sequence[Query],
    frame: Frame,
    *,
    hits: Mapping[str, Sequence[Hit]],
    validation: Collection[PairKey],
    settings: PoolSettings,
    loose: Collection[str],
    earlier: Sequence[PoolPair] = (),
) -> tuple[PoolPair, ...]:
    """Return the pool of one language, sorted by search and function.

    `hits` holds each retriever's under its name, `validation` the expert-rated pairs. A pair that any retriever but the `loose`
    ones (grep-any) returned is `pooled` with probability 1; of the N pairs of a search that only these returned,
    `grep_any_sample` (n) are drawn without replacement with probability n / N each (1 where N is not more than n), and of those
    that nothing returned `unflagged_sample`. Hits beyond rank `depth`, where that is not 0, count as not returned, but for
    those of loose retrievers, which only decide on a stratum. The pairs of an `earlier` pool, whose frame this one has grown
    from, stay in the pool as the module says, as long as their search and function are there. The result does not depend on
    the order of any input.
    """
    import numpy as np

    hits = counted(hits, settings.depth, loose=loose)
    returned = _returned(hits)
    rated: dict[str, set[str]] = {}
    for search_id, function_id in validation:
        rated.setdefault(search_id, set()).add(function_id)
    before: dict[str, dict[str, PoolPair]] = {}
    for entry in earlier:
        before.setdefault(entry.search_id, {})[entry.function_id] = entry
    corpus = lots.of(frame.drawings, frame.seed)
    drawings = np.array([frame.drawings[name] for name in corpus.names], np.int32)
    pool: list[PoolPair] = []
    for search_id in (query.search_id for query in queries):
        own = _Search(
            search_id, returned.get(search_id, {}), before.get(search_id, {}), rated.get(search_id, set()), frozenset(loose)
        )
        pool += _drawn(own, corpus, drawings=drawings, fresh=frame.fresh, settings=settings)
    return tuple(sorted(_marked(pool, hits, before=before), key=lambda entry: entry.pair))


def counted(hits: Mapping[str, Sequence[Hit]], depth: int, *, loose: Collection[str]) -> dict[str, Sequence[Hit]]:
    """Return each retriever's hits that count as returned: to rank `depth`, or all where that is 0; always all of `loose`."""
    return {
        name: found if name in loose or not depth else [hit for hit in found if hit.rank <= depth]
        for name, found in hits.items()
    }


def _marked(
    pool: Sequence[PoolPair], hits: Mapping[str, Sequence[Hit]], *, before: Mapping[str, Mapping[str, PoolPair]]
) -> Iterator[PoolPair]:
    """Yield the pool's pairs with ranks and scores, those of an earlier drawing where only that knows them."""
    marks: dict[PairKey, dict[str, tuple[int, float | None]]] = {}
    for entry in pool:
        old = before.get(entry.search_id, {}).get(entry.function_id)
        given = zip(old.retrievers, old.ranks, old.scores, strict=True) if old is not None else ()
        marks[entry.pair] = {name: (rank, score) for name, rank, score in given}
    for retriever, found in hits.items():
        for hit in found:
            if hit.pair in marks:
                marks[hit.pair][retriever] = (hit.rank, hit.score)
    for entry in pool:
        own = [marks[entry.pair][name] for name in entry.retrievers]
        yield replace(entry, ranks=tuple(rank for rank, _ in own), scores=tuple(score for _, score in own))


def _returned(hits: Mapping[str, Sequence[Hit]]) -> dict[str, dict[str, tuple[str, ...]]]:
    """Return for each search and function the sorted retrievers that returned it."""
    out: dict[str, dict[str, tuple[str, ...]]] = {}
    longer: dict[tuple[tuple[str, ...], str], tuple[str, ...]] = {}
    for retriever in sorted(hits):
        for hit in hits[retriever]:
            of_search = out.setdefault(hit.search_id, {})
            names = of_search.get(hit.function_id, ())
            if retriever not in names:
                # One tuple for all pairs that the same retrievers returned: there may be millions of pairs.
                of_search[hit.function_id] = longer.setdefault((names, retriever), (*names, retriever))
    return out


@dataclass(frozen=True, slots=True)
class _Search:
    """A search: the functions returned for it and by whom, its pairs of the earlier pool, the functions that experts rated.

    `loose` are the retrievers whose hits alone make no pair `pooled`.
    """

    search_id: str
    returned: Mapping[str, tuple[str, ...]]
    before: Mapping[str, PoolPair]
    rated: Collection[str]
    loose: frozenset[str]

    def stratum(self, retrievers: Collection[str]) -> str:
        """Return the stratum of a function that these retrievers returned."""
        if not retrievers:
            return UNFLAGGED_SAMPLE
        return GREP_ANY_SAMPLE if self.loose.issuperset(retrievers) else POOLED

    def strata(self) -> dict[str, str]:
        """Return the strata of the functions that are not unflagged."""
        found = {name: self.stratum(retrievers) for name, retrievers in self.returned.items()}
        return found | {name: POOLED for name, entry in self.before.items() if entry.stratum == POOLED}

    def drawable(self, name: str, fresh: Collection[str]) -> bool:
        """Return whether a function that experts rated was a candidate for a sample before they did."""
        entry = self.before.get(name)
        return entry.stratum in SAMPLES if entry is not None else bool(self.before) and name not in fresh


def _drawn(search: _Search, corpus: Lots, *, drawings: Any, fresh: Collection[str], settings: PoolSettings) -> list[PoolPair]:
    """Return the pairs of one search."""
    import numpy as np

    flagged = search.strata()
    strata = np.full(len(corpus.names), STRATA.index(UNFLAGGED_SAMPLE), np.int8)
    for name, stratum in flagged.items():
        if name in corpus.places:
            strata[corpus.places[name]] = STRATA.index(stratum)
    for name in search.rated:
        if name in corpus.places and (flagged.get(name) == POOLED or not search.drawable(name, fresh)):
            strata[corpus.places[name]] = VALIDATION
    lucky = {
        corpus.places[name]
        for name, entry in search.before.items()
        if name in corpus.places and entry.stratum in SAMPLES and entry.probability is not None
    }
    probabilities = dict.fromkeys(np.flatnonzero(strata == STRATA.index(POOLED)).tolist(), 1.0)
    for stratum, size in ((GREP_ANY_SAMPLE, settings.grep_any_sample), (UNFLAGGED_SAMPLE, settings.unflagged_sample)):
        members = np.where(strata == STRATA.index(stratum), drawings, -1)
        probabilities |= _sample(search.search_id, corpus, members=members, size=size, lucky=lucky)
    stay = {corpus.places[name] for name in (*search.before, *search.rated) if name in corpus.places}
    out = []
    for place in stay | probabilities.keys():
        name = corpus.names[place]
        retrievers = search.returned.get(name, ())
        own = None if strata[place] == VALIDATION else STRATA[strata[place]]
        if own == POOLED and search.stratum(retrievers) != POOLED:
            retrievers = tuple(sorted({*retrievers, *search.before[name].retrievers}))
        out.append(PoolPair(search.search_id, name, retrievers, own, probabilities.get(place)))
    return out


def _sample(search_id: str, corpus: Lots, *, members: Any, size: int, lucky: Collection[int]) -> dict[int, float]:
    """Return the places that are drawn from a stratum, with their probabilities.

    `members` has the drawing of each place that is a candidate, -1 elsewhere; `lucky` are the places drawn before.
    """
    import numpy as np

    found: dict[int, float] = {}
    so_far = 0
    for drawing in range(int(members.max(initial=-1)) + 1):
        cell = np.flatnonzero(members == drawing)
        if not len(cell):
            continue
        so_far += len(cell)
        count = -(-size * len(cell) // so_far)
        kept = {place for place in lucky if members[place] == drawing}
        if len(kept) > count and kept == set(corpus.smallest(search_id, cell, size=len(kept)).tolist()):
            count = len(kept)
        chosen = corpus.smallest(search_id, cell, size=count).tolist()
        found |= dict.fromkeys(chosen, len(chosen) / len(cell))
    return found


def path(folder: Path, language: str) -> Path:
    """Return where a language's pool is kept."""
    return dataset.work(folder, language) / "pool.parquet"


def write(path: Path, pool: Sequence[PoolPair]) -> None:
    """Replace a pool file; the same pairs give the same bytes."""
    import pyarrow

    columns = {
        "search_id": pyarrow.array([pair.search_id for pair in pool], pyarrow.string()),
        "function_id": pyarrow.array([pair.function_id for pair in pool], pyarrow.string()),
        "retrievers": pyarrow.array([list(pair.retrievers) for pair in pool], pyarrow.list_(pyarrow.string())),
        "stratum": pyarrow.array([pair.stratum for pair in pool], pyarrow.string()),
        "probability": pyarrow.array([pair.probability for pair in pool], pyarrow.float64()),
        "ranks": pyarrow.array([list(pair.ranks) for pair in pool], pyarrow.list_(pyarrow.int32())),
        "scores": pyarrow.array([list(pair.scores) for pair in pool], pyarrow.list_(pyarrow.float64())),
    }
    tables.write_columns(path, columns)


def read(path: Path) -> tuple[PoolPair, ...]:
    """Return the pairs of a pool file; raises `DataError` naming the row at fault."""
    names = [item.name for item in dataclasses.fields(PoolPair)]
    out: list[PoolPair] = []
    # A pool may have millions of pairs, of few searches and by few retrievers: what is equal is kept once, by column, because
    # (1,) and (1.0,) are equal too.
    ids: dict[str, str] = {}
    by: dict[tuple[Any, ...], tuple[Any, ...]] = {}
    at: dict[tuple[Any, ...], tuple[Any, ...]] = {}
    of: dict[tuple[Any, ...], tuple[Any, ...]] = {}
    try:
        for search, function, retrievers, stratum, probability, ranks, scores in tables.read_columns(path, names):
            entry = PoolPair(
                ids.setdefault(search, search),
                ids.setdefault(function, function),
                _once(by, retrievers),
                stratum,
                probability,
                _once(at, ranks),
                _once(of, scores),
            )
            out.append(entry)
    except TypeError as error:
        raise DataError(
            f"{path}, row {len(out) + 1}: not a pair of a pool ({error}); restore the file, or delete it and run `judge pool`"
        ) from error
    return tuple(out)


def _once(known: dict[tuple[Any, ...], tuple[Any, ...]], values: Sequence[Any]) -> tuple[Any, ...]:
    own = tuple(values)
    return known.setdefault(own, own)


def read_pairs(path: Path) -> list[PairKey]:
    """Return the searches and functions alone of a pool file; raises `DataError` where it has none."""
    ids: dict[str, str] = {}
    share = ids.setdefault
    return [
        (share(search, search), share(function, function))
        for search, function in tables.read_columns(path, ("search_id", "function_id"))
    ]
