"""What an LLM says of a pair that it is asked about by itself: yes, no or neither, and how surely.

An answer that is neither yes nor no is not made into one, and an endpoint that tells no probabilities leaves a pair without
one.
"""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pools._dataset.records import PairKey

_WORD = re.compile(r"[^\W_]+")
_THOUGHT = re.compile(r".*</think(?:ing)?>", re.IGNORECASE | re.DOTALL)
# How byte-level tokenizers show a space, where an endpoint gives tokens as the tokenizer names them.
_SPACES = "\u0120\u2581"


@dataclass(frozen=True, slots=True)
class YesOrNo:
    """What an LLM said of a pair: `yes` is None for neither; `probability` is that of yes against no, None where not told."""

    yes: bool | None
    probability: float | None


def read(text: str, finish_reason: str | None, *, logprobs: Sequence[tuple[str, float]]) -> YesOrNo:
    """Read an answer and the log-probabilities of its first token.

    The answer is what its first word says, without regard to case and punctuation, and after a model's thinking if there is
    any. It is neither where that word is another one, where both words occur, and where a content filter cut in.
    """
    words = _WORD.findall(_THOUGHT.sub("", text).casefold())
    said = {"yes", "no"} & set(words)
    if finish_reason == "content_filter" or len(said) != 1 or words[0] not in said:
        return YesOrNo(None, None)
    return YesOrNo(words[0] == "yes", probability(logprobs))


def probability(logprobs: Sequence[tuple[str, float]]) -> float | None:
    """Return p(yes) / (p(yes) + p(no)), from 0 to 1, each the sum over all tokens that spell the word.

    `logprobs` are tokens with the natural logarithm of their probability. Case, spaces and punctuation around a word are no
    matter. None where neither word is among the tokens, and for a single token, which is set against nothing.
    """
    sums = {"yes": 0.0, "no": 0.0}
    for token, figure in logprobs:
        words = _WORD.findall(token.strip(_SPACES).casefold())
        if len(words) == 1 and words[0] in sums:
            sums[words[0]] += math.exp(figure)
    total = sums["yes"] + sums["no"]
    return sums["yes"] / total if len(logprobs) > 1 and total else None


@dataclass(frozen=True, slots=True)
class Answered:
    """What is known of the pairs that an LLM was asked about, in this run or an earlier one, and what this run used.

    `answers` holds the pairs answered with yes or no, `failed` those given up, with the reason. `asked` are the pairs that this
    run sent, `cost` is in US dollars, None where nobody tells it.
    """

    answers: Mapping[PairKey, YesOrNo]
    failed: Mapping[PairKey, str]
    requests: int = 0
    asked: int = 0
    cost: float | None = 0.0

    @property
    def yes(self) -> int:
        """How many pairs were answered with yes."""
        return sum(1 for answer in self.answers.values() if answer.yes)

    @property
    def without_probability(self) -> int:
        """How many answers came without log-probabilities."""
        return sum(1 for answer in self.answers.values() if answer.probability is None)
