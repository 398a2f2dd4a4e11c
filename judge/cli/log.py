"""`judge log`: what was merged, overridden, resealed and withdrawn, when and why."""

from pathlib import Path

import click

from judge.cli.options import data_option, form_options, lang_option
from judge.cli.printing import Form, note, show
from pools._dataset import folder

COLUMNS = ("time", "kind", "language", "judge_id", "reason", "details")


@click.command()
@data_option
@lang_option
@form_options
def log(data: Path, langs: tuple[str, ...], form: Form) -> None:
    """Show the history of merges, overrides, changes of what is sealed and withdrawals, with dates and reasons.

    \b
    Example:
      judge log --lang go
    """
    from dataclasses import asdict

    from gates._release import journal
    from judge.steps import log as step

    events = step.log(folder.load(data, langs))
    documents = [asdict(event) for event in events]
    show(form, lambda: journal.lines(events), document=lambda: documents, rows=lambda: documents, columns=COLUMNS)
    if form == "text" and not events:
        note("nothing was merged, overridden, resealed or withdrawn yet")
