"""What each retriever brings: how much it returned, what no other one did, and how they overlap.

All of it follows from which retrievers returned a pair, so each pair becomes one number with a bit a retriever, and the pairs
are counted by that number. There are few such numbers however many pairs there are.
"""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pools import _grid as grid
from pools._dataset.records import PairKey
from pools._sampling.hits import Hit


@dataclass(frozen=True, slots=True)
class Contribution:
    """One retriever's part, in pairs.

    `returned` are all that it returned, `unique` those of them that no other retriever returned, `relevant` those that experts
    found relevant. `overlap` says by retriever, itself included, how many of its pairs that one returned too.
    """

    retriever: str
    returned: int
    unique: int
    relevant: int
    overlap: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Contributions:
    """The parts of all retrievers, by name; of `relevant` pairs by the experts, `found` were returned by any of them."""

    retrievers: tuple[Contribution, ...]
    relevant: int
    found: int

    def document(self) -> dict[str, Any]:
        """Return the figures as JSON has them."""
        return {
            "expert_relevant": self.relevant,
            "expert_relevant_returned": self.found,
            "retrievers": {
                entry.retriever: {
                    "returned": entry.returned,
                    "unique": entry.unique,
                    "expert_relevant": entry.relevant,
                    "overlap": dict(entry.overlap),
                }
                for entry in self.retrievers
            },
        }


def compare(hits: Mapping[str, Sequence[Hit]], relevant: Collection[PairKey]) -> Contributions:
    """Return what each retriever contributes; `relevant` are the pairs that experts found relevant.

    A pair that a retriever has more than once counts once. Retrievers come in order of their names.
    """
    names = sorted(hits)
    # By search first: millions of pairs need no tuple each.
    flags: dict[str, dict[str, int]] = {}
    for place, name in enumerate(names):
        for hit in hits[name]:
            of_search = flags.setdefault(hit.search_id, {})
            of_search[hit.function_id] = of_search.get(hit.function_id, 0) | 1 << place
    counts = Counter(flag for of_search in flags.values() for flag in of_search.values())
    gold = Counter(flags.get(search_id, {}).get(function_id, 0) for search_id, function_id in set(relevant))
    parts = []
    for place, name in enumerate(names):
        own = {flag: count for flag, count in counts.items() if flag >> place & 1}
        parts.append(
            Contribution(
                name,
                returned=sum(own.values()),
                unique=counts[1 << place],
                relevant=sum(count for flag, count in gold.items() if flag >> place & 1),
                overlap={
                    other: sum(count for flag, count in own.items() if flag >> bit & 1) for bit, other in enumerate(names)
                },
            )
        )
    return Contributions(tuple(parts), gold.total(), gold.total() - gold[0])


def lines(found: Contributions) -> list[str]:
    """Return the figures as a table: a line of headings, and one a retriever."""
    rows = [("", "returned", "unique", f"of {found.relevant} expert-relevant")]
    rows += [(entry.retriever, str(entry.returned), str(entry.unique), str(entry.relevant)) for entry in found.retrievers]
    return grid.lines(rows, right=range(1, len(rows[0])))
