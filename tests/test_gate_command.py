"""`judge gate` with what stands behind it, and the way of further expert ratings: suggested, filled in, imported, sealed."""

import csv
import json
import re
from pathlib import Path

import pytest

from judge._ledger import placement
from judge._ledger.ledger import Ledger
from pools._dataset import dataset
from prompts import scales
from tests.builders.command import judge
from tests.builders.fake_api import FakeApi
from tests.builders.samples import QUICK, as_experts, plain_sample

Capture = pytest.CaptureFixture[str]


@pytest.fixture
def rated(capfd: Capture, tmp_path: Path) -> Path:
    """The sample, its Python pool rated by a judge that is right but for ten expert-rated pairs."""
    folder = tmp_path / "sample"
    plain_sample(folder, QUICK)
    (folder / "judge.toml").write_text('[pool]\nretrievers = ["grep-agent", "grep-all", "grep-any"]\n', encoding="utf-8")
    judge(capfd, "pool", "--data", folder, "--lang", "python")
    with FakeApi(rate=as_experts(folder, "python", wrong=10)) as api:
        done = judge(capfd, "rate", "--data", folder, "--lang", "python", "--model", "m", "--base-url", api.url)
    assert done.code == 0, done.err
    return folder


def test_details_show_what_stands_behind_the_verdict(capfd: Capture, rated: Path) -> None:
    found = json.loads(judge(capfd, "gate", "--data", rated, "--lang", "python", "--json").out)["gates"][0]
    details = found["details"]
    assert 0.5 < details["baseline_f1"] < found["agreement"]["f1"]
    by = {entry["dimension"]: {group["name"]: group["pairs"] for group in entry["groups"]} for entry in details["breakdowns"]}
    assert sum(by["place in the batch"].values()) == sum(by["search"].values()) == found["expert_pairs"] == 168
    assert {"grep-agent", "grep-all", "grep-any", "none"} == set(by["retriever"])
    assert details["needed"] == {"pairs": 0, "relevant": 0}


def test_a_gate_measured_in_small_batches_can_be_refused(capfd: Capture, rated: Path) -> None:
    """168 pairs are four batches of 40 and one of 8, or 24 of 7; what a panel says of a pair is as good as its worst member."""
    settings = (rated / "judge.toml").read_text(encoding="utf-8")
    for least, code in ((160 / 168, 0), (0.96, 1)):
        (rated / "judge.toml").write_text(f"{settings}[gate]\nfull_batches = {least}\n", encoding="utf-8")
        done = judge(capfd, "gate", "--data", rated, "--lang", "python", "--reseal", "asked for", "--json")
        [gate] = json.loads(done.out)["gates"]
        [condition] = gate["conditions"]
        assert (done.code, condition["name"], condition["value"]) == (code, "full_batches", 160 / 168)
        assert judge(capfd, "merge", "--data", rated, "--lang", "python").code == code
    path = rated / "work" / "python" / "judgements.jsonl"
    first = Ledger.read(path).judges()[0]
    sevens = f"{settings}[judge]\npairs_per_batch = 7\n[gate]\nfull_batches = 0.96\n"
    (rated / "judge.toml").write_text(sevens, encoding="utf-8")
    with FakeApi(rate=as_experts(rated, "python", wrong=10)) as api:
        judge(capfd, "rate", "--data", rated, "--lang", "python", "--model", "m", "--base-url", api.url)
    found = json.loads(judge(capfd, "gate", "--data", rated, "--lang", "python", "--json").out)["gates"][0]
    assert (found["judge_id"] != first, found["conditions"][0]["value"]) == (True, 1.0)
    both = (first, found["judge_id"])
    assert judge(capfd, "panel", *both, "--method", "median", "--data", rated, "--lang", "python").code == 0
    found = json.loads(judge(capfd, "gate", "--data", rated, "--lang", "python", "--json").out)["gates"][0]
    assert (found["verdict"], found["conditions"][0]["value"]) == ("missed", 160 / 168)


def test_places_are_those_of_the_first_rating(rated: Path) -> None:
    path = rated / "work" / "python" / "judgements.jsonl"
    ledger = Ledger.read(path)
    judge_id = ledger.judges()[0]
    places = placement.first(path, judge_id)
    assert places.keys() == ledger.ratings(judge_id).keys()
    assert set(places.values()) == set(range(1, 41))
    assert placement.first(path, "another") == {}


def test_an_uncertain_verdict_says_how_many_labels_would_settle_it(capfd: Capture, csn: Path) -> None:
    out = judge(capfd, "gate", "--data", csn, "--lang", "go").out
    assert "more expert-rated pairs (" in out.splitlines()[-2]
    assert "more expert-rated pairs" not in judge(capfd, "gate", "--data", csn, "--lang", "java").out


def test_all_languages_together_are_reported_too(capfd: Capture, csn: Path) -> None:
    found = json.loads(judge(capfd, "gate", "--data", csn, "--json").out)
    pairs = {entry["language"]: entry["agreement"]["pairs"] for entry in found["gates"]}
    assert {group["name"]: group["pairs"] for group in found["together"]["breakdown"]["groups"]} == pairs
    assert found["together"]["levels"]["pairs"] == sum(pairs.values())
    done = judge(capfd, "gate", "--data", csn, "--details")
    assert done.code == 1
    for line in ("F1 between floor and ceiling", "not run (no corpus)", "leniency", "search ", "All languages together"):
        assert line in done.out
    plain = judge(capfd, "gate", "--data", csn, "--lang", "python").out
    assert plain.splitlines()[-1] in done.out.splitlines()


def test_suggested_pairs_come_back_as_expert_ratings_and_ask_for_a_new_seal(capfd: Capture, rated: Path) -> None:
    sheet = rated / "to-rate.csv"
    common = ["--data", rated, "--lang", "python"]
    assert judge(capfd, "gate", *common, "--suggest", 5).code == 2
    assert judge(capfd, "gate", "--data", rated, "--suggest", 5, "--out", sheet).code == 2
    assert judge(capfd, "gate", *common, "--suggest", 12, "--out", sheet).code == 0
    before = dataset.load(rated, scales.load("relevance"))
    with sheet.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    pairs = {(row["search_id"], row["function_id"]) for row in rows}
    assert len(pairs) == 12
    assert not pairs & before.experts_of("python").keys()
    give = ["import", "ratings", sheet, "--data", rated, "--rater", "anna"]
    assert "no row has a rating" in judge(capfd, *give, "--date", "2026-05-31").error
    for number, row in enumerate(rows[:10]):
        row["rating"] = str(number % 4)
    _write(sheet, rows)
    assert "no date" in judge(capfd, *give, "--date", "31.5.2026").error
    done = judge(capfd, *give, "--date", "2026-05-31")
    assert (done.code, "--reseal" in done.err) == (0, True)
    after = dataset.load(rated, scales.load("relevance"))
    assert len(after.experts_of("python")) == len(before.experts_of("python")) + 10
    kept = {pair: given for pair, given in after.experts_of("python").items() if pair not in pairs}
    assert kept == before.experts_of("python")
    assert "was imported before" in judge(capfd, *give, "--date", "2026-05-31").err
    assert "10 ratings by anna of 2026-05-31" in judge(capfd, "log", *common).out

    done = judge(capfd, "gate", *common)
    assert "the expert ratings are sealed as" in done.out
    assert "--reseal REASON" in done.out
    assert (done.code, "the gate stays closed" in done.error) == (1, True)
    assert "178 of 178 expert-rated" in done.out
    assert judge(capfd, "merge", *common).code == 1
    assert judge(capfd, "gate", *common, "--reseal", "ratings by anna added").code == 0
    assert judge(capfd, "merge", *common).code == 0
    merged = dataset.load(rated, scales.load("relevance"))
    added = {qrel.pair: qrel for qrel in merged.qrels_of("python") if qrel.extra.get("raters")}
    assert len(added) == 10
    assert all(qrel.source == "expert" and qrel.judge_rating is not None for qrel in added.values())


def test_a_sheet_off_the_scale_changes_nothing(capfd: Capture, rated: Path) -> None:
    sheet = rated / "to-rate.csv"
    judge(capfd, "gate", "--data", rated, "--lang", "python", "--suggest", 3, "--out", sheet)
    with sheet.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    rows[1]["rating"] = "4"
    _write(sheet, rows)
    before = (rated / "qrels.jsonl").read_bytes()
    done = judge(capfd, "import", "ratings", sheet, "--data", rated, "--rater", "anna", "--date", "2026-05-31")
    assert (done.code, "row 3: rating '4'" in done.error) == (3, True)
    assert (rated / "qrels.jsonl").read_bytes() == before
    assert not (rated / "work" / "python" / "log.jsonl").exists()


def test_nothing_is_suggested_where_the_judge_rated_no_pool(capfd: Capture, csn: Path, tmp_path: Path) -> None:
    done = judge(capfd, "gate", "--data", csn, "--lang", "go", "--suggest", 3, "--out", tmp_path / "x.csv")
    assert (done.code, "--continue" in done.err) == (2, True)
    assert not (tmp_path / "x.csv").exists()


def _write(path: Path, rows: list[dict[str, str]]) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)


def test_the_csn_gates_have_the_published_figures_and_exit_codes(capfd: Capture, csn: Path) -> None:
    readme = (csn / "README.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (\w+) \| (\d+ \|.*) \|$", readme, re.MULTILINE)
    assert [name for name, _ in rows] == ["python", "java", "javascript", "php", "ruby", "go"]
    before = {path.name: path.stat().st_mtime_ns for path in csn.iterdir()}
    for language, rest in rows:
        pairs, judged, experts, both, same, precision, recall, f1, verdict, kappa, always = rest.split(" | ")
        done = judge(capfd, "gate", "--data", csn, "--lang", language)
        for line in (
            rf"pairs +{pairs} of {pairs} expert-rated",
            rf"judge relevant +{judged}",
            rf"experts relevant +{experts}",
            rf"both relevant +{both}",
            rf"same verdict +{re.escape(same)}",
            rf"precision +{precision}",
            rf"recall +{recall}",
            rf"F1 +{f1}",
            rf"kappa +{kappa}",
            rf"F1 of always relevant +{always}",
        ):
            assert re.search(rf"^{line}(,|$)", done.out, re.MULTILINE), (language, line, done.out)
        assert re.search(rf"^{language}: F1 {f1} (<|>=) 0\.67: {verdict} ", done.out, re.MULTILINE)
        assert done.code == (0 if verdict == "passed" else 1)
    assert {path.name: path.stat().st_mtime_ns for path in csn.iterdir()} == before
    done = judge(capfd, "gate", "--data", csn)
    assert done.code == 1
    assert len(done.out.splitlines()) == 7
    between = judge(capfd, "gate", "--data", csn, "--lang", "python").out
    assert "597 (70%) of 848 the same, F1 0.711" in between


def test_a_gate_as_json_has_every_figure(capfd: Capture, csn: Path) -> None:
    done = judge(capfd, "gate", "--data", csn, "--lang", "go", "--json")
    found = json.loads(done.out)
    assert (done.code, found["passed"]) == (1, False)
    assert round(found["gates"][0]["agreement"]["f1"], 4) == 0.6292
