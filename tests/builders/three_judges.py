"""The sample with one pool and three judges, who are wrong on as many pairs each, no two on the same."""

from collections.abc import Callable
from pathlib import Path

from judge._ledger.ledger import Ledger
from judge.steps.pool import pool
from judge.steps.rate import rate
from pools._dataset.folder import load
from tests.builders.fake_api import FakeApi
from tests.builders.samples import as_experts, plain_sample

RETRIEVERS = '[pool]\nretrievers = ["grep-agent", "grep-all", "grep-any"]\n'


def wrong_from(folder: Path, start: int, count: int) -> Callable[[str, str], int]:
    """A judge that rates as the experts did, but for `count` pairs from the `start`-th on."""
    right, some, more = (as_experts(folder, "python", wrong=number) for number in (0, start, start + count))

    def rate(search: str, code: str) -> int:
        return right(search, code) if some(search, code) != right(search, code) else more(search, code)

    return rate


def rate_with(folder: Path, model: str, by: Callable[[str, str], int]) -> None:
    """Have one more judge rate Python's pool, whether it passes or not."""
    with FakeApi(rate=by) as api:
        rate(load(folder, ["python"]), model=model, base_url=api.url, continue_=True)


def make(folder: Path) -> Path:
    """Make the sample with its pool of Python and the three judges."""
    plain_sample(folder, "")
    (folder / "judge.toml").write_text(f"{RETRIEVERS}[prices]\nprompt = 2.0\ncompletion = 8.0\n", encoding="utf-8")
    pool(load(folder, ["python"]))
    for number in range(3):
        rate_with(folder, f"m{number}", wrong_from(folder, 50 * number, 50))
    return folder


def ledger_of(folder: Path) -> Ledger:
    """Python's ledger."""
    return Ledger.read(folder / "work" / "python" / "judgements.jsonl")
