"""What a run would take before it is made."""

from pathlib import Path

import pytest

from judge._ledger.ledger import Ledger
from judge._ledger.tally import Tally
from judge._rating import money
from judge._rating.forecast import estimate
from pools._dataset.settings import JudgeSettings, PriceSettings
from tests.builders.fake_api import FakeApi
from tests.builders.judging import SEED, identity, items, rate

PRICES = PriceSettings(prompt=2.0, cached=0.5, completion=8.0)


def test_an_estimate_is_of_the_prompts_that_would_be_sent(tmp_path: Path) -> None:
    settings = JudgeSettings(pairs_per_batch=10, concurrency=4, timeout=2.0)
    judge = identity()
    found = estimate(items(45), judge, tally=Tally(), settings=settings, seed=SEED, prices=PRICES)
    with FakeApi() as fake:
        rate(fake, tmp_path / "l.jsonl", items(45), settings)
        sent = sum(len(asked.prompt) for asked in fake.requests)
        assert (found.pairs, found.batches, found.characters) == (45, len(fake.requests), sent)
    assert found.usage.prompt == pytest.approx(sent / 3.5, abs=5)
    assert found.cost == money.cost(found.usage, PRICES)
    tally = Ledger.read(tmp_path / "l.jsonl").tally(judge.judge_id)
    tally.give_up(items(46)[45].pair, "refused")
    rest = estimate(items(50), judge, tally=tally, settings=settings, seed=SEED, prices=PriceSettings())
    assert (rest.pairs, rest.batches, rest.cost) == (4, 1, None)
