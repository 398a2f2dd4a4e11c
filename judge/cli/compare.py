"""`judge compare`: two judges side by side on the same expert-rated pairs."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from judge.cli.workspace import Workspace, data_option, json_option, lang_option, open_workspace, show_json
from pools.dataset.records import PairKey
from pools.errors import UsageError

if TYPE_CHECKING:
    from gates.measures.comparison import Comparison
    from judge.ledger.ledger import Ledger


@dataclass(frozen=True, slots=True)
class Spending:
    """What a judge's replies took; a panel's are its members' together. `cost` in US dollars, None where nobody tells."""

    requests: int
    prompt_tokens: int
    cached_tokens: int
    completion_tokens: int
    cost: float | None


@dataclass(frozen=True, slots=True)
class Side:
    """One of the two: how it was named, whose ratings they are (None: as published), and what they took (None: not known)."""

    name: str
    judge_id: str | None
    model: str | None
    ratings: dict[PairKey, int]
    spending: Spending | None


@click.command()
@data_option
@lang_option
@json_option
@click.argument("first", metavar="A")
@click.argument("second", metavar="B")
def compare(data: Path, langs: tuple[str, ...], as_json: bool, first: str, second: str) -> None:
    """Tell how judge B does against judge A: the difference of F1 with its interval, flips, tokens and cost.

    A and B are each the id of a judge in this dataset's ledger (see `judge status`), the file of another ledger (its judge
    sealed last, or FILE:ID), or a dataset's folder (its ledgers, else the ratings its qrels carry). The interval is of the
    paired difference: each resample draws the same searches for both.

    \b
    Examples:
      judge compare 9ecbd489fbbab1c9 02c2b5b1ea5c9f2d --lang go
      judge compare 9ecbd489fbbab1c9 ../other/judgements.jsonl --lang go
      judge compare ../published . --json
    """
    from dataclasses import asdict

    from gates.measures import comparison

    workspace = open_workspace(data, langs)
    settings = workspace.settings
    found: list[tuple[str, Side, Side, Comparison]] = []
    for language in workspace.languages:
        one, two = (_side(workspace, language, name=name) for name in (first, second))
        experts = _counted(workspace, language)
        compared = comparison.compare(
            experts,
            one.ratings,
            second=two.ratings,
            relevant_from=settings.relevant_from,
            resamples=settings.gate.resamples,
            seed=settings.seed,
        )
        found.append((language, one, two, compared))
    if as_json:
        documents = [
            {"language": language, "a": _document(one), "b": _document(two), **asdict(compared)}
            for language, one, two, compared in found
        ]
        show_json({"languages": documents})
    else:
        click.echo("\n\n".join(_text(language, one, two=two, compared=compared) for language, one, two, compared in found))


def _counted(workspace: Workspace, language: str) -> dict[PairKey, tuple[int, ...]]:
    from gates.verdict.seal import searches_left_out

    left_out = searches_left_out(workspace.dataset, language, gate=workspace.settings.gate)
    return {pair: given for pair, given in workspace.dataset.experts_of(language).items() if pair[0] not in left_out}


def _side(workspace: Workspace, language: str, *, name: str) -> Side:
    from judge.cli import evidences
    from judge.ledger.ledger import Ledger

    folder, (file, _, judge_id) = Path(name), name.rpartition(":")
    if folder.is_dir():
        other = open_workspace(folder, (language,))
        ledger_path = other.ledger_path(language)
        if ledger_path.is_file():
            return _of_ledger(workspace, Ledger.read(ledger_path), path=ledger_path, name=name, judge_id=None)
        found = evidences.required(other, language)
        return Side(name, None, None, dict(found.ratings), None)
    if folder.is_file() or Path(file).is_file():
        if len(workspace.languages) > 1:
            raise UsageError(f"{name} is the ledger of one language; name it with --lang: {', '.join(workspace.languages)}")
        path, wanted = (folder, None) if folder.is_file() else (Path(file), judge_id)
        return _of_ledger(workspace, Ledger.read(path), path=path, name=name, judge_id=wanted)
    path = workspace.ledger_path(language)
    ledger = Ledger.read(path)
    if name not in ledger.judges():
        known = ", ".join(ledger.judges()) or "none"
        raise UsageError(f"{name} is no judge of {language}, no ledger's file and no folder; {path} has the judges: {known}")
    return _of_ledger(workspace, ledger, path=path, name=name, judge_id=name)


def _of_ledger(workspace: Workspace, ledger: "Ledger", *, path: Path, name: str, judge_id: str | None) -> Side:
    from judge.cli import evidences, seals
    from judge.rating import money

    chosen = seals.choose(ledger, path, judge_id=judge_id)
    sealed = None if chosen is None else ledger.seal(chosen)
    if chosen is None or sealed is None:
        raise UsageError(f"{path}: holds no judge, so there is nothing to compare; run `judge rate`")
    totals = [ledger.totals(member) for member in evidences.members(ledger, chosen)]
    costs = [money.total(part, workspace.settings.prices) for part in totals]
    spending = Spending(
        requests=sum(part.requests for part in totals),
        prompt_tokens=sum(part.usage.prompt for part in totals),
        cached_tokens=sum(part.usage.cached for part in totals),
        completion_tokens=sum(part.usage.completion for part in totals),
        cost=None if None in costs else sum(cost or 0.0 for cost in costs),
    )
    return Side(name, chosen, str(sealed.identity["model"]), evidences.ratings(ledger, chosen), spending)


def _document(side: Side) -> dict[str, Any]:
    from dataclasses import asdict

    spent = None if side.spending is None else asdict(side.spending)
    return {"name": side.name, "judge_id": side.judge_id, "model": side.model, "rated": len(side.ratings), "spending": spent}


def _text(language: str, one: Side, *, two: Side, compared: "Comparison") -> str:
    from gates.report import details

    lines = [f"{language}: A is {_called(one)}, B is {_called(two)}", details.comparison(compared, "A", second="B")]
    return "\n".join([*lines, *(f"spent by {letter}: {_spent(side)}" for letter, side in (("A", one), ("B", two)))])


def _called(side: Side) -> str:
    return f"judge {side.judge_id} ({side.model})" if side.judge_id else f"{side.name} as published"


def _spent(side: Side) -> str:
    spent = side.spending
    if spent is None:
        return "not known"
    cost = "cost not known" if spent.cost is None else f"${spent.cost:.4f}"
    return (
        f"{spent.requests} requests, {spent.prompt_tokens} prompt tokens ({spent.cached_tokens} cached), "
        f"{spent.completion_tokens} completion tokens, {cost}"
    )
