"""The step `export`: the dataset as it is published."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from gates._release import publication
from judge.steps import evidences
from pools._dataset.folder import DatasetFolder


@dataclass(frozen=True, slots=True)
class Exported:
    """The files written to `folder`, the card last; `left_over` are formats that an earlier export left there."""

    folder: Path
    files: tuple[Path, ...]
    left_over: tuple[str, ...]


def export(folder: DatasetFolder, *, formats: Sequence[str] = publication.FORMATS) -> Exported:
    """Write export/ of a whole dataset folder, whichever languages are meant, in one or several formats.

    Raises `UsageError` for an unknown format, and `GateClosed`, before anything is written, where a language holds ratings by
    a judge that nothing admits.
    """
    found = {language: evidences.of_merged(folder[language]) for language in folder.dataset.languages}
    known = {language: evidence for language, evidence in found.items() if evidence is not None}
    written = publication.export(folder.dataset, known, settings=folder.settings, scale=folder.scale, formats=tuple(formats))
    left_over = publication.left_over(folder.dataset, tuple(formats))
    return Exported(folder.path / publication.FOLDER, written, left_over)
