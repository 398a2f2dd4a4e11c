"""The texts that pairs are made of, as hashes: what a rating is bound to, and whether the dataset still says the same.

A judge rates a text, not an id. So each pair sent is in the ledger with the hashes of its search and its function's code, and a
ledger that is read beside a dataset takes no rating for a text that has changed since. The hash of code is the beginning of
the corpus's own column `sha256`. Ledgers of older releases hold no such hashes; what they rated counts as ever.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Self

from pools._dataset import files
from pools._dataset.partition import Partition
from pools._dataset.records import Function, Query

DIGITS = 16


def digest(text: str) -> str:
    """Return the hash of a text: the first 16 hexadecimal digits of the SHA-256 of its UTF-8."""
    return files.sha256(text.encode("utf-8", "surrogatepass"))[:DIGITS]


@dataclass(frozen=True, slots=True)
class Change:
    """Which of a pair's two texts is no longer the one that was rated."""

    search: bool
    function: bool


@dataclass(slots=True)
class Texts:
    """The texts of one language's searches and functions, by id; each is hashed when it is first asked for."""

    searches: Mapping[str, str]
    functions: Mapping[str, str]
    _of_search: dict[str, str] = field(default_factory=dict)
    _of_function: dict[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, queries: Iterable[Query], functions: Iterable[Function]) -> Self:
        """Take the texts of a language's searches and functions."""
        return cls({query.search_id: query.search for query in queries}, {entry.id: entry.code for entry in functions})

    @classmethod
    def of_partition(cls, partition: Partition) -> Self:
        """Take the texts of a partition, whose functions' are not known where it has no corpus."""
        return cls.of(partition.queries, () if partition.dataset.corpus is None else partition.functions)

    def shown(self, search_id: str, function_id: str) -> tuple[str, str] | None:
        """Return the hashes of a pair's texts; None where the dataset lacks one of them."""
        if search_id not in self.searches or function_id not in self.functions:
            return None
        return digest(self.searches[search_id]), digest(self.functions[function_id])

    def change(self, search_id: str, function_id: str, *, shown: tuple[str, str]) -> Change | None:
        """Return what of a pair has changed since texts of these hashes were shown; None where nothing has.

        A search or function that the dataset lacks has not changed: nothing is known of it.
        """
        search = self._is_other(search_id, shown[0], texts=self.searches, known=self._of_search)
        function = self._is_other(function_id, shown[1], texts=self.functions, known=self._of_function)
        return Change(search, function) if search or function else None

    def _is_other(self, name: str, shown: str, *, texts: Mapping[str, str], known: dict[str, str]) -> bool:
        found = known.get(name)
        if found is None:
            text = texts.get(name)
            if text is None:
                return False
            found = known[name] = digest(text)
        return found != shown
