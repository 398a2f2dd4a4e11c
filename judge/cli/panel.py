"""`judge panel`: several judges decide together, as a judge of its own."""

from pathlib import Path

import click

from gates._verdict.panels import METHODS
from judge.cli.options import data_option, lang_option
from pools._dataset import folder


@click.command()
@data_option
@lang_option
@click.argument("ids", metavar="ID ID [ID]...", nargs=-1, required=True)
@click.option(
    "--method", type=click.Choice(METHODS), required=True, help="The rating that most members gave, or the middle one."
)
def panel(data: Path, langs: tuple[str, ...], ids: tuple[str, ...], method: str) -> None:
    """Make a panel of judges that rated already, and seal it as a judge of its own.

    A pair that every member rated gets the panel's rating, ties going to the lower one; nothing is asked for. The panel takes
    over the seal that its members share, so nothing can be lowered by making one, and is then the judge sealed last: gate,
    merge and export are about it. `judge gate --judge ID` is about another.

    \b
    Example:
      judge panel 9ecbd489fbbab1c9 02c2b5b1ea5c9f2d 77aa0b1c3d4e5f60 --method median --lang go
    """
    from judge.steps import panel as step

    made = [step.panel(partition, ids, method=method) for partition in folder.load(data, langs)]
    for panel in made:
        click.echo(
            f"{panel.language}: panel {panel.judge_id}, the {panel.method} of {panel.judges} judges, rates {panel.pairs} pairs"
        )
