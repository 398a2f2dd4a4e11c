"""Tables on disk: rows of named values as .jsonl, .jsonl.gz or .parquet, whichever of them a folder holds.

A row is a plain dict in the file's column order; this module knows no column by name. Whoever makes records of the rows
says which columns it needs, and keeps the others, so a column that a dataset adds survives a round trip.
"""

import io
import json
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from pools._dataset import files
from pools.errors import DataError

SUFFIXES = (".jsonl", ".jsonl.gz", ".parquet")
BOM = b"\xef\xbb\xbf"

Row = dict[str, Any]


def find(folder: Path, name: str) -> Path | None:
    """Return the one file of that name in a folder, or None; raises `DataError` where there are two of them."""
    found = [folder / (name + suffix) for suffix in SUFFIXES if (folder / (name + suffix)).is_file()]
    if len(found) > 1:
        raise DataError(f"{folder}: both {' and '.join(path.name for path in found)}; keep one of them")
    return found[0] if found else None


Report = Callable[[str], None]
"""Takes the message of one fault. It may raise, which stops the reading, or collect."""


def stop(message: str) -> None:
    """Be the report of a strict reader: raise the first fault as `DataError`."""
    raise DataError(message)


def read(path: Path, report: Report = stop) -> list[tuple[str, Row]]:
    """Return a table's rows in file order, each behind its place (file and line or row, from 1) for error messages.

    A line that is no JSON object goes to `report` and is left out; a file that cannot be read at all raises `DataError`.
    """
    if path.suffix == ".parquet":
        return [(f"{path}, row {number}", row) for number, row in enumerate(_read_parquet(path), start=1)]
    return _read_lines(path, report)


def write(path: Path, rows: Sequence[Mapping[str, Any]]) -> None:
    """Replace a table atomically; the suffix says the form, and equal rows give equal bytes."""
    if path.suffix == ".parquet":
        files.replace(path, _parquet(rows))
        return
    content = lines(rows)
    files.replace(path, files.compress(content) if path.suffix == ".gz" else content)


def lines(rows: Iterable[Mapping[str, Any]]) -> bytes:
    """Return rows as JSON lines: UTF-8, one object a line, keys in the row's order."""
    return b"".join(line(row) for row in rows)


def line(row: Mapping[str, Any]) -> bytes:
    """Return one row as a JSON line; text that UTF-8 cannot hold (lone surrogates) is escaped, so it reads back the same."""
    try:
        return (json.dumps(row, ensure_ascii=False, allow_nan=False) + "\n").encode("utf-8")
    except UnicodeEncodeError:
        return (json.dumps(row, ensure_ascii=True, allow_nan=False) + "\n").encode("ascii")


def _read_lines(path: Path, report: Report) -> list[tuple[str, Row]]:
    content = files.read(path)
    rows = []
    # Not splitlines: JSON may hold U+2028 and the like unescaped, and they do not end a line of the file.
    for number, line in enumerate(content.removeprefix(BOM).removesuffix(b"\n").split(b"\n") if content else [], start=1):
        try:
            rows.append((f"{path}:{number}", _row(line)))
        except ValueError as error:
            report(f"{path}:{number}: {error}")
    return rows


def _row(line: bytes) -> Row:
    if b"\0" in line:
        raise ValueError("holds a NUL byte; write the file again as UTF-8 JSON lines")
    try:
        row = json.loads(line.decode("utf-8"), parse_constant=_refuse_constant)
    except UnicodeDecodeError as error:
        raise ValueError(f"not UTF-8 ({error.reason}); write the file again as UTF-8") from error
    except (ValueError, RecursionError) as error:
        raise ValueError(f"not JSON ({error}); each line must be one JSON object") from error
    if not isinstance(row, dict):
        raise ValueError(f"a JSON {type(row).__name__}; each line must be one JSON object")
    return row


def _refuse_constant(name: str) -> float:
    raise ValueError(f"{name} is no JSON number")


def read_columns(path: Path, names: Sequence[str]) -> Iterator[tuple[Any, ...]]:
    """Yield the values of some columns of a Parquet file, row by row, without all its rows in memory at once.

    Raises `DataError` where the file cannot be read or lacks one of them.
    """
    import pyarrow
    import pyarrow.parquet

    try:
        file = pyarrow.parquet.ParquetFile(pyarrow.BufferReader(files.read(path)))
        missing = [name for name in names if name not in file.schema_arrow.names]
        if missing:
            raise DataError(f"{path}: has no column {', '.join(missing)}; write it again")
        for part in file.iter_batches(columns=list(names)):
            yield from zip(*(part.column(name).to_pylist() for name in names), strict=True)
    except (pyarrow.ArrowException, OSError) as error:
        raise _unreadable(path, error) from error


def _unreadable(path: Path, error: Exception) -> DataError:
    return DataError(f"{path}: not a readable Parquet file ({error}); write it again")


def _read_parquet(path: Path) -> list[Row]:
    import pyarrow
    import pyarrow.parquet

    try:
        rows: list[Row] = pyarrow.parquet.read_table(pyarrow.BufferReader(files.read(path))).to_pylist()
    except (pyarrow.ArrowException, OSError) as error:
        raise _unreadable(path, error) from error
    for row in rows:
        for key, value in row.items():
            if isinstance(value, float) and math.isnan(value):
                row[key] = None
    return rows


def _parquet(rows: Sequence[Mapping[str, Any]]) -> bytes:
    columns = dict.fromkeys(key for row in rows for key in row)
    return _parquet_columns({key: [row.get(key) for row in rows] for key in columns})


def write_columns(path: Path, columns: Mapping[str, Any]) -> None:
    """Replace a Parquet file by columns of equal length: lists, or pyarrow arrays where a type must not be guessed."""
    files.replace(path, _parquet_columns(columns))


def _parquet_columns(columns: Mapping[str, Any]) -> bytes:
    import pyarrow
    import pyarrow.parquet

    try:
        table = pyarrow.table(dict(columns))
    except (pyarrow.ArrowException, UnicodeEncodeError) as error:
        raise DataError(f"a table with mixed types cannot be written as Parquet ({error}); use .jsonl.gz") from error
    sink = io.BytesIO()
    pyarrow.parquet.write_table(table, sink, compression="zstd")
    return sink.getvalue()
