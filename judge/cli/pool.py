"""`judge pool`: the retrievers' hits and the pool drawn from them."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from judge.cli.workspace import (
    Workspace,
    data_option,
    endpoint_options,
    json_option,
    lang_option,
    note,
    open_workspace,
    seed_option,
    show_json,
)
from pools.dataset.records import Function, Query
from pools.errors import UsageError
from pools.sampling.hits import Hit

if TYPE_CHECKING:
    from judge.cli.yesno import Asking
    from pools.sampling.frame import Frame
    from pools.sampling.pooled import PoolPair

RETRIEVERS = ("grep-agent", "grep-all", "grep-any", "bm25", "embedding", "llm")


@click.command()
@data_option
@lang_option
@endpoint_options
@seed_option
@json_option
@click.option("--max-cost", type=click.FloatRange(0, min_open=True), help="Stop llm before these US dollars are exceeded.")
@click.option("--max-requests", type=click.IntRange(1), help="Stop llm after this many requests.")
@click.option("--max-pairs", type=click.IntRange(1), help="Stop llm after this many pairs were asked about.")
@click.option("--dry-run", is_flag=True, help="Only tell what llm would be asked, and about what that would cost.")
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
) -> None:
    """Run the retrievers and draw the samples: which pairs are to be judged.

    grep-agent needs one pattern a search in work/<language>/patterns.jsonl; with --model (or judge.model) an LLM writes those
    that are missing, and you can write or edit them by hand. Without either it is left out, with a note; so is embedding
    where the packages it needs, or enough expert ratings to tell a hit by, are missing.

    llm asks a model about one pair at a time, and runs only where pool.retrievers in judge.toml names it. What is answered
    stays answered: stopped by Ctrl-C, a limit or a crash, the same command goes on where it was, and no pool is drawn before.

    Run again after new functions, searches, retrievers or settings, it adds what is new: every pair of the pool stays, and its
    samples stay random ones of known probability. To draw another pool instead, remove work/<language>/pool.parquet.

    \b
    Examples:
      judge pool --lang go
      judge pool --model gpt-5-mini
      judge pool --model gpt-4.1-mini --max-cost 2
    """
    from judge.cli import yesno
    from judge.rating.money import Limits
    from pools.sampling import contribution

    workspace = open_workspace(data, langs)
    asking = yesno.Asking(model, base_url, Limits(max_cost, max_requests, max_pairs))
    yesno.check(workspace, asking, dry_run=dry_run)
    if dry_run:
        plans = [yesno.plan(workspace, language, asking=asking) for language in workspace.languages]
        if as_json:
            show_json({"languages": plans})
        else:
            click.echo("\n".join(map(yesno.text, plans)))
        return
    frames = {language: _frame(workspace, language, seed=seed) for language in workspace.languages}
    drawn = [_draw(workspace, language, asking=asking, drawn_from=frames[language]) for language in workspace.languages]
    if as_json:
        show_json({"languages": drawn})
        return
    for entry in drawn:
        strata = ", ".join(f"{name} {count}" for name, count in entry["strata"].items())
        click.echo(
            f"{entry['language']}: {entry['pairs']} pairs to judge, {entry['new']} of them new ({strata}), "
            f"{entry['validation']} expert-rated"
        )
        click.echo("\n".join(f"  {line}" for line in contribution.lines(entry["contribution"])))


def _frame(workspace: Workspace, language: str, *, seed: int | None) -> "Frame":
    """Return what the samples are drawn from; raises `UsageError` where the pool that is there was drawn with another seed.

    Which functions a pool of an older release was drawn from is not known. It is taken to have been drawn from those of now: no
    pair can then have been left out of a sample by an expert rating that came because of the sample.
    """
    from pools.sampling import frame
    from pools.sampling import pooled as pools

    ids = [function.id for function in workspace.dataset.functions_of(language)]
    wanted, path = workspace.settings.seed if seed is None else seed, pools.path(workspace.folder, language)
    earlier = frame.read(frame.path(workspace.folder, language)) if path.is_file() else None
    if earlier is None and path.is_file() and ids:
        note(
            f"{language}: {path} does not tell from which functions and with which seed it was drawn; all of its pairs stay, "
            "and its samples are drawn anew, so those of its sampled pairs that are not drawn again count in no estimate"
        )
        return frame.grown(frame.of(ids, wanted), ids)
    if earlier is None:
        return frame.of(ids, wanted)
    if earlier.seed != wanted:
        raise UsageError(
            f"{path}: drawn with seed {earlier.seed}, which a pool keeps when it is drawn again, and not {wanted}; add "
            f"--seed {earlier.seed}, or remove the file to draw another pool"
        )
    return frame.grown(earlier, ids)


def _draw(workspace: Workspace, language: str, *, asking: "Asking", drawn_from: "Frame") -> dict[str, Any]:
    from collections import Counter

    from gates.measures.agreement import relevant
    from pools.sampling import contribution, frame
    from pools.sampling import hits as hit_files
    from pools.sampling import pooled as pools

    data, folder = workspace.dataset, workspace.folder
    queries, functions = data.queries_of(language), data.functions_of(language)
    found = _retrieve(workspace, language, queries=queries, functions=functions, asking=asking)
    for retriever, flagged in found.items():
        hit_files.write(hit_files.path(folder, language, retriever=retriever), flagged)
    validation, path = data.experts_of(language), pools.path(folder, language)
    earlier = pools.read(path) if path.is_file() else ()
    pairs = pools.draw(
        queries, drawn_from, hits=found, validation=validation, settings=workspace.settings.pool, earlier=earlier
    )
    frame.write(frame.path(folder, language), drawn_from)
    pools.write(path, pairs)
    judged = [pair for pair in pairs if pair.pair not in validation]
    strata = Counter(pair.stratum for pair in judged)
    gold = [pair for pair, ratings in validation.items() if relevant(ratings, workspace.settings.relevant_from)]
    returned = pools.counted(found, workspace.settings.pool.depth)
    return {
        "language": language,
        "pairs": len(judged),
        "validation": len(validation),
        "strata": {stratum: strata[stratum] for stratum in pools.STRATA},
        "new": len({pair.pair for pair in judged} - {pair.pair for pair in earlier}),
        "hits": {retriever: len(flagged) for retriever, flagged in found.items()},
        "seed": drawn_from.seed,
        "contribution": contribution.compare(returned, gold).document(),
        "pool": [_provenance(pair) for pair in pairs],
        **({"llm": asking.figures[language]} if language in asking.figures else {}),
    }


def _provenance(pair: "PoolPair") -> dict[str, Any]:
    given = zip(pair.retrievers, pair.ranks, pair.scores, strict=True)
    return {
        "search_id": pair.search_id,
        "function_id": pair.function_id,
        "stratum": pair.stratum,
        "probability": pair.probability,
        "returned_by": {retriever: {"rank": rank, "score": score} for retriever, rank, score in given},
    }


def _retrieve(
    workspace: Workspace,
    language: str,
    *,
    queries: Sequence[Query],
    functions: Sequence[Function],
    asking: "Asking",
) -> dict[str, tuple[Hit, ...]]:
    from pools.retrievers import grep_words

    wanted = workspace.settings.pool.retrievers
    unknown = sorted(set(wanted) - set(RETRIEVERS))
    if unknown:
        raise UsageError(f"pool.retrievers names {', '.join(unknown)}; valid are {', '.join(RETRIEVERS)}")
    found: dict[str, tuple[Hit, ...]] = {}
    if {"grep-all", "grep-any"} & set(wanted):
        both = grep_words.search_words(queries, functions)
        found |= {retriever: flagged for retriever, flagged in both.items() if retriever in wanted}
    if "grep-agent" in wanted:
        flagged = _grep_agent(
            workspace, language, queries=queries, functions=functions, model=asking.model, base_url=asking.base_url
        )
        found |= {} if flagged is None else {"grep-agent": flagged}
    if "bm25" in wanted:
        from pools.dataset.partition import Partition
        from pools.retrievers import bm25

        found["bm25"] = bm25.hits(Partition(language, workspace.settings, workspace.scale, workspace.dataset))
    if "embedding" in wanted:
        from judge.cli import embedded

        flagged = embedded.search(workspace, language, queries=queries, functions=functions)
        found |= {} if flagged is None else {"embedding": flagged}
    if "llm" in wanted:
        from judge.cli import yesno

        found["llm"] = yesno.search(workspace, language, queries=queries, functions=functions, asking=asking)
    return dict(sorted(found.items()))


def _grep_agent(
    workspace: Workspace,
    language: str,
    *,
    queries: Sequence[Query],
    functions: Sequence[Function],
    model: str | None,
    base_url: str | None,
) -> tuple[Hit, ...] | None:
    from pools.retrievers import grep_agent

    path = grep_agent.path(workspace.folder, language)
    patterns = grep_agent.read(path)
    name = model or workspace.settings.judge.model
    if name and grep_agent.missing(queries, patterns):
        from judge.cli import endpoints

        patterns = grep_agent.complete(
            path, queries, ask=endpoints.asking(workspace.settings, name, base_url=base_url), language=language, model=name
        )
    lacking = grep_agent.missing(queries, patterns)
    if lacking and len(lacking) == len(queries):
        note(f"{language}: grep-agent left out: no patterns in {path}; write them, or name an LLM with --model")
        return None
    if lacking:
        ids = ", ".join(query.search_id for query in lacking)
        note(f"{language}: grep-agent has no pattern for {ids}; write them into {path}, or name an LLM with --model")
    found = grep_agent.search_patterns(queries, functions, patterns=patterns)
    if useless := grep_agent.useless(found, functions):
        note(f"{language}: the patterns for {', '.join(useless)} hit every function; edit them in {path}")
    return found
