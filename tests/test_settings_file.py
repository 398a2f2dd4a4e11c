"""Keys changed in the text of a judge.toml: the values come out right, and everything else stays as it was."""

import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pools.dataset import settings, settings_file
from pools.errors import UsageError

MINE = """# mine
seed = 3

[judge]
# the one we can afford
model = "old"  # since May
[gate]
f1 = 0.7
model = "not this one"
"""


def test_only_the_keys_named_change() -> None:
    out = settings_file.changed(MINE, "judge", values={"model": "new", "pairs_per_batch": 5})
    assert tomllib.loads(out)["judge"] == {"model": "new", "pairs_per_batch": 5}
    kept = [line for line in MINE.splitlines() if not line.startswith('model = "old"')]
    assert [line for line in out.splitlines() if line in kept] == kept
    assert settings_file.changed(out, "judge", values={"model": "new", "pairs_per_batch": 5}) == out


@pytest.mark.parametrize("text", ["", "seed = 3", "seed = 3\n", "[judge]", settings.document()])
def test_a_section_is_made_and_a_commented_key_filled_in(text: str) -> None:
    out = settings_file.changed(text, "judge", values={"model": "new", "pairs_per_batch": 10})
    document = tomllib.loads(out)
    assert document["judge"] == {"model": "new", "pairs_per_batch": 10}
    assert out.count("[judge]") == 1
    assert document.get("seed") == tomllib.loads(text).get("seed")
    if "# model" in text:
        assert len(out.splitlines()) == len(text.splitlines())


@given(st.text())
def test_any_text_is_written_as_toml(value: str) -> None:
    if any(0xD800 <= ord(sign) < 0xE000 for sign in value):
        return
    assert tomllib.loads(settings_file.changed(MINE, "judge", values={"prompt": value}))["judge"]["prompt"] == value


@pytest.mark.parametrize("text", ['judge.model = "x"\n', 'judge = {model = "x"}\n', '[judge]\nmodel = """\nx\n"""\n'])
def test_a_form_that_cannot_be_changed_is_left_to_the_person(text: str) -> None:
    with pytest.raises(UsageError, match=r'put into its \[judge\]: model = "new"'):
        settings_file.changed(text, "judge", values={"model": "new"})
