"""What tests of runs share: pairs, a judge, a clock that nobody has to wait for, and a run in a process of its own."""

import argparse
import asyncio
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from judge._batching.batches import Item
from judge._endpoint.client import Client
from judge._judges.identity import Identity
from judge._judges.llm_judge import LlmJudge
from judge._ledger import entries
from judge._ledger.ledger import Ledger
from judge._rating import rating
from judge._rating.rating import Outcome
from pools._dataset.records import PairKey
from pools._dataset.settings import GateSettings, JudgeSettings
from pools.errors import JudgeError
from prompts import scales, templates
from tests.builders.fake_api import FakeApi, rating_of

SCALE = scales.load("relevance")
SEED = 7


class QuickClock:
    """Time as it is, plus all the waits that nobody waited for; `waits` lists them in seconds."""

    def __init__(self) -> None:
        self.waits: list[float] = []
        self._skipped = 0.0

    def monotonic(self) -> float:
        return time.monotonic() + self._skipped

    def unix(self) -> float:
        return 1e9

    async def wait(self, _event: asyncio.Event, seconds: float) -> None:
        self.waits.append(seconds)
        self._skipped += seconds
        await asyncio.sleep(0)


def identity(pairs_per_batch: int = 10, **sampling: Any) -> Identity:
    return Identity("m", templates.text("judge"), SCALE, 20_000, pairs_per_batch, sampling or {"temperature": 0.0})


def items(count: int, size: int = 80) -> list[Item]:
    """Pairs of few searches and many functions, about `size` characters of code each."""
    return [
        Item(
            (f"q{n % 7}", f"python/{n:04}"),
            f"search number {n % 7}",
            f"def f{n}():\n    return {n}\n" + "# pad\n" * (size // 6),
        )
        for n in range(count)
    ]


def truth(pairs: Sequence[Item]) -> dict[PairKey, int]:
    """What the fake rates these pairs."""
    return {item.pair: rating_of(item.search, item.code) for item in pairs}


def sealed(path: Path, judge: Identity) -> Ledger:
    """Open a ledger in which a judge is sealed."""
    ledger = Ledger.open(path)
    if ledger.seal(judge.judge_id) is None:
        ledger.add(entries.seal(judge, GateSettings(), relevant_from=2, gold_sha256="0" * 64))
    return ledger


def rate(
    fake: FakeApi | str,
    path: Path,
    pairs: Sequence[Item],
    settings: JudgeSettings | None = None,
    clock: QuickClock | None = None,
    **further: Any,
) -> Outcome:
    """Rate pairs through a real client; the time-out is short and no wait between requests is waited for."""
    url = fake if isinstance(fake, str) else fake.url
    settings = settings or JudgeSettings(pairs_per_batch=10, concurrency=4, timeout=2.0)
    judge = identity(settings.pairs_per_batch)

    async def all_of_them() -> Outcome:
        async with Client(
            url,
            "sk-secret",
            model="m",
            sampling=judge.sampling,
            concurrency=settings.concurrency,
            timeout=settings.timeout,
            clock=clock or QuickClock(),
        ) as client:
            with sealed(path, judge) as ledger:
                return await rating.rate(
                    pairs, "pool", judge=LlmJudge(judge, client), ledger=ledger, settings=settings, seed=SEED, **further
                )

    return asyncio.run(all_of_them())


class Killer:
    """Kills a process, from the server's thread, a moment after a request has come in."""

    def __init__(self, count: int, delay: float = 0.0) -> None:
        self._left, self._delay = count, delay
        self.victim: subprocess.Popen[str] | None = None

    def __call__(self, _path: str) -> None:
        self._left -= 1
        if not self._left and self.victim is not None:
            threading.Timer(self._delay, self.victim.kill).start()


def main() -> None:
    """Rate pairs in this process, as the command does: one line for an error, and its exit code."""
    parser = argparse.ArgumentParser(description="Rate made-up pairs")
    parser.add_argument("url")
    parser.add_argument("ledger", type=Path)
    parser.add_argument("--pairs", type=int, default=100)
    parser.add_argument("--concurrency", type=int, default=4)
    parser.add_argument("--file-size", type=int, help="greatest size of a file, in bytes: a full disk")
    options = parser.parse_args()
    if options.file_size:
        import resource

        resource.setrlimit(resource.RLIMIT_FSIZE, (options.file_size, options.file_size))
    settings = JudgeSettings(pairs_per_batch=5, concurrency=options.concurrency, timeout=10.0)

    def say(line: object) -> None:
        sys.stderr.write(f"{line}\n")
        sys.stderr.flush()

    try:
        outcome = rate(options.url, options.ledger, items(options.pairs), settings, note=say)
    except JudgeError as error:
        say(error)
        sys.exit(error.exit_code)
    say(f"{outcome.rated} {len(outcome.failed)}")


if __name__ == "__main__":
    main()
