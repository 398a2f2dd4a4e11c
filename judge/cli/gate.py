"""`judge gate`: the verdict on a judge, language by language."""

from pathlib import Path

import click

from judge.cli.workspace import data_option, json_option, lang_option, open_workspace


@click.command()
@data_option
@lang_option
@json_option
@click.option(
    "--judge", "judge_id", metavar="ID", help="The judge's id, as `judge status` lists it (default: the last sealed)."
)
@click.option("--reseal", metavar="REASON", help="Seal what judge.toml and the expert ratings say now; stays on record.")
@click.pass_context
def gate(
    context: click.Context, data: Path, langs: tuple[str, ...], as_json: bool, judge_id: str | None, reseal: str | None
) -> None:
    """Tell how the judge agrees with the experts, and whether its ratings may leave.

    Exits 0 where every language passed and 1 where one did not. Writes work/<language>/gate.json beside the ledger. A
    published dataset without a ledger is only read: its qrels rows that carry both expert_ratings and judge_rating are audited.

    \b
    Examples:
      judge gate --lang go
      judge gate --data ../shared/csn --json
      judge gate --lang go --reseal "raised the threshold to 0.7 before publishing"
    """
    import json

    from gates import report
    from judge.cli import evidences
    from pools.errors import GateClosed

    workspace = open_workspace(data, langs)
    if reseal is not None:
        for language in workspace.languages:
            evidences.reseal(workspace, language, judge_id, reseal)
    records = [evidences.assess(workspace, language, judge_id) for language in workspace.languages]
    if as_json:
        click.echo(json.dumps(report.document(records), ensure_ascii=False, indent=2))
    elif len(records) == 1:
        click.echo(report.render(records[0]))
    else:
        click.echo(report.table(records))
    if not all(record.passed for record in records):
        context.exit(GateClosed.exit_code)
