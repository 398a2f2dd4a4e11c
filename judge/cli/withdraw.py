"""`judge withdraw`: a judge's ratings out of the qrels again."""

from pathlib import Path

import click

from judge.cli.workspace import data_option, open_workspace
from pools.errors import UsageError


@click.command()
@data_option
@click.option("--lang", "language", required=True, metavar="L", help="The language.")
@click.option("--judge", "judge_id", required=True, metavar="ID", help="The judge whose ratings were merged.")
@click.option("--reason", required=True, help="Why; stays on record.")
def withdraw(data: Path, language: str, judge_id: str, reason: str) -> None:
    """Take a judge's ratings of a language out of the qrels; the ledger keeps them, and expert ratings stay as they are.

    \b
    Example:
      judge withdraw --lang go --judge 9ecbd489fbbab1c9 --reason "the endpoint had served another model"
    """
    from dataclasses import replace

    from gates.release import journal, qrels
    from judge.ledger.ledger import now

    workspace = open_workspace(data, (language,))
    merged = journal.merged(journal.read(data, language))
    if merged is None or not qrels.carries(workspace.dataset, language):
        raise UsageError(f"{language}: no judge's ratings are merged, so there is nothing to withdraw; see `judge log`")
    if merged.judge_id != judge_id:
        raise UsageError(f"{language}: the ratings merged are by judge {merged.judge_id}, not {judge_id}; name that one")
    before = sum(qrel.source == "judge" for qrel in workspace.dataset.qrels_of(language))
    moment = now()
    journal.append(data, journal.Event(moment, "withdraw", language, judge_id, reason, f"{before} pairs"))
    qrels.write(data, replace(workspace.dataset, qrels=qrels.withdraw(workspace.dataset, language)).qrels)
    click.echo(f"{language}: {before} pairs rated by judge {judge_id} withdrawn")
