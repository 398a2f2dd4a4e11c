"""An answer of a judge to one prompt, and the reasons why a batch cannot be answered as it is.

The records stand apart from the client, so that the ledger, the baseline and the tests can use them without it.
"""

import math
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens as the endpoint counts them; `cached` of the prompt's tokens came from its cache."""

    prompt: int = 0
    cached: int = 0
    completion: int = 0

    def __add__(self, other: "Usage") -> "Usage":
        return Usage(self.prompt + other.prompt, self.cached + other.cached, self.completion + other.completion)


NOTHING = Usage()


@dataclass(frozen=True, slots=True)
class Answer:
    """A reply as it came, before anything is read from it.

    `model` is what the endpoint says it was; `cost` US dollars where it tells them, else None; `redacted` how many secrets
    were masked in what was sent; `logprobs` the most likely tokens in the place of the first one that is not blank, each with
    the natural logarithm of its probability, where they were asked for and told.
    """

    text: str
    finish_reason: str | None
    model: str
    usage: Usage = NOTHING
    cost: float | None = None
    redacted: int = 0
    logprobs: tuple[tuple[str, float], ...] = ()


def first_token(told: Any) -> tuple[tuple[str, float], ...]:
    """Return the log-probabilities of the first token that is not blank and of its alternatives, as far as they are told.

    `told` is what a chat completion calls `logprobs`, whatever that is; where it is something else, nothing is told.
    """
    try:
        place = next(entry for entry in told["content"] if entry["token"].strip())
        own = (place["token"], place["logprob"])
        tokens = [(entry["token"], entry["logprob"]) for entry in place["top_logprobs"]]
        if own[0] not in {token for token, _ in tokens}:
            tokens.append(own)
        return tuple((str(token), min(0.0, float(figure))) for token, figure in tokens if math.isfinite(figure))
    except (KeyError, TypeError, ValueError, AttributeError, StopIteration):
        return ()


class Unfit(Exception):
    """The batch cannot be answered as it is; fewer pairs may be. `answer` is a reply that was paid for and cannot be used."""

    def __init__(self, reason: str, answer: Answer | None = None) -> None:
        super().__init__(reason)
        self.reason = reason
        self.answer = answer


class TooLong(Unfit):
    """The prompt is longer than the model reads, or than the endpoint let it read."""


class Filtered(Unfit):
    """A content filter refused the prompt."""


class Unanswered(Unfit):
    """The endpoint failed on this prompt time and again, while it answered others."""
