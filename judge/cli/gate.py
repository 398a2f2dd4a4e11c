"""`judge gate`: the verdict on a judge, language by language."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from judge.cli.options import data_option, form_options, lang_option
from judge.cli.printing import Form, Row, ends, note, show
from pools._dataset import folder
from pools.errors import GateClosed, UsageError

if TYPE_CHECKING:
    from judge.steps.gate import Details, Gated


@click.command()
@data_option
@lang_option
@form_options
@click.option(
    "--judge", "judge_id", metavar="ID", help="The judge's id, as `judge status` lists it (default: the last sealed)."
)
@click.option("--details", is_flag=True, help="Also: ratings level by level, floor and ceiling, and where the judge disagrees.")
@click.option("--suggest", type=click.IntRange(1), metavar="N", help="Draw N pairs for experts to rate; needs --out.")
@click.option(
    "--out", type=click.Path(path_type=Path, dir_okay=False), metavar="FILE.csv", help="Where --suggest writes the pairs."
)
@click.option("--reseal", metavar="REASON", help="Seal what judge.toml and the expert ratings say now; stays on record.")
@click.option("--expect", metavar="HEAD", help="Fail unless the ledger is at this head, or SHA-256, as a card states it.")
@click.pass_context
def gate(
    context: click.Context,
    data: Path,
    langs: tuple[str, ...],
    form: Form,
    judge_id: str | None,
    details: bool,
    suggest: int | None,
    out: Path | None,
    reseal: str | None,
    expect: str | None,
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
      judge gate --lang go --expect 4f0c2a9b7d11e385
    """
    from judge.steps import gate as step

    if (suggest is None) != (out is None):
        raise UsageError("--suggest N and --out FILE.csv go together; give both")
    if details and form == "csv":
        raise UsageError("--csv has a row a language, and no room for --details; use --json, which always has them")
    found = folder.load(data, langs)
    if suggest is not None and len(found.languages) > 1:
        raise UsageError(f"--suggest draws for one language; name it with --lang: {', '.join(found.languages)}")
    gated = step.gate(found, judge=judge_id, reseal=reseal, expect=expect)
    show(
        form,
        lambda: text(gated, step.details(gated) if details else None),
        document=lambda: step.document(gated, step.details(gated)),
        rows=lambda: map(_row, gated),
    )
    for line in (line for one in gated for line in one.closed):
        note(f"judge: {line}")
    if suggest is not None and out is not None:
        drawn = step.suggest(gated[0], suggest, out=out)
        note(f"{out}: {drawn.pairs} pairs to rate; then: judge import ratings {out} --rater NAME --date DATE")
    if not all(one.passed for one in gated):
        context.exit(GateClosed.exit_code)


def text(gated: "Sequence[Gated]", behind: "Details | None" = None) -> str:
    """Return verdicts for the terminal: one as a block, several as a table, or all with what stands behind them."""
    from gates._report import wording
    from gates._verdict import findings

    records = [one.record for one in gated]
    if behind is not None:
        pairs = zip(records, behind.findings, strict=True)
        blocks = [f"{wording.render(record)}\n\n{findings.text(part)}" for record, part in pairs]
        return "\n\n\n".join([*blocks, *_together(behind)])
    return wording.render(records[0], _needed(gated[0])) if len(records) == 1 else wording.table(records)


def _needed(gated: "Gated") -> str | None:
    from gates._report import details
    from judge.steps import gate as step

    return details.more_labels(gated.record, step.needed(gated))


def _together(behind: "Details") -> list[str]:
    from gates._report import details

    if behind.together is None:
        return []
    levels, by_language = details.levels(behind.together.levels), details.breakdown(behind.together.breakdown)
    return [f"All languages together\n{levels}\n\n{by_language}"]


def _row(gated: "Gated") -> Row:
    record, figures = gated.record, gated.record.agreement
    return {
        "language": record.language,
        "judge_id": record.judge_id,
        "verdict": record.verdict,
        "clear": record.clear,
        "open": gated.passed,
        "threshold": record.threshold,
        "relevant_from": record.relevant_from,
        "expert_pairs": record.expert_pairs,
        "pairs": figures.pairs,
        "searches": record.searches,
        "expert_relevant": figures.expert_relevant,
        "judge_relevant": figures.judge_relevant,
        "both": figures.both,
        "same": figures.same,
        "precision": figures.precision,
        "recall": figures.recall,
        "f1": figures.f1,
        **ends("f1", record.interval),
        **ends("percentile", record.percentile),
        "kappa": figures.kappa,
        "always_f1": figures.always_f1,
        "share": record.share,
    }
