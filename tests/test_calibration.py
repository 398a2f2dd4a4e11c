"""Calibration: the curve of greatest likelihood, probabilities from curves that saw nothing of the search, honest figures."""

import json
import math
import random
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from scipy.optimize import minimize
from sklearn.metrics import brier_score_loss

from pools._dataset.records import PairKey
from pools._engines import calibration
from pools._engines.calibration import Calibration, Curve

Made = tuple[dict[PairKey, float], dict[PairKey, bool]]


def made(searches: int = 30, each: int = 12, slope: float = 8.0, seed: int = 3) -> Made:
    """Scores, and outcomes that follow them along a curve, some of them by chance."""
    rng = random.Random(seed)
    scores = {
        (f"q{search:02}", f"f{number}"): round(rng.uniform(-0.1, 0.8), 6)
        for search in range(searches)
        for number in range(each)
    }
    return scores, {pair: rng.random() < Curve(slope, -slope * 0.4).probability(score) for pair, score in scores.items()}


def fitted(scores: dict[PairKey, float], relevant: dict[PairKey, bool], tuning: set[str] | None = None) -> Calibration:
    found = calibration.fit(scores, relevant, tuning=tuning or set())
    assert found is not None
    return found


@hypothesis_settings(max_examples=15)
@given(seed=st.integers(0, 1000), parted=st.booleans())
def test_the_curve_is_the_one_of_greatest_likelihood_for_platts_targets(seed: int, parted: bool) -> None:
    scores, relevant = made(6, 8, seed=seed)
    ordered = sorted(scores)
    xs = [scores[pair] for pair in ordered]
    ys = [x > 0.4 for x in xs] if parted else [relevant[pair] for pair in ordered]
    if len(set(ys)) < 2:
        return
    high, low = (sum(ys) + 1) / (sum(ys) + 2), 1 / (len(ys) - sum(ys) + 2)

    def loss(figures: tuple[float, float]) -> float:
        total = 0.0
        for x, y in zip(xs, ys, strict=True):
            z = figures[0] * x + figures[1]
            total += math.log1p(math.exp(-abs(z))) + max(z, 0) - (high if y else low) * z
        return total

    best = minimize(loss, (1.0, 0.0), method="BFGS", options={"gtol": 1e-7})
    curve = calibration.platt(xs, ys)
    assert loss((curve.slope, curve.intercept)) <= best.fun + 1e-5
    assert (curve.slope, curve.intercept) == pytest.approx(tuple(best.x), rel=5e-3, abs=5e-3)


def test_it_comes_near_the_truth_and_beats_the_base_rate() -> None:
    scores, relevant = made(80)
    found = fitted(scores, relevant)
    assert found.curve.slope == pytest.approx(8, abs=1.5)
    assert found.brier < found.base_rate_brier - 0.05
    assert all(abs(one.probability - one.relevant) < 0.15 for one in found.reliability if one.pairs > 50)


def test_scores_that_tell_nothing_do_not_beat_the_base_rate() -> None:
    scores, relevant = made(40, slope=0.0)
    found = fitted(scores, relevant)
    assert found.brier > found.base_rate_brier - 0.002


def test_figures_are_those_of_probabilities_that_saw_nothing_of_the_search() -> None:
    scores, relevant = made()
    found = fitted(scores, relevant)
    pairs = sorted(scores)
    unseen = [found.of_search(pair[0]).probability(scores[pair]) for pair in pairs]
    outcomes = [relevant[pair] for pair in pairs]
    assert found.brier == pytest.approx(brier_score_loss(outcomes, unseen), abs=1e-6)
    share = sum(outcomes) / len(outcomes)
    assert found.base_rate_brier == pytest.approx(brier_score_loss(outcomes, [share] * len(outcomes)), abs=1e-6)
    assert sum(one.pairs for one in found.reliability) == found.pairs == len(pairs)
    assert sum(one.pairs * one.relevant for one in found.reliability) == pytest.approx(sum(outcomes), abs=0.01)
    assert sum(one.pairs * one.probability for one in found.reliability) == pytest.approx(sum(unseen), abs=0.01)


def test_no_rating_of_a_search_moves_its_own_curve() -> None:
    scores, relevant = made()
    before = fitted(scores, relevant)
    for search_id in ("q00", "q17"):
        turned = {pair: outcome != (pair[0] == search_id) for pair, outcome in relevant.items()}
        after = fitted(scores, turned)
        assert after.of_search(search_id) == before.of_search(search_id)
        assert after.of_search("another") != before.of_search("another")
        assert after.of_search("q05") != before.of_search("q05")


def test_the_tuning_split_is_learned_from_where_it_has_enough() -> None:
    scores, relevant = made()
    tuning = {f"q{number:02}" for number in range(8)}
    found = fitted(scores, relevant, tuning)
    assert (found.learned_from, set(found.held_out), found.pairs, found.searches) == ("tuning", tuning, 360, 30)
    turned = {pair: outcome == (pair[0] in tuning) for pair, outcome in relevant.items()}
    assert fitted(scores, turned, tuning).curve == found.curve
    few = {f"q{number:02}" for number in range(4)}
    assert fitted(scores, relevant, few).learned_from == "all"
    one_kind = {pair: outcome and pair[0] not in tuning for pair, outcome in relevant.items()}
    assert fitted(scores, one_kind, tuning).learned_from == "all"


@pytest.mark.parametrize(("searches", "each", "enough"), [(4, 40, False), (5, 40, True), (30, 0, False)])
def test_it_needs_enough_to_learn_from(searches: int, each: int, enough: bool) -> None:
    scores, relevant = made(searches, each)
    assert (calibration.fit(scores, relevant, tuning=set()) is not None) is enough


def test_it_needs_pairs_of_both_kinds() -> None:
    scores, _ = made()
    pairs = sorted(scores)
    assert calibration.fit(scores, {pair: place < 9 for place, pair in enumerate(pairs)}, tuning=set()) is None
    assert calibration.fit(scores, {pair: place >= 9 for place, pair in enumerate(pairs)}, tuning=set()) is None
    assert calibration.fit(scores, {pair: place < 10 for place, pair in enumerate(pairs)}, tuning=set()) is not None


def test_files_are_the_same_bytes_in_any_order_and_say_what_was_learned(tmp_path: Path) -> None:
    scores, relevant = made()
    path = calibration.path(tmp_path, "go", retriever="embedding")
    calibration.write(path, fitted(scores, relevant), model="some model")
    before = path.read_bytes()
    path.unlink()
    turned = fitted(dict(reversed(scores.items())), dict(reversed(relevant.items())))
    calibration.write(path, turned, model="some model")
    assert path.read_bytes() == before
    document = json.loads(before)
    assert document["model"] == "some model"
    assert document["learned_from"] == "all"
    assert document["curve"]["slope"] == turned.curve.slope
    assert document["brier"] < document["base_rate_brier"]
    assert {"pairs", "probability", "relevant"} == set(document["reliability"][0])


def test_probabilities_stay_between_0_and_1() -> None:
    assert Curve(1e6, 0).probability(1) == 1
    assert Curve(1e6, 0).probability(-1) == 0
    assert Curve(2, -1).probability(0.5) == 0.5


def test_scores_that_are_all_the_same_give_the_share_of_relevant_pairs() -> None:
    assert calibration.platt([0.5] * 8, [True] * 2 + [False] * 6) == Curve(0.0, round(math.log(0.28125 / 0.71875), 6))


@hypothesis_settings(max_examples=40)
@given(searches=st.integers(1, 7), found=st.integers(0, 14), others=st.integers(0, 14), tuned=st.booleans())
def test_whether_anything_can_be_learned_is_known_before_there_is_a_score(
    searches: int, found: int, others: int, tuned: bool
) -> None:
    relevant = {(f"q{number % searches}", f"f{number}"): number < found for number in range(found + others)}
    scores = {pair: float(number) for number, pair in enumerate(relevant)}
    tuning = {"q0", "q1"} if tuned else set()
    assert calibration.enough(relevant) == (calibration.fit(scores, relevant, tuning=tuning) is not None)
