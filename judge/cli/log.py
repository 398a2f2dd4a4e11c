"""`judge log`: what was merged, overridden, resealed and withdrawn, when and why."""

from pathlib import Path

import click

from judge.cli.workspace import data_option, json_option, lang_option, note, open_workspace, show_json


@click.command()
@data_option
@lang_option
@json_option
def log(data: Path, langs: tuple[str, ...], as_json: bool) -> None:
    """Show the history of merges, overrides, changes of what is sealed and withdrawals, with dates and reasons.

    \b
    Example:
      judge log --lang go
    """
    from dataclasses import asdict

    from gates.release import journal as logs
    from judge.cli import evidences
    from judge.ledger.ledger import Ledger

    workspace = open_workspace(data, langs)
    changes = [
        event
        for language in workspace.languages
        for event in evidences.changes(Ledger.read(workspace.ledger_path(language)), language)
    ]
    events = logs.history(data, workspace.languages, further=changes)
    if as_json:
        show_json([asdict(event) for event in events])
    elif events:
        click.echo(logs.lines(events))
    else:
        note("nothing was merged, overridden, resealed or withdrawn yet")
