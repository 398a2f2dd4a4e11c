"""The frame: the functions that a language's samples are drawn from, each with the drawing at which it came, and the seed.

A pool that is drawn again keeps its samples, and these say nothing of functions that came later; so functions of one drawing
are sampled by themselves, which takes knowing whose they are. The seed is kept because lots of another one would be another
sample. The file lies beside the pool's and is replaced first: a run that ends between the two leaves functions numbered that no
pool has seen, and the next one samples them as it would have.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path

from pools._dataset import dataset, tables
from pools.errors import DataError


@dataclass(frozen=True, slots=True)
class Frame:
    """The functions with the numbers of their drawings, from 0; `fresh` are those that no earlier drawing had."""

    seed: int
    drawings: Mapping[str, int]
    fresh: frozenset[str]


def of(function_ids: Collection[str], seed: int) -> Frame:
    """Return the frame of a first drawing."""
    return Frame(seed, dict.fromkeys(sorted(function_ids), 0), frozenset(function_ids))


def grown(earlier: Frame, function_ids: Collection[str]) -> Frame:
    """Return the frame of a further drawing; functions that are gone are forgotten, and new should they come back."""
    number = max(earlier.drawings.values(), default=-1) + 1
    fresh = frozenset(function_ids) - earlier.drawings.keys()
    return Frame(earlier.seed, {name: earlier.drawings.get(name, number) for name in sorted(function_ids)}, fresh)


def path(folder: Path, language: str) -> Path:
    """Return where a language's frame is kept."""
    return dataset.work(folder, language) / "frame.parquet"


def write(path: Path, frame: Frame) -> None:
    """Replace a frame file; the same frame gives the same bytes."""
    import pyarrow

    names = sorted(frame.drawings)
    columns = {
        "function_id": pyarrow.array(names, pyarrow.string()),
        "drawing": pyarrow.array([frame.drawings[name] for name in names], pyarrow.int32()),
        # As text, because a seed may be any whole number.
        "seed": pyarrow.array([str(frame.seed)] * len(names), pyarrow.string()),
    }
    tables.write_columns(path, columns)


def read(path: Path) -> Frame | None:
    """Return a file's frame, None where there is none or no function in it; raises `DataError` for what is something else."""
    rows = [row for _, row in tables.read(path)] if path.is_file() else []
    if not rows:
        return None
    try:
        seeds = {int(row["seed"]) for row in rows}
        if len(seeds) != 1:
            raise ValueError(f"{len(seeds)} seeds")
        return Frame(seeds.pop(), {row["function_id"]: int(row["drawing"]) for row in rows}, frozenset())
    except (KeyError, TypeError, ValueError) as error:
        raise DataError(
            f"{path}: not the functions that a pool was drawn from ({error}); restore the file, or delete it and the pool "
            "beside it, and run `judge pool`"
        ) from error
