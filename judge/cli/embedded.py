"""The embedding as the commands use it: its vectors completed, its cosines calibrated, and what it lacks said in a note."""

from collections.abc import Iterable, Sequence

from judge.cli import endpoints
from judge.cli.workspace import Workspace, note
from pools.dataset.records import Function, Query
from pools.engines import calibration, vectors
from pools.engines.calibration import Calibration
from pools.engines.vectors import Embedder, Similarity, Vectors
from pools.errors import UsageError
from pools.relevance import is_relevant
from pools.retrievers import embedding
from pools.sampling.hits import Hit


def search(
    workspace: Workspace, language: str, *, queries: Sequence[Query], functions: Sequence[Function]
) -> tuple[Hit, ...] | None:
    """Return the embedding's hits; None, with a note, where a package or the ratings to calibrate it with are missing."""
    made = complete(workspace, language, queries=queries, functions=functions)
    similar = vectors.between(made, queries, functions=functions)
    learned = None if similar is None else _calibrate(workspace, language, queries=queries, similar=similar)
    if made is None or learned is None:
        return None
    return embedding.search(
        queries, functions, vectors=made, calibration=learned, threshold=workspace.settings.embedding.threshold
    )


def complete(workspace: Workspace, language: str, *, queries: Sequence[Query], functions: Sequence[Function]) -> Vectors | None:
    """Return the vectors of all searches and functions, made where missing; None, with a note, where a package is."""
    settings = workspace.settings.embedding
    try:
        embedder = embedding.embedder(settings, endpoints.vectorising(workspace.settings) if settings.base_url else None)
    except UsageError as error:
        note(f"{language}: embedding left out: {error}")
        return None
    texts = [query.search for query in queries] + [function.code for function in functions]
    return _complete(workspace, language, embedder=embedder, texts=texts)


def similarity(
    workspace: Workspace, language: str, *, queries: Sequence[Query], functions: Sequence[Function]
) -> Similarity | None:
    """Return the cosines of the vectors that are on disk, None where a search or a function has none."""
    path = vectors.path(workspace.folder, language, settings=workspace.settings.embedding)
    return vectors.between(vectors.read(path), queries, functions=functions)


def _complete(workspace: Workspace, language: str, *, embedder: Embedder, texts: Iterable[str]) -> Vectors:
    from tqdm import tqdm

    with tqdm(desc=f"{language} embedding", unit=" texts", disable=None) as bar:

        def progress(done: int, of: int) -> None:
            bar.total = of
            bar.update(done - bar.n)

        path = vectors.path(workspace.folder, language, settings=workspace.settings.embedding)
        return vectors.complete(path, embedder, texts=texts, progress=progress)


def _calibrate(workspace: Workspace, language: str, *, queries: Sequence[Query], similar: Similarity) -> Calibration | None:
    experts = workspace.dataset.experts_of(language)
    relevant = {pair: is_relevant(given, workspace.settings.relevant_from) for pair, given in experts.items()}
    tuning = {query.search_id for query in queries if query.split == "tuning"}
    learned = calibration.fit({pair: similar.cosine(pair) for pair in experts}, relevant, tuning=tuning)
    if learned is None:
        note(
            f"{language}: embedding left out: its hits are told by expert ratings, of at least {calibration.LEAST_SEARCHES} "
            f"searches, {calibration.LEAST_PAIRS} relevant pairs and {calibration.LEAST_PAIRS} others; have more pairs rated"
        )
        return None
    calibration.write(calibration.path(workspace.folder, language, retriever="embedding"), learned, model=similar.embedder)
    source = "the tuning split" if learned.learned_from == "tuning" else "all rated searches"
    note(
        f"{language}: embedding calibrated on {source}; on searches it did not see: Brier score {learned.brier:.4f}, "
        f"{learned.base_rate_brier:.4f} by the base rate, {learned.pairs} pairs"
    )
    if learned.curve.slope <= 0:
        note(
            f"{language}: embedding left out: its cosine does not tell relevant pairs from others; try another embedding.model"
        )
        return None
    return learned
