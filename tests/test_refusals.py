"""Errors as endpoints word them: what each means, and what can be left out of a request for it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judge._endpoint import refusals
from judge._endpoint.refusals import Form, Refusal
from pools.errors import Stopped


@pytest.mark.parametrize(
    ("status", "message", "code", "meaning"),
    [
        (400, "'max_tokens' is too large: 4096. This model's maximum context length is 2048 tokens", "", "form"),
        (400, "max_tokens is too large: 99999. This model supports at most 16384 completion tokens", "", "form"),
        (400, "This model's maximum context length is 8192 tokens. However, you requested 9000", "", "too-long"),
        (400, "the request exceeds the available context size", "exceed_context_size_error", "too-long"),
        (413, "Payload Too Large", "", "too-long"),
        (400, "prompt is too long: 210000 tokens > 200000 maximum", "", "too-long"),
        (
            400,
            "The response was filtered due to the prompt triggering Azure's content management policy",
            "",
            "filtered",
        ),
        (403, "blocked by our safety system", "", "filtered"),
        (400, "unknown model `x`", "", "stop"),
        (429, "You exceeded your current quota", "insufficient_quota", "stop"),
        (429, "slow down", "", "overloaded"),
        (408, "", "", "again"),
        (529, "overloaded_error", "", "again"),
        (405, "", "", "stop"),
    ],
)
def test_the_meaning_of_errors_as_endpoints_word_them(status: int, message: str, code: str, meaning: str) -> None:
    assert refusals.meaning(Refusal(status, message, code)) == meaning


def test_a_length_that_is_too_large_is_left_out_not_renamed() -> None:
    form = Form()
    body = form.body("m", "p", schema=None, sampling={"max_tokens": 4096})
    milder = form.milder(Refusal(400, "max_tokens is too large: 4096", "", "max_tokens"), body)
    assert milder == Form(without=frozenset({"max_tokens"}))


def test_an_error_that_names_nothing_that_was_sent_has_no_milder_form() -> None:
    form = Form()
    assert form.milder(Refusal(400, "unsupported: seed"), form.body("m", "p", schema=None, sampling={"temperature": 0})) is None
    # `temperature` as part of another name is another name.
    assert (
        form.milder(Refusal(400, "bad top_temperature_x"), form.body("m", "p", schema=None, sampling={"temperature": 0}))
        is None
    )


@given(st.binary(max_size=60), st.text(max_size=20), st.integers(400, 599))
def test_any_error_means_something(body: bytes, header: str, status: int) -> None:
    refusal = refusals.of(status, body, headers={"retry-after": header, "retry-after-ms": header}, now=1e9)
    assert refusals.meaning(refusal)
    assert "\n" not in str(Stopped(refusals.remedy(refusal, "m", base_url="http://x")))
    assert refusal.retry_after is None or refusal.retry_after >= 0
