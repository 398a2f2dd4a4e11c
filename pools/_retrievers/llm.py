"""llm: of one pair at a time an LLM says yes or no, and the probabilities of its first token say how surely.

This module holds what is no matter of networks or files: which pairs are worth a question, and which of those answered are
hits (`pools._engines.yes_or_no` says what an answer is). Who asks is passed in.

Which pairs are asked about is told by two rankings, BM25's and the embedding's, which have nothing in common but that they
are rankings, so they are joined by reciprocal rank fusion (Cormack, Clarke and Buettcher, 2009).
"""

from collections.abc import Mapping, Sequence

from pools._dataset.partition import Partition
from pools._dataset.records import Function, PairKey, Query
from pools._engines import okapi, vectors
from pools._engines.vectors import Vectors
from pools._engines.yes_or_no import Answered, YesOrNo
from pools._retrievers.retriever import Access, LeftOut, Note, Retriever
from pools._sampling.hits import Hit

FUSION = 60
"""The k of reciprocal rank fusion, as its authors chose it."""

Ranking = Mapping[str, Sequence[str]]
"""Functions by search, best first."""


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


def nearest(queries: Sequence[Query], functions: Sequence[Function], *, made: Vectors, most: int) -> dict[str, list[str]]:
    """Return each search's `most` functions of the greatest cosine, equal ones by id; every text must have a vector."""
    import numpy

    ordered = sorted(functions, key=lambda function: function.id)
    cosines = numpy.empty((len(queries), len(ordered)), dtype=numpy.float32)
    for start, block in vectors.cosines(made, queries, functions=ordered):
        cosines[:, start : start + block.shape[1]] = block
    return {
        query.search_id: [ordered[place].id for place in numpy.argsort(-row, kind="stable")[:most].tolist()]
        for query, row in zip(queries, cosines, strict=True)
    }


def pairs(partition: Partition, made: Vectors | None, *, note: Note) -> tuple[PairKey, ...]:
    """Return the pairs that are worth a question: all of them, or the best `llm.prefilter` of each search.

    These are the best by BM25 and by the cosines of `made` together, by BM25 alone, with a note, where that is None.
    """
    queries, functions, most = partition.queries, partition.functions, partition.settings.llm.prefilter
    if not most:
        return tuple((query.search_id, function.id) for query in queries for function in functions)
    deep = depth(most)
    rankings: list[Ranking] = [ranking_of(okapi.search(queries, functions, depth=deep))]
    if made is None:
        note(f"{partition.language}: llm.prefilter goes by bm25 alone, as there are no vectors")
    else:
        rankings.append(nearest(queries, functions, made=made, most=deep))
    return best(queries, rankings, most=most)


def _ask(partition: Partition, access: Access) -> tuple[Hit, ...] | LeftOut:
    """Ask about every pair worth it, and return the hits among all that was ever answered of them."""
    if access.answer is None:
        return LeftOut("there is nobody to ask; pass a function that answers")
    asked = pairs(partition, _vectors(partition, access), note=access.note)
    answered = access.answer(asked)
    found = hits(answered.answers, partition.settings.llm.threshold)
    _tell(partition.language, answered, note=access.note, counts=(len(asked), len(found)))
    return found


def _vectors(partition: Partition, access: Access) -> Vectors | None:
    if not partition.settings.llm.prefilter:
        return None
    made = access.vectors(partition)
    if isinstance(made, LeftOut):
        access.note(f"{partition.language}: embedding left out: {made.reason}")
        return None
    return made


def _tell(language: str, answered: Answered, *, note: Note, counts: tuple[int, int]) -> None:
    asked, found = counts
    note(f"{language}: llm was asked about {asked} pairs: {answered.yes} yes, {found} hits")
    if answered.failed:
        reasons = sorted(set(answered.failed.values()))[:3]
        note(f"{language}: {len(answered.failed)} pairs got no yes or no ({'; '.join(reasons)}), and are no hits of llm")
    if answered.without_probability:
        note(
            f"{language}: {answered.without_probability} answers came without log-probabilities of yes and no; these pairs "
            "have no probability, and a yes alone makes a hit"
        )


RETRIEVER = Retriever(
    "llm",
    "functions of which an LLM, asked about one pair at a time, says that they answer the search",
    _ask,
    needs=("an LLM (--model, llm.model or judge.model)",),
)
