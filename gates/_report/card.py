"""The dataset card: the README.md of what is published, with the header that the Hugging Face hub reads.

Every number in it is counted from the judgements and computed from the ratings at the moment of export. It says plainly what
a reader could take for more than it is: which rows come from a judge, how that judge did against the experts, and what was
let through without a pass, by whose words.
"""

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from gates._release import journal, qrels
from gates._release.journal import Event
from gates._report import wording
from gates._verdict.evidence import Evidence
from gates._verdict.gate_record import GateRecord
from pools._dataset.dataset import Dataset
from pools._dataset.records import SOURCES
from pools._dataset.settings import Settings
from prompts.scales import Scale

SIZES = ((1_000, "n<1K"), (10_000, "1K<n<10K"), (100_000, "10K<n<100K"), (1_000_000, "100K<n<1M"), (10_000_000, "1M<n<10M"))
NATURAL_LANGUAGES = ("en", "code")
TAGS = ("code-search", "information-retrieval", "relevance-judgements", "llm-as-a-judge")
UNKNOWN_LICENCE = "not known"
EXPERT_RATED = "expert-rated"


@dataclass(frozen=True, slots=True)
class Chapter:
    """What the card tells of a language that has a judge: whose, the verdict computed for this export, an override in need."""

    language: str
    evidence: Evidence
    record: GateRecord
    override: Event | None
    events: tuple[Event, ...] = ()


def text(data: Dataset, chapters: Sequence[Chapter], *, settings: Settings, scale: Scale) -> str:
    """Return the whole card."""
    title = settings.card.title or data.folder.resolve().name
    sections = [
        _header(data, title, settings=settings),
        f"# {title}",
        settings.card.source,
        _summary(data),
        _files(),
        "## Contents\n\n" + _contents(data),
        _rating(data, chapters, scale=scale, settings=settings),
        _judges(chapters) if chapters else "",
        _ledgers(chapters),
        _gates(data, chapters) if chapters else "",
        _pools(data, chapters),
        _unrated(),
        "## Licences of the functions\n\n" + _licences(data),
    ]
    return "\n\n".join(section.strip("\n") for section in sections if section) + "\n"


def _header(data: Dataset, title: str, *, settings: Settings) -> str:
    lines = ["---", f"pretty_name: {json.dumps(title, ensure_ascii=False)}", "language:"]
    lines += [f"- {language}" for language in NATURAL_LANGUAGES]
    lines.append(f"license: {json.dumps(settings.card.license, ensure_ascii=False)}")
    if settings.card.license == "other" and settings.card.license_name:
        lines.append(f"license_name: {json.dumps(settings.card.license_name, ensure_ascii=False)}")
    lines += ["task_categories:", "- text-retrieval", "tags:", *(f"- {tag}" for tag in TAGS)]
    lines += [f"- {json.dumps(language, ensure_ascii=False)}" for language in data.languages]
    lines += ["size_categories:", f"- {_size(len(data.qrels))}", "configs:"]
    for name in ("qrels", "queries", "corpus"):
        lines += [f"- config_name: {name}", f"  data_files: {name}.jsonl.gz"]
        lines += ["  default: true"] if name == "qrels" else []
    return "\n".join([*lines, "---"])


def _size(rows: int) -> str:
    return next((name for limit, name in SIZES if rows < limit), "n>10M")


def _summary(data: Dataset) -> str:
    experts = sum(qrels.of_expert(qrel) for qrel in data.qrels)
    return (
        f"A test collection for code search: {len(data.queries)} searches over {len(data.corpus or ())} functions in "
        f"{len(data.languages)} language{'s' if len(data.languages) != 1 else ''}, with {experts} pairs of search and function "
        f"rated by experts and {len(data.qrels) - experts} more rated by an LLM or another judge. Each language is one "
        f"codebase: a search is over all functions of its language."
    )


def _files() -> str:
    rows = [
        ("`queries.jsonl.gz`", "the searches", "`language`, `search_id`, `search`, `split` (`tuning` or `test`)"),
        (
            "`corpus.jsonl.gz`",
            "the functions",
            "`id`, `language`, `code`, `url`, `repository`, `commit`, `path`, `first_line`, `last_line`, `license`, `sha256`",
        ),
        (
            "`qrels.jsonl.gz`",
            "the relevance judgements",
            "`language`, `search_id`, `function_id`, `relevance` (the experts' mean, else the judge's rating), `relevant`, "
            "`source` (`expert` or `judge`), `expert_ratings`, `judge_rating`, `rated_because` (`expert`, `pooled`: a "
            "retriever returned it, or `sample`: drawn at random)",
        ),
    ]
    return "## Files\n\n" + _table(("file", "what", "columns"), rows)


def _contents(data: Dataset) -> str:
    rows = []
    for language in (*data.languages, None):
        judgements = [qrel for qrel in data.qrels if language in (None, qrel.language)]
        sources = Counter(SOURCES[0] if qrels.of_expert(qrel) else SOURCES[1] for qrel in judgements)
        rows.append(
            (
                language or "all",
                sum(language in (None, query.language) for query in data.queries),
                sum(language in (None, function.language) for function in data.corpus or ()),
                sources["expert"],
                sources["judge"],
                sum(qrel.relevant for qrel in judgements),
            )
        )
    return _table(
        ("language", "searches", "functions", "pairs rated by experts", "pairs rated by the judge", "relevant"),
        rows if len(data.languages) != 1 else rows[:1],
    )


def _rating(data: Dataset, chapters: Sequence[Chapter], *, scale: Scale, settings: Settings) -> str:
    several = sum(len(qrel.expert_ratings) > 1 for qrel in data.qrels)
    # What is sealed decides which ratings are relevant, whatever judge.toml says now.
    sealed = {chapter.language: chapter.evidence.seal.relevant_from for chapter in chapters}
    own = {language: f"{sealed.get(language, settings.relevant_from):g}" for language in data.languages}
    least = own[data.languages[0]]
    if len(set(own.values())) > 1:
        least = "that of its language: " + ", ".join(f"{value} in {language}" for language, value in own.items())
    levels = "\n".join(f"- {value}: {words}" for value, words in reversed(scale.levels))
    return (
        f"## Ratings\n\nExperts and judge use one scale, {scale.lowest} to {scale.highest}:\n\n{levels}\n\n"
        f"A pair is relevant where the experts' mean, or the judge's rating, is at least {least}. "
        f"{several} pairs were rated by two experts or more. An expert's rating always wins over the judge's, which stands "
        f"beside it in `judge_rating`."
    )


def _judges(chapters: Sequence[Chapter]) -> str:
    rows = []
    for chapter in chapters:
        known = chapter.evidence.identity
        sampling = json.dumps(known.get("sampling", {}), sort_keys=True, ensure_ascii=False)
        rows.append(
            (
                chapter.language,
                known.get("model", "as published"),
                chapter.evidence.judge_id or "none: no ledger",
                known.get("pairs_per_batch", "not known"),
                known.get("shown_characters", "not known"),
                sampling if known else "not known",
            )
        )
    return (
        "## How the judge rated\n\nA judge is shown the search and the function's code under a random id, pairs of many "
        "searches mixed in one prompt; never path, repository, retriever or the experts' rating. Only a whole number on the "
        "scale counts as its rating; a pair that it gave none for is not in the judgements. What is listed as published was "
        "rated elsewhere.\n\n"
        + _table(("language", "model", "judge id", "pairs a prompt", "characters of code shown", "sampling"), rows)
    )


def _ledgers(chapters: Sequence[Chapter]) -> str:
    rows = [
        (chapter.language, anchor.lines, f"`{anchor.head}`", f"`{anchor.sha256}`")
        for chapter in chapters
        if (anchor := chapter.evidence.anchor) is not None
    ]
    if not rows:
        return ""
    head = ("language", "lines", "head of the chain", "SHA-256")
    return (
        "Every reply of a judge is in its ledger, whose lines are chained by hashes. The figures here are of these ledgers and "
        "no others; `judge gate --expect HEAD` checks a copy.\n\n" + _table(head, rows)
    )


def _gates(data: Dataset, chapters: Sequence[Chapter]) -> str:
    rows, lines = [], []
    for chapter in chapters:
        record = chapter.record
        merged = qrels.carries(data, chapter.language)
        rows.append(
            (
                chapter.language,
                record.agreement.pairs,
                wording.counted(record.agreement.same, record.agreement.pairs),
                wording.number(record.agreement.f1),
                wording.interval(record.interval),
                f"{record.threshold:g}",
                "not known" if chapter.evidence.tried is None else chapter.evidence.tried,
                record.verdict + ("" if record.verdict == "incomplete" else " (clear)" if record.clear else " (uncertain)"),
                "no" if not merged else "yes" if chapter.override is None else "yes, by override",
            )
        )
        if chapter.override is not None:
            lines.append(_event(chapter.override, "the gate was overridden"))
        changes = [event for event in (*chapter.events, *chapter.evidence.changes) if event.kind in journal.CHANGES]
        lines += [_event(event, journal.change(event)) for event in dict.fromkeys(changes)]
    head = (
        "language",
        "pairs",
        "same verdict",
        "F1",
        "95% interval",
        "threshold",
        "judges tried",
        "verdict",
        "ratings included",
    )
    return (
        "## The gate\n\nA judge's ratings are included for a language where its F1 of `relevant` on the expert-rated pairs "
        "reaches a threshold that was fixed before its first rating. The interval is from resampling whole searches; a verdict "
        "is uncertain where too many of the resamples say otherwise. The more judges were tried on the same expert ratings, "
        "the likelier it is that one passes by chance.\n\n" + _table(head, rows) + "".join(f"\n\n{line}" for line in lines)
    )


def _event(event: Event, what: str) -> str:
    details = f" ({_cell(event.details)})" if event.details else ""
    reason = "" if event.reason is None else f", with the reason: {_cell(event.reason)}"
    return f"**{_cell(event.language)}: {what}** on {_cell(event.time)}{details}{reason}"


def _pools(data: Dataset, chapters: Sequence[Chapter]) -> str:
    strata_rows, retriever_rows = [], []
    for chapter in chapters:
        pool, experts = chapter.evidence.pool, data.experts_of(chapter.language)
        # A pair that experts rated after it was drawn keeps its stratum, for the estimates alone.
        strata = Counter(
            EXPERT_RATED if (entry.search_id, entry.function_id) in experts else entry.stratum or EXPERT_RATED for entry in pool
        )
        strata_rows += [(chapter.language, stratum, count) for stratum, count in sorted(strata.items())]
        returned = Counter(retriever for entry in pool for retriever in entry.retrievers)
        retriever_rows += [(chapter.language, retriever, count) for retriever, count in sorted(returned.items())]
    if not strata_rows:
        return ""
    return (
        "## How the pairs were pooled\n\nRetrievers each said which functions answer a search; random samples of fixed size a "
        "search were drawn from what only the loosest of them, or none, returned.\n\n"
        + _table(("language", "stratum", "pairs"), strata_rows)
        + (
            "\n\n" + _table(("language", "retriever", "pairs of the pool it returned"), retriever_rows)
            if retriever_rows
            else ""
        )
    )


def _unrated() -> str:
    return (
        "## What unrated means\n\nA pair that is not in `qrels.jsonl.gz` was rated by nobody, which is not a rating of 0: no "
        "retriever returned it and no sample drew it, or the judge gave no valid rating. Take measures that are made for "
        "incomplete judgements, or report how much of a result is rated beside the measure."
    )


def _licences(data: Dataset) -> str:
    found = Counter(str(function.origin.get("license") or UNKNOWN_LICENCE) for function in data.corpus or ())
    rows = sorted(found.items(), key=lambda item: (-item[1], item[0]))
    return "Each function stays under its own licence, given as SPDX id in `license`.\n\n" + _table(
        ("licence", "functions"), rows
    )


def _table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    body = [tuple(row) for row in rows]
    numbers = [bool(body) and all(isinstance(row[column], int) for row in body) for column in range(len(head))]
    rule = "|" + "|".join("---:" if number else "---" for number in numbers) + "|"
    return "\n".join([_line(head), rule, *(_line(row) for row in body)])


def _line(cells: Sequence[object]) -> str:
    return "| " + " | ".join(_cell(str(cell)) for cell in cells) + " |"


def _cell(words: str) -> str:
    return " ".join(words.replace("<", "&lt;").replace("|", "\\|").split())
