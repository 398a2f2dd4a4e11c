"""A judge's identity: one hash that changes with everything that may change a rating, and with nothing else."""

import json
import re
from dataclasses import replace
from typing import Any

import pytest

from judge._judges.identity import Identity
from prompts.scales import Scale


def identity(scale: Scale) -> Identity:
    return Identity("some-model", "Rate {{ items }}", scale, 20_000, 40, {"temperature": 0.0, "max_tokens": 4096})


def test_the_id_is_sixteen_hexadecimal_digits_and_stays_the_same(scale: Scale) -> None:
    assert re.fullmatch(r"[0-9a-f]{16}", identity(scale).judge_id)
    assert identity(scale).judge_id == identity(scale).judge_id
    turned = replace(identity(scale), sampling={"max_tokens": 4096, "temperature": 0.0})
    assert turned.judge_id == identity(scale).judge_id


@pytest.mark.parametrize(
    "change",
    [
        {"model": "some-model-2"},
        {"prompt": "Rate {{ items }}\n"},
        {"scale": Scale("relevance", ((0, "no"), (1, "yes")))},
        {"shown_characters": 19_999},
        {"pairs_per_batch": 1},
        {"sampling": {"temperature": 0.1, "max_tokens": 4096}},
        {"sampling": {"temperature": 0.0}},
        {"redact": False},
    ],
    ids=lambda change: ",".join(change),
)
def test_every_part_of_it_changes_the_id(scale: Scale, change: dict[str, Any]) -> None:
    assert replace(identity(scale), **change).judge_id != identity(scale).judge_id


def test_the_document_tells_all_of_it_in_json(scale: Scale) -> None:
    document = json.loads(json.dumps(identity(scale).document(), allow_nan=False))
    assert document == identity(scale).document()
    assert (document["model"], document["prompt"], document["pairs_per_batch"]) == ("some-model", "Rate {{ items }}", 40)
    assert document["sampling"] == {"temperature": 0.0, "max_tokens": 4096}
    assert [value for value, _ in document["scale"]["levels"]] == [0, 1, 2, 3]


def test_a_name_that_utf_8_cannot_hold_still_has_an_id(scale: Scale) -> None:
    assert replace(identity(scale), model="m\udcff").judge_id != replace(identity(scale), model="m?").judge_id
