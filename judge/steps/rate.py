"""The step `rate`: the expert-rated pairs, then the gate, then the pool; also what that would take, and a replay."""

import asyncio
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from judge._batching.batches import Item
from judge._judges.llm_judge import LlmJudge
from judge._ledger import replay as replies
from judge._ledger.ledger import Ledger
from judge._ledger.tally import Purpose
from judge._rating import course, forecast, money
from judge._rating.controls import Controls
from judge._rating.forecast import Estimate
from judge._rating.jobs import Jobs
from judge._rating.live import Judge, Live
from judge._rating.money import Limits
from judge._rating.task import Outcome, Reports, Task
from judge.steps import chosen_judge, ledgers, pairs, seals
from judge.steps.progress import Listener, Note, ignore, of_pairs
from pools._dataset import settings
from pools._dataset.partition import Partition
from pools._dataset.records import PairKey
from pools._sampling import pooled
from pools.errors import JudgeError, Stopped, UsageError

if TYPE_CHECKING:
    from gates._verdict.gate_record import GateRecord, Verdict


@dataclass(frozen=True, slots=True)
class Rated:
    """How far a judge's ratings of one language are, and its verdict.

    `validation_rated` of the `validation_pairs` that experts rated have a rating, and `pool_rated` of the other `pool_pairs` of
    the pool, None where those were not asked about because the gate is shut. `failed` are the pairs given up, with the reason.
    `requests`, tokens and `cost` (US dollars, None where nobody tells) are of all the judge's replies, earlier runs' included.
    """

    language: str
    judge_id: str
    model: str
    verdict: "Verdict"
    f1: float | None
    validation_pairs: int
    validation_rated: int
    pool_pairs: int
    pool_rated: int | None
    failed: Mapping[PairKey, str]
    requests: int
    prompt_tokens: int
    completion_tokens: int
    cost: float | None

    @property
    def passed(self) -> bool:
        return self.verdict == "passed"

    def document(self) -> dict[str, Any]:
        """Return it as a JSON object, a failed pair's key being search and function with a space between."""
        return asdict(self) | {"failed": {" ".join(pair): reason for pair, reason in self.failed.items()}}


@dataclass(frozen=True, slots=True)
class Plan:
    """What rating one language by an LLM would take."""

    language: str
    judge_id: str
    model: str
    validation: Estimate
    pool: Estimate

    def document(self) -> dict[str, Any]:
        """Return it as a JSON object."""
        phases = {"validation": _phase(self.validation), "pool": _phase(self.pool)}
        return {"language": self.language, "judge_id": self.judge_id, "model": self.model, **phases}


@dataclass(frozen=True, slots=True)
class Replay:
    """Replies that were read again.

    By judge: how many ratings are others than in the ledger that the replies come from, and the verdict.
    """

    language: str
    replies: int
    changed: Mapping[str, int]
    verdicts: Mapping[str, "Verdict"]

    def document(self) -> dict[str, Any]:
        """Return it as a JSON object."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class _Asked:
    """What is asked for of every language; `limits` are what is left of them."""

    judge: str
    model: str | None
    base_url: str | None
    continue_: bool
    batch_api: bool
    limits: Limits
    note: Note
    progress: Listener


def rate(
    partitions: Iterable[Partition],
    *,
    judge: str = "llm",
    model: str | None = None,
    base_url: str | None = None,
    concurrency: int | None = None,
    seed: int | None = None,
    continue_: bool = False,
    max_cost: float | None = None,
    max_requests: int | None = None,
    max_pairs: int | None = None,
    batch_api: bool = False,
    note: Note = ignore,
    progress: Listener = ignore,
) -> tuple[Rated, ...]:
    """Have a judge rate languages in turn, each as far as its gate allows, or beyond it with `continue_`.

    `max_cost` (US dollars), `max_requests` and `max_pairs` are for all of them together. None, of anything, means judge.toml's
    value, or no limit. What is rated stays rated, and the same call goes on where an earlier one ended.

    Raises `UsageError` for what is lacking or cannot be, before anything is written or asked, and `Stopped` where a limit, the
    endpoint, the disk or an interrupt ends it before all is done.
    """
    limits = Limits(max_cost, max_requests, max_pairs)
    asked = _Asked(judge, model, base_url, continue_, batch_api, limits, note, progress)
    done = []
    for partition in partitions:
        changed = settings.overridden(partition.settings, concurrency=concurrency, seed=seed)
        rated, left = _language(partition.with_settings(changed), asked)
        asked = replace(asked, limits=left)
        done.append(rated)
    return tuple(done)


def plan(partition: Partition, *, model: str | None = None, seed: int | None = None) -> Plan:
    """Return what rating a language by an LLM would take; nothing is sent or written."""
    partition = partition.with_settings(settings.overridden(partition.settings, seed=seed))
    identity = chosen_judge.identity(partition, model)
    tally = ledgers.read(partition).tally(identity.judge_id)
    found = partition.settings
    validation, pool = (
        forecast.estimate(items, identity, tally=tally, settings=found.judge, seed=found.seed, prices=found.prices)
        for items in pairs.to_rate(partition)
    )
    return Plan(partition.language, identity.judge_id, identity.model, validation, pool)


def replay(partition: Partition, ledger: Path) -> Replay:
    """Read the replies of another ledger again, offline, into a language's own, which must be new, and give verdicts on them.

    Raises `UsageError` where there is no such ledger or the own one holds replies, `DataError` for one changed by hand.
    """
    from judge.steps import evidences

    with ledgers.opened(partition) as own:
        found = replies.replay(ledger, own)
    verdicts = {judge_id: evidences.assess(partition, judge_id=judge_id).verdict for judge_id in found.changed}
    return Replay(partition.language, found.replies, found.changed, verdicts)


def _phase(found: Estimate) -> dict[str, Any]:
    return {
        "pairs": found.pairs,
        "batches": found.batches,
        "characters": found.characters,
        "prompt_tokens": found.usage.prompt,
        "completion_tokens": found.usage.completion,
        "cost": found.cost,
    }


def _language(partition: Partition, asked: _Asked) -> tuple[Rated, Limits]:
    # Everything that can be wrong with the inputs comes up here, before the ledger is touched or a request paid for.
    judge = chosen_judge.make(partition, asked.judge, model=asked.model, base_url=asked.base_url)
    if asked.batch_api and not isinstance(judge, LlmJudge):
        raise UsageError("--batch-api needs an LLM; the baseline judge has no endpoint")
    validation, rest = pairs.to_rate(partition)
    language = partition.language
    if not pooled.path(partition.folder, language).is_file():
        asked.note(
            f"{language}: no pool yet, so only the expert-rated pairs are rated; `judge pool --lang {language}` draws it"
        )
    with ledgers.opened(partition) as ledger:
        for line in ledger.notes:
            asked.note(line)
        _seal(partition, ledger, judge=judge, note=asked.note)
        run = _Run(partition, judge, ledger, validation, rest, asked)
        try:
            record, outcomes = asyncio.run(run.phases())
        except Stopped:
            # An alarm may be why: its canaries came after the verdict. On a full disk this fails too, and that is told already.
            with suppress(JudgeError):
                ledger.remember()
            raise
        ledger.remember()
        totals = ledger.totals(judge.identity.judge_id)
    limits = asked.limits
    for outcome in outcomes:
        limits = limits.less(outcome.requests, outcome.pairs, cost=outcome.cost)
    rated = Rated(
        language=language,
        judge_id=judge.identity.judge_id,
        model=judge.identity.model,
        verdict=record.verdict,
        f1=record.agreement.f1,
        validation_pairs=len(validation),
        validation_rated=outcomes[0].rated,
        pool_pairs=len(rest),
        pool_rated=outcomes[1].rated if len(outcomes) > 1 else None,
        failed={pair: reason for outcome in outcomes for pair, reason in sorted(outcome.failed.items())},
        requests=totals.requests,
        prompt_tokens=totals.usage.prompt,
        completion_tokens=totals.usage.completion,
        cost=money.total(totals, partition.settings.prices),
    )
    return rated, limits


def _seal(partition: Partition, ledger: Ledger, *, judge: Judge, note: Note) -> None:
    sealed = ledger.seal(judge.identity.judge_id)
    if sealed is None:
        seals.first(partition, ledger, identity=judge.identity)
        return
    for line in seals.seal_of(sealed).differences(seals.stated(partition, sealed=sealed)):
        note(f"{partition.language}: {line}; the seal is what counts (`judge gate --reseal REASON` changes it)")


@dataclass(frozen=True, slots=True)
class _Run:
    """One judge's run over the pairs of one language."""

    partition: Partition
    judge: Judge
    ledger: Ledger
    validation: list[Item]
    rest: list[Item]
    asked: _Asked

    async def phases(self) -> "tuple[GateRecord, list[Outcome]]":
        """Rate the expert-rated pairs and, if the gate or the caller lets it, the rest; returns an outcome for each."""
        partition, judge = self.partition, self.judge
        async with chosen_judge.opened(judge):
            first = await self._rate(self.validation, "validation", limits=self.asked.limits)
            from judge.steps import evidences  # with all that a gate computes with, which the first request need not wait for

            # From the ledger in memory, because a large one takes long to read a second time.
            found = evidences.of_judge(partition, ledger=self.ledger, chosen=judge.identity.judge_id)
            record = evidences.verdict(partition, found=found)
            if not record.passed and not self.asked.continue_:
                return record, [first]
            left = self.asked.limits.less(first.requests, first.pairs, cost=first.cost)
            canaries, retest = seals.watched(partition, self.ledger.seal(judge.identity.judge_id))
            controls = Controls(self.validation, partition.experts, record.relevant_from, canaries, retest)
            return record, [first, await self._rate(self.rest, "pool", limits=left, controls=controls)]

    async def _rate(self, items: list[Item], purpose: Purpose, *, limits: Limits, controls: Controls | None = None) -> Outcome:
        """Rate some pairs, by jobs or by live requests."""
        judge, settings, asked = self.judge, self.partition.settings, self.asked
        task = Task(items, purpose, settings.seed, settings.judge, limits, settings.prices, controls)
        if asked.batch_api and isinstance(judge, LlmJudge):
            jobs = Jobs(judge, self.ledger, others=[*self.validation, *self.rest])
            return await course.run(task, jobs, ledger=self.ledger, reports=Reports(note=asked.note))
        told = of_pairs(asked.progress, f"{self.partition.language} {purpose}", total=len(items))
        return await course.run(task, Live(judge, self.ledger), ledger=self.ledger, reports=Reports(told, asked.note))
