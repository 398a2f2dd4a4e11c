"""BM25 (Robertson's Okapi), through bm25s: how much the telling words of a search weigh in each of many texts.

Whatever weighs words here goes by this one: the functions that a search's words find (`search`), and the scores and rarities
that the baseline judge looks at (`Index`, `rarity`).
"""

import math
from collections.abc import Sequence
from typing import Any

from pools._dataset.records import Function, Query
from pools._engines import codewords
from pools._sampling.hits import Hit

# Lucene's defaults, the ones that a reader will expect of a BM25 without further words.
K1 = 1.2
B = 0.75
PLACES = 6
"""Decimals of a hit's score; what differs only beyond them is a tie."""


def rarity(holders: int, texts: int) -> float:
    """Return a word's inverse document frequency in Lucene's form: ln(1 + (N - n + 0.5) / (n + 0.5)), above 0."""
    return math.log1p((texts - holders + 0.5) / (holders + 0.5))


class Index:
    """Texts, each as the list of its words, counted once for any number of searches."""

    def __init__(self, texts: Sequence[list[str]]) -> None:
        self._size = len(texts)
        self._counted = _counted(texts) if any(texts) else None

    def scores(self, words: Sequence[str]) -> Any:
        """Return the score of every text for some words, each of them once, as an array of floats in the order of the texts.

        It is BM25 in Lucene's form (Kamphuis et al., Which BM25 Do You Mean?, 2020): the sum over the words of
        rarity * f / (f + k1 * (1 - b + b * length / mean length)); 0 where a text holds none of them.
        """
        import numpy

        known = [word for word in words if self._counted is not None and word in self._counted.vocab_dict]
        return self._counted.get_scores(known) if self._counted is not None and known else numpy.zeros(self._size)


def _counted(texts: Sequence[list[str]]) -> Any:
    import bm25s

    index = bm25s.BM25(method="lucene", k1=K1, b=B, dtype="float64", backend="numpy")
    index.index(texts, show_progress=False)
    return index


def search(queries: Sequence[Query], functions: Sequence[Function], *, depth: int) -> tuple[Hit, ...]:
    """Return each search's `depth` best functions among those with a score above 0, ties in the order of their ids.

    Searches and code are split by the words of identifiers (`pools._engines.codewords`), so "read file" finds `readFile` and
    `read_file`. Words that only hold a search together (`codewords.STOP_WORDS`) do not count unless it has no others.
    """
    import numpy

    ordered = sorted(functions, key=lambda function: function.id)
    index = Index([codewords.split(function.code) for function in ordered])
    hits = []
    for query in queries:
        scores = numpy.round(index.scores(codewords.of_search(query.search)), PLACES)
        best = [place for place in numpy.argsort(-scores, kind="stable")[:depth].tolist() if scores[place] > 0]
        hits += [
            Hit(query.search_id, ordered[place].id, rank, float(scores[place])) for rank, place in enumerate(best, start=1)
        ]
    return tuple(hits)
