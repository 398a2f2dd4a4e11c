"""Attempts to get ratings in past the gate, through the command line: each is refused with exit code 1 and its cause.

Python's judge passed and Go's missed, and both rated their pools. An attempt is tried on `judge merge`, and on `judge export`
with the ratings in the qrels already. None may change the qrels or bring an export about.
"""

import json
import re
import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from gates._release import journal, qrels
from gates._verdict import gate_record
from judge._batching.batches import Batch, Item
from judge._endpoint.answer import Answer
from judge._ledger import chain, entries
from judge._ledger.ledger import Ledger, records
from pools._dataset import dataset, tables
from pools._dataset.settings import Settings
from pools._sampling import pooled
from prompts import scales, templates
from tests.builders.command import judge, process
from tests.builders.fake_api import FakeApi, rating_of
from tests.builders.rows import files_of
from tests.builders.samples import QUICK, as_experts, plain_sample

Capture = pytest.CaptureFixture[str]
TOML = '[pool]\nretrievers = ["grep-agent", "grep-all", "grep-any"]\n'
SCALE = scales.load("relevance")


def work(folder: Path, language: str, name: str) -> Path:
    return folder / "work" / language / name


def change_toml(folder: Path, text: str) -> None:
    # Keys outside of a section have to come first.
    (folder / "judge.toml").write_text(text + TOML, encoding="utf-8")


def rate_again(folder: Path, *more: object, rate: Callable[[str, str], int] = rating_of, model: str = "m") -> None:
    """Have a further judge rate Python's expert-rated pairs, and put the verdict on the first one back."""
    record = work(folder, "python", "gate.json").read_bytes()
    with FakeApi(rate=rate) as api:
        process("rate", "--data", folder, "--lang", "python", "--model", model, "--base-url", api.url, *more)
    assert len(Ledger.read(work(folder, "python", "judgements.jsonl")).judges()) == 2
    work(folder, "python", "gate.json").write_bytes(record)


def no_record(folder: Path) -> None:
    work(folder, "python", "gate.json").unlink()


def another_model(folder: Path) -> None:
    rate_again(folder, model="another", rate=as_experts(folder, "python"))


def another_prompt_letter(folder: Path) -> None:
    text = templates.text("judge")
    (folder / "mine.j2").write_text(text.replace("search", "Search", 1), encoding="utf-8")
    change_toml(folder, '[judge]\nprompt = "mine.j2"\n')
    rate_again(folder)


def another_scale(folder: Path) -> None:
    levels = "".join(f'{value} = "{words}!"\n' for value, words in SCALE.levels)
    (folder / "mine.toml").write_text(f'name = "relevance"\n[levels]\n{levels}', encoding="utf-8")
    change_toml(folder, 'scale = "mine.toml"\n')
    rate_again(folder)


def other_words_of_the_scale(folder: Path) -> None:
    levels = "".join(f'{value} = "{words}, more or less"\n' for value, words in SCALE.levels)
    (folder / "mine.toml").write_text(f'name = "relevance"\n[levels]\n{levels}', encoding="utf-8")
    change_toml(folder, 'scale = "mine.toml"\n')


def edited_gold(folder: Path) -> None:
    rows = [row for _, row in tables.read(folder / "qrels.jsonl")]
    row = next(row for row in rows if row["language"] == "python" and row["expert_ratings"])
    value = 3 - row["expert_ratings"][0]
    row |= {"expert_ratings": [value], "relevance": float(value), "relevant": value >= 2}
    tables.write(folder / "qrels.jsonl", rows)


def edited_record(folder: Path) -> None:
    path = work(folder, "go", "gate.json")
    path.write_bytes(path.read_bytes().replace(b'"verdict": "missed"', b'"verdict": "passed"'))


def edited_figures_too(folder: Path) -> None:
    path = work(folder, "go", "gate.json")
    document = json.loads(path.read_bytes())
    document["agreement"]["f1"] = 0.9
    path.write_text(json.dumps(document | {"verdict": "passed", "threshold": 0.67}), encoding="utf-8")


def another_seed(folder: Path) -> None:
    """A record that follows from the ratings, but for resamples that somebody chose."""
    path = work(folder, "python", "gate.json")
    ledger = Ledger.read(work(folder, "python", "judgements.jsonl"))
    record = gate_record.read(path)
    assert record is not None
    experts = dataset.load(folder, SCALE).experts_of("python")
    ratings, conditions = ledger.ratings(ledger.judges()[0]), Settings().gate
    gate_record.write(
        path,
        gate_record.assess(
            "python",
            experts,
            ratings=ratings,
            gate=conditions,
            relevant_from=2,
            seed=7,
            judge_id=record.judge_id,
            notes=record.notes,
        ),
    )


def edited_threshold(folder: Path) -> None:
    change_toml(folder, "[gate]\nf1 = 0.1\n")
    assert process("gate", "--data", folder, "--lang", "go").code == 1


def ledger_line_by_hand(folder: Path) -> None:
    path = work(folder, "python", "judgements.jsonl")
    lines = path.read_bytes().splitlines(keepends=True)
    reply = next(line for line in lines if b'"kind":"reply"' in line)
    path.write_bytes(b"".join([*lines, reply.replace(b'"purpose":"validation"', b'"purpose":"pool"')]))


def ledger_forged_throughout(folder: Path) -> None:
    """Change what a reply says and every hash behind it, as somebody who reads the source can."""
    path = work(folder, "python", "judgements.jsonl")
    last, out, forged = chain.FIRST, [], False
    for record in list(records(path)):
        content = {key: value for key, value in record.items() if key != "chain"}
        if content["kind"] == "reading" and not forged:
            content["ratings"] = {key: 3 - value for key, value in content["ratings"].items()}
            forged = True
        line, last = chain.line(content, last)
        out.append(line)
    path.write_bytes(b"".join(out))


def ledger_cut_and_gated_again(folder: Path) -> None:
    """Take the lines away in which the judge's canaries came out badly."""
    path = work(folder, "python", "judgements.jsonl")
    before = path.read_bytes()
    judge_that_changed(folder)
    assert process("gate", "--data", folder, "--lang", "python").code == 1
    path.write_bytes(before)
    assert process("gate", "--data", folder, "--lang", "python").code == 1


def ledger_cut_and_rated_again(folder: Path) -> None:
    """Take away all that a judge which missed had rated, and have it try once more."""
    path = work(folder, "go", "judgements.jsonl")
    path.write_bytes(path.read_bytes().splitlines(keepends=True)[0])
    with FakeApi(rate=as_experts(folder, "go")) as api:
        process("rate", "--data", folder, "--lang", "go", "--model", "m", "--base-url", api.url, "--continue")


def no_ledger(folder: Path) -> None:
    """Take the ledger away, and write the record that a judge without one would pass with."""
    work(folder, "python", "judgements.jsonl").unlink()
    experts = dataset.load(folder, SCALE).experts_of("python")
    ratings = {pair: round(sum(given) / len(given)) for pair, given in experts.items()}
    gate_record.write(
        work(folder, "python", "gate.json"),
        gate_record.assess(
            "python", experts, ratings=ratings, gate=Settings().gate, relevant_from=2, seed=gate_record.SEED, judge_id=None
        ),
    )


def emptied_ledger(folder: Path) -> None:
    path = work(folder, "python", "judgements.jsonl")
    judge_id = Ledger.read(path).judges()[0]
    journal.append(folder, journal.Event("2026-01-02T03:04:05Z", "merge", "python", judge_id))
    path.write_bytes(b"")


def incomplete_validation(folder: Path) -> None:
    rate_again(folder, "--max-requests", 1, "--concurrency", 1, model="another", rate=as_experts(folder, "python"))
    assert process("gate", "--data", folder, "--lang", "python").code == 1


def record_of_another_language(folder: Path) -> None:
    shutil.copy(work(folder, "python", "gate.json"), work(folder, "go", "gate.json"))


def judge_that_changed(folder: Path) -> None:
    """Canaries, expert-rated pairs hidden among the pool's, that the judge now gets wrong."""
    rate_canaries(folder, lambda rating: 3 - rating)


def judge_that_changed_back(folder: Path) -> None:
    judge_that_changed(folder)
    for _ in range(20):
        rate_canaries(folder, lambda rating: rating, first=40)


def rate_canaries(folder: Path, now: Callable[[int], int], first: int = 0) -> None:
    path = work(folder, "python", "judgements.jsonl")
    data = dataset.load(folder, SCALE)
    pairs = sorted(data.experts_of("python"))[first : first + 40]
    searches = {query.search_id: query.search for query in data.queries_of("python")}
    codes = {function.id: function.code for function in data.functions_of("python")}
    with Ledger.open(path) as ledger:
        judge_id = ledger.judges()[0]
        before = ledger.ratings(judge_id)
        batch = Batch.of([Item(pair, searches[pair[0]], codes[pair[1]]) for pair in pairs])
        ratings = [{"id": entry, "rating": now(before[item.pair])} for entry, item in batch.entries]
        answer = Answer(json.dumps({"ratings": ratings}), "stop", "m")
        ledger.add(entries.reply(judge_id, "pool", batch=batch, answer=answer))


def change_judgement(folder: Path, change: Callable[[Mapping[str, Any], int], Mapping[str, Any]], by_experts: bool) -> None:
    """Change one of Python's judgements: of a pair on which experts and judge differ, or of one that only the judge rated."""
    ledger = Ledger.read(work(folder, "python", "judgements.jsonl"))
    ratings = ledger.ratings(ledger.judges()[0])
    rows = {(row["language"], row["search_id"], row["function_id"]): row for _, row in tables.read(folder / "qrels.jsonl")}
    known = {key[1:]: row for key, row in rows.items() if key[0] == "python" and row["expert_ratings"]}
    pair = next(
        pair
        for pair, rating in sorted(ratings.items())
        if (pair in known) == by_experts and (not by_experts or (known[pair]["relevance"] >= 2) != (rating >= 2))
    )
    row = {"language": "python", "search_id": pair[0], "function_id": pair[1]} | dict(known.get(pair, {}))
    rows[("python", *pair)] = dict(change(row, ratings[pair]))
    tables.write(folder / "qrels.jsonl", list(rows.values()))


def judges_row_as_experts(folder: Path) -> None:
    def change(row: Mapping[str, Any], rating: int) -> Mapping[str, Any]:
        return {**row, "relevance": float(rating), "relevant": rating >= 2, "source": "expert", "rated_because": "expert"}

    change_judgement(folder, change, by_experts=False)


def judges_rating_for_experts(folder: Path) -> None:
    def change(row: Mapping[str, Any], rating: int) -> Mapping[str, Any]:
        return {**row, "relevance": float(rating), "relevant": rating >= 2}

    change_judgement(folder, change, by_experts=True)


def experts_row_as_judges(folder: Path) -> None:
    change_judgement(folder, lambda row, _: {**row, "source": "judge"}, by_experts=True)


@dataclass(frozen=True, slots=True)
class Attempt:
    """What is done, to which language's ratings, and what merge says of it; export too, where it is the same."""

    language: str
    do: Callable[[Path], None]
    merge: str
    export: str | None = None


ANOTHER_JUDGE = r"the gate record is of judge \w+, these ratings are by \w+ \(another model, prompt, scale or batch"
NOT_ITS_RATINGS = r"has judge_rating \d, the ledger of judge \w+ has"
CUT = r"the gate is closed again: \S+judgements\.jsonl does not go on from the \d+ bytes that it had"
ATTEMPTS = {
    "no record": Attempt("python", no_record, r"python: no gate record; run"),
    "another model": Attempt("python", another_model, ANOTHER_JUDGE, NOT_ITS_RATINGS),
    "another prompt letter": Attempt("python", another_prompt_letter, ANOTHER_JUDGE, NOT_ITS_RATINGS),
    "another scale": Attempt("python", another_scale, ANOTHER_JUDGE, NOT_ITS_RATINGS),
    "scale's words": Attempt(
        "python", other_words_of_the_scale, r"closed again: judge\.toml's scale is not the one that judge"
    ),
    "edited gold": Attempt("python", edited_gold, r"the expert ratings are not those sealed before the first rating"),
    "edited gate.json": Attempt("go", edited_record, r"does not follow from the ratings \(verdict\): it was edited"),
    "edited figures": Attempt("go", edited_figures_too, r"does not follow from the ratings \(verdict, agreement\): it was"),
    "another seed": Attempt("python", another_seed, r"the gate record has seed 7, and every verdict has 1; run `judge gate"),
    "edited judge.toml": Attempt("go", edited_threshold, r"is missed: F1 0\.\d+ is below 0\.67.*gate\.f1 is sealed as 0\.67"),
    "ledger by hand": Attempt("python", ledger_line_by_hand, r"judgements\.jsonl:\d+: changed or put there by hand"),
    "ledger forged": Attempt(
        "python", ledger_forged_throughout, r"the judge's ratings of expert-rated pairs changed since", NOT_ITS_RATINGS
    ),
    "ledger cut": Attempt("python", ledger_cut_and_gated_again, CUT),
    "ledger cut, rated again": Attempt("go", ledger_cut_and_rated_again, CUT, NOT_ITS_RATINGS),
    "no ledger": Attempt(
        "python", no_ledger, r"no ledger to merge from; run", r"python: its judge's ratings came without a led"
    ),
    "emptied ledger": Attempt(
        "python", emptied_ledger, r"no ledger to merge from; run", r"python: nothing shows for the judge that was merged last"
    ),
    "incomplete": Attempt(
        "python", incomplete_validation, r"validation is incomplete: 40 of 168 expert-rated pairs", NOT_ITS_RATINGS
    ),
    "another language": Attempt("go", record_of_another_language, r"go: its gate record is that of python"),
    "judge's row as experts'": Attempt("python", judges_row_as_experts, r"qrels have q\d+ \S+ from an expert but without"),
    "judge's rating for experts'": Attempt(
        "python", judges_rating_for_experts, r"relevance \d\.0, which is not the mean of \["
    ),
    "experts' row as judge's": Attempt("python", experts_row_as_judges, r"qrels have q\d+ \S+ from a judge but with expert_ra"),
    "canaries": Attempt(
        "python", judge_that_changed, r"the gate is closed again: the judge agrees .* on \d+ of the first \d+ hidden"
    ),
    "canaries outweighed": Attempt(
        "python", judge_that_changed_back, r"the gate is closed again: the judge agrees .* on \d+ of"
    ),
}


@pytest.fixture(scope="module")
def gated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The sample with both languages' pools rated; Python's judge is wrong on ten pairs, Go's rates at random."""
    folder = tmp_path_factory.mktemp("gated") / "sample"
    plain_sample(folder, QUICK)
    change_toml(folder, "")
    assert process("pool", "--data", folder).code == 0
    for language, rate in (("python", as_experts(folder, "python", wrong=10)), ("go", rating_of)):
        with FakeApi(rate=rate) as api:
            endpoint = ["--model", "m", "--base-url", api.url]
            done = process("rate", "--data", folder, "--lang", language, *endpoint, "--continue")
        assert done.code == 0, done.err
        assert process("gate", "--data", folder, "--lang", language).code == (0 if language == "python" else 1)
    return folder


@pytest.fixture(scope="module")
def merged(gated: Path, tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, Path]:
    """The same with one language's ratings put into the qrels: Python's rightly, Go's by hand."""
    out = {}
    for language in ("python", "go"):
        folder = tmp_path_factory.mktemp("merged") / "sample"
        shutil.copytree(gated, folder)
        data = dataset.load(folder, SCALE)
        ledger = Ledger.read(work(folder, language, "judgements.jsonl"))
        drawn = pooled.read(pooled.path(folder, language))
        rows = qrels.merge(data, language, pool=drawn, ratings=ledger.ratings(ledger.judges()[0]), relevant_from=2)
        qrels.write(folder, replace(data, qrels=rows).qrels)
        out[language] = folder
    return out


def copy_of(folder: Path, tmp_path: Path, attempt: Attempt) -> Path:
    shutil.copytree(folder, tmp_path / "sample")
    attempt.do(tmp_path / "sample")
    return tmp_path / "sample"


def published(folder: Path) -> Mapping[str, Any]:
    return {name: content for name, content in files_of(folder).items() if not name.endswith(".lock")}


def test_without_an_attempt_what_passed_goes_in_and_out(capfd: Capture, gated: Path, merged: Mapping[str, Path]) -> None:
    assert judge(capfd, "merge", "--data", gated, "--lang", "go").code == 1
    assert judge(capfd, "export", "--data", merged["python"]).code == 0
    shutil.rmtree(merged["python"] / "export")


def lower_for_another_judge(folder: Path) -> None:
    change_toml(folder, "[gate]\nf1 = 0.1\n[judge]\nmax_tokens = 4097\n")
    rate_go_again(folder, "m")


def lower_for_panels_inside(folder: Path) -> None:
    """Reseal two panels, and make of them a panel that needs no reseal of its own."""
    rate_go_again(folder, "another")
    change_toml(folder, "[gate]\nf1 = 0.1\n")
    members = Ledger.read(work(folder, "go", "judgements.jsonl")).judges()
    for method in ("median", "majority"):
        assert process("panel", *members, "--method", method, "--data", folder, "--lang", "go").code == 0
        process("gate", "--data", folder, "--lang", "go", "--reseal", "nobody will look inside")
    inside = Ledger.read(work(folder, "go", "judgements.jsonl")).judges()[2:]
    assert process("panel", *inside, "--method", "median", "--data", folder, "--lang", "go").code == 0


def rate_go_again(folder: Path, model: str) -> None:
    with FakeApi(rate=rating_of) as api:
        process("rate", "--data", folder, "--lang", "go", "--model", model, "--base-url", api.url, "--continue")


LOWERED = {
    "another judge": (lower_for_another_judge, r"judge \w+ was sealed under other conditions than those before"),
    "panels inside": (lower_for_panels_inside, r"what was sealed for judge \w+ was changed"),
}


@pytest.mark.parametrize("name", LOWERED)
def test_a_bar_lowered_after_a_look_stays_on_record(capfd: Capture, gated: Path, tmp_path: Path, name: str) -> None:
    lower, words = LOWERED[name]
    shutil.copytree(gated, tmp_path / "sample")
    lower(tmp_path / "sample")
    common = ["--data", tmp_path / "sample", "--lang", "go"]
    done = judge(capfd, "gate", *common)
    assert done.code == 0
    assert re.search(rf"note: {words}: gate\.f1 from 0\.67 to 0\.1", done.out), done.out
    assert judge(capfd, "merge", *common).code == 0
    assert judge(capfd, "export", "--data", tmp_path / "sample").code == 0
    card = (tmp_path / "sample" / "export" / "README.md").read_text(encoding="utf-8")
    assert re.search(rf"\*\*go: {words}\*\* on \S+ \(gate\.f1 from 0\.67 to 0\.1\)", card), card
    assert "gate.f1 from 0.67 to 0.1" in judge(capfd, "log", *common).out


def test_nobody_chooses_the_seed_of_a_verdict(capfd: Capture, gated: Path, tmp_path: Path) -> None:
    shutil.copytree(gated, tmp_path / "sample")
    before = work(gated, "python", "gate.json").read_bytes()
    change_toml(tmp_path / "sample", "seed = 7\n")
    assert judge(capfd, "gate", "--data", tmp_path / "sample", "--lang", "python").code == 0
    assert work(tmp_path / "sample", "python", "gate.json").read_bytes() == before


def test_the_card_tells_what_counted_as_relevant_by_the_seal(
    capfd: Capture, merged: Mapping[str, Path], tmp_path: Path
) -> None:
    folder = tmp_path / "sample"
    shutil.copytree(merged["python"], folder)
    change_toml(folder, "relevant_from = 3\n")
    assert judge(capfd, "export", "--data", folder).code == 0
    card = (folder / "export" / "README.md").read_text(encoding="utf-8")
    assert "or the judge's rating, is at least 2. " in card


@pytest.mark.parametrize("name", ["edited gold", "canaries"])
def test_the_gate_itself_says_that_a_pass_does_not_hold_any_more(
    capfd: Capture, gated: Path, tmp_path: Path, name: str
) -> None:
    folder = copy_of(gated, tmp_path, ATTEMPTS[name])
    done = judge(capfd, "gate", "--data", folder, "--lang", "python")
    assert (done.code, ": passed (" in done.out) == (1, True)
    assert "the gate " in done.error
    found = json.loads(judge(capfd, "gate", "--data", folder, "--lang", "python", "--json").out)
    assert [line in done.error for line in found["closed"]] == [True]
    assert (found["passed"], found["gates"][0]["verdict"]) == (False, "passed")
    assert judge(capfd, "merge", "--data", folder, "--lang", "python").code == 1


@pytest.mark.parametrize("name", ATTEMPTS)
def test_merge_refuses(capfd: Capture, gated: Path, tmp_path: Path, name: str) -> None:
    attempt = ATTEMPTS[name]
    folder = copy_of(gated, tmp_path, attempt)
    before = published(folder)
    done = judge(capfd, "merge", "--data", folder, "--lang", attempt.language)
    assert done.code == 1
    assert re.search(attempt.merge, done.error), done.error
    assert published(folder) == before


@pytest.mark.parametrize("name", ATTEMPTS)
def test_export_refuses(capfd: Capture, merged: Mapping[str, Path], tmp_path: Path, name: str) -> None:
    attempt = ATTEMPTS[name]
    folder = copy_of(merged[attempt.language], tmp_path, attempt)
    before = published(folder)
    done = judge(capfd, "export", "--data", folder)
    assert done.code == 1
    assert re.search(attempt.export or attempt.merge, done.error), done.error
    assert published(folder) == before
    assert not (folder / "export").exists()
