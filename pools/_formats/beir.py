"""BEIR folders: corpus.jsonl, queries.jsonl and qrels/test.tsv.

The qrels of other splits (train, dev) say which searches belong to those; they are left out, and counted. A search that no
qrels file names stays: nothing of it is judged yet.

Written is qrels/test.tsv with every search's pairs, tuning ones included, and a grade a pair (see `pools._formats.languageless`
for how it is rounded). Its lines are split at tabs, so an id with one, or with white space around it, cannot be written.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path

from pools._dataset import tables
from pools._dataset.records import Function, Query
from pools._dataset.tables import Row
from pools._formats import collection, languageless
from pools._formats.collection import Collection, Judged
from pools._formats.format import Destination, Format, Input
from pools.errors import DataError, UsageError
from prompts.scales import Scale

TSV = (".tsv", ".tsv.gz")
HEADER = "query-id\tcorpus-id\tscore\n"


def load(folder: Path, scale: Scale, *, relevant_from: float) -> Collection:
    """Return a BEIR folder's collection, its searches and documents sorted by id.

    Raises `UsageError` where the folder is none, `DataError` with file and line for what is wrong in it.
    """
    paths = {name: tables.find(folder, name) for name in ("corpus", "queries")}
    tests = [folder / "qrels" / f"test{suffix}" for suffix in TSV if (folder / "qrels" / f"test{suffix}").is_file()]
    if paths["corpus"] is None or paths["queries"] is None or len(tests) != 1:
        raise UsageError(f"{folder}: a BEIR folder has corpus.jsonl, queries.jsonl and qrels/test.tsv, each once; name one")
    judged = list(_lines(tests[0]))
    tested = {line.search_id for line in judged}
    elsewhere = {line.search_id for path in _others(folder) for line in _lines(path)} - tested
    queries = collection.unique(
        ((place, _query(place, row)) for place, row in tables.read(paths["queries"])),
        lambda query: query.search_id,
        what="search",
    )
    corpus = collection.unique(
        ((place, _document(place, row)) for place, row in tables.read(paths["corpus"])), lambda found: found.id, what="document"
    )
    kept = sorted((query for query in queries if query.search_id not in elsewhere), key=lambda query: query.search_id)
    left_out = len(queries) - len(kept)
    return Collection(
        tuple(kept),
        tuple(sorted(corpus, key=lambda found: found.id)),
        collection.judgements(judged, kept, corpus=corpus, scale=scale, relevant_from=relevant_from),
        (f"{left_out} searches that only the qrels of other splits name are left out",) if left_out else (),
    )


def read(destination: Destination, *, directory: Path) -> Collection:
    """Return the collection for a dataset folder; see `load`."""
    return load(directory, destination.scale, relevant_from=destination.relevant_from)


def write(found: Collection, relevant_from: Mapping[str, float]) -> dict[str, bytes]:
    """Return corpus.jsonl, queries.jsonl and qrels/test.tsv of each language; raises `DataError` for an id they cannot hold."""
    out = {}
    for folder, part in languageless.parts(found).items():
        documents = [
            languageless.document(languageless.with_text(function), identifier="_id", text="text")
            for function in part.corpus or ()
        ]
        queries = [
            {"_id": query.search_id, "text": query.search, **languageless.freed(query.extra, ("_id", "text"))}
            for query in part.queries
        ]
        levels = [
            f"{qrel.search_id}\t{qrel.function_id}\t{languageless.grade(qrel, relevant_from[qrel.language])}\n"
            for qrel in part.qrels
        ]
        for query in part.queries:
            _check(query.search_id, f"search {query.search_id!r} of {query.language}")
        for function in part.corpus or ():
            _check(function.id, f"function {function.id!r} of {function.language}")
        out[f"{folder}corpus.jsonl"] = collection.lines(f"{folder}corpus.jsonl", documents)
        out[f"{folder}queries.jsonl"] = collection.lines(f"{folder}queries.jsonl", queries)
        out[f"{folder}qrels/test.tsv"] = (HEADER + "".join(levels)).encode("utf-8")
    return out


def _check(identifier: str, what: str) -> None:
    if identifier != identifier.strip() or {"\t", "\n"} & set(identifier):
        raise DataError(
            f"{what}: BEIR's qrels cannot hold this id (a tab, a line break, or white space around it); write another format, "
            "or rename it"
        )


def _others(folder: Path) -> list[Path]:
    return sorted(
        path
        for path in (folder / "qrels").iterdir()
        if path.name.endswith(TSV) and path.name not in {f"test{suffix}" for suffix in TSV}
    )


def _lines(path: Path) -> Iterator[Judged]:
    for number, fields in enumerate(collection.text_lines(path), start=1):
        parts = fields.split("\t")
        if len(parts) != 3:
            raise DataError(f"{path}:{number}: {len(parts)} columns; must be query-id, corpus-id and score, with tabs between")
        if number == 1:
            if not any(character.isalpha() for character in parts[2]):
                raise DataError(f"{path}:1: no header; the first line must name query-id, corpus-id and score")
            continue
        yield Judged(f"{path}:{number}", parts[0].strip(), parts[1].strip(), parts[2].strip())


def _query(place: str, row: Row) -> Query:
    extra = {column: value for column, value in row.items() if column not in ("_id", "text")}
    return collection.query(
        place, collection.identifier(place, row, "_id"), text=collection.text(place, row, "text"), extra=extra
    )


def _document(place: str, row: Row) -> Function:
    extra = {column: value for column, value in row.items() if column not in ("_id", "title", "text")}
    title = collection.text(place, row, "title") if row.get("title") is not None else ""
    return collection.document(
        place, collection.identifier(place, row, "_id"), title=title, text=collection.text(place, row, "text"), extra=extra
    )  # fmt: skip


FORMAT = Format(
    "beir",
    "Import a BEIR folder: corpus.jsonl, queries.jsonl, qrels/test.tsv.",
    "A document's text, below its title, is the function's code; all other columns are kept. There is one language, `all`. "
    "Searches that only other splits' qrels name (train, dev) are left out.",
    ("judge import beir nfcorpus --data collection",),
    (Input("directory", "folder", "DIR", positional=True),),
    read,
    write,
)
