"""JSON that a decoder refuses, read as far as it goes: cut off in the middle, a quote or comma too few, nested too deep.

A decoder gives a whole value or nothing. This reader hands each object over as soon as it is closed, and at the place where
the text stops being JSON it hands over what the objects still open hold, so that a reply that was paid for is used as far as
it is certain. It accepts all JSON, a comma before a closing bracket, and control characters within strings. It keeps its own
stack, so depth is no limit, and its time is linear in the length of the text.
"""

import json
import re
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

Member = tuple[str, Any]
"""A member of a JSON object: its name, and its value as `Sink.close` or `Sink.number` returned it, a string, or a list."""

_TOKEN = re.compile(
    r"""[ \t\n\r]*+(?:
        (?P<mark>[{}\[\],:])
      | (?P<string>"[^"\\]*+(?:\\.[^"\\]*+)*+")
      | (?P<number>-?(?:0|[1-9][0-9]*+)(?:\.[0-9]++)?+(?:[eE][+-]?[0-9]++)?+)
      | (?P<word>true|false|null|NaN|-?Infinity)
    )""",
    re.DOTALL | re.VERBOSE,
)
_END = re.compile(r"""[ \t\n\r]*+(?:"(?:[^"\\]|\\.)*+\\?|[\w.+-]*+)\Z""", re.DOTALL)


class Sink(Protocol):
    """Takes what is read."""

    def number(self, token: str) -> Any:
        """Return the value of a number, given as it is written."""

    def close(self, members: list[Member]) -> Any:
        """Take an object that was closed, its members in order, and return what stands for it in the value around it."""

    def leave_open(self, members: list[Member]) -> None:
        """Take those members of an object, never closed, that a comma follows."""

    def break_off(self, members: list[Member], name: str) -> None:
        """Take the innermost open object where what is no JSON came as, or right behind, the value of its member `name`."""


@dataclass(slots=True)
class _Level:
    """An array or object that is open; `whole` of its members are followed by a comma."""

    closer: str
    expects: Literal["name", "colon", "value", "comma"]
    name: str = ""
    members: list[Member] = field(default_factory=list)
    whole: int = 0

    def take(self, value: Any) -> None:
        if self.closer == "}":
            self.members.append((self.name, value))
        self.expects = "comma"


def read(text: str, start: int, *, sink: Sink) -> tuple[int, bool]:
    """Read the value that starts with the bracket or brace at `start`.

    Returns where reading ended, which is always behind `start`: behind the value, or where the text stops being JSON; and
    whether it ended because the text did, within the value.
    """
    levels: list[_Level] = []
    place = start
    while (token := _TOKEN.match(text, place)) is not None and _step(levels, token, sink=sink):
        place = token.end()
        if not levels:
            return place, False
    cut = token is None and _END.match(text, place) is not None
    for level in levels:
        sink.leave_open(level.members[: level.whole])
    last = levels[-1]
    if not cut and last.closer == "}" and (last.expects == "value" or len(last.members) > last.whole):
        sink.break_off(last.members, last.name)
    return len(text) if cut else place, cut


def _step(levels: list[_Level], token: re.Match[str], *, sink: Sink) -> bool:
    """Take one token; False where it cannot stand at its place."""
    level = levels[-1] if levels else None
    mark = token["mark"]
    if mark is not None and mark in "{[":
        if level is not None and level.expects != "value":
            return False
        levels.append(_Level("}", "name") if mark == "{" else _Level("]", "value"))
        return True
    if level is None:
        return False
    if mark is not None and mark in "}]":
        if mark != level.closer or level.expects not in ({"name", "comma"} if mark == "}" else {"value", "comma"}):
            return False
        levels.pop()
        value = sink.close(level.members) if mark == "}" else []
        if levels:
            levels[-1].take(value)
        return True
    if mark is not None:
        return _separate(level, mark)
    return _scalar(level, token, sink=sink)


def _separate(level: _Level, mark: str) -> bool:
    if level.expects != ("comma" if mark == "," else "colon"):
        return False
    if mark == ",":
        level.whole = len(level.members)
    level.expects = "name" if mark == "," and level.closer == "}" else "value"
    return True


def _scalar(level: _Level, token: re.Match[str], *, sink: Sink) -> bool:
    if level.expects not in ({"name", "value"} if token["string"] else {"value"}):
        return False
    value: Any = None
    if token["string"]:
        try:
            value = json.loads(token["string"], strict=False)
        except ValueError:
            return False
    elif token["number"]:
        value = sink.number(token["number"])
    if level.expects == "name":
        level.name, level.expects = value, "colon"
    else:
        level.take(value)
    return True
