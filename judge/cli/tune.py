"""`judge tune`: a judge's, or the retriever llm's, models and prompts tried on the tuning searches, and the best chosen."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from judge.cli import bars
from judge.cli.options import base_url_option, concurrency_option, data_option, form_options, lang_option, limit_options
from judge.cli.printing import Form, Row, ends, note, show
from pools._dataset import folder
from pools.errors import GateClosed

if TYPE_CHECKING:
    from gates._measures.measure import Figure
    from gates._measures.tuning import Result


@click.command()
@data_option
@lang_option
@form_options
@click.option("--model", "models", multiple=True, envvar="JUDGE_MODEL", show_envvar=True, help="A model; repeatable.")
@click.option("--prompt", "prompts", multiple=True, metavar="P", help="A built-in prompt's name or a .j2 file; repeatable.")
@click.option(
    "--retriever", type=click.Choice(["llm"]), help="Tune the retriever llm, which asks yes or no, instead of a judge."
)
@click.option(
    "--pairs", type=click.IntRange(1), multiple=True, metavar="N",
    help="Pairs in one prompt; repeatable (default: 1, 5, 10, 20, 40).",
)  # fmt: skip
@base_url_option
@concurrency_option
@limit_options(pairs=False)
@click.option("--print-only", is_flag=True, help="Leave judge.toml as it is; needed once a judge is sealed.")
def tune(
    data: Path,
    langs: tuple[str, ...],
    form: Form,
    models: tuple[str, ...],
    prompts: tuple[str, ...],
    retriever: str | None,
    pairs: tuple[int, ...],
    base_url: str | None,
    concurrency: int | None,
    max_cost: float | None,
    max_requests: int | None,
    print_only: bool,
) -> None:
    """Try models, prompts and pairs a prompt on the tuning searches, and write the best into judge.toml.

    Every combination rates the expert-rated pairs of searches of split `tuning`, and no other. Shown of each: F1 and the area
    under the ROC curve with their 95% intervals, the share of verdicts that differ from the first combination's, tokens and
    cost. Chosen is the greatest F1, of equals the greater area, then the lower cost. What is not given comes from judge.toml.

    Replies are kept in work/<language>/tuning/, so the same command again asks for nothing it has. Once a judge is sealed,
    judge.toml is not written any more, and --print-only is needed.

    With --retriever llm the same is done for the question that the retriever llm asks of a pair, one pair a prompt: F1 is then
    that of a hit, and the area that of the probability. Tried are all built-in wordings, unless --prompt names some. The choice
    goes into [llm], and may be made at any time, as no judge depends on it.

    \b
    Examples:
      judge tune --model gpt-5-mini --model gpt-5-nano
      judge tune --model qwen3 --prompt judge --prompt mine.j2 --pairs 1 --pairs 10 --lang go --max-cost 2
      judge tune --retriever llm --model gpt-4.1-mini --prompt yesno --prompt mine.j2
    """
    from gates._measures import tuning
    from judge.steps import tune as step

    with bars.shown() as progress:
        tuned = step.tune(
            folder.load(data, langs),
            model=models,
            prompt=prompts,
            retriever=retriever,
            pairs=pairs,
            base_url=base_url,
            concurrency=concurrency,
            max_cost=max_cost,
            max_requests=max_requests,
            print_only=print_only,
            note=note,
            progress=progress,
        )
    show(
        form,
        lambda: tuning.text(tuned.results, tuned.choice),
        document=tuned.document,
        rows=lambda: [_row(result, chosen=result is tuned.choice) for result in tuned.results],
    )
    if tuned.choice is None:
        raise GateClosed("no combination rated every tuning pair, so none is chosen, and judge.toml is as it was")


def _row(result: "Result", *, chosen: bool) -> Row:
    trial = result.trial
    return {
        "model": trial.model,
        "prompt": trial.prompt,
        "pairs_per_batch": trial.pairs_per_batch,
        "judge_id": trial.judge_id,
        "pairs": result.pairs,
        "unrated": result.unrated,
        **_figure("f1", result.f1),
        **_figure("area", result.area),
        **_figure("flips", result.flips),
        "requests": trial.requests,
        "prompt_tokens": trial.prompt_tokens,
        "completion_tokens": trial.completion_tokens,
        "cost": trial.cost,
        **_figure("cost_a_thousand", result.cost_a_thousand),
        "chosen": chosen,
    }


def _figure(name: str, figure: "Figure | None") -> Row:
    value, interval = (None, None) if figure is None else (figure.value, figure.interval)
    return {name: value, **ends(name, interval)}
