"""`judge import ratings`: further expert ratings, filled in by a person, into the qrels."""

from pathlib import Path

import click

from judge.cli.options import data_option
from judge.cli.printing import note
from pools._dataset import folder


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
    from judge.steps import ratings as step

    for added in step.add(folder.load(data), path, rater=rater, date=day):
        click.echo(f"{added.language}: {added.ratings} expert ratings by {added.rater} of {added.date} added")
        if added.sealed:
            reason = f"ratings by {added.rater} of {added.date} added"
            note(
                f"{added.language}: the seal is of other expert ratings; next: judge gate --lang {added.language} --reseal "
                f'"{reason}"'
            )
