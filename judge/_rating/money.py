"""What a run costs: tokens by the prices of judge.toml, and the cost that an endpoint tells itself, which wins."""

from dataclasses import dataclass

from judge._endpoint.answer import NOTHING, Answer, Usage
from judge._ledger.tally import Totals
from pools._dataset.settings import PriceSettings

CHARACTERS_A_TOKEN = 3.5
"""Characters of code and English in a token, on the low side of what is common, so that estimates are on the high side."""
TOKENS_A_RATING = 16
"""Tokens of one entry of a reply, with its random id."""


@dataclass(frozen=True, slots=True)
class Limits:
    """What a run may use at most, None for as much as it takes: US dollars, requests, pairs asked for."""

    cost: float | None = None
    requests: int | None = None
    pairs: int | None = None

    def less(self, requests: int, pairs: int, *, cost: float | None) -> "Limits":
        """Return what is left of the limits for the next run, once one has used so much."""
        return Limits(
            None if self.cost is None else max(0.0, self.cost - (cost or 0.0)),
            None if self.requests is None else max(0, self.requests - requests),
            None if self.pairs is None else max(0, self.pairs - pairs),
        )

    @property
    def requests_reached(self) -> str:
        """What a run says that stops because it may make no further request."""
        return f"{self.requests} requests are made (--max-requests); the same command goes on from here"

    @property
    def pairs_reached(self) -> str:
        """What a run says that stops because it may ask for no further pair."""
        return f"{self.pairs} pairs are asked for (--max-pairs); the same command goes on from here"


NO_LIMITS = Limits()


@dataclass(slots=True)
class Spent:
    """What a run has used; `sent` counts what it asked for, `requests` what came back."""

    sent: int = 0
    requests: int = 0
    pairs: int = 0
    usage: Usage = NOTHING
    cost: float = 0.0
    unpriced: Usage = NOTHING

    def add(self, pairs: int, answer: Answer) -> None:
        self.requests += 1
        self.pairs += pairs
        self.usage += answer.usage
        if answer.cost is None:
            self.unpriced += answer.usage
        else:
            self.cost += answer.cost

    def total(self, prices: PriceSettings) -> float | None:
        """Return US dollars, None where the endpoint told nothing of some, and no price is known."""
        if self.unpriced != NOTHING and not priced(prices):
            return None
        return self.cost + cost(self.unpriced, prices)


def priced(prices: PriceSettings) -> bool:
    """Say whether any price is known."""
    return bool(prices.prompt or prices.completion)


def cost(usage: Usage, prices: PriceSettings) -> float:
    """Return US dollars for tokens; cached ones count at their own price, or at the prompt's where they have none."""
    cached = min(usage.cached, usage.prompt)
    return (
        (usage.prompt - cached) * prices.prompt
        + cached * (prices.cached or prices.prompt)
        + usage.completion * prices.completion
    ) / 1e6


def of_reply(told: float | None, usage: Usage, *, prices: PriceSettings) -> float:
    """Return US dollars of one reply: what the endpoint told, else its tokens by the prices."""
    return cost(usage, prices) if told is None else told


def total(totals: Totals, prices: PriceSettings) -> float | None:
    """Return US dollars of all of a judge's replies; None where the endpoint told nothing of some, and no price is known."""
    if totals.unpriced.prompt + totals.unpriced.completion and not priced(prices):
        return None
    return totals.cost + cost(totals.unpriced, prices)


def expected(characters: int, pairs: int) -> Usage:
    """Return the tokens that a prompt of so many characters, about so many pairs, can be expected to take."""
    return Usage(prompt=round(characters / CHARACTERS_A_TOKEN), completion=pairs * TOKENS_A_RATING)
