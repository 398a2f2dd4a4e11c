"""`judge status`: what is pooled, asked, rated, failed and spent, by language, and by judge and retriever llm."""

import dataclasses
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from judge.cli.workspace import Workspace, data_option, json_option, lang_option, open_workspace, show_json

if TYPE_CHECKING:
    from judge.ledger.ledger import Ledger
    from pools.sampling.pooled import PoolPair


@click.command()
@data_option
@lang_option
@json_option
def status(data: Path, langs: tuple[str, ...], as_json: bool) -> None:
    """Show where a dataset stands: pairs pooled, asked about, rated and failed, verdicts, tokens and cost.

    \b
    Examples:
      judge status
      judge status --lang go --json
    """
    workspace = open_workspace(data, langs)
    found = [_language(workspace, language) for language in workspace.languages]
    if as_json:
        show_json({"languages": found})
        return
    click.echo("\n\n".join(_text(entry) for entry in found))


def _language(workspace: Workspace, language: str) -> dict[str, Any]:
    from gates.release import qrels
    from gates.verdict import gate_record
    from judge.cli import evidences
    from judge.ledger.ledger import Ledger
    from judge.rating import controls
    from pools.sampling import pooled

    data = workspace.dataset
    pool_path = pooled.path(workspace.folder, language)
    pairs = pooled.read(pool_path) if pool_path.is_file() else ()
    experts = data.experts_of(language)
    # A pair that experts rated after it was drawn keeps its stratum, and is a validation pair all the same.
    strata = Counter(pair.stratum for pair in pairs if pair.stratum is not None and pair.pair not in experts)
    record = gate_record.read(gate_record.path(workspace.folder, language))
    ledger = Ledger.read(workspace.ledger_path(language))
    judges = []
    for judge_id in ledger.judges():
        sealed = ledger.seal(judge_id)
        relevant_from = sealed.relevant_from if sealed else workspace.settings.relevant_from
        tally = ledger.tally(judge_id)
        watched, steady = (
            controls.watch(tally, experts, relevant_from=relevant_from),
            controls.stability(tally, experts, relevant_from=relevant_from),
        )
        judges.append(
            {
                "judge_id": judge_id,
                "model": sealed.identity["model"] if sealed else None,
                "rated": len(evidences.ratings(ledger, judge_id)),
                **_account(workspace, ledger, judge_id=judge_id),
                "canaries": {"rated": watched.canaries, "same_verdict": watched.same, "alarm": watched.alarm},
                "retest": {"pairs": steady.pairs, "same_rating": steady.same_rating, "flip_rate": steady.flip_rate},
                "places": [{"ratings": count, "mean": mean} for count, mean in steady.places],
                "observations": [*([watched.alarm] if watched.alarm else []), *steady.lines()],
                "verdict": record.verdict if record and record.judge_id == judge_id else None,
            }
        )
    return {
        "language": language,
        "searches": len(data.queries_of(language)),
        "functions": None if data.corpus is None else len(data.functions_of(language)),
        "expert_pairs": len(experts),
        "pool": {str(stratum): strata[stratum] for stratum in sorted(strata)},
        "merged": sum(not qrels.of_expert(qrel) for qrel in data.qrels_of(language)),
        "relevant": _relevant(workspace, language, ledger=ledger, pairs=pairs),
        "judges": judges,
        "llm": _retrievers(workspace, language),
    }


def _retrievers(workspace: Workspace, language: str) -> list[dict[str, Any]]:
    """Return what each retriever llm, by its model and wording, was asked for the pool."""
    from judge.judges import questions
    from judge.judges.questions import Answers

    answers = Answers.read(questions.path(workspace.folder, language))
    out = []
    for retriever_id in answers.judges():
        given = answers.given(retriever_id).values()
        out.append(
            {
                "retriever_id": retriever_id,
                "model": answers.model(retriever_id),
                "answered": len(given),
                "yes": sum(1 for answer in given if answer.yes),
                "without_probability": sum(1 for answer in given if answer.probability is None),
                **_account(workspace, answers, judge_id=retriever_id),
            }
        )
    return out


def _account(workspace: Workspace, ledger: "Ledger", *, judge_id: str) -> dict[str, Any]:
    """Return what failed and what was spent, of whoever is asked, as JSON values."""
    from judge.rating import money

    totals = ledger.totals(judge_id)
    return {
        "failed": [
            {"search_id": search, "function_id": function, "reason": reason}
            for (search, function), reason in sorted(ledger.failed(judge_id).items())
        ],
        "requests": totals.requests,
        "prompt_tokens": totals.usage.prompt,
        "cached_tokens": totals.usage.cached,
        "completion_tokens": totals.usage.completion,
        "secrets_masked": totals.redacted,
        "cost": money.total(totals, workspace.settings.prices),
    }


def _relevant(workspace: Workspace, language: str, *, ledger: "Ledger", pairs: Sequence["PoolPair"]) -> dict[str, Any] | None:
    """Return the estimate of relevant pairs by the last judge that rated any of the pool's, None where there is none."""
    from judge.cli import evidences
    from pools.relevance import is_relevant, is_relevant_rating
    from pools.sampling import estimate

    data = workspace.dataset
    if data.corpus is None:
        return None
    experts = data.experts_of(language)
    pooled = {pair.pair for pair in pairs if pair.stratum is not None and pair.pair not in experts}
    for judge_id in reversed(ledger.judges()):
        ratings = evidences.ratings(ledger, judge_id)
        if pooled.isdisjoint(ratings):
            continue
        sealed = ledger.seal(judge_id)
        least = sealed.relevant_from if sealed else workspace.settings.relevant_from
        verdicts = {pair: is_relevant_rating(rating, least) for pair, rating in ratings.items()}
        verdicts |= {pair: is_relevant(given, least) for pair, given in experts.items()}
        size = len(data.queries_of(language)) * len(data.functions_of(language))
        found = estimate.relevant_pairs(pairs, verdicts, pairs=size)
        return {"judge_id": judge_id, **dataclasses.asdict(found), "missed": found.missed}
    return None


def _text(entry: dict[str, Any]) -> str:
    functions = "no corpus" if entry["functions"] is None else f"{entry['functions']} functions"
    strata = ", ".join(f"{stratum} {count}" for stratum, count in entry["pool"].items()) or "not drawn yet; run `judge pool`"
    lines = [
        f"{entry['language']}: {entry['searches']} searches, {functions}, {entry['expert_pairs']} expert-rated pairs",
        f"  pool    {strata}",
        f"  merged  {entry['merged']} pairs rated by a judge",
    ]
    if (known := entry["relevant"]) is not None:
        lower, upper = (max(0.0, known[end] - known["found"]) for end in ("lower", "upper"))
        lines.append(
            f"  missed  {known['missed']:.0f} relevant pairs beside the {known['found']} found, estimated from the samples "
            f"(95 % interval {lower:.0f}-{upper:.0f}) by judge {known['judge_id']}; {known['unrated']} pairs of the pool not "
            f"rated, {known['uncovered']} pairs in no sample"
        )
    lines += [
        f"  llm     {asked['retriever_id']} ({asked['model']}): {asked['answered']} answered, {asked['yes']} of them yes, "
        f"{asked['without_probability']} without log-probabilities, {len(asked['failed'])} failed{_reasons(asked)}, "
        f"{_spent(asked)}"
        for asked in entry["llm"]
    ]
    for judge in entry["judges"]:
        lines.append(
            f"  judge   {judge['judge_id']} ({judge['model']}): {judge['rated']} rated, {len(judge['failed'])} failed, "
            f"{_spent(judge)}, gate: {judge['verdict'] or 'no verdict'}"
        )
        if judge["canaries"]["rated"]:
            found = judge["canaries"]
            lines.append(f"  watch   {found['same_verdict']} of {found['rated']} hidden expert-rated pairs with their verdict")
        lines += [f"  watch   {line}" for line in judge["observations"]]
        lines += [
            f"  failed  {failure['search_id']} {failure['function_id']}: {failure['reason']}" for failure in judge["failed"]
        ]
    return "\n".join(lines)


def _spent(entry: dict[str, Any]) -> str:
    cost = "cost not known" if entry["cost"] is None else f"${entry['cost']:.4f}"
    return (
        f"{entry['requests']} requests, {entry['prompt_tokens']} prompt tokens ({entry['cached_tokens']} cached), "
        f"{entry['completion_tokens']} completion tokens, {cost}, {entry['secrets_masked']} secrets masked"
    )


def _reasons(entry: dict[str, Any]) -> str:
    # Of a judge each failure is listed; of a retriever, which is asked about many more pairs, only --json does so.
    reasons = Counter(failure["reason"] for failure in entry["failed"])
    return f" ({', '.join(f'{reason} {count}' for reason, count in sorted(reasons.items()))})" if reasons else ""
