"""The baseline judge: it learns, it is the same every time, and no validation pair is rated by who saw its search."""

import asyncio
import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from importlib.resources import as_file
from importlib.resources import files as resources

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judge._batching import batches
from judge._batching.batches import Item
from judge._judges import baseline
from judge._judges.baseline import Baseline
from judge._reading import replies
from pools._dataset import dataset
from pools._dataset.dataset import Dataset
from pools._dataset.records import Function, PairKey, Query
from pools._dataset.settings import JudgeSettings, Settings
from pools._engines.vectors import Similarity
from pools.errors import DataError, UsageError
from prompts import scales

SCALE = scales.load("relevance")
Experts = Mapping[PairKey, Sequence[int]]


@pytest.fixture(scope="module")
def sample() -> Dataset:
    with as_file(resources("pools._sample")) as folder:
        return dataset.load(folder, SCALE)


def make(
    sample: Dataset,
    language: str = "python",
    experts: Experts | None = None,
    settings: Settings | None = None,
    turned: bool = False,
) -> Baseline:
    queries, functions = sample.queries_of(language), sample.functions_of(language)
    experts = sample.experts_of(language) if experts is None else experts
    if turned:
        queries, functions, experts = queries[::-1], functions[::-1], dict(reversed(list(experts.items())))
    return Baseline(queries, functions, experts=experts, scale=SCALE, settings=settings or Settings())


def all_pairs(sample: Dataset, language: str = "python") -> list[PairKey]:
    searches, functions = sample.queries_of(language), sample.functions_of(language)
    return [(query.search_id, function.id) for query in searches for function in functions[::12]]


def f1(ratings: Mapping[PairKey, int], experts: Experts) -> float:
    relevant = {pair for pair, given_ratings in experts.items() if sum(given_ratings) / len(given_ratings) >= 2}
    found = {pair for pair in experts if ratings[pair] >= 2}
    return 2 * len(relevant & found) / (len(relevant) + len(found))


@pytest.mark.parametrize("language", ["python", "go"])
def test_it_has_learned_more_than_to_call_all_of_them_relevant(sample: Dataset, language: str) -> None:
    experts = sample.experts_of(language)
    pairs = sorted(experts)
    ratings = dict(zip(pairs, make(sample, language).ratings(pairs), strict=True))
    assert set(ratings.values()) == set(SCALE.values)
    assert f1(ratings, experts) > f1(dict.fromkeys(pairs, 3), experts) + 0.05


def test_no_rating_of_a_search_moves_the_ratings_of_its_own_validation_pairs(sample: Dataset) -> None:
    experts = sample.experts_of("python")
    pairs = sorted(experts)
    before = dict(zip(pairs, make(sample).ratings(pairs), strict=True))
    moved = 0
    for search_id in sorted({search_id for search_id, _ in pairs})[::5]:
        turned = {pair: tuple(3 - rating for rating in given_ratings) for pair, given_ratings in experts.items()}
        corrupted = {pair: turned[pair] if pair[0] == search_id else experts[pair] for pair in pairs}
        after = dict(zip(pairs, make(sample, experts=corrupted).ratings(pairs), strict=True))
        assert [after[pair] for pair in pairs if pair[0] == search_id] == [
            before[pair] for pair in pairs if pair[0] == search_id
        ]
        moved += sum(after[pair] != before[pair] for pair in pairs)
    assert moved


def test_the_ratings_do_not_depend_on_the_order_of_anything(sample: Dataset) -> None:
    pairs = all_pairs(sample) + sorted(sample.experts_of("python"))
    first, second = make(sample), make(sample, turned=True)
    assert first.ratings(pairs) == second.ratings(pairs[::-1])[::-1]
    assert first.identity.judge_id == second.identity.judge_id


def test_it_answers_like_an_llm_and_batches_do_not_matter(sample: Dataset) -> None:
    judge = make(sample)
    code = {function.id: function.code for function in sample.functions_of("python")}
    pairs = sorted(set(all_pairs(sample)[:40]) | set(sorted(sample.experts_of("python"))[:30]))
    expected = dict(zip(pairs, judge.ratings(pairs), strict=True))
    items = [Item(pair, "search", code[pair[1]]) for pair in pairs]
    found: dict[PairKey, int | None] = {}
    for batch in batches.plan(items, 1, settings=JudgeSettings(pairs_per_batch=7)):
        answer = asyncio.run(judge.answer(batch))
        reading = replies.reconcile(batch.ids, answer.text, scale_values=SCALE.values, finish_reason=answer.finish_reason)
        assert {entry.status for entry in reading.entries.values()} == {"rated"}
        found |= {item.pair: reading.entries[entry_id].rating for entry_id, item in batch.entries}
    assert found == expected


def test_the_identity_changes_with_what_it_learned_from(sample: Dataset) -> None:
    experts = sample.experts_of("python")
    pair = min(experts)
    names = {
        make(sample).identity.judge_id,
        make(sample, experts=experts | {pair: (1, *experts[pair])}).identity.judge_id,
        make(sample, settings=Settings(relevant_from=1)).identity.judge_id,
        make(sample, settings=Settings(judge=JudgeSettings(shown_characters=100))).identity.judge_id,
        make(replace(sample, corpus=tuple(replace(f, code=f.code + " ") for f in sample.corpus or ()))).identity.judge_id,
        make(replace(sample, queries=tuple(replace(q, search=q.search + "s") for q in sample.queries))).identity.judge_id,
    }
    assert len(names) == 6
    assert make(sample).identity.model == "baseline"


def test_too_few_ratings_are_told(sample: Dataset) -> None:
    experts = sample.experts_of("python")
    few = {pair: given_ratings for pair, given_ratings in experts.items() if pair[0] in {"q00", "q01"}}
    with pytest.raises(UsageError, match=r"python has 17 rated pairs of 2 searches, \d+ of them relevant; it needs at least 5"):
        make(sample, experts=few)
    with pytest.raises(UsageError, match=r"0 of them relevant"):
        make(sample, experts=dict.fromkeys(experts, (1,)))
    with pytest.raises(UsageError, match=r"this language has 0 rated pairs"):
        Baseline((), (), experts={}, scale=SCALE, settings=Settings())


def test_a_rated_pair_without_its_function_is_told(sample: Dataset) -> None:
    with pytest.raises(DataError, match="q00 python/none of python lacks its search or its function"):
        make(sample, experts=sample.experts_of("python") | {("q00", "python/none"): (1,)})


def test_searches_of_one_kind_only_can_be_learned_from() -> None:
    queries = [Query("x", f"q{number}", f"word{'abcdef'[number]} thing") for number in range(6)]
    functions = [Function(f"f{number}", "x", f"def word{'abcdef'[number % 6]}(): pass") for number in range(12)]
    # One search holds all that is relevant, so the model of its fold knows nothing relevant.
    experts = {(query.search_id, f.id): (3 if query.search_id == "q0" else 0,) for query in queries for f in functions}
    ratings = Baseline(queries, functions, experts=experts, scale=SCALE, settings=Settings()).ratings(sorted(experts))
    assert [rating for (search_id, _), rating in zip(sorted(experts), ratings, strict=True) if search_id == "q0"] == [0] * 12


PAIRS = st.lists(
    st.tuples(st.sampled_from([0.0, 0.1, 0.25, 0.5, 0.9]), st.sampled_from([0, 0.5, 1, 1.5, 2, 2.5, 3])), min_size=1
)


@given(pairs=PAIRS, relevant_from=st.sampled_from([1, 1.5, 2, 3]))
def test_the_cut_for_relevant_has_the_greatest_f1_and_the_others_lie_in_order(
    pairs: list[tuple[float, float]], relevant_from: float
) -> None:
    probabilities, means = zip(*pairs, strict=True)
    experts = [(int(mean), math.ceil(mean)) for mean in means]
    cuts = baseline.cut_points(probabilities, experts, values=SCALE.values, relevant_from=relevant_from)
    assert list(cuts) == sorted(cuts)
    main = cuts[math.ceil(relevant_from) - 1]
    relevant = [mean >= relevant_from for mean in means]

    def f1_at(cut: float) -> float:
        taken = [p >= cut for p in probabilities]
        both = sum(a and b for a, b in zip(taken, relevant, strict=True))
        return 2 * both / (sum(taken) + sum(relevant)) if sum(taken) + sum(relevant) else 0.0

    best = max(f1_at(cut) for cut in probabilities)
    assert main == (min(cut for cut in probabilities if f1_at(cut) == best) if any(relevant) else math.inf)


def test_levels_come_as_often_as_the_experts_gave_them() -> None:
    probabilities = [0.1, 0.2, 0.3, 0.4, 0.6, 0.7, 0.8, 0.9]
    ratings = [0, 0, 0, 1, 2, 2, 3, 3]

    def cuts(given: list[int]) -> tuple[float, ...]:
        return baseline.cut_points(probabilities, [(rating,) for rating in given], values=SCALE.values, relevant_from=2)

    assert cuts(ratings) == (0.4, 0.6, 0.8)
    assert cuts([min(rating, 2) for rating in ratings]) == (0.4, 0.6, math.inf)
    assert cuts([0, 0, 0, 0, 2, 2, 3, 3]) == (0.6, 0.6, 0.8)


def test_a_cosine_that_tells_makes_it_better_and_another_judge(sample: Dataset) -> None:
    import numpy

    experts = sample.experts_of("go")
    queries, functions = sample.queries_of("go"), sample.functions_of("go")
    # A function's vector has a 1 for each search that it answers, so the cosine with that search is above 0.
    places = {query.search_id: place for place, query in enumerate(queries)}
    rows = {function.id: numpy.zeros(len(places) + 1) + numpy.eye(len(places) + 1)[-1] for function in functions}
    for (search_id, function_id), given_ratings in experts.items():
        rows[function_id][places[search_id]] = float(sum(given_ratings) / len(given_ratings) >= 2)
    telling = Similarity(
        "oracle",
        {search_id: numpy.eye(len(places) + 1)[place] for search_id, place in places.items()},
        {key: row / numpy.linalg.norm(row) for key, row in rows.items()},
    )
    plain = make(sample, "go")
    judge = Baseline(queries, functions, experts=experts, scale=SCALE, settings=Settings(), similarity=telling)
    pairs = sorted(experts)
    ratings = dict(zip(pairs, judge.ratings(pairs), strict=True))
    assert f1(ratings, experts) > f1(dict(zip(pairs, plain.ratings(pairs), strict=True)), experts) + 0.1
    assert judge.identity.judge_id != plain.identity.judge_id
    assert "cosine" in judge.identity.prompt
    assert "cosine" not in plain.identity.prompt
    assert (plain.sees, judge.sees) == ("lexical features", "lexical features and the cosine of oracle")
    other = Baseline(
        queries,
        functions,
        experts=experts,
        scale=SCALE,
        settings=Settings(),
        similarity=Similarity("other", telling.searches, telling.functions),
    )
    assert other.identity.judge_id != judge.identity.judge_id
