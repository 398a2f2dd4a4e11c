"""grep-all and grep-any: a search's words as plain strings, case-insensitive, through ripgrep.

grep-any flags a function that holds one of the words, grep-all one that holds every word. A word is hit wherever it stands,
inside another word too, as `rg -i -F WORD` does it.

The words of all searches are looked for at once. ripgrep reports no match that overlaps another ("list" inside "lists"), so
it is asked for the whole runs of letters and digits that hold any of the words, each under its line. A word has no other
characters, and ripgrep takes none of these for another kind, so every match lies inside one run; and which words a run
holds has to be found out once for all functions that have it. An ASCII word is plainly searched in the run: beside its own
lower and upper case, ripgrep takes exactly the two characters of `FOLDED` for an ASCII letter. For any other word, ripgrep
is asked again, over the list of runs.
"""

import gc
import re
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import count, repeat
from pathlib import Path
from typing import Any

from pools._dataset.records import Function, Query
from pools._engines import codewords, ripgrep
from pools._sampling.hits import Hit

# Letters and digits of any script: word characters without the underscore.
_RUN = re.compile(r"[^\W_]+")

FOLDED = {"\u017f": "s", "\u212a": "k"}
"""The characters beyond ASCII that match an ASCII letter when case is ignored: long s and the Kelvin sign."""

# In a corpus, everything but ASCII's signs, blanks and controls may be, or match, a letter or digit.
_IN_RUN = r"(?-u:[0-9A-Za-z\x80-\xFF])*"
WORDS_PER_PASS = 500
"""More words in one pattern, and ripgrep's automaton no longer fits its cache."""


def words(search: str) -> tuple[str, ...]:
    """Return the search's lower-case runs of letters and digits, each once, in order, without `codewords.IN_BETWEEN`.

    Letters and digits are those of `str.isalnum`, so a combining mark ends a run.
    """
    return tuple(word for word in dict.fromkeys(_RUN.findall(search.lower())) if word not in codewords.IN_BETWEEN)


def search_words(queries: Sequence[Query], functions: Sequence[Function]) -> dict[str, tuple[Hit, ...]]:
    """Return the hits of `grep-all` and `grep-any`.

    A hit's score is the number of the search's words that the function holds; ranks go by falling score, then by id.
    """
    vocabulary = sorted({word for query in queries for word in words(query.search)})
    with ripgrep.haystack(functions) as hay:
        holders: dict[str, Any] = {}
        for start in range(0, len(vocabulary), WORDS_PER_PASS):
            holders |= _holders(vocabulary[start : start + WORDS_PER_PASS], hay)
    every: list[Hit] = []
    some: list[Hit] = []
    with _no_collection():
        for query in queries:
            wanted = words(query.search)
            ranked = _ranked(query, [holders[word] for word in wanted], ids=hay.ids)
            some += ranked
            # Those that hold every word come first, so among themselves they have the same ranks.
            every += [hit for hit in ranked if hit.score == len(wanted)]
    return {"grep-all": tuple(every), "grep-any": tuple(some)}


@contextmanager
def _no_collection() -> Iterator[None]:
    """Look for no cycles meanwhile: hits have none, and going through millions of them takes longer than making them."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def _holders(wanted: Sequence[str], hay: ripgrep.Haystack) -> dict[str, Any]:
    """Return for each word the places in `hay.ids`, rising, of the functions that hold it, as an array."""
    import numpy as np
    from scipy.sparse import csr_matrix

    runs: defaultdict[bytes, int] = defaultdict(count().__next__)
    codes, owners = [np.empty(0, np.int32)], [np.empty(0, np.int64)]
    starts = np.array(hay.starts, np.int64)
    pattern = f"{_IN_RUN}(?:{'|'.join(wanted)}){_IN_RUN}"
    for lines in hay.matches(pattern, "--ignore-case", "--regex-size-limit=1G", "--dfa-size-limit=1G"):
        # No run holds a colon, so numbers and runs take turns.
        block = lines.replace(b":", b"\n")
        texts = block.lower().split(b"\n")[1::2]
        codes.append(np.fromiter(map(runs.__getitem__, texts), np.int32, len(texts)))
        owners.append(np.searchsorted(starts, _numbers(block), side="right") - 1)
    where = (np.concatenate(codes), np.concatenate(owners))
    functions_of = csr_matrix((np.ones(len(where[0]), bool), where), shape=(len(runs), len(starts)))
    rows, columns = [], []
    for row, holding in enumerate(_runs_with(wanted, list(runs), file=hay.file.with_name("runs"))):
        rows += [row] * len(holding)
        columns += holding
    runs_of = csr_matrix((np.ones(len(rows), bool), (rows, columns)), shape=(len(wanted), len(runs)))
    held = (runs_of @ functions_of).sorted_indices()
    return {word: held.indices[held.indptr[row] : held.indptr[row + 1]] for row, word in enumerate(wanted)}


def _numbers(block: bytes) -> Any:
    """Return the line numbers of a block, which stand on every other line, as an array."""
    import numpy as np

    content = np.frombuffer(block, np.uint8)
    ends = np.flatnonzero(content == ord("\n"))
    begins = np.concatenate([[0], ends[1::2] + 1])
    widths = ends[::2] - begins
    numbers = np.zeros(len(begins), np.int64)
    for digit in range(widths.max()):
        longer = widths > digit
        numbers[longer] = numbers[longer] * 10 + (content[begins[longer] + digit] - ord("0"))
    return numbers


def _runs_with(wanted: Sequence[str], runs: Sequence[bytes], *, file: Path) -> Iterator[list[int]]:
    """Yield for each word the places, rising, of the runs that hold it; `file` is a scratch file."""
    text = b"".join(run + b"\n" for run in runs)
    file.write_bytes(text)
    for character, letter in FOLDED.items():
        text = text.replace(character.encode("utf-8"), letter.encode("ascii"))
    ends = [match.end() for match in re.finditer(rb"\n", text)]
    for word in wanted:
        if not word.isascii():
            yield [number - 1 for number in ripgrep.lines(file, word, "--ignore-case", "--fixed-strings")]
            continue
        needle, holding = word.encode("ascii"), []
        place = text.find(needle)
        while place >= 0:
            holding.append(bisect_right(ends, place))
            place = text.find(needle, ends[holding[-1]])
        yield holding


def _ranked(query: Query, holders: Sequence[Any], *, ids: Sequence[str]) -> list[Hit]:
    """Return the hits of any of a search's words; `holders` are, for each of them, the places in `ids` that hold it."""
    import numpy as np

    counts = np.zeros(len(ids), np.int64)
    for places in holders:
        counts[places] += 1
    held = np.flatnonzero(counts)
    held = held[np.argsort(-counts[held], kind="stable")]
    names, scores = map(ids.__getitem__, held.tolist()), counts[held].astype(float).tolist()
    return list(map(Hit, repeat(query.search_id), names, count(1), scores))
