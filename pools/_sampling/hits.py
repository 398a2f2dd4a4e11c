"""Hits: what one retriever flagged, and the file that keeps it.

A retriever's hits are written whole, sorted by search, rank and function, so the pool can be drawn again, and a retriever
added, without running the others.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from pools._dataset import dataset, tables
from pools._dataset.records import PairKey
from pools.errors import DataError


class Hit(NamedTuple):
    """One retriever's flag of one pair: its rank within the search from 1, and a score or a probability where it has one.

    A tuple, because there may be millions of them and a frozen dataclass takes half as long again to make.
    """

    search_id: str
    function_id: str
    rank: int
    score: float | None = None
    probability: float | None = None

    @property
    def pair(self) -> PairKey:
        return (self.search_id, self.function_id)


def path(folder: Path, language: str, *, retriever: str) -> Path:
    """Return where a retriever's hits are kept."""
    return dataset.work(folder, language) / "hits" / f"{retriever}.parquet"


def write(path: Path, hits: Sequence[Hit]) -> None:
    """Replace a hits file; the same hits in any order give the same bytes."""
    import pyarrow

    ordered = sorted(hits, key=lambda hit: (hit.search_id, hit.rank, hit.function_id))
    columns = {
        "search_id": pyarrow.array([hit.search_id for hit in ordered], pyarrow.string()),
        "function_id": pyarrow.array([hit.function_id for hit in ordered], pyarrow.string()),
        "rank": pyarrow.array([hit.rank for hit in ordered], pyarrow.int32()),
        "score": pyarrow.array([hit.score for hit in ordered], pyarrow.float64()),
        "probability": pyarrow.array([hit.probability for hit in ordered], pyarrow.float64()),
    }
    tables.write_columns(path, columns)


def read(path: Path) -> tuple[Hit, ...]:
    """Return the hits of a file in its order; raises `DataError` naming the row at fault."""
    out = []
    for place, row in tables.read(path):
        try:
            out.append(Hit(**row))
        except TypeError as error:
            raise DataError(f"{place}: not a hit ({error}); run `judge pool` again") from error
    return tuple(out)
