"""What a run would take, without sending anything: the batches it would make, rendered, counted and priced."""

from collections.abc import Sequence
from dataclasses import dataclass

from judge._batching import batches
from judge._batching.batches import Item
from judge._endpoint.answer import NOTHING, Usage
from judge._judges.identity import Identity
from judge._ledger.tally import Tally
from judge._rating import money
from pools._dataset.settings import JudgeSettings, PriceSettings


@dataclass(frozen=True, slots=True)
class Estimate:
    """Pairs still to be asked for, batches, and characters of their prompts, which are exact unless pairs are asked for again.

    `usage` is estimated from the characters; `cost` in US dollars is None where judge.toml has no prices.
    """

    pairs: int
    batches: int
    characters: int
    usage: Usage
    cost: float | None


def estimate(
    items: Sequence[Item], identity: Identity, *, tally: Tally, settings: JudgeSettings, seed: int, prices: PriceSettings
) -> Estimate:
    """Return what rating the pairs would take that have no rating and are not given up; raises as `batches.prompt` does."""
    left = [item for item in items if item.pair not in tally.ratings and item.pair not in tally.failed]
    count = characters = 0
    usage = NOTHING
    for batch in batches.plan(left, seed, settings=settings):
        size = len(batches.prompt(batch, identity))
        count += 1
        characters += size
        usage += money.expected(size, len(batch.entries))
    return Estimate(len(left), count, characters, usage, money.cost(usage, prices) if money.priced(prices) else None)
