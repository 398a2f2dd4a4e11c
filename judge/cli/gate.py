"""`judge gate`: the verdict on a judge, language by language."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from judge.cli.workspace import Workspace, data_option, json_option, json_text, lang_option, note, open_workspace
from pools.errors import GateClosed, UsageError

if TYPE_CHECKING:
    from gates.verdict.evidence import Evidence
    from gates.verdict.gate_record import GateRecord


@click.command()
@data_option
@lang_option
@json_option
@click.option(
    "--judge", "judge_id", metavar="ID", help="The judge's id, as `judge status` lists it (default: the last sealed)."
)
@click.option("--details", is_flag=True, help="Also: ratings level by level, floor and ceiling, and where the judge disagrees.")
@click.option("--suggest", type=click.IntRange(1), metavar="N", help="Draw N pairs for experts to rate; needs --out.")
@click.option(
    "--out", type=click.Path(path_type=Path, dir_okay=False), metavar="FILE.csv", help="Where --suggest writes the pairs."
)
@click.option("--reseal", metavar="REASON", help="Seal what judge.toml and the expert ratings say now; stays on record.")
@click.pass_context
def gate(
    context: click.Context,
    data: Path,
    langs: tuple[str, ...],
    as_json: bool,
    judge_id: str | None,
    details: bool,
    suggest: int | None,
    out: Path | None,
    reseal: str | None,
) -> None:
    """Tell how the judge agrees with the experts, and whether its ratings may leave.

    Exits 0 where every language passed and 1 where one did not, or where a pass does not hold any more: the expert ratings
    are not those sealed, or the judge has been found to have changed since. Writes work/<language>/gate.json beside the
    ledger. A published dataset without a ledger is only read: its qrels rows that carry both expert_ratings and judge_rating
    are audited.

    --details trains the baseline judge for the floor, which takes a while; so does --json, which always has everything. Of a
    breakdown only what differs after Holm's correction is marked. --suggest draws from the pairs of the pool that the judge
    rated and no expert did; fill in the column `rating`, and `judge import ratings` takes the file back.

    \b
    Examples:
      judge gate --lang go
      judge gate --lang go --details
      judge gate --data ../shared/csn --json
      judge gate --lang go --suggest 100 --out to-rate.csv
      judge gate --lang go --reseal "raised the threshold to 0.7 before publishing"
    """
    from judge.cli import evidences, seals

    workspace = open_workspace(data, langs)
    _check(workspace, suggest, out=out)
    if reseal is not None:
        for language in workspace.languages:
            seals.reseal(workspace, language, judge_id=judge_id, reason=reseal)
    found = {language: evidences.required(workspace, language, judge_id=judge_id) for language in workspace.languages}
    records = [evidences.verdict(workspace, language, found=evidence) for language, evidence in found.items()]
    closed = [line for record in records if record.passed for line in _closed(record, found[record.language])]
    click.echo(_shown(workspace, found, records=records, closed=closed, as_json=as_json, details=details))
    for line in closed:
        note(f"judge: {line}")
    if suggest is not None and out is not None:
        _suggest(workspace, found[workspace.languages[0]], count=suggest, out=out)
    if closed or not all(record.passed for record in records):
        context.exit(GateClosed.exit_code)


def _check(workspace: Workspace, suggest: int | None, *, out: Path | None) -> None:
    if (suggest is None) != (out is None):
        raise UsageError("--suggest N and --out FILE.csv go together; give both")
    if suggest is not None and len(workspace.languages) > 1:
        raise UsageError(f"--suggest draws for one language; name it with --lang: {', '.join(workspace.languages)}")


def _closed(record: "GateRecord", evidence: "Evidence") -> list[str]:
    """Return why ratings that passed may not leave all the same, a line each."""
    lines = [f"{record.language}: the gate is closed again: {alarm}" for alarm in evidence.alarms]
    if evidence.seal.gold_sha256 not in (None, record.gold_sha256):
        lines.append(
            f"{record.language}: the gate stays closed, because the expert ratings are not those that were sealed; seal these "
            f"with `judge gate --lang {record.language} --reseal REASON`, or restore them"
        )
    return lines


def _shown(
    workspace: Workspace,
    found: "dict[str, Evidence]",
    *,
    records: "Sequence[GateRecord]",
    closed: Sequence[str],
    as_json: bool,
    details: bool,
) -> str:
    from gates.report import wording
    from gates.verdict import findings
    from judge.cli import findings as gathered

    if not as_json and not details:
        return (
            wording.render(records[0], _needed(workspace, found, record=records[0]))
            if len(records) == 1
            else wording.table(records)
        )
    behind = [gathered.find(workspace, record.language, evidence=found[record.language], record=record) for record in records]
    together = _together(workspace, found, records=records) if len(records) > 1 else None
    if not as_json:
        blocks = [f"{wording.render(record)}\n\n{findings.text(part)}" for record, part in zip(records, behind, strict=True)]
        return "\n\n\n".join(blocks + ([together[1]] if together else []))
    document = wording.document(records, closed)
    for entry, part in zip(document["gates"], behind, strict=True):
        entry["details"] = findings.document(part)
    return json_text(document | ({"together": together[0]} if together else {}))


def _needed(workspace: Workspace, found: "dict[str, Evidence]", *, record: "GateRecord") -> str | None:
    from gates.report import details
    from gates.verdict import findings
    from gates.verdict.seal import searches_left_out

    if record.clear:
        return None
    left_out = searches_left_out(workspace.dataset, record.language, gate=found[record.language].seal.gate)
    experts = workspace.dataset.experts_of(record.language)
    return details.more_labels(
        record, findings.needed(record, experts, ratings=found[record.language].ratings, left_out=left_out)
    )


def _together(
    workspace: Workspace, found: "dict[str, Evidence]", *, records: "Sequence[GateRecord]"
) -> tuple[dict[str, Any], str]:
    """Return the agreement over all languages together, as a JSON object and as text."""
    from dataclasses import asdict

    from gates.report import details
    from gates.verdict import findings
    from gates.verdict.seal import searches_left_out

    parts = {}
    for language, evidence in found.items():
        left_out = searches_left_out(workspace.dataset, language, gate=evidence.seal.gate)
        experts = workspace.dataset.experts_of(language)
        counted = {pair: given for pair, given in experts.items() if pair[0] not in left_out}
        parts[language] = (counted, evidence.ratings)
    first = records[0]
    levels, by_language = findings.together(
        parts, workspace.scale.values, relevant_from=first.relevant_from, resamples=first.resamples, seed=first.seed
    )
    document = {"levels": asdict(levels), "breakdown": asdict(by_language)}
    text = "All languages together\n" + details.levels(levels) + "\n\n" + details.breakdown(by_language)
    return document, text


def _suggest(workspace: Workspace, evidence: "Evidence", *, count: int, out: Path) -> None:
    from gates.verdict import labels
    from pools.dataset import files

    language = workspace.languages[0]
    data, settings = workspace.dataset, workspace.settings
    drawn = labels.suggest(
        evidence.pool,
        evidence.ratings,
        experts=data.experts_of(language),
        relevant_from=evidence.seal.relevant_from,
        count=count,
        seed=settings.seed,
    )
    if not drawn:
        raise UsageError(
            f"{language}: no pair of the pool is rated by the judge and by no expert, so none can be suggested; run "
            f"`judge pool --lang {language}` and `judge rate --lang {language} --continue`"
        )
    sheet = labels.sheet(language, drawn, queries=data.queries_of(language), functions=data.functions_of(language))
    files.replace(out, sheet.encode("utf-8", "backslashreplace"))
    note(f"{out}: {len(drawn)} pairs to rate; then: judge import ratings {out} --rater NAME --date DATE")
