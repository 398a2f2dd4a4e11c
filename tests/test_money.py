"""Money: what tokens cost, and what a run would take before it is made."""

from pathlib import Path

import pytest

from judge._endpoint.answer import Usage
from judge._ledger.ledger import Ledger
from judge._ledger.tally import Tally, Totals
from judge._rating import money
from judge._rating.forecast import estimate
from judge._rating.money import Limits, Spent
from pools._dataset.settings import JudgeSettings, PriceSettings
from tests.builders.fake_api import FakeApi
from tests.builders.judging import SEED, identity, items, rate

PRICES = PriceSettings(prompt=2.0, cached=0.5, completion=8.0)


@pytest.mark.parametrize(
    ("usage", "prices", "dollars"),
    [
        (Usage(1_000_000, 0, 0), PRICES, 2.0),
        (Usage(1_000_000, 400_000, 100_000), PRICES, 1.2 + 0.2 + 0.8),
        (Usage(1_000_000, 400_000, 0), PriceSettings(prompt=2.0), 2.0),
        (Usage(10, 400_000, 0), PRICES, 5e-6),
    ],
)
def test_cost(usage: Usage, prices: PriceSettings, dollars: float) -> None:
    assert money.cost(usage, prices) == pytest.approx(dollars)


def test_the_cost_that_an_endpoint_tells_is_not_priced_again() -> None:
    told = Totals(2, 2, Usage(2_000_000), 0.3, Usage(1_000_000))
    assert money.total(told, PRICES) == pytest.approx(2.3)
    assert money.total(told, PriceSettings()) is None
    assert money.total(Totals(1, 1, Usage(5), 0.3), PriceSettings()) == 0.3
    assert Spent(cost=0.3).total(PriceSettings()) == 0.3


def test_what_is_left_of_limits() -> None:
    assert Limits(1.0, 5, None).less(3, 100, cost=0.25) == Limits(0.75, 2, None)
    assert Limits(1.0, 5, 10).less(9, 100, cost=2.0) == Limits(0.0, 0, 0)


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
