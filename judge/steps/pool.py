"""Pooling: the hits of the retrievers, and the pool that is drawn from them; or what asking for them would take."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from judge._judges import questions
from judge._judges.questions import Answers
from judge._rating.money import Limits
from judge.steps import retrieval
from judge.steps.progress import Listener, Note, ignore
from judge.steps.retrieval import Asked, Found, Terms
from pools._dataset.folder import DatasetFolder
from pools._dataset.partition import Partition
from pools._engines import vectors
from pools._retrievers import llm, registry
from pools._retrievers.retriever import Retriever
from pools._sampling import contribution, frame, pooled
from pools._sampling import hits as hit_files
from pools._sampling.contribution import Contributions
from pools._sampling.frame import Frame
from pools._sampling.pooled import PoolPair
from pools.errors import UsageError
from pools.relevance import is_relevant


@dataclass(frozen=True, slots=True)
class DrawnPool:
    """One language's pool as it was drawn.

    `pairs` are to be judged beside the `validation` pairs, which experts rated; `strata` counts them, and `new` are those that
    no earlier drawing had. `hits` counts each retriever's. `pool` holds all of them, and `asked` what `llm` was asked, None
    where it was not.
    """

    language: str
    pairs: int
    validation: int
    strata: Mapping[str, int]
    new: int
    hits: Mapping[str, int]
    seed: int
    contribution: Contributions
    pool: tuple[PoolPair, ...]
    asked: Asked | None = None

    def document(self) -> dict[str, Any]:
        """Return the figures as JSON has them."""
        return {
            "language": self.language,
            "pairs": self.pairs,
            "validation": self.validation,
            "strata": dict(self.strata),
            "new": self.new,
            "hits": dict(self.hits),
            "seed": self.seed,
            "contribution": self.contribution.document(),
            "pool": [_provenance(pair) for pair in self.pool],
            **({} if self.asked is None else {"llm": self.asked.document()}),
        }


@dataclass(frozen=True, slots=True)
class Plan:
    """What `llm` would take in one language: of `pairs` worth a question, so many `requests` as have no answer yet.

    Tokens are estimated from the characters; `cost` is in US dollars, None where judge.toml has no prices.
    """

    language: str
    retriever_id: str
    model: str
    pairs: int
    requests: int
    characters: int
    prompt_tokens: int
    completion_tokens: int
    cost: float | None

    def document(self) -> dict[str, Any]:
        """Return the figures as JSON has them."""
        return asdict(self)


def pool(
    folder: DatasetFolder,
    *,
    model: str | None = None,
    base_url: str | None = None,
    seed: int | None = None,
    max_cost: float | None = None,
    max_requests: int | None = None,
    max_pairs: int | None = None,
    note: Note = ignore,
    progress: Listener = ignore,
) -> tuple[DrawnPool, ...]:
    """Run the retrievers that judge.toml names over each language, write their hits, and draw and write the pool.

    What is None comes from judge.toml; the limits are for `llm` and for all languages together. Raises `UsageError` and
    `DataError` before anything is written where what is wrong can be known, and `Stopped` where `llm` could not be brought to
    an end; the same call goes on from there.
    """
    retrievers = registry.chosen(folder.settings.pool.retrievers)
    limits = Limits(max_cost, max_requests, max_pairs)
    partitions = list(folder)
    for partition in partitions[:1]:
        retrieval.check(partition, retrievers, terms=Terms(model, base_url, limits))
    frames = [_frame(partition, seed=seed, note=note) for partition in partitions]
    out = []
    for partition, drawn_from in zip(partitions, frames, strict=True):
        terms = Terms(model, base_url, limits, note, progress)
        found = retrieval.retrieve(partition, retrievers, terms=terms)
        limits = found.limits
        out.append(_draw(partition, drawn_from, found=found, retrievers=retrievers))
    return tuple(out)


def plan(folder: DatasetFolder, *, model: str | None = None, note: Note = ignore) -> tuple[Plan, ...]:
    """Return what `llm` would be asked in each language; nothing is sent or written, so only vectors on disk count.

    Raises `UsageError` where judge.toml does not name it, or lacks what it needs.
    """
    if llm.RETRIEVER.name not in {retriever.name for retriever in registry.chosen(folder.settings.pool.retrievers)}:
        raise retrieval.only_for_llm()
    return tuple(_plan(partition, model=model, note=note) for partition in folder)


def _plan(partition: Partition, *, model: str | None, note: Note) -> Plan:
    settings = partition.settings
    chosen = questions.configured(partition, model)
    made = vectors.held(partition) if settings.llm.prefilter else None
    if vectors.between(made, partition.queries, functions=partition.functions) is None:
        made = None
    pairs = llm.pairs(partition, made, note=note)
    answers = Answers.read(questions.path(partition.folder, partition.language))
    found = questions.plan(questions.items(partition, pairs), chosen, answers=answers, settings=settings)
    return Plan(
        partition.language,
        chosen.judge_id,
        chosen.model,
        len(pairs),
        found.batches,
        found.characters,
        found.usage.prompt,
        found.usage.completion,
        found.cost,
    )


def _frame(partition: Partition, *, seed: int | None, note: Note) -> Frame:
    """Return what the samples are drawn from; raises `UsageError` where the pool that is there was drawn with another seed.

    Which functions a pool of an older release was drawn from is not known. It is taken to have been drawn from those of now: no
    pair can then have been left out of a sample by an expert rating that came because of the sample.
    """
    folder, language = partition.folder, partition.language
    ids = [function.id for function in partition.functions]
    wanted, path = partition.settings.seed if seed is None else seed, pooled.path(folder, language)
    earlier = frame.read(frame.path(folder, language)) if path.is_file() else None
    if earlier is None and path.is_file() and ids:
        note(
            f"{language}: {path} does not tell from which functions and with which seed it was drawn; all of its pairs stay, "
            "and its samples are drawn anew, so those of its sampled pairs that are not drawn again count in no estimate"
        )
        return frame.grown(frame.of(ids, wanted), ids)
    if earlier is None:
        return frame.of(ids, wanted)
    if earlier.seed != wanted:
        raise UsageError(
            f"{path}: drawn with seed {earlier.seed}, which a pool keeps when it is drawn again, and not {wanted}; add "
            f"--seed {earlier.seed}, or remove the file to draw another pool"
        )
    return frame.grown(earlier, ids)


def _draw(partition: Partition, drawn_from: Frame, *, found: Found, retrievers: Sequence[Retriever]) -> DrawnPool:
    """Write hits, frame and pool, in this order."""
    folder, language, settings = partition.folder, partition.language, partition.settings
    for retriever, flagged in found.hits.items():
        hit_files.write(hit_files.path(folder, language, retriever=retriever), flagged)
    validation, path = partition.experts, pooled.path(folder, language)
    loose = frozenset(retriever.name for retriever in retrievers if retriever.loose)
    earlier = pooled.read(path) if path.is_file() else ()
    pairs = pooled.draw(
        partition.queries,
        drawn_from,
        hits=found.hits,
        validation=validation,
        settings=settings.pool,
        loose=loose,
        earlier=earlier,
    )
    frame.write(frame.path(folder, language), drawn_from)
    pooled.write(path, pairs)
    judged = [pair for pair in pairs if pair.pair not in validation]
    strata = Counter(pair.stratum for pair in judged)
    gold = [pair for pair, ratings in validation.items() if is_relevant(ratings, settings.relevant_from)]
    return DrawnPool(
        language,
        len(judged),
        len(validation),
        {stratum: strata[stratum] for stratum in pooled.STRATA},
        len({pair.pair for pair in judged} - {pair.pair for pair in earlier}),
        {retriever: len(flagged) for retriever, flagged in found.hits.items()},
        drawn_from.seed,
        contribution.compare(pooled.counted(found.hits, settings.pool.depth, loose=loose), gold),
        pairs,
        found.asked,
    )


def _provenance(pair: PoolPair) -> dict[str, Any]:
    given = zip(pair.retrievers, pair.ranks, pair.scores, strict=True)
    return {
        "search_id": pair.search_id,
        "function_id": pair.function_id,
        "stratum": pair.stratum,
        "probability": pair.probability,
        "returned_by": {retriever: {"rank": rank, "score": score} for retriever, rank, score in given},
    }
