"""Which functions are nearly the same as an earlier one: MinHash by the package datasketch, checked exactly.

The measure and its settings are those of a well-known code corpus: the Jaccard similarity of the sets of 5-grams of words, at
least 0.7 (Li et al. 2023, "StarCoder: may the source be with you!"). MinHash only proposes; the similarity
itself decides, so no mark is an estimate's mistake. Going through the functions in order, each is compared with those that
are not marked themselves, and marked with the most similar of them: a mark never changes when functions are added behind.
"""

import re
import zlib
from collections.abc import Sequence

WORDS = 5
SIMILAR = 0.7
LEAST_WORDS = 10
"""Functions of fewer words are never marked: an accessor is like every other accessor."""

_PERMUTATIONS = 128
_BANDS = (21, 6)
"""Bands and rows of the index: of pairs at 0.7 similarity 7 in 100 share no band, at 0.8 fewer than 1 in 500."""

_WORD = re.compile(r"\w+")


def find(codes: Sequence[str]) -> list[int | None]:
    """Return for every code the position of the earlier, unmarked one that it is nearly the same as, or None.

    Of equally similar ones the earliest is taken. Raises `UsageError` where datasketch is not installed.
    """
    try:
        from datasketch import MinHash, MinHashLSH
    except ImportError:
        from pools.errors import UsageError

        raise UsageError("datasketch is not installed; run `pip install 'qrels-judge[corpus]'`") from None

    index = MinHashLSH(num_perm=_PERMUTATIONS, params=_BANDS)
    empty = MinHash(num_perm=_PERMUTATIONS, seed=1, hashfunc=int)
    marks: list[int | None] = []
    for position, code in enumerate(codes):
        grams = _grams(code)
        mark = None
        if grams:
            signature = empty.copy()
            signature.update_batch(grams)
            # Candidates are few, and their grams kept would take ten times the memory of the index.
            close = [(-_jaccard(grams, _grams(codes[other])), other) for other in index.query(signature)]
            least = min(close, default=(0.0, 0))
            mark = least[1] if -least[0] >= SIMILAR else None
            if mark is None:
                index.insert(position, signature)
        marks.append(mark)
    return marks


def _grams(code: str) -> frozenset[int]:
    words = _WORD.findall(code)
    if len(words) < LEAST_WORDS:
        return frozenset()
    return frozenset(
        zlib.crc32(" ".join(words[start : start + WORDS]).encode("utf-8", "surrogatepass"))
        for start in range(len(words) - WORDS + 1)
    )


def _jaccard(one: frozenset[int], other: frozenset[int]) -> float:
    both = len(one & other)
    return both / (len(one) + len(other) - both)
