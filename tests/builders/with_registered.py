"""The `judge` command with a measure and a format of a third party's, added through the registries alone.

Run as `python -m tests.builders.with_registered ARGUMENTS`: what is registered stays in this process, so that no other test
meets it.
"""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from gates._measures import registry as measures
from gates._measures.measure import Measure, scalar, vectorised
from judge import cli
from pools._dataset.records import function_of, function_row, qrel_of, qrel_row, query_of, query_row
from pools._formats import registry as formats
from pools._formats.collection import Collection
from pools._formats.format import Destination, Format, Input


def _jaccard(both: int, judge_only: int, expert_only: int, _neither: int) -> tuple[int, int]:
    return both, both + judge_only + expert_only


def _matthews(counts: "np.typing.NDArray[np.int64]") -> "np.typing.NDArray[np.float64]":
    both, judge_only, expert_only, neither = counts.T.astype(float)
    scale = (both + judge_only) * (both + expert_only) * (neither + judge_only) * (neither + expert_only)
    with np.errstate(invalid="ignore", divide="ignore"):
        found: np.typing.NDArray[np.float64] = (both * neither - judge_only * expert_only) / np.sqrt(scale)
    return found


JACCARD = Measure(
    "jaccard",
    "Jaccard index",
    scalar(_jaccard),
    vectorised(_jaccard),
    definition="relevant by both / relevant by either",
    source="Jaccard, The distribution of the flora in the alpine zone, 1912",
    heading="Jaccard",
    format=".2%",
    resampled=True,
)
MATTHEWS = Measure(
    "matthews",
    "Matthews' correlation",
    lambda counts: float(_matthews(np.array([list(counts)], np.int64))[0]),
    _matthews,
    definition="the correlation of the two verdicts",
    source="Matthews, Comparison of the predicted and observed secondary structure of T4 phage lysozyme, 1975",
)


def _read(destination: Destination, *, from_file: Sequence[Path]) -> Collection:
    parts = [json.loads(path.read_text("utf-8")) for path in from_file]
    return Collection(
        tuple(query_of(row) for part in parts for row in part["queries"]),
        tuple(function_of(row) for part in parts for row in part["corpus"]),
        tuple(qrel_of(row, destination.scale) for part in parts for row in part["qrels"]),
    )


def _write(found: Collection, relevant_from: Mapping[str, float]) -> dict[str, bytes]:
    document = {
        "relevant_from": dict(relevant_from),
        "queries": [query_row(query) for query in found.queries],
        "corpus": [function_row(function) for function in found.corpus or ()],
        "qrels": [qrel_row(qrel) for qrel in found.qrels],
    }
    return {"collection.json": json.dumps(document).encode("utf-8")}


LINES = Format(
    "lines",
    "Import a collection in one file.",
    "Everything is in it.",
    ("judge import lines --from-file a.json --data collection",),
    (Input("from_file", "file", "FILE", "A file of it; repeatable.", repeatable=True),),
    _read,
    _write,
)

if __name__ == "__main__":
    measures.register(JACCARD)
    measures.register(MATTHEWS)
    formats.register(LINES)
    cli.run()
