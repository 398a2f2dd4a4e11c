"""Responses as endpoints really write them: what is there is read, what lacks its main content was no answer."""

import json
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judge._endpoint import completions
from judge._endpoint.answer import Answer, TooLong, Usage
from judge._endpoint.refusals import Refused

# Pieces, because an alphabet that is a union draws these few characters hardly ever.
ANY_TEXT = st.lists(st.text(max_size=9) | st.sampled_from(["\ud800", "\udc00", "\ufeff", "\0"]), max_size=3).map("".join)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**80), 2**80) | st.floats(allow_nan=False, allow_infinity=False) | ANY_TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(ANY_TEXT, inner, max_size=3),
    max_leaves=8,
)


def completion(**further: Any) -> dict[str, Any]:
    return {"choices": [{"message": {"content": "x"}, "finish_reason": "stop"}], **further}


@given(JSON)
def test_json_is_read_as_it_was_written_lone_surrogates_and_large_numbers_included(value: Any) -> None:
    found = completions.decoded(json.dumps(value).encode())
    # Numbers beyond 64 bits may come as floats, which no count of tokens is.
    assert json.dumps(found) == json.dumps(value) or re.search(r"\d{19}", json.dumps(value))
    assert type(found) is type(value) or isinstance(value, int)


@pytest.mark.parametrize("content", [b"", b"{", b"<html>", b"\xff", b"{'a': 1}"])
def test_what_is_no_json_is_nothing(content: bytes) -> None:
    assert completions.decoded(content) is None


@given(JSON)
def test_whatever_comes_is_an_answer_or_none(value: Any) -> None:
    for document in (value if isinstance(value, dict) else {}, {"choices": value}, completion(usage=value, cost=value)):
        try:
            found = completions.answer(document, "m")
        except Refused as refused:
            assert "without choices" in refused.refusal.message  # noqa: PT017  either is right, and nothing else
        else:
            assert isinstance(found.text, str)
            assert min(found.usage.prompt, found.usage.cached, found.usage.completion) >= 0


def test_an_answer_has_what_the_endpoint_tells() -> None:
    usage = {"prompt_tokens": 9, "completion_tokens": 3, "prompt_tokens_details": {"cached_tokens": 2}, "cost": 0.5}
    assert completions.answer(completion(usage=usage, model="other"), "m") == Answer("x", "stop", "other", Usage(9, 2, 3), 0.5)
    parts = {"choices": [{"message": {"content": [{"type": "text", "text": "a"}, {"text": "b"}]}}]}
    assert completions.answer(parts, "m") == Answer("ab", None, "m")
    refused = {"choices": [{"message": {"content": None, "refusal": "I cannot"}}]}
    assert completions.answer(refused, "m").text == "I cannot"


def test_vectors_come_in_the_order_of_their_texts_or_not_at_all() -> None:
    data = [{"index": 1, "embedding": [2]}, {"index": 0, "embedding": [1.5, 0]}]
    assert completions.vectors({"data": data}, 2) == [[1.5, 0.0], [2.0]]
    for document in ({"data": data[:1]}, {"data": None}, {}, {"data": [{"index": 0, "embedding": ["x"]}]}):
        with pytest.raises(Refused, match="without a vector"):
            completions.vectors(document, 2)


def test_a_prompt_of_which_far_less_was_read_has_no_whole_answer() -> None:
    prompt = "word " * 1_000
    for tokens, cached in ((0, 0), (1_000, 0), (500, 0), (100, 500)):
        answer = Answer("x", "stop", "m", Usage(tokens, cached))
        assert completions.whole(prompt, answer) is answer
    short = Answer("x", "stop", "m", Usage(300))
    with pytest.raises(TooLong, match="read 300 tokens of a prompt of 5000 characters") as caught:
        completions.whole(prompt, short)
    assert caught.value.answer is short
