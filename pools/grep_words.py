"""grep-all and grep-any: a search's words as plain strings, case-insensitive, through ripgrep.

grep-any flags a function that holds one of the words, grep-all one that holds every word. A word is hit wherever it stands,
inside another word too, as `rg -i -F WORD` does it.
"""

import re
from collections.abc import Mapping, Sequence

from pools import ripgrep
from pools.dataset import Function, Query
from pools.hits import Hit

STOP_WORDS = frozenset(
    {"a", "an", "the", "to", "of", "from", "in", "on", "for", "and", "or", "is", "how", "with", "into", "by", "based"}
    | {"another", "x"}
)

# Letters and digits of any script: word characters without the underscore.
_RUN = re.compile(r"[^\W_]+")


def words(search: str) -> tuple[str, ...]:
    """Return the search's lower-case runs of letters and digits, each once, in order, without the stop words."""
    return tuple(word for word in dict.fromkeys(_RUN.findall(search.lower())) if word not in STOP_WORDS)


def search_words(queries: Sequence[Query], functions: Sequence[Function]) -> dict[str, tuple[Hit, ...]]:
    """Return the hits of `grep-all` and `grep-any`.

    A hit's score is the number of the search's words that the function holds; ranks go by falling score, then by id.
    """
    wanted = sorted({word for query in queries for word in words(query.search)})
    with ripgrep.haystack(functions) as hay:
        holders = {word: set(hay.hits(word, "--ignore-case", "--fixed-strings")) for word in wanted}
    return {
        "grep-all": tuple(hit for query in queries for hit in _ranked(query, holders, every=True)),
        "grep-any": tuple(hit for query in queries for hit in _ranked(query, holders, every=False)),
    }


def _ranked(query: Query, holders: Mapping[str, set[str]], every: bool) -> list[Hit]:
    wanted = words(query.search)
    counts: dict[str, int] = {}
    for word in wanted:
        for function_id in holders[word]:
            counts[function_id] = counts.get(function_id, 0) + 1
    kept = [function_id for function_id, count in counts.items() if not every or count == len(wanted)]
    kept.sort(key=lambda function_id: (-counts[function_id], function_id))
    return [
        Hit(query.search_id, function_id, rank, float(counts[function_id])) for rank, function_id in enumerate(kept, start=1)
    ]
