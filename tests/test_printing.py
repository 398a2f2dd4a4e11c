"""What commands print as CSV: one row a record, the figures of --json, and cells that no spreadsheet takes for a formula."""

import csv
import io
import json
from collections.abc import Mapping
from pathlib import Path

import click
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from judge import cli
from judge.cli import printing
from judge.cli.printing import Cell
from pools._dataset import tables
from tests.builders.command import judge
from tests.builders.fake_api import FakeApi
from tests.builders.rows import write_dataset
from tests.builders.samples import QUICK, as_experts, plain_sample

Capture = pytest.CaptureFixture[str]
CELLS = st.one_of(st.none(), st.integers(), st.floats(allow_nan=False, allow_infinity=False), st.text(max_size=8))


def rows_of(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text, newline="")))


@settings(max_examples=50)
@given(
    columns=st.lists(st.sampled_from("abcd"), min_size=2, max_size=4, unique=True),
    values=st.lists(st.lists(CELLS, min_size=4, max_size=4), min_size=1, max_size=4),
)
def test_what_is_written_reads_back(columns: list[str], values: list[list[Cell]]) -> None:
    header, *read = csv.reader(
        io.StringIO(printing.csv_text([dict(zip(columns, row, strict=False)) for row in values]), newline="")
    )
    assert header == columns
    for row, cells in zip(values, read, strict=True):
        for value, cell in zip(row, cells, strict=False):
            if isinstance(value, str):
                assert cell.removeprefix("'") == value.removeprefix("'")
                assert not cell.startswith(("=", "+", "-", "@", "\t"))
            elif value is None:
                assert cell == ""
            else:
                assert type(value)(cell) == value, "figures are unrounded"


def test_only_a_text_is_kept_from_being_a_formula() -> None:
    text = printing.csv_text([{"a": "=1+1", "b": -0.5, "c": "-x", "d": "a-b", "e": True, "f": None}])
    assert text == "a,b,c,d,e,f\n'=1+1,-0.5,'-x,a-b,true,\n"
    for begin in "=+-@\t\r":
        assert printing.csv_text([{"a": f"{begin}x", "b": 0}]).split("\n", 1)[1].lstrip('"').startswith(f"'{begin}")


def test_columns_stand_even_over_no_record() -> None:
    assert printing.csv_text([], ("a", "b")) == "a,b\n"


def commands(group: click.Group) -> dict[str, click.Command]:
    return {name: command for name, command in group.commands.items() if not isinstance(command, click.Group)}


def test_both_forms_at_once_are_a_usage_error(capfd: Capture, tmp_path: Path) -> None:
    both = {
        name: command
        for name, command in commands(cli.main).items()
        if {"as_json", "as_csv"} <= {option.name for option in command.params}
    }
    assert {"check", "compare", "gate", "log", "rate", "status", "tune"} <= both.keys()
    for name, command in both.items():
        arguments = ["x" for option in command.params if isinstance(option, click.Argument)]
        needed = [option for option in command.params if isinstance(option, click.Option) and option.required]
        arguments += [word for option in needed for word in (option.opts[0], "x")]
        done = judge(capfd, name, *arguments, "--data", tmp_path / "none", "--json", "--csv")
        assert (done.code, done.out) == (2, "")
        assert done.error == "judge: --json and --csv are two forms of the same; give one of them"


def test_faults_are_a_row_each(capfd: Capture, tmp_path: Path) -> None:
    write_dataset(tmp_path)
    assert judge(capfd, "check", "--data", tmp_path, "--csv").out == "fault\n"
    tables.write(tmp_path / "queries.jsonl.gz", [{"language": "python", "search_id": f"q{n}", "search": ""} for n in range(2)])
    done = judge(capfd, "check", "--data", tmp_path, "--csv")
    found = json.loads(judge(capfd, "check", "--data", tmp_path, "--json").out)["faults"]
    assert (done.code, [row["fault"] for row in rows_of(done.out)]) == (3, found)
    assert len(found) > 1


def figures(row: Mapping[str, str], document: Mapping[str, object], *names: str) -> None:
    """Check that figures of a row are those of a JSON object."""
    for name in names:
        value = document[name]
        assert row[name] == ("" if value is None else str(value)), name


def test_csv_has_the_figures_of_json(capfd: Capture, tmp_path: Path) -> None:
    folder = plain_sample(tmp_path / "sample", QUICK)
    common = ("--data", folder, "--lang", "python")
    assert judge(capfd, "pool", *common).code == 0
    assert judge(capfd, "log", *common, "--csv").out == "time,kind,language,judge_id,reason,details\n"
    assert rows_of(judge(capfd, "status", *common, "--csv").out)[0]["asked"] == ""
    with FakeApi(rate=as_experts(folder, "python", wrong=60)) as api:
        asked = ("--model", "m", "--base-url", api.url)
        plans = rows_of(judge(capfd, "rate", *common, *asked, "--dry-run", "--csv").out)
        document = json.loads(judge(capfd, "rate", *common, *asked, "--dry-run", "--json").out)["languages"][0]
        assert [row["purpose"] for row in plans] == ["validation", "pool"]
        for row in plans:
            figures(row, document[row["purpose"]], "pairs", "batches", "characters", "prompt_tokens", "completion_tokens")
        rated = rows_of(judge(capfd, "rate", *common, *asked, "--csv").out)
        document = json.loads(judge(capfd, "rate", *common, *asked, "--json").out)["languages"][0]
    figures(rated[0], document, "language", "judge_id", "model", "verdict", "f1", "pool_rated", "requests", "cost")
    assert (document["pool_rated"], rated[0]["failed"]) == (None, "0")

    gates = rows_of(judge(capfd, "gate", *common, "--csv").out)
    gate = json.loads((folder / "work" / "python" / "gate.json").read_bytes())
    figures(gates[0], gate, "language", "judge_id", "verdict", "threshold", "share", "searches", "expert_pairs")
    figures(gates[0], gate["agreement"], "precision", "recall", "f1", "kappa", "both", "same", "pairs")
    assert [float(gates[0][f"f1_{end}"]) for end in ("lower", "upper")] == gate["interval"]
    assert gates[0]["open"] == "false"
    done = judge(capfd, "gate", *common, "--details", "--csv")
    assert (done.code, "--json" in done.error) == (2, True)

    judge_id = document["judge_id"]
    compared = rows_of(judge(capfd, "compare", judge_id, judge_id, *common, "--csv").out)
    entry = json.loads(judge(capfd, "compare", judge_id, judge_id, *common, "--json").out)["languages"][0]
    figures(compared[0], entry, "pairs", "first", "second", "difference", "share", "corrected")
    assert (compared[0]["a_name"], compared[0]["b_requests"]) == (judge_id, str(entry["b"]["spending"]["requests"]))

    statuses = rows_of(judge(capfd, "status", *common, "--csv").out)
    entry = json.loads(judge(capfd, "status", *common, "--json").out)["languages"][0]
    figures(statuses[0], entry, "searches", "functions", "expert_pairs", "merged")
    figures(statuses[0], entry["judges"][0], "model", "rated", "requests", "prompt_tokens", "cost", "verdict")
    assert (statuses[0]["asked"], statuses[0]["id"], len(statuses)) == ("judge", judge_id, 1)

    assert judge(capfd, "merge", *common, "--override", "=agreed").code == 0
    events = rows_of(judge(capfd, "log", *common, "--csv").out)
    assert [(row["kind"], row["reason"]) for row in events] == [("override", "'=agreed"), ("merge", "")]


def test_a_combination_is_a_row(capfd: Capture, tmp_path: Path) -> None:
    folder = plain_sample(tmp_path / "sample", QUICK)
    common = ("tune", "--data", folder, "--lang", "python", "--pairs", 20, "--pairs", 40, "--print-only")
    with FakeApi(rate=as_experts(folder, "python", wrong=10)) as api:
        asked = ("--model", "m", "--base-url", api.url)
        rows = rows_of(judge(capfd, *common, *asked, "--csv").out)
        entries = json.loads(judge(capfd, *common, *asked, "--json").out)["combinations"]
    for row, entry in zip(rows, entries, strict=True):
        figures(row, entry, "model", "prompt", "pairs_per_batch", "judge_id", "unrated", "requests", "cost")
        assert (float(row["f1"]), row["chosen"]) == (entry["f1"]["value"], str(entry["chosen"]).lower())
        assert [float(row[f"area_{end}"]) for end in ("lower", "upper")] == entry["area"]["interval"]
    assert rows[0]["flips"] == ""
