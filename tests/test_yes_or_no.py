"""What an answer to yes or no says: its first word, in any spelling, and its probability against the other."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pools._engines import yes_or_no
from pools._engines.yes_or_no import YesOrNo

SPELLINGS = ["Yes", "yes", " yes", "YES", "Yes.", "**Yes", '"yes"', "\u2581Yes", "\u0120yes", "yes\n"]


def log(**shares: float) -> list[tuple[str, float]]:
    return [(token, math.log(figure)) for token, figure in shares.items()]


@pytest.mark.parametrize("yes", SPELLINGS)
def test_a_word_counts_in_every_spelling(yes: str) -> None:
    no = yes.replace("Yes", "No").replace("yes", "no").replace("YES", "NO")
    told = [(yes, math.log(0.3)), ("yEs,", math.log(0.1)), (no, math.log(0.1)), ("Not", math.log(0.4)), ("yesterday", -1.0)]
    assert yes_or_no.probability(told) == pytest.approx(0.8)
    assert yes_or_no.read(yes.lstrip("\u0120"), "stop", logprobs=told) == YesOrNo(True, yes_or_no.probability(told))
    assert yes_or_no.read(no.lstrip("\u0120"), "stop", logprobs=told) == YesOrNo(False, yes_or_no.probability(told))


@given(st.lists(st.tuples(st.sampled_from(["yes", " No", "maybe", ""]), st.floats(-60, 0)), max_size=6))
def test_a_probability_is_the_share_of_yes_in_both(told: list[tuple[str, float]]) -> None:
    found = yes_or_no.probability(told)
    yes, no = (sum(math.exp(figure) for token, figure in told if token.strip().lower() == word) for word in ("yes", "no"))
    if len(told) < 2 or yes + no == 0:
        assert found is None
    else:
        assert found == pytest.approx(yes / (yes + no))


def test_what_is_set_against_nothing_is_no_probability() -> None:
    assert yes_or_no.probability(log(Yes=0.7)) is None
    assert yes_or_no.probability(log(Maybe=0.7, I=0.1)) is None
    assert yes_or_no.probability(log(Yes=0.7, I=0.1)) == 1.0
    assert yes_or_no.probability([("yes", -9999.0), ("I", -0.1)]) is None
    assert yes_or_no.read("Yes", "stop", logprobs=()) == YesOrNo(True, None)


@pytest.mark.parametrize(
    ("text", "yes"),
    [
        ("Yes, it reverses a string", True),
        ("no", False),
        ("\n **No**.", False),
        ("<think>No, or is it?</think>\nYes", True),
        ("no it is </thinking> yes", True),
        ("Yes or no", None),
        ("No. Yes.", None),
        ("Not really", None),
        ("Answer: yes", None),
        ("I cannot help with that, no", None),
        ("yesterday", None),
        ("<think>yes", None),
        ("", None),
    ],
)
def test_an_answer_is_its_first_word_or_neither(text: str, yes: bool | None) -> None:
    told = log(Yes=0.5, No=0.25)
    assert yes_or_no.read(text, "stop", logprobs=told) == YesOrNo(yes, None if yes is None else yes_or_no.probability(told))
    assert yes_or_no.read(text, "content_filter", logprobs=told) == YesOrNo(None, None)
