"""Files of repositories from git clones in a folder, one a repository: DIR/owner+name/ or DIR/owner/name/, bare or not.

The clones are data from elsewhere, so git runs on them with an environment of its own: no configuration of the user's or the
machine's, no replaced objects, no network for a clone that lacks some, and only to print objects, which starts no filter,
hook, pager or text conversion that a clone's configuration may name. The clone is named outright, so that a folder that is
none does not lead git to a repository further up. Names are handed over on standard input, never as options.
"""

import io
import os
import subprocess
from collections.abc import Iterator, Sequence
from itertools import groupby
from pathlib import Path
from typing import IO

from pools._checkouts.sources import Content, File, Missing
from pools.errors import DataError, UsageError

_ENVIRONMENT = {
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_ALLOW_PROTOCOL": "none",
    "GIT_TERMINAL_PROMPT": "0",
    "LC_ALL": "C",
}


def read(folder: Path, wanted: Sequence[File]) -> Iterator[Content]:
    """Yield the content of each file at its commit, repository by repository.

    A repository without a clone, an unknown commit and a path that is no file there are `Missing`. Raises `UsageError` where
    the folder has no clone of any of the repositories, or there is no git, and `DataError` where git cannot read a clone.
    """
    clones = {repository: _clone(folder, repository) for repository in sorted({file.repository for file in wanted})}
    if wanted and not any(clones.values()):
        raise UsageError(
            f"{folder}: no clone of any of the {len(clones)} repositories, such as {next(iter(clones)).replace('/', '+')}; "
            "name the folder that holds the clones as owner+name/ or owner/name/"
        )
    for repository, files in groupby(sorted(wanted), key=lambda file: file.repository):
        clone = clones[repository]
        if clone is None:
            yield from ((file, Missing(f"no clone of {repository}")) for file in files)
        else:
            yield from _read_clone(clone, list(files))


def _clone(folder: Path, repository: str) -> Path | None:
    owner, name = repository.split("/")
    for place in (folder / f"{owner}+{name}", folder / owner / name):
        if (place / ".git").exists():
            return place / ".git"
        if (place / "objects").is_dir() and (place / "HEAD").is_file():
            return place
    return None


def _read_clone(clone: Path, wanted: Sequence[File]) -> Iterator[Content]:
    names = [name for file in wanted for name in (file.commit, f"{file.commit}:{file.path}")]
    command = ["git", f"--git-dir={clone}", "cat-file", "--batch"]
    try:
        done = subprocess.run(
            command,
            input="".join(name + "\n" for name in names).encode(),
            capture_output=True,
            env=_ENVIRONMENT | {"PATH": os.environ.get("PATH", os.defpath)},
            check=False,
        )
    except FileNotFoundError:
        raise UsageError("git is not installed, and reading clones needs it; install git") from None
    if done.returncode:
        raise DataError(f"{clone}: git cannot read it ({done.stderr.decode('utf-8', 'replace')}); clone it again, whole")
    objects = _objects(io.BytesIO(done.stdout))
    for file in wanted:
        (commit, _), (kind, content) = next(objects), next(objects)
        if commit != "commit":
            yield file, Missing(f"no commit {file.commit} in the clone of {file.repository}")
        elif kind != "blob":
            yield file, Missing(f"no file {file.path} at the commit" if kind == "missing" else f"{file.path} is a folder")
        else:
            yield file, content


def _objects(stream: IO[bytes]) -> Iterator[tuple[str, bytes]]:
    # "<hash> <kind> <size>", then so many bytes and LF; or "<name> missing", where the name may hold spaces.
    while line := stream.readline():
        *_, kind, size = line.split()
        if size == b"missing":
            yield "missing", b""
        else:
            yield kind.decode(), stream.read(int(size))
            stream.read(1)
