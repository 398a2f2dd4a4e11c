"""Vectors of searches and functions, kept on disk under the hash of the text that they stand for.

An embedder is slow or costs money, so each text is embedded once: what a file holds is never asked for again, and a vector
stays when its text leaves the dataset, as it may come back. While texts are embedded, every chunk is a file of its own beside
the one that holds them all, so a run that is killed loses one chunk and nothing is ever rewritten that grows; when all are
there, the chunks are merged and removed.
"""

import re
import shutil
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from pools._dataset import dataset, files, tables
from pools._dataset.partition import Partition
from pools._dataset.records import Function, PairKey, Query
from pools._dataset.settings import EmbeddingSettings
from pools.errors import DataError, UsageError

CHARACTERS = 8_000
"""What is embedded of a text; far more than 256 tokens of code, and less than what endpoints refuse."""
ROWS = 16_384
"""Vectors read from a file at a time."""
PLACES = 6
"""Decimals of a cosine; the ones behind them differ between machines."""
BLOCK = 16_384
"""Functions compared with all searches at a time; bounds the memory."""

Progress = Callable[[int, int], None]
"""Takes how many texts are embedded and how many there are to embed."""


class Embedder(Protocol):
    """What makes vectors of texts.

    `name` tells all that they depend on, `chunk` is how many texts it is given at a time. `embed` returns an array of floats,
    a row a text, of any length but 0.
    """

    @property
    def name(self) -> str: ...

    @property
    def chunk(self) -> int: ...

    def embed(self, texts: Sequence[str]) -> Any: ...


@dataclass(frozen=True, slots=True, eq=False)
class Vectors:
    """Unit vectors by the key of their text, in rows of a float32 array that go by rising key."""

    embedder: str
    keys: tuple[str, ...]
    rows: Any
    places: dict[str, int] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "places", {key: place for place, key in enumerate(self.keys)})

    def of(self, texts: Iterable[str]) -> Any:
        """Return the vectors of some texts as float32 rows, in their order; raises `KeyError` where one is missing."""
        return self.rows[[self.places[key_of(text)] for text in texts]]


def shown(text: str) -> str:
    """Return the part of a text that is embedded, without what UTF-8 cannot hold."""
    return text[:CHARACTERS].encode("utf-8", "replace").decode("utf-8")


def key_of(text: str) -> str:
    """Return the key of a text: the SHA-256 of the part that is embedded."""
    return files.sha256(shown(text).encode("utf-8"))


def path(folder: Path, language: str, *, settings: EmbeddingSettings) -> Path:
    """Return where the vectors of a model are kept; the name tells the model, a hash keeps like-named ones apart."""
    plain = re.sub(r"[^A-Za-z0-9.]+", "-", settings.model).strip("-.")[-60:]
    digest = files.sha256(f"{settings.model}\n{settings.base_url}".encode("utf-8", "replace"))[:8]
    return dataset.work(folder, language) / "vectors" / f"{plain}-{digest}.parquet"


def read(path: Path) -> Vectors | None:
    """Return the vectors of a file, None where there is none; raises `DataError` naming a file that is something else."""
    import numpy
    import pyarrow
    import pyarrow.parquet

    if not path.is_file():
        return None
    try:
        file = pyarrow.parquet.ParquetFile(pyarrow.BufferReader(files.read(path)))
        labels = file.read(["key", "embedder"])
        embedders = labels["embedder"].unique().to_pylist()
        if len(embedders) != 1:
            raise ValueError(f"vectors of {len(embedders)} embedders")
        width = file.schema_arrow.field("vector").type.list_size
        rows = numpy.empty((labels.num_rows, width), numpy.float32)
        start = 0
        # A part at a time: at once the reader takes several times what it reads.
        for batch in file.iter_batches(ROWS, columns=["vector"]):
            rows[start : start + batch.num_rows] = batch["vector"].flatten().to_numpy().reshape(-1, width)
            start += batch.num_rows
        return Vectors(str(embedders[0]), tuple(labels["key"].to_pylist()), rows)
    except (pyarrow.ArrowException, OSError, KeyError, AttributeError, ValueError) as error:
        raise DataError(f"{path}: not a file of vectors ({error}); remove it, and `judge pool` makes it again") from error


def write(path: Path, vectors: Vectors) -> None:
    """Replace a file of vectors; the same vectors give the same bytes."""
    import pyarrow

    width = vectors.rows.shape[1]
    tables.write_columns(
        path,
        {
            "key": pyarrow.array(vectors.keys, pyarrow.string()),
            "embedder": pyarrow.array([vectors.embedder] * len(vectors.keys), pyarrow.string()),
            "vector": pyarrow.FixedSizeListArray.from_arrays(
                pyarrow.array(vectors.rows.ravel(), pyarrow.float32()), width
            ),
        },
    )  # fmt: skip


def complete(path: Path, embedder: Embedder, *, texts: Iterable[str], progress: Progress = lambda _done, _all: None) -> Vectors:
    """Return the vectors that a file holds and those of all `texts`, embedding and adding what it lacks.

    Texts go to the embedder longest first, so that those of a chunk are alike in length and the end comes no later than it
    seems. Vectors of another embedder than this one are dropped. Raises `UsageError` where a vector is no sound one.
    """
    parts = path.with_suffix("")
    held = [read(path), *(read(part) for part in sorted(parts.glob("*.parquet")))]
    found = [vectors for vectors in held if vectors is not None and vectors.embedder == embedder.name]
    as_kept = len(found) == 1 and found[0] is held[0]
    del held
    wanted = {key_of(text): shown(text) for text in texts}
    known = {key for vectors in found for key in vectors.keys}
    lacking = sorted(wanted.keys() - known, key=lambda key: (-len(wanted[key]), key))
    for start in range(0, len(lacking), embedder.chunk):
        keys = lacking[start : start + embedder.chunk]
        rows = _unit(embedder.embed([wanted[key] for key in keys]), len(keys), embedder=embedder.name)
        found.append(_merged(embedder.name, [Vectors(embedder.name, tuple(keys), rows)]))
        write(parts / f"{keys[0]}.parquet", found[-1])
        progress(start + len(keys), len(lacking))
    if as_kept and not lacking:
        merged = found[0]
    else:
        merged = _merged(embedder.name, found)
        # Of many functions the vectors are most of the memory: two times as much is needed to merge them, and not to write.
        found.clear()
        if merged.keys:
            write(path, merged)
    shutil.rmtree(parts, ignore_errors=True)
    return merged


def _merged(embedder: str, found: Sequence[Vectors]) -> Vectors:
    import numpy

    filled = [vectors for vectors in found if vectors.keys]
    if not filled:
        return Vectors(embedder, (), numpy.zeros((0, 1), numpy.float32))
    widths = sorted({vectors.rows.shape[1] for vectors in filled})
    if len(widths) > 1:
        raise UsageError(f"{embedder} gave vectors of {widths[0]} and {widths[1]} figures; remove work/<language>/vectors/")
    keys, places = numpy.unique(numpy.concatenate([vectors.keys for vectors in filled]), return_index=True)
    rows = numpy.empty((len(keys), widths[0]), numpy.float32)
    starts = numpy.cumsum([0, *(len(vectors.keys) for vectors in filled)])[:-1]
    by_place = numpy.argsort(places)
    shares = numpy.split(by_place, numpy.searchsorted(places[by_place], starts[1:]))
    for vectors, start, share in zip(filled, starts, shares, strict=True):
        rows[share] = vectors.rows[places[share] - start]
    return Vectors(embedder, tuple(keys.tolist()), rows)


def _unit(rows: Any, count: int, *, embedder: str) -> Any:
    """Return rows divided by their lengths, as float32."""
    import numpy

    rows = numpy.asarray(rows, dtype=numpy.float64)
    if rows.ndim != 2 or len(rows) != count or not rows.shape[1]:
        raise UsageError(f"{embedder} did not give one vector a text; check embedding.model")
    lengths = numpy.linalg.norm(rows, axis=1, keepdims=True)
    if not numpy.isfinite(lengths).all() or not lengths.all():
        raise UsageError(f"{embedder} gave a vector without a direction; check embedding.model")
    return (rows / lengths).astype(numpy.float32)


@dataclass(frozen=True, slots=True)
class Similarity:
    """Cosines between the searches and the functions of one language."""

    embedder: str
    searches: dict[str, Any]
    functions: dict[str, Any]

    def cosine(self, pair: PairKey) -> float:
        """Return a pair's cosine, from -1 to 1."""
        left, right = self.searches[pair[0]], self.functions[pair[1]]
        return round(float(left.astype("float64") @ right.astype("float64")), PLACES)


def between(vectors: Vectors | None, queries: Sequence[Query], *, functions: Sequence[Function]) -> Similarity | None:
    """Return the similarities of searches and functions, None where one of them has no vector."""
    if vectors is None:
        return None
    try:
        left, right = vectors.of(query.search for query in queries), vectors.of(function.code for function in functions)
    except KeyError:
        return None
    return Similarity(
        vectors.embedder,
        dict(zip([query.search_id for query in queries], left, strict=True)),
        dict(zip([function.id for function in functions], right, strict=True)),
    )


def cosines(made: Vectors, queries: Sequence[Query], *, functions: Sequence[Function]) -> Iterator[tuple[int, Any]]:
    """Yield the cosines of all searches with a block of functions at a time, and the place of the block's first function.

    A block is an array of floats, rounded, a row a search and a column a function. Every text must have a vector.
    """
    import numpy

    searches = made.of(query.search for query in queries).astype(numpy.float64)
    for start in range(0, len(functions), BLOCK):
        rows = made.of(function.code for function in functions[start : start + BLOCK]).astype(numpy.float64)
        yield start, numpy.round(searches @ rows.T, PLACES)


def held(partition: Partition) -> Vectors | None:
    """Return the vectors of a partition that are on disk, None where there are none."""
    return read(path(partition.folder, partition.language, settings=partition.settings.embedding))


def similarity(partition: Partition) -> Similarity | None:
    """Return the cosines of a partition by the vectors that are on disk, None where a search or a function has none."""
    return between(held(partition), partition.queries, functions=partition.functions)


def completed(partition: Partition, embedder: Embedder, *, progress: Progress = lambda _done, _all: None) -> Vectors:
    """Return the vectors of all of a partition's searches and functions, made where missing; raises as `complete` does."""
    file = path(partition.folder, partition.language, settings=partition.settings.embedding)
    texts = [query.search for query in partition.queries] + [function.code for function in partition.functions]
    return complete(file, embedder, texts=texts, progress=progress)
