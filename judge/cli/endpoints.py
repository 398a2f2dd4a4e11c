"""Where an LLM is asked: model, address and key put together from command line, environment and judge.toml."""

import asyncio
import os
from collections.abc import Callable, Mapping
from typing import Any

from judge.client import Client
from pools.errors import UsageError
from pools.settings import Settings

KEY = "OPENAI_API_KEY"


def client(
    settings: Settings, model: str | None, base_url: str | None, sampling: Mapping[str, Any], concurrency: int | None = None
) -> Client:
    """Return a client; what is None comes from judge.toml. The key is read from the environment and kept nowhere else."""
    return Client(
        base_url or settings.judge.base_url,
        os.environ.get(KEY, "").strip(),
        model_name(settings, model),
        sampling,
        concurrency or settings.judge.concurrency,
        settings.judge.timeout,
    )


def model_name(settings: Settings, model: str | None) -> str:
    """Return the model asked for, or judge.toml's; raises `UsageError` where neither names one."""
    name = model or settings.judge.model
    if not name:
        raise UsageError("no model is named; name one with --model or judge.model in judge.toml, or use --judge baseline")
    return name


def asking(settings: Settings, model: str | None, base_url: str | None) -> Callable[[str], str]:
    """Return a function that sends one prompt and returns the reply's text, for those who ask seldom and in order."""
    sampling = {"temperature": settings.judge.temperature, "max_tokens": settings.judge.max_tokens}

    def ask(prompt: str) -> str:
        async def once() -> str:
            async with client(settings, model, base_url, sampling, 1) as asked:
                return (await asked.ask(prompt)).text

        return asyncio.run(once())

    return ask
