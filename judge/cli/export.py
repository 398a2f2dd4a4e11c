"""`judge export`: the dataset as it is published."""

from pathlib import Path

import click

from judge.cli.options import data_option
from judge.cli.printing import note
from pools._dataset import folder


@click.command()
@data_option
@click.option(
    "--format",
    "formats",
    multiple=True,
    default=("hf",),
    metavar="NAME",
    help="hf, or trec or beir, which go to export/NAME/; repeatable (default: hf).",
)
def export(data: Path, formats: tuple[str, ...]) -> None:
    """Write export/: queries, corpus and qrels as .jsonl.gz and the dataset card, whose tables are computed.

    Refuses, and exits 1, while a language holds ratings by a judge that its gate does not admit and no override is on record.
    Two exports of the same folder are the same bytes.

    As trec and beir each language is a folder, and each pair has a whole grade on its side of relevant_from; they do not say
    which grades are the judge's. `judge import` reads all of them.

    \b
    Examples:
      judge export --data my-collection
      judge export --data my-collection --format hf --format trec
    """
    from judge.steps import export as step

    exported = step.export(folder.load(data), formats=formats)
    for path in exported.files:
        click.echo(path)
    for name in exported.left_over:
        note(f"{exported.folder} still holds {name} of an earlier export; add --format {name}, or remove it")
