"""Money: what tokens cost, and what a run would take before it is made."""

import pytest

from judge._endpoint.answer import Usage
from judge._ledger.tally import Totals
from judge._rating import money
from judge._rating.money import Limits, Spent
from pools._dataset.settings import PriceSettings

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
