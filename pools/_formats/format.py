"""A format: a form in which others keep a test collection, how it is read and how it is written."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from pools._formats.collection import Collection
from prompts.scales import Scale

Kind = Literal["file", "folder", "text"]


@dataclass(frozen=True, slots=True)
class Input:
    """One thing that a format is read from: a file, a folder, or a text that says where something is.

    A reader gets it under its `name`: a path, of a repeatable one a sequence of paths, a text; None where it need not be given
    and was not. A `positional` one is given without its name; `shown` is what stands for it in a usage line.
    """

    name: str
    kind: Kind
    shown: str
    help: str = ""
    required: bool = True
    repeatable: bool = False
    positional: bool = False


@dataclass(frozen=True, slots=True)
class Destination:
    """The dataset folder that a collection is read for: its scale, from which rating on a pair is relevant, whom to tell.

    `note` takes a line that a person should know at once; `progress` how many of how many files were fetched.
    """

    folder: Path
    scale: Scale
    relevant_from: float
    note: Callable[[str], None]
    progress: Callable[[int, int], None]


Read = Callable[..., Collection]
"""Takes a `Destination` and the format's inputs under their names; raises `UsageError` or `DataError`, and writes nothing."""
Write = Callable[[Collection, Mapping[str, float]], dict[str, bytes]]
"""Takes a collection and from which rating on a pair is relevant in each of its languages; returns the content of each file by
its path; raises `DataError` naming the id that the form cannot hold."""


@dataclass(frozen=True, slots=True)
class Format:
    """A form of a test collection under its `name`.

    `line` says in one line what is imported and `about` what becomes of it; `examples` are whole command lines. `write` is
    None for a form that can only be read, for the reason `read_only`.
    """

    name: str
    line: str
    about: str
    examples: tuple[str, ...]
    inputs: tuple[Input, ...]
    read: Read
    write: Write | None = None
    read_only: str = ""
