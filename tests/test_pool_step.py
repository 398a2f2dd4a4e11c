"""Pooling as Python calls it: records instead of text, and nothing printed."""

import json
from pathlib import Path

import pytest

from judge.steps import pool as pooling
from judge.steps.progress import Progress
from pools._dataset import folder as folders
from pools._sampling import hits, pooled
from pools.errors import Stopped, UsageError
from tests.builders.command import judge
from tests.builders.fake_api import FakeApi, answer_of

Capture = pytest.CaptureFixture[str]
LLM = '[pool]\nretrievers = ["bm25", "llm"]\n[llm]\nmodel = "m"\nprefilter = 0\n'


def choose(folder: Path, toml: str) -> folders.DatasetFolder:
    (folder / "judge.toml").write_text(toml, encoding="utf-8")
    return folders.load(folder)


def test_a_pool_is_drawn_without_a_word_but_to_those_who_listen(capfd: Capture, folder: Path) -> None:
    chosen = choose(folder, LLM)
    notes: list[str] = []
    told: list[Progress] = []
    with FakeApi(yesno=answer_of) as fake:
        (found,) = pooling.pool(chosen, base_url=fake.url, note=notes.append, progress=told.append)
        (again,) = pooling.pool(chosen, base_url=fake.url)
        assert len(fake.requests) == 8
    assert capfd.readouterr() == ("", "")
    assert notes[0].startswith("python: llm was asked about 8 pairs: ")
    assert {(entry.stage, entry.unit, entry.total) for entry in told} == {("python llm", "pair", 8)}
    assert [told[0].done, told[-1].done] == [0, 8]
    assert found.asked is not None
    assert (found.asked.pairs, found.asked.requests, found.asked.model) == (8, 8, "m")
    assert found.hits == {
        name: len(hits.read(hits.path(folder, "python", retriever=name))) for name in ("bm25", "llm")
    }  # fmt: skip
    assert (found.pool, found.new) == (pooled.read(pooled.path(folder, "python")), found.pairs)
    assert again.asked is not None
    assert (again.asked.requests, again.new, again.pool) == (0, 0, found.pool)


def test_the_json_is_the_records(capfd: Capture, folder: Path) -> None:
    chosen = choose(folder, '[pool]\nretrievers = ["grep-any", "bm25"]\n')
    (found,) = pooling.pool(chosen)
    assert found.asked is None
    entry = found.document()
    assert list(entry) == ["language", "pairs", "validation", "strata", "new", "hits", "seed", "contribution", "pool"]
    assert json.loads(judge(capfd, "pool", "--data", folder, "--json").out) == {"languages": [entry | {"new": 0}]}


def test_what_is_left_of_the_limits_goes_on_to_the_next_call(folder: Path) -> None:
    chosen = choose(folder, LLM)
    with FakeApi(yesno=answer_of) as fake:
        with pytest.raises(Stopped, match=r"3 pairs are asked for \(--max-pairs\)"):
            pooling.pool(chosen, base_url=fake.url, max_pairs=3)
        assert not (folder / "work" / "python" / "hits").exists()
        (plan,) = pooling.plan(chosen)
        assert (plan.pairs, plan.requests, plan.model, plan.cost) == (8, 5, "m", None)
        assert len(fake.requests) == 3
        pooling.pool(chosen, base_url=fake.url, max_pairs=5)
        assert len(fake.requests) == 8


def test_limits_and_plans_are_for_llm_alone(folder: Path) -> None:
    chosen = choose(folder, '[pool]\nretrievers = ["bm25"]\n')
    for refused in (lambda: pooling.plan(chosen), lambda: pooling.pool(chosen, max_cost=1.0)):
        with pytest.raises(UsageError, match=r"are for the retriever llm, which pool.retrievers in judge.toml does not name"):
            refused()
    assert not (folder / "work").exists()


def test_pairs_that_are_no_longer_worth_a_question_are_no_hits_whatever_was_answered(folder: Path) -> None:
    with FakeApi(yesno=lambda _search, _code: ("Yes", {"Yes": 0.9, "No": 0.1})) as fake:
        (every,) = pooling.pool(choose(folder, LLM), base_url=fake.url)
        few = choose(folder, LLM.replace("prefilter = 0", 'prefilter = 1\n[embedding]\nmodel = "absent/model"'))
        (best,) = pooling.pool(few, base_url=fake.url)
        assert len(fake.requests) == 8
    assert (every.hits["llm"], best.hits["llm"]) == (8, 2)
    assert best.asked is not None
    assert (best.asked.pairs, best.asked.yes, best.asked.hits, best.asked.requests) == (2, 2, 2, 0)
