"""`judge rate`: the expert-rated pairs first, then the gate, then the pool."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from judge.cli.workspace import (
    Workspace,
    data_option,
    endpoint_options,
    json_option,
    lang_option,
    note,
    open_workspace,
    seed_option,
)
from pools.errors import GateClosed

if TYPE_CHECKING:
    from gates.gate import GateRecord
    from judge.batches import Item
    from judge.identity import Identity
    from judge.ledger import Ledger
    from judge.money import Limits
    from judge.run import Judge, Outcome
    from judge.standing import Purpose

JUDGES = ("llm", "baseline")


@dataclass(frozen=True, slots=True)
class Request:
    """What the command line asks for; None means judge.toml's value."""

    judge_name: str
    model: str | None
    base_url: str | None
    go_on: bool
    limits: "Limits"


@click.command()
@data_option
@lang_option
@json_option
@endpoint_options
@click.option("--judge", "judge_name", type=click.Choice(JUDGES), default="llm", help="Who judges: an LLM, or the baseline.")
@click.option(
    "--concurrency",
    type=click.IntRange(1),
    envvar="JUDGE_CONCURRENCY",
    show_envvar=True,
    help="Requests in flight, instead of judge.toml's.",
)
@seed_option
@click.option("--continue", "go_on", is_flag=True, help="Rate the pool although the gate is shut; merging stays shut.")
@click.option("--max-cost", type=click.FloatRange(0, min_open=True), help="Stop before this many US dollars are exceeded.")
@click.option("--max-requests", type=click.IntRange(1), help="Stop after this many requests.")
@click.option("--max-pairs", type=click.IntRange(1), help="Stop after this many pairs were asked for.")
@click.pass_context
def rate(
    context: click.Context,
    data: Path,
    langs: tuple[str, ...],
    as_json: bool,
    model: str | None,
    base_url: str | None,
    judge_name: str,
    concurrency: int | None,
    seed: int | None,
    go_on: bool,
    max_cost: float | None,
    max_requests: int | None,
    max_pairs: int | None,
) -> None:
    """Have a judge rate the expert-rated pairs and, once the gate is passed, the pool.

    What is rated stays rated: stopped by Ctrl-C, a limit or a crash, the same command goes on where it was. The key for an
    LLM is OPENAI_API_KEY. Exits 1 where a gate did not pass, 4 where something stopped the run.

    \b
    Examples:
      judge rate --model gpt-5-mini
      judge rate --lang go --model qwen3 --base-url http://127.0.0.1:8080/v1 --concurrency 4
      judge rate --judge baseline
    """
    import json

    from judge.money import Limits

    workspace = open_workspace(data, langs)
    settings = workspace.settings
    chosen = replace(settings.judge, concurrency=concurrency or settings.judge.concurrency)
    settings = replace(settings, judge=chosen, seed=settings.seed if seed is None else seed)
    workspace = replace(workspace, settings=settings)
    request = Request(judge_name, model, base_url, go_on, Limits(max_cost, max_requests, max_pairs))
    done = []
    for language in workspace.languages:
        entry, left = rate_language(workspace, language, request)
        request = replace(request, limits=left)
        done.append(entry)
    if as_json:
        click.echo(json.dumps({"languages": done}, ensure_ascii=False, indent=2))
    else:
        for entry in done:
            click.echo(_text(entry))
    if not go_on and any(entry["verdict"] != "passed" for entry in done):
        context.exit(GateClosed.exit_code)


def rate_language(workspace: Workspace, language: str, request: Request) -> tuple[dict[str, Any], "Limits"]:
    """Rate one language as far as its gate allows; returns what was done, as JSON values, and what is left of the limits."""
    import asyncio

    from judge.cli import judges
    from judge.ledger import Ledger
    from pools import pool

    # Everything that can be wrong with the inputs comes up here, before the ledger is touched or a request paid for.
    judge = judges.make(workspace, language, request.judge_name, request.model, request.base_url)
    validation, rest = judges.items(workspace, language)
    if not pool.path(workspace.folder, language).is_file():
        note(f"{language}: no pool yet, so only the expert-rated pairs are rated; `judge pool --lang {language}` draws it")
    with Ledger.open(workspace.ledger_path(language)) as ledger:
        for line in ledger.notes:
            note(line)
        _seal(workspace, language, judge.identity, ledger)
        record, outcomes = asyncio.run(_phases(workspace, language, judge, ledger, validation, rest, request))
        totals = ledger.totals(judge.identity.judge_id)
    limits = request.limits
    for outcome in outcomes:
        limits = limits.less(outcome.requests, outcome.pairs, outcome.cost)
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
    }, limits


async def _phases(
    workspace: Workspace,
    language: str,
    judge: "Judge",
    ledger: "Ledger",
    validation: "list[Item]",
    rest: "list[Item]",
    request: Request,
) -> "tuple[GateRecord, list[Outcome]]":
    from judge.cli import evidences, judges

    async with judges.opened(judge):
        first = await _run(workspace, judge, ledger, validation, "validation", language, request.limits)
        record = evidences.assess(workspace, language, judge.identity.judge_id)
        if not record.passed and not request.go_on:
            return record, [first]
        left = request.limits.less(first.requests, first.pairs, first.cost)
        return record, [first, await _run(workspace, judge, ledger, rest, "pool", language, left)]


def _seal(workspace: Workspace, language: str, identity: "Identity", ledger: "Ledger") -> None:
    from judge import entries
    from judge.cli import evidences

    stated = evidences.stated(workspace, language)
    sealed = ledger.seal(identity.judge_id)
    if sealed is None:
        ledger.add(entries.seal(identity, stated.gate, stated.relevant_from, stated.gold_sha256 or ""))
        return
    for line in evidences.seal_of(sealed).differences(evidences.stated(workspace, language, sealed)):
        note(f"{language}: {line}; the seal is what counts (`judge gate --reseal REASON` changes it)")


async def _run(
    workspace: Workspace,
    judge: "Judge",
    ledger: "Ledger",
    items: "list[Item]",
    purpose: "Purpose",
    language: str,
    limits: "Limits",
) -> "Outcome":
    from tqdm import tqdm

    from judge import run

    settings = workspace.settings
    with tqdm(total=len(items), desc=f"{language} {purpose}", unit="pair", disable=None) as bar:
        return await run.rate(
            items, purpose, judge, ledger, settings.judge, settings.seed, _progress(bar), limits, settings.prices, note
        )


def _progress(bar: Any) -> Callable[[Any], None]:
    def show(progress: Any) -> None:
        bar.n = progress.done
        tokens = progress.usage.prompt + progress.usage.completion
        cost = "" if progress.cost is None else f", ${progress.cost:.4f}"
        bar.set_postfix_str(f"{tokens} tokens{cost}, {progress.failed} failed")

    return show


def _text(entry: dict[str, Any]) -> str:
    f1 = "undefined" if entry["f1"] is None else f"{entry['f1']:.4f}"
    pool = f"{entry['pool_rated']} of {entry['pool_pairs']} pooled pairs" if entry["pool_rated"] is not None else "the pool not"
    lines = [
        f"{entry['language']}: judge {entry['judge_id']} ({entry['model']}): {entry['validation_rated']} of "
        f"{entry['validation_pairs']} expert-rated pairs rated, {pool} rated, {len(entry['failed'])} failed; "
        f"F1 {f1}, gate {entry['verdict']}"
    ]
    return "\n".join([*lines, *(f"  failed  {pair}: {reason}" for pair, reason in entry["failed"].items())])
