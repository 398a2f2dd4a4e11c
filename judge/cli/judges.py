"""Judges and the pairs they get, made from a dataset and its settings."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from judge.batching.batches import Item
from judge.cli.workspace import Workspace
from judge.endpoint.client import Client, preload
from judge.judges.identity import Identity
from judge.judges.llm_judge import LlmJudge
from judge.rating.rating import Judge
from judge.steps import endpoints
from pools.dataset.partition import Partition
from pools.engines import vectors
from pools.errors import UsageError
from pools.sampling import pooled
from prompts import templates

if TYPE_CHECKING:
    from judge.judges.baseline import Baseline


def make(workspace: Workspace, language: str, *, name: str, model: str | None, base_url: str | None) -> Judge:
    """Return the LLM or the baseline as a judge of one language; raises `UsageError` for what they lack."""
    if name == "baseline":
        return baseline(workspace, language)
    chosen = identity(workspace, model)
    client = endpoints.client(workspace.settings, model, base_url=base_url, sampling=chosen.sampling)
    preload()
    return LlmJudge(chosen, client)


def baseline(workspace: Workspace, language: str) -> "Baseline":
    """Return the baseline judge, with the cosines where the embedding has left its vectors; raises as it does."""
    from judge.judges.baseline import Baseline

    data = workspace.dataset
    queries, functions = data.queries_of(language), data.functions_of(language)
    similar = vectors.similarity(Partition(language, workspace.settings, workspace.scale, data))
    return Baseline(
        queries,
        functions,
        experts=data.experts_of(language),
        scale=workspace.scale,
        settings=workspace.settings,
        similarity=similar,
    )


def identity(workspace: Workspace, model: str | None) -> Identity:
    """Return the identity of the LLM judge that the settings describe; raises `UsageError` for what they lack."""
    settings = workspace.settings.judge
    try:
        prompt = templates.text(settings.prompt, folder=workspace.folder)
    except ValueError as error:
        raise UsageError(f"judge.prompt: {error}") from error
    return Identity(
        endpoints.model_name(workspace.settings, model),
        prompt,
        workspace.scale,
        settings.shown_characters,
        settings.pairs_per_batch,
        {"temperature": settings.temperature, "max_tokens": settings.max_tokens},
        settings.redact,
    )


@asynccontextmanager
async def opened(judge: Judge) -> AsyncIterator[None]:
    """Keep a judge's connections open for one run of the event loop."""
    client = judge.client if isinstance(judge, LlmJudge) else None
    if isinstance(client, Client):
        async with client:
            yield
    else:
        yield


def items(workspace: Workspace, language: str) -> tuple[list[Item], list[Item]]:
    """Return the expert-rated pairs and the rest of the pool, each with the texts that the judge sees."""
    data = workspace.dataset
    searches = {query.search_id: query.search for query in data.queries_of(language)}
    codes = {function.id: function.code for function in data.functions_of(language)}
    validation = sorted(data.experts_of(language))
    path = pooled.path(workspace.folder, language)
    pairs = pooled.read_pairs(path) if path.is_file() else []
    for search_id, function_id in pairs:
        if search_id not in searches or function_id not in codes:
            raise UsageError(
                f"{path}: has {search_id} {function_id}, which the dataset lacks; run `judge pool --lang {language}` again"
            )
    known = set(validation)
    return (
        [Item(pair, searches[pair[0]], codes[pair[1]]) for pair in validation],
        [Item(pair, searches[pair[0]], codes[pair[1]]) for pair in pairs if pair not in known],
    )
