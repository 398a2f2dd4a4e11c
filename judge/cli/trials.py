"""Trials of `judge tune`: the tuning pairs put to a judge, or to the retriever llm, in one setting after another.

A setting's replies are kept in a file of its own in work/<language>/tuning/, under the id of what was asked, so the same trial
again asks for nothing that is there, and its cost is that of the tuning pairs alone.
"""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from tqdm import tqdm

from gates.measures.tuning import Trial
from judge.batching.batches import Item
from judge.cli import bars, judges, seals
from judge.cli.workspace import Workspace, note
from judge.endpoint.answer import Usage
from judge.judges import questions
from judge.judges.identity import Identity
from judge.judges.questions import Answers, YesNo
from judge.ledger import entries
from judge.ledger.ledger import Ledger, records
from judge.ledger.tally import Totals
from judge.rating import money, rating
from judge.rating.money import Limits
from judge.steps import endpoints
from judge.steps.progress import of_pairs
from pools.dataset import dataset
from pools.dataset.partition import Partition
from pools.dataset.records import PairKey
from pools.errors import UsageError
from pools.retrievers import llm as retriever

Items = Mapping[str, Sequence[Item]]
"""The pairs by language."""


@dataclass(frozen=True, slots=True)
class Setting:
    """What is tried: a model, a prompt's name or path, pairs a prompt."""

    model: str
    prompt: str
    pairs_per_batch: int


@dataclass(slots=True)
class _Found:
    """What a setting's files say of the tuning pairs, gathered language by language."""

    judge_id: str = ""
    ratings: dict[PairKey, int] = field(default_factory=dict)
    scores: dict[PairKey, float] = field(default_factory=dict)
    totals: list[Totals] = field(default_factory=list)
    spent: list[tuple[int, float]] = field(default_factory=list)

    def trial(self, workspace: Workspace, setting: Setting) -> Trial:
        """Return all of it as one trial, with what it cost."""
        costs = [money.total(entry, workspace.settings.prices) for entry in self.totals]
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


def items(workspace: Workspace) -> dict[str, list[Item]]:
    """Return the expert-rated pairs of the tuning searches by language; raises `UsageError` where no language has any."""
    found = {}
    for language in workspace.languages:
        tuned = {query.search_id for query in workspace.dataset.queries_of(language) if query.split == "tuning"}
        if tuned:
            found[language] = [item for item in judges.items(workspace, language)[0] if item.pair[0] in tuned]
        if not found.get(language):
            note(f"{language}: no expert-rated pair of a search of split tuning; it has no part in this")
    found = {language: part for language, part in found.items() if part}
    if not found:
        raise UsageError(
            f'{workspace.folder}: no expert-rated pair to tune on; give some searches the split "tuning" in queries.jsonl.gz'
        )
    return found


def experts(workspace: Workspace, pairs: Items) -> dict[PairKey, tuple[int, ...]]:
    """Return the experts' ratings of the pairs, under the keys that trials have."""
    out = {}
    for language, part in pairs.items():
        given = workspace.dataset.experts_of(language)
        out.update({_together(language, item.pair): given[item.pair] for item in part})
    return out


def _together(language: str, pair: PairKey) -> PairKey:
    # Searches of equal id in two languages are two searches.
    return (f"{language} {pair[0]}", pair[1])


def check(workspace: Workspace, settings: Sequence[Setting], *, of_retriever: bool) -> None:
    """Raise `UsageError` for a setting that cannot be tried, so that no other is paid for before that is known."""
    for setting in settings:
        if of_retriever:
            _asking(_as_retriever(workspace, setting), setting.model)
        else:
            judges.identity(_as_judge(workspace, setting), setting.model)


def _asking(workspace: Workspace, model: str) -> Identity:
    partition = Partition(workspace.languages[0], workspace.settings, workspace.scale, workspace.dataset)
    return questions.configured(partition, model)


def _as_judge(workspace: Workspace, setting: Setting) -> Workspace:
    changed = replace(workspace.settings.judge, prompt=setting.prompt, pairs_per_batch=setting.pairs_per_batch)
    return replace(workspace, settings=replace(workspace.settings, judge=changed))


def _as_retriever(workspace: Workspace, setting: Setting) -> Workspace:
    changed = replace(workspace.settings.llm, prompt=setting.prompt)
    return replace(workspace, settings=replace(workspace.settings, llm=changed))


def of_judge(
    workspace: Workspace, pairs: Items, *, setting: Setting, base_url: str | None, limits: Limits
) -> tuple[Trial, Limits]:
    """Have a judge rate the pairs of every language, as far as its ledgers lack them; returns what is left of the limits."""
    tuned, found = _as_judge(workspace, setting), _Found()
    for language, part in pairs.items():
        found.judge_id, limits = _rate(tuned, language, part=part, setting=setting, base_url=base_url, limits=limits)
        ledger = Ledger.read(_path(workspace, language, judge_id=found.judge_id))
        found.ratings.update({_together(language, pair): rating for pair, rating in ledger.ratings(found.judge_id).items()})
        found.totals.append(ledger.totals(found.judge_id))
        found.spent += _spent(workspace, language, judge_id=found.judge_id)
    return found.trial(workspace, setting), limits


def of_retriever(
    workspace: Workspace, pairs: Items, *, setting: Setting, base_url: str | None, limits: Limits
) -> tuple[Trial, Limits]:
    """Have the retriever llm say yes or no to the pairs of every language, like `of_judge`; a hit has the highest rating."""
    tuned = _as_retriever(workspace, setting)
    settings, chosen = tuned.settings, _asking(tuned, setting.model)
    found = _Found(chosen.judge_id)
    for language, part in pairs.items():
        client = endpoints.client(settings, chosen.model, base_url=base_url, sampling=chosen.sampling)
        with Answers.open(_path(workspace, language, judge_id=chosen.judge_id)) as answers:
            with bars.shown() as progress:
                outcome = asyncio.run(
                    questions.ask(
                        part,
                        YesNo(chosen, client),
                        answers=answers,
                        settings=settings.judge,
                        seed=settings.seed,
                        progress=of_pairs(progress, f"{language} llm", total=len(part)),
                        limits=limits,
                        prices=settings.prices,
                        note=note,
                    )
                )
            given = answers.given(chosen.judge_id)
        limits = limits.less(outcome.requests, outcome.pairs, cost=outcome.cost)
        hits = {hit.pair for hit in retriever.hits(given, settings.llm.threshold)}
        for pair, answer in given.items():
            found.ratings[_together(language, pair)] = workspace.scale.values[-1 if pair in hits else 0]
            sure = answer.probability
            found.scores[_together(language, pair)] = float(answer.yes or 0) if sure is None else sure
        found.totals.append(answers.totals(chosen.judge_id))
        found.spent += _spent(workspace, language, judge_id=chosen.judge_id)
        unsure = sum(1 for answer in given.values() if answer.probability is None)
        if unsure:
            note(
                f"{language}: {unsure} of {len(given)} answers of {setting.model} to {setting.prompt} came without "
                "log-probabilities; a yes ranks them first, a no last"
            )
    return found.trial(workspace, setting), limits


def _path(workspace: Workspace, language: str, *, judge_id: str) -> Path:
    return dataset.work(workspace.folder, language) / "tuning" / f"{judge_id}.jsonl"


def _spent(workspace: Workspace, language: str, *, judge_id: str) -> list[tuple[int, float]]:
    """Return pairs asked for and US dollars of each reply, those that could not be used included."""
    return [
        (len(record["sent"]), money.of_reply(record["cost"], Usage(**record["usage"]), prices=workspace.settings.prices))
        for record in records(_path(workspace, language, judge_id=judge_id))
        if record["kind"] in {"reply", "discarded"}
    ]


def _rate(
    workspace: Workspace, language: str, *, part: Sequence[Item], setting: Setting, base_url: str | None, limits: Limits
) -> tuple[str, Limits]:
    settings = workspace.settings
    judge = judges.make(workspace, language, name="llm", model=setting.model, base_url=base_url)
    judge_id = judge.identity.judge_id
    if len(part) < setting.pairs_per_batch:
        note(f"{language}: {len(part)} tuning pairs do not fill a prompt of {setting.pairs_per_batch}")

    async def rate(ledger: Ledger, progress: Callable[[Any], None]) -> rating.Outcome:
        async with judges.opened(judge):
            return await rating.rate(
                part,
                "validation",
                judge=judge,
                ledger=ledger,
                settings=settings.judge,
                seed=settings.seed,
                progress=progress,
                limits=limits,
                prices=settings.prices,
                note=note,
            )

    with Ledger.open(_path(workspace, language, judge_id=judge_id)) as ledger:
        if ledger.seal(judge_id) is None:
            stated = seals.stated(workspace, language)
            ledger.add(
                entries.seal(
                    judge.identity, stated.gate, relevant_from=stated.relevant_from, gold_sha256=stated.gold_sha256 or ""
                )
            )
        words = f"{language} {setting.model} {setting.prompt} {setting.pairs_per_batch}"
        with tqdm(total=len(part), desc=words, unit="pair", disable=None) as bar:

            def progress(state: Any) -> None:
                bar.update(state.done - bar.n)

            outcome = asyncio.run(rate(ledger, progress))
    return judge_id, limits.less(outcome.requests, outcome.pairs, cost=outcome.cost)
