"""Runs against a real server: whatever goes wrong, every pair is rated as without fault, or failed with its reason."""

import os
import signal
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from judge._ledger.ledger import Ledger
from judge._rating.money import Limits
from judge._rating.rating import Outcome, Progress
from pools._dataset.settings import JudgeSettings, PriceSettings
from pools.errors import Stopped
from tests.builders.fake_api import ERRORS, FakeApi, Script, share
from tests.builders.judging import identity, items, rate, truth
from tests.builders.places import ROOT

ID = identity().judge_id
PASSING = ("429", "429-seconds", "429-date", "500", "503-html", "hang", "drop", "no-json", "error-in-200", "cut-body")
HALVING = ("overflow", "filter", "400", "shortened")
ODD = (
    "missing", "duplicate", "conflict", "foreign", "off-scale", "fraction", "words", "nothing", "strings", "fenced",
    "thinking", "keys", "prose", "refusal", "empty", "surrogate", "cut", "length", "filtered",
)  # fmt: skip


def test_every_pair_is_asked_for_once_in_full_batches(tmp_path: Path) -> None:
    pairs = items(95)
    told: list[Progress] = []
    with FakeApi() as fake:
        outcome = rate(fake, tmp_path / "l.jsonl", pairs, progress=told.append)
        assert sorted(len(asked.pairs) for asked in fake.requests) == [5, *[10] * 9]
        assert len(set(fake.asked_pairs)) == 95
    assert Ledger.read(tmp_path / "l.jsonl").ratings(ID) == truth(pairs)
    assert (outcome.rated, outcome.failed, outcome.requests, outcome.pairs, outcome.cost) == (95, {}, 10, 95, None)
    assert [step.done for step in told] == sorted(step.done for step in told)
    assert told[-1] == Progress(95, 95, 0, 10, outcome.usage, None)


def test_what_is_done_is_not_asked_for_again(tmp_path: Path) -> None:
    pairs = items(60)
    with FakeApi() as fake:
        rate(fake, tmp_path / "l.jsonl", pairs[:25])
        rate(fake, tmp_path / "l.jsonl", pairs)
        outcome = rate(fake, tmp_path / "l.jsonl", pairs)
        assert max(Counter(fake.asked_pairs).values()) == 1
    assert (outcome.rated, outcome.requests) == (60, 0)


def check(fake: FakeApi, path: Path, outcome: Outcome, count: int) -> None:
    """Every pair is rated as the fake rates it, or failed with a reason; no rating was paid for twice."""
    expected = truth(items(count))
    book = Ledger.read(path)
    ratings = book.ratings(ID)
    assert set(ratings) | set(outcome.failed) == set(expected)
    assert not set(ratings) & set(outcome.failed)
    assert ratings == {pair: rating for pair, rating in expected.items() if pair in ratings}
    assert all(outcome.failed.values())
    assert book.failed(ID) == outcome.failed
    assert not book.tally(ID).repeats, "a pair that had a rating was asked for again"


@pytest.mark.parametrize("fault", [*PASSING, *HALVING, *ODD])
def test_fault_matrix(tmp_path: Path, fault: str) -> None:
    settings = JudgeSettings(pairs_per_batch=10, concurrency=8, timeout=0.4 if fault == "hang" else 5.0)
    with FakeApi(share(5, fault)) as fake:
        outcome = rate(fake, tmp_path / "l.jsonl", items(200), settings)
        assert sum(asked.fault == fault for asked in fake.requests) >= 4
        check(fake, tmp_path / "l.jsonl", outcome, 200)
    # A pair that is alone with a fault of its own prompt is given up; the others never are.
    assert len(outcome.failed) <= (6 if fault in HALVING else 0)


@pytest.mark.parametrize("seed", range(3))
def test_fault_matrix_all_together(tmp_path: Path, seed: int) -> None:
    settings = JudgeSettings(pairs_per_batch=10, concurrency=8, timeout=0.4)
    with FakeApi(share(seed, *PASSING, *HALVING, *ODD, of=0.5)) as fake:
        outcome = rate(fake, tmp_path / "l.jsonl", items(300), settings)
        check(fake, tmp_path / "l.jsonl", outcome, 300)
    assert len(outcome.failed) <= 15


@pytest.mark.parametrize(("poison", "reason"), [("filter", "HTTP 400: The prompt triggered"), ("prose", "missing after 3")])
def test_a_pair_that_spoils_its_batch_ends_up_alone(tmp_path: Path, poison: str, reason: str) -> None:
    pairs = items(40)
    bad = pairs[13]

    def spoilt(_search: str, code: str) -> bool:
        return "f13(" in code

    answers = {"filter": ERRORS["filter"]} if poison == "filter" else {}
    with FakeApi(poison=spoilt, poisoned=answers.get(poison)) as fake:
        outcome = rate(fake, tmp_path / "l.jsonl", pairs)
        alone = [asked for asked in fake.requests if len(asked.pairs) == 1 and spoilt("", asked.prompt.split("\ndef ")[1])]
    assert list(outcome.failed) == [bad.pair]
    assert outcome.failed[bad.pair].startswith(reason)
    assert outcome.rated == 39
    assert len(alone) == (1 if poison == "filter" else 3)


def test_a_context_that_is_too_short_halves_until_it_fits(tmp_path: Path) -> None:
    pairs = items(40, size=600)
    with FakeApi(context=5_000) as fake:
        outcome = rate(fake, tmp_path / "l.jsonl", pairs)
        assert min(len(asked.pairs) for asked in fake.answered) > 1
    assert (outcome.rated, outcome.failed) == (40, {})


def test_a_pair_that_never_gets_a_rating_fails_after_its_attempts(tmp_path: Path) -> None:
    with FakeApi(Script("missing", "off-scale", "words")) as fake:
        outcome = rate(fake, tmp_path / "l.jsonl", items(1))
        assert len(fake.requests) == 3
    assert outcome.failed == {items(1)[0].pair: "not-a-number after 3 attempts"}
    with FakeApi(Script()) as fake:
        again = rate(fake, tmp_path / "l.jsonl", items(1))
    assert again.failed == outcome.failed


def test_stragglers_are_asked_again_with_other_stragglers(tmp_path: Path) -> None:
    with FakeApi(Script("missing", "missing", "missing", "missing", None, None)) as fake:
        settings = JudgeSettings(pairs_per_batch=10, concurrency=1)
        outcome = rate(fake, tmp_path / "l.jsonl", items(40), settings)
        assert [len(asked.pairs) for asked in fake.requests] == [10] * 6
    assert outcome.rated == 40


@pytest.mark.parametrize("fault", ["401", "404", "quota", "429-later"])
def test_what_stops_leaves_all_that_was_answered_in_the_ledger(tmp_path: Path, fault: str) -> None:
    pairs = items(100)
    with FakeApi(lambda number: fault if number == 5 else None, latency=0.05) as fake:
        with pytest.raises(Stopped):
            rate(fake, tmp_path / "l.jsonl", pairs)
        answered = {pair for asked in fake.answered for pair in asked.pairs.values()}
        assert len(Ledger.read(tmp_path / "l.jsonl").ratings(ID)) == len(answered) >= 50
    with FakeApi() as fake:
        assert rate(fake, tmp_path / "l.jsonl", pairs).rated == 100
        assert not answered & set(fake.asked_pairs)


@pytest.mark.parametrize(
    ("limits", "asked", "message"),
    [
        (Limits(requests=3), 30, "--max-requests"),
        (Limits(pairs=25), 25, "--max-pairs"),
        (Limits(cost=0.0035), 30, "--max-cost"),
    ],
)
def test_a_limit_ends_the_run_cleanly(tmp_path: Path, limits: Limits, asked: int, message: str) -> None:
    # About 1,150 prompt tokens a request; at a dollar a million that is 0.00115 dollars.
    prices = PriceSettings(prompt=1.0)
    pairs = items(100, size=100)
    with FakeApi() as fake:
        with pytest.raises(Stopped, match=message):
            rate(fake, tmp_path / "l.jsonl", pairs, limits=limits, prices=prices)
        assert len(fake.asked_pairs) == asked
        outcome = rate(fake, tmp_path / "l.jsonl", pairs, limits=Limits(1.0, 100, 100), prices=prices)
        assert max(Counter(fake.asked_pairs).values()) == 1
    assert outcome.rated == 100
    assert outcome.cost == pytest.approx(outcome.usage.prompt / 1e6)


def test_a_limit_that_is_just_enough_ends_nothing(tmp_path: Path) -> None:
    with FakeApi() as fake:
        outcome = rate(fake, tmp_path / "l.jsonl", items(30), limits=Limits(requests=3, pairs=30))
    assert outcome.rated == 30


def test_a_cost_limit_needs_to_know_the_cost(tmp_path: Path) -> None:
    with FakeApi() as fake:
        with pytest.raises(Stopped, match=r"set \[prices\] in judge.toml"):
            rate(fake, tmp_path / "l.jsonl", items(50), limits=Limits(cost=1.0))
        assert len(fake.requests) == 1


def process(url: str, path: Path, *further: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "tests.builders.judging", url, str(path), "--concurrency", "4", *further]
    # Coverage would write a file of its own when the process ends, where a full disk is part of the test.
    environment = {name: value for name, value in os.environ.items() if not name.startswith("COVERAGE")}
    return subprocess.Popen(command, cwd=ROOT, env=environment, stderr=subprocess.PIPE, text=True)


def wait_for(path: Path, size: int, running: subprocess.Popen[str]) -> None:
    """Return when a file has grown to this size."""
    while running.poll() is None and not (path.is_file() and path.stat().st_size >= size):
        os.sched_yield()


def test_the_first_interrupt_finishes_what_is_in_flight(tmp_path: Path) -> None:
    path = tmp_path / "l.jsonl"
    with FakeApi(latency=0.3) as fake:
        running = process(fake.url, path)
        wait_for(path, 3000, running)
        running.send_signal(signal.SIGINT)
        _, said = running.communicate(timeout=20)
        assert running.returncode == 4
        assert "requests in flight; Ctrl-C again stops at once" in said
        assert "interrupted; the same command goes on from here" in said
        assert "Traceback" not in said
        answered = {pair for asked in fake.answered for pair in asked.pairs.values()}
        judge = identity(5).judge_id
        assert len(Ledger.read(path).ratings(judge)) == len(answered) == len(fake.asked_pairs) < 100


def test_the_second_interrupt_stops_at_once(tmp_path: Path) -> None:
    path = tmp_path / "l.jsonl"
    with FakeApi(lambda number: "hang" if number >= 4 else None) as fake:
        running = process(fake.url, path)
        while len(fake.requests) < 8 and running.poll() is None:
            os.sched_yield()
        running.send_signal(signal.SIGINT)
        assert running.stderr is not None
        assert "finishing 4 requests in flight" in running.stderr.readline()
        running.send_signal(signal.SIGINT)
        _, said = running.communicate(timeout=5)
    assert running.returncode == 4
    assert "interrupted" in said
    assert len(Ledger.read(path).ratings(identity(5).judge_id)) == 20


def test_a_full_disk_stops_the_run_with_a_whole_ledger(tmp_path: Path) -> None:
    path = tmp_path / "l.jsonl"
    with FakeApi() as fake:
        running = process(fake.url, path, "--file-size", "14000")
        _, said = running.communicate(timeout=20)
        assert running.returncode == 4
        assert "cannot be written any further" in said
        assert "Traceback" not in said
        stored = set(Ledger.read(path).ratings(identity(5).judge_id))
        assert 0 < len(stored) < 100
        assert Ledger.read(path).notes == ()
        resumed = process(fake.url, path)
        resumed.communicate(timeout=20)
        assert resumed.returncode == 0
    assert Ledger.read(path).ratings(identity(5).judge_id) == truth(items(100))
