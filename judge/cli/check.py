"""`judge check`: all faults of a dataset at once."""

from pathlib import Path

import click

from judge.cli.options import data_option, form_options
from judge.cli.printing import Form, note, show
from pools.errors import DataError


@click.command()
@data_option
@form_options
@click.pass_context
def check(context: click.Context, data: Path, form: Form) -> None:
    """List all faults of a dataset, one a line, each with its place.

    Reads queries, corpus and qrels: broken lines, missing columns and wrong types, unknown and duplicate ids, ids that the
    corpus lacks, ratings off the scale, a sha256 that is not of its code, empty searches. Exits 3 if there is any fault.

    \b
    Example:
      judge check --data my-collection
    """
    from judge.steps import check as step

    found = step.check(data).faults
    show(
        form,
        lambda: "\n".join(" ".join(fault.split()) for fault in found),
        document=lambda: {"faults": found},
        rows=lambda: [{"fault": fault} for fault in found],
        columns=("fault",),
    )
    if found:
        note(f"{len(found)} {'fault' if len(found) == 1 else 'faults'}")
        context.exit(DataError.exit_code)
    note("no faults")
