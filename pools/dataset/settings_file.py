"""Keys of a judge.toml changed in its text, so that comments and everything else in it stay as a person wrote them."""

import json
import re
import tomllib
from collections.abc import Mapping

from pools.errors import UsageError

Value = str | int | float | bool


def changed(text: str, section: str, *, values: Mapping[str, Value]) -> str:
    """Return a TOML text with some keys of a section set.

    A key's line is replaced, else its line that is commented out, else the key is put at the section's beginning; a missing
    section is put at the end. Raises `UsageError` where the text is written in a form in which that does not come out right.
    """
    lines = text.split("\n")
    start = next((index for index, line in enumerate(lines) if _header(line) == section), None)
    if start is None:
        lines = [*([*lines, ""] if lines[-1] else lines), f"[{section}]"]
        start = len(lines) - 1
    for key, value in values.items():
        written = f"{key} = {_toml(value)}"
        end = next((index for index in range(start + 1, len(lines)) if _header(lines[index]) is not None), len(lines))
        place = _place(lines, start + 1, end=end, key=key)
        if place is None:
            lines.insert(start + 1, written)
        else:
            lines[place] = written
    out = "\n".join(lines).rstrip("\n") + "\n"
    _check(text, out, section=section, values=values)
    return out


def _header(line: str) -> str | None:
    found = re.match(r"\s*\[\s*([\w.-]+)\s*\]\s*(#.*)?$", line)
    return found[1] if found else None


def _place(lines: list[str], start: int, *, end: int, key: str) -> int | None:
    for pattern in (rf"\s*{key}\s*=", rf"\s*#\s*{key}\s*="):
        for index in range(start, end):
            if re.match(pattern, lines[index]):
                return index
    return None


def _toml(value: Value) -> str:
    # JSON's words for these values are TOML's, but that it leaves one control character as it is.
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def _check(text: str, out: str, *, section: str, values: Mapping[str, Value]) -> None:
    expected = tomllib.loads(text)
    expected[section] = expected.get(section, {}) | dict(values)
    try:
        right = tomllib.loads(out) == expected
    except tomllib.TOMLDecodeError:
        right = False
    if not right:
        wanted = ", ".join(f"{key} = {_toml(value)}" for key, value in values.items())
        raise UsageError(f"judge.toml is written in a form that cannot be changed here; put into its [{section}]: {wanted}")
