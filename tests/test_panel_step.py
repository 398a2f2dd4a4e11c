"""The step `panel` as Python calls it."""

from pathlib import Path

from judge._ledger.ledger import Ledger
from judge.steps.gate import gate
from judge.steps.panel import panel
from pools._dataset.folder import load
from tests.builders.samples import rate_python


def test_a_panel_is_a_judge_of_its_own(pooled_sample: Path) -> None:
    ids = [rate_python(pooled_sample, "python", wrong=wrong, model=f"m{wrong}")[0].judge_id for wrong in (10, 20, 30)]
    made = panel(load(pooled_sample)["python"], ids, method="median")
    assert (made.language, made.method, made.judges) == ("python", "median", 3)
    assert Ledger.read(load(pooled_sample)["python"].ledger_path).judges()[-1] == made.judge_id
    assert panel(load(pooled_sample)["python"], ids[::-1], method="median") == made
    (gated,) = gate(load(pooled_sample, ["python"]))
    assert gated.record.judge_id == made.judge_id
