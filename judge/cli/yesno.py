"""The retriever `llm` as `judge pool` runs it: which pairs it is asked about, its limits, and what came of it."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from judge.batching.batches import Item
from judge.cli import embedded, endpoints
from judge.cli.workspace import Workspace, note
from judge.judges import questions
from judge.judges.identity import Identity
from judge.judges.questions import Answers, YesNo
from judge.rating.money import NO_LIMITS, Limits
from judge.rating.rating import Outcome
from pools.dataset.records import Function, Query
from pools.engines import okapi, vectors
from pools.errors import UsageError
from pools.retrievers import llm as retriever
from pools.sampling.hits import Hit
from prompts import templates

NAME = "llm"


@dataclass(slots=True)
class Asking:
    """What the command line says of asking an LLM, what is left of its limits, and figures by language."""

    model: str | None = None
    base_url: str | None = None
    limits: Limits = NO_LIMITS
    figures: dict[str, dict[str, Any]] = field(default_factory=dict)


def check(workspace: Workspace, asking: Asking, *, dry_run: bool) -> None:
    """Raise `UsageError` for what can be known to be wrong before other retrievers take their time."""
    if NAME in workspace.settings.pool.retrievers:
        chosen = identity(workspace, asking.model)
        if not dry_run:
            endpoints.client(workspace.settings, chosen.model, base_url=asking.base_url, sampling=chosen.sampling)
    elif dry_run or asking.limits != NO_LIMITS:
        raise UsageError(
            "--dry-run, --max-cost, --max-requests and --max-pairs are for the retriever llm, which pool.retrievers in "
            "judge.toml does not name; add it there"
        )


def search(
    workspace: Workspace, language: str, *, queries: Sequence[Query], functions: Sequence[Function], asking: Asking
) -> tuple[Hit, ...]:
    """Ask about every pair worth it that has no answer yet, and return the hits among all of them.

    Raises `Stopped` where that could not be brought to an end: hits of some would leave the others in the strata of pairs
    that nothing returned, which nobody knows of them.
    """
    settings = workspace.settings
    chosen = identity(workspace, asking.model)
    vectors_of = (
        embedded.complete(workspace, language, queries=queries, functions=functions) if settings.llm.prefilter else None
    )
    items = _items(workspace, language, queries=queries, functions=functions, made=vectors_of)
    client = endpoints.client(settings, chosen.model, base_url=asking.base_url, sampling=chosen.sampling)
    with Answers.open(questions.path(workspace.folder, language)) as answers:
        for line in answers.notes:
            note(line)
        outcome = asyncio.run(
            ask(workspace, language, items=items, asked=YesNo(chosen, client), answers=answers, limits=asking.limits)
        )
        given = answers.given(chosen.judge_id)
        found = {item.pair: given[item.pair] for item in items if item.pair in given}
    asking.limits = asking.limits.less(outcome.requests, outcome.pairs, cost=outcome.cost)
    for line in client.notes:
        note(line)
    hits = retriever.hits(found, settings.llm.threshold)
    figures = asking.figures[language] = {
        "retriever_id": chosen.judge_id,
        "model": chosen.model,
        "pairs": len(items),
        "yes": sum(1 for answer in found.values() if answer.yes),
        "hits": len(hits),
        "neither": len(outcome.failed),
        "without_probability": sum(1 for answer in found.values() if answer.probability is None),
        "requests": outcome.requests,
        "cost": outcome.cost,
    }
    _tell(language, figures, reasons=sorted(set(outcome.failed.values())))
    return hits


def _tell(language: str, figures: dict[str, Any], *, reasons: Sequence[str]) -> None:
    note(f"{language}: llm was asked about {figures['pairs']} pairs: {figures['yes']} yes, {figures['hits']} hits")
    if figures["neither"]:
        note(f"{language}: {figures['neither']} pairs got no yes or no ({'; '.join(reasons[:3])}), and are no hits of llm")
    if figures["without_probability"]:
        note(
            f"{language}: {figures['without_probability']} answers came without log-probabilities of yes and no; these pairs "
            "have no probability, and a yes alone makes a hit"
        )


def identity(workspace: Workspace, model: str | None) -> Identity:
    """Return the identity of the retriever that the settings describe; raises `UsageError` for what they lack."""
    settings = workspace.settings
    name = model or settings.llm.model or settings.judge.model
    if not name:
        raise UsageError("the retriever llm needs a model; name one with --model, or llm.model in judge.toml")
    try:
        wording = templates.text(settings.llm.prompt, folder=workspace.folder)
    except ValueError as error:
        raise UsageError(f"llm.prompt: {error}") from error
    return questions.identity(settings, name, wording=wording)


def plan(workspace: Workspace, language: str, *, asking: Asking) -> dict[str, Any]:
    """Return what the retriever would take, as JSON values; nothing is sent or written, so only vectors on disk count."""
    data, settings = workspace.dataset, workspace.settings
    queries, functions = data.queries_of(language), data.functions_of(language)
    chosen = identity(workspace, asking.model)
    made = (
        vectors.read(vectors.path(workspace.folder, language, settings=settings.embedding)) if settings.llm.prefilter else None
    )
    whole = made if vectors.between(made, queries, functions=functions) is not None else None
    items = _items(workspace, language, queries=queries, functions=functions, made=whole)
    found = questions.plan(items, chosen, answers=Answers.read(questions.path(workspace.folder, language)), settings=settings)
    return {
        "language": language,
        "retriever_id": chosen.judge_id,
        "model": chosen.model,
        "pairs": len(items),
        "requests": found.batches,
        "characters": found.characters,
        "prompt_tokens": found.usage.prompt,
        "completion_tokens": found.usage.completion,
        "cost": found.cost,
    }


def text(plan: dict[str, Any]) -> str:
    """Return a plan as a line."""
    cost = "no prices in judge.toml" if plan["cost"] is None else f"about ${plan['cost']:.4f}"
    return (
        f"{plan['language']}: llm would be asked about {plan['requests']} of {plan['pairs']} pairs: {plan['characters']} "
        f"characters, about {plan['prompt_tokens']} prompt tokens and {plan['completion_tokens']} completion tokens; {cost}"
    )


def _items(
    workspace: Workspace,
    language: str,
    *,
    queries: Sequence[Query],
    functions: Sequence[Function],
    made: vectors.Vectors | None,
) -> list[Item]:
    most = workspace.settings.llm.prefilter
    searches = {query.search_id: query.search for query in queries}
    codes = {function.id: function.code for function in functions}
    if not most:
        return [Item((search_id, name), search, code) for search_id, search in searches.items() for name, code in codes.items()]
    deep = retriever.depth(most)
    rankings: list[retriever.Ranking] = [retriever.ranking_of(okapi.search(queries, functions, depth=deep))]
    if made is None:
        note(f"{language}: llm.prefilter goes by bm25 alone, as there are no vectors")
    else:
        rankings.append(retriever.nearest(queries, functions, vectors=made, most=deep))
    return [Item(pair, searches[pair[0]], codes[pair[1]]) for pair in retriever.best(queries, rankings, most=most)]


async def ask(
    workspace: Workspace, language: str, *, items: Sequence[Item], asked: YesNo, answers: Answers, limits: Limits
) -> Outcome:
    """Ask about every pair that has no answer yet, and show how far it is; raises as `judge.judges.questions.ask` does."""
    from tqdm import tqdm

    settings = workspace.settings
    with tqdm(total=len(items), desc=f"{language} llm", unit="pair", disable=None) as bar:
        return await questions.ask(
            items,
            asked,
            answers=answers,
            settings=settings.judge,
            seed=settings.seed,
            progress=_progress(bar),
            limits=limits,
            prices=settings.prices,
            note=note,
        )


def _progress(bar: Any) -> Callable[[Any], None]:
    def show(progress: Any) -> None:
        cost = "" if progress.cost is None else f"${progress.cost:.4f}, "
        bar.set_postfix_str(f"{cost}{progress.failed} without an answer", refresh=False)
        bar.update(progress.done - bar.n)

    return show
