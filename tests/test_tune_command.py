"""`judge tune` against a real server: tuning searches only, nothing asked twice, and nothing written after a seal."""

import hashlib
import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from judge._ledger.ledger import Ledger
from judge.steps.demo import copy_sample
from pools._dataset import dataset, settings
from prompts import scales, templates
from tests.builders.command import judge
from tests.builders.fake_api import FakeApi, answer_of, rating_of
from tests.builders.rows import files_of
from tests.builders.samples import as_experts

Capture = pytest.CaptureFixture[str]


@pytest.fixture
def sample(tmp_path: Path) -> Path:
    copy_sample(tmp_path / "sample")
    (tmp_path / "sample" / "judge.toml").write_text("# mine\n[prices]\nprompt = 2.0\ncompletion = 8.0\n", encoding="utf-8")
    return tmp_path / "sample"


def worse(folder: Path, share: float) -> Callable[[str, str], int]:
    """A judge that is right on all but a share of the pairs."""
    right = as_experts(folder, "python")

    def rate(search: str, code: str) -> int:
        wrong = hashlib.sha256(f"{search}{code}".encode()).digest()[1] < 256 * share
        return 3 - right(search, code) if wrong else right(search, code)

    return rate


def tuning_pairs(folder: Path) -> set[tuple[str, str]]:
    data = dataset.load(folder, scales.load("relevance"))
    searches = {query.search_id: query.search for query in data.queries_of("python") if query.split == "tuning"}
    codes = {function.id: function.code for function in data.functions_of("python")}
    return {(searches[search], codes[function]) for search, function in data.experts_of("python") if search in searches}


def test_every_combination_rates_the_tuning_pairs_once_and_the_best_is_written(capfd: Capture, sample: Path) -> None:
    (sample / "mine.j2").write_text(templates.text("judge") + "\n", encoding="utf-8")
    tried = ["--prompt", "judge", "--prompt", "mine.j2", "--pairs", 1, "--pairs", 20]
    base = ["tune", "--data", sample, "--lang", "python", *tried]
    pairs = tuning_pairs(sample)
    with FakeApi(rate=worse(sample, 0.4)) as api:
        done = judge(capfd, *base, "--base-url", api.url, "--model", "bad", "--json")
        assert done.code == 0, done.err
        assert {len(asked.pairs) for asked in api.requests} <= {1, 20, len(pairs) % 20}
        assert len(api.asked_pairs) == 4 * len(pairs) == 4 * 43
        assert set(api.asked_pairs) == pairs
    with FakeApi(rate=as_experts(sample, "python")) as api:
        done = judge(capfd, *base, "--base-url", api.url, "--model", "bad", "--model", "good", "--json")
        assert {asked.body["model"] for asked in api.requests} == {"good"}, "what is in the ledgers is not asked for again"
        asked = len(api.requests)
        assert judge(capfd, *base, "--base-url", api.url, "--model", "bad", "--model", "good").code == 0
        assert len(api.requests) == asked
    found = json.loads(done.out)["combinations"]
    assert [(entry["model"], entry["prompt"], entry["pairs_per_batch"]) for entry in found] == [
        (model, prompt, number) for model in ("bad", "good") for prompt in ("judge", "mine.j2") for number in (1, 20)
    ]
    assert [entry["unrated"] for entry in found] == [0] * 8
    assert all(1_000 * entry["cost"] / 43 == pytest.approx(entry["cost_a_thousand"]["value"]) for entry in found)
    assert all(entry["cost_a_thousand"]["interval"] for entry in found)
    assert all(entry["f1"]["interval"] and entry["area"]["interval"] and entry["cost"] > 0 for entry in found)
    chosen = [entry for entry in found if entry["chosen"]]
    assert len(chosen) == 1
    assert (chosen[0]["model"], chosen[0]["pairs_per_batch"], chosen[0]["f1"]["value"]) == ("good", 20, 1.0)
    assert found[-1]["flips"]["value"] > 0.2
    assert "# mine" in (sample / "judge.toml").read_text(encoding="utf-8")
    written = settings.load(sample).judge
    assert (written.model, written.prompt, written.pairs_per_batch) == ("good", chosen[0]["prompt"], 20)
    assert not (sample / "work" / "python" / "judgements.jsonl").exists()
    assert 'gate.split = "test"' in done.err


def test_what_was_chosen_is_what_rates(capfd: Capture, sample: Path) -> None:
    common = ["--data", sample, "--lang", "python"]
    with FakeApi(rate=as_experts(sample, "python")) as api:
        judge(capfd, "tune", *common, "--base-url", api.url, "--model", "m", "--pairs", 10)
        done = judge(capfd, "rate", *common, "--base-url", api.url)
        assert done.code == 0, done.err
    sealed = Ledger.read(sample / "work" / "python" / "judgements.jsonl").judges()
    assert [path.stem for path in (sample / "work" / "python" / "tuning").glob("*.jsonl")] == list(sealed)


def test_after_a_seal_it_only_prints(capfd: Capture, sample: Path) -> None:
    common = ["--data", sample, "--lang", "python"]
    with FakeApi(rate=as_experts(sample, "python")) as api:
        endpoint = ["--base-url", api.url, "--model", "m"]
        judge(capfd, "rate", *common, *endpoint)
        before, asked = files_of(sample), len(api.requests)
        done = judge(capfd, "tune", *common, *endpoint)
        assert (done.code, "--print-only" in done.error) == (2, True)
        assert judge(capfd, "tune", "--data", sample, "--lang", "go", *endpoint).code == 2
        assert (files_of(sample), len(api.requests)) == (before, asked)
        done = judge(capfd, "tune", *common, *endpoint, "--pairs", 10, "--pairs", 40, "--print-only")
        assert (done.code, "chosen" in done.out) == (0, True)
    assert (sample / "judge.toml").read_bytes() == before["judge.toml"]


def test_a_limit_stops_it_and_the_same_command_goes_on(capfd: Capture, sample: Path) -> None:
    before = (sample / "judge.toml").read_bytes()
    command = ["tune", "--data", sample, "--lang", "python", "--model", "m", "--pairs", 5, "--concurrency", 1]
    with FakeApi(rate=rating_of) as api:
        done = judge(capfd, *command, "--base-url", api.url, "--max-requests", 4)
        assert (done.code, "--max-requests" in done.err) == (4, True)
        assert (sample / "judge.toml").read_bytes() == before
        assert judge(capfd, *command, "--base-url", api.url).code == 0
        assert len(api.asked_pairs) == len(set(api.asked_pairs)) == 43


def test_no_tuning_search_and_no_model_are_named(capfd: Capture, sample: Path) -> None:
    done = judge(capfd, "tune", "--data", sample, "--lang", "go", "--model", "m")
    assert (done.code, "split" in done.err) == (2, True)
    assert "no model is named" in judge(capfd, "tune", "--data", sample, "--lang", "python").error


@pytest.mark.parametrize("retriever", [(), ("--retriever", "llm")])
def test_nothing_is_paid_for_before_every_prompt_is_there(capfd: Capture, sample: Path, retriever: tuple[str, ...]) -> None:
    prompt = "yesno" if retriever else "judge"
    with FakeApi() as api:
        done = judge(
            capfd, "tune", "--data", sample, "--lang", "python", *retriever, "--prompt", prompt, "--prompt", "mispelt",
            "--model", "m", "--base-url", api.url,
        )  # fmt: skip
        assert (done.code, "mispelt" in done.error, api.requests) == (2, True, [])


def test_a_judge_that_refuses_pairs_is_not_chosen(capfd: Capture, sample: Path) -> None:
    before = (sample / "judge.toml").read_bytes()
    refused = min(tuning_pairs(sample))
    with FakeApi(rate=as_experts(sample, "python"), poison=lambda search, code: (search, code) == refused) as api:
        done = judge(capfd, "tune", "--data", sample, "--lang", "python", "--model", "m", "--pairs", 10, "--base-url", api.url)
    assert (done.code, "none is chosen" in done.err, "42/43" in done.out) == (1, True, True)
    assert (sample / "judge.toml").read_bytes() == before


def wordings(folder: Path, *prompts: str, further: tuple[object, ...] = ()) -> tuple[object, ...]:
    named = [word for prompt in prompts for word in ("--prompt", prompt)]
    return ("tune", "--data", folder, "--lang", "python", "--retriever", "llm", "--model", "m", *named, *further)


def test_every_wording_asks_about_the_tuning_pairs_alone_and_the_best_is_written(capfd: Capture, sample: Path) -> None:
    (sample / "mine.j2").write_text(templates.text("yesno") + "Mine.\n", encoding="utf-8")
    pairs, experts = tuning_pairs(sample), as_experts(sample, "python")

    def sure(search: str, code: str) -> float:
        return (0.05, 0.2, 0.6, 0.95)[experts(search, code)]

    with FakeApi(yesno=lambda search, code: ("No", {"Yes": 1 - sure(search, code), "No": sure(search, code)})) as poor:
        done = judge(capfd, *wordings(sample, "yesno", "yesno-plain"), "--base-url", poor.url, "--json")
        assert done.code == 0, done.err
        assert Counter(poor.asked_pairs) == Counter(dict.fromkeys(pairs, 2)), "both wordings, each pair once and alone"
        assert all(len(asked.pairs) == 1 and "response_format" not in asked.body for asked in poor.requests)
    with FakeApi(yesno=lambda search, code: ("Yes" if sure(search, code) > 0.5 else "No", told(sure(search, code)))) as good:
        done = judge(capfd, *wordings(sample, "yesno", "yesno-plain", "mine.j2"), "--base-url", good.url, "--json")
        assert done.code == 0, done.err
        assert Counter(good.asked_pairs) == Counter(pairs), "what other wordings were answered is on disk"
        assert all(asked.prompt.endswith("Mine.\n") for asked in good.requests)
        shown = judge(capfd, *wordings(sample, "yesno", "mine.j2"), "--base-url", good.url)
        assert len(good.requests) == len(pairs)
    first, plain, mine = json.loads(done.out)["combinations"]
    assert [entry["prompt"] for entry in (first, plain, mine)] == ["yesno", "yesno-plain", "mine.j2"]
    assert len({entry["judge_id"] for entry in (first, plain, mine)}) == 3
    assert [entry["chosen"] for entry in (first, plain, mine)] == [False, False, True]
    assert [(entry["pairs"], entry["unrated"], entry["requests"]) for entry in (first, plain, mine)] == [(43, 0, 43)] * 3
    assert all(entry["f1"]["interval"] and entry["area"]["interval"] and entry["cost"] > 0 for entry in (first, plain, mine))
    assert (mine["f1"]["value"], mine["area"]["value"], first["area"]["value"]) == (1.0, 1.0, 0.0)
    assert shown.out.splitlines()[2].endswith("chosen")
    text = (sample / "judge.toml").read_text(encoding="utf-8")
    assert "# mine" in text
    written = settings.load(sample)
    assert (written.llm.model, written.llm.prompt) == ("m", "mine.j2")
    assert (written.judge.prompt, written.judge.model) == ("judge", "")


def told(sure: float) -> dict[str, float]:
    return {"Yes": sure, "No": 1 - sure}


def test_a_hit_of_a_wording_is_a_yes_or_probable_enough(capfd: Capture, sample: Path) -> None:
    """All answers are no; those of relevant pairs have a probability over the threshold or under it, as judge.toml says."""
    experts = as_experts(sample, "python")
    with FakeApi(yesno=lambda search, code: ("No", told(0.4 if experts(search, code) >= 2 else 0.2))) as api:
        command = (*wordings(sample, "yesno"), "--base-url", api.url, "--json")
        [entry] = json.loads(judge(capfd, *command).out)["combinations"]
        assert (entry["f1"]["value"], entry["area"]["value"]) == (1.0, 1.0)
        (sample / "judge.toml").write_text("[llm]\nthreshold = 0.45\n", encoding="utf-8")
        [entry] = json.loads(judge(capfd, *command).out)["combinations"]
        assert (entry["f1"]["value"], entry["area"]["value"]) == (0.0, 1.0)
        assert len(api.requests) == 43


def test_without_log_probabilities_a_yes_ranks(capfd: Capture, sample: Path) -> None:
    experts = as_experts(sample, "python")
    with FakeApi(refuses=("logprobs",), yesno=lambda search, code: ("Yes" if experts(search, code) >= 2 else "No", {})) as api:
        done = judge(capfd, *wordings(sample, "yesno"), "--base-url", api.url, "--json")
    [entry] = json.loads(done.out)["combinations"]
    assert (entry["f1"]["value"], entry["area"]["value"]) == (1.0, 1.0)
    assert "43 of 43 answers of m to yesno came without log-probabilities" in done.err


def test_the_chosen_wording_is_what_pool_asks_with_even_after_a_seal(capfd: Capture, sample: Path) -> None:
    common = ("--data", sample, "--lang", "python")
    with FakeApi(rate=as_experts(sample, "python"), yesno=answer_of) as api:
        assert judge(capfd, "rate", *common, "--model", "m", "--base-url", api.url).code == 0
        done = judge(capfd, *wordings(sample), "--base-url", api.url, "--json")
        assert done.code == 0, done.err
        found = json.loads(done.out)["combinations"]
        assert [entry["prompt"] for entry in found] == ["yesno", "yesno-plain", "yesno-useful"]
        with (sample / "judge.toml").open("a", encoding="utf-8") as file:
            file.write('[pool]\nretrievers = ["llm"]\n')
        done = judge(capfd, "pool", *common, "--base-url", api.url, "--dry-run", "--json")
    [chosen] = [entry for entry in found if entry["chosen"]]
    [planned] = json.loads(done.out)["languages"]
    assert (planned["retriever_id"], planned["model"]) == (chosen["judge_id"], "m")


def test_a_wording_without_an_answer_to_a_pair_is_not_chosen_and_limits_stop(capfd: Capture, sample: Path) -> None:
    before = (sample / "judge.toml").read_bytes()
    refused = min(tuning_pairs(sample))
    with FakeApi(yesno=lambda *pair: ("Perhaps", {}) if pair == refused else answer_of(*pair)) as api:
        command = (*wordings(sample, "yesno"), "--base-url", api.url)
        done = judge(capfd, *command, "--max-requests", 5)
        assert (done.code, "--max-requests" in done.err) == (4, True)
        done = judge(capfd, *command)
        assert (done.code, "none is chosen" in done.err, "42/43" in done.out) == (1, True, True)
    assert max(count for pair, count in Counter(api.asked_pairs).items() if pair != refused) == 1
    assert (sample / "judge.toml").read_bytes() == before


def test_what_does_not_fit_a_wording_is_named(capfd: Capture, sample: Path) -> None:
    done = judge(capfd, *wordings(sample, "yesno", further=("--pairs", 5)))
    assert (done.code, "leave --pairs out" in done.error) == (2, True)
    done = judge(capfd, *wordings(sample, "absent.j2"))
    assert (done.code, "llm.prompt: no such file or built-in name: 'absent.j2'" in done.error) == (2, True)
