"""embedding: the functions whose vector is so near a search's that they are probably relevant.

How probable a cosine makes that is learned from the expert-rated pairs (`pools._engines.calibration`). Where these are too few,
no vector is made.
"""

from collections.abc import Mapping, Sequence

from pools._dataset.partition import Partition
from pools._dataset.records import Function, PairKey, Query
from pools._engines import calibration, vectors
from pools._engines.calibration import Calibration
from pools._engines.vectors import Vectors
from pools._retrievers.retriever import Access, LeftOut, Note, Retriever
from pools._sampling.hits import Hit
from pools.relevance import is_relevant

NAME = "embedding"
TOO_FEW = (
    f"its hits are told by expert ratings, of at least {calibration.LEAST_SEARCHES} searches, {calibration.LEAST_PAIRS} "
    f"relevant pairs and {calibration.LEAST_PAIRS} others; have more pairs rated"
)
TELLS_NOTHING = "its cosine does not tell relevant pairs from others; try another embedding.model"


def search(
    queries: Sequence[Query],
    functions: Sequence[Function],
    *,
    made: Vectors,
    learned: Calibration,
    threshold: float,
) -> tuple[Hit, ...]:
    """Return the pairs whose cosine makes them relevant with a probability of at least `threshold`.

    A hit has the cosine as its score. Ranks go by falling cosine, then by id. A search whose curve does not rise has no hits.
    """
    import numpy

    ordered = sorted(functions, key=lambda function: function.id)
    near: list[list[tuple[float, str, float]]] = [[] for _ in queries]
    curves = [learned.of_search(query.search_id) for query in queries]
    for start, cosines in vectors.cosines(made, queries, functions=ordered):
        for row, curve, found in zip(cosines, curves, near, strict=True):
            if curve.slope <= 0:
                continue
            # All pairs at once, roughly; the exact figure is needed of the few that are near the threshold or above it.
            rough = 1 / (1 + numpy.exp(-numpy.clip(row * curve.slope + curve.intercept, -30, 30)))
            for place in numpy.flatnonzero(rough >= threshold - 1e-5).tolist():
                cosine = float(row[place])
                probability = curve.probability(cosine)
                if probability >= threshold:
                    found.append((-cosine, ordered[start + place].id, probability))
    return tuple(
        Hit(query.search_id, function_id, rank, -negative, probability)
        for query, found in zip(queries, near, strict=True)
        for rank, (negative, function_id, probability) in enumerate(sorted(found), start=1)
    )


def _hits(partition: Partition, access: Access) -> tuple[Hit, ...] | LeftOut:
    relevant = {pair: is_relevant(given, partition.settings.relevant_from) for pair, given in partition.experts.items()}
    if not calibration.enough(relevant):
        return LeftOut(TOO_FEW)
    made = access.vectors(partition)
    if isinstance(made, LeftOut):
        return made
    learned = _learn(partition, made, relevant=relevant)
    if learned is None:
        return LeftOut(TELLS_NOTHING)
    calibration.write(calibration.path(partition.folder, partition.language, retriever=NAME), learned, model=made.embedder)
    _tell(partition.language, learned, note=access.note)
    if learned.curve.slope <= 0:
        return LeftOut(TELLS_NOTHING)
    threshold = partition.settings.embedding.threshold
    return search(partition.queries, partition.functions, made=made, learned=learned, threshold=threshold)


def _learn(partition: Partition, made: Vectors, *, relevant: Mapping[PairKey, bool]) -> Calibration | None:
    similar = vectors.between(made, partition.queries, functions=partition.functions)
    tuning = {query.search_id for query in partition.queries if query.split == "tuning"}
    return (
        None if similar is None else calibration.fit({pair: similar.cosine(pair) for pair in relevant}, relevant, tuning=tuning)
    )


def _tell(language: str, learned: Calibration, *, note: Note) -> None:
    source = "the tuning split" if learned.learned_from == "tuning" else "all rated searches"
    note(
        f"{language}: embedding calibrated on {source}; on searches it did not see: Brier score {learned.brier:.4f}, "
        f"{learned.base_rate_brier:.4f} by the base rate, {learned.pairs} pairs"
    )


RETRIEVER = Retriever(
    NAME,
    "functions whose vector is near the search's, as far as makes them relevant with embedding.threshold",
    _hits,
    needs=("expert ratings to calibrate it by", "a model of embedding.model (the extra embedding, or an endpoint)"),
)
