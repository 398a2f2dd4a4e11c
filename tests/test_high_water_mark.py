"""How far a ledger had got, in a file beside it."""

from pathlib import Path

import pytest

from judge._ledger import high_water_mark
from pools.errors import DataError


@pytest.mark.parametrize("content", ["", "[1]", '{"size": "1", "last": "a"}', '{"size": 1}'])
def test_a_high_water_mark_that_is_none_is_named(tmp_path: Path, content: str) -> None:
    path = high_water_mark.path(tmp_path / "l.jsonl")
    assert high_water_mark.read(path) is None
    path.write_text(content, encoding="utf-8")
    with pytest.raises(DataError, match=r"extent\.json: not how far a ledger had got"):
        high_water_mark.read(path)
