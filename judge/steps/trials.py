"""Trials of `judge tune`: the tuning pairs put to a judge, or to the retriever llm, in one setting after another.

A setting's replies are kept in a file of its own in work/<language>/tuning/, under the id of what was asked, so the same trial
again asks for nothing that is there, and its cost is that of the tuning pairs alone.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from gates._measures.tuning import Trial
from judge._batching.batches import Item
from judge._endpoint.answer import Usage
from judge._judges import questions
from judge._judges.questions import Answers, YesNo
from judge._ledger.ledger import Ledger, records
from judge._ledger.tally import Totals
from judge._rating import course, money
from judge._rating.live import Live
from judge._rating.money import Limits
from judge._rating.task import Outcome, Reports, Task
from judge.steps import chosen_judge, endpoints, ledgers, pairs, seals
from judge.steps.progress import Listener, Note, of_pairs
from pools._dataset.folder import DatasetFolder
from pools._dataset.partition import Partition
from pools._dataset.records import PairKey
from pools._dataset.settings import PriceSettings, Settings
from pools._retrievers import llm as retriever
from pools.errors import UsageError


@dataclass(frozen=True, slots=True)
class Setting:
    """What is tried: a model, a prompt's name or path, pairs a prompt."""

    model: str
    prompt: str
    pairs_per_batch: int


@dataclass(frozen=True, slots=True)
class Part:
    """A language's share in the trials: its expert-rated pairs of tuning searches."""

    partition: Partition
    items: Sequence[Item]


@dataclass(frozen=True, slots=True)
class Run:
    """What trials are run with: where an LLM is asked, what may be used at most, and who is told of it."""

    base_url: str | None
    limits: Limits
    note: Note
    progress: Listener


@dataclass(slots=True)
class _Found:
    """What a setting's files say of the tuning pairs, gathered language by language."""

    judge_id: str = ""
    ratings: dict[PairKey, int] = field(default_factory=dict)
    scores: dict[PairKey, float] = field(default_factory=dict)
    totals: list[Totals] = field(default_factory=list)
    spent: list[tuple[int, float]] = field(default_factory=list)

    def trial(self, setting: Setting, prices: PriceSettings) -> Trial:
        """Return all of it as one trial, with what it cost."""
        costs = [money.total(entry, prices) for entry in self.totals]
        return Trial(
            model=setting.model,
            prompt=setting.prompt,
            pairs_per_batch=setting.pairs_per_batch,
            judge_id=self.judge_id,
            ratings=self.ratings,
            requests=sum(entry.requests for entry in self.totals),
            prompt_tokens=sum(entry.usage.prompt for entry in self.totals),
            completion_tokens=sum(entry.usage.completion for entry in self.totals),
            cost=None if None in costs else sum(cost or 0.0 for cost in costs),
            scores=self.scores,
            spent=() if None in costs else self.spent,
        )


def parts(folder: DatasetFolder, note: Note) -> tuple[Part, ...]:
    """Return each language's part; raises `UsageError` where none has an expert-rated pair of a tuning search."""
    found = []
    for partition in folder:
        tuned = {query.search_id for query in partition.queries if query.split == "tuning"}
        items = [item for item in pairs.to_rate(partition)[0] if item.pair[0] in tuned] if tuned else []
        if items:
            found.append(Part(partition, items))
        else:
            note(f"{partition.language}: no expert-rated pair of a search of split tuning; it has no part in this")
    if not found:
        raise UsageError(
            f'{folder.path}: no expert-rated pair to tune on; give some searches the split "tuning" in queries.jsonl.gz'
        )
    return tuple(found)


def experts(chosen: Sequence[Part]) -> dict[PairKey, tuple[int, ...]]:
    """Return the experts' ratings of the pairs, under the keys that trials have."""
    return {_together(part.partition, item.pair): part.partition.experts[item.pair] for part in chosen for item in part.items}


def _together(partition: Partition, pair: PairKey) -> PairKey:
    # Searches of equal id in two languages are two searches.
    return (f"{partition.language} {pair[0]}", pair[1])


def check(partition: Partition, settings: Sequence[Setting], *, of_retriever: bool) -> None:
    """Raise `UsageError` for a setting that cannot be tried, so that no other is paid for before that is known."""
    for setting in settings:
        if of_retriever:
            questions.configured(_as_retriever(partition, setting), setting.model)
        else:
            chosen_judge.identity(_as_judge(partition, setting), setting.model)


def _as_judge(partition: Partition, setting: Setting) -> Partition:
    changed = replace(partition.settings.judge, prompt=setting.prompt, pairs_per_batch=setting.pairs_per_batch)
    return partition.with_settings(replace(partition.settings, judge=changed))


def _as_retriever(partition: Partition, setting: Setting) -> Partition:
    changed = replace(partition.settings.llm, prompt=setting.prompt)
    return partition.with_settings(replace(partition.settings, llm=changed))


def of_judge(chosen: Sequence[Part], setting: Setting, *, run: Run) -> tuple[Trial, Limits]:
    """Have a judge rate the pairs of every language, as far as its ledgers lack them; returns what is left of the limits."""
    found = _Found()
    for part in chosen:
        partition = _as_judge(part.partition, setting)
        found.judge_id, left = _rate(partition, part.items, setting=setting, run=run)
        run = replace(run, limits=left)
        path = _path(partition, found.judge_id)
        ledger = ledgers.read(partition, path)
        found.ratings.update({_together(partition, pair): rating for pair, rating in ledger.ratings(found.judge_id).items()})
        found.totals.append(ledger.totals(found.judge_id))
        found.spent += _spent(path, partition.settings.prices)
    return found.trial(setting, chosen[0].partition.settings.prices), run.limits


def of_retriever(chosen: Sequence[Part], setting: Setting, *, run: Run) -> tuple[Trial, Limits]:
    """Have the retriever llm say yes or no to the pairs of every language, like `of_judge`; a hit has the highest rating."""
    found = _Found()
    for part in chosen:
        partition = _as_retriever(part.partition, setting)
        settings, asking = partition.settings, questions.configured(partition, setting.model)
        found.judge_id = asking.judge_id
        path = _path(partition, asking.judge_id)
        client = endpoints.client(settings, asking.model, base_url=run.base_url, sampling=asking.sampling)
        with Answers.open(path) as answers:
            run = replace(run, limits=_ask(part, YesNo(asking, client), answers=answers, settings=settings, run=run))
            given = answers.given(asking.judge_id)
        hits = {hit.pair for hit in retriever.hits(given, settings.llm.threshold)}
        for pair, answer in given.items():
            found.ratings[_together(partition, pair)] = partition.scale.values[-1 if pair in hits else 0]
            sure = answer.probability
            found.scores[_together(partition, pair)] = float(answer.yes or 0) if sure is None else sure
        found.totals.append(answers.totals(asking.judge_id))
        found.spent += _spent(path, settings.prices)
        unsure = sum(1 for answer in given.values() if answer.probability is None)
        if unsure:
            run.note(
                f"{partition.language}: {unsure} of {len(given)} answers of {setting.model} to {setting.prompt} came without "
                "log-probabilities; a yes ranks them first, a no last"
            )
    return found.trial(setting, chosen[0].partition.settings.prices), run.limits


def _ask(part: Part, asked: YesNo, *, answers: Answers, settings: Settings, run: Run) -> Limits:
    outcome = asyncio.run(
        questions.ask(
            part.items,
            asked,
            answers=answers,
            settings=settings.judge,
            seed=settings.seed,
            progress=of_pairs(run.progress, f"{part.partition.language} llm", total=len(part.items)),
            limits=run.limits,
            prices=settings.prices,
            note=run.note,
        )
    )
    return run.limits.less(outcome.requests, outcome.pairs, cost=outcome.cost)


def _path(partition: Partition, judge_id: str) -> Path:
    return partition.work / "tuning" / f"{judge_id}.jsonl"


def _spent(path: Path, prices: PriceSettings) -> list[tuple[int, float]]:
    """Return pairs asked for and US dollars of each reply, those that could not be used included."""
    return [
        (len(record["sent"]), money.of_reply(record["cost"], Usage(**record["usage"]), prices=prices))
        for record in records(path)
        if record["kind"] in {"reply", "discarded"}
    ]


def _rate(partition: Partition, items: Sequence[Item], *, setting: Setting, run: Run) -> tuple[str, Limits]:
    settings, language = partition.settings, partition.language
    judge = chosen_judge.make(partition, "llm", model=setting.model, base_url=run.base_url)
    judge_id = judge.identity.judge_id
    if len(items) < setting.pairs_per_batch:
        run.note(f"{language}: {len(items)} tuning pairs do not fill a prompt of {setting.pairs_per_batch}")
    stage = f"{language} {setting.model} {setting.prompt} {setting.pairs_per_batch}"

    task = Task(items, "validation", settings.seed, settings.judge, run.limits, settings.prices)
    reports = Reports(of_pairs(run.progress, stage, total=len(items)), run.note)

    async def run_over(ledger: Ledger) -> Outcome:
        """Rate the pairs, with the judge's connections open meanwhile."""
        async with chosen_judge.opened(judge):
            return await course.run(task, Live(judge, ledger), ledger=ledger, reports=reports)

    with ledgers.opened(partition, _path(partition, judge_id)) as ledger:
        seals.first(partition, ledger, identity=judge.identity)
        outcome = asyncio.run(run_over(ledger))
    return judge_id, run.limits.less(outcome.requests, outcome.pairs, cost=outcome.cost)
