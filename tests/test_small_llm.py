"""A real small LLM behind a real server, through the same client as any other endpoint; run by `make test-llm`.

SmolLM2-135M rates near chance, and the gate says so: what is shown is that whatever a real model answers is reconciled, and
that every pair ends rated or failed with a reason.
"""

import asyncio
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from gates._verdict import gate_record, hashes
from judge._batching import batches
from judge._batching.batches import Batch, Item
from judge._endpoint.answer import Answer
from judge._endpoint.client import Client
from judge._judges.identity import Identity
from judge._ledger import entries
from judge._ledger.ledger import Ledger, records
from judge._rating import rating
from judge._reading import replies
from pools._dataset import dataset
from pools._dataset.settings import GateSettings, JudgeSettings
from prompts import templates
from prompts.scales import Scale
from tests.builders.places import ROOT

pytestmark = pytest.mark.llm

SETTINGS = replace(JudgeSettings(), pairs_per_batch=5, max_tokens=160, concurrency=1, attempts=1)
SAMPLING = {"temperature": SETTINGS.temperature, "max_tokens": SETTINGS.max_tokens}


@pytest.fixture(scope="module")
def endpoint() -> Iterator[str]:
    server = subprocess.Popen(
        [sys.executable, "-m", "tests.builders.llm_server"],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    assert server.stdout is not None
    address = server.stdout.readline().strip()
    assert address.startswith("http://127.0.0.1:"), "the server did not start"
    yield f"{address}/v1"
    server.communicate("")
    assert server.returncode == 0


@dataclass
class SmallJudge:
    """Asks as the LLM judge does, with the reply's JSON schema or without one."""

    identity: Identity
    client: Client
    with_schema: bool
    prompts: list[str] = field(default_factory=list)

    async def answer(self, batch: Batch) -> Answer:
        self.prompts.append(batches.prompt(batch, self.identity))
        schema: dict[str, Any] | None = batches.reply_schema(batch, self.identity.scale) if self.with_schema else None
        return await self.client.ask(self.prompts[-1], schema)


@pytest.mark.parametrize("with_schema", [True, False], ids=["schema", "plain"])
@pytest.mark.timeout(600)
def test_every_reply_is_reconciled_and_every_pair_accounted_for(
    endpoint: str, scale: Scale, tmp_path: Path, with_schema: bool
) -> None:
    sample = dataset.load(ROOT / "pools" / "_sample", scale)
    searches = {query.search_id: query.search for query in sample.queries_of("python")}
    codes = {function.id: function.code for function in sample.functions_of("python")}
    experts = dict(sorted(sample.experts_of("python").items())[:20])
    items = [Item(pair, searches[pair[0]], codes[pair[1]]) for pair in experts]
    identity = Identity("smollm2", templates.text("judge"), scale, SETTINGS.shown_characters, 5, SAMPLING)
    path = tmp_path / "judgements.jsonl"

    async def rate(ledger: Ledger) -> rating.Outcome:
        async with Client(endpoint, "", model="smollm2", sampling=SAMPLING, concurrency=1) as client:
            judge = SmallJudge(identity, client, with_schema)
            return await rating.rate(items, "validation", judge=judge, ledger=ledger, settings=SETTINGS, seed=1)

    with Ledger.open(path) as ledger:
        ledger.add(entries.seal(identity, GateSettings(), relevant_from=2, gold_sha256=hashes.of_gold(experts)))
        outcome = asyncio.run(rate(ledger))

    lines = list(records(path))
    asked = [line for line in lines if line["kind"] == "reply"]
    readings = {line["number"]: line for line in lines if line["kind"] == "reading"}
    assert asked
    assert max(len(line["sent"]) for line in asked) == 5
    for line in asked:
        ids = [entry[0] for entry in line["sent"]]
        read = replies.reconcile(ids, line["raw"], scale_values=scale.values, finish_reason=line["finish_reason"])
        rated = {key: entry.rating for key, entry in read.entries.items() if entry.rating is not None}
        assert readings[line["number"]]["ratings"] == rated
        assert set(rated) | set(readings[line["number"]]["faults"]) == set(ids)
        assert line["usage"]["prompt"] > 0
    stored = Ledger.read(path)
    ratings, failed = stored.ratings(identity.judge_id), stored.failed(identity.judge_id)
    assert set(ratings) | set(failed) == set(experts)
    assert not set(ratings) & set(failed)
    assert all(failed.values())
    assert outcome.rated == len(ratings)
    record = gate_record.assess(
        "python", experts, ratings=ratings, gate=GateSettings(), relevant_from=2, seed=1, judge_id=identity.judge_id
    )
    assert record.verdict in {"missed", "incomplete"}, "a model this small does not agree with the experts"
    print(  # noqa: T201  what `make test-llm` shows
        f"\n{'schema' if with_schema else 'plain'}: {len(asked)} replies, {len(ratings)} rated, {len(failed)} failed "
        f"({', '.join(sorted(set(failed.values()))) or 'none'}); gate {record.verdict}, F1 {record.agreement.f1}"
    )
