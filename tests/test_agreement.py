"""Agreement figures: scikit-learn as the oracle, hand-worked cases for what it does not have or leaves undefined."""

import math
import warnings

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import cohen_kappa_score, precision_recall_fscore_support

from gates._measures import agreement, standard

experts_and_ratings = st.lists(
    st.tuples(st.integers(0, 9), st.lists(st.integers(0, 3), min_size=1, max_size=4), st.integers(0, 3)), max_size=60
)


def _maps(rows: list[tuple[int, list[int], int]]) -> tuple[dict[tuple[str, str], list[int]], dict[tuple[str, str], int]]:
    pairs = [(f"q{search}", f"f{number}") for number, (search, _, _) in enumerate(rows)]
    return (
        dict(zip(pairs, [given for _, given, _ in rows], strict=True)),
        dict(zip(pairs, [rating for _, _, rating in rows], strict=True)),
    )


@given(experts_and_ratings)
def test_figures_equal_those_of_scikit_learn(rows: list[tuple[int, list[int], int]]) -> None:
    experts, ratings = _maps(rows)
    found = agreement.compare(experts, ratings, relevant_from=2)
    truth = [sum(given) >= 2 * len(given) for given in experts.values()]
    judged = [rating >= 2 for rating in ratings.values()]
    assert (found.pairs, found.judge_relevant, found.expert_relevant) == (len(rows), sum(judged), sum(truth))
    assert found.same == sum(a == b for a, b in zip(truth, judged, strict=True))
    if not any(truth) and not any(judged):
        assert found.f1 is None
        return
    precision, recall, f1, _ = precision_recall_fscore_support(truth, judged, average="binary", zero_division=math.nan)
    for mine, theirs in ((found.precision, precision), (found.recall, recall), (found.f1, f1)):
        assert mine == pytest.approx(theirs) if mine is not None else math.isnan(theirs)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        kappa = cohen_kappa_score(truth, judged, labels=[False, True])
    assert found.kappa == pytest.approx(kappa) if found.kappa is not None else math.isnan(kappa)
    always = precision_recall_fscore_support(truth, [True] * len(truth), average="binary", zero_division=math.nan)[2]
    assert found.always_f1 == pytest.approx(always)


def test_only_pairs_that_both_rated_count() -> None:
    experts = {("q0", "a"): (3,), ("q0", "b"): (0,), ("q1", "c"): (2,)}
    found = agreement.compare(experts, {("q0", "a"): 3, ("q1", "c"): 1, ("q9", "z"): 3}, relevant_from=2)
    assert (found.pairs, found.both, found.same) == (2, 1, 1)
    assert found.f1 == 2 / 3


def test_f1_is_undefined_only_without_a_relevant_pair_on_either_side() -> None:
    experts = {("q0", "a"): (1,), ("q0", "b"): (0,)}
    nothing = agreement.compare(experts, {("q0", "a"): 0, ("q0", "b"): 1}, relevant_from=2)
    assert (nothing.f1, nothing.precision, nothing.recall, nothing.kappa, nothing.always_f1) == (None, None, None, None, 0.0)
    wrong = agreement.compare(experts, {("q0", "a"): 2, ("q0", "b"): 0}, relevant_from=2)
    assert (wrong.f1, wrong.precision, wrong.recall) == (0.0, 0.0, None)
    assert agreement.compare({}, {}, relevant_from=2).always_f1 is None


def test_first_expert_against_the_mean_of_the_others() -> None:
    experts: dict[tuple[str, str], tuple[int, ...]] = {
        ("q0", f"f{number}"): (3, 1, 2) for number in range(20)
    }  # 3 against 1.5: different
    experts |= {("q1", f"f{number}"): (2, 3, 1) for number in range(10)}  # 2 against 2: the same
    experts |= {("q2", f"f{number}"): (3,) for number in range(50)}  # rated once: not counted
    found = agreement.between_experts(experts, 2)
    assert found == agreement.ExpertAgreement(30, 10, 2 * 10 / (30 + 10))
    del experts["q0", "f0"]
    assert agreement.between_experts(experts, 2) is None


Counts = tuple[int, int, int, int]


@given(st.tuples(*[st.integers(0, 40)] * 4))
def test_an_agreement_holds_the_standard_measures(counts: Counts) -> None:
    whole = agreement.agreement(counts)
    assert [getattr(whole, found.name) for found in standard.MEASURES] == [found.scalar(counts) for found in standard.MEASURES]
