"""`judge corpus`: the functions of a checkout into the corpus."""

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from judge.cli.options import data_option, form_options
from judge.cli.printing import Form, Row, note, show

if TYPE_CHECKING:
    from judge.steps.harvesting import HarvestedLanguage


@click.command()
@click.option(
    "--from", "folder", type=click.Path(path_type=Path), required=True, metavar="PATH",
    help="A git checkout (its tracked files are read), a folder in one, or a folder without git.",
)  # fmt: skip
@click.option("--lang", "langs", multiple=True, required=True, metavar="L", help="A language to extract; repeatable.")
@data_option
@click.option("--include-vendored", is_flag=True, help="Vendored, generated and minified files too.")
@form_options
def corpus(folder: Path, langs: tuple[str, ...], data: Path, include_vendored: bool, form: Form) -> None:
    """Extract every function and method of a checkout into the corpus.

    Languages: python, java, javascript, typescript, php, ruby, go. A corpus that is there already keeps its rows and ids and
    grows by the new functions only. Identical code becomes one row, its occurrences counted in column `count` and listed in
    `copies`; `near_duplicate_of` names an earlier function that is nearly the same.

    \b
    Examples:
      judge corpus --from ../flask --lang python --data my-collection
      judge corpus --from ../app --lang javascript --lang typescript --json
    """
    from judge.cli import bars
    from judge.steps.harvesting import harvest_checkout

    with bars.shown() as progress:
        harvested = harvest_checkout(folder, langs, data=data, include_vendored=include_vendored, note=note, progress=progress)
    show(
        form,
        lambda: "\n".join(map(_sentence, harvested.languages)),
        document=harvested.document,
        rows=lambda: map(_row, harvested.languages),
    )


def _row(entry: "HarvestedLanguage") -> Row:
    return asdict(entry) | {"left_out": sum(entry.left_out.values())}


def _sentence(entry: "HarvestedLanguage") -> str:
    lines = [
        f"{entry.language}: {entry.found} functions found: {entry.added} added, {entry.repeated} the same as others, "
        f"{entry.known} known before; {entry.near_duplicates} rows are near-duplicates of an earlier one"
    ]
    lines += [f"  left out, {reason}: {number}" for reason, number in entry.left_out.items()]
    if entry.changed_files:
        lines.append(f"  files that differ from the commit, so none is noted for them: {entry.changed_files}")
    if entry.faulty_files:
        lines.append(f"  files with a syntax error, of which functions may be missing: {entry.faulty_files}")
    if entry.undecodable_files:
        lines.append(f"  files with undecodable bytes, kept as U+FFFD: {entry.undecodable_files}")
    return "\n".join(lines)
