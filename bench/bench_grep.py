"""grep-all and grep-any of 99 searches over 943 and over 200,000 functions, against a loop of one `rg -i -F` a word.

Run as `python -m bench.bench_grep`; aim: 5 times as fast as the loop at the larger size. The functions are made up, seeded:
of identifiers joined from a vocabulary of words about as unevenly frequent as those of real code, so that a search's words are
in about as many functions as the Challenge's are (grep-any hits an eighth of all pairs).

Each way runs in a process of its own, so that its peak memory is its own, and both must come to the same hits. The loop
searches each distinct word once, over the same single file, and is measured twice: with its hits made of what it prints, which
is the same task, and for ripgrep's part alone. Memory is the peak of the process, functions included, and of its largest rg.
"""

import hashlib
import json
import random
import resource
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from itertools import accumulate
from typing import Any

import click

from pools._dataset.records import Function, Query
from pools._engines import grep_words, ripgrep
from pools._sampling.hits import Hit

SIZES = (943, 200_000)
SEARCHES = 99
SYLLABLES = ("re", "con", "ta", "mi", "lo", "set", "par", "in", "de", "ver", "ma", "st", "ro", "en", "tic", "ble", "ing", "ad")
KEYWORDS = ("return", "if", "for", "self", "in", "not", "None", "else", "def", "import")
Hits = dict[str, tuple[Hit, ...]]


def vocabulary(rng: random.Random, size: int) -> list[str]:
    """Return distinct made-up words, the most frequent first."""
    found: dict[str, None] = {}
    while len(found) < size:
        found["".join(rng.choices(SYLLABLES, k=rng.randint(2, 4)))] = None
    return list(found)


def made_up(size: int) -> tuple[list[Query], list[Function]]:
    """Return the searches and so many functions; a search's words are on the whole rarer than the functions'."""
    rng = random.Random(1)  # noqa: S311  a benchmark's corpus, no secret
    known = vocabulary(rng, 20_000)
    weights = list(accumulate(1 / (rank + 20) for rank in range(len(known))))
    rarer = list(accumulate(1 / (rank + 1000) for rank in range(len(known))))
    queries = [
        Query("python", f"q{number}", " ".join(rng.choices(known, cum_weights=rarer, k=rng.randint(1, 4))))
        for number in range(SEARCHES)
    ]
    compounds = [
        first + second.title()
        for first, second in zip(*[iter(rng.choices(known, cum_weights=weights, k=80_000))] * 2, strict=True)
    ]
    functions = []
    for number in range(size):
        lines = max(1, int(rng.lognormvariate(2.15, 0.7)))
        words = iter(rng.choices(known, cum_weights=weights, k=4 * lines + 1))
        code = [f"def {next(words)}_{next(words)}({next(words)}, {next(words)}={next(words).upper()}):"]
        for first, second, third, fourth in zip(*[words] * 4, strict=True):
            compound = compounds[int(len(compounds) ** rng.random())]
            code.append(f"    {rng.choice(KEYWORDS)} {first}_{second} = {compound}.{third}({fourth}, {rng.randrange(99)})")
        functions.append(Function(f"f{number:06}", "python", "\n".join(code)))
    return queries, functions


def one_pass(queries: list[Query], functions: list[Function]) -> Hits:
    """Search as the project does."""
    return grep_words.search_words(queries, functions)


def loop(queries: list[Query], functions: list[Function]) -> Hits:
    """Search with one `rg -i -F` a distinct word, and make the same hits of what it prints."""
    found: dict[str, list[Hit]] = {"grep-all": [], "grep-any": []}
    with ripgrep.haystack(functions) as hay:
        wanted = {word for query in queries for word in grep_words.words(query.search)}
        holders = {word: set(hay.hits(word, "--ignore-case", "--fixed-strings")) for word in wanted}
    for query in queries:
        words = grep_words.words(query.search)
        counts = Counter(function_id for word in words for function_id in holders[word])
        ordered = sorted(counts, key=lambda function_id: (-counts[function_id], function_id))
        for name, least in (("grep-any", 1), ("grep-all", len(words))):
            kept = (function_id for function_id in ordered if counts[function_id] >= least)
            found[name] += [Hit(query.search_id, kept_id, rank, float(counts[kept_id])) for rank, kept_id in enumerate(kept, 1)]
    return {name: tuple(hits) for name, hits in found.items()}


def bare_loop(queries: list[Query], functions: list[Function]) -> Hits:
    """Run one `rg -i -F` a distinct word, and do nothing with what it prints."""
    with ripgrep.haystack(functions) as hay:
        for word in dict.fromkeys(word for query in queries for word in grep_words.words(query.search)):
            command = [ripgrep.program(), *ripgrep.PLAIN, "--max-columns=1", "-i", "-F", "-e", word, "--", str(hay.file)]
            subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, check=False)
    return {}


WAYS: dict[str, Callable[[list[Query], list[Function]], Hits]] = {
    "one pass": one_pass, "one rg a word": loop, "one rg a word, rg alone": bare_loop,
}  # fmt: skip


def processor() -> float:
    """Return the seconds of processor time that this process and its ended children used so far."""
    own, children = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return own.ru_utime + own.ru_stime + children.ru_utime + children.ru_stime


def measure(way: str, size: int) -> dict[str, Any]:
    """Return seconds, megabytes and a digest of the hits of one way in this process."""
    queries, functions = made_up(size)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    start, busy = time.perf_counter(), processor()
    found = WAYS[way](queries, functions)
    seconds, busy = time.perf_counter() - start, processor() - busy
    own, children = (resource.getrusage(who).ru_maxrss / 1024 for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    digest = hashlib.sha256()
    for name, hits in sorted(found.items()):
        for hit in hits:
            digest.update(f"{name} {hit.search_id} {hit.function_id} {hit.rank} {hit.score}\n".encode())
    return {
        "seconds": seconds,
        "processor": busy,
        "characters": sum(len(function.code) for function in functions),
        "words": len({word for query in queries for word in grep_words.words(query.search)}),
        "hits": {name: len(hits) for name, hits in sorted(found.items())},
        "before": before / 1024,
        "peak": own,
        "rg": children,
        "digest": digest.hexdigest(),
    }


@click.command()
@click.option("--way", type=click.Choice(list(WAYS)), help="measure this way alone, in this process")
@click.option("--size", type=int, help="so many functions alone")
def main(way: str | None, size: int | None) -> None:
    """Measure every way at every size, each in a process of its own, and print times, ratios and peak memory."""
    if way is not None:
        click.echo(json.dumps(measure(way, size or SIZES[0])))
        return
    for functions in (size,) if size else SIZES:
        found = {}
        for name in WAYS:
            command = [sys.executable, "-m", "bench.bench_grep", "--way", name, "--size", str(functions)]
            found[name] = json.loads(subprocess.run(command, capture_output=True, check=True).stdout)
        ours, theirs = found["one pass"], found["one rg a word"]
        if ours["digest"] != theirs["digest"]:
            raise click.ClickException(f"hits differ: {ours['hits']} against {theirs['hits']}")
        mean = ours["characters"] / functions
        click.echo(
            f"{functions} functions of {mean:.0f} characters, {SEARCHES} searches, {ours['words']} words, hits {ours['hits']}"
        )
        for name, figures in found.items():
            click.echo(
                f"  {name:24} {figures['seconds']:7.2f} s, {figures['seconds'] / ours['seconds']:5.1f} x; processor "
                f"{figures['processor']:7.2f} s, {figures['processor'] / ours['processor']:5.1f} x; peak "
                f"{figures['peak']:.0f} MB (functions alone {figures['before']:.0f}), rg {figures['rg']:.0f} MB"
            )


if __name__ == "__main__":
    main()
