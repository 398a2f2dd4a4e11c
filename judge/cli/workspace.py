"""A dataset folder as `importing` and `corpus` see it, until they take partitions.

Everything else takes `pools.dataset.folder.DatasetFolder` and `pools.dataset.partition.Partition`; options and printing are in
modules of their own.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from judge.cli.options import data_option, endpoint_options, json_option, lang_option, seed_option
from judge.cli.printing import json_text, note, show_json
from pools.dataset import folder as folders
from pools.dataset.dataset import Dataset
from pools.dataset.folder import load_scale
from pools.dataset.settings import Settings
from prompts.scales import Scale

__all__ = [
    "Workspace", "data_option", "endpoint_options", "json_option", "json_text", "lang_option", "load_scale", "note",
    "open_workspace", "seed_option", "show_json",
]  # fmt: skip


@dataclass(frozen=True, slots=True)
class Workspace:
    """A dataset folder as a command sees it."""

    folder: Path
    settings: Settings
    scale: Scale
    dataset: Dataset
    languages: tuple[str, ...]


def open_workspace(folder: Path, languages: Sequence[str]) -> Workspace:
    """Read a dataset folder; raises as `pools.dataset.folder.load` does."""
    found = folders.load(folder, languages)
    return Workspace(folder, found.settings, found.scale, found.dataset, found.languages)
