"""The ledger's lines: JSON objects that each carry a hash over themselves and the line before.

The hash (`chain`, always the last member) is over the chain of the line before and the bytes of this line without that
member, so a line that was changed, added or taken out by hand breaks it from there on. It is checked on the bytes, before
anything is parsed. This module knows lines and no meaning of theirs; all but `scan` is pure.
"""

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO

import orjson

from pools.errors import DataError

FIRST = "0" * 16
"""The chain before the first line."""

_MEMBER = b',"chain":"'
_TAIL = len(_MEMBER) + 16 + len(b'"}')


def line(record: Mapping[str, Any], previous: str) -> tuple[bytes, str]:
    """Return a record (of at least one member, without `chain`) as a line with its line end, and the line's chain."""
    try:
        body = orjson.dumps(record)
    except TypeError:  # lone surrogates, which JSON can escape but UTF-8 cannot hold; numbers of more than 64 bits
        body = json.dumps(record, separators=(",", ":"), allow_nan=False).encode()
    chain = _hash(previous, body)
    return body[:-1] + _MEMBER + chain.encode() + b'"}\n', chain


def follows(text: bytes, previous: str) -> str | None:
    """Return a line's chain if the line (without its end) is whole and follows the previous chain, else None."""
    if len(text) <= _TAIL or text[-_TAIL : -_TAIL + len(_MEMBER)] != _MEMBER:
        return None
    chain = _hash(previous, text[:-_TAIL] + b"}")
    return chain if text[-18:] == chain.encode() + b'"}' else None


def _hash(previous: str, body: bytes) -> str:
    return hashlib.sha256(previous.encode() + body).hexdigest()[:16]


@dataclass(slots=True)
class End:
    """Where the whole lines of a file end: the chain and number of the last one, and the byte behind it.

    `torn` is how many bytes of a line that is not whole follow; `bare` says that the last whole line lacks its line end;
    `digest` is of all whole lines, so that a figure can name the file by more than the 64 bits of a chain.
    """

    chain: str = FIRST
    lines: int = 0
    offset: int = 0
    torn: int = 0
    bare: bool = False
    digest: "hashlib._Hash" = field(default_factory=hashlib.sha256)


def scan(file: BinaryIO, path: Path, *, end: End) -> Iterator[dict[str, Any]]:
    """Yield the records of a file from its beginning, keeping `end` up to date.

    What follows the last line end counts as a line if it is whole, and else as torn. Raises `DataError` for any other line
    that does not follow the one before it.
    """
    for text in file:
        whole = text.endswith(b"\n")
        chain = follows(text[:-1] if whole else text, end.chain)
        if chain is None and not whole:
            end.torn = len(text)
            return
        if chain is None:
            raise DataError(
                f"{path}:{end.lines + 1}: changed or put there by hand, or the line before it was; restore the file from a copy"
            )
        end.chain, end.lines, end.offset, end.bare = chain, end.lines + 1, end.offset + len(text), not whole
        end.digest.update(text)
        try:
            yield orjson.loads(text)
        except ValueError:  # escaped lone surrogates, which only the slower decoder takes
            yield json.loads(text)
