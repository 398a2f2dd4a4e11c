"""`judge compare`: two judges side by side on the same expert-rated pairs."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from judge.cli.options import data_option, form_options, lang_option
from judge.cli.printing import Form, Row, ends, show
from pools._dataset import folder

if TYPE_CHECKING:
    from judge.steps.compare import Compared, Side


@click.command()
@data_option
@lang_option
@form_options
@click.argument("first", metavar="A")
@click.argument("second", metavar="B")
def compare(data: Path, langs: tuple[str, ...], form: Form, first: str, second: str) -> None:
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
    from judge.steps import compare as step

    found = step.compare(folder.load(data, langs), first, b=second)
    show(
        form,
        lambda: "\n\n".join(map(_text, found)),
        document=lambda: {"languages": [compared.document() for compared in found]},
        rows=lambda: map(_row, found),
    )


def _text(found: "Compared") -> str:
    from gates._report import details

    lines = [
        f"{found.language}: A is {_called(found.a)}, B is {_called(found.b)}",
        details.comparison(found.comparison, "A", second="B"),
    ]
    return "\n".join([*lines, *(f"spent by {letter}: {_spent(side)}" for letter, side in (("A", found.a), ("B", found.b)))])


def _row(found: "Compared") -> Row:
    compared = found.comparison
    return {
        "language": found.language,
        **_side(found.a, "a"),
        **_side(found.b, "b"),
        "pairs": compared.pairs,
        "first": compared.first,
        "second": compared.second,
        "difference": compared.difference,
        **ends("difference", compared.interval),
        "share": compared.share,
        "corrected": compared.corrected,
        "spoiled": compared.spoiled,
        "flip_pairs": compared.flips.pairs,
        "flip_first_only": compared.flips.first_only,
        "flip_second_only": compared.flips.second_only,
    }


def _side(side: "Side", letter: str) -> Row:
    known = {"name": side.name, "judge_id": side.judge_id, "model": side.model, "rated": len(side.ratings)}
    spent = side.spending
    figures = {
        name: None if spent is None else getattr(spent, name)
        for name in ("requests", "prompt_tokens", "cached_tokens", "completion_tokens", "cost")
    }
    return {f"{letter}_{name}": value for name, value in (known | figures).items()}


def _called(side: "Side") -> str:
    return f"judge {side.judge_id} ({side.model})" if side.judge_id else f"{side.name} as published"


def _spent(side: "Side") -> str:
    spent = side.spending
    if spent is None:
        return "not known"
    cost = "cost not known" if spent.cost is None else f"${spent.cost:.4f}"
    return (
        f"{spent.requests} requests, {spent.prompt_tokens} prompt tokens ({spent.cached_tokens} cached), "
        f"{spent.completion_tokens} completion tokens, {cost}"
    )
