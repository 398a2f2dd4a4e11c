"""Hashes: anyone can compute them again with a JSON library, whatever the ids are, and every difference shows."""

import hashlib
import json

from hypothesis import given
from hypothesis import strategies as st

from gates._verdict import hashes

IDS = st.lists(st.text(max_size=4) | st.sampled_from(["\ud800", "\x7f", "\0", '"', "\\", "é", "\u2028", "/"]), max_size=3).map(
    "".join
)
EXPERTS = st.dictionaries(st.tuples(IDS, IDS), st.lists(st.integers(0, 3), min_size=1, max_size=3), max_size=6)


def sha256(*values: object) -> str:
    return hashlib.sha256(json.dumps(list(values), separators=(",", ":")).encode("ascii")).hexdigest()


@given(EXPERTS, st.sets(IDS, max_size=3))
def test_they_are_the_sha256_of_plain_json_in_sorted_order(
    experts: dict[tuple[str, str], list[int]], left_out: set[str]
) -> None:
    keys = sorted(experts)
    pairs = sha256([search for search, _ in keys], [function for _, function in keys])
    gold = sha256(pairs, [experts[key] for key in keys])
    assert hashes.of_gold(experts) == gold
    assert hashes.of_gold(dict(reversed(experts.items())), left_out) == (sha256(gold, sorted(left_out)) if left_out else gold)
    judged = {pair: given[0] for pair, given in experts.items()}
    assert hashes.of_values(hashes.of_keys(keys), [judged[key] for key in keys]) == sha256(pairs, [judged[key] for key in keys])


@given(EXPERTS, EXPERTS)
def test_different_ratings_have_different_hashes(
    one: dict[tuple[str, str], list[int]], other: dict[tuple[str, str], list[int]]
) -> None:
    assert (hashes.of_gold(one) == hashes.of_gold(other)) == (one == other)


def test_numbers_of_more_than_64_bits_have_one_too() -> None:
    assert hashes.of_values("x", [2**70]) == sha256("x", [2**70])
