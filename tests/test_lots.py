"""Lots: every pair has the same chance, apart from seed, search and function nothing matters, and draws are unrelated."""

import hashlib
import math

import numpy as np
import pytest

from pools._sampling import lots

NAMES = [f"python/{number:04}" for number in range(40)]
SIZE, DRAWS = 8, 3000


def drawn(seed: int, search_id: str, names: list[str] = NAMES, size: int = SIZE) -> set[str]:
    corpus = lots.of(names, seed)
    return {corpus.names[place] for place in corpus.smallest(search_id, np.arange(len(corpus.names)), size=size)}


@pytest.mark.parametrize("over", ["seeds", "searches"])
def test_every_function_has_the_same_chance(over: str) -> None:
    counts = dict.fromkeys(NAMES, 0)
    for number in range(DRAWS):
        for name in drawn(number, "q0") if over == "seeds" else drawn(1, f"q{number}"):
            counts[name] += 1
    chance = SIZE / len(NAMES)
    deviation = math.sqrt(DRAWS * chance * (1 - chance))
    assert max(abs(count - DRAWS * chance) for count in counts.values()) < 4.5 * deviation
    # Counts that are all too even would be no chance either: their chi-square has 39 degrees of freedom.
    spread = sum((count - DRAWS * chance) ** 2 for count in counts.values()) / deviation**2 * (len(NAMES) - 1) / len(NAMES)
    assert 15 < spread < 75


@pytest.mark.parametrize("other", [(0, "q1"), (1, "q0"), (0, "q10"), (2**63, "q0")])
def test_draws_of_other_searches_and_seeds_are_unrelated(other: tuple[int, str]) -> None:
    common = []
    for number in range(DRAWS):
        first, second = drawn(number, "q0"), drawn(number + other[0], other[1])
        common.append(len(first & second))
    size, total = SIZE, len(NAMES)
    mean = size * size / total
    variance = mean * (1 - size / total) * (total - size) / (total - 1)
    assert abs(sum(common) / DRAWS - mean) < 4 * math.sqrt(variance / DRAWS)
    measured = sum((count - mean) ** 2 for count in common) / DRAWS
    assert measured == pytest.approx(variance, rel=0.15)


def test_a_draw_from_fewer_keeps_those_drawn_before_and_order_does_not_matter() -> None:
    first = drawn(1, "q0")
    fewer = [name for number, name in enumerate(NAMES) if number % 3 or name in first]
    assert drawn(1, "q0", fewer[::-1]) == first
    without = [name for name in NAMES if name != min(first)]
    assert first - {min(first)} < drawn(1, "q0", without)
    assert drawn(1, "q0", size=5) < first


def test_all_and_none() -> None:
    assert drawn(1, "q0", size=40) == drawn(1, "q0", size=99) == set(NAMES)
    assert drawn(1, "q0", size=0) == set()
    assert drawn(1, "q0", names=[]) == set()
    assert len(drawn(1, "\ud800", names=["\ud800", "a", "b"], size=2)) == 2


def test_the_lots_are_those_that_plain_numbers_give() -> None:
    """Another draw in another version would leave the samples of every pool behind."""
    whole = 2**64 - 1

    def lot(name: str) -> int:
        first, second = (
            int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "little") for text in (name, "1 q0")
        )
        mixed = (first + second) & whole
        mixed = (mixed ^ (mixed >> 30)) * 0xBF58476D1CE4E5B9 & whole
        mixed = (mixed ^ (mixed >> 27)) * 0x94D049BB133111EB & whole
        return mixed ^ (mixed >> 31)

    assert drawn(1, "q0") == set(sorted(NAMES, key=lot)[:SIZE])
