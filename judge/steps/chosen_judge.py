"""The judge that is chosen, made from a partition and its settings."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from judge._endpoint.client import Client, preload
from judge._judges import JUDGES
from judge._judges.identity import Identity
from judge._judges.llm_judge import LlmJudge
from judge._rating.live import Judge
from judge.steps import endpoints
from pools._dataset.partition import Partition
from pools.errors import UsageError
from prompts import templates

if TYPE_CHECKING:
    from judge._judges.baseline import Baseline


def make(partition: Partition, name: str, *, model: str | None, base_url: str | None) -> Judge:
    """Return the judge of that name, one of `JUDGES`, for one language; raises `UsageError` for what it lacks."""
    if name not in JUDGES:
        raise UsageError(f"no judge {name!r}; valid are {', '.join(JUDGES)}")
    if name == "baseline":
        return baseline(partition)
    chosen = identity(partition, model)
    client = endpoints.client(partition.settings, model, base_url=base_url, sampling=chosen.sampling)
    preload()
    return LlmJudge(chosen, client)


def baseline(partition: Partition) -> "Baseline":
    """Return the baseline judge, with the cosines where the embedding has left its vectors; raises as it does."""
    from judge._judges.baseline import Baseline
    from pools._engines import vectors

    settings = partition.settings
    return Baseline(
        partition.queries,
        partition.functions,
        experts=partition.experts,
        scale=partition.scale,
        settings=settings,
        similarity=vectors.similarity(partition),
    )


def identity(partition: Partition, model: str | None) -> Identity:
    """Return the identity of the LLM judge that the settings describe; raises `UsageError` for what they lack."""
    settings = partition.settings.judge
    try:
        prompt = templates.text(settings.prompt, folder=partition.folder)
    except ValueError as error:
        raise UsageError(f"judge.prompt: {error}") from error
    return Identity(
        endpoints.model_name(partition.settings, model),
        prompt,
        partition.scale,
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
