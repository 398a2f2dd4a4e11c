"""BM25: the functions that share the most telling words with a search, best first, through bm25s.

Searches and code are split by the words of identifiers (`pools.engines.codewords`), so "read file" finds `readFile` and
`read_file`. Any shared word makes a score, so what a hit is has to be a matter of depth: the best so many of each search.
"""

from collections.abc import Sequence
from typing import Any

from pools.dataset.records import Function, Query
from pools.engines import codewords
from pools.sampling.hits import Hit

# Lucene's defaults, the ones that a reader will expect of a BM25 without further words.
K1 = 1.2
B = 0.75
PLACES = 6
"""Decimals of a score; what differs only beyond them is a tie."""


def search(queries: Sequence[Query], functions: Sequence[Function], *, depth: int) -> tuple[Hit, ...]:
    """Return each search's `depth` best functions among those with a score above 0, ties in the order of their ids.

    The score is BM25 in Lucene's form (Kamphuis et al., Which BM25 Do You Mean?, 2020): the sum over the search's words, each
    once, of ln(1 + (N - n + 0.5) / (n + 0.5)) * f / (f + k1 * (1 - b + b * length / mean length)). Words that only hold a
    search together (`codewords.STOP_WORDS`) do not count unless it has no others.
    """
    import numpy

    ordered = sorted(functions, key=lambda function: function.id)
    index = _index([codewords.split(function.code) for function in ordered])
    hits = []
    for query in queries:
        words = [word for word in codewords.of_search(query.search) if index is not None and word in index.vocab_dict]
        if not words:
            continue
        scores = numpy.round(index.get_scores(words), PLACES)
        best = [place for place in numpy.argsort(-scores, kind="stable")[:depth].tolist() if scores[place] > 0]
        hits += [
            Hit(query.search_id, ordered[place].id, rank, float(scores[place])) for rank, place in enumerate(best, start=1)
        ]
    return tuple(hits)


def _index(documents: list[list[str]]) -> Any:
    """Return bm25s's index, None where there is no word to be found."""
    import bm25s

    if not any(documents):
        return None
    index = bm25s.BM25(method="lucene", k1=K1, b=B, dtype="float64", backend="numpy")
    index.index(documents, show_progress=False)
    return index
