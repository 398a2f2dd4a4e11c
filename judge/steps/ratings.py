"""The step `import ratings`: further expert ratings, filled in by a person, into the qrels."""

import re
from collections import Counter
from dataclasses import dataclass
from datetime import date as calendar
from pathlib import Path

from gates._release import journal, qrels
from gates._verdict import labels
from judge._ledger.ledger import now
from pools._dataset.folder import DatasetFolder
from pools.errors import UsageError


@dataclass(frozen=True, slots=True)
class Added:
    """How many ratings one language got from one rater; `sealed`: a ledger there was sealed on the expert ratings before."""

    language: str
    ratings: int
    rater: str
    date: str
    sealed: bool


def add(folder: DatasetFolder, path: Path, *, rater: str, date: str) -> tuple[Added, ...]:
    """Add a person's ratings, from a CSV file, as a new layer of expert ratings; returns what each language got, sorted.

    `date` is written as in 2026-05-31. Raises `UsageError` for a date or a rater that is none, `DataError` with file and line
    for a row that is no rating of a pair of the dataset; then nothing is written.
    """
    _check_date(date)
    given = labels.read_sheet(path, folder.scale)
    if not given:
        raise UsageError(f"{path}: no row has a rating; fill in the column `rating`")
    rows = labels.add_layer(folder.dataset, given, rater=rater, date=date, relevant_from=folder.settings.relevant_from)
    counts = sorted(Counter(language for language, _, _ in given).items())
    name, moment = rater.strip(), now()
    for language, count in counts:
        details = f"{count} ratings by {name} of {date}"
        journal.append(folder.path, journal.Event(moment, "import", language, None, None, details))
    qrels.write(folder.path, rows)
    return tuple(Added(language, count, name, date, folder[language].ledger_path.is_file()) for language, count in counts)


def _check_date(date: str) -> None:
    try:
        found = re.fullmatch(r"\d{4}-\d\d-\d\d", date) is not None and calendar.fromisoformat(date) is not None
    except ValueError:
        found = False
    if not found:
        raise UsageError(f"--date {date} is no date; write it as in 2026-05-31")
