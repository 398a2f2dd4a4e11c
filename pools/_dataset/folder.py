"""A dataset folder that was read: settings, scale and data, and the partitions of the languages that are meant."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from pools._dataset import dataset, settings
from pools._dataset.dataset import Dataset
from pools._dataset.partition import Partition
from pools._dataset.settings import Settings
from pools.errors import UsageError
from pools.relevance import is_relevant_rating
from prompts import scales
from prompts.scales import Scale


@dataclass(frozen=True, slots=True)
class DatasetFolder:
    """A dataset folder as the steps see it; `languages` are those that are meant, all of them unless some were named.

    Iterating over it gives the partitions of these languages, in order.
    """

    settings: Settings
    scale: Scale
    dataset: Dataset
    languages: tuple[str, ...]

    @property
    def path(self) -> Path:
        return self.dataset.folder

    def __getitem__(self, language: str) -> Partition:
        """Return the partition of a language; raises `UsageError` for an unknown one, listing the dataset's."""
        (name,) = self.dataset.choose([language])
        return Partition(name, self.settings, self.scale, self.dataset)

    def __iter__(self) -> Iterator[Partition]:
        return (self[language] for language in self.languages)

    def with_settings(self, changed: Settings) -> "DatasetFolder":
        """Return the same folder under other settings, as a command line or a caller may ask for."""
        return replace(self, settings=changed)


def load(path: Path, languages: Sequence[str] = ()) -> DatasetFolder:
    """Read a dataset folder and choose languages, all where none is named; nothing is written.

    Raises `UsageError` for what is no dataset, an unknown language or a setting that cannot be, `DataError` with file and line
    for what is wrong in it.
    """
    if not path.is_dir():
        raise UsageError(f"{path}: no such folder; name a dataset's with --data, or start one with `judge init {path}`")
    found = settings.load(path)
    scale = load_scale(path, found)
    if is_relevant_rating(scale.lowest, found.relevant_from):
        raise UsageError(
            f"{path / settings.FILE}: relevant_from is {found.relevant_from:g}, so every rating on the scale {scale.lowest}-"
            f"{scale.highest} would be relevant and every judge right; set it above {scale.lowest}"
        )
    data = dataset.load(path, scale)
    if "" in languages:
        raise UsageError(f"a language is needed, as in --lang {data.languages[0]}; {path} has {', '.join(data.languages)}")
    return DatasetFolder(found, scale, data, data.choose(languages))


def load_scale(path: Path, found: Settings) -> Scale:
    """Return the scale that the settings name; raises `UsageError` where it is none."""
    try:
        return scales.load(found.scale, path)
    except ValueError as error:
        raise UsageError(f"{path / settings.FILE}: scale: {error}") from error
