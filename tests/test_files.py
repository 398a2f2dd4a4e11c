"""Whole files, atomically, and the same bytes for the same content."""

import gzip
import os
from pathlib import Path

import pytest

from pools._dataset import files
from pools.errors import DataError, UsageError


def test_gzip_carries_neither_time_nor_name(tmp_path: Path) -> None:
    assert files.compress(b"abc") == files.compress(b"abc")
    assert files.compress(b"abc")[4:8] == b"\0\0\0\0", "the modification time"
    files.replace(tmp_path / "a.gz", files.compress(b"abc"))
    assert files.read(tmp_path / "a.gz") == b"abc"


@pytest.mark.parametrize("cut", [0, 5, 15, -1])
def test_a_truncated_gzip_file_is_named(tmp_path: Path, cut: int) -> None:
    path = tmp_path / "a.jsonl.gz"
    path.write_bytes(gzip.compress(b"some content" * 100)[:cut] or b"\x1f")
    with pytest.raises(DataError, match=r"a\.jsonl\.gz: not a whole gzip file"):
        files.read(path)


def test_damage_inside_a_gzip_file_is_named(tmp_path: Path) -> None:
    content = bytearray(files.compress(os.urandom(1000)))
    content[500:600] = bytes(100)
    (tmp_path / "a.gz").write_bytes(content)
    with pytest.raises(DataError, match=r"a\.gz: not a whole gzip file"):
        files.read(tmp_path / "a.gz")


def test_replacing_leaves_no_temporary_file_and_honours_the_umask(tmp_path: Path) -> None:
    files.replace(tmp_path / "new" / "a", b"1")
    files.replace(tmp_path / "new" / "a", b"2")
    assert [path.name for path in (tmp_path / "new").iterdir()] == ["a"]
    assert (tmp_path / "new" / "a").read_bytes() == b"2"
    mask = os.umask(0)
    os.umask(mask)
    assert (tmp_path / "new" / "a").stat().st_mode & 0o777 == 0o666 & ~mask


def test_an_unchanged_file_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "a"
    files.replace(path, b"1")
    before = path.stat().st_ino
    files.replace(path, b"1")
    assert path.stat().st_ino == before
    files.replace(path, b"2")
    assert path.stat().st_ino != before


def test_a_folder_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(UsageError, match=r"cannot be written .*--data"):
        files.replace(tmp_path / "file" / "a", b"1")
