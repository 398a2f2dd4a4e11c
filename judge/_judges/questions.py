"""The yes/no retriever's questions: put to the LLM one pair at a time by the same run, client and file as a judge's batches.

A question is a batch of one pair on a scale of no and yes, so that limits, attempts, interrupts and resuming are those of
`judge._rating.course`. The answers are kept apart from any judge's ledger, in a file of the same make: chained, locked,
fsynced before a line counts. It differs in what it holds: no seals, as no gate depends on it, but a line that tells each
retriever's identity (`retriever`), and no readings, as an answer is read anew whenever the file is.
"""

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from judge._batching import batches
from judge._batching.batches import Batch, Item
from judge._endpoint.answer import Answer
from judge._endpoint.client import Client
from judge._judges.identity import Identity
from judge._ledger.entries import Record
from judge._ledger.ledger import Ledger, Now, now
from judge._ledger.texts import Texts
from judge._rating import course, forecast
from judge._rating.forecast import Estimate
from judge._rating.live import Live
from judge._rating.money import Limits
from judge._rating.task import Outcome, Progress, Reports, Task
from judge._reading.replies import Entry, Reading, Status
from pools._dataset import dataset
from pools._dataset.partition import Partition
from pools._dataset.records import PairKey
from pools._dataset.settings import JudgeSettings, PriceSettings, Settings
from pools._engines import yes_or_no
from pools._engines.yes_or_no import Answered, YesOrNo
from pools.errors import UsageError
from prompts import templates
from prompts.scales import Scale

SETTING = "llm.prompt"
SCALE = Scale("yes-no", ((0, "no"), (1, "yes")))
ALTERNATIVES = 20
"""Tokens whose probabilities are asked for, the most that endpoints commonly give."""


def path(folder: Path, language: str) -> Path:
    """Return where a language's answers are kept."""
    return dataset.work(folder, language) / "yesno.jsonl"


def wordings() -> tuple[str, ...]:
    """Return the names of the built-in wordings of the question."""
    return tuple(name for name in templates.builtin(".j2") if name.split("-")[0] == "yesno")


def identity(settings: Settings, model: str, *, wording: str) -> Identity:
    """Return the identity of the retriever that asks a model with a wording (a template's text): what answers depend on."""
    sampling = {
        "temperature": 0.0,
        "max_tokens": settings.llm.max_tokens,
        "logprobs": True,
        "top_logprobs": ALTERNATIVES,
    }
    return Identity(model, wording, SCALE, settings.judge.shown_characters, 1, sampling, settings.judge.redact)


def configured(partition: Partition, model: str | None = None) -> Identity:
    """Return the identity of the retriever that a partition's settings describe, or with another model.

    Raises `UsageError` where no model is named and for a wording that is none.
    """
    settings = partition.settings
    name = model or settings.llm.model or settings.judge.model
    if not name:
        raise UsageError("the retriever llm needs a model; name one with --model, or llm.model in judge.toml")
    try:
        wording = templates.text(settings.llm.prompt, folder=partition.folder)
    except ValueError as error:
        raise UsageError(f"llm.prompt: {error}") from error
    return identity(settings, name, wording=wording)


def items(partition: Partition, pairs: Iterable[PairKey]) -> list[Item]:
    """Return pairs with the texts that are shown of them, in the same order."""
    searches = {query.search_id: query.search for query in partition.queries}
    codes = {function.id: function.code for function in partition.functions}
    return [Item(pair, searches[pair[0]], codes[pair[1]]) for pair in pairs]


class Answers(Ledger):
    """One language's answers, opened for appending (`open`, a context manager) or as they are (`read`)."""

    def __init__(self, path: Path, clock: Now = now, *, texts: Texts | None = None) -> None:
        super().__init__(path, clock, texts=texts)
        self._given: dict[str, dict[PairKey, YesOrNo]] = {}
        self._models: dict[str, str] = {}

    def judges(self) -> tuple[str, ...]:
        """Return the ids of the retrievers, in the order in which they first asked."""
        return tuple(self._given)

    def model(self, retriever_id: str) -> str:
        """Return the model that a retriever asks."""
        return self._models[retriever_id]

    def given(self, retriever_id: str) -> Mapping[PairKey, YesOrNo]:
        """Return the first answer of yes or no to each pair."""
        return self._given.get(retriever_id, {})

    def enter(self, asking: Identity) -> None:
        """Note a retriever before its first question; one that is known stays as it is."""
        if asking.judge_id not in self._given:
            self.add({"kind": "retriever", "judge_id": asking.judge_id, "identity": asking.document()})

    def _load_one(self, record: Record) -> None:
        if record["kind"] == "reply":
            self._number = record["number"]
        self._take(record)

    def _take(self, record: Record) -> Reading | None:
        if record["kind"] == "retriever":
            self._given[record["judge_id"]] = {}
            self._models[record["judge_id"]] = record["identity"]["model"]
            return None
        return super()._take(record)

    def _read(self, reply: Record) -> Reading:
        [(entry_id, search_id, function_id, *shown)] = reply["sent"]
        logprobs = [(token, figure) for token, figure in reply.get("logprobs", ())]
        answer = yes_or_no.read(reply["raw"], reply["finish_reason"], logprobs=logprobs)
        entry = Entry("rated", int(answer.yes)) if answer.yes is not None else Entry(_fault(reply), None)
        ratings = {} if entry.rating is None else {entry_id: entry.rating}
        faults = {entry_id: str(entry.status)} if entry.rating is None else {}
        if entry.rating is not None and not self._is_changed(search_id, function_id, shown=shown):
            self._given[reply["judge_id"]].setdefault((search_id, function_id), answer)
        self._spend(reply)
        self.tally(reply["judge_id"]).take(
            reply["number"],
            reply["purpose"],
            sent=[(entry_id, search_id, function_id, *shown)],
            ratings=ratings,
            faults=faults,
            texts=self.texts,
        )
        return Reading({entry_id: entry}, ())


def _fault(reply: Record) -> Status:
    if reply["finish_reason"] == "content_filter":
        return "refused"
    if reply["finish_reason"] == "length":
        return "truncated"
    return "off-scale" if reply["raw"].strip() else "missing"


class YesNo:
    """Whoever answers: an LLM behind a client, asked about one pair."""

    def __init__(self, identity: Identity, client: Client) -> None:
        self.identity = identity
        self.client = client

    async def answer(self, batch: Batch) -> Answer:
        """Return the reply to a batch of one pair; raises what `Client.ask` does."""
        shown = batches.render(batch, self.identity, setting=SETTING)
        answer = await self.client.ask(shown.text)
        return replace(answer, redacted=sum(shown.redacted.values())) if shown.redacted else answer

    def drain(self) -> None:
        self.client.drain()


async def ask(
    items: Sequence[Item],
    asked: YesNo,
    *,
    answers: Answers,
    settings: JudgeSettings,
    seed: int,
    progress: Callable[[Progress], None],
    limits: Limits,
    prices: PriceSettings,
    note: Callable[[str], None],
) -> Outcome:
    """Ask about every pair that this retriever has no answer to, and has not given up.

    What is neither yes nor no is asked again, up to the judge's `attempts`. Raises `Stopped` as `course.run` does; the same
    call resumes.
    """
    answers.enter(asked.identity)
    async with asked.client:
        task = Task(items, "pool", seed, _alone(settings), limits, prices)
        return await course.run(task, Live(asked, answers), ledger=answers, reports=Reports(progress, note))


def put(
    partition: Partition,
    pairs: Sequence[PairKey],
    *,
    asked: YesNo,
    limits: Limits,
    progress: Callable[[Progress], None],
    note: Callable[[str], None],
) -> Answered:
    """Ask about the pairs of a partition, as far as nothing is known of them, and return what then is; raises as `ask` does."""
    settings = partition.settings
    with Answers.open(path(partition.folder, partition.language)) as answers:
        for line in answers.notes:
            note(line)
        outcome = asyncio.run(
            ask(
                items(partition, pairs),
                asked,
                answers=answers,
                settings=settings.judge,
                seed=settings.seed,
                progress=progress,
                limits=limits,
                prices=settings.prices,
                note=note,
            )
        )
        given = answers.given(asked.identity.judge_id)
    for line in asked.client.notes:
        note(line)
    known = {pair: given[pair] for pair in pairs if pair in given}
    return Answered(known, outcome.failed, outcome.requests, outcome.pairs, outcome.cost)


def plan(items: Sequence[Item], asking: Identity, *, answers: Answers, settings: Settings) -> Estimate:
    """Return what asking about the pairs would take, those that are answered or given up left out; nothing is sent.

    Raises `UsageError` for a wording that cannot be filled.
    """
    if items:
        batches.render(Batch.of(items[:1]), asking, setting=SETTING)
    tally = answers.tally(asking.judge_id)
    return forecast.estimate(
        items, asking, tally=tally, settings=_alone(settings.judge), seed=settings.seed, prices=settings.prices
    )


def _alone(settings: JudgeSettings) -> JudgeSettings:
    return replace(settings, pairs_per_batch=1)
