"""A rating by live requests, asked for argument by argument; `judge._rating.course` is where it goes on."""

from collections.abc import Callable, Sequence

from judge._batching.batches import Item
from judge._ledger.ledger import Ledger
from judge._ledger.tally import Purpose
from judge._rating import course
from judge._rating.controls import Controls
from judge._rating.live import Drainable, Judge, Live
from judge._rating.money import NO_LIMITS, Limits
from judge._rating.task import SILENT, Outcome, Progress, Reports, Task
from pools._dataset.settings import JudgeSettings, PriceSettings

__all__ = ["Drainable", "Judge", "Outcome", "Progress", "rate"]


async def rate(
    items: Sequence[Item],
    purpose: Purpose,
    *,
    judge: Judge,
    ledger: Ledger,
    settings: JudgeSettings,
    seed: int,
    progress: Callable[[Progress], None] = SILENT.progress,
    limits: Limits = NO_LIMITS,
    prices: PriceSettings = PriceSettings(),  # noqa: B008  frozen
    note: Callable[[str], None] = SILENT.note,
    controls: Controls | None = None,
) -> Outcome:
    """Return what `course.run` does of a `Task` of these, by live requests."""
    task = Task(items, purpose, seed, settings, limits, prices, controls)
    return await course.run(task, Live(judge, ledger), ledger=ledger, reports=Reports(progress, note))
