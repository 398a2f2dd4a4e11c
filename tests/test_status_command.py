"""`judge status`: how many relevant pairs the pool misses, by hand from what is on disk."""

import json
from pathlib import Path

import pytest

from judge._batching.batches import Batch, Item
from judge._endpoint.answer import Answer, Usage
from judge._judges.identity import Identity
from judge._ledger import entries
from judge._ledger.ledger import Ledger
from judge._reading import replies
from judge.steps.demo import copy_sample
from pools._dataset import dataset
from pools._dataset.settings import GateSettings
from pools._sampling import pooled
from prompts import templates
from prompts.scales import Scale
from tests.builders.command import judge

Capture = pytest.CaptureFixture[str]


def test_the_estimate_weighs_each_pair_by_its_probability(capfd: Capture, tmp_path: Path, scale: Scale) -> None:
    folder = tmp_path / "sample"
    copy_sample(folder)
    (folder / "judge.toml").write_text('[pool]\nretrievers = ["grep-all", "grep-any"]\n', encoding="utf-8")
    status = ("status", "--data", folder, "--lang", "go")
    assert judge(capfd, "pool", "--data", folder, "--lang", "go").code == 0
    assert json.loads(judge(capfd, *status, "--json").out)["languages"][0]["relevant"] is None
    assert "missed" not in judge(capfd, *status).out
    assert judge(capfd, "rate", "--data", folder, "--lang", "go", "--judge", "baseline", "--continue").code in {0, 1}
    pairs = pooled.read(pooled.path(folder, "go"))
    ledger = Ledger.read(dataset.work(folder, "go") / "judgements.jsonl")
    (judge_id,) = ledger.judges()
    ratings = ledger.ratings(judge_id)
    experts = dataset.load(folder, scale).experts_of("go")
    drawn = {entry.pair: entry.probability for entry in pairs if entry.stratum is not None and ratings[entry.pair] >= 2}
    gold = sum(sum(given) / len(given) >= 2 for given in experts.values())
    assert any(ratings[pair] >= 2 for pair in experts if sum(experts[pair]) / len(experts[pair]) < 2)
    (entry,) = json.loads(judge(capfd, *status, "--json").out)["languages"]
    found = entry["relevant"]
    assert found["judge_id"] == judge_id
    assert found["found"] == gold + len(drawn)
    assert found["total"] == pytest.approx(gold + sum(1 / (probability or 0) for probability in drawn.values()))
    assert found["found"] < found["total"]
    assert found["lower"] <= found["total"] <= found["upper"]
    line = f"{found['missed']:.0f} relevant pairs beside the {found['found']} found"
    assert line in judge(capfd, *status).out


def test_what_a_judge_took_is_the_sum_of_its_replies(capfd: Capture, tmp_path: Path, scale: Scale) -> None:
    copy_sample(tmp_path / "sample")
    asked = Identity("m", templates.text("judge"), scale, 20_000, 1, {})
    with Ledger.open(dataset.work(tmp_path / "sample", "go") / "judgements.jsonl") as ledger:
        ledger.add(entries.seal(asked, GateSettings(), relevant_from=2, gold_sha256="0" * 64))
        for number in range(2):
            batch = Batch(((f"id{number}", Item((f"q{number}", "f"), "", "")),))
            answer = Answer(replies.encode({f"id{number}": 2}), "stop", "m", Usage(1_000, 200, 30), 0.25, 4)
            ledger.add(entries.reply(asked.judge_id, "pool", batch=batch, answer=answer))
        ledger.add(entries.failure(asked.judge_id, ("q9", "f"), reason="refused"))
    status = ("status", "--data", tmp_path / "sample", "--lang", "go")
    (entry,) = json.loads(judge(capfd, *status, "--json").out)["languages"]
    (found,) = entry["judges"]
    assert {name: found[name] for name in ("rated", "failed", "requests", "prompt_tokens", "cached_tokens")} == {
        "rated": 2, "failed": [{"search_id": "q9", "function_id": "f", "reason": "refused"}], "requests": 2,
        "prompt_tokens": 2_000, "cached_tokens": 400,
    }  # fmt: skip
    assert (found["completion_tokens"], found["secrets_masked"], found["cost"]) == (60, 8, 0.5)
    line = "2 requests, 2000 prompt tokens (400 cached), 60 completion tokens, $0.5000, 8 secrets masked"
    assert line in judge(capfd, *status).out
