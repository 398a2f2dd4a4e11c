"""What a retriever is: a record that says what it finds, what it needs, and the function that finds it.

A retriever is one module of this package with its record under the name `RETRIEVER`, or such a record in a package of someone
else's (`pools._retrievers.registry`). It knows no network and no terminal; what it reaches beyond the partition, it is given.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeVar

from pools._dataset.partition import Partition
from pools._dataset.records import PairKey
from pools._engines import embedders, vectors
from pools._engines.embedders import Vectorise
from pools._engines.vectors import Vectors
from pools._engines.yes_or_no import Answered
from pools._sampling.hits import Hit
from pools.errors import UsageError

NAME = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
"""A retriever's name, which is its hits file's too."""

T = TypeVar("T")
Note = Callable[[str], None]
"""Takes a line that a person should know."""


class Listener(Protocol):
    """Takes how far a retriever is: `done` of `total`, each a `unit`, of a stage with a name."""

    def __call__(self, stage: str, done: int, *, total: int, unit: str) -> None: ...


def _ignore(*_: object, **__: object) -> None:
    """Do nothing with a note or progress."""


@dataclass(frozen=True, slots=True)
class Llm:
    """An LLM that is asked seldom and in order: its name, and the function that sends a prompt and returns the reply's text."""

    model: str
    ask: Callable[[str], str]


@dataclass(frozen=True, slots=True)
class LeftOut:
    """What a retriever returns that cannot run, instead of hits: why, and what to do, for the note that says so."""

    reason: str


@dataclass(frozen=True, slots=True)
class Access:
    """What the retrievers of one partition reach beyond it.

    `llm` is the LLM that is named, None where none is. `vectorise` asks the endpoint that `[embedding]` names, None where it
    names none. `answer` asks an LLM about pairs, one at a time, and returns what is known of them; it raises `Stopped` where a
    limit, the endpoint or the user ends that early, and is None unless `pool.retrievers` names `llm`.
    """

    llm: Llm | None = None
    vectorise: Vectorise | None = None
    answer: Callable[[Sequence[PairKey]], Answered] | None = None
    note: Note = _ignore
    progress: Listener = _ignore
    kept: dict[str, Any] = field(default_factory=dict)

    def once(self, name: str, make: Callable[[], T]) -> T:
        """Return what `make` returns, made at the first call under this name: work that several retrievers share."""
        if name not in self.kept:
            self.kept[name] = make()
        found: T = self.kept[name]
        return found

    def vectors(self, partition: Partition) -> Vectors | LeftOut:
        """Return the vectors of all searches and functions, made where missing, or the package that this takes.

        Raises `UsageError` for a model that cannot be had, `Stopped` where an endpoint fails.
        """
        try:
            embedder = embedders.embedder(partition.settings.embedding, self.vectorise)
        except UsageError as error:
            return LeftOut(str(error))

        def progress(done: int, total: int) -> None:
            self.progress("embedding", done, total=total, unit="text")

        return self.once("vectors", lambda: vectors.completed(partition, embedder, progress=progress))


@dataclass(frozen=True, slots=True)
class Retriever:
    """Something that flags functions for the searches of a partition.

    `about` says in a line which functions it returns, `needs` what it cannot do without, each in a few words. `hits` returns
    the hits of all searches in any order, ranks from 1 within each search, or that it is left out; the result depends on
    partition and access alone. A pair that only `loose` retrievers returned is sampled instead of judged in any case, and their
    hits count to any depth. Raises `ValueError` for a name that is none.
    """

    name: str
    about: str
    hits: Callable[[Partition, Access], Iterable[Hit] | LeftOut]
    needs: tuple[str, ...] = ()
    loose: bool = False

    def __post_init__(self) -> None:
        if not NAME.fullmatch(self.name):
            raise ValueError(f"a retriever's name is of small letters, digits and single hyphens, which {self.name!r} is not")
