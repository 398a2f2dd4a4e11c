"""`judge check`: all faults of a dataset at once."""

from pathlib import Path

import click

from judge.cli.workspace import data_option, json_option, load_scale, note, show_json
from pools.errors import DataError


@click.command()
@data_option
@json_option
@click.pass_context
def check(context: click.Context, data: Path, as_json: bool) -> None:
    """List all faults of a dataset, one a line, each with its place.

    Reads queries, corpus and qrels: broken lines, missing columns and wrong types, unknown and duplicate ids, ids that the
    corpus lacks, ratings off the scale, a sha256 that is not of its code, empty searches. Exits 3 if there is any fault.

    \b
    Example:
      judge check --data my-collection
    """
    from pools.dataset import faults, settings

    found_settings = settings.load(data)
    found = faults.find(data, load_scale(data, found_settings), settings=found_settings)
    if as_json:
        show_json({"faults": found})
    else:
        for fault in found:
            click.echo(" ".join(fault.split()))
    if found:
        note(f"{len(found)} {'fault' if len(found) == 1 else 'faults'}")
        context.exit(DataError.exit_code)
    note("no faults")
