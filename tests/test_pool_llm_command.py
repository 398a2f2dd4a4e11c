"""`judge pool` with the retriever llm, and what `judge status` tells of it: which pairs are asked about, and nothing twice."""

import json
import os
import signal
import subprocess
import sys
from collections import Counter
from pathlib import Path

import numpy
import pytest

from judge._batching import redaction
from judge._batching.batches import show_code, show_search
from judge._judges import questions as asking
from judge._judges.questions import Answers
from judge.steps.demo import copy_sample
from pools._dataset import dataset
from pools._dataset.records import Function, PairKey
from pools._engines import okapi
from pools._retrievers import llm
from pools._sampling import hits, pooled
from tests.builders.command import judge
from tests.builders.fake_api import FakeApi, Pair, answer_of, rating_of
from tests.builders.hits_made import fused
from tests.builders.judging import SCALE, Killer
from tests.builders.letters import letters, serve, sound
from tests.builders.places import ROOT

Capture = pytest.CaptureFixture[str]


def function(name: str, code: str) -> Function:
    return Function(name, "go", code, {})


def sample(path: Path, llm: str = "", retrievers: str = '"grep-any", "llm"') -> Path:
    """The sample that comes with the package, with the quick retrievers and no embedding."""
    copy_sample(path)
    with (path / "judge.toml").open("a", encoding="utf-8") as file:
        file.write(f'\n[pool]\nretrievers = [{retrievers}]\n[embedding]\nmodel = "absent/model"\n[llm]\n{llm}\n')
    return path


def texts(folder: Path, language: str) -> dict[PairKey, Pair]:
    """What the prompt shows of each pair."""
    data = dataset.load(folder, SCALE)
    return {
        (query.search_id, function.id): (show_search(query.search), show_code(redaction.mask(function.code).text, 20_000))
        for query in data.queries_of(language)
        for function in data.functions_of(language)
    }


def sure_of(pair: Pair) -> float:
    return round(rating_of(*pair) / 3 * 0.9 + 0.02, 4)


def test_pool_asks_about_every_pair_and_writes_hits_with_probabilities(capfd: Capture, tmp_path: Path) -> None:
    folder = sample(tmp_path, 'model = "m"\nprefilter = 0')
    with FakeApi(yesno=answer_of) as fake:
        done = judge(capfd, "pool", "--data", folder, "--lang", "go", "--base-url", fake.url, "--json")
        assert done.code == 0, done.err
        again = judge(capfd, "pool", "--data", folder, "--lang", "go", "--base-url", fake.url, "--json")
        every = texts(folder, "go")
        assert len(fake.requests) == len(every)
    found = {hit.pair: hit for hit in hits.read(hits.path(folder, "go", retriever="llm"))}
    sure = {pair: sure_of(shown) for pair, shown in every.items()}
    assert {pair: hit.probability for pair, hit in found.items()} == pytest.approx(
        {pair: figure for pair, figure in sure.items() if figure >= 0.3}
    )
    assert {hit.score for hit in found.values() if sure[hit.pair] < 0.5} == {0.0}
    [entry] = json.loads(done.out)["languages"]
    assert (entry["hits"]["llm"], entry["llm"]["hits"], entry["llm"]["pairs"]) == (len(found), len(found), len(every))
    assert json.loads(again.out)["languages"][0]["llm"]["requests"] == 0
    assert {drawn.pair for drawn in pooled.read(pooled.path(folder, "go")) if "llm" in drawn.retrievers} == set(found)


def test_what_the_prefilter_leaves_out_stays_in_the_strata_with_its_true_probability(capfd: Capture, tmp_path: Path) -> None:
    folder = sample(tmp_path, 'model = "m"\nprefilter = 3')
    with FakeApi(yesno=lambda _search, _code: ("Yes", {"Yes": 0.9, "No": 0.1})) as fake:
        done = judge(capfd, "pool", "--data", folder, "--lang", "go", "--base-url", fake.url)
    assert done.code == 0, done.err
    assert "go: llm.prefilter goes by bm25 alone" in done.err
    data = dataset.load(folder, SCALE)
    queries, functions = data.queries_of("go"), data.functions_of("go")
    chosen = {hit.pair for hit in okapi.search(queries, functions, depth=3)}
    assert {hit.pair for hit in hits.read(hits.path(folder, "go", retriever="llm"))} == chosen
    assert len(fake.requests) == len(chosen)
    loose = {hit.pair for hit in hits.read(hits.path(folder, "go", retriever="grep-any"))}
    experts = set(data.experts_of("go"))
    drawn = [entry for entry in pooled.read(pooled.path(folder, "go")) if entry.stratum is not None]
    assert {entry.pair for entry in drawn if entry.stratum == pooled.POOLED} == chosen - experts
    for query in queries:
        rest = {(query.search_id, function.id) for function in functions} - chosen - experts
        for stratum, size, members in (
            (pooled.GREP_ANY_SAMPLE, 20, rest & loose),
            (pooled.UNFLAGGED_SAMPLE, 10, rest - loose),
        ):
            sampled = [entry for entry in drawn if entry.search_id == query.search_id and entry.stratum == stratum]
            assert {entry.pair for entry in sampled} <= members
            assert len(sampled) == min(size, len(members))
            assert all(entry.probability == pytest.approx(len(sampled) / len(members)) for entry in sampled)


def test_the_prefilter_goes_by_bm25_and_embedding_together(capfd: Capture, tmp_path: Path) -> None:
    with serve(sound) as server, FakeApi(yesno=answer_of) as fake:
        copy_sample(tmp_path)
        with (tmp_path / "judge.toml").open("a", encoding="utf-8") as file:
            file.write(
                f'\n[pool]\nretrievers = ["llm"]\n[embedding]\nmodel = "letters"\nbase_url = "{server.url}"\n'
                '[llm]\nmodel = "m"\nprefilter = 4\n'
            )
        done = judge(capfd, "pool", "--data", tmp_path, "--lang", "go", "--base-url", fake.url)
    assert done.code == 0, done.err
    data = dataset.load(tmp_path, SCALE)
    queries, functions = data.queries_of("go"), data.functions_of("go")
    wanted = set()
    for query in queries:
        left = numpy.array(letters(query.search))
        cosine = {}
        for entry in functions:
            right = numpy.array(letters(entry.code))
            cosine[entry.id] = round(float(left @ right / numpy.sqrt((left @ left) * (right @ right))), 6)
        near = sorted(cosine, key=lambda name: (-cosine[name], name))[: llm.depth(4)]
        words = [hit.function_id for hit in okapi.search([query], functions, depth=llm.depth(4))]
        wanted |= {(query.search_id, name) for name in fused([words, near])[:4]}
    shown = texts(tmp_path, "go")
    assert Counter(fake.asked_pairs) == Counter(shown[pair] for pair in wanted)
    assert len(wanted) == 4 * len(queries)


def test_limits_stop_before_a_pool_is_drawn_and_the_same_command_goes_on(capfd: Capture, tmp_path: Path) -> None:
    folder = sample(tmp_path, 'model = "m"\nprefilter = 5')
    command = ("pool", "--data", folder, "--lang", "go", "--lang", "python")
    with FakeApi(yesno=answer_of) as fake:
        plan = judge(capfd, *command, "--dry-run", "--json")
        assert not fake.requests
        planned = json.loads(plan.out)["languages"]
        first, second = (entry["requests"] for entry in planned)
        done = judge(capfd, *command, "--base-url", fake.url, "--max-pairs", str(first + 4))
        assert done.code == 4
        assert "4 pairs are asked for (--max-pairs)" in done.err
        assert len(fake.requests) == first + 4
        assert pooled.path(folder, "go").exists()
        assert not pooled.path(folder, "python").exists()
        left = json.loads(judge(capfd, *command, "--dry-run", "--json").out)["languages"]
        assert [entry["requests"] for entry in left] == [0, second - 4]
        assert judge(capfd, *command, "--base-url", fake.url).code == 0
        assert judge(capfd, *command, "--dry-run").out.count("llm would be asked about 0 of") == 2
    assert max(Counter(fake.asked_pairs).values()) == 1
    assert len(fake.requests) == first + second


def test_killed_and_started_again_it_asks_about_no_answered_pair_twice(tmp_path: Path) -> None:
    folder = sample(tmp_path, 'model = "m"\nprefilter = 5', '"llm"')
    killer = Killer(40)
    with FakeApi(latency=0.02, instead=killer, yesno=answer_of) as fake:
        command = [sys.executable, "-m", "judge", "pool", "--data", str(folder), "--lang", "go", "--base-url", fake.url]
        environment = os.environ | {"OPENAI_API_KEY": "sk-secret"}
        killer.victim = subprocess.Popen(command, cwd=ROOT, env=environment, stderr=subprocess.DEVNULL, text=True)
        assert killer.victim.wait(60) == -signal.SIGKILL
        [retriever_id] = Answers.read(asking.path(folder, "go")).judges()
        shown = texts(folder, "go")
        before = {shown[pair] for pair in Answers.read(asking.path(folder, "go")).given(retriever_id)}
        assert 10 <= len(before) <= 40
        asked = len(fake.requests)
        subprocess.run(command, cwd=ROOT, env=environment, check=True, capture_output=True)
        again = {pair for request in fake.requests[asked:] for pair in request.pairs.values()}
        assert not before & again
        assert before | again == set(fake.asked_pairs)
    answers = Answers.read(asking.path(folder, "go"))
    assert {pair: answer.yes for pair, answer in answers.given(retriever_id).items()} == {
        pair: sure_of(shown[pair]) >= 0.5 for pair in answers.given(retriever_id)
    }
    assert len(answers.given(retriever_id)) == len(before | again)


def test_neither_and_missing_probabilities_are_counted(capfd: Capture, tmp_path: Path) -> None:
    folder = sample(tmp_path, 'model = "m"\nprefilter = 2', '"llm"')
    data = dataset.load(folder, SCALE)
    first = okapi.search(data.queries_of("go"), data.functions_of("go"), depth=1)[0].pair
    odd = texts(folder, "go")[first]

    def answer(search: str, code: str) -> tuple[str, dict[str, float]]:
        return ("Perhaps", {"Yes": 0.6, "No": 0.2}) if (search, code) == odd else ("yes", {})

    with FakeApi(yesno=answer) as fake:
        done = judge(capfd, "pool", "--data", folder, "--lang", "go", "--base-url", fake.url, "--json")
    assert done.code == 0, done.err
    [entry] = json.loads(done.out)["languages"]
    figures = entry["llm"]
    assert (figures["neither"], figures["without_probability"]) == (1, figures["pairs"] - 1)
    assert fake.asked_pairs.count(odd) == 3
    found = hits.read(hits.path(folder, "go", retriever="llm"))
    assert first not in {hit.pair for hit in found}
    assert {(hit.score, hit.probability) for hit in found} == {(1.0, None)}
    assert "go: 1 pairs got no yes or no (off-scale after 3 attempts), and are no hits of llm" in done.err
    assert f"go: {figures['pairs'] - 1} answers came without log-probabilities" in done.err


@pytest.mark.parametrize(
    ("llm", "retrievers", "options", "message"),
    [
        ("", '"llm"', (), "the retriever llm needs a model; name one with --model, or llm.model in judge.toml"),
        ('model = "m"\nprompt = "absent"', '"llm"', (), "llm.prompt: no such file or built-in name: 'absent'"),
        ('model = "m"', '"bm25"', ("--max-cost", "1"), "does not name; add it there"),
        ('model = "m"', '"bm25"', ("--dry-run",), "does not name; add it there"),
        ('model = "m"', '"llm"', ("--base-url", "https://api.example.org"), "OPENAI_API_KEY is not set"),
    ],
)
def test_what_is_lacking_is_said_before_anything_runs(
    capfd: Capture, tmp_path: Path, llm: str, retrievers: str, options: tuple[str, ...], message: str
) -> None:
    folder = sample(tmp_path, llm, retrievers)
    done = judge(capfd, "pool", "--data", folder, *options)
    assert done.code == 2
    assert message in done.error
    assert not list(folder.glob("work/*/hits"))


def test_status_tells_what_was_answered_and_what_it_took(capfd: Capture, tmp_path: Path) -> None:
    """By model and language: one model tells no log-probabilities, another answers one pair with neither word."""
    folder = sample(tmp_path, "prefilter = 3\n[prices]\nprompt = 2.0\ncompletion = 8.0", '"llm"')
    status = ("status", "--data", folder, "--lang", "go")
    assert json.loads(judge(capfd, *status, "--json").out)["languages"][0]["llm"] == []
    command = ("pool", "--data", folder, "--lang", "go")
    with FakeApi(refuses=("logprobs",), yesno=answer_of) as fake:
        assert judge(capfd, *command, "--model", "silent", "--base-url", fake.url).code == 0
        count = len(set(fake.asked_pairs))
    odd = min(fake.asked_pairs)
    with FakeApi(yesno=lambda *pair: ("Perhaps", {}) if pair == odd else answer_of(*pair)) as other:
        assert judge(capfd, *command, "--model", "telling", "--base-url", other.url).code == 0
    silent, telling = json.loads(judge(capfd, *status, "--json").out)["languages"][0]["llm"]
    assert (silent["model"], silent["answered"], silent["without_probability"], silent["failed"]) == (
        "silent",
        count,
        count,
        [],
    )
    assert silent["yes"] == sum(sure_of(pair) >= 0.5 for pair in set(fake.asked_pairs))
    assert (telling["model"], telling["answered"], telling["without_probability"]) == ("telling", count - 1, 0)
    assert [failure["reason"] for failure in telling["failed"]] == ["off-scale after 3 attempts"]
    assert texts(folder, "go")[telling["failed"][0]["search_id"], telling["failed"][0]["function_id"]] == odd
    assert (telling["requests"], telling["prompt_tokens"]) == (
        count + 2,
        sum(len(asked.prompt) // 4 for asked in other.requests),
    )
    assert telling["cost"] == pytest.approx(telling["prompt_tokens"] * 2e-6 + telling["completion_tokens"] * 8e-6)
    shown = judge(capfd, *status).out
    assert f"(silent): {count} answered, {silent['yes']} of them yes, {count} without log-probabilities, 0 failed, " in shown
    assert f"(telling): {count - 1} answered" in shown
    assert "1 failed (off-scale after 3 attempts 1), " in shown
    assert f"${telling['cost']:.4f}" in shown
