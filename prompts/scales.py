"""Rating scales: which whole numbers are ratings, and what each of them means.

One scale is used by experts and judge alike; its text is part of a judge's identity.
"""

import tomllib
from dataclasses import dataclass
from pathlib import Path

from prompts import templates


@dataclass(frozen=True, slots=True)
class Scale:
    """Whole-number levels, lowest first, each with the words shown to the judge."""

    name: str
    levels: tuple[tuple[int, str], ...]

    @property
    def lowest(self) -> int:
        return self.levels[0][0]

    @property
    def highest(self) -> int:
        return self.levels[-1][0]

    @property
    def values(self) -> tuple[int, ...]:
        return tuple(value for value, _ in self.levels)

    def describe(self) -> str:
        """Return the levels as the lines that a prompt shows, highest first."""
        return "\n".join(f"{value} = {words}" for value, words in reversed(self.levels))


def load(name: str, folder: Path | None = None) -> Scale:
    """Return a built-in scale by name, or the one in a TOML file.

    Raises `ValueError` where the file is no scale: it needs a `name` and a table `levels` of at least two whole numbers
    that follow each other without a gap.
    """
    source = templates.text(name, ".toml", folder=folder)
    try:
        document = tomllib.loads(source)
        levels = tuple(sorted((int(key), str(words)) for key, words in document["levels"].items()))
        scale = Scale(str(document["name"]), levels)
    except (tomllib.TOMLDecodeError, KeyError, AttributeError, ValueError) as error:
        raise ValueError(f"scale {name!r} needs `name` and a table `levels` of whole number = words: {error}") from error
    if len(levels) < 2 or scale.values != tuple(range(scale.lowest, scale.highest + 1)):
        raise ValueError(f"scale {name!r} needs two or more levels without a gap, has {list(scale.values)}")
    return scale
