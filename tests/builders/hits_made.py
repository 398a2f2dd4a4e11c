"""Three searches over sixty functions, and what three retrievers returned of them."""

import random

from pools._dataset.records import Query
from pools._dataset.settings import PoolSettings
from pools._sampling.hits import Hit

QUERIES = [Query("python", f"q{number}", "search") for number in range(3)]
IDS = [f"f{number:03}" for number in range(60)]
LOOSE = {"grep-any"}
SIZES = PoolSettings(grep_any_sample=5, unflagged_sample=7)


def world(seed: int) -> tuple[dict[str, list[Hit]], set[tuple[str, str]]]:
    """Hits of three retrievers, and pairs that experts rated."""
    rng = random.Random(seed)
    flagged = {
        name: [Hit(query.search_id, name_, 1) for query in QUERIES for name_ in rng.sample(IDS, count)]
        for name, count in (("grep-any", 25), ("grep-all", 6), ("bm25", 4))
    }
    return flagged, {(query.search_id, name) for query in QUERIES for name in rng.sample(IDS, 8)}


def fused(rankings: list[list[str]]) -> list[str]:
    """Reciprocal rank fusion of whole rankings, over all that is in any."""
    scores = {
        name: sum(1 / (60 + ranking.index(name) + 1) for ranking in rankings if name in ranking)
        for name in {name for ranking in rankings for name in ranking}
    }
    return sorted(scores, key=lambda name: (-scores[name], name))
