"""A measure added through the registry alone: shown, recorded and resampled, and no record without it is called edited."""

import json
import re
import shutil
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import jaccard_score, matthews_corrcoef

from gates._measures import further
from gates._measures.further import FurtherFigure
from gates._verdict import gate_record
from pools._dataset.settings import GateSettings
from tests.builders.command import Finished, judge, process
from tests.builders.with_registered import JACCARD, MATTHEWS

Capture = pytest.CaptureFixture[str]
rows = st.lists(st.tuples(*[st.integers(0, 6)] * 4), max_size=12)


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The demo, run: two languages that a judge rated, gated and merged."""
    folder = tmp_path_factory.mktemp("further") / "demo"
    assert process("demo", folder).code == 0
    return folder


@pytest.fixture
def rated(demo: Path, tmp_path: Path) -> Path:
    """A copy of the demo that a test may change."""
    return Path(shutil.copytree(demo, tmp_path / "rated"))


def extended(*arguments: object) -> Finished:
    """Run a command in which the further measures are registered."""
    return process(*arguments, module="tests.builders.with_registered")


def counts_of(gate: dict[str, dict[str, int]]) -> list[int]:
    """The four counts behind a gate record."""
    given = gate["agreement"]
    judge_only, expert_only = given["judge_relevant"] - given["both"], given["expert_relevant"] - given["both"]
    return [given["both"], judge_only, expert_only, given["pairs"] - given["both"] - judge_only - expert_only]


def test_an_added_measure_is_shown_and_recorded_and_resampled(capfd: Capture, rated: Path) -> None:
    path = rated / "work" / "python" / "gate.json"
    common = ("gate", "--data", rated, "--lang", "python")
    judge(capfd, *common)
    before = json.loads(path.read_text("utf-8"))
    found = json.loads(extended(*common, "--json").out)["gates"][0]
    truth, judged = [1, 0, 1, 0], [1, 1, 0, 0]
    weights = counts_of(found)
    theirs = [score(truth, judged, sample_weight=weights) for score in (jaccard_score, matthews_corrcoef)]
    jaccard, matthews = found["further"]
    assert (jaccard["name"], matthews["name"]) == ("jaccard", "matthews")
    assert [jaccard["value"], matthews["value"]] == pytest.approx(theirs)
    low, high = jaccard["interval"]
    assert low < jaccard["value"] < high
    assert matthews["interval"] is None
    after = json.loads(path.read_text("utf-8"))
    assert after == before | {"further": found["further"]}
    shown = [re.split(" {2,}", line) for line in extended(*common).out.splitlines()]
    assert ["Jaccard index", f"{jaccard['value']:.2%} ({low:.3f}-{high:.3f})"] in shown
    assert ["Matthews' correlation", f"{matthews['value']:.4f}"] in shown


def test_an_added_measure_is_a_column_of_the_table(capfd: Capture, demo: Path) -> None:
    plain, wider = (run("gate", "--data", demo).out for run in (lambda *given: judge(capfd, *given), extended))
    assert "Jaccard  Matthews' correlation" in wider.splitlines()[0]
    assert [line.split()[-2:] for line in wider.splitlines()] == [line.split()[-2:] for line in plain.splitlines()]


def test_records_with_and_without_it_open_the_gate_alike(capfd: Capture, rated: Path) -> None:
    path = rated / "work" / "python" / "gate.json"
    common = ("--data", rated, "--lang", "python")
    judge(capfd, "gate", *common)
    without = path.read_bytes()
    assert extended("merge", *common).code == 0
    assert path.read_bytes() == without
    extended("gate", *common)
    assert b'"jaccard"' in path.read_bytes()
    assert judge(capfd, "merge", *common).code == 0
    assert judge(capfd, "export", "--data", rated).code == 0
    assert judge(capfd, "status", *common).code == 0
    # The same bytes again, once it is given up.
    judge(capfd, "gate", *common)
    assert path.read_bytes() == without


def test_a_further_figure_written_by_hand_is_found(rated: Path) -> None:
    path = rated / "work" / "python" / "gate.json"
    common = ("--data", rated, "--lang", "python")
    extended("gate", *common)
    record = json.loads(path.read_text("utf-8"))
    record["further"][0]["value"] = 1.0
    path.write_text(json.dumps(record), "utf-8")
    done = extended("merge", *common)
    assert (done.code, "the gate record does not follow from the ratings (further): it was edited" in done.error) == (1, True)


@pytest.mark.parametrize("broken", [[3], [{"name": "x"}], {"a": 1}, 7])
def test_what_is_no_further_figure_is_no_record(capfd: Capture, rated: Path, broken: object) -> None:
    path = rated / "work" / "python" / "gate.json"
    common = ("--data", rated, "--lang", "python")
    judge(capfd, "gate", *common)
    path.write_text(json.dumps(json.loads(path.read_text("utf-8")) | {"further": broken}), "utf-8")
    done = judge(capfd, "merge", *common)
    assert (done.code, "not a gate record" in done.error) == (1, True)


@given(rows)
def test_values_are_those_of_the_sums_and_intervals_hold_them_or_are_none(given_rows: list[tuple[int, ...]]) -> None:
    confusion = np.array(given_rows, np.int64).reshape(-1, 4)
    jaccard, again = further.figures(confusion, [JACCARD, JACCARD], resamples=50, seed=1)
    assert jaccard == again
    assert jaccard.value == JACCARD.scalar(confusion.sum(axis=0))
    if jaccard.interval is not None:
        assert 0 <= jaccard.interval[0] <= jaccard.interval[1] <= 1
    [matthews] = further.figures(confusion[:1], [MATTHEWS], resamples=50, seed=1)
    assert matthews.interval is None


def test_an_interval_is_undefined_where_a_resample_has_no_value() -> None:
    # One search of two has relevant pairs, so some resamples hold none.
    [found] = further.figures(np.array([[5, 1, 0, 0], [0, 0, 0, 5]]), [JACCARD], resamples=200, seed=1)
    assert found == FurtherFigure("jaccard", 5 / 6, None)


def test_records_are_compared_in_what_both_have_whatever_the_order() -> None:
    one = (FurtherFigure("b", 1.0), FurtherFigure("a", 2.0), FurtherFigure("c", 3.0))
    other = (FurtherFigure("a", 2.0), FurtherFigure("b", 1.0))
    assert further.compared(one, other) == further.compared(other, one)
    assert further.compared((*one, FurtherFigure("a", 2.5)), other) != further.compared(other, one)


def test_a_record_without_further_figures_keeps_its_form(tmp_path: Path) -> None:
    experts, ratings = {("q", "a"): (3,), ("q", "b"): (0,)}, {("q", "a"): 3, ("q", "b"): 1}
    gate = GateSettings(resamples=10)
    record = gate_record.assess("go", experts, ratings=ratings, gate=gate, relevant_from=2, seed=1, judge_id=None)
    gate_record.write(tmp_path / "gate.json", record)
    assert "further" not in json.loads((tmp_path / "gate.json").read_text("utf-8"))
