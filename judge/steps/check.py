"""The step `check`: all faults of a dataset folder, which need not be one that can be loaded."""

from dataclasses import dataclass
from pathlib import Path

from pools._dataset import faults, settings
from pools._dataset.folder import load_scale


@dataclass(frozen=True, slots=True)
class Checked:
    """The faults that were found, a line each with its place; none where the dataset is sound."""

    faults: tuple[str, ...]


def check(path: Path) -> Checked:
    """Return the faults of a dataset folder, all at once.

    Raises `UsageError` for a folder that is no dataset, or a judge.toml that cannot be.
    """
    found = settings.load(path)
    return Checked(tuple(faults.find(path, load_scale(path, found), settings=found)))
