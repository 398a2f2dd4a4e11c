"""A text replaced after the verdict: its ratings stay in until they are given anew; and what pins a ledger."""

import json
from pathlib import Path

import pytest

from judge._ledger import anchor
from judge._ledger.ledger import Ledger
from judge._ledger.texts import Texts
from pools._dataset import dataset, files, tables
from prompts import scales
from tests.builders.command import judge
from tests.builders.fake_api import FakeApi
from tests.builders.samples import QUICK, as_experts, plain_sample

GO = ("--lang", "go")
UNRATED = "go/0003"
"""A function that no expert rates here, though several retrievers return it."""


@pytest.fixture
def merged(capfd: pytest.CaptureFixture[str], tmp_path: Path) -> Path:
    """The sample, Go pooled, rated by an LLM as the experts did, and merged."""
    folder = plain_sample(tmp_path / "sample", QUICK + '\n[judge]\nmodel = "m"\n')
    rows = [row for _, row in tables.read(folder / "qrels.jsonl")]
    tables.write(folder / "qrels.jsonl", [row for row in rows if row["function_id"] != UNRATED])
    with FakeApi(rate=as_experts(folder, "go")) as api:
        assert judge(capfd, "pool", "--data", folder, *GO, "--base-url", api.url).code == 0
        assert judge(capfd, "rate", "--data", folder, *GO, "--base-url", api.url).code == 0
    assert judge(capfd, "merge", "--data", folder, *GO).code == 0
    assert judge(capfd, "export", "--data", folder).code == 0
    return folder


def change(folder: Path, table: str, column: str, name: str) -> None:
    """Write one more line under a function's code, or one more word behind a search."""
    path = folder / f"{table}.jsonl"
    rows = [row for _, row in tables.read(path)]
    [row] = [row for row in rows if row[column] == name and row["language"] == "go"]
    if table == "corpus":
        row["code"] += "\n// and more"
        row["sha256"] = files.sha256(row["code"].encode())
    else:
        row["search"] += " quickly"
    tables.write(path, rows)


def texts(folder: Path) -> Texts:
    data = dataset.load(folder, scales.load("relevance"))
    return Texts.of(data.queries_of("go"), data.functions_of("go"))


def test_code_replaced_after_the_verdict_stays_in_until_it_is_rated(capfd: pytest.CaptureFixture[str], merged: Path) -> None:
    name = UNRATED
    assert any(qrel["function_id"] == name for _, qrel in tables.read(merged / "qrels.jsonl"))
    before = {path.name: path.read_bytes() for path in (merged / "export").iterdir()}
    change(merged, "corpus", "id", name)
    done = judge(capfd, "gate", "--data", merged, *GO)
    assert done.code == 0, "no expert-rated pair is touched, so the verdict on the judge stands"
    assert f"have changed since (function {name}), so the gate is closed for" in done.out
    refused = judge(capfd, "export", "--data", merged)
    assert refused.code == 1
    assert f"{name} was rated on another text of its function than there is now" in refused.error
    assert {path.name: path.read_bytes() for path in (merged / "export").iterdir()} == before
    again = judge(capfd, "merge", "--data", merged, *GO)
    assert (again.code, f"have changed since (function {name})" in again.err) == (0, True)
    assert all(row["function_id"] != name or row["source"] == "expert" for _, row in tables.read(merged / "qrels.jsonl"))
    assert judge(capfd, "export", "--data", merged).code == 0
    assert f"have changed since (function {name})" in judge(capfd, "status", "--data", merged, *GO).out
    asked_again(capfd, merged, {name})


def asked_again(capfd: pytest.CaptureFixture[str], folder: Path, functions: set[str], searches: tuple[str, ...] = ()) -> None:
    """Rating again asks for the pairs of these texts and for no other, but canaries; then everything is as at first."""
    ledger = folder / "work" / "go" / "judgements.jsonl"
    [judge_id] = Ledger.read(ledger).judges()
    known = Ledger.read(ledger, texts=texts(folder)).tally(judge_id)
    open_pairs = set(known.changed)
    assert {function_id for _, function_id in open_pairs} == functions if functions else open_pairs
    with FakeApi(rate=as_experts(folder, "go")) as api:
        assert judge(capfd, "rate", "--data", folder, *GO, "--base-url", api.url).code == 0
        asked = [pair for request in api.requests for pair in request.pairs.values()]
    data = dataset.load(folder, scales.load("relevance"))
    experts = {(search_id, function_id) for search_id, function_id in data.experts_of("go")}
    now = Ledger.read(ledger, texts=texts(folder)).tally(judge_id)
    assert now.changed == {}
    new = {pair for pair in now.ratings if pair not in known.ratings}
    assert new == open_pairs
    assert len(asked) <= len(open_pairs) + len(now.repeats) - len(known.repeats)
    assert {repeat.pair for repeat in now.repeats[len(known.repeats) :]} - experts <= now.ratings.keys()
    assert judge(capfd, "gate", "--data", folder, *GO).code == 0
    assert judge(capfd, "merge", "--data", folder, *GO).err == ""
    assert judge(capfd, "export", "--data", folder).code == 0


@pytest.mark.parametrize("what", ["function", "search"])
def test_an_expert_rated_text_that_changed_leaves_the_verdict_incomplete(
    capfd: pytest.CaptureFixture[str], merged: Path, what: str
) -> None:
    search_id, function_id = min(dataset.load(merged, scales.load("relevance")).experts_of("go"))
    if what == "function":
        change(merged, "corpus", "id", function_id)
    else:
        change(merged, "queries", "search_id", search_id)
    done = judge(capfd, "gate", "--data", merged, *GO)
    assert (done.code, "incomplete" in done.out) == (1, True)
    named = f"function {function_id}" if what == "function" else f"search {search_id}"
    assert f"({named})" in done.out
    document = json.loads(judge(capfd, "gate", "--data", merged, *GO, "--json").out)
    [shown] = document["gates"]
    assert shown["changed_texts"]["functions" if what == "function" else "searches"] == [
        function_id if what == "function" else search_id
    ]
    assert shown["changed_texts"]["pairs"] > 0
    refused = judge(capfd, "merge", "--data", merged, *GO)
    assert (refused.code, "validation is incomplete" in refused.err) == (1, True)
    asked_again(capfd, merged, {function_id} if what == "function" else set())


def test_a_text_changed_back_brings_its_first_rating_back(capfd: pytest.CaptureFixture[str], merged: Path) -> None:
    corpus, qrels = (merged / "corpus.jsonl").read_bytes(), (merged / "qrels.jsonl").read_bytes()
    change(merged, "corpus", "id", UNRATED)
    # A judge that now rates everything differently, which only shows for the text that changed.
    with FakeApi(rate=lambda search, code: 3 - as_experts(merged, "go")(search, code)) as api:
        judge(capfd, "rate", "--data", merged, *GO, "--base-url", api.url)
    (merged / "corpus.jsonl").write_bytes(corpus)
    judge(capfd, "gate", "--data", merged, *GO)
    judge(capfd, "merge", "--data", merged, *GO)
    assert (merged / "qrels.jsonl").read_bytes() == qrels


def test_json_and_card_name_the_head_and_expect_holds_a_ledger_to_it(capfd: pytest.CaptureFixture[str], merged: Path) -> None:
    path = merged / "work" / "go" / "judgements.jsonl"
    [shown] = json.loads(judge(capfd, "gate", "--data", merged, *GO, "--json").out)["gates"]
    found = Ledger.read(path).anchor
    assert shown["ledger"] == {"head": found.head, "lines": found.lines, "sha256": files.sha256(path.read_bytes())}
    card = (merged / "export" / "README.md").read_text(encoding="utf-8")
    assert f"| go | {found.lines} | `{found.head}` | `{found.sha256}` |" in card
    for head in (found.head, found.sha256):
        assert judge(capfd, "gate", "--data", merged, *GO, "--expect", head).code == 0
    other = judge(capfd, "gate", "--data", merged, *GO, "--expect", "0" * 16)
    assert (other.code, other.out) == (1, "")
    assert f"expected head {'0' * 16} is none of its {found.lines} lines" in other.error
    for arguments in ((), ("--lang", "python")):
        refused = judge(capfd, "gate", "--data", merged, *arguments, "--expect", found.head)
        assert (refused.code, refused.out) == (2, "")
    # Sealed anew, the ledger has gone on, which is told apart from another one.
    judge(capfd, "gate", "--data", merged, *GO, "--reseal", "a test")
    assert anchor.Anchor(found.head, found.lines, found.sha256) != Ledger.read(path).anchor
    grown = judge(capfd, "gate", "--data", merged, *GO, "--expect", found.head)
    assert (grown.code, "goes on from the expected head" in grown.error) == (1, True)


def test_how_closely_a_judge_is_watched_is_sealed(capfd: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    folder = plain_sample(tmp_path / "sample", QUICK + '\n[judge]\nmodel = "m"\ncanaries = 2\nretest = 0.5\n')
    judge(capfd, "pool", "--data", folder, *GO)
    rate = ("rate", "--data", folder, *GO, "--concurrency", "1")
    with FakeApi(rate=as_experts(folder, "go")) as api:
        validation = len(dataset.load(folder, scales.load("relevance")).experts_of("go"))
        assert judge(capfd, *rate, "--base-url", api.url, "--max-pairs", validation).code == 4
        text = (
            (folder / "judge.toml").read_text().replace("canaries = 2", "canaries = 0").replace("retest = 0.5", "retest = 0.0")
        )
        (folder / "judge.toml").write_text(text)
        done = judge(capfd, *rate, "--base-url", api.url)
    assert "judge.canaries is sealed as 2; judge.toml says 0; the seal is what counts" in done.err
    assert "judge.retest is sealed as 0.5; judge.toml says 0.0; the seal is what counts" in done.err
    ledger = Ledger.read(folder / "work" / "go" / "judgements.jsonl")
    repeats = ledger.tally(ledger.judges()[0]).repeats
    experts = dataset.load(folder, scales.load("relevance")).experts_of("go")
    assert sum(repeat.pair in experts for repeat in repeats) >= 2
    assert sum(repeat.pair not in experts for repeat in repeats) > 10
    done = judge(capfd, "gate", "--data", folder, *GO, "--reseal", "less to pay")
    assert "judge.canaries from 2 to 0" in judge(capfd, "log", "--data", folder, *GO).out
