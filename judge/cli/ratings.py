"""`judge import ratings`: further expert ratings, filled in by a person, into the qrels."""

import re
from datetime import date
from pathlib import Path

import click

from judge.cli.workspace import data_option, note, open_workspace
from pools.errors import UsageError


@click.command()
@data_option
@click.argument("path", metavar="FILE", type=click.Path(path_type=Path, exists=True, dir_okay=False))
@click.option("--rater", required=True, metavar="NAME", help="Who rated; stays beside the ratings.")
@click.option("--date", "day", required=True, metavar="DATE", help="When, as in 2026-05-31; stays beside the ratings.")
def ratings(data: Path, path: Path, rater: str, day: str) -> None:
    """Add a person's ratings as a new layer of expert ratings.

    FILE is the CSV of `judge gate --suggest`, or any with the columns language, search_id, function_id and rating; rows without
    a rating are skipped. Each rating goes behind those that its pair has, with rater and date in the column `raters`; relevance
    is the mean of all. Ratings that are there are never changed.

    The expert ratings are then no longer those sealed before the judge's first rating: the gate says so, and lets nothing
    through before `judge gate --reseal REASON`.

    \b
    Example:
      judge import ratings to-rate.csv --rater "A. Expert" --date 2026-05-31 --data my-collection
    """
    from collections import Counter
    from dataclasses import replace

    from gates.release import journal, qrels
    from gates.verdict import labels
    from judge.ledger.ledger import now

    workspace = open_workspace(data, ())
    _check_date(day)
    given = labels.read_sheet(path, workspace.scale)
    if not given:
        raise UsageError(f"{path}: no row has a rating; fill in the column `rating`")
    rows = labels.add_layer(workspace.dataset, given, rater=rater, date=day, relevant_from=workspace.settings.relevant_from)
    counts = Counter(language for language, _, _ in given)
    moment = now()
    for language, count in sorted(counts.items()):
        journal.append(
            data, journal.Event(moment, "import", language, None, None, f"{count} ratings by {rater.strip()} of {day}")
        )
    qrels.write(data, replace(workspace.dataset, qrels=rows).qrels)
    for language, count in sorted(counts.items()):
        click.echo(f"{language}: {count} expert ratings by {rater.strip()} of {day} added")
        if workspace.ledger_path(language).is_file():
            reason = f"ratings by {rater.strip()} of {day} added"
            note(f'{language}: the seal is of other expert ratings; next: judge gate --lang {language} --reseal "{reason}"')


def _check_date(day: str) -> None:
    try:
        found = re.fullmatch(r"\d{4}-\d\d-\d\d", day) is not None and date.fromisoformat(day) is not None
    except ValueError:
        found = False
    if not found:
        raise UsageError(f"--date {day} is no date; write it as in 2026-05-31")
