"""What a rating is asked to do, whom it tells how far it is, and how it ended: the records that go in and come out."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from judge._batching.batches import Item
from judge._endpoint.answer import NOTHING, Usage
from judge._ledger.tally import Purpose
from judge._rating.controls import Controls
from judge._rating.money import NO_LIMITS, Limits
from pools._dataset.records import PairKey
from pools._dataset.settings import JudgeSettings, PriceSettings


@dataclass(frozen=True, slots=True)
class Task:
    """The pairs to be rated and what for, the seed of their order, and what may be used for it.

    With `controls`, expert-rated pairs are hidden among them, and when all are done a share of them is rated once more.
    """

    items: Sequence[Item]
    purpose: Purpose
    seed: int
    settings: JudgeSettings
    limits: Limits = NO_LIMITS
    prices: PriceSettings = field(default_factory=PriceSettings)
    controls: Controls | None = None


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a rating is: pairs done (rated or given up, earlier calls included) of all, and what this call has used.

    `cost` is in US dollars, None where neither the endpoint nor judge.toml tells it.
    """

    done: int
    total: int
    failed: int
    requests: int
    usage: Usage
    cost: float | None


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a rating ended: pairs rated, earlier calls included, those given up with the reason, and what this call has used."""

    rated: int
    failed: Mapping[PairKey, str]
    requests: int = 0
    pairs: int = 0
    usage: Usage = NOTHING
    cost: float | None = 0.0


def _ignore(_: object) -> None:
    pass


@dataclass(frozen=True, slots=True)
class Reports:
    """Whom a rating tells: `progress` after each reply that is on the disk, `note` what a person should know at once."""

    progress: Callable[[Progress], None] = _ignore
    note: Callable[[str], None] = _ignore


SILENT = Reports()
