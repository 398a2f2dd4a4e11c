"""`judge tune`: a judge's, or the retriever llm's, models and prompts tried on the tuning searches, and the best chosen."""

import itertools
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from judge.cli.workspace import Workspace, data_option, json_option, lang_option, note, open_workspace, show_json
from pools.errors import GateClosed, UsageError

if TYPE_CHECKING:
    from gates.measures.tuning import Result
    from judge.cli.trials import Setting
    from judge.rating.money import Limits

PAIRS = (1, 5, 10, 20, 40)


@click.command()
@data_option
@lang_option
@json_option
@click.option("--model", "models", multiple=True, envvar="JUDGE_MODEL", show_envvar=True, help="A model; repeatable.")
@click.option("--prompt", "prompts", multiple=True, metavar="P", help="A built-in prompt's name or a .j2 file; repeatable.")
@click.option(
    "--retriever", type=click.Choice(["llm"]), help="Tune the retriever llm, which asks yes or no, instead of a judge."
)
@click.option(
    "--pairs", type=click.IntRange(1), multiple=True, metavar="N",
    help="Pairs in one prompt; repeatable (default: 1, 5, 10, 20, 40).",
)  # fmt: skip
@click.option("--base-url", envvar="OPENAI_BASE_URL", show_envvar=True, metavar="URL", help="OpenAI-compatible endpoint.")
@click.option(
    "--concurrency", type=click.IntRange(1), envvar="JUDGE_CONCURRENCY", show_envvar=True,
    help="Requests in flight, instead of judge.toml's.",
)  # fmt: skip
@click.option("--max-cost", type=click.FloatRange(0, min_open=True), help="Stop before this many US dollars are exceeded.")
@click.option("--max-requests", type=click.IntRange(1), help="Stop after this many requests.")
@click.option("--print-only", is_flag=True, help="Leave judge.toml as it is; needed once a judge is sealed.")
def tune(
    data: Path,
    langs: tuple[str, ...],
    as_json: bool,
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
    from gates.measures import tuning
    from judge.rating.money import Limits

    workspace = open_workspace(data, langs)
    asked = replace(workspace.settings.judge, concurrency=concurrency or workspace.settings.judge.concurrency)
    workspace = replace(workspace, settings=replace(workspace.settings, judge=asked))
    if retriever is None and not print_only:
        _refuse_sealed(workspace)
    tried = (
        _judges(workspace, models, prompts=prompts, pairs=pairs)
        if retriever is None
        else _wordings(workspace, models, prompts=prompts, pairs=pairs)
    )
    found = _results(
        workspace, tried, of_retriever=retriever is not None, base_url=base_url, limits=Limits(max_cost, max_requests)
    )
    choice = tuning.choose(found)
    if as_json:
        show_json(_document(found, choice))
    else:
        click.echo(tuning.text(found, choice))
    if choice is None:
        raise GateClosed("no combination rated every tuning pair, so none is chosen, and judge.toml is as it was")
    if not print_only:
        _write(workspace, choice, retriever=retriever)


def _judges(workspace: Workspace, models: Sequence[str], *, prompts: Sequence[str], pairs: Sequence[int]) -> "list[Setting]":
    from judge.steps import endpoints

    named = models or (endpoints.model_name(workspace.settings, None),)
    return _combined(named, prompts or (workspace.settings.judge.prompt,), pairs=pairs or PAIRS)


def _wordings(workspace: Workspace, models: Sequence[str], *, prompts: Sequence[str], pairs: Sequence[int]) -> "list[Setting]":
    from judge.judges import questions
    from judge.steps import endpoints

    if pairs:
        raise UsageError("the retriever llm is asked about one pair at a time; leave --pairs out")
    settings = workspace.settings
    named = models or (settings.llm.model or endpoints.model_name(settings, None),)
    return _combined(named, prompts or questions.wordings(), pairs=(1,))


def _combined(models: Sequence[str], prompts: Sequence[str], *, pairs: Sequence[int]) -> "list[Setting]":
    from judge.cli.trials import Setting

    each = itertools.product(dict.fromkeys(models), dict.fromkeys(prompts), dict.fromkeys(pairs))
    return [Setting(model, prompt, number) for model, prompt, number in each]


def _results(
    workspace: Workspace, tried: "Sequence[Setting]", *, of_retriever: bool, base_url: str | None, limits: "Limits"
) -> "tuple[Result, ...]":
    from gates.measures import tuning
    from judge.cli import trials

    trials.check(workspace, tried, of_retriever=of_retriever)
    pairs = trials.items(workspace)
    run = trials.of_retriever if of_retriever else trials.of_judge
    found = []
    for setting in tried:
        trial, limits = run(workspace, pairs, setting=setting, base_url=base_url, limits=limits)
        found.append(trial)
    settings = workspace.settings
    rated = trials.experts(workspace, pairs)
    return tuning.results(
        rated, found, relevant_from=settings.relevant_from, resamples=settings.gate.resamples, seed=settings.seed
    )


def _refuse_sealed(workspace: Workspace) -> None:
    from judge.ledger.ledger import Ledger

    for language in workspace.dataset.languages:
        path = workspace.ledger_path(language)
        judges = Ledger.read(path).judges()
        if judges:
            raise UsageError(
                f"{path}: judge {judges[0]} is sealed, and settings are chosen before that; add --print-only to see the figures"
            )


def _document(found: "Sequence[Result]", choice: "Result | None") -> dict[str, Any]:
    from dataclasses import asdict

    entries = []
    for result in found:
        entry = asdict(result)
        trial = entry.pop("trial")
        del trial["ratings"], trial["scores"], trial["spent"]
        entries.append(trial | entry | {"chosen": result is choice})
    return {"combinations": entries}


def _write(workspace: Workspace, choice: "Result", *, retriever: str | None) -> None:
    from pools.dataset import files, settings, settings_file

    path = workspace.folder / settings.FILE
    before = files.read(path).decode("utf-8") if path.is_file() else ""
    trial, section = choice.trial, retriever or "judge"
    values: dict[str, settings_file.Value] = {"model": trial.model, "prompt": trial.prompt}
    if retriever is None:
        values["pairs_per_batch"] = trial.pairs_per_batch
    files.replace(path, settings_file.changed(before, section, values=values).encode("utf-8"))
    note(f"{path}: " + ", ".join(f"{section}.{key} = {value}" for key, value in values.items()))
    if retriever is None and workspace.settings.gate.split == "all":
        note('the pairs tuned on count at the gate; gate.split = "test" in judge.toml, before `judge rate`, leaves them out')
