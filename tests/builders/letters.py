"""An endpoint for embeddings whose vectors count letters, or one that answers something else."""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from tests.builders import host
from tests.builders.host import Host, Reply, Request

Body = dict[str, Any]


class Embedding:
    """An endpoint that is running: where it is, and the paths and bodies that it was asked."""

    def __init__(self, running: Host) -> None:
        self._running = running

    @property
    def url(self) -> str:
        return f"{self._running.url}/v1"

    @property
    def asked(self) -> list[tuple[str, Body]]:
        return [(request.path, json.loads(request.body)) for request in self._running.requests]


def letters(text: str) -> list[float]:
    """How often each letter is in a text, and 1."""
    return [1.0, *(float(text.lower().count(letter)) for letter in "abcdefghijklmnopqrstuvwxyz")]


def sound(_number: int, body: Body) -> tuple[int, Body]:
    """The vectors of the texts asked for, the last first, as an endpoint may send them."""
    entries = [{"index": place, "embedding": letters(text)} for place, text in enumerate(body["input"])]
    return 200, {"object": "list", "data": entries[::-1], "model": body["model"]}


@contextmanager
def serve(answer: Callable[[int, Body], tuple[int, Body]]) -> Iterator[Embedding]:
    """Run an endpoint that answers the number of a request (from 0) and its body with a status and a document."""

    def reply(request: Request) -> Reply:
        status, document = answer(request.number, json.loads(request.body))
        return status, {}, json.dumps(document).encode()

    with host.serve(reply) as running:
        yield Embedding(running)
