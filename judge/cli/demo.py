"""`judge demo`: the whole pipeline over the sample that is shipped with the package, offline."""

from pathlib import Path

import click

from judge.cli import bars
from judge.cli.gate import text as gate_text
from judge.cli.merge import show_merged
from judge.cli.pool import pool
from judge.cli.printing import note
from judge.cli.rate import text as rate_text
from pools._dataset import folder
from pools.errors import GateClosed


@click.command()
@click.argument("directory", metavar="[DIR]", type=click.Path(path_type=Path), default=Path("demo"), required=False)
@click.pass_context
def demo(context: click.Context, directory: Path) -> None:
    """Run the whole pipeline over the sample, offline, into DIR (default: demo).

    Copies the sample there, pools candidates, has the baseline judge rate them, asks the gate, merges what passed and
    exports. Run again, it does only what is left to do.

    \b
    Example:
      judge demo
    """
    from judge.steps.demo import start
    from judge.steps.export import export
    from judge.steps.gate import gate
    from judge.steps.merge import merge
    from judge.steps.rate import rate

    def begin(step: str, options: str = "") -> None:
        note(f"\n== judge {step} --data {directory}{options}")

    start(directory)
    begin("pool")
    context.invoke(pool, data=directory)
    begin("rate", " --judge baseline")
    with bars.shown() as progress:
        rated = rate(folder.load(directory), judge="baseline", concurrency=1, note=note, progress=progress)
    click.echo(rate_text(rated))
    begin("gate")
    gated = gate(folder.load(directory))
    click.echo(gate_text(gated))
    for line in (line for one in gated for line in one.closed):
        note(f"judge: {line}")
    begin("merge")
    show_merged(merge(folder.load(directory)))
    begin("export")
    try:
        for path in export(folder.load(directory)).files:
            click.echo(path)
    except GateClosed as closed:
        # A language that misses its gate is part of what the demo shows, so it does not end it.
        note(f"judge: {closed}")
