"""The frame: which drawing a function came with, through files and through changes of the corpus."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pools._dataset import tables
from pools._sampling import frame
from pools._sampling.frame import Frame
from pools.errors import DataError


def test_new_functions_get_the_next_number_and_lost_ones_are_forgotten() -> None:
    first = frame.of(["b", "a"], 3)
    assert first == Frame(3, {"a": 0, "b": 0}, frozenset("ab"))
    second = frame.grown(first, ["c", "a"])
    assert second == Frame(3, {"a": 0, "c": 1}, frozenset("c"))
    assert frame.grown(second, ["a", "b", "c"]) == Frame(3, {"a": 0, "b": 2, "c": 1}, frozenset("b"))
    assert frame.grown(second, ["a", "c"]) == Frame(3, {"a": 0, "c": 1}, frozenset())


@given(st.dictionaries(st.text(max_size=3), st.integers(0, 9), min_size=1), st.integers(0, 2**70))
def test_files_round_trip_whatever_the_order(
    tmp_path_factory: pytest.TempPathFactory, drawings: dict[str, int], seed: int
) -> None:
    path = frame.path(tmp_path_factory.mktemp("frame"), "go")
    frame.write(path, Frame(seed, drawings, frozenset(drawings)))
    content = path.read_bytes()
    assert frame.read(path) == Frame(seed, drawings, frozenset())
    frame.write(path, Frame(seed, dict(reversed(drawings.items())), frozenset()))
    assert path.read_bytes() == content


def test_no_file_and_no_function_are_no_frame_and_another_file_is_named(tmp_path: Path) -> None:
    path = frame.path(tmp_path, "go")
    assert frame.read(path) is None
    frame.write(path, frame.of([], 1))
    assert frame.read(path) is None
    for rows in ([{"function_id": "f"}], [{"function_id": "f", "drawing": 0, "seed": seed} for seed in ("1", "2")]):
        tables.write(path, rows)
        with pytest.raises(DataError, match=r"frame\.parquet: not the functions .* delete it and the pool"):
            frame.read(path)
