"""`judge demo`: the whole pipeline over the sample that is shipped with the package, offline."""

from importlib.resources import files as resources
from pathlib import Path

import click

from judge.cli.export import export
from judge.cli.gate import gate
from judge.cli.merge import merge
from judge.cli.pool import pool
from judge.cli.rate import rate
from judge.cli.workspace import note
from pools.dataset import files
from pools.errors import GateClosed, UsageError

SAMPLE = ("README.md", "judge.toml", "queries.jsonl", "corpus.jsonl", "qrels.jsonl")
PATTERNS = {"python": "patterns-python.jsonl", "go": "patterns-go.jsonl"}


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
    if directory.exists() and any(directory.iterdir()) and not (directory / "judge.toml").is_file():
        raise UsageError(f"{directory} holds something else than a demo; name another folder")
    copy_sample(directory)
    for step, arguments in (
        (pool, {}),
        (rate, {"judge_name": "baseline", "concurrency": 1}),
        (gate, {}),
        (merge, {}),
        (export, {}),
    ):
        note(f"\n== judge {step.name} --data {directory}" + (" --judge baseline" if step is rate else ""))
        _step(context, step, data=directory, **arguments)


def _step(context: click.Context, command: click.Command, **arguments: object) -> None:
    # A language that misses its gate is part of what the demo shows, so those exit codes do not end it.
    try:
        context.invoke(command, **arguments)
    except click.exceptions.Exit as stop:
        if stop.exit_code not in (0, GateClosed.exit_code):
            raise
    except GateClosed as closed:
        note(f"judge: {closed}")


def copy_sample(folder: Path) -> None:
    """Copy the sample into a folder, leaving files that are there already as they are."""
    sample = resources("pools.sample")
    wanted = {name: folder / name for name in SAMPLE}
    wanted |= {name: folder / "work" / language / "patterns.jsonl" for language, name in PATTERNS.items()}
    for name, path in wanted.items():
        if not path.exists():
            files.replace(path, sample.joinpath(name).read_bytes())
