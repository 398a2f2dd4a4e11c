"""`judge export`: the dataset as it is published."""

from pathlib import Path

import click

from judge.cli.options import data_option
from pools.dataset import folder


@click.command()
@data_option
def export(data: Path) -> None:
    """Write export/: queries, corpus and qrels as .jsonl.gz and the dataset card, whose tables are computed.

    Refuses, and exits 1, while a language holds ratings by a judge that its gate does not admit and no override is on record.
    Two exports of the same folder are the same bytes.

    \b
    Example:
      judge export --data my-collection
    """
    from judge.steps import export as step

    for path in step.export(folder.load(data)).files:
        click.echo(path)
