"""The step `check`: all faults of a dataset folder, which need not be one that can be loaded."""

from pathlib import Path

from pools.dataset import faults, settings
from pools.dataset.folder import load_scale


def check(path: Path) -> tuple[str, ...]:
    """Return the faults of a dataset folder, a line each with its place; none where it is sound.

    Raises `UsageError` for a folder that is no dataset, or a judge.toml that cannot be.
    """
    found = settings.load(path)
    return tuple(faults.find(path, load_scale(path, found), settings=found))
