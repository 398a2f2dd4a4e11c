"""Keys changed in the text of a judge.toml: the values come out right, and everything else stays as it was."""

import re
import tomllib

import pytest
import tomlkit
from hypothesis import given
from hypothesis import strategies as st

from pools._dataset import settings, settings_file
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
def test_keys_are_found_however_they_are_written(text: str) -> None:
    out = settings_file.changed(text, "judge", values={"model": "new", "pairs_per_batch": 5})
    assert tomllib.loads(out) == {"judge": {"model": "new", "pairs_per_batch": 5}}


@pytest.mark.parametrize("text", ["[[judge]]\n", "judge = 3\n", "[judge]\n[gate]\n[judge.model]\nx = 1\n"])
def test_a_form_that_cannot_be_changed_is_left_to_the_person(text: str) -> None:
    with pytest.raises(UsageError, match=r'put into its \[judge\]: model = "new"'):
        settings_file.changed(text, "judge", values={"model": "new"})


KEYS = ("model", "prompt", "temperature", "max_tokens")
SCALARS = st.one_of(
    st.integers(-(2**40), 2**40),
    st.floats(allow_nan=False, allow_infinity=False),
    st.booleans(),
    st.text(st.characters(exclude_categories=["Cs"])),
)
NOTES = st.from_regex(r"# [a-z =.,\[\]\"'é中-]{0,20}", fullmatch=True)


@st.composite
def sections(draw: st.DrawFn, name: str) -> list[str]:
    """A section as a person may write it: keys with and without a comment behind them, or commented out, notes, blank lines."""
    lines = [draw(st.sampled_from([f"[{name}]", f"[ {name} ]  # here"]))]
    for key in draw(st.permutations(KEYS)):
        lines += draw(st.lists(st.one_of(st.just(""), NOTES), max_size=2))
        line = f"{key} = {tomlkit.item(draw(SCALARS)).as_string()}"
        lines += draw(st.sampled_from([[], [line], [f"  {line}  # a word on it"], [f"# {line}"], [f"#{line}"]]))
    return lines + draw(st.lists(st.just(""), max_size=1))


@given(st.data())
def test_values_are_set_and_all_else_stays(data: st.DataObject) -> None:
    names = data.draw(st.permutations(["pool", "judge", "gate"]))[: data.draw(st.integers(1, 3))]
    lines = ["# of this dataset", "seed = 3", *(line for name in names for line in data.draw(sections(name)))]
    text = "\n".join(lines) + data.draw(st.sampled_from(["", "\n"]))
    values = data.draw(st.dictionaries(st.sampled_from(KEYS), SCALARS, min_size=1))
    out = settings_file.changed(text, "judge", values=values)
    before, after = tomllib.loads(text), tomllib.loads(out)
    assert after == before | {"judge": before.get("judge", {}) | values}
    assert {key: type(value) for key, value in after["judge"].items() if key in values} == {
        key: type(value) for key, value in values.items()
    }
    assert out.count("# a word on it") == text.count("# a word on it")
    own = False
    kept = []
    for line in lines:
        own = line.startswith(("[judge]", "[ judge ]")) if line.startswith("[") else own
        if not (own and any(re.match(rf"\s*#?\s*{key} =", line) for key in values)):
            kept.append(line)
    left = iter(out.split("\n"))
    assert all(line in left for line in "\n".join(kept).rstrip("\n").split("\n")), "in the same order"
    assert settings_file.changed(out, "judge", values=values) == out
