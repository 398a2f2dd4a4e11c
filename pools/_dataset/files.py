"""Files as this project writes them: whole, atomically, and the same bytes for the same content.

A reader never meets half a file: content goes to a temporary file in the same folder, is flushed to disk and renamed over
the old one. gzip headers carry neither time nor name.
"""

import gzip
import hashlib
import os
import tempfile
from pathlib import Path

from pools.errors import DataError, UsageError


def sha256(content: bytes) -> str:
    """Return the hexadecimal SHA-256 of some bytes."""
    return hashlib.sha256(content).hexdigest()


def compress(content: bytes) -> bytes:
    """Return content as gzip whose bytes depend on nothing but the content."""
    return gzip.compress(content, compresslevel=9, mtime=0)


def read(path: Path) -> bytes:
    """Return a file's bytes, unpacked where its name ends in .gz; raises `DataError` naming the file."""
    try:
        content = path.read_bytes()
        return gzip.decompress(content) if path.suffix == ".gz" else content
    except FileNotFoundError:
        raise DataError(f"{path}: no such file") from None
    except (EOFError, gzip.BadGzipFile) as error:
        raise DataError(f"{path}: not a whole gzip file ({error}); fetch or write it again") from error
    except OSError as error:
        raise DataError(f"{path}: cannot be read ({error.strerror or error})") from error


def replace(path: Path, content: bytes) -> None:
    """Write a whole file atomically, making its folder; an unchanged file is left alone.

    Raises `UsageError` where the folder cannot be written to, in which case nothing has changed.
    """
    if path.is_file() and path.read_bytes() == content:
        return
    temporary = None
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fchmod(file.fileno(), 0o666 & ~_umask())
            os.fsync(file.fileno())
        Path(temporary).replace(path)
    except OSError as error:
        if temporary is not None:
            Path(temporary).unlink(missing_ok=True)
        raise UsageError(
            f"{path}: cannot be written ({error.strerror or error}); choose a folder that can, with --data"
        ) from error


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
