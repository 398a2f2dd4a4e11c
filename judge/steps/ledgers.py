"""A partition's ledger, held against the texts that there are now: what was rated of other texts counts as not rated."""

from pathlib import Path

from judge._ledger.ledger import Ledger
from judge._ledger.texts import Texts
from pools._dataset.partition import Partition


def read(partition: Partition, path: Path | None = None) -> Ledger:
    """Return what a partition's ledger says, or the one at a path, of the texts that there are now; raises as `Ledger.read`."""
    return Ledger.read(path or partition.ledger_path, texts=Texts.of_partition(partition))


def opened(partition: Partition, path: Path | None = None) -> Ledger:
    """Return a partition's ledger, or the one at a path, opened for appending; raises as `Ledger.open`."""
    return Ledger.open(path or partition.ledger_path, texts=Texts.of_partition(partition))
