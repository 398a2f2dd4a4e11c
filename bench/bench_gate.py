"""Time and memory of one verdict on 1,000,000 validation pairs of 20,000 searches with 10,000 resamples.

Run as `python -m bench.bench_gate`; aims: under 3 s and 1 GB. The ratings are made up before the clock starts, in the
order of a file of judgements: by search and function. Memory is the peak of the whole process, the made-up ratings included.
"""

import resource
import time

import click
import numpy as np

from gates import gate, report
from pools.settings import GateSettings

PAIRS, SEARCHES = 1_000_000, 20_000


def main() -> None:
    """Make up clustered ratings, give the verdict, and print what it took."""
    random = np.random.default_rng(1)
    search = np.arange(PAIRS) * SEARCHES // PAIRS
    difficulty = random.normal(size=SEARCHES)[search]
    experts = np.clip(np.round(1.2 + difficulty + random.normal(size=PAIRS)), 0, 3).astype(int).tolist()
    judged = np.clip(np.round(experts + 0.3 * difficulty + random.normal(scale=0.7, size=PAIRS)), 0, 3).astype(int).tolist()
    pairs = [(f"q{number:05}", f"python/{function:07}") for function, number in enumerate(search.tolist())]
    gold = {pair: (rating,) for pair, rating in zip(pairs, experts, strict=True)}
    ratings = dict(zip(pairs, judged, strict=True))
    settings = GateSettings()
    start, busy = time.perf_counter(), time.process_time()
    record = gate.assess("python", gold, ratings, settings, 2.0, 1, None)
    seconds, busy = time.perf_counter() - start, time.process_time() - busy
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    click.echo(report.sentence(record))
    click.echo(f"{PAIRS} pairs, {SEARCHES} searches, {settings.resamples} resamples:")
    click.echo(f"{seconds:.2f} s, of which all cores computed {busy:.2f} s, peak {peak:.0f} MB")


if __name__ == "__main__":
    main()
