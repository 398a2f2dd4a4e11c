"""Lots: a random number for every pair of search and function, the same in every drawing, and the smallest of them.

A pair's lot depends on seed, search and function alone: the hash of the function, moved by that of seed and search and mixed by
SplitMix64's finaliser (Steele, Lea and Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014), which makes
of two numbers that differ in any bit two that seem unrelated. Unlike a hash a pair, that takes no time worth mentioning for
the 20 million pairs of 99 searches and 200,000 functions.
"""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Lots:
    """The functions, sorted, the place of each, and a hash of each as an array of 64-bit numbers."""

    names: tuple[str, ...]
    places: Mapping[str, int]
    hashes: Any
    seed: int

    def smallest(self, search_id: str, members: Any, *, size: int) -> Any:
        """Return those `size` of the members (places in `names`, as a rising array) that have the smallest lots, rising."""
        import numpy as np

        if size >= len(members):
            return members
        if not size:
            return members[:0]
        lots = self.hashes[members] + _hashes([f"{self.seed} {search_id}"])
        lots = (lots ^ (lots >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        lots = (lots ^ (lots >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        lots ^= lots >> np.uint64(31)
        few = np.flatnonzero(lots <= np.partition(lots, size - 1)[size - 1])
        return np.sort(members[few[np.argsort(lots[few], kind="stable")[:size]]])


def of(function_ids: Iterable[str], seed: int) -> Lots:
    """Return the lots of functions, whose order does not matter."""
    names = tuple(sorted(set(function_ids)))
    return Lots(names, {name: place for place, name in enumerate(names)}, _hashes(names), seed)


def _hashes(texts: Sequence[str]) -> Any:
    import numpy as np

    digests = [hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest() for text in texts]
    return np.frombuffer(b"".join(digests), "<u8")
