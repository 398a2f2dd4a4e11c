"""Quality controls while rating: is the judge still the one that passed the gate, and does it say the same twice?

*Canaries* are expert-rated pairs hidden in the batches of the pool. How often judge and experts agree on them that a pair is
relevant is watched against how often they agreed when the gate was passed. *Retests* are pairs of the pool that are rated
once more, in another batch at another place. Neither kind of rating ever replaces the first one. Choosing depends on the
seed and the pairs alone, so that a resumed run goes on with the same.
"""

import hashlib
import math
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from judge._batching.batches import Batch, Item
from judge._ledger.tally import Tally
from pools._dataset.records import PairKey
from pools.relevance import is_relevant, is_relevant_rating

SIGNIFICANT = 0.001
"""Probability under which an agreement this low is no chance; small, because it is looked at after every canary."""
LONE_CANARY_EVERY = 20
"""Batches after which a canary follows alone, where a batch has no room for one beside what it is for."""


@dataclass(frozen=True, slots=True)
class Controls:
    """What is controlled, and how: expert-rated `items`, `experts`' ratings, canaries a batch, share of pairs rated again."""

    items: Sequence[Item]
    experts: Mapping[PairKey, Sequence[int]]
    relevant_from: float
    canaries: int
    retest: float


@dataclass(frozen=True, slots=True)
class Stability:
    """What a judge's second ratings say, canaries left out: pairs rated again, the same rating, the same verdict.

    `places` is, for each tenth of a batch, how many first ratings came from there and their mean (None where none did).
    """

    pairs: int
    same_rating: int
    same_verdict: int
    places: tuple[tuple[int, float | None], ...]

    @property
    def flip_rate(self) -> float | None:
        """Share of the pairs rated again whose verdict (relevant or not) changed; None where none was."""
        return None if not self.pairs else 1 - self.same_verdict / self.pairs

    def lines(self) -> tuple[str, ...]:
        """Return what a person should know of it, a line each; none where no pair was rated again."""
        if self.flip_rate is None:
            return ()
        means = " ".join("-" if mean is None else f"{mean:.2f}" for _, mean in self.places)
        return (
            f"{self.pairs} pairs rated again: {self.same_rating} with the same rating, "
            f"{self.pairs - self.same_verdict} verdicts flipped ({self.flip_rate:.1%})",
            f"mean rating by place in the batch, first tenth to last: {means}",
        )


@dataclass(frozen=True, slots=True)
class Watch:
    """The running agreement: canaries rated, how many with the experts' verdict, and the share at the gate (None: no pair).

    `chance` is the probability of so few at the gate's share, the lower tail of the binomial distribution, where it was lowest:
    after the first `until` canaries, of which `agreed` had the experts' verdict. What was rated then stays rated, so canaries
    that come out well later take back no alarm.
    """

    canaries: int
    same: int
    at_gate: float | None
    chance: float
    until: int
    agreed: int

    @property
    def alarm(self) -> str | None:
        """A line for a person where the agreement had fallen significantly below the gate's."""
        if self.chance >= SIGNIFICANT or self.at_gate is None:
            return None
        return (
            f"the judge agrees with the experts on {self.agreed} of the first {self.until} hidden expert-rated pairs, and "
            f"agreed on {self.at_gate:.1%} at the gate (p = {self.chance:.1g}); stop, and find out what has changed "
            f"at the endpoint"
        )


@dataclass(slots=True)
class Watcher:
    """Keeps the running agreement up to date as repeats come in."""

    tally: Tally
    experts: Mapping[PairKey, Sequence[int]]
    relevant_from: float
    _seen: int = 0
    _canaries: int = 0
    _same: int = 0
    _lowest: tuple[float, int, int] = (1.0, 0, 0)
    _raised: bool = False
    _at_gate: float | None = field(init=False)

    def __post_init__(self) -> None:
        ratings = self.tally.ratings
        same = [self._agrees(pair, ratings[pair]) for pair in self.experts if pair in ratings]
        self._at_gate = sum(same) / len(same) if same else None

    def look(self) -> Watch:
        """Take in the repeats that are new, and return how things stand."""
        for repeat in self.tally.repeats[self._seen :]:
            if repeat.purpose == "pool" and repeat.pair in self.experts:
                self._take(self._agrees(repeat.pair, repeat.rating))
        self._seen = len(self.tally.repeats)
        return Watch(self._canaries, self._same, self._at_gate, *self._lowest)

    def alarm(self) -> str | None:
        """Return the alarm the first time that there is one, None before and ever after."""
        if self._raised or len(self.tally.repeats) == self._seen:
            return None
        alarm = self.look().alarm
        self._raised = alarm is not None
        return alarm

    def _take(self, agrees: bool) -> None:
        self._canaries += 1
        self._same += agrees
        # One that agrees never makes so few less likely, and nearly all do.
        if not agrees and self._at_gate is not None:
            chance = lower_tail(self._same, self._canaries, probability=self._at_gate)
            self._lowest = min(self._lowest, (chance, self._canaries, self._same))

    def _agrees(self, pair: PairKey, rating: int) -> bool:
        ratings = self.experts[pair]
        return is_relevant_rating(rating, self.relevant_from) == is_relevant(ratings, self.relevant_from)


def watch(tally: Tally, experts: Mapping[PairKey, Sequence[int]], *, relevant_from: float) -> Watch:
    """Compare the verdicts on canaries with those on the same judge's first ratings of expert-rated pairs."""
    return Watcher(tally, experts, relevant_from).look()


def lower_tail(successes: int, trials: int, *, probability: float) -> float:
    """Return the binomial distribution's probability of at most so many successes, to about 12 digits.

    The terms are added downwards from the largest, in logarithms so that no coefficient is too large, until they no longer
    count.
    """
    if not 0 < probability < 1:
        return 1.0 if successes >= trials * probability else 0.0
    if successes >= trials:
        return 1.0
    total = 0.0
    for k in range(successes, -1, -1):
        term = math.exp(
            math.lgamma(trials + 1)
            - math.lgamma(k + 1)
            - math.lgamma(trials - k + 1)
            + k * math.log(probability)
            + (trials - k) * math.log1p(-probability)
        )
        total += term
        if k < trials * probability and term < total * 1e-16:
            break
    return min(1.0, total)


def stability(tally: Tally, experts: Mapping[PairKey, Sequence[int]], *, relevant_from: float) -> Stability:
    """Compare each retest with the first rating of its pair, and count first ratings by their place in the batch."""
    again = [repeat for repeat in tally.repeats if repeat.purpose == "pool" and repeat.pair not in experts]
    first = [tally.ratings[repeat.pair] for repeat in again]
    places = []
    for part in range(10):
        counts = {rating: tenths[part] for rating, tenths in tally.places.items()}
        total = sum(counts.values())
        places.append((total, sum(rating * count for rating, count in counts.items()) / total if total else None))
    return Stability(
        len(again),
        sum(repeat.rating == rating for repeat, rating in zip(again, first, strict=True)),
        sum(
            is_relevant_rating(repeat.rating, relevant_from) == is_relevant_rating(rating, relevant_from)
            for repeat, rating in zip(again, first, strict=True)
        ),
        tuple(places),
    )


@dataclass(slots=True)
class Hider:
    """Puts canaries into batches, each expert-rated pair that has a rating in turn, at places drawn with the seed."""

    controls: Controls
    tally: Tally
    seed: int
    _turn: int = 0
    _rng: random.Random = field(init=False)
    _order: list[Item] = field(init=False)

    def __post_init__(self) -> None:
        # Where an earlier run left off the draws go on differently, so that the same few are not asked for at each resume.
        self._rng = random.Random(f"{self.seed}/{len(self.tally.repeats)}")  # noqa: S311  places, no secret
        self._order = sorted(self.controls.items, key=lambda item: item.pair)
        self._rng.shuffle(self._order)

    def room(self, size: int) -> int:
        """Return how many of a batch's pairs are left for what it is for."""
        return size - self.controls.canaries if size > self.controls.canaries else size

    def hide(self, planned: Iterator[Batch], size: int) -> Iterator[Batch]:
        """Yield the batches with their canaries, up to `size` pairs each."""
        for number, batch in enumerate(planned, start=1):
            if len(batch.entries) + self.controls.canaries <= size:
                yield self._hidden(batch)
                continue
            yield batch
            if number % LONE_CANARY_EVERY == 0 and (lone := self._next(set())) is not None:
                yield Batch.of([lone])

    def _hidden(self, batch: Batch) -> Batch:
        items = list(batch.items)
        taken = {item.pair for item in items}
        for _ in range(self.controls.canaries):
            canary = self._next(taken)
            if canary is not None:
                items.insert(self._rng.randrange(len(items) + 1), canary)
                taken.add(canary.pair)
        return Batch.of(items)

    def _next(self, taken: set[PairKey]) -> Item | None:
        for _ in self._order:
            item = self._order[self._turn % len(self._order)]
            self._turn += 1
            if item.pair in self.tally.ratings and item.pair not in taken:
                return item
        return None


def retests(items: Sequence[Item], controls: Controls, *, tally: Tally, seed: int) -> list[Item]:
    """Return the pairs to be rated again: a share of those that have a rating, less those that were already."""
    done = {repeat.pair for repeat in tally.repeats}
    return [
        item
        for item in items
        if item.pair in tally.ratings and item.pair not in done and _drawn(item.pair, seed) < controls.retest
    ]


def _drawn(pair: PairKey, seed: int) -> float:
    """Return a number from 0 to under 1 that is the pair's own."""
    digest = hashlib.sha256("\0".join((str(seed), *pair)).encode("utf-8", "surrogatepass")).digest()
    return int.from_bytes(digest[:7]) / 2**56
