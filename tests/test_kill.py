"""Killed at any moment and started again, a run ends like one that was not, and asks for nothing twice that it had."""

import random
import signal
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from judge._ledger.ledger import Ledger
from tests.builders.fake_api import FakeApi, Pair
from tests.builders.judging import Killer, identity, items, truth
from tests.builders.places import ROOT

PAIRS, BATCH, IN_FLIGHT = 100, 5, 4
ID = identity(BATCH).judge_id


def start(url: str, path: Path) -> subprocess.Popen[str]:
    command = [
        sys.executable,
        "-m",
        "tests.builders.judging",
        url,
        str(path),
        "--pairs",
        str(PAIRS),
        "--concurrency",
        str(IN_FLIGHT),
    ]
    return subprocess.Popen(command, cwd=ROOT, stderr=subprocess.PIPE, text=True)


def finish(url: str, path: Path) -> None:
    running = start(url, path)
    _, said = running.communicate(timeout=60)
    assert running.returncode == 0, said


def stored(path: Path) -> set[Pair]:
    """The pairs, as the prompt shows them, that the ledger has a rating of."""
    texts = {item.pair: (item.search, item.code) for item in items(PAIRS)}
    return {texts[pair] for pair in Ledger.read(path).ratings(ID)}


def run_killed(fake: FakeApi, killer: Killer, path: Path) -> None:
    killer.victim = start(fake.url, path)
    killer.victim.communicate(timeout=60)
    assert killer.victim.returncode == -signal.SIGKILL


def test_killed_half_way_it_asks_for_no_answered_pair_twice(tmp_path: Path) -> None:
    path = tmp_path / "judgements.jsonl"
    killer = Killer(12)
    with FakeApi(latency=0.05, instead=killer) as fake:
        run_killed(fake, killer, path)
        before = stored(path)
        assert 20 <= len(before) < PAIRS
        asked = len(fake.requests)
        finish(fake.url, path)
        again = {pair for request in fake.requests[asked:] for pair in request.pairs.values()}
        assert not before & again
        assert sum(times - 1 for times in Counter(fake.asked_pairs).values()) <= BATCH * IN_FLIGHT
    assert Ledger.read(path).ratings(ID) == truth(items(PAIRS))
    assert not Ledger.read(path).tally(ID).repeats


@pytest.mark.parametrize("seed", range(20))
def test_killed_at_any_moment_it_ends_the_same(tmp_path: Path, seed: int) -> None:
    # Some of the replies before the kill lack half of their pairs, so that there are stragglers about, too.
    path = tmp_path / "judgements.jsonl"
    rng = random.Random(seed)
    killer = Killer(rng.randrange(1, 20), rng.uniform(0, 0.02))
    with FakeApi(Faults(rng), latency=0.005, instead=killer) as fake:
        run_killed(fake, killer, path)
        before = stored(path)
        asked = len(fake.requests)
        finish(fake.url, path)
        assert not before & {pair for request in fake.requests[asked:] for pair in request.pairs.values()}
    assert Ledger.read(path).ratings(ID) == truth(items(PAIRS))
    assert not Ledger.read(path).tally(ID).repeats


class Faults:
    """Two of the first ten replies lack pairs; no pair can meet that three times, which would be the end of it."""

    def __init__(self, rng: random.Random) -> None:
        self._numbers = rng.sample(range(10), 2)

    def __call__(self, number: int) -> str | None:
        return "missing" if number in self._numbers else None
