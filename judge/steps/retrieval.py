"""The retrievers that judge.toml names, run over a partition with what they reach beyond it: an LLM, endpoints, a person."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from judge._endpoint.client import Client
from judge._judges import questions
from judge._judges.questions import YesNo
from judge._rating.money import NO_LIMITS, Limits
from judge.steps import endpoints
from judge.steps.progress import Listener, Note, Progress, ignore, of_pairs
from pools._dataset.partition import Partition
from pools._dataset.records import PairKey
from pools._engines.yes_or_no import Answered
from pools._retrievers import llm
from pools._retrievers.retriever import Access, LeftOut, Llm, Retriever
from pools._sampling.hits import Hit
from pools.errors import UsageError

NAME = llm.RETRIEVER.name


@dataclass(frozen=True, slots=True)
class Terms:
    """On what terms retrievers run: whom they ask, None for judge.toml's, what `llm` may use at most, and who is told."""

    model: str | None = None
    base_url: str | None = None
    limits: Limits = NO_LIMITS
    note: Note = ignore
    progress: Listener = ignore


@dataclass(frozen=True, slots=True)
class Asked:
    """What `llm` asked in one language, and what came of it.

    Of `pairs` that were worth a question, in this run or an earlier one, `yes` were answered so, `hits` became hits, `neither`
    were given up without an answer, `without_probability` came without log-probabilities. `requests` and `cost`, in US dollars
    or None where nobody tells it, are this run's.
    """

    retriever_id: str
    model: str
    pairs: int
    yes: int
    hits: int
    neither: int
    without_probability: int
    requests: int
    cost: float | None

    def document(self) -> dict[str, Any]:
        """Return the figures as JSON has them."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class Found:
    """The hits of each retriever that was not left out, by name; `limits` is what is left of those that there were."""

    hits: Mapping[str, Sequence[Hit]]
    limits: Limits
    asked: Asked | None = None


def check(partition: Partition, retrievers: Sequence[Retriever], *, terms: Terms) -> None:
    """Raise `UsageError` for what can be known to be wrong before any retriever takes its time."""
    if _asks(retrievers):
        _client(partition, terms)
    elif terms.limits != NO_LIMITS:
        raise only_for_llm()


def only_for_llm() -> UsageError:
    """Return what is wrong where something is asked for that is `llm`'s alone, and nothing names it."""
    return UsageError(
        "--dry-run, --max-cost, --max-requests and --max-pairs are for the retriever llm, which pool.retrievers in "
        "judge.toml does not name; add it there"
    )


def retrieve(partition: Partition, retrievers: Sequence[Retriever], *, terms: Terms) -> Found:
    """Run retrievers in turn; one that cannot run is left out, with a note that says why.

    Raises `Stopped` where `llm` could not be brought to an end: hits of some pairs would leave the others in the strata of
    pairs that nothing returned, which nobody knows of them.
    """
    asking = _Asking(partition, terms) if _asks(retrievers) else None
    access = _access(partition, terms, asking=asking)
    hits: dict[str, Sequence[Hit]] = {}
    for retriever in retrievers:
        found = retriever.hits(partition, access)
        if isinstance(found, LeftOut):
            terms.note(f"{partition.language}: {retriever.name} left out: {found.reason}")
        else:
            hits[retriever.name] = tuple(found)
    if asking is None:
        return Found(hits, terms.limits)
    return Found(hits, asking.limits, asking.asked(len(hits.get(NAME, ()))))


def _asks(retrievers: Sequence[Retriever]) -> bool:
    return any(retriever.name == NAME for retriever in retrievers)


def _access(partition: Partition, terms: Terms, *, asking: "_Asking | None") -> Access:
    settings, language = partition.settings, partition.language
    name = terms.model or settings.judge.model

    def progress(stage: str, done: int, *, total: int, unit: str) -> None:
        terms.progress(Progress(f"{language} {stage}", unit, done, total))

    return Access(
        llm=Llm(name, endpoints.asking(settings, name, base_url=terms.base_url)) if name else None,
        vectorise=endpoints.vectorising(settings) if settings.embedding.base_url else None,
        answer=asking,
        note=terms.note,
        progress=progress,
    )


def _client(partition: Partition, terms: Terms) -> Client:
    chosen = questions.configured(partition, terms.model)
    return endpoints.client(partition.settings, chosen.model, base_url=terms.base_url, sampling=chosen.sampling)


class _Asking:
    """Asks about pairs of a partition, and keeps count of what that takes."""

    def __init__(self, partition: Partition, terms: Terms) -> None:
        self._partition, self._terms = partition, terms
        self._identity = questions.configured(partition, terms.model)
        self._pairs = 0
        self._answered = Answered({}, {})
        self.limits = terms.limits

    def __call__(self, pairs: Sequence[PairKey]) -> Answered:
        partition, terms = self._partition, self._terms
        answered = questions.put(
            partition,
            pairs,
            asked=YesNo(self._identity, _client(partition, terms)),
            limits=self.limits,
            progress=of_pairs(terms.progress, f"{partition.language} {NAME}", total=len(pairs)),
            note=terms.note,
        )
        self.limits = self.limits.less(answered.requests, answered.asked, cost=answered.cost)
        self._pairs, self._answered = len(pairs), answered
        return answered

    def asked(self, hits: int) -> Asked:
        """Return the figures of what was asked."""
        return Asked(
            self._identity.judge_id,
            self._identity.model,
            self._pairs,
            self._answered.yes,
            hits,
            len(self._answered.failed),
            self._answered.without_probability,
            self._answered.requests,
            self._answered.cost,
        )
