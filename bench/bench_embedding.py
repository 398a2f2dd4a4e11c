"""The embedding over 200,000 functions: time and peak memory of its vectors, their cosines with 99 searches, and the pool.

Run as `python -m bench.bench_embedding`; aim: at most 2 GB, and memory in proportion to the functions. A model is no part of
it: the vectors are random ones of 384 figures, those of a search near those of its relevant functions, so that about as many
pairs are hits as the sample has. Each size runs in a process of its own. Peaks are of the process so far, functions included.
"""

import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from pools._dataset.records import Function, PairKey, Query
from pools._dataset.settings import PoolSettings
from pools._engines import calibration, vectors
from pools._retrievers import embedding
from pools._sampling import frame, pooled

SIZES = (50_000, 200_000)
SEARCHES = 99
WIDTH = 384
THRESHOLD = 0.3
RATED = 20
"""Functions a search that experts rated, half of them relevant."""


class Made:
    """Random vectors, the same for the same text; one that ends in a search's number lies near that search's."""

    name = "made up"
    chunk = 1024

    def embed(self, texts: Sequence[str]) -> Any:
        import numpy

        rows = numpy.empty((len(texts), WIDTH))
        for row, text in zip(rows, texts, strict=True):
            kind, number, search = text.split()
            row[:] = numpy.random.default_rng([int(number), kind == "search"]).standard_normal(WIDTH)
            if kind == "near":
                row += 1.2 * numpy.random.default_rng([int(search), True]).standard_normal(WIDTH)
        return rows


def made_up(size: int) -> tuple[list[Query], list[Function]]:
    """Return the searches, and so many functions, of which one in 20 lies near a search."""
    queries = [Query("go", f"q{number:02}", f"search {number} -") for number in range(SEARCHES)]
    kinds = ("near", *["far"] * 19)
    functions = [
        Function(f"f{number:06}", "go", f"{kinds[number % len(kinds)]} {number} {number // len(kinds) % SEARCHES}")
        for number in range(size)
    ]
    return queries, functions


def rated(functions: Sequence[Function]) -> dict[PairKey, bool]:
    """Return what experts say: of each search some functions that are near, and as many that are not."""
    found: dict[PairKey, bool] = {}
    for near, kind in ((True, "near"), (False, "far")):
        counts = [0] * SEARCHES
        for function in functions:
            own, _, search = function.code.split()
            if own == kind and counts[int(search)] < RATED // 2:
                counts[int(search)] += 1
                found[f"q{int(search):02}", function.id] = near
    return found


def measure(size: int) -> list[tuple[str, float, float]]:
    """Return name, seconds and peak in megabytes of each step."""
    steps: list[tuple[str, float, float]] = []
    start = time.perf_counter()

    def done(name: str) -> None:
        nonlocal start
        steps.append((name, time.perf_counter() - start, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024))
        start = time.perf_counter()

    queries, functions = made_up(size)
    texts = [query.search for query in queries] + [function.code for function in functions]
    experts = rated(functions)
    done("functions alone")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "vectors.parquet"
        vectors.complete(path, Made(), texts=texts)
        done("vectors made and kept")
        made = vectors.complete(path, Made(), texts=texts)
        done("vectors from the disk")
    similar = vectors.between(made, queries, functions=functions)
    if similar is None:
        raise click.ClickException("a text has no vector")
    learned = calibration.fit({pair: similar.cosine(pair) for pair in experts}, experts, tuning=set())
    if learned is None:
        raise click.ClickException("nothing was learned from the ratings")
    del similar
    done("calibrated")
    hits = embedding.search(queries, functions, made=made, learned=learned, threshold=THRESHOLD)
    done(f"{len(hits)} hits")
    pairs = pooled.draw(
        queries,
        frame.of([entry.id for entry in functions], 1),
        hits={"embedding": hits},
        validation=experts,
        settings=PoolSettings(),
        loose=frozenset(),
    )
    done(f"pool of {len(pairs)} pairs")
    return steps


@click.command()
@click.option("--size", type=int, help="so many functions alone, in this process")
def main(size: int | None) -> None:
    """Measure each size in a process of its own, and print time and peak memory step by step."""
    if size is not None:
        click.echo(json.dumps(measure(size)))
        return
    for functions in SIZES:
        command = [sys.executable, "-m", "bench.bench_embedding", "--size", str(functions)]
        steps = json.loads(subprocess.run(command, capture_output=True, check=True).stdout)
        click.echo(f"{functions} functions, {SEARCHES} searches, {WIDTH} figures a vector")
        for name, seconds, peak in steps:
            click.echo(f"  {name:24} {seconds:7.2f} s; peak {peak:5.0f} MB")


if __name__ == "__main__":
    main()
