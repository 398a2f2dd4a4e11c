"""Helpers for lists, iterables and other ordered things."""

from collections.abc import Iterable
from itertools import chain, islice


def unique_in_order(values):
    seen = set()
    result = []
    for value in values:
        if value not in seen:
            seen.add(value)
            result.append(value)
    return result


def remove_duplicates(items: list) -> list:
    """Return a new list without duplicates.

    The first occurrence of every item is kept. Items must be hashable.
    """
    return list(dict.fromkeys(items))


def dedupe_by(records, key):
    """Keep the first record for each distinct key(record)."""
    kept = {}
    for record in records:
        kept.setdefault(key(record), record)
    return list(kept.values())


def find_duplicates(items):
    """List the items that occur more than once."""
    seen, twice = set(), set()
    for item in items:
        (twice if item in seen else seen).add(item)
    return sorted(twice)


def chunk_list(items: list, size: int) -> list[list]:
    """Split a list into chunks of at most `size` items."""
    if size < 1:
        raise ValueError("size must be at least 1")
    return [items[i:i + size] for i in range(0, len(items), size)]


def batches_of(n, source):
    # the last one may be shorter than n
    it = iter(source)
    while batch := tuple(islice(it, n)):
        yield batch


def split_evenly(items, parts):
    """Split a list into a fixed number of parts of nearly equal length."""
    base, extra = divmod(len(items), parts)
    result = []
    start = 0
    for index in range(parts):
        end = start + base + (1 if index < extra else 0)
        result.append(items[start:end])
        start = end
    return result


def flatten(nested):
    """Flatten lists nested to any depth into one flat list."""
    flat = []
    for item in nested:
        if isinstance(item, (list, tuple)):
            flat.extend(flatten(item))
        else:
            flat.append(item)
    return flat


def leaves(node):
    if isinstance(node, Iterable) and not isinstance(node, (str, bytes)):
        for child in node:
            yield from leaves(child)
    else:
        yield node


def concat_all(groups: Iterable[Iterable]) -> list:
    """Join the inner lists end to end.

    Only one level is taken away; deeper nesting is left as it is.
    """
    return list(chain.from_iterable(groups))


def merge_sorted(left, right):
    """Merge two sorted lists into one sorted list."""
    merged = []
    i = j = 0
    while i < len(left) and j < len(right):
        if left[i] <= right[j]:
            merged.append(left[i])
            i += 1
        else:
            merged.append(right[j])
            j += 1
    return merged + left[i:] + right[j:]
