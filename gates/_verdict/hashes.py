"""The hashes of ratings: the experts', which a seal holds, and a judge's, which says what a gate record was computed from.

A hash is the SHA-256 of JSON in ASCII without spaces, so that any id has one and anyone can compute it again. Two flat lists
of ids and not a list a pair, because millions of pairs are hashed each time somebody asks the gate.
"""

import hashlib
import json
from collections.abc import Collection, Mapping, Sequence
from operator import itemgetter
from typing import Any

import orjson

from pools._dataset.records import PairKey


def of_gold(experts: Mapping[PairKey, Sequence[int]], left_out: Collection[str] = ()) -> str:
    """Return the hash of expert ratings: pairs in sorted order, each with its ratings in rating order.

    Where searches are left out they are part of it, so that which ones are cannot be changed after a look at the result.
    """
    keys = sorted(experts)
    return of_sorted_gold(of_keys(keys), [experts[key] for key in keys], left_out=left_out)


def of_sorted_gold(keys: str, experts: Sequence[Sequence[int]], *, left_out: Collection[str]) -> str:
    """Return `of_gold` where the hash of the sorted pairs is known."""
    whole = of_values(keys, experts)
    return of_values(whole, sorted(left_out)) if left_out else whole


def of_keys(keys: Sequence[PairKey]) -> str:
    """Return the hash of pairs in the order given."""
    return of_values(list(map(itemgetter(0), keys)), list(map(itemgetter(1), keys)))


def of_values(first: str | list[str], values: Sequence[Any]) -> str:
    """Return the hash of two JSON values, the first usually the hash of what the second belongs to."""
    return hashlib.sha256(_canonical([first, values])).hexdigest()


def _canonical(document: list[Any]) -> bytes:
    try:
        quick = orjson.dumps(document)
    except TypeError:  # a lone surrogate in an id, a number of more than 64 bits
        quick = b"\x7f"
    # Where everything is ASCII both write the same, but for this one character, which json escapes.
    if quick.isascii() and b"\x7f" not in quick:
        return quick
    return json.dumps(document, separators=(",", ":")).encode("ascii")
