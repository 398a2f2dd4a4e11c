"""`judge merge`: a judge's ratings into the qrels, where the gate passed."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from judge.cli.options import data_option, lang_option
from judge.cli.printing import note
from pools._dataset import folder
from pools.errors import GateClosed

if TYPE_CHECKING:
    from judge.steps.merge import Merged


@click.command()
@data_option
@lang_option
@click.option("--judge", "judge_id", metavar="ID", help="The judge, as `judge status` lists it (default: the last sealed).")
@click.option("--override", metavar="REASON", help="Merge although the gate is shut; stays on record, and the card shows it.")
@click.pass_context
def merge(context: click.Context, data: Path, langs: tuple[str, ...], judge_id: str | None, override: str | None) -> None:
    """Put the judge's ratings into the qrels of every language whose gate passed.

    Expert ratings are never changed. A language without a passed gate record that matches its judge, its expert ratings and
    its ledger, or whose ledger was changed by hand, is refused, and the command exits 1; the others are merged.

    \b
    Examples:
      judge merge
      judge merge --lang go --override "agreed by both maintainers, see the minutes of May"
    """
    from judge.steps import merge as step

    merged = step.merge(folder.load(data, langs), judge=judge_id, override=override)
    show_merged(merged)
    if merged.refused:
        context.exit(GateClosed.exit_code)


def show_merged(merged: "Merged") -> None:
    """Print what was merged, and why the rest was refused."""
    for done in merged.languages:
        override = " by override" if done.override else ""
        click.echo(f"{done.language}: {done.pairs} pairs rated by judge {done.judge_id} merged{override}")
        if done.changed is not None:
            note(f"{done.language}: {done.changed}")
    for error in merged.refused:
        note(f"judge: {error}")
