"""`judge pool`: the retrievers' hits and the pool drawn from them."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from judge.cli import bars
from judge.cli.options import data_option, endpoint_options, json_option, lang_option, limit_options, seed_option
from judge.cli.printing import note, show_json

if TYPE_CHECKING:
    from judge.steps.pool import DrawnPool, Plan


@click.command()
@data_option
@lang_option
@endpoint_options
@seed_option
@json_option
@limit_options(whose="llm ")
@click.option("--dry-run", is_flag=True, help="Only tell what llm would be asked, and about what that would cost.")
@click.option("--retrievers", "only_list", is_flag=True, help="Only list the retrievers that there are, and what each needs.")
def pool(
    data: Path,
    langs: tuple[str, ...],
    model: str | None,
    base_url: str | None,
    seed: int | None,
    as_json: bool,
    max_cost: float | None,
    max_requests: int | None,
    max_pairs: int | None,
    dry_run: bool,
    only_list: bool,
) -> None:
    """Run the retrievers and draw the samples: which pairs are to be judged.

    grep-agent needs one pattern a search in work/<language>/patterns.jsonl; with --model (or judge.model) an LLM writes those
    that are missing, and you can write or edit them by hand. Without either it is left out, with a note; so is embedding
    where the packages it needs, or enough expert ratings to tell a hit by, are missing.

    llm asks a model about one pair at a time, and runs only where pool.retrievers in judge.toml names it. What is answered
    stays answered: stopped by Ctrl-C, a limit or a crash, the same command goes on where it was, and no pool is drawn before.

    Retrievers of other packages run where pool.retrievers names them; --retrievers lists all that are installed.

    Run again after new functions, searches, retrievers or settings, it adds what is new: every pair of the pool stays, and its
    samples stay random ones of known probability. To draw another pool instead, remove work/<language>/pool.parquet.

    \b
    Examples:
      judge pool --lang go
      judge pool --model gpt-5-mini
      judge pool --model gpt-4.1-mini --max-cost 2
      judge pool --retrievers
    """
    if only_list:
        _list(as_json=as_json)
        return
    from judge.steps import pool as pooling
    from pools._dataset import folder

    chosen = folder.load(data, langs)
    if dry_run:
        _show_plans(pooling.plan(chosen, model=model, note=note), as_json=as_json)
        return
    with bars.shown() as progress:
        drawn = pooling.pool(
            chosen,
            model=model,
            base_url=base_url,
            seed=seed,
            max_cost=max_cost,
            max_requests=max_requests,
            max_pairs=max_pairs,
            note=note,
            progress=progress,
        )
    _show_pools(drawn, as_json=as_json)


def _show_pools(drawn: "tuple[DrawnPool, ...]", *, as_json: bool) -> None:
    if as_json:
        show_json({"languages": [entry.document() for entry in drawn]})
        return
    for entry in drawn:
        click.echo("\n".join(_lines(entry)))


def _lines(drawn: "DrawnPool") -> list[str]:
    from pools._sampling import contribution

    strata = ", ".join(f"{name} {count}" for name, count in drawn.strata.items())
    return [
        f"{drawn.language}: {drawn.pairs} pairs to judge, {drawn.new} of them new ({strata}), {drawn.validation} expert-rated",
        *(f"  {line}" for line in contribution.lines(drawn.contribution)),
    ]


def _show_plans(plans: "tuple[Plan, ...]", *, as_json: bool) -> None:
    if as_json:
        show_json({"languages": [plan.document() for plan in plans]})
        return
    for plan in plans:
        cost = "no prices in judge.toml" if plan.cost is None else f"about ${plan.cost:.4f}"
        click.echo(
            f"{plan.language}: llm would be asked about {plan.requests} of {plan.pairs} pairs: {plan.characters} characters, "
            f"about {plan.prompt_tokens} prompt tokens and {plan.completion_tokens} completion tokens; {cost}"
        )


def _list(*, as_json: bool) -> None:
    from pools._retrievers import registry

    found = registry.listed()
    if as_json:
        show_json({"retrievers": [entry.document() for entry in found]})
        return
    for entry in found:
        click.echo(f"{entry.name} (of {entry.package})")
        if entry.retriever is None:
            click.echo(f"  cannot be used: {entry.fault}")
            continue
        click.echo(f"  {entry.retriever.about}")
        if entry.retriever.needs:
            click.echo(f"  needs {'; '.join(entry.retriever.needs)}")
