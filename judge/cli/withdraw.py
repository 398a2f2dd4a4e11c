"""`judge withdraw`: a judge's ratings out of the qrels again."""

from pathlib import Path

import click

from judge.cli.options import data_option
from pools._dataset import folder


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
    from judge.steps import withdraw as step

    done = step.withdraw(folder.load(data, [language])[language], judge=judge_id, reason=reason)
    click.echo(f"{done.language}: {done.pairs} pairs rated by judge {done.judge_id} withdrawn")
