"""`judge export`: the dataset as it is published."""

from pathlib import Path

import click

from judge.cli.workspace import data_option, note, open_workspace


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
    from gates.release import publication as exporting
    from judge.cli import evidences

    workspace = open_workspace(data, ())
    found = {language: evidences.of_merged(workspace, language) for language in workspace.languages}
    known = {language: evidence for language, evidence in found.items() if evidence is not None}
    for path in exporting.export(workspace.dataset, known, settings=workspace.settings, scale=workspace.scale, formats=formats):
        click.echo(path)
    for name in exporting.left_over(workspace.dataset, formats):
        note(
            f"{workspace.folder / exporting.FOLDER} still holds {name} of an earlier export; add --format {name}, or remove it"
        )
