"""Which licence a source file is under, as an SPDX id, or None where that cannot be said with certainty.

The file's own `SPDX-License-Identifier` comes first, then the licence file of the nearest folder above it. Licence texts are
identified by the package licenseclassifier, which ships the SPDX texts, asks no network and prefers no answer to a guess.
Several different licences give None, because nothing in their texts says whether all or any of them apply.
"""

import re
from collections.abc import Mapping

from pools.errors import UsageError

_FILE_NAME = re.compile(r"(?:[\w.]+[-_])?(?:un)?licen[cs]e(?:[-._][\w.+-]*)?|copying(?:[-._][\w.+-]*)?", re.IGNORECASE)
_TEXT_SUFFIXES = frozenset({"", "txt", "md", "markdown", "rst", "adoc"})
_TAG = re.compile(rb"^[^\w\r\n]*SPDX-License-Identifier:[ \t]*([^\r\n]*)", re.IGNORECASE | re.MULTILINE)
_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9.-]*\+?")
_NOT_SPDX = ("LicenseRef-", "NONE", "NOASSERTION")
_HEAD_BYTES = 4_000


def is_licence_file(name: str) -> bool:
    """Tell whether a file's name is one that licence texts go by: LICENSE, LICENCE.txt, COPYING, MIT-LICENSE, LICENSE-MIT, …"""
    if not _FILE_NAME.fullmatch(name):
        return False
    suffix = name.lower().rpartition(".")[2] if "." in name else ""
    # `license.py` is code; LICENSE.APACHE and COPYING.LESSER name a licence instead of a format.
    return suffix in _TEXT_SUFFIXES or name.rpartition(".")[2].isupper()


def identify(texts: list[str]) -> str | None:
    """Return the one SPDX id of the licence texts of one folder; None where there is none, or more than one."""
    try:
        from licenseclassifier import identify_license
    except ImportError:
        raise UsageError("licenseclassifier is not installed; run `pip install 'qrels-judge[corpus]'`") from None

    return _only({match.id for text in texts for match in identify_license(text)})


def _only(found: set[str]) -> str | None:
    # The GPL's text ends in the "or later" notice that it suggests for files, which is no second licence.
    single = found - {f"{name}-or-later" for name in found}
    return single.pop() if len(single) == 1 else None


def of_file(path: str, content: bytes, *, by_folder: Mapping[str, str | None]) -> str | None:
    """Return a source file's SPDX id.

    `by_folder` has what `identify` says of every folder with a licence file ("" is the root, the others end in no slash).
    """
    tag = _TAG.search(content[:_HEAD_BYTES])
    if tag is not None:
        return _of_tag(tag[1].decode("utf-8", "replace"))
    folder = path
    while folder:
        folder = folder.rpartition("/")[0]
        if folder in by_folder:
            return by_folder[folder]
    return None


def _of_tag(words: str) -> str | None:
    # The tag ends where its comment does. An expression of several ids is no single id; nor is a LicenseRef one of SPDX's.
    expression = re.split(r"\*/|-->|\?>", words)[0].strip().strip("\"'();,").strip()
    return expression if _ID.fullmatch(expression) and not expression.startswith(_NOT_SPDX) else None
