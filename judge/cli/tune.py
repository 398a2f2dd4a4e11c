"""`judge tune`: prompts, pairs a prompt and models tried on the tuning searches, before anything is sealed."""

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from judge.cli.workspace import Workspace, data_option, json_option, lang_option, note, open_workspace
from pools.dataset import PairKey
from pools.errors import GateClosed, UsageError

if TYPE_CHECKING:
    from gates.tuning import Result, Trial
    from judge.batches import Item
    from judge.money import Limits

PAIRS = (1, 5, 10, 20, 40)


@dataclass(frozen=True, slots=True)
class Setting:
    """What is tried: a model, a prompt's name or path, pairs a prompt."""

    model: str
    prompt: str
    pairs_per_batch: int


@click.command()
@data_option
@lang_option
@json_option
@click.option("--model", "models", multiple=True, envvar="JUDGE_MODEL", show_envvar=True, help="A model; repeatable.")
@click.option("--prompt", "prompts", multiple=True, metavar="P", help="A built-in prompt's name or a .j2 file; repeatable.")
@click.option(
    "--pairs", type=click.IntRange(1), multiple=True, default=PAIRS, metavar="N",
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

    \b
    Examples:
      judge tune --model gpt-5-mini --model gpt-5-nano
      judge tune --model qwen3 --prompt judge --prompt mine.j2 --pairs 1 --pairs 10 --lang go --max-cost 2
    """
    import json

    from gates import tuning
    from judge.cli import endpoints
    from judge.money import Limits

    workspace = open_workspace(data, langs)
    asked = replace(workspace.settings.judge, concurrency=concurrency or workspace.settings.judge.concurrency)
    workspace = replace(workspace, settings=replace(workspace.settings, judge=asked))
    if not print_only:
        _refuse_sealed(workspace)
    named = models or (endpoints.model_name(workspace.settings, None),)
    tried = [
        Setting(*values)
        for values in itertools.product(dict.fromkeys(named), dict.fromkeys(prompts or (asked.prompt,)), dict.fromkeys(pairs))
    ]
    found = _results(workspace, tried, base_url, Limits(max_cost, max_requests))
    choice = tuning.choose(found)
    click.echo(json.dumps(_document(found, choice), ensure_ascii=False, indent=2) if as_json else tuning.text(found, choice))
    if choice is None:
        raise GateClosed("no combination rated every tuning pair, so none is chosen, and judge.toml is as it was")
    if not print_only:
        _write(workspace, choice)


def _results(workspace: Workspace, tried: Sequence[Setting], base_url: str | None, limits: "Limits") -> "tuple[Result, ...]":
    from gates import tuning

    items = _items(workspace)
    trials = []
    for setting in tried:
        trial, limits = _trial(workspace, items, setting, base_url, limits)
        trials.append(trial)
    settings, values = workspace.settings, workspace.scale.values
    experts = _experts(workspace, items)
    return tuning.results(experts, trials, values, settings.relevant_from, settings.gate.resamples, settings.seed)


def _refuse_sealed(workspace: Workspace) -> None:
    from judge.ledger import Ledger

    for language in workspace.dataset.languages:
        path = workspace.ledger_path(language)
        judges = Ledger.read(path).judges()
        if judges:
            raise UsageError(
                f"{path}: judge {judges[0]} is sealed, and settings are chosen before that; add --print-only to see the figures"
            )


def _items(workspace: Workspace) -> "dict[str, list[Item]]":
    from judge.cli import judges

    found = {}
    for language in workspace.languages:
        tuned = {query.search_id for query in workspace.dataset.queries_of(language) if query.split == "tuning"}
        if tuned:
            found[language] = [item for item in judges.items(workspace, language)[0] if item.pair[0] in tuned]
        if not found.get(language):
            note(f"{language}: no expert-rated pair of a search of split tuning; it has no part in this")
    found = {language: items for language, items in found.items() if items}
    if not found:
        raise UsageError(
            f'{workspace.folder}: no expert-rated pair to tune on; give some searches the split "tuning" in queries.jsonl.gz'
        )
    return found


def _together(language: str, pair: PairKey) -> PairKey:
    # Searches of equal id in two languages are two searches.
    return (f"{language} {pair[0]}", pair[1])


def _experts(workspace: Workspace, items: "dict[str, list[Item]]") -> dict[PairKey, tuple[int, ...]]:
    out = {}
    for language, part in items.items():
        experts = workspace.dataset.experts_of(language)
        out.update({_together(language, item.pair): experts[item.pair] for item in part})
    return out


def _trial(
    workspace: Workspace, items: "dict[str, list[Item]]", setting: Setting, base_url: str | None, limits: "Limits"
) -> "tuple[Trial, Limits]":
    """Have one combination rate the tuning pairs of every language, as far as its ledgers lack them."""
    from gates.tuning import Trial
    from judge import money
    from judge.ledger import Ledger

    changed = replace(workspace.settings.judge, prompt=setting.prompt, pairs_per_batch=setting.pairs_per_batch)
    tuned = replace(workspace, settings=replace(workspace.settings, judge=changed))
    ratings: dict[PairKey, int] = {}
    totals, costs, judge_id = [], [], ""
    for language, part in items.items():
        judge_id, limits = _rate(tuned, language, part, setting, base_url, limits)
        ledger = Ledger.read(_ledger_path(workspace, language, judge_id))
        ratings.update({_together(language, pair): rating for pair, rating in ledger.ratings(judge_id).items()})
        totals.append(ledger.totals(judge_id))
        costs.append(money.total(totals[-1], workspace.settings.prices))
    trial = Trial(
        model=setting.model,
        prompt=setting.prompt,
        pairs_per_batch=setting.pairs_per_batch,
        judge_id=judge_id,
        ratings=ratings,
        requests=sum(entry.requests for entry in totals),
        prompt_tokens=sum(entry.usage.prompt for entry in totals),
        completion_tokens=sum(entry.usage.completion for entry in totals),
        cost=None if None in costs else sum(cost or 0.0 for cost in costs),
    )
    return trial, limits


def _ledger_path(workspace: Workspace, language: str, judge_id: str) -> Path:
    from pools import dataset

    return dataset.work(workspace.folder, language) / "tuning" / f"{judge_id}.jsonl"


def _rate(
    workspace: Workspace, language: str, items: "list[Item]", setting: Setting, base_url: str | None, limits: "Limits"
) -> "tuple[str, Limits]":
    import asyncio

    from tqdm import tqdm

    from judge import entries, run
    from judge.cli import judges, seals
    from judge.ledger import Ledger

    settings = workspace.settings
    judge = judges.make(workspace, language, "llm", setting.model, base_url)
    judge_id = judge.identity.judge_id
    if len(items) < setting.pairs_per_batch:
        note(f"{language}: {len(items)} tuning pairs do not fill a prompt of {setting.pairs_per_batch}")

    async def rate(ledger: Ledger, progress: Callable[[Any], None]) -> run.Outcome:
        async with judges.opened(judge):
            return await run.rate(
                items, "validation", judge, ledger, settings.judge, settings.seed, progress, limits, settings.prices, note
            )

    with Ledger.open(_ledger_path(workspace, language, judge_id)) as ledger:
        if ledger.seal(judge_id) is None:
            stated = seals.stated(workspace, language)
            ledger.add(entries.seal(judge.identity, stated.gate, stated.relevant_from, stated.gold_sha256 or ""))
        words = f"{language} {setting.model} {setting.prompt} {setting.pairs_per_batch}"
        with tqdm(total=len(items), desc=words, unit="pair", disable=None) as bar:

            def progress(state: Any) -> None:
                bar.update(state.done - bar.n)

            outcome = asyncio.run(rate(ledger, progress))
    return judge_id, limits.less(outcome.requests, outcome.pairs, outcome.cost)


def _document(found: "Sequence[Result]", choice: "Result | None") -> dict[str, Any]:
    from dataclasses import asdict

    entries = []
    for result in found:
        entry = asdict(result)
        trial = entry.pop("trial")
        del trial["ratings"]
        entries.append(trial | entry | {"chosen": result is choice})
    return {"combinations": entries}


def _write(workspace: Workspace, choice: "Result") -> None:
    from pools import files, settings, settings_file

    path = workspace.folder / settings.FILE
    before = files.read(path).decode("utf-8") if path.is_file() else ""
    trial = choice.trial
    values: dict[str, settings_file.Value] = {
        "model": trial.model, "prompt": trial.prompt, "pairs_per_batch": trial.pairs_per_batch,
    }  # fmt: skip
    files.replace(path, settings_file.changed(before, "judge", values).encode("utf-8"))
    note(f"{path}: judge.model = {trial.model}, judge.prompt = {trial.prompt}, judge.pairs_per_batch = {trial.pairs_per_batch}")
    if workspace.settings.gate.split == "all":
        note('the pairs tuned on count at the gate; gate.split = "test" in judge.toml, before `judge rate`, leaves them out')
