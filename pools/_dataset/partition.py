"""A partition: one language of one dataset folder, with its settings, its inputs, and where its files are.

It is what every step takes, a retriever too, so that nothing has to carry folder, language and settings side by side. It is a
snapshot: what a step writes shows in the next one that is loaded. Inputs of the language are picked out once and kept.
"""

from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from pools._dataset import dataset
from pools._dataset.dataset import Dataset
from pools._dataset.records import Function, PairKey, Qrel, Query
from pools._dataset.settings import Settings
from prompts.scales import Scale


@dataclass(frozen=True)
class Partition:
    """One language of a dataset folder; `dataset` holds all of the folder's languages."""

    language: str
    settings: Settings
    scale: Scale
    dataset: Dataset

    @property
    def folder(self) -> Path:
        """The dataset's folder."""
        return self.dataset.folder

    @property
    def work(self) -> Path:
        """The folder of what was made for this language; raises `DataError` where its name cannot be a folder's."""
        return dataset.work(self.folder, self.language)

    @property
    def ledger_path(self) -> Path:
        """Where the judges' ledger is kept."""
        return self.work / "judgements.jsonl"

    def with_settings(self, changed: Settings) -> "Partition":
        """Return the same partition under other settings, as a command line or a caller may ask for."""
        return replace(self, settings=changed)

    @cached_property
    def queries(self) -> tuple[Query, ...]:
        """The language's searches in file order."""
        return self.dataset.queries_of(self.language)

    @cached_property
    def functions(self) -> tuple[Function, ...]:
        """The language's functions in file order; raises `DataError` where the folder has no corpus."""
        return self.dataset.functions_of(self.language)

    @cached_property
    def qrels(self) -> tuple[Qrel, ...]:
        """The language's judgements in file order."""
        return self.dataset.qrels_of(self.language)

    @cached_property
    def experts(self) -> dict[PairKey, tuple[int, ...]]:
        """The experts' ratings of every expert-rated pair, in rating order."""
        return self.dataset.experts_of(self.language)
