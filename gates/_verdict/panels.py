"""A panel of judges: one rating a pair from several judges' ratings, and the identity under which it goes through the gate.

A panel rates a pair only where every member did; a pair that a member failed on stays unrated, as it would for that member
alone. Ties go to the lower rating: between two readings the panel takes the one that calls less relevant.
"""

import hashlib
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from pools._dataset.records import PairKey
from pools.errors import UsageError

METHODS = ("majority", "median")
MEMBERS = "panel"
"""The part of a panel's identity that lists its members' ids, by which a panel is told from other judges."""


def ratings(members: Mapping[str, Mapping[PairKey, int]], method: str) -> dict[PairKey, int]:
    """Return the panel's rating of every pair that all members rated, by judge id of the member.

    `majority` takes the rating that most members gave, `median` the middle one; of several the lowest. Raises `UsageError`
    for another method, or for fewer than two members.
    """
    _check(sorted(members), method)
    rated = [set(given) for given in members.values()]
    combine = _majority if method == "majority" else _median
    return {pair: combine([given[pair] for given in members.values()]) for pair in sorted(set.intersection(*rated))}


def identity(members: Sequence[str], method: str, *, scale: Mapping[str, Any]) -> dict[str, Any]:
    """Return the document that a panel's judge id hashes: method and members' ids, in whatever order given, and their scale."""
    _check(members, method)
    ids = sorted(set(members))
    return {"model": f"{method} of {len(ids)} judges", MEMBERS: ids, "method": method, "scale": dict(scale)}


def judge_id(identity: Mapping[str, Any]) -> str:
    """Return the id of a panel, 16 hexadecimal digits as any judge's."""
    document = json.dumps(identity, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(document.encode("utf-8")).hexdigest()[:16]


def _check(members: Sequence[str], method: str) -> None:
    if method not in METHODS:
        raise UsageError(f"a panel cannot decide by {method!r}; valid are {', '.join(METHODS)}")
    if len(set(members)) < 2:
        raise UsageError("a panel needs two judges or more; name their ids, as `judge status` lists them")


def _majority(given: Sequence[int]) -> int:
    counts = Counter(given)
    most = max(counts.values())
    return min(rating for rating, count in counts.items() if count == most)


def _median(given: Sequence[int]) -> int:
    return sorted(given)[(len(given) - 1) // 2]
