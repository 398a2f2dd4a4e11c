"""Time and memory of one verdict on 1,000,000 validation pairs of 20,000 searches with 10,000 resamples.

Run as `python -m bench.bench_gate`; aims: under 3 s and 1 GB. On the clock is everything from ratings in memory to the record:
bringing the two sides together, counts, resampling, interval (the import of scipy that it needs included), the experts among
themselves, and the hashes. Not on the clock: starting Python, and reading judgements and ledger, whose time is that of a JSON
parser. The ratings are made up before the clock starts, and come as the command gets them: the experts' in the order of a
file of judgements, by search and function, the judge's in the shuffled order of a ledger under ids read for themselves.
Processor time is given beside the time on the wall, because another program on the machine makes only the latter longer.
Memory is the peak of the whole process, the made-up ratings included.
"""

import resource
import time

import click
import numpy as np

from gates._report import wording
from gates._verdict import gate_record
from gates._verdict.gate_record import Experts, Ratings
from pools._dataset.settings import GateSettings

PAIRS, SEARCHES = 1_000_000, 20_000


def main() -> None:
    """Make up clustered ratings, give the verdict, and print what it took."""
    gold, ratings = _made_up()
    settings = GateSettings()
    start, busy = time.perf_counter(), time.process_time()
    record = gate_record.assess("python", gold, ratings=ratings, gate=settings, relevant_from=2.0, seed=1, judge_id=None)
    seconds, busy = time.perf_counter() - start, time.process_time() - busy
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    click.echo(wording.sentence(record))
    click.echo(f"{PAIRS} pairs, {SEARCHES} searches, {settings.resamples} resamples:")
    click.echo(f"{seconds:.2f} s, of which all cores computed {busy:.2f} s, peak {peak:.0f} MB")


def _made_up() -> tuple[Experts, Ratings]:
    random = np.random.default_rng(1)
    search = np.arange(PAIRS) * SEARCHES // PAIRS
    difficulty = random.normal(size=SEARCHES)[search]
    experts = np.clip(np.round(1.2 + difficulty + random.normal(size=PAIRS)), 0, 3).astype(int)
    judged = np.clip(np.round(experts + 0.3 * difficulty + random.normal(scale=0.7, size=PAIRS)), 0, 3).astype(int)
    searches = [f"q{number:05}" for number in range(SEARCHES)]
    gold = {
        (searches[number], f"python/{function:07}"): (rating,)
        for function, (number, rating) in enumerate(zip(search.tolist(), experts.tolist(), strict=True))
    }
    again = [f"q{number:05}" for number in range(SEARCHES)]
    order = random.permutation(PAIRS)
    ratings = {
        (again[number], f"python/{function:07}"): rating
        for function, number, rating in zip(order.tolist(), search[order].tolist(), judged[order].tolist(), strict=True)
    }
    return gold, ratings


if __name__ == "__main__":
    main()
