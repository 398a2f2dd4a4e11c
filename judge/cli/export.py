"""`judge export`: the dataset as it is published."""

from pathlib import Path

import click

from judge.cli.workspace import data_option, open_workspace


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
    from gates.release import publication as exporting
    from judge.cli import evidences

    workspace = open_workspace(data, ())
    found = {language: evidences.of_merged(workspace, language) for language in workspace.languages}
    known = {language: evidence for language, evidence in found.items() if evidence is not None}
    for path in exporting.export(workspace.dataset, known, settings=workspace.settings, scale=workspace.scale):
        click.echo(path)
