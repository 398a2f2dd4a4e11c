"""What a ledger says of one judge: its ratings, what is still open, what it cost. Built up line by line, in order.

Nothing of a reply is kept but what came out of it. A pair's first rating stands; a later one (a canary, a pair rated again)
is kept beside it as a repeat. A rating of another text than the dataset has now is none: the pair is only noted as changed, and
waits to be asked for again.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from judge._endpoint.answer import NOTHING, Usage
from judge._ledger.texts import Change, Texts
from pools._dataset.records import PairKey

Purpose = Literal["validation", "pool"]
Sent = tuple[str, str, str] | tuple[str, str, str, str, str]
"""(id in the prompt, search_id, function_id), and, but in ledgers of older releases, the hashes of search and code as sent."""


@dataclass(slots=True)
class Job:
    """A file of batches for the endpoint's batch interface, and the job made of it, None as long as there is none.

    `batches` are the pairs sent under each custom id; `stored` the custom ids whose reply is in the ledger.
    """

    file: str
    purpose: Purpose
    size: int
    batches: dict[str, list[Sent]]
    stored: set[str] = field(default_factory=set)
    job: str | None = None


PARTS = 10
"""Parts of a batch, from its first tenth to its last, that ratings are counted by."""


@dataclass(frozen=True, slots=True)
class Totals:
    """Sums over a judge's replies: how many, pairs sent in them, tokens, and US dollars where the endpoint itself told them.

    `unpriced` are the tokens of the replies whose cost the endpoint did not tell, which prices have to be put on;
    `redacted` counts the secrets masked in what was sent.
    """

    requests: int = 0
    pairs: int = 0
    usage: Usage = NOTHING
    cost: float = 0.0
    unpriced: Usage = NOTHING
    redacted: int = 0


@dataclass(frozen=True, slots=True)
class Repeat:
    """A rating of a pair that had one already. `place` is the pair's in its batch, from 0 to under 1."""

    pair: PairKey
    purpose: Purpose
    rating: int
    place: float
    reply: int


@dataclass(slots=True)
class Tally:
    """One judge's ratings and what led to them.

    `attempts` counts how often each pair that has no rating was asked for in a way that says something about it; `places`
    the first ratings by tenth of their batch, as a list of counts for each rating; `faults` what was no rating, by status;
    `jobs` those of the endpoint's batch interface that have not ended, by file; `sizes` how many pairs were in the batch in
    which a validation pair got its rating; `models` the replies by the model that the endpoint named; `changed` the pairs whose
    only ratings are of texts that have changed since, each with which of the two did.
    """

    ratings: dict[PairKey, int] = field(default_factory=dict)
    attempts: dict[PairKey, int] = field(default_factory=dict)
    failed: dict[PairKey, str] = field(default_factory=dict)
    repeats: list[Repeat] = field(default_factory=list)
    places: dict[int, list[int]] = field(default_factory=dict)
    faults: dict[str, int] = field(default_factory=dict)
    jobs: dict[str, Job] = field(default_factory=dict)
    sizes: dict[PairKey, int] = field(default_factory=dict)
    models: dict[str, int] = field(default_factory=dict)
    changed: dict[PairKey, Change] = field(default_factory=dict)
    _sums: list[int] = field(default_factory=lambda: [0] * 9)
    _cost: float = 0.0

    @property
    def totals(self) -> Totals:
        requests, pairs, redacted, *tokens = self._sums
        return Totals(requests, pairs, Usage(*tokens[:3]), self._cost, Usage(*tokens[3:]), redacted)

    def spend(self, pairs: int, usage: Sequence[int], *, cost: float | None, redacted: int) -> None:
        """Add up one reply: pairs sent, tokens (prompt, cached, completion), US dollars or None, secrets masked."""
        sums = self._sums
        sums[0] += 1
        sums[1] += pairs
        sums[2] += redacted
        for place, tokens in enumerate(usage, start=3):
            sums[place] += tokens
            if cost is None:
                sums[place + 3] += tokens
        self._cost += cost or 0.0

    def take(
        self,
        number: int,
        purpose: Purpose,
        *,
        sent: Sequence[Sent],
        ratings: Mapping[str, int],
        faults: Mapping[str, str],
        texts: Texts | None = None,
    ) -> None:
        """Take in the reading of a reply: the rating, or the status that is none, of every id sent.

        A reply that rates nothing says nothing of any of its pairs, nor does one that was cut off of the pairs behind the
        cut, unless the pair was alone: those are no attempts, because the next time fewer are asked for together. With `texts`
        a pair whose texts were others when it was sent is neither rated nor attempted.
        """
        size = len(sent)
        for place, (entry_id, search_id, function_id, *shown) in enumerate(sent):
            pair = (search_id, function_id)
            rating = ratings.get(entry_id)
            if texts is not None and shown and (change := texts.change(*pair, shown=(shown[0], shown[1]))) is not None:
                if rating is not None and pair not in self.ratings:
                    self.changed[pair] = change
            elif rating is None:
                status = faults.get(entry_id, "missing")
                self.faults[status] = self.faults.get(status, 0) + 1
                if pair not in self.ratings and (size == 1 or (ratings and status != "truncated")):
                    self.attempts[pair] = self.attempts.get(pair, 0) + 1
            elif pair in self.ratings:
                self.repeats.append(Repeat(pair, purpose, rating, place / size, number))
            else:
                self.ratings[pair] = rating
                if self.changed:
                    self.changed.pop(pair, None)
                if purpose == "validation":
                    self.sizes[pair] = size
                self.places.setdefault(rating, [0] * PARTS)[place * PARTS // size] += 1
                if self.attempts or self.failed:
                    self.attempts.pop(pair, None)
                    self.failed.pop(pair, None)

    def give_up(self, pair: PairKey, reason: str) -> None:
        """Note that a pair is not to be asked for again; without effect where it has a rating."""
        if pair not in self.ratings:
            self.failed[pair] = reason
