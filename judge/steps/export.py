"""The step `export`: the dataset as it is published."""

from pathlib import Path

from gates.release import publication
from judge.steps import evidences
from pools.dataset.folder import DatasetFolder


def export(folder: DatasetFolder) -> tuple[Path, ...]:
    """Write export/ of a whole dataset folder and return the paths of its files, the card last.

    Raises `GateClosed`, before anything is written, where a language holds ratings by a judge that nothing admits.
    """
    found = {language: evidences.of_merged(folder[language]) for language in folder.dataset.languages}
    known = {language: evidence for language, evidence in found.items() if evidence is not None}
    return publication.export(folder.dataset, known, settings=folder.settings, scale=folder.scale)
