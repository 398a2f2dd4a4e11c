"""What stands behind the ratings of a language, and what it lets leave."""

from pathlib import Path

import pytest

from gates._release import publication
from gates._verdict import evidence
from gates._verdict.evidence import Evidence
from gates._verdict.seal import Seal
from judge._ledger.texts import Change
from pools._dataset.dataset import Dataset
from pools._dataset.records import Function, Qrel, Query
from pools._dataset.settings import GateSettings
from pools.errors import GateClosed


def test_export_says_whose_text_changed_and_lets_nothing_out(tmp_path: Path) -> None:
    (tmp_path / "work" / "go").mkdir(parents=True)
    row = Qrel("go", "q0", "f0", 2.0, True, "judge", (), 2, "pooled")
    data = Dataset(tmp_path, (Query("go", "q0", "read a file"),), (Function("f0", "go", "def f(): return"),), (row,))
    held = Evidence("judge", {}, Seal(GateSettings(), 2.0), changed={("q0", "f0"): Change(search=False, function=True)})
    with pytest.raises(GateClosed, match="q0 f0 was rated on another text of its function than there is now"):
        publication.check(data, "go", evidence=held, settings=None)  # type: ignore[arg-type]
    line = evidence.changed_texts("go", held.changed)
    assert line is not None
    assert line.startswith("1 pair was rated on texts that have changed since (function f0)")
    assert line in evidence.verdict(data, "go", evidence=held).notes
    many = {(f"q{n % 2}", f"f{n:02}"): Change(n < 2, n > 0) for n in range(20)}
    line = evidence.changed_texts("go", many)
    assert line is not None
    assert "f10 and 9 more; searches q0, q1" in line
    assert evidence.changed_texts("go", {}) is None
