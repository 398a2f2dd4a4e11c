"""llm: of one pair at a time an LLM says yes or no, and the probabilities of its first token say how surely.

This module holds what is no matter of networks or files: which pairs are worth a question, what an answer says, and which
pairs are hits. An answer that is neither yes nor no is not made into one, and an endpoint that tells no probabilities leaves
a pair without one.

Which pairs are asked about is told by two rankings, BM25's and the embedding's, which have nothing in common but that they
are rankings, so they are joined by reciprocal rank fusion (Cormack, Clarke and Buettcher, 2009).
"""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pools.dataset.records import Function, PairKey, Query
from pools.engines.vectors import PLACES, Vectors
from pools.sampling.hits import Hit

FUSION = 60
"""The k of reciprocal rank fusion, as its authors chose it."""
BLOCK = 16_384
"""Functions compared with all searches at a time; bounds the memory."""

Ranking = Mapping[str, Sequence[str]]
"""Functions by search, best first."""

_WORD = re.compile(r"[^\W_]+")
_THOUGHT = re.compile(r".*</think(?:ing)?>", re.IGNORECASE | re.DOTALL)
# How byte-level tokenizers show a space, where an endpoint gives tokens as the tokenizer names them.
_SPACES = "\u0120\u2581"


@dataclass(frozen=True, slots=True)
class YesOrNo:
    """What an LLM said of a pair: `yes` is None for neither; `probability` is that of yes against no, None where not told."""

    yes: bool | None
    probability: float | None


def read(text: str, finish_reason: str | None, *, logprobs: Sequence[tuple[str, float]]) -> YesOrNo:
    """Read an answer and the log-probabilities of its first token.

    The answer is what its first word says, without regard to case and punctuation, and after a model's thinking if there is
    any. It is neither where that word is another one, where both words occur, and where a content filter cut in.
    """
    words = _WORD.findall(_THOUGHT.sub("", text).casefold())
    said = {"yes", "no"} & set(words)
    if finish_reason == "content_filter" or len(said) != 1 or words[0] not in said:
        return YesOrNo(None, None)
    return YesOrNo(words[0] == "yes", probability(logprobs))


def probability(logprobs: Sequence[tuple[str, float]]) -> float | None:
    """Return p(yes) / (p(yes) + p(no)), from 0 to 1, each the sum over all tokens that spell the word.

    `logprobs` are tokens with the natural logarithm of their probability. Case, spaces and punctuation around a word are no
    matter. None where neither word is among the tokens, and for a single token, which is set against nothing.
    """
    sums = {"yes": 0.0, "no": 0.0}
    for token, figure in logprobs:
        words = _WORD.findall(token.strip(_SPACES).casefold())
        if len(words) == 1 and words[0] in sums:
            sums[words[0]] += math.exp(figure)
    total = sums["yes"] + sums["no"]
    return sums["yes"] / total if len(logprobs) > 1 and total else None


def hits(answers: Mapping[PairKey, YesOrNo], threshold: float) -> tuple[Hit, ...]:
    """Return the pairs that were answered with yes, or whose probability is at least `threshold`.

    A hit's score is 1 for yes and 0 for no, as it was said. Ranks go by falling probability, then by id; a yes without a
    probability ranks like a sure one.
    """
    by_search: dict[str, list[tuple[float, str, YesOrNo]]] = {}
    for (search_id, function_id), answer in answers.items():
        known = answer.probability
        if answer.yes or (answer.yes is not None and known is not None and known >= threshold):
            by_search.setdefault(search_id, []).append((-1.0 if known is None else -known, function_id, answer))
    return tuple(
        Hit(search_id, function_id, rank, float(answer.yes or 0), answer.probability)
        for search_id, found in sorted(by_search.items())
        for rank, (_, function_id, answer) in enumerate(sorted(found, key=lambda entry: entry[:2]), start=1)
    )


def depth(most: int) -> int:
    """Return how deep a ranking is looked at for the best `most` of several together.

    The last of the best scores at least 1 / (60 + most), and what stands deeper than this in both of two rankings less.
    """
    return 2 * most + FUSION


def best(queries: Sequence[Query], rankings: Sequence[Ranking], *, most: int) -> tuple[PairKey, ...]:
    """Return the pairs of each search's `most` best functions in several rankings together, sorted.

    A function's score is the sum of 1 / (60 + rank) over the rankings, to their `depth`, that have it; equal ones go by id.
    A search has fewer pairs where its rankings hold fewer functions.
    """
    out: list[PairKey] = []
    for query in queries:
        scores: dict[str, float] = {}
        for ranking in rankings:
            for rank, function_id in enumerate(ranking.get(query.search_id, ())[: depth(most)], start=1):
                scores[function_id] = scores.get(function_id, 0.0) + 1 / (FUSION + rank)
        chosen = sorted(scores, key=lambda name: (-scores[name], name))[:most]
        out += [(query.search_id, function_id) for function_id in chosen]
    return tuple(sorted(out))


def ranking_of(hits: Sequence[Hit]) -> dict[str, list[str]]:
    """Return a retriever's hits as a ranking."""
    out: dict[str, list[str]] = {}
    for hit in sorted(hits, key=lambda hit: (hit.search_id, hit.rank)):
        out.setdefault(hit.search_id, []).append(hit.function_id)
    return out


def nearest(queries: Sequence[Query], functions: Sequence[Function], *, vectors: Vectors, most: int) -> dict[str, list[str]]:
    """Return each search's `most` functions of the greatest cosine, equal ones by id; every text must have a vector."""
    import numpy

    ordered = sorted(functions, key=lambda function: function.id)
    searches = vectors.of(query.search for query in queries).astype(numpy.float64)
    cosines = numpy.empty((len(queries), len(ordered)), dtype=numpy.float32)
    for start in range(0, len(ordered), BLOCK):
        rows = vectors.of(function.code for function in ordered[start : start + BLOCK]).astype(numpy.float64)
        cosines[:, start : start + BLOCK] = numpy.round(searches @ rows.T, PLACES)
    return {
        query.search_id: [ordered[place].id for place in numpy.argsort(-row, kind="stable")[:most].tolist()]
        for query, row in zip(queries, cosines, strict=True)
    }
