"""How busy `judge rate` keeps an endpoint, and what it costs the machine.

Everything is the real thing in processes of their own: the command, on a dataset of 4,000 expert-rated pairs of 800
characters, with its ledger and the gate at the end; the fake endpoint on loopback, 200 ms a reply; and the bare loop of
`bench.bare_loop` over the same pairs. Times are ratios to ceil(requests / concurrency) x latency, the least that is possible.
"""

import argparse
import json
import math
import os
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pools._dataset import files, tables
from pools.errors import Stopped
from tests.builders.fake_api import rating_of

SEARCHES = 100
CHARACTERS = 800


@dataclass(frozen=True, slots=True)
class Measured:
    """One process from its start to its end, in seconds and MiB; window and requests as the endpoint saw them."""

    name: str
    wall: float
    window: float
    start_up: float
    cpu: float
    memory: float
    requests: int

    def line(self, concurrency: int, latency: float) -> str:
        least = math.ceil(self.requests / concurrency) * latency
        return (
            f"{self.name:34} {self.requests:5} requests  window {self.window / least:5.2f}  wall {self.wall / least:5.2f}  "
            f"CPU {1000 * self.cpu / self.requests:6.2f} ms/request  start-up {self.start_up:4.2f} s  {self.memory:4.0f} MiB"
        )


class Endpoint:
    """The fake endpoint in a process of its own."""

    def __init__(self, latency: float) -> None:
        command = [sys.executable, "-m", "tests.builders.fake_api", "--latency", str(latency)]
        self._process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        assert self._process.stdout is not None  # noqa: S101  it is a pipe
        self.url = f"http://127.0.0.1:{int(self._process.stdout.readline())}/v1"

    def statistics(self) -> dict[str, Any]:
        request = urllib.request.Request(f"{self.url}/stats", method="DELETE")  # noqa: S310  loopback
        with urllib.request.urlopen(request) as response:  # noqa: S310
            found: dict[str, Any] = json.load(response)
        return found

    def close(self) -> None:
        self._process.kill()
        self._process.wait()


def measure(name: str, command: Sequence[str], *, endpoint: Endpoint, stopped: bool = False) -> Measured:
    """Run a command to its end, which a limit brings where `stopped`; raises `RuntimeError` with its words where it fails."""
    endpoint.statistics()
    started = time.monotonic()
    with tempfile.TemporaryFile() as said:
        process = subprocess.Popen(command, stdout=said, stderr=said)
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        ended = time.monotonic()
        if process.returncode != (Stopped.exit_code if stopped else 0):
            said.seek(0)
            raise RuntimeError(f"{name} failed: {said.read().decode()[-2000:]}")
    seen = endpoint.statistics()
    return Measured(
        name,
        wall=ended - started,
        window=seen["last_answer"] - seen["first_request"],
        start_up=seen["first_request"] - started,
        cpu=used.ru_utime + used.ru_stime,
        memory=used.ru_maxrss / 1024,
        requests=seen["requests"],
    )


def dataset(folder: Path, count: int, *, size: int) -> Path:
    """Write a dataset of so many expert-rated pairs whose judge agrees with the experts; returns the pairs for the loop."""
    searches = [f"search number {n} for something" for n in range(SEARCHES)]
    functions, qrels, shown = [], [], []
    for n in range(count):
        code = f"def function_{n}(values):\n" + "".join(f"    total_{k} = values[{k}] + {n}\n" for k in range(CHARACTERS))
        code, search = code[:CHARACTERS].rstrip(), n % SEARCHES
        rating = rating_of(searches[search], code)
        functions.append({"id": f"f{n:07}", "language": "all", "code": code})
        qrels.append(
            {"language": "all", "search_id": f"q{search}", "function_id": f"f{n:07}", "relevance": float(rating),
             "relevant": rating >= 2, "source": "expert", "expert_ratings": [rating], "judge_rating": None,
             "rated_because": "expert"}
        )  # fmt: skip
        shown.append([searches[search], code])
    queries = [{"language": "all", "search_id": f"q{n}", "search": search} for n, search in enumerate(searches)]
    for name, rows in (("queries", queries), ("corpus", functions), ("qrels", qrels)):
        tables.write(folder / f"{name}.jsonl", rows)
    files.replace(folder / "judge.toml", f"[judge]\npairs_per_batch = {size}\n".encode())
    files.replace(folder / "pairs.jsonl", b"".join(json.dumps(pair).encode() + b"\n" for pair in shown))
    return folder / "pairs.jsonl"


def rating(pairs: int, latency: float, *, concurrency: int) -> None:
    """Measure the command and the bare loop, many pairs a request and one."""
    endpoint = Endpoint(latency)
    try:
        for size in (40, 1):
            with tempfile.TemporaryDirectory() as folder:
                shown = dataset(Path(folder), pairs, size=size)
                judge = [sys.executable, "-m", "judge", "rate", "--data", folder, "--base-url", endpoint.url, "--model", "m",
                         "--concurrency", str(concurrency)]  # fmt: skip
                bare = [sys.executable, "-m", "bench.bare_loop", endpoint.url, str(shown), str(size), str(concurrency)]
                for name, command in (
                    (f"judge rate, {size} a request", judge),
                    (f"bare loop, {size} a request", [*bare, "httpx"]),
                    (f"bare loop on aiohttp, {size} a request", [*bare, "aiohttp"]),
                ):
                    _say(measure(name, command, endpoint=endpoint).line(concurrency, latency))
    finally:
        endpoint.close()


def _say(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description="Measure judge rate against a fake endpoint on loopback")
    parser.add_argument("--pairs", type=int, default=4_000)
    parser.add_argument("--latency", type=float, default=0.2, help="seconds a reply")
    parser.add_argument("--concurrency", type=int, default=64)
    options = parser.parse_args()
    rating(options.pairs, options.latency, concurrency=options.concurrency)


if __name__ == "__main__":
    main()
