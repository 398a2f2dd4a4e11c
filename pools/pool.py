"""The pool: the pairs to be judged, each with who returned it, its stratum, and the probability that it was drawn.

What a retriever returned is judged whole; of what only the loosest one returned, or none did, a random sample is, so that what
the retrievers miss can be estimated without bias. A sample is the n candidates with the smallest keyed hash of (seed, search,
function): every candidate has the same chance, the draw depends on nothing but the candidates, and a candidate that was drawn
stays drawn as long as its stratum does not change.
"""

import hashlib
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from pools import dataset, tables
from pools.dataset import PairKey, Query
from pools.errors import DataError
from pools.hits import Hit
from pools.settings import PoolSettings

POOLED = "pooled"
GREP_ANY_SAMPLE = "grep-any-sample"
UNFLAGGED_SAMPLE = "unflagged-sample"
STRATA = (POOLED, GREP_ANY_SAMPLE, UNFLAGGED_SAMPLE)

LOOSEST = "grep-any"


@dataclass(frozen=True, slots=True)
class PoolPair:
    """A pair to be judged.

    `retrievers` are all that returned it, sorted. `stratum` and `probability`, its inclusion probability in (0, 1], are None
    for a validation pair, which is judged because experts rated it.
    """

    search_id: str
    function_id: str
    retrievers: tuple[str, ...]
    stratum: str | None
    probability: float | None

    @property
    def pair(self) -> PairKey:
        return (self.search_id, self.function_id)


def draw(
    queries: Sequence[Query],
    function_ids: Collection[str],
    hits: Mapping[str, Sequence[Hit]],
    validation: Collection[PairKey],
    settings: PoolSettings,
    seed: int,
) -> tuple[PoolPair, ...]:
    """Return the pool of one language, sorted by search and function.

    `hits` holds each retriever's under its name, `validation` the expert-rated pairs. A pair that any retriever but grep-any
    returned is `pooled` with probability 1; of the N pairs of a search that only grep-any returned, `grep_any_sample` (n) are
    drawn without replacement with probability n / N each (1 where N is not more than n), and of those that nothing returned
    `unflagged_sample`. The result does not depend on the order of any input.
    """
    returned: dict[PairKey, set[str]] = {}
    for retriever, flagged in hits.items():
        for hit in flagged:
            returned.setdefault(hit.pair, set()).add(retriever)
    known = sorted(function_ids)
    rated = set(validation)
    pool = [PoolPair(*pair, tuple(sorted(returned.get(pair, ()))), None, None) for pair in rated]
    for query in queries:
        by_stratum: dict[str, list[str]] = {stratum: [] for stratum in STRATA}
        for function_id in known:
            pair = (query.search_id, function_id)
            if pair not in rated:
                by_stratum[_stratum(returned.get(pair))].append(function_id)
        sizes = {GREP_ANY_SAMPLE: settings.grep_any_sample, UNFLAGGED_SAMPLE: settings.unflagged_sample}
        for stratum, candidates in by_stratum.items():
            size = min(sizes.get(stratum, len(candidates)), len(candidates))
            for function_id in _sample(query.search_id, candidates, size, seed):
                pair = (query.search_id, function_id)
                pool.append(PoolPair(*pair, tuple(sorted(returned.get(pair, ()))), stratum, size / len(candidates)))
    return tuple(sorted(pool, key=lambda entry: entry.pair))


def _stratum(retrievers: Collection[str] | None) -> str:
    if not retrievers:
        return UNFLAGGED_SAMPLE
    return GREP_ANY_SAMPLE if set(retrievers) == {LOOSEST} else POOLED


def _sample(search_id: str, candidates: Sequence[str], size: int, seed: int) -> Iterable[str]:
    if size == len(candidates):
        return candidates
    key = hashlib.sha256(f"{seed} {search_id}".encode("utf-8", "surrogatepass")).digest()
    return sorted(
        candidates,
        key=lambda name: (hashlib.blake2b(name.encode("utf-8", "surrogatepass"), key=key, digest_size=16).digest(), name),
    )[:size]


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
    }
    tables.write_columns(path, columns)


def read(path: Path) -> tuple[PoolPair, ...]:
    """Return the pairs of a pool file; raises `DataError` naming the row at fault."""
    out = []
    for place, row in tables.read(path):
        try:
            out.append(PoolPair(**row | {"retrievers": tuple(row["retrievers"])}))
        except (TypeError, KeyError) as error:
            raise DataError(f"{place}: not a pair of a pool ({error}); run `judge pool` again") from error
    return tuple(out)
