"""How far a ledger had got at the last verdict or the end of the last run, kept in a file beside it.

A chain of hashes shows what was changed in a ledger, and not that its end was cut off. It is no part of the gate record, which
the same ratings give the same bytes, whatever order and time they came in.
"""

import json
from dataclasses import asdict, dataclass
from pathlib import Path

from pools._dataset import files
from pools.errors import DataError


@dataclass(frozen=True, slots=True)
class HighWaterMark:
    """The bytes of a ledger's whole lines, and the chain of the last of them."""

    size: int
    last: str


def path(ledger: Path) -> Path:
    """Return where the high-water mark of a ledger is kept."""
    return ledger.with_name("extent.json")


def read(path: Path) -> HighWaterMark | None:
    """Return the mark in a file, None where there is no file; raises `DataError` where the file holds none."""
    if not path.is_file():
        return None
    try:
        found = HighWaterMark(**json.loads(files.read(path)))
    except (ValueError, TypeError) as error:
        raise DataError(f"{path}: not how far a ledger had got ({error}); restore it from a copy") from error
    if type(found.size) is not int or not isinstance(found.last, str):
        raise DataError(f"{path}: not how far a ledger had got; restore it from a copy")
    return found


def write(path: Path, mark: HighWaterMark) -> None:
    """Replace a mark's file."""
    files.replace(path, (json.dumps(asdict(mark)) + "\n").encode())
