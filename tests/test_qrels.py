"""Merging and withdrawing: experts' rows are never touched, and one undoes the other."""

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gates._release import qrels
from pools._dataset import dataset
from pools._dataset.dataset import Dataset
from pools._dataset.records import PairKey, Qrel, Query
from prompts.scales import Scale
from tests.builders.rows import PoolEntry, write_dataset

LANGUAGES = ("ruby", "go")
PAIRS = [(f"q{search}", f"f{number}") for search in range(3) for number in range(4)]
ratings_strategy = st.dictionaries(st.sampled_from(PAIRS), st.integers(0, 3))
strata = st.dictionaries(st.sampled_from(PAIRS), st.sampled_from([None, "pooled", "grep-any-sample", "unflagged-sample"]))


def _expert(language: str, pair: PairKey, ratings: tuple[int, ...]) -> Qrel:
    mean = round(sum(ratings) / len(ratings), 4)
    return Qrel(language, *pair, mean, mean >= 2, "expert", ratings, extra={"note": f"{language} {pair[1]}"})


@st.composite
def datasets(draw: st.DrawFn) -> Dataset:
    """Datasets that never saw a merge, rows sorted."""
    ratings = st.lists(st.integers(0, 3), min_size=1, max_size=3).map(tuple)
    rows = []
    for language in LANGUAGES:
        given_ratings = draw(st.dictionaries(st.sampled_from(PAIRS), ratings))
        rows += [_expert(language, pair, given_ratings[pair]) for pair in sorted(given_ratings)]
    queries = tuple(Query(language, f"q{number}", "words") for language in LANGUAGES for number in range(3))
    return Dataset(Path(), queries, None, tuple(rows))


def _pool(entries: dict[PairKey, str | None]) -> list[PoolEntry]:
    return [PoolEntry(*pair, stratum) for pair, stratum in entries.items()]


@given(datasets(), strata, ratings_strategy)
def test_withdrawing_undoes_merging(data: Dataset, pool: dict[PairKey, str | None], ratings: dict[PairKey, int]) -> None:
    merged = replace(data, qrels=qrels.merge(data, "go", pool=_pool(pool), ratings=ratings, relevant_from=2))
    assert qrels.withdraw(merged, "go") == data.qrels
    assert qrels.carries(merged, "go") == (merged.qrels != data.qrels)
    assert not qrels.carries(data, "go")


@given(datasets(), strata, ratings_strategy)
def test_merging_twice_is_merging_once(data: Dataset, pool: dict[PairKey, str | None], ratings: dict[PairKey, int]) -> None:
    once = replace(data, qrels=qrels.merge(data, "go", pool=_pool(pool), ratings=ratings, relevant_from=2))
    assert qrels.merge(once, "go", pool=_pool(pool), ratings=ratings, relevant_from=2) == once.qrels


@given(datasets(), strata, strata, ratings_strategy, ratings_strategy)
def test_a_merge_leaves_nothing_of_the_one_before(
    data: Dataset,
    pool: dict[PairKey, str | None],
    later_pool: dict[PairKey, str | None],
    ratings: dict[PairKey, int],
    later: dict[PairKey, int],
) -> None:
    before = replace(data, qrels=qrels.merge(data, "go", pool=_pool(pool), ratings=ratings, relevant_from=2))
    assert qrels.merge(before, "go", pool=_pool(later_pool), ratings=later, relevant_from=2) == qrels.merge(
        data, "go", pool=_pool(later_pool), ratings=later, relevant_from=2
    )


@given(datasets(), strata, ratings_strategy)
def test_experts_rows_stay_and_judges_rows_are_the_rated_pool(
    data: Dataset, pool: dict[PairKey, str | None], ratings: dict[PairKey, int]
) -> None:
    merged = qrels.merge(data, "go", pool=_pool(pool), ratings=ratings, relevant_from=2)
    experts = [qrel for qrel in merged if qrel.source == "expert"]
    assert [replace(qrel, judge_rating=None) for qrel in experts] == list(data.qrels)
    for qrel in experts:
        assert qrel.judge_rating == (ratings.get(qrel.pair) if qrel.language == "go" else None)
    judged = {qrel.pair: qrel for qrel in merged if qrel.source == "judge"}
    rated = {pair for pair, _ in data.experts_of("go").items()}
    assert set(judged) == {pair for pair, stratum in pool.items() if stratum and pair in ratings and pair not in rated}
    for pair, qrel in judged.items():
        assert (qrel.language, qrel.relevance, qrel.judge_rating, qrel.expert_ratings) == (
            "go",
            ratings[pair],
            ratings[pair],
            (),
        )
        assert qrel.relevant == (ratings[pair] >= 2)
        assert qrel.rated_because == ("pooled" if pool[pair] == "pooled" else "sample")
    assert [(LANGUAGES.index(qrel.language), *qrel.pair) for qrel in merged] == sorted(
        (LANGUAGES.index(qrel.language), *qrel.pair) for qrel in merged
    )


def test_a_judge_row_keeps_the_columns_that_somebody_added() -> None:
    queries = (Query("go", "q0", "words"),)
    before = Qrel("go", "q0", "f0", 1.0, False, "judge", (), 1, "pooled", {"reviewed": "yes"})
    data = Dataset(Path(), queries, None, (before,))
    (after,) = qrels.merge(
        data, "go", pool=[PoolEntry("q0", "f0", "unflagged-sample")], ratings={("q0", "f0"): 3}, relevant_from=2
    )
    assert after == Qrel("go", "q0", "f0", 3.0, True, "judge", (), 3, "sample", {"reviewed": "yes"})


@pytest.mark.parametrize("suffix", [".jsonl", ".jsonl.gz", ".parquet"])
def test_judgements_are_written_in_the_form_they_have(tmp_path: Path, scale: Scale, suffix: str) -> None:
    write_dataset(tmp_path, suffix)
    data = dataset.load(tmp_path, scale)
    pool = [PoolEntry("q0", "python/0000", "pooled"), PoolEntry("q1", "python/0003", "grep-any-sample")]
    ratings = {("q0", "python/0000"): 3, ("q1", "python/0003"): 0, ("q1", "python/0002"): 2}
    merged = qrels.merge(data, "python", pool=pool, ratings=ratings, relevant_from=2)
    assert qrels.write(tmp_path, merged) == tmp_path / f"qrels{suffix}"
    assert dataset.load(tmp_path, scale).qrels == merged
    assert len(merged) == 5


def test_judgements_of_a_folder_without_any_go_to_the_default_file(tmp_path: Path) -> None:
    assert qrels.write(tmp_path, ()) == tmp_path / "qrels.jsonl.gz"
