"""Git repositories and the files in them, whatever the machine's own configuration is."""

import os
import subprocess
from pathlib import Path

CODE = b"def f():\n    return 1\n"
ONE = b"def one(a, b):\n    return a + b\n"
TWO = b"\n\nclass Two:\n    def two(self):\n        return 2\n"
MIT = """MIT License

Copyright (c) 2020 Somebody

Permission is hereby granted, free of charge, to any person obtaining a copy of this software and associated documentation
files (the "Software"), to deal in the Software without restriction, including without limitation the rights to use, copy,
modify, merge, publish, distribute, sublicense, and/or sell copies of the Software, and to permit persons to whom the
Software is furnished to do so, subject to the following conditions:

The above copyright notice and this permission notice shall be included in all copies or substantial portions of the
Software.

THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR IMPLIED, INCLUDING BUT NOT LIMITED TO THE
WARRANTIES OF MERCHANTABILITY, FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE AUTHORS OR
COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR OTHERWISE,
ARISING FROM, OUT OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE SOFTWARE.
"""


def git(folder: Path, *arguments: str) -> str:
    """Run git as somebody with a name, whose clock stands still; returns what it printed."""
    environment = os.environ | {
        "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull, "GIT_AUTHOR_NAME": "a", "GIT_AUTHOR_EMAIL": "a@b.c",
        "GIT_COMMITTER_NAME": "a", "GIT_COMMITTER_EMAIL": "a@b.c", "GIT_AUTHOR_DATE": "2020-01-01T00:00:00Z",
        "GIT_COMMITTER_DATE": "2020-01-01T00:00:00Z",
    }  # fmt: skip
    done = subprocess.run(
        ["git", "-c", "init.defaultBranch=main", *arguments],
        cwd=folder,
        env=environment,
        check=True,
        capture_output=True,
        text=True,
    )
    return done.stdout.strip()


def write(folder: Path, *paths: str, content: bytes = CODE) -> None:
    """Write the same content to files of a folder."""
    for path in paths:
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(content)


def repository(folder: Path, files: dict[str, bytes]) -> str:
    """Make or go on with a repository; returns the commit."""
    folder.mkdir(parents=True, exist_ok=True)
    git(folder, "init", "--quiet")
    for name, content in files.items():
        write(folder, name, content=content)
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "--allow-empty", "-m", "x")
    return git(folder, "rev-parse", "HEAD")


def licensed(folder: Path) -> Path:
    """Make a checkout under the MIT licence in which one function occurs twice."""
    write(folder, "LICENSE", content=MIT.encode())
    write(folder, "a.py", content=ONE + TWO)
    write(folder, "b/c.py", content=b"x = 1\n" + ONE)
    write(folder, "b/d.go", content=b"package b\n\nfunc one(a int) int { return a }\n")
    git(folder, "init", "-q")
    git(folder, "remote", "add", "origin", "https://github.com/some/where")
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "-m", "first")
    return folder
