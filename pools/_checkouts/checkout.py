"""The source files of a checkout: which there are, where they come from, and which are left out for what reason.

In a git checkout those are the tracked files, and a file that differs from the commit has no commit to its name, so that
what a corpus claims can be looked up. A folder of which git tracks nothing (an unpacked archive, an ignored folder) is
walked. Symbolic links are never followed: what they lead to is either here under its own name or not part of the checkout,
and so no loop of them can catch the walk. Nothing is left out without being counted under its reason.
"""

import os
import re
import stat
import subprocess
from collections import Counter
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from pools.errors import UsageError

MAX_BYTES = 2_000_000
MAX_DEPTH = 10_000
MINIFIED_LINE = 110
"""Bytes of a mean line from which a file counts as minified, GitHub Linguist's rule."""

VENDORED = frozenset({
    "node_modules", "bower_components", "jspm_packages", "vendor", "_vendor", "vendored", "third_party", "third-party",
    "thirdparty", "ThirdParty", "3rdparty", "3rd_party", "site-packages", "dist-packages", ".venv", ".tox", ".nox", "Godeps",
    "Pods", ".bundle", ".yarn",
})  # fmt: skip
GENERATED_FOLDERS = frozenset({"dist", "generated", "__generated__"})
_GENERATED_NAME = re.compile(r"(?:_pb2|_pb2_grpc|_pb|\.pb|\.pb\.gw|\.gen|[._]generated)\.\w+$|^zz_generated")
_GENERATED_HEADER = re.compile(
    rb"(?<!\w)@generated\b"
    rb"|\bgenerated\b.{0,300}?\b(?:do not|don't|never) (?:edit|modify|change|touch)"
    rb"|\b(?:do not|don't|never) (?:edit|modify|change|touch)\b.{0,100}?\bgenerated\b",
    re.IGNORECASE | re.DOTALL,
)
# Comments, docstring and blank lines before the first line of code: a text further down that says so is about another file.
_HEADER = re.compile(
    rb"(?:\xef\xbb\xbf)?(?:\s++|(?:#|//)[^\r\n]*+|<\?(?:php)?|/\*.*?\*/|<!--.*?-->|[rRuU]?(?:\"{3}.*?\"{3}|'{3}.*?'{3}))*+",
    re.DOTALL,
)
_HEADER_BYTES = 8_000
_MINIFIED_NAME = re.compile(r"[.-]min\.\w+$|[.-](?:bundle|pack)\.[cm]?js$")
_FOLDERS_OF_VERSION_CONTROL = frozenset({".git", ".hg", ".svn", ".bzr", ".jj"})
_REMOTE = re.compile(r"(?:\w[\w+.-]*://(?:[^@/]*@)?|(?:[^@/]+@))(?P<host>[^/:]+)(?::\d+)?[/:]/*(?P<name>.+?)(?:\.git)?/*$")


@dataclass(frozen=True, slots=True)
class Checkout:
    """A folder of source files.

    `paths` are all files of `root` relative to it, with slashes, sorted; `below` is the part of it that was asked for ("" or
    a folder with a slash at its end). `commit` is None without git; `changed` are the paths that differ from it. `page` is
    the address under which a web page shows the files at that commit, None if not known. `git` is false for a walked folder.
    """

    root: Path
    repository: str
    commit: str | None
    page: str | None
    below: str
    paths: tuple[str, ...]
    changed: frozenset[str]
    git: bool

    def commit_of(self, path: str) -> str | None:
        return None if path in self.changed else self.commit

    def url(self, path: str, first_line: int, *, last_line: int) -> str | None:
        """Return the address of lines of a file at the commit, or None where there is none."""
        from urllib.parse import quote

        if self.page is None or self.commit_of(path) is None:
            return None
        return f"{self.page}/{quote(path)}#L{first_line}-L{last_line}"


def open_checkout(folder: Path) -> Checkout:
    """List the files of a folder, in a git checkout the tracked ones.

    Raises `UsageError` where there is no such folder, and where it is git's but git will not read it.
    """
    if not folder.is_dir():
        raise UsageError(f"{folder}: no such folder; name a checkout's with --from")
    top = _git(folder, "rev-parse", "--show-toplevel")
    if top is not None:
        root, asked = Path(top.removesuffix("\n")).resolve(), folder.resolve()
        below = "" if asked == root else f"{asked.relative_to(root).as_posix()}/"
        tracked = tuple(_tracked(root))
        if any(path.startswith(below) for path in tracked):
            return _of_git(root, below, tracked=tracked)
    root = folder.resolve()
    return Checkout(root, root.name, None, None, "", tuple(sorted(_walk(root))), frozenset(), git=False)


def sources(
    checkout: Checkout, suffixes: Collection[str], *, include_vendored: bool, left_out: Counter[str]
) -> Iterator[tuple[str, bytes]]:
    """Yield the path and content of every source file with one of the suffixes, in order of the paths.

    Files left out are counted in `left_out` under their reason. `include_vendored` brings in vendored, generated and
    minified ones too; what is no readable regular file of at most `MAX_BYTES` stays out whatever it says.
    """
    for path in checkout.paths:
        if not path.startswith(checkout.below) or PurePosixPath(path).suffix.lower() not in suffixes:
            continue
        content = _read(checkout, path)
        if isinstance(content, str):
            left_out[content] += 1
            continue
        reason = None if include_vendored else _by_path(path.removeprefix(checkout.below)) or _by_content(content)
        reason = reason or _unusable(content)
        if reason is None:
            yield path, content
        else:
            left_out[reason] += 1


def _read(checkout: Checkout, path: str) -> bytes | str:
    """Return a file's content, cut behind `MAX_BYTES` and one more, or the reason why it has none."""
    # The type is asked for before opening, because opening a named pipe would wait for ever.
    try:
        path.encode("utf-8")
        place = checkout.root / path
        mode = place.lstat().st_mode
        if stat.S_ISLNK(mode):
            return "symbolic link"
        if not stat.S_ISREG(mode):
            return "not a regular file"
        with place.open("rb") as file:
            return file.read(MAX_BYTES + 1)
    except UnicodeEncodeError:
        return "name is not UTF-8"
    except FileNotFoundError:
        return "tracked but not there"
    except OSError:
        return "unreadable"


def _by_path(path: str) -> str | None:
    *folders, name = path.split("/")
    if not VENDORED.isdisjoint(folders):
        return "vendored"
    if not GENERATED_FOLDERS.isdisjoint(folders) or _GENERATED_NAME.search(name):
        return "generated"
    return "minified" if _MINIFIED_NAME.search(name) else None


def _by_content(content: bytes) -> str | None:
    lines = content.count(b"\n") or content.count(b"\r")
    if len(content) > MINIFIED_LINE * (lines + 1):
        return "minified"
    header = _HEADER.match(content[:_HEADER_BYTES])
    return "generated" if header is not None and _GENERATED_HEADER.search(header[0]) else None


def _unusable(content: bytes) -> str | None:
    if len(content) > MAX_BYTES:
        return f"larger than {MAX_BYTES // 1_000_000} MB"
    if b"\0" in content and not content.startswith((b"\xff\xfe", b"\xfe\xff")):
        return "binary"
    if sum(map(content.count, (b"(", b"[", b"{"))) > MAX_DEPTH and _depth(content) > MAX_DEPTH:
        return "brackets nested too deeply"
    return None


def _depth(content: bytes) -> int:
    # A parser's time grows with the square of the depth: 200,000 open brackets would take minutes.
    depth = deepest = 0
    for bracket in re.findall(rb"[()\[\]{}]", content):
        depth = depth + 1 if bracket in b"([{" else max(0, depth - 1)
        deepest = max(deepest, depth)
    return deepest


def _walk(root: Path) -> Iterator[str]:
    def stop(error: OSError) -> None:
        raise UsageError(f"{error.filename}: cannot be read ({error.strerror}); make it readable or name another folder")

    for folder, below, names in os.walk(root, onerror=stop, followlinks=False):
        below[:] = sorted(name for name in below if name not in _FOLDERS_OF_VERSION_CONTROL)
        prefix = Path(folder).relative_to(root).as_posix()
        for name in names:
            yield name if prefix == "." else f"{prefix}/{name}"


def _of_git(root: Path, below: str, *, tracked: tuple[str, ...]) -> Checkout:
    commit = (_git(root, "rev-parse", "--verify", "--quiet", "HEAD") or "").strip() or None
    difference = ("diff", "--name-only", "--no-renames", "--ignore-submodules=all", "-z", "HEAD", "--")
    changed = _git(root, *difference) if commit else None
    repository, page = root.name, None
    remote = _REMOTE.match((_git(root, "config", "--get", "remote.origin.url") or "").strip())
    if remote is not None and not remote["name"].startswith("."):
        repository = remote["name"]
        if remote["host"].lower() == "github.com" and commit:
            page = f"https://github.com/{repository}/blob/{commit}"
    return Checkout(root, repository, commit, page, below, tracked, frozenset((changed or "").split("\0")[:-1]), git=True)


def _tracked(root: Path) -> list[str]:
    # Mode 160000 is a submodule: a folder with a repository and commits of its own.
    entries = (_git(root, "ls-files", "--stage", "-z") or "").split("\0")[:-1]
    return sorted({entry.split("\t", 1)[1] for entry in entries if not entry.startswith("160000 ")})


def _git(folder: Path, *arguments: str) -> str | None:
    """Return what a git command prints, None where it fails in a folder that is not git's or for want of what is asked for.

    A file system monitor that the checkout's configuration names is not run.
    """
    # A GIT_DIR of a hook that this may be running in would have git read another repository.
    environment = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    environment |= {"LC_ALL": "C", "GIT_OPTIONAL_LOCKS": "0", "GIT_TERMINAL_PROMPT": "0"}
    try:
        done = subprocess.run(
            ["git", "-c", "core.fsmonitor=false", "-c", "core.quotePath=false", *arguments],
            cwd=folder, env=environment, stdin=subprocess.DEVNULL, capture_output=True, check=False,
        )  # fmt: skip
    except FileNotFoundError:
        if any((place / ".git").exists() for place in (folder.resolve(), *folder.resolve().parents)):
            raise UsageError(f"{folder}: a git checkout, but git is not installed; install it") from None
        return None
    if done.returncode == 0:
        return os.fsdecode(done.stdout)
    error = os.fsdecode(done.stderr).strip()
    if done.returncode == 128 and "not a git repository" not in error and arguments[0] != "config" and error:
        raise UsageError(f"{folder}: git cannot read it ({error.splitlines()[0]}); do what `git status` says there")
    return None
