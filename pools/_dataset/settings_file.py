"""Keys of a judge.toml changed in its text, so that comments and everything else in it stay as a person wrote them."""

import re
import tomllib
from collections.abc import Mapping
from typing import TYPE_CHECKING

from pools.errors import UsageError

if TYPE_CHECKING:
    from tomlkit.items import Table

Value = str | int | float | bool


def changed(text: str, section: str, *, values: Mapping[str, Value]) -> str:
    """Return a TOML text with some keys of a section set.

    A key's value is replaced, else its line that is commented out, else the key is put at the section's beginning; a missing
    section is put at the end. Raises `UsageError` where the text is written in a form in which that does not come out right.
    """
    import tomlkit
    from tomlkit.items import InlineTable, Table

    text += "\n" if text and not text.endswith("\n") else ""
    document = tomlkit.parse(text)
    if section not in document:
        document = tomlkit.parse(f"{text}\n[{section}]\n")
    table = document[section]
    if isinstance(table, InlineTable):
        table.update(values)
    elif isinstance(table, Table):
        _set(table, values)
    out = tomlkit.dumps(document).rstrip("\n") + "\n"
    _check(text, out, section=section, values=values)
    return out


def _set(table: "Table", values: Mapping[str, Value]) -> None:
    import tomlkit

    lines = table.value.body
    given = [key for key in values if key in table]
    for key in given:
        table[key] = values[key]
    for key in [key for key in values if key not in given]:
        place = next((index for index, (_, line) in enumerate(lines) if _comments_out(line.as_string(), key)), None)
        written = tomlkit.item(values[key])
        written.trivia.trail = "\n"
        # The lines are what is written; the table knows nothing of a key that is put among them, and is not asked any more.
        if place is None:
            lines.insert(0, (tomlkit.key(key), written))
        else:
            lines[place] = (tomlkit.key(key), written)


def _comments_out(line: str, key: str) -> bool:
    return re.match(rf"\s*#\s*{re.escape(key)}\s*=", line) is not None


def _check(text: str, out: str, *, section: str, values: Mapping[str, Value]) -> None:
    expected = tomllib.loads(text)
    before = expected.get(section, {})
    expected[section] = before | dict(values) if isinstance(before, dict) else None
    try:
        right = tomllib.loads(out) == expected
    except tomllib.TOMLDecodeError:
        right = False
    if not right:
        import tomlkit

        wanted = ", ".join(f"{key} = {tomlkit.item(value).as_string()}" for key, value in values.items())
        raise UsageError(f"judge.toml is written in a form that cannot be changed here; put into its [{section}]: {wanted}")
