"""`judge rate`: the expert-rated pairs first, then the gate, then the pool."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from judge.cli.workspace import (
    Workspace,
    data_option,
    endpoint_options,
    json_option,
    lang_option,
    open_workspace,
    seed_option,
    show_json,
)
from pools.errors import GateClosed

JUDGES = ("llm", "baseline")


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
@click.option("--dry-run", is_flag=True, help="Only tell what an LLM would be asked, and about what that would cost.")
@click.option("--batch-api", is_flag=True, help="Rate through the endpoint's batch interface, in jobs that may take a day.")
@click.option(
    "--replay", type=click.Path(path_type=Path), metavar="LEDGER", help="Read the replies of another ledger again, offline."
)
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
    dry_run: bool,
    batch_api: bool,
    replay: Path | None,
) -> None:
    """Have a judge rate the expert-rated pairs and, once the gate is passed, the pool.

    What is rated stays rated: stopped by Ctrl-C, a limit or a crash, the same command goes on where it was. The key for an
    LLM is OPENAI_API_KEY. Exits 1 where a gate did not pass, 4 where something stopped the run.

    \b
    Examples:
      judge rate --model gpt-5-mini
      judge rate --lang go --model qwen3 --base-url http://127.0.0.1:8080/v1 --concurrency 4
      judge rate --judge baseline
      judge rate --model gpt-5-mini --dry-run
      judge rate --lang go --replay ../published/judgements.jsonl
    """
    workspace = _overridden(open_workspace(data, langs), concurrency, seed=seed)

    from judge.cli import phases
    from judge.rating.money import Limits

    if dry_run:
        plans = [phases.plan(workspace, language, model=model) for language in workspace.languages]
        _show({"languages": plans}, as_json, text=_plans(plans))
        return
    if replay is not None:
        entry = phases.replayed(workspace, replay)
        _show(entry, as_json, text=_replayed(entry))
        return
    request = phases.Request(judge_name, model, base_url, go_on, Limits(max_cost, max_requests, max_pairs), batch_api)
    done = []
    for language in workspace.languages:
        entry, left = phases.rate(workspace, language, request=request)
        request = replace(request, limits=left)
        done.append(entry)
    _show({"languages": done}, as_json, text="\n".join(_text(entry) for entry in done))
    if not go_on and any(entry["verdict"] != "passed" for entry in done):
        context.exit(GateClosed.exit_code)


def _show(document: dict[str, Any], as_json: bool, *, text: str) -> None:
    if as_json:
        show_json(document)
    else:
        click.echo(text)


def _overridden(workspace: Workspace, concurrency: int | None, *, seed: int | None) -> Workspace:
    settings = workspace.settings
    chosen = replace(settings.judge, concurrency=concurrency or settings.judge.concurrency)
    return replace(workspace, settings=replace(settings, judge=chosen, seed=settings.seed if seed is None else seed))


def _text(entry: dict[str, Any]) -> str:
    f1 = "undefined" if entry["f1"] is None else f"{entry['f1']:.4f}"
    pool = f"{entry['pool_rated']} of {entry['pool_pairs']} pooled pairs" if entry["pool_rated"] is not None else "the pool not"
    lines = [
        f"{entry['language']}: judge {entry['judge_id']} ({entry['model']}): {entry['validation_rated']} of "
        f"{entry['validation_pairs']} expert-rated pairs rated, {pool} rated, {len(entry['failed'])} failed; "
        f"F1 {f1}, gate {entry['verdict']}"
    ]
    return "\n".join([*lines, *(f"  failed  {pair}: {reason}" for pair, reason in entry["failed"].items())])


def _plans(plans: list[dict[str, Any]]) -> str:
    head = ("language", "pairs of", "pairs", "batches", "prompt characters", "prompt tokens", "completion tokens", "cost")
    rows = [head]
    for plan in plans:
        for purpose in ("validation", "pool"):
            found = plan[purpose]
            cost = "no prices in judge.toml" if found["cost"] is None else f"about ${found['cost']:.4f}"
            counts = [str(found[key]) for key in ("pairs", "batches", "characters")]
            tokens = [f"about {found[key]}" for key in ("prompt_tokens", "completion_tokens")]
            rows.append((plan["language"], purpose, *counts, *tokens, cost))
    widths = [max(len(row[column]) for row in rows) for column in range(len(head))]
    return "\n".join("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows)


def _replayed(entry: dict[str, Any]) -> str:
    lines = [f"{entry['language']}: {entry['replies']} replies read again"]
    for judge_id, verdict in entry["verdicts"].items():
        lines.append(f"  judge {judge_id}: {entry['changed'][judge_id]} ratings changed, gate {verdict}")
    return "\n".join(lines)
