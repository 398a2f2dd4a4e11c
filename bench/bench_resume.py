"""How long `judge rate` takes to its first request in a pool of a million pairs, and its memory: none of them done, or all.

The command as a user runs it, on a dataset with a corpus, a pool and a ledger; all but its last pairs are done in one case,
the expert-rated ones only in the other, and one request is made. A pool takes memory whether its pairs are done or not, so
the two peaks beside each other say what the done ones take.
"""

import argparse
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from bench.bench_rate import Endpoint, measure
from judge._batching.batches import Batch, Item
from judge._endpoint.answer import Answer, Usage
from judge._judges.identity import Identity
from judge._ledger import chain, entries
from judge._ledger.tally import Purpose
from judge._reading import replies
from judge._reading.replies import Entry, Reading
from judge.steps import chosen_judge
from pools._dataset import files, tables
from pools._dataset import folder as dataset_folder
from pools._dataset.records import PairKey
from pools._dataset.settings import GateSettings
from pools._sampling import pooled
from pools._sampling.pooled import PoolPair

SEARCHES = 997
EXPERTS = 40
CODE = "def function(values):\n" + "    total = values[0]\n" * 8


def dataset(folder: Path, pairs: int, *, size: int) -> list[PairKey]:
    """Write a dataset whose pool has so many pairs; returns those that experts rated and those of the pool, in this order."""
    known = [(f"q{n % SEARCHES}", f"f{n // 7:07}") for n in range(EXPERTS + pairs)]
    tables.write(
        folder / "queries.jsonl",
        [{"language": "all", "search_id": f"q{n}", "search": f"search {n}"} for n in range(SEARCHES)],
    )
    functions = sorted({function for _, function in known})
    tables.write(folder / "corpus.jsonl", [{"id": name, "language": "all", "code": CODE} for name in functions])
    tables.write(
        folder / "qrels.jsonl",
        [{"language": "all", "search_id": search, "function_id": function, "relevance": 2.0, "relevant": True,
          "source": "expert", "expert_ratings": [2], "judge_rating": None, "rated_because": "expert"}
         for search, function in known[:EXPERTS]],
    )  # fmt: skip
    files.replace(folder / "judge.toml", f"[judge]\npairs_per_batch = {size}\n".encode())
    drawn = [PoolPair(search, function, ("bm25",), pooled.POOLED, 1.0, (1,), (None,)) for search, function in known[EXPERTS:]]
    pooled.write(pooled.path(folder, "all"), sorted(drawn, key=lambda entry: entry.pair))
    return known


def ledger(path: Path, judge: Identity, *, known: list[PairKey], done: int, size: int) -> None:
    """Write a ledger in which the experts' pairs are rated and so many of the pool's."""
    last = chain.FIRST
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("wb") as file:
        for record in _records(judge, known, done=done, size=size):
            line, last = chain.line({"kind": record["kind"], "time": "2026-01-01T00:00:00Z"} | record, last)
            file.write(line)


def _records(judge: Identity, known: list[PairKey], *, done: int, size: int) -> Iterator[entries.Record]:
    yield entries.seal(judge, GateSettings(), relevant_from=2, gold_sha256="0" * 64)
    parts: list[tuple[Purpose, list[PairKey]]] = [("validation", known[:EXPERTS]), ("pool", known[EXPERTS : EXPERTS + done])]
    number = 0
    for purpose, pairs in parts:
        for first in range(0, len(pairs), size):
            number += 1
            items = [Item(pair, "", "") for pair in pairs[first : first + size]]
            batch = Batch(tuple((f"b{place:07}", item) for place, item in enumerate(items)))
            text = replies.encode(dict.fromkeys(batch.ids, 2))
            answer = Answer(text, "stop", "m", Usage(900, 0, 20))
            reply = entries.reply(judge.judge_id, purpose, batch=batch, answer=answer)
            yield reply | {"number": number}
            yield entries.reading(number, Reading({entry_id: Entry("rated", 2) for entry_id in batch.ids}))


def resuming(pairs: int) -> None:
    """Measure the command, many pairs a request and one, none done and all but the last batch."""
    endpoint = Endpoint(0.0)
    try:
        for size in (40, 1):
            with tempfile.TemporaryDirectory() as place:
                folder = Path(place)
                known = dataset(folder, pairs, size=size)
                judge = chosen_judge.identity(dataset_folder.load(folder)["all"], "m")
                command = [sys.executable, "-m", "judge", "rate", "--data", str(folder), "--base-url", endpoint.url,
                           "--model", "m", "--continue", "--max-requests", "1"]  # fmt: skip
                for done in (0, pairs - size):
                    path = folder / "work" / "all" / "judgements.jsonl"
                    ledger(path, judge, known=known, done=done, size=size)
                    megabytes = path.stat().st_size / 1e6
                    found = measure("judge rate", command, endpoint=endpoint, stopped=True)
                    sys.stdout.write(
                        f"{done:9,} of {pairs:,} pairs done, {size:2} a request: ledger {megabytes:4.0f} MB, first request "
                        f"after {found.start_up:5.2f} s, peak {found.memory:4.0f} MiB\n"
                    )
                    sys.stdout.flush()
    finally:
        endpoint.close()


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description="Measure how judge rate resumes")
    parser.add_argument("--pairs", type=int, default=1_000_000)
    resuming(parser.parse_args().pairs)


if __name__ == "__main__":
    main()
