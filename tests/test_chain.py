"""The ledger's lines: any record survives one, and a line follows one line only."""

import json
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from judge._ledger import chain
from judge._ledger.chain import End
from pools._dataset import files
from tests.builders.texts_shown import batch, reply, write

values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=5,
)


@given(st.lists(st.dictionaries(st.text(alphabet=st.characters()), values, min_size=1, max_size=4), min_size=1, max_size=5))
def test_any_record_survives_a_line(records: list[dict[str, object]]) -> None:
    previous = chain.FIRST
    for record in records:
        record.pop("chain", None)
        record["kind"] = "x"
        text, last = chain.line(record, previous)
        assert text.count(b"\n") == 1
        assert chain.follows(text[:-1], previous) == last
        assert chain.follows(text[:-1], "f" * 16) is None
        assert json.loads(text) == record | {"chain": last}
        previous = last


def test_a_scan_pins_every_byte(tmp_path: Path) -> None:
    path = tmp_path / "l.jsonl"
    write(path, reply(batch(("q0", "f0")), 2), reply(batch(("q1", "f0")), 1))
    content, end = path.read_bytes(), End()
    with path.open("rb") as file:
        heads = [json.dumps(record) and end.chain for record in chain.scan(file, path, end=end)]
    assert len(set(heads)) == end.lines == content.count(b"\n")
    assert end.digest.hexdigest() == files.sha256(content)
