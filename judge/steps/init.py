"""The step `init`: a dataset folder with every setting explained."""

from pathlib import Path

from pools._dataset import files, settings
from pools.errors import UsageError


def init(directory: Path) -> Path:
    """Write a folder's judge.toml and return its path; raises `UsageError` where there is one already."""
    path = directory / settings.FILE
    if path.exists():
        raise UsageError(f"{path} is there already; edit it, or remove it to start again")
    files.replace(path, settings.document().encode("utf-8"))
    return path
