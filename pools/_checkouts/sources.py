"""A function's lines in a file of a repository at a commit: which ones are meant, and what they say.

Where the files come from is somebody else's business (`pools._checkouts.mirrors` over HTTP, `pools._checkouts.clones` from
git): they hand over each file's bytes, or why there are none. What does not resolve is kept with its reason, never dropped.

A line ends with LF or CR LF, as on the pages that the addresses point to, and what follows the last line end counts as a
line, because the published line numbers count it.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from urllib.parse import unquote

from pools._dataset.tables import BOM

_URL = re.compile(
    r"https?://(?:www\.)?github\.com/(?P<owner>[\w.-]+)/(?P<name>[\w.-]+)/blob/(?P<commit>[0-9a-f]{40})/(?P<path>.+)"
    r"#L(?P<first>\d+)(?:-L(?P<last>\d+))?",
    re.ASCII | re.IGNORECASE,
)


@dataclass(frozen=True, slots=True, order=True)
class File:
    """A file of a repository ("owner/name") at a commit (40 hex digits); safe to hand to git and to put into a URL."""

    repository: str
    commit: str
    path: str


@dataclass(frozen=True, slots=True, order=True)
class Location:
    """Lines of a file, from 1, both included."""

    file: File
    first_line: int
    last_line: int


@dataclass(frozen=True, slots=True)
class Missing:
    """Why there is no such file; a reader's answer that asking again would not change."""

    reason: str


Content = tuple[File, bytes | Missing]


@dataclass(frozen=True, slots=True)
class Resolution:
    """The code of each location that resolved, and the reason of each that did not."""

    codes: dict[Location, str] = field(default_factory=dict)
    reasons: dict[Location, str] = field(default_factory=dict)


def locate(url: str) -> Location:
    """Return what a GitHub address of lines at a commit points to, however its escapes are spelt.

    Raises `ValueError` where it is none, or where its names could lead out of the repository.
    """
    found = _URL.fullmatch(url)
    if found is None:
        raise ValueError(f"{url!r} is not https://github.com/OWNER/NAME/blob/COMMIT/PATH#L1-L2 with a commit of 40 hex digits")
    owner, name, path = found["owner"], found["name"], unquote(found["path"])
    if {owner, name} & {".", ".."} or {"", ".", ".."} & set(path.split("/")) or not path.isprintable():
        raise ValueError(f"{url!r} has a path that is none inside a repository")
    first, last = int(found["first"]), int(found["last"] or found["first"])
    if not 1 <= first <= last:
        raise ValueError(f"{url!r} has lines that are no range; they count from 1, the first before the last")
    return Location(File(f"{owner}/{name}", found["commit"].lower(), path), first, last)


def files_of(locations: Iterable[Location]) -> list[File]:
    """Return the files that locations are in, each once, sorted."""
    return sorted({location.file for location in locations})


def resolve(locations: Iterable[Location], contents: Iterable[Content]) -> Resolution:
    """Cut the code of each location out of its file's content.

    `contents` has every file of `files_of(locations)`, in any order; each is let go of before the next is taken.
    """
    wanted: dict[File, list[Location]] = {}
    for location in sorted(set(locations)):
        wanted.setdefault(location.file, []).append(location)
    found = Resolution()
    for file, content in contents:
        lines = None if isinstance(content, Missing) else _lines(content)
        for location in wanted.pop(file):
            code = cut(lines, location) if lines is not None else content
            if isinstance(code, str):
                found.codes[location] = code
            elif isinstance(code, Missing):
                found.reasons[location] = code.reason
    if wanted:
        raise AssertionError(f"no content was given for {next(iter(wanted))}")
    return found


def cut(lines: Sequence[str], location: Location) -> str | Missing:
    """Return a location's lines joined by LF, without one at the end, or why there are none."""
    if location.last_line > len(lines):
        return Missing(f"lines {location.first_line}-{location.last_line} of a file that has {len(lines)}")
    code = "\n".join(lines[location.first_line - 1 : location.last_line])
    return code if code.strip() else Missing(f"lines {location.first_line}-{location.last_line} are blank")


def _lines(content: bytes) -> list[str]:
    text = content.removeprefix(BOM).decode("utf-8", "replace")
    return [line.removesuffix("\r") for line in text.split("\n")]
