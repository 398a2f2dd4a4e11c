"""The published dataset as a hub lays it out: queries, corpus and qrels in the published columns, every other one kept.

Each of the three is a file of its name, a folder of its name (a configuration, with its files at any depth), or a file or
folder of its name under data/. A table may be cut into shards, `name-00000-of-00002.parquet`; all of them must be there.

Written is a file of each, which holds everything that the dataset does.
"""

import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TypeVar

from pools._dataset import files, tables
from pools._dataset.records import (
    Function,
    Qrel,
    Query,
    function_of,
    function_row,
    qrel_of,
    qrel_row,
    query_of,
    query_row,
)
from pools._dataset.tables import Row
from pools._formats import collection
from pools._formats.collection import FORM, Collection
from pools._formats.format import Destination, Format, Input
from pools.errors import DataError, UsageError
from prompts.scales import Scale

R = TypeVar("R")

_SHARD = re.compile(r"(?P<stem>.*)-(?P<number>\d{5})-of-(?P<count>\d{5})(?P<suffix>\..+)")


def load(folder: Path, scale: Scale) -> Collection:
    """Return a published dataset, rows in file order (shards sorted by name); a missing corpus is noted.

    Raises `UsageError` where the folder has no queries, `DataError` with file and line or row for what is wrong in it.
    """
    queries = _records(folder, "queries", make=query_of, key=lambda query: f"{query.language} {query.search_id}")
    if queries is None:
        raise UsageError(
            f"{folder}: no queries; a published dataset has queries, corpus and qrels as .jsonl, .jsonl.gz or .parquet, in "
            "files or folders of these names or under data/"
        )
    corpus = _records(folder, "corpus", make=function_of, key=lambda function: function.id)
    qrels = (
        _records(folder, "qrels", make=lambda row: qrel_of(row, scale), key=lambda qrel: " ".join((qrel.language, *qrel.pair)))
        or ()
    )
    _check([query for _, query in queries], corpus, qrels=qrels)
    return Collection(
        tuple(query for _, query in queries),
        None if corpus is None else tuple(function for _, function in corpus),
        tuple(qrel for _, qrel in qrels),
        () if corpus is not None else (f"{folder} has no corpus, so there is no code",),
    )


def read(destination: Destination, *, directory: Path) -> Collection:
    """Return the collection for a dataset folder; see `load`."""
    return load(directory, destination.scale)


def write(found: Collection, _relevant_from: Mapping[str, float]) -> dict[str, bytes]:
    """Return queries.jsonl.gz, corpus.jsonl.gz (where there is a corpus) and qrels.jsonl.gz."""
    rows = {"queries": [query_row(query) for query in found.queries]}
    if found.corpus is not None:
        rows["corpus"] = [function_row(function) for function in found.corpus]
    rows["qrels"] = [qrel_row(qrel) for qrel in found.qrels]
    return {name + FORM: files.compress(collection.lines(name + FORM, made)) for name, made in rows.items()}


def find(folder: Path, name: str) -> list[Path]:
    """Return the files of a table, sorted by their path in the folder; none where it is absent.

    Raises `DataError` where it is there in two ways, or lacks a shard.
    """
    ways = [
        [path for place in (folder,) if (path := tables.find(place, name)) is not None],
        _below(folder / name),
        [path for path in _tables(folder / "data") if re.match(rf"{name}[.-]", path.name)],
        _below(folder / "data" / name),
    ]
    found = [way for way in ways if way]
    if len(found) > 1:
        raise DataError(f"{folder}: {name} is both {' and '.join(str(way[0].relative_to(folder)) for way in found)}; keep one")
    paths = found[0] if found else []
    _complete(paths)
    return paths


def _below(folder: Path) -> list[Path]:
    return [path for place in sorted((folder, *folder.rglob("*"))) if place.is_dir() for path in _tables(place)]


def _tables(folder: Path) -> list[Path]:
    if not folder.is_dir():
        return []
    return sorted(path for path in folder.iterdir() if path.name.endswith(tables.SUFFIXES) and path.name[0] != ".")


def _complete(paths: list[Path]) -> None:
    for path in paths:
        shard = _SHARD.fullmatch(path.name)
        for number in range(int(shard["count"]) if shard else 0):
            sibling = path.with_name(f"{shard['stem']}-{number:05}-of-{shard['count']}{shard['suffix']}") if shard else path
            if sibling not in paths:
                raise DataError(f"{sibling}: no such file, and {path.name} says that there is one; fetch it")


def _records(
    folder: Path, name: str, *, make: Callable[[Row], R], key: Callable[[R], str]
) -> tuple[tuple[str, R], ...] | None:  # fmt: skip
    paths = find(folder, name)
    if not paths:
        return None
    found = []
    for place, row in (pair for path in paths for pair in tables.read(path)):
        try:
            found.append((place, make(row)))
        except ValueError as error:
            raise DataError(f"{place}: {error}") from error
    collection.unique(found, key, what=name)
    return tuple(found)


def _check(
    queries: list[Query], corpus: tuple[tuple[str, Function], ...] | None, *, qrels: tuple[tuple[str, Qrel], ...]
) -> None:
    searches = {(query.language, query.search_id) for query in queries}
    functions = None if corpus is None else {(function.language, function.id) for _, function in corpus}
    for place, qrel in qrels:
        if (qrel.language, qrel.search_id) not in searches:
            raise DataError(f"{place}: no search {qrel.search_id!r} of {qrel.language} in queries; add it or remove the row")
        if functions is not None and (qrel.language, qrel.function_id) not in functions:
            raise DataError(f"{place}: no function {qrel.function_id!r} of {qrel.language} in corpus; add it or remove the row")


FORMAT = Format(
    "hf",
    "Import a published dataset as the Hugging Face hub lays it out.",
    "DIR holds queries, corpus and qrels as .jsonl, .jsonl.gz or .parquet: files of these names, folders of these names, or "
    "either of them under data/, shards included. All columns are kept.",
    ("judge import hf codesearchnet-challenge-extended --data csn",),
    (Input("directory", "folder", "DIR", positional=True),),
    read,
    write,
)
