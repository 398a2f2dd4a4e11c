"""The phases of rating one language: what it would take, the expert-rated pairs, the gate, then the pool."""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tqdm import tqdm

from judge.batching.batches import Item
from judge.cli import judges, seals
from judge.cli.workspace import Workspace, note
from judge.judges.identity import Identity
from judge.judges.llm_judge import LlmJudge
from judge.ledger import entries, replay
from judge.ledger.ledger import Ledger
from judge.ledger.tally import Purpose
from judge.rating import forecast, jobs, money, rating
from judge.rating.controls import Controls
from judge.rating.money import Limits
from judge.rating.rating import Judge, Outcome
from pools.errors import JudgeError, Stopped, UsageError
from pools.sampling import pooled

if TYPE_CHECKING:
    from gates.verdict.gate_record import GateRecord


@dataclass(frozen=True, slots=True)
class Request:
    """What the command line asks for; None means judge.toml's value."""

    judge_name: str
    model: str | None
    base_url: str | None
    go_on: bool
    limits: Limits
    batch_api: bool = False


def rate(workspace: Workspace, language: str, *, request: Request) -> tuple[dict[str, Any], Limits]:
    """Rate one language as far as its gate allows; returns what was done, as JSON values, and what is left of the limits."""
    # Everything that can be wrong with the inputs comes up here, before the ledger is touched or a request paid for.
    judge = judges.make(workspace, language, name=request.judge_name, model=request.model, base_url=request.base_url)
    if request.batch_api and not isinstance(judge, LlmJudge):
        raise UsageError("--batch-api needs an LLM; the baseline judge has no endpoint")
    validation, rest = judges.items(workspace, language)
    if not pooled.path(workspace.folder, language).is_file():
        note(f"{language}: no pool yet, so only the expert-rated pairs are rated; `judge pool --lang {language}` draws it")
    with Ledger.open(workspace.ledger_path(language)) as ledger:
        for line in ledger.notes:
            note(line)
        _seal(workspace, language, identity=judge.identity, ledger=ledger)
        try:
            record, outcomes = asyncio.run(
                _phases(workspace, language, judge=judge, ledger=ledger, validation=validation, rest=rest, request=request)
            )
        except Stopped:
            # An alarm may be why: its canaries came after the verdict. On a full disk this fails too, and that is told already.
            with suppress(JudgeError):
                ledger.remember()
            raise
        ledger.remember()
        totals = ledger.totals(judge.identity.judge_id)
    limits = request.limits
    for outcome in outcomes:
        limits = limits.less(outcome.requests, outcome.pairs, cost=outcome.cost)
    return {
        "language": language,
        "judge_id": judge.identity.judge_id,
        "model": judge.identity.model,
        "verdict": record.verdict,
        "f1": record.agreement.f1,
        "validation_pairs": len(validation),
        "validation_rated": outcomes[0].rated,
        "pool_pairs": len(rest),
        "pool_rated": outcomes[1].rated if len(outcomes) > 1 else None,
        "failed": {" ".join(pair): reason for outcome in outcomes for pair, reason in sorted(outcome.failed.items())},
        "requests": totals.requests,
        "prompt_tokens": totals.usage.prompt,
        "completion_tokens": totals.usage.completion,
        "cost": money.total(totals, workspace.settings.prices),
    }, limits


async def _phases(
    workspace: Workspace,
    language: str,
    *,
    judge: Judge,
    ledger: Ledger,
    validation: list[Item],
    rest: list[Item],
    request: Request,
) -> "tuple[GateRecord, list[Outcome]]":
    settings = workspace.settings

    async def phase(items: list[Item], purpose: Purpose, *, limits: Limits, controls: Controls | None) -> Outcome:
        """Rate some pairs, by jobs or directly."""
        if request.batch_api and isinstance(judge, LlmJudge):
            others = [*validation, *rest]
            return await jobs.rate(
                items,
                purpose,
                judge=judge,
                ledger=ledger,
                settings=settings.judge,
                seed=settings.seed,
                prices=settings.prices,
                note=note,
                limits=limits,
                controls=controls,
                others=others,
            )
        with tqdm(total=len(items), desc=f"{language} {purpose}", unit="pair", disable=None) as bar:
            return await rating.rate(
                items,
                purpose,
                judge=judge,
                ledger=ledger,
                settings=settings.judge,
                seed=settings.seed,
                progress=_progress(bar),
                limits=limits,
                prices=settings.prices,
                note=note,
                controls=controls,
            )

    async with judges.opened(judge):
        first = await phase(validation, "validation", limits=request.limits, controls=None)
        from judge.cli import evidences  # with all that a gate computes with, which the first request need not wait for

        # From the ledger in memory, because a large one takes long to read a second time.
        found = evidences.of_judge(workspace, language, ledger=ledger, chosen=judge.identity.judge_id)
        record = evidences.verdict(workspace, language, found=found)
        if not record.passed and not request.go_on:
            return record, [first]
        left = request.limits.less(first.requests, first.pairs, cost=first.cost)
        experts = workspace.dataset.experts_of(language)
        controls = Controls(
            validation, experts, record.relevant_from, settings.judge.canaries, settings.judge.retest
        )  # fmt: skip
        return record, [first, await phase(rest, "pool", limits=left, controls=controls)]


def _seal(workspace: Workspace, language: str, *, identity: Identity, ledger: Ledger) -> None:
    stated = seals.stated(workspace, language)
    sealed = ledger.seal(identity.judge_id)
    if sealed is None:
        ledger.add(
            entries.seal(identity, stated.gate, relevant_from=stated.relevant_from, gold_sha256=stated.gold_sha256 or "")
        )
        return
    for line in seals.seal_of(sealed).differences(seals.stated(workspace, language, sealed=sealed)):
        note(f"{language}: {line}; the seal is what counts (`judge gate --reseal REASON` changes it)")


def _progress(bar: Any) -> Callable[[Any], None]:
    def show(progress: Any) -> None:
        bar.n = progress.done
        tokens = progress.usage.prompt + progress.usage.completion
        cost = "" if progress.cost is None else f", ${progress.cost:.4f}"
        bar.set_postfix_str(f"{tokens} tokens{cost}, {progress.failed} failed")

    return show


def plan(workspace: Workspace, language: str, *, model: str | None) -> dict[str, Any]:
    """Return what rating a language by an LLM would take, as JSON values; nothing is sent or written."""
    identity = judges.identity(workspace, model)
    tally = Ledger.read(workspace.ledger_path(language)).tally(identity.judge_id)
    settings = workspace.settings
    out: dict[str, Any] = {"language": language, "judge_id": identity.judge_id, "model": identity.model}
    for purpose, items in zip(("validation", "pool"), judges.items(workspace, language), strict=True):
        found = forecast.estimate(
            items, identity, tally=tally, settings=settings.judge, seed=settings.seed, prices=settings.prices
        )
        out[purpose] = {
            "pairs": found.pairs,
            "batches": found.batches,
            "characters": found.characters,
            "prompt_tokens": found.usage.prompt,
            "completion_tokens": found.usage.completion,
            "cost": found.cost,
        }
    return out


def replayed(workspace: Workspace, source: Path) -> dict[str, Any]:
    """Read a ledger's replies again into the own new ledger of the one language asked for; returns JSON values."""
    from judge.cli import evidences

    language, *others = workspace.languages
    if others:
        raise UsageError(f"--replay reads the ledger of one language; name it with --lang ({', '.join(workspace.languages)})")
    with Ledger.open(workspace.ledger_path(language)) as ledger:
        found = replay.replay(source, ledger)
    verdicts = {}
    for judge_id in found.changed:
        verdicts[judge_id] = evidences.assess(workspace, language, judge_id=judge_id).verdict
    return {"language": language, "replies": found.replies, "changed": found.changed, "verdicts": verdicts}
