"""The step that takes in the ratings of a sheet, as Python calls it."""

from pathlib import Path

from judge.steps.gate import gate, suggest
from judge.steps.ratings import Added, add
from pools._dataset.folder import load
from tests.builders.samples import rate_python


def test_ratings_of_a_sheet_come_back_as_expert_ratings(pooled_sample: Path) -> None:
    rate_python(pooled_sample, "python")
    (gated,) = gate(load(pooled_sample, ["python"]))
    sheet = pooled_sample.parent / "sheet.csv"
    assert suggest(gated, 3, out=sheet).pairs == 3
    (sheet).write_text(sheet.read_text(encoding="utf-8").replace(",,", ",3,"), encoding="utf-8")
    assert add(load(pooled_sample), sheet, rater=" A ", date="2026-05-31") == (Added("python", 3, "A", "2026-05-31", True),)
    (gated,) = gate(load(pooled_sample, ["python"]))
    assert not gated.passed
