"""The pool: strata, inclusion probabilities, a draw that depends on nothing but what it is drawn from."""

import random
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pools._dataset import tables
from pools._dataset.settings import PoolSettings
from pools._sampling import frame, hits, pooled
from pools._sampling.hits import Hit
from pools._sampling.pooled import PoolPair
from pools.errors import DataError
from tests.builders.hits_made import IDS, LOOSE, QUERIES, SIZES, world


def test_strata_and_probabilities() -> None:
    flagged, validation = world(1)
    drawn = pooled.draw(QUERIES, frame.of(IDS, 1), hits=flagged, validation=validation, settings=SIZES, loose=LOOSE)
    assert [entry.pair for entry in drawn] == sorted({entry.pair for entry in drawn})
    by_pair: dict[tuple[str, str], set[str]] = {}
    for name, found in flagged.items():
        for hit in found:
            by_pair.setdefault(hit.pair, set()).add(name)
    for query in QUERIES:
        every = [(query.search_id, name) for name in IDS]
        strict = {pair for pair in every if by_pair.get(pair, set()) - {"grep-any"}} - validation
        loose = {pair for pair in every if by_pair.get(pair) == {"grep-any"}} - validation
        rest = {pair for pair in every if pair not in by_pair} - validation
        own = {entry.pair: entry for entry in drawn if entry.search_id == query.search_id}
        assert {pair for pair, entry in own.items() if entry.stratum == pooled.POOLED} == strict
        for stratum, candidates, size in ((pooled.GREP_ANY_SAMPLE, loose, 5), (pooled.UNFLAGGED_SAMPLE, rest, 7)):
            chosen = {pair for pair, entry in own.items() if entry.stratum == stratum}
            assert chosen <= candidates
            assert len(chosen) == size
            assert {own[pair].probability for pair in chosen} == {size / len(candidates)}
        for pair in validation & set(every):
            names = tuple(sorted(by_pair.get(pair, ())))
            assert own[pair] == PoolPair(*pair, names, None, None, (1,) * len(names), (None,) * len(names))


def test_what_only_loose_retrievers_returned_is_sampled_and_counts_to_any_depth() -> None:
    flagged = {
        name: [Hit("q0", function_id, rank) for rank, function_id in enumerate(found, start=1)]
        for name, found in (("grep-any", IDS[:6]), ("wide", IDS[3:9]), ("bm25", IDS[5:7]))
    }
    settings = PoolSettings(grep_any_sample=60, unflagged_sample=0, depth=1)
    drawn = pooled.draw(
        QUERIES[:1], frame.of(IDS, 1), hits=flagged, validation=set(), settings=settings, loose={"grep-any", "wide"}
    )
    strata = {entry.function_id: (entry.stratum, entry.retrievers) for entry in drawn}
    assert strata.pop("f005") == (pooled.POOLED, ("bm25", "grep-any", "wide"))
    assert strata == {
        **dict.fromkeys(IDS[:3], (pooled.GREP_ANY_SAMPLE, ("grep-any",))),
        **dict.fromkeys(IDS[3:5], (pooled.GREP_ANY_SAMPLE, ("grep-any", "wide"))),
        **dict.fromkeys(IDS[6:9], (pooled.GREP_ANY_SAMPLE, ("wide",))),
    }
    plain = pooled.draw(QUERIES[:1], frame.of(IDS, 1), hits=flagged, validation=set(), settings=settings, loose={"grep-any"})
    assert {entry.function_id for entry in plain if entry.stratum == pooled.POOLED} == {"f003", "f005"}


@given(st.randoms(use_true_random=False))
def test_the_order_of_inputs_does_not_matter(rng: random.Random) -> None:
    flagged, validation = world(2)
    expected = pooled.draw(QUERIES, frame.of(IDS, 3), hits=flagged, validation=validation, settings=SIZES, loose=LOOSE)
    queries, ids = rng.sample(QUERIES, len(QUERIES)), rng.sample(IDS, len(IDS))
    names = rng.sample(sorted(flagged), len(flagged))
    shuffled = {name: rng.sample(flagged[name], len(flagged[name])) for name in names}
    assert pooled.draw(queries, frame.of(ids, 3), hits=shuffled, validation=validation, settings=SIZES, loose=LOOSE) == expected


def test_a_small_stratum_is_taken_whole_and_another_seed_draws_others() -> None:
    drawn = pooled.draw(QUERIES, frame.of(IDS[:4], 1), hits={}, validation=set(), settings=SIZES, loose=LOOSE)
    assert {(entry.stratum, entry.probability) for entry in drawn} == {(pooled.UNFLAGGED_SAMPLE, 1.0)}
    assert len(drawn) == 12
    first, second = (
        pooled.draw(QUERIES, frame.of(IDS, seed), hits={}, validation=set(), settings=SIZES, loose=LOOSE) for seed in (1, 2)
    )
    assert first != second
    assert len({frozenset(entry.function_id for entry in first if entry.search_id == q.search_id) for q in QUERIES}) == 3


def test_depth_leaves_out_what_a_retriever_ranks_below_it_but_not_of_grep_any() -> None:
    flagged = {
        "bm25": [Hit("q0", name, rank) for rank, name in enumerate(IDS[:6], start=1)],
        "embedding": [Hit("q0", name, rank) for rank, name in enumerate(reversed(IDS[:6]), start=1)],
        "grep-any": [Hit("q0", name, rank) for rank, name in enumerate(IDS[:9], start=1)],
    }
    settings = PoolSettings(grep_any_sample=99, unflagged_sample=0, depth=2)
    drawn = {
        entry.function_id: entry
        for entry in pooled.draw(QUERIES[:1], frame.of(IDS, 1), hits=flagged, validation=set(), settings=settings, loose=LOOSE)
    }
    assert {name: entry.retrievers for name, entry in drawn.items() if entry.stratum == pooled.POOLED} == {
        "f000": ("bm25", "grep-any"), "f001": ("bm25", "grep-any"), "f004": ("embedding", "grep-any"),
        "f005": ("embedding", "grep-any"),
    }  # fmt: skip
    assert drawn["f004"].ranks == (2, 5)
    assert sorted(name for name, entry in drawn.items() if entry.stratum == pooled.GREP_ANY_SAMPLE) == [
        "f002", "f003", "f006", "f007", "f008",
    ]  # fmt: skip


def test_equal_numbers_of_two_kinds_stay_what_they_are(tmp_path: Path) -> None:
    path = pooled.path(tmp_path, "python")
    pooled.write(path, [PoolPair("q0", "f0", ("bm25",), pooled.POOLED, 1.0, (1,), (1.0,))])
    [entry] = pooled.read(path)
    assert repr((entry.ranks, entry.scores)) == "((1,), (1.0,))"


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        ([{"search_id": "q0", "function_id": "f0"}], "has no column retrievers, stratum, probability, ranks, scores"),
        (
            [{"search_id": "q0", "function_id": "f0", "retrievers": given, "stratum": "pooled", "probability": 1.0,
              "ranks": [1], "scores": [None]} for given in (["bm25"], None)],
            r"pool\.parquet, row 2: not a pair of a pool .* delete it and run `judge pool`",
        ),
    ],
)  # fmt: skip
def test_a_file_that_is_no_pool_is_named_with_the_row(tmp_path: Path, rows: list[dict[str, Any]], words: str) -> None:
    path = tmp_path / "pool.parquet"
    tables.write(path, rows)
    with pytest.raises(DataError, match=words):
        pooled.read(path)
    path.write_bytes(b"x")
    for read in (pooled.read, pooled.read_pairs):
        with pytest.raises(DataError, match="not a readable Parquet file"):
            read(path)


def test_files_round_trip_with_the_same_bytes(tmp_path: Path) -> None:
    flagged, validation = world(6)
    drawn = pooled.draw(QUERIES, frame.of(IDS, 1), hits=flagged, validation=validation, settings=SIZES, loose=LOOSE)
    path = pooled.path(tmp_path, "python")
    pooled.write(path, drawn)
    assert pooled.read(path) == drawn
    first = path.read_bytes()
    path.unlink()
    pooled.write(path, drawn)
    assert path.read_bytes() == first
    assert pooled.read_pairs(path) == [entry.pair for entry in drawn]
    for given_hits in ([], flagged["bm25"], [Hit("q0", "f1", 1, 0.5, 0.25)]):
        target = hits.path(tmp_path, "python", retriever="bm25")
        hits.write(target, given_hits)
        assert sorted(hits.read(target), key=lambda hit: hit.pair) == sorted(given_hits, key=lambda hit: hit.pair)
