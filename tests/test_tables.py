"""Tables as .jsonl, .jsonl.gz and .parquet: round trips, places of faults, the same bytes."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pools._dataset import tables
from pools.errors import DataError

TEXT = st.text(st.characters(exclude_characters="\0"))
VALUES: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.floats(allow_nan=False, allow_infinity=False) | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=6,
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(rows=st.lists(st.dictionaries(TEXT, VALUES, max_size=4), max_size=5), suffix=st.sampled_from([".jsonl", ".jsonl.gz"]))
def test_json_lines_round_trip(tmp_path: Path, rows: list[dict[str, Any]], suffix: str) -> None:
    path = tmp_path / ("t" + suffix)
    tables.write(path, rows)
    assert [row for _, row in tables.read(path)] == rows
    first = path.read_bytes()
    path.unlink()
    tables.write(path, rows)
    assert path.read_bytes() == first


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    rows=st.lists(
        st.fixed_dictionaries(
            {"id": TEXT.filter(str.isprintable), "n": st.none() | st.integers(0, 3), "l": st.lists(st.integers(0, 3))}
        ),
        min_size=1,
        max_size=5,
    )
)
def test_parquet_round_trip(tmp_path: Path, rows: list[dict[str, Any]]) -> None:
    path = tmp_path / "t.parquet"
    tables.write(path, rows)
    assert [row for _, row in tables.read(path)] == rows
    first = path.read_bytes()
    path.unlink()
    tables.write(path, rows)
    assert path.read_bytes() == first


def test_text_that_looks_like_line_ends_stays_in_its_row(tmp_path: Path) -> None:
    rows = [{"a": "x\u2028y\x85z\x1cw\r\n"}, {"a": "\ud800 lone"}]
    tables.write(tmp_path / "t.jsonl", rows)
    assert tables.read(tmp_path / "t.jsonl") == [(f"{tmp_path}/t.jsonl:1", rows[0]), (f"{tmp_path}/t.jsonl:2", rows[1])]


def test_a_byte_order_mark_and_windows_line_ends_are_read(tmp_path: Path) -> None:
    (tmp_path / "t.jsonl").write_bytes(b'\xef\xbb\xbf{"a": 1}\r\n{"a": 2}\r\n')
    assert [row for _, row in tables.read(tmp_path / "t.jsonl")] == [{"a": 1}, {"a": 2}]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (b"a,b,c", "not JSON"),
        (b"", "not JSON"),
        (b"[1]", "a JSON list"),
        (b'{"a": NaN}', "NaN is no JSON number"),
        (b'{"a": "\0"}', "NUL byte"),
        (b'{"a": "\xff"}', "not UTF-8"),
        (b"[" * 100_000, "not JSON"),
    ],
)
def test_a_line_at_fault_is_named(tmp_path: Path, line: bytes, message: str) -> None:
    path = tmp_path / "t.jsonl"
    path.write_bytes(b'{"a": 1}\n' + line + b'\n{"a": 2}\n')
    with pytest.raises(DataError, match=rf"t\.jsonl:2: .*{message}"):
        tables.read(path)
    collected: list[str] = []
    assert [row for _, row in tables.read(path, collected.append)] == [{"a": 1}, {"a": 2}]
    assert len(collected) == 1


def test_two_forms_of_one_table_are_refused(tmp_path: Path) -> None:
    assert tables.find(tmp_path, "t") is None
    tables.write(tmp_path / "t.jsonl", [{"a": 1}])
    assert tables.find(tmp_path, "t") == tmp_path / "t.jsonl"
    tables.write(tmp_path / "t.jsonl.gz", [{"a": 1}])
    with pytest.raises(DataError, match=r"both t\.jsonl and t\.jsonl\.gz"):
        tables.find(tmp_path, "t")


def test_a_damaged_parquet_file_is_named(tmp_path: Path) -> None:
    (tmp_path / "t.parquet").write_bytes(b"PAR1 not really")
    with pytest.raises(DataError, match=r"t\.parquet: not a readable Parquet file"):
        tables.read(tmp_path / "t.parquet")
    with pytest.raises(DataError, match="mixed types"):
        tables.write(tmp_path / "u.parquet", [{"a": 1}, {"a": "x"}])
    assert not (tmp_path / "u.parquet").exists()


def test_lines_are_plain_utf8_json() -> None:
    assert tables.lines([{"b": "é", "a": [1, None]}]) == '{"b": "é", "a": [1, null]}\n'.encode()
    assert json.loads(tables.line({"a": "\ud800"})) == {"a": "\ud800"}
