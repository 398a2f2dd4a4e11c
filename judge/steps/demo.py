"""The sample that is shipped with the package, as `judge demo` starts from it."""

from importlib.resources import files as resources
from pathlib import Path

from pools._dataset import files
from pools.errors import UsageError

SAMPLE = ("README.md", "judge.toml", "queries.jsonl", "corpus.jsonl", "qrels.jsonl")
PATTERNS = {"python": "patterns-python.jsonl", "go": "patterns-go.jsonl"}


def start(folder: Path) -> None:
    """Copy the sample as `copy_sample` does; raises `UsageError` where the folder holds something else."""
    if folder.exists() and any(folder.iterdir()) and not (folder / "judge.toml").is_file():
        raise UsageError(f"{folder} holds something else than a demo; name another folder")
    copy_sample(folder)


def copy_sample(folder: Path) -> None:
    """Copy the sample into a folder, leaving files that are there already as they are."""
    sample = resources("pools._sample")
    wanted = {name: folder / name for name in SAMPLE}
    wanted |= {name: folder / "work" / language / "patterns.jsonl" for language, name in PATTERNS.items()}
    for name, path in wanted.items():
        if not path.exists():
            files.replace(path, sample.joinpath(name).read_bytes())
