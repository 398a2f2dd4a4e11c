"""What an endpoint's responses hold: the reply of a chat completion, the vectors of texts.

Endpoints that call themselves compatible leave things out, or write them otherwise, so every member is taken as it may be;
what lacks its main content was no answer, and raises `Refused` as a fault that passes.
"""

import json
import re
from collections.abc import Mapping
from typing import Any

import orjson

from judge._endpoint.answer import Answer, TooLong, Usage, first_token
from judge._endpoint.refusals import Refusal, Refused

_WORD = re.compile(r"\w+|[^\w\s]+")


def decoded(content: bytes) -> Any:
    """Read JSON, escaped lone surrogates included, which only the slower decoder takes; None for what is none."""
    for decode in (orjson.loads, json.loads):
        try:
            return decode(content)
        except ValueError:
            pass
    return None


def answer(document: Mapping[str, Any], model: str) -> Answer:
    """Read a chat completion; what lacks a reply is a fault that passes."""
    try:
        choice = document["choices"][0]
        message = choice["message"]
        content, refusal = message.get("content"), message.get("refusal")
    except (KeyError, IndexError, TypeError, AttributeError):
        raise Refused(Refusal(0, "a reply without choices")) from None
    if isinstance(content, list):
        content = "".join(str(part.get("text", "")) for part in content if isinstance(part, dict))
    usage = document.get("usage")
    usage = usage if isinstance(usage, dict) else {}
    details = usage.get("prompt_tokens_details")
    cost = usage.get("cost")
    reason = choice.get("finish_reason")
    return Answer(
        text=content if isinstance(content, str) and content else refusal if isinstance(refusal, str) else "",
        finish_reason=reason if isinstance(reason, str) else None,
        model=str(document.get("model") or model),
        usage=Usage(
            _count(usage.get("prompt_tokens")),
            _count(details.get("cached_tokens") if isinstance(details, dict) else None),
            _count(usage.get("completion_tokens")),
        ),
        cost=float(cost) if isinstance(cost, int | float) and 0 <= cost < 1e9 else None,
        logprobs=first_token(choice.get("logprobs")),
    )


def vectors(document: Mapping[str, Any], count: int) -> list[list[float]]:
    """Read the vectors of a reply; what lacks one is a fault that passes."""
    try:
        found = {int(entry["index"]): [float(figure) for figure in entry["embedding"]] for entry in document["data"]}
        return [found[place] for place in range(count)]
    except (KeyError, TypeError, ValueError):
        raise Refused(Refusal(0, "a reply without a vector for each text")) from None


def _count(value: object) -> int:
    return value if isinstance(value, int) and value > 0 else 0


def whole(prompt: str, answer: Answer) -> Answer:
    """Return an answer to all of a prompt; raises `TooLong` with it where the endpoint read far less than was sent."""
    if _shortened(prompt, answer.usage):
        raise TooLong(f"the endpoint read {answer.usage.prompt} tokens of a prompt of {len(prompt)} characters", answer)
    return answer


def _shortened(prompt: str, usage: Usage) -> bool:
    """Say whether the endpoint read far less than was sent.

    A token rarely holds more than a word or a run of punctuation, so with tokens for less than half of those, much was not
    read. Short prompts are left alone, and so are endpoints that count nothing, or cached tokens apart.
    """
    tokens = usage.prompt + usage.cached
    if not tokens or tokens * 8 > len(prompt):
        return False
    words = sum(1 for _ in _WORD.finditer(prompt))
    return words > 200 and tokens * 2 < words
