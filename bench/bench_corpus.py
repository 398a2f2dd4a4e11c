"""Speed of a corpus of the running Python's standard library: extraction alone, and everything up to the written file.

Run as `python -m bench.bench_corpus`; aim: 20,000 functions a minute on one core. Files that are vendored, generated or
minified are read too; packages installed beside the library are not.
"""

import resource
import sysconfig
import tempfile
import time
from collections import Counter
from pathlib import Path

import click

from pools._checkouts import checkout, extraction, harvest

LANGUAGE, SUFFIX = "python", ".py"


def main() -> None:
    """Extract, then make the whole corpus, and print functions a minute of processor time and the peak memory."""
    library = checkout.open_checkout(Path(sysconfig.get_paths()["stdlib"]))
    read = checkout.sources(library, {SUFFIX}, include_vendored=True, left_out=Counter())
    files = [(path, content) for path, content in read if "-packages/" not in path]
    start = time.process_time()
    texts = (extraction.decode(content, LANGUAGE) for _, content in files)
    found = sum(len(extraction.functions(text, LANGUAGE, suffix=SUFFIX).spans) for text in texts)
    _show(f"extraction of {len(files)} files", found, time.process_time() - start)
    start = time.process_time()
    growth = harvest.grow((), LANGUAGE, harvested=harvest.harvest(library, LANGUAGE, sources=files).functions)
    with tempfile.TemporaryDirectory() as folder:
        harvest.write(Path(folder) / "corpus.jsonl.gz", growth.functions)
    _show(f"corpus of {growth.added} rows, {growth.near_duplicates} near-duplicates", growth.found, time.process_time() - start)
    click.echo(f"peak {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MB")


def _show(what: str, functions: int, seconds: float) -> None:
    click.echo(f"{what}: {functions} functions in {seconds:.1f} s, {functions / seconds * 60:,.0f} a minute")


if __name__ == "__main__":
    main()
