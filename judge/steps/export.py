"""The step `export`: the dataset as it is published."""

from dataclasses import dataclass
from pathlib import Path

from gates.release import publication
from judge.steps import evidences
from pools.dataset.folder import DatasetFolder


@dataclass(frozen=True, slots=True)
class Exported:
    """The files that were written, the card last."""

    files: tuple[Path, ...]


def export(folder: DatasetFolder) -> Exported:
    """Write export/ of a whole dataset folder, whichever languages are meant.

    Raises `GateClosed`, before anything is written, where a language holds ratings by a judge that nothing admits.
    """
    found = {language: evidences.of_merged(folder[language]) for language in folder.dataset.languages}
    known = {language: evidence for language, evidence in found.items() if evidence is not None}
    return Exported(publication.export(folder.dataset, known, settings=folder.settings, scale=folder.scale))
