"""Where an LLM is asked: model, address and key put together from what a step is given, the environment and judge.toml.

It stands with the steps, because a client of `judge._endpoint` knows nothing of settings or of the environment.
"""

import asyncio
import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from judge._endpoint.client import Client
from pools._dataset.settings import Settings
from pools.errors import UsageError

KEY = "OPENAI_API_KEY"
TEXTS_PER_REQUEST = 64


def client(
    settings: Settings, model: str | None, *, base_url: str | None, sampling: Mapping[str, Any], concurrency: int | None = None
) -> Client:
    """Return a client; what is None comes from judge.toml. The key is read from the environment and kept nowhere else."""
    return Client(
        base_url or settings.judge.base_url,
        os.environ.get(KEY, "").strip(),
        model=model_name(settings, model),
        sampling=sampling,
        concurrency=concurrency or settings.judge.concurrency,
        timeout=settings.judge.timeout,
    )


def model_name(settings: Settings, model: str | None) -> str:
    """Return the model asked for, or judge.toml's; raises `UsageError` where neither names one."""
    name = model or settings.judge.model
    if not name:
        raise UsageError("no model is named; name one with --model or judge.model in judge.toml, or use --judge baseline")
    return name


def asking(settings: Settings, model: str | None, *, base_url: str | None) -> Callable[[str], str]:
    """Return a function that sends one prompt and returns the reply's text, for those who ask seldom and in order."""
    sampling = {"temperature": settings.judge.temperature, "max_tokens": settings.judge.max_tokens}

    def ask(prompt: str) -> str:
        async def once() -> str:
            async with client(settings, model, base_url=base_url, sampling=sampling, concurrency=1) as asked:
                return (await asked.ask(prompt)).text

        return asyncio.run(once())

    return ask


def vectorising(settings: Settings) -> Callable[[Sequence[str]], list[list[float]]]:
    """Return a function that has the endpoint of `[embedding]` give the vectors of some texts, several requests at a time."""

    def vectorise(texts: Sequence[str]) -> list[list[float]]:
        async def all_of_them() -> list[list[float]]:
            async with client(settings, settings.embedding.model, base_url=settings.embedding.base_url, sampling={}) as asked:
                starts = range(0, len(texts), TEXTS_PER_REQUEST)
                found = await asyncio.gather(*(asked.embed(texts[start : start + TEXTS_PER_REQUEST]) for start in starts))
            return [vector for vectors in found for vector in vectors]

        return asyncio.run(all_of_them())

    return vectorise
