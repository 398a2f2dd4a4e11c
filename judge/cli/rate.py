"""`judge rate`: the expert-rated pairs first, then the gate, then the pool."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from judge._judges import JUDGES
from judge.cli import bars
from judge.cli.options import (
    concurrency_option,
    data_option,
    endpoint_options,
    form_options,
    lang_option,
    limit_options,
    seed_option,
)
from judge.cli.printing import Form, Row, note, show
from pools import _grid as grid
from pools._dataset import folder
from pools._dataset.folder import DatasetFolder
from pools.errors import GateClosed, UsageError

if TYPE_CHECKING:
    from judge.steps.rate import Plan, Rated, Replay

REPLAYED = ("language", "judge_id", "replies", "changed", "verdict")


@click.command()
@data_option
@lang_option
@form_options
@endpoint_options
@click.option("--judge", type=click.Choice(JUDGES), default="llm", help="Who judges: an LLM, or the baseline.")
@concurrency_option
@seed_option
@click.option("--continue", "continue_", is_flag=True, help="Rate the pool although the gate is shut; merging stays shut.")
@limit_options()
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
    form: Form,
    model: str | None,
    base_url: str | None,
    judge: str,
    concurrency: int | None,
    seed: int | None,
    continue_: bool,
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
    from judge.steps import rate as step

    found = folder.load(data, langs)
    if dry_run or replay is not None:
        _offline(found, form, model=model, seed=seed, ledger=None if dry_run else replay)
        return
    with bars.shown() as progress:
        done = step.rate(
            found,
            judge=judge,
            model=model,
            base_url=base_url,
            concurrency=concurrency,
            seed=seed,
            continue_=continue_,
            max_cost=max_cost,
            max_requests=max_requests,
            max_pairs=max_pairs,
            batch_api=batch_api,
            note=note,
            progress=progress,
        )
    document = {"languages": [rated.document() for rated in done]}
    show(form, lambda: text(done), document=lambda: document, rows=lambda: map(_row, done))
    if not continue_ and not all(rated.passed for rated in done):
        context.exit(GateClosed.exit_code)


def _offline(found: DatasetFolder, form: Form, *, model: str | None, seed: int | None, ledger: Path | None) -> None:
    """Read another ledger's replies again, or tell without one what an LLM would be asked."""
    from judge.steps import rate as step

    if ledger is None:
        plans = [step.plan(partition, model=model, seed=seed) for partition in found]
        document = {"languages": [plan.document() for plan in plans]}
        show(form, lambda: _plans(plans), document=lambda: document, rows=lambda: _plan_rows(plans))
        return
    if len(found.languages) > 1:
        raise UsageError(f"--replay reads the ledger of one language; name it with --lang ({', '.join(found.languages)})")
    read = step.replay(found[found.languages[0]], ledger)
    show(form, lambda: _replayed(read), document=read.document, rows=lambda: _replay_rows(read), columns=REPLAYED)


def text(done: "Sequence[Rated]") -> str:
    """Return what was rated for the terminal: a line a language, then its failed pairs."""
    return "\n".join(map(_text, done))


def _text(rated: "Rated") -> str:
    f1 = "undefined" if rated.f1 is None else f"{rated.f1:.4f}"
    pool = f"{rated.pool_rated} of {rated.pool_pairs} pooled pairs" if rated.pool_rated is not None else "the pool not"
    lines = [
        f"{rated.language}: judge {rated.judge_id} ({rated.model}): {rated.validation_rated} of "
        f"{rated.validation_pairs} expert-rated pairs rated, {pool} rated, {len(rated.failed)} failed; "
        f"F1 {f1}, gate {rated.verdict}"
    ]
    return "\n".join([*lines, *(f"  failed  {' '.join(pair)}: {reason}" for pair, reason in rated.failed.items())])


def _row(rated: "Rated") -> Row:
    return {**rated.document(), "failed": len(rated.failed)}


def _plans(plans: "Sequence[Plan]") -> str:
    head = ("language", "pairs of", "pairs", "batches", "prompt characters", "prompt tokens", "completion tokens", "cost")
    rows: list[tuple[str, ...]] = [head]
    for plan in plans:
        for purpose, found in (("validation", plan.validation), ("pool", plan.pool)):
            cost = "no prices in judge.toml" if found.cost is None else f"about ${found.cost:.4f}"
            counts = [str(count) for count in (found.pairs, found.batches, found.characters)]
            tokens = [f"about {count}" for count in (found.usage.prompt, found.usage.completion)]
            rows.append((plan.language, purpose, *counts, *tokens, cost))
    return "\n".join(grid.lines(rows))


def _plan_rows(plans: "Sequence[Plan]") -> list[Row]:
    return [
        {
            "language": plan.language,
            "judge_id": plan.judge_id,
            "model": plan.model,
            "purpose": purpose,
            **plan.document()[purpose],
        }
        for plan in plans
        for purpose in ("validation", "pool")
    ]


def _replayed(read: "Replay") -> str:
    lines = [f"{read.language}: {read.replies} replies read again"]
    for judge_id, verdict in read.verdicts.items():
        lines.append(f"  judge {judge_id}: {read.changed[judge_id]} ratings changed, gate {verdict}")
    return "\n".join(lines)


def _replay_rows(read: "Replay") -> list[Row]:
    return [
        dict(zip(REPLAYED, (read.language, judge_id, read.replies, read.changed[judge_id], verdict), strict=True))
        for judge_id, verdict in read.verdicts.items()
    ]
