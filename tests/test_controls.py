"""Canaries and retests: hidden among the others, never in a first rating's place, and an alarm that means something."""

import math
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judge._batching.batches import Item
from judge._ledger.ledger import Ledger
from judge._ledger.tally import Repeat, Tally
from judge._rating.controls import Controls, Stability, lower_tail, retests, stability, watch
from judge._rating.money import Limits
from pools._dataset.settings import JudgeSettings
from pools.errors import Stopped
from tests.builders.fake_api import FakeApi, rating_of
from tests.builders.judging import SEED, identity, items, rate, truth

ID = identity().judge_id
ALL = items(140)
VALIDATION, POOL = ALL[:40], ALL[40:]
EXPERTS = {pair: (rating,) for pair, rating in truth(VALIDATION).items()}


def controls(canaries: int = 1, retest: float = 0.1) -> Controls:
    return Controls(VALIDATION, EXPERTS, 2, canaries, retest)


def test_each_batch_of_the_pool_hides_a_canary_and_some_pairs_come_again(tmp_path: Path) -> None:
    path = tmp_path / "l.jsonl"
    texts = {(item.search, item.code): item for item in ALL}
    said: list[str] = []
    with FakeApi() as fake:
        rate(fake, path, VALIDATION)
        first = len(fake.requests)
        outcome = rate(fake, path, POOL, controls=controls(), note=said.append)
        batches = [[texts[pair] for pair in asked.pairs.values()] for asked in fake.requests[first:]]
    hidden = [[place for place, item in enumerate(batch) if item in VALIDATION] for batch in batches]
    assert all(len(places) == 1 for places in hidden)
    assert len({places[0] for places in hidden}) > 3, "always at the same place is not hidden"
    assert max(len(batch) for batch in batches) == 10
    asked = Counter(item.pair for batch in batches for item in batch if item in POOL)
    again = [pair for pair, times in asked.items() if times == 2]
    assert set(asked.values()) == {1, 2}
    assert 3 <= len(again) <= 20
    assert (outcome.rated, outcome.failed) == (100, {})
    tally = Ledger.read(path).tally(ID)
    assert tally.ratings == truth(ALL)
    found = stability(tally, EXPERTS, relevant_from=2)
    assert (found.pairs, found.same_rating, found.same_verdict, found.flip_rate) == (len(again), len(again), len(again), 0.0)
    assert sum(count for count, _ in found.places) == 140
    assert watch(tally, EXPERTS, relevant_from=2).same == watch(tally, EXPERTS, relevant_from=2).canaries == len(batches)
    assert said == []
    with FakeApi() as fake:
        rate(fake, path, POOL, controls=controls())
        assert fake.requests == [], "what was rated again is not rated a third time"


def test_a_run_cut_short_goes_on_with_the_same_retests(tmp_path: Path) -> None:
    path = tmp_path / "l.jsonl"
    with FakeApi() as fake:
        rate(fake, path, VALIDATION)
        for left in (30, 30):
            with pytest.raises(Stopped, match="--max-pairs"):
                rate(fake, path, POOL, controls=controls(), limits=Limits(pairs=left))
        assert not stability(Ledger.read(path).tally(ID), EXPERTS, relevant_from=2).pairs, "retests come when all are rated"
        with pytest.raises(Stopped, match="--max-requests"):
            rate(fake, path, POOL, controls=controls(), limits=Limits(requests=5))
        rate(fake, path, POOL, controls=controls())
    tally = Ledger.read(path).tally(ID)
    counts = Counter(repeat.pair for repeat in tally.repeats if repeat.pair not in EXPERTS)
    assert set(counts.values()) == {1}
    expected = retests(POOL, controls(), tally=Tally(ratings=dict(tally.ratings)), seed=SEED)
    assert set(counts) == {item.pair for item in expected}


def test_a_judge_that_has_changed_raises_the_alarm_once_and_keeps_its_ratings_apart(tmp_path: Path) -> None:
    path = tmp_path / "l.jsonl"
    said: list[str] = []
    with FakeApi() as fake:
        rate(fake, path, VALIDATION)
    with FakeApi(rate=lambda search, code: 3 - rating_of(search, code)) as fake:
        rate(fake, path, POOL, controls=controls(2), note=said.append)
    assert len(said) == 1
    assert "agrees with the experts on 0 of" in said[0]
    assert "agreed on 100.0% at the gate" in said[0]
    ratings = Ledger.read(path).ratings(ID)
    assert {pair: ratings[pair] for pair in EXPERTS} == truth(VALIDATION)


def test_a_judge_that_wavers_shows_in_the_flip_rate(tmp_path: Path) -> None:
    path = tmp_path / "l.jsonl"
    asked: Counter[str] = Counter()

    def waver(search: str, code: str) -> int:
        asked[code] += 1
        return rating_of(search, code) if asked[code] == 1 else 3 - rating_of(search, code)

    with FakeApi(rate=waver) as fake:
        rate(fake, path, POOL, controls=controls(0, 0.3))
    tally = Ledger.read(path).tally(ID)
    found = stability(tally, {}, relevant_from=2)
    assert tally.ratings == truth(POOL)
    assert found.pairs > 10
    assert (found.same_rating, found.flip_rate) == (0, 1.0)


def test_one_pair_a_batch_leaves_room_for_lone_canaries_only(tmp_path: Path) -> None:
    path = tmp_path / "l.jsonl"
    settings = JudgeSettings(pairs_per_batch=1, concurrency=4, timeout=2.0)
    with FakeApi() as fake:
        rate(fake, path, VALIDATION, settings)
        first = len(fake.requests)
        rate(fake, path, POOL, settings, controls=controls(1, 0.0))
        assert {len(asked.pairs) for asked in fake.requests} == {1}
        assert len(fake.requests) - first == 100 + 100 // 20


@pytest.mark.parametrize("good", [0, 500])
def test_an_alarm_stays_whatever_comes_after(good: int) -> None:
    right, *wrong = sorted(EXPERTS)[:5]
    tally = Tally(ratings=truth(VALIDATION) | {pair: 3 - EXPERTS[pair][0] for pair in wrong})
    before = watch(tally, EXPERTS, relevant_from=2)
    rating = tally.ratings[right]
    for number in range(9 + good):
        tally.repeats.append(Repeat(right, "pool", 3 - rating if number < 9 else rating, 0.0, number))
    found = watch(tally, EXPERTS, relevant_from=2)
    assert (before.alarm, found.canaries, found.same) == (None, 9 + good, good)
    assert "on 0 of the first 9 hidden" in (found.alarm or "")


def test_nothing_to_compare_is_no_alarm() -> None:
    found = watch(Tally(), EXPERTS, relevant_from=2)
    assert (found.canaries, found.at_gate, found.chance, found.alarm) == (0, None, 1.0, None)
    assert stability(Tally(), EXPERTS, relevant_from=2) == Stability(0, 0, 0, ((0, None),) * 10)
    assert Stability(0, 0, 0, ()).flip_rate is None


def test_canaries_are_never_pairs_without_a_rating(tmp_path: Path) -> None:
    unrated = Controls([Item(("q9", "f9"), "s", "c")], {("q9", "f9"): (3,)}, 2, 1, 0.0)
    with FakeApi() as fake:
        rate(fake, tmp_path / "l.jsonl", POOL[:9], controls=unrated)
        assert ("s", "c") not in fake.asked_pairs


@given(st.integers(0, 60), st.integers(0, 60), st.floats(0, 1))
def test_the_lower_tail_is_that_of_the_binomial_distribution(successes: int, trials: int, probability: float) -> None:
    successes = min(successes, trials)
    exact = math.fsum(math.comb(trials, k) * probability**k * (1 - probability) ** (trials - k) for k in range(successes + 1))
    assert lower_tail(successes, trials, probability=probability) == pytest.approx(exact, rel=1e-9, abs=1e-12)


def test_the_lower_tail_of_many_trials() -> None:
    assert lower_tail(45_000, 50_000, probability=0.9) == pytest.approx(0.5, abs=0.01)
    assert lower_tail(44_500, 50_000, probability=0.9) < 1e-12
