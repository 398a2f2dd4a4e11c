"""`judge status`: what is pooled, asked, rated, failed and spent, by language, and by judge and retriever llm."""

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import click

from judge.cli.options import data_option, form_options, lang_option
from judge.cli.printing import Form, Row, show
from pools._dataset import folder

if TYPE_CHECKING:
    from judge.steps.status import Account, Status


@click.command()
@data_option
@lang_option
@form_options
def status(data: Path, langs: tuple[str, ...], form: Form) -> None:
    """Show where a dataset stands: pairs pooled, asked about, rated and failed, verdicts, tokens and cost.

    \b
    Examples:
      judge status
      judge status --lang go --json
    """
    from judge.steps import status as step

    found = [step.status(partition) for partition in folder.load(data, langs)]
    show(
        form,
        lambda: "\n\n".join(map(_text, found)),
        document=lambda: {"languages": [entry.document() for entry in found]},
        rows=lambda: [row for entry in found for row in _rows(entry)],
    )


def _rows(entry: "Status") -> list[Row]:
    """Return a row for each judge and retriever llm of a language, and one without either where it has none."""
    language: Row = {
        "language": entry.language,
        "searches": entry.searches,
        "functions": entry.functions,
        "expert_pairs": entry.expert_pairs,
        "pool_pairs": sum(entry.pool.values()),
        "merged": entry.merged,
    }
    asked = [
        _asked("judge", judge.judge_id, model=judge.model, rated=judge.rated, account=judge.account, verdict=judge.verdict)
        for judge in entry.judges
    ]
    asked += [
        _asked("llm", one.retriever_id, model=one.model, rated=one.answered, account=one.account, verdict=None)
        for one in entry.llm
    ]
    nobody = _asked(None, None, model=None, rated=None, account=None, verdict=None)
    return [{**language, **row} for row in asked or [nobody]]


def _asked(
    role: str | None, name: str | None, *, model: str | None, rated: int | None, account: "Account | None", verdict: str | None
) -> Row:
    figures = ("requests", "prompt_tokens", "cached_tokens", "completion_tokens", "secrets_masked", "cost")
    return {
        "asked": role,
        "id": name,
        "model": model,
        "rated": rated,
        "failed": None if account is None else len(account.failed),
        **{figure: None if account is None else getattr(account, figure) for figure in figures},
        "verdict": verdict,
    }


def _text(entry: "Status") -> str:
    functions = "no corpus" if entry.functions is None else f"{entry.functions} functions"
    strata = ", ".join(f"{stratum} {count}" for stratum, count in entry.pool.items()) or "not drawn yet; run `judge pool`"
    lines = [
        f"{entry.language}: {entry.searches} searches, {functions}, {entry.expert_pairs} expert-rated pairs",
        f"  pool    {strata}",
        f"  merged  {entry.merged} pairs rated by a judge",
    ]
    if entry.relevant is not None:
        known = entry.relevant.estimate
        lower, upper = (max(0.0, end - known.found) for end in (known.lower, known.upper))
        lines.append(
            f"  missed  {known.missed:.0f} relevant pairs beside the {known.found} found, estimated from the samples "
            f"(95 % interval {lower:.0f}-{upper:.0f}) by judge {entry.relevant.judge_id}; {known.unrated} pairs of the pool "
            f"not rated, {known.uncovered} pairs in no sample"
        )
    lines += [
        f"  llm     {asked.retriever_id} ({asked.model}): {asked.answered} answered, {asked.yes} of them yes, "
        f"{asked.without_probability} without log-probabilities, {len(asked.account.failed)} failed{_reasons(asked.account)}, "
        f"{_spent(asked.account)}"
        for asked in entry.llm
    ]
    for judge in entry.judges:
        lines.append(
            f"  judge   {judge.judge_id} ({judge.model}): {judge.rated} rated, {len(judge.account.failed)} failed, "
            f"{_spent(judge.account)}, gate: {judge.verdict or 'no verdict'}"
        )
        if judge.canaries.rated:
            found = judge.canaries
            lines.append(f"  watch   {found.same_verdict} of {found.rated} hidden expert-rated pairs with their verdict")
        lines += [f"  watch   {line}" for line in judge.observations]
        lines += [f"  failed  {failure.search_id} {failure.function_id}: {failure.reason}" for failure in judge.account.failed]
    return "\n".join(lines)


def _spent(account: "Account") -> str:
    cost = "cost not known" if account.cost is None else f"${account.cost:.4f}"
    return (
        f"{account.requests} requests, {account.prompt_tokens} prompt tokens ({account.cached_tokens} cached), "
        f"{account.completion_tokens} completion tokens, {cost}, {account.secrets_masked} secrets masked"
    )


def _reasons(account: "Account") -> str:
    # Of a judge each failure is listed; of a retriever, which is asked about many more pairs, only --json does so.
    reasons = Counter(failure.reason for failure in account.failed)
    return f" ({', '.join(f'{reason} {count}' for reason, count in sorted(reasons.items()))})" if reasons else ""
