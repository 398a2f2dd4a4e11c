"""The dataset: the searches, functions and relevance judgements of a folder, read into frozen records.

Reading is strict about what every later step relies on (columns, types, one row a key) and stops at the first fault with
its place, unless it is given a report that collects, as `pools._dataset.faults` does to list all of them at once.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from pools._dataset import tables
from pools._dataset.records import Function, PairKey, Qrel, Query, function_of, qrel_of, query_of
from pools._dataset.tables import Report, Row
from pools.errors import DataError, UsageError
from prompts.scales import Scale

R = TypeVar("R")


@dataclass(frozen=True, slots=True)
class Dataset:
    """A folder's searches, functions (None where it has no corpus) and judgements, each in file order."""

    folder: Path
    queries: tuple[Query, ...]
    corpus: tuple[Function, ...] | None
    qrels: tuple[Qrel, ...]

    @property
    def languages(self) -> tuple[str, ...]:
        """The languages that have a search, in order of first appearance."""
        return tuple(dict.fromkeys(query.language for query in self.queries))

    def queries_of(self, language: str) -> tuple[Query, ...]:
        return tuple(query for query in self.queries if query.language == language)

    def qrels_of(self, language: str) -> tuple[Qrel, ...]:
        return tuple(qrel for qrel in self.qrels if qrel.language == language)

    def functions_of(self, language: str) -> tuple[Function, ...]:
        """Return a language's functions; raises `DataError` where the folder has no corpus."""
        if self.corpus is None:
            raise DataError(f"{self.folder}: no corpus.jsonl.gz (or .jsonl, .parquet), and this needs the functions' code")
        return tuple(function for function in self.corpus if function.language == language)

    def experts_of(self, language: str) -> dict[PairKey, tuple[int, ...]]:
        """Return the experts' ratings of every expert-rated pair of a language, in rating order."""
        return {qrel.pair: qrel.expert_ratings for qrel in self.qrels_of(language) if qrel.expert_ratings}

    def choose(self, wanted: Sequence[str]) -> tuple[str, ...]:
        """Return the languages wanted, or all; raises `UsageError` for an unknown one, listing the dataset's."""
        for language in wanted:
            if language not in self.languages:
                raise UsageError(f"unknown language {language!r}; {self.folder} has {', '.join(self.languages)}")
        return tuple(dict.fromkeys(wanted)) or self.languages


def work(folder: Path, language: str) -> Path:
    """Return the folder of what was made for one language."""
    if language in {"", ".", ".."} or "/" in language or "\\" in language:
        raise DataError(f"{folder}: language {language!r} cannot name a folder; rename it in the data")
    return folder / "work" / language


def load(folder: Path, scale: Scale, *, report: Report = tables.stop) -> Dataset:
    """Read a dataset folder.

    Every fault goes to `report`, which by default raises it as `DataError` with file and line; a row at fault is left out.
    Raises `UsageError` where the folder is no dataset.
    """
    if not folder.is_dir():
        raise UsageError(f"{folder}: no such folder; name a dataset's with --data")
    queries = _records(folder, "queries", make=query_of, key=_query_key, report=report)
    if queries is None:
        raise UsageError(f"{folder}: no queries.jsonl.gz (or .jsonl, .parquet); `judge init DIR` starts a dataset")
    corpus = _records(folder, "corpus", make=function_of, key=_function_key, report=report)
    qrels = _records(folder, "qrels", make=lambda row: qrel_of(row, scale), key=_qrel_key, report=report) or ()
    searches = {_query_key(query) for query in queries}
    functions = None if corpus is None else {(function.language, function.id) for function in corpus}
    for qrel in qrels:
        if f"{qrel.language} {qrel.search_id}" not in searches:
            report(f"{folder}: qrels have search {qrel.search_id!r} of {qrel.language}, which queries lacks; add or remove it")
        if functions is not None and (qrel.language, qrel.function_id) not in functions:
            report(
                f"{folder}: qrels have function {qrel.function_id!r} of {qrel.language}, which corpus lacks; add or remove it"
            )
    return Dataset(folder, queries, corpus, qrels)


def _query_key(query: Query) -> str:
    return f"{query.language} {query.search_id}"


def _function_key(function: Function) -> str:
    return function.id


def _qrel_key(qrel: Qrel) -> str:
    return f"{qrel.language} {qrel.search_id} {qrel.function_id}"


def _records(
    folder: Path, name: str, *, make: Callable[[Row], R], key: Callable[[R], str], report: Report
) -> tuple[R, ...] | None:
    path = tables.find(folder, name)
    if path is None:
        return None
    seen: dict[str, str] = {}
    records = []
    for place, row in tables.read(path, report):
        try:
            record = make(row)
        except ValueError as error:
            report(f"{place}: {error}")
            continue
        if key(record) in seen:
            report(f"{place}: {key(record)!r} is already at {seen[key(record)]}; keep one of them")
            continue
        seen[key(record)] = place
        records.append(record)
    return tuple(records)
