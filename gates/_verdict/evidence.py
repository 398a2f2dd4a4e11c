"""What stands behind a language's judge ratings: whose they are, what was sealed, and from which pool they come.

The ledger is read by whoever calls; here its content arrives as plain values, so that what may leave can be decided and
tested without one.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from gates._release.journal import Event
from gates._release.qrels import Pooled
from gates._verdict import gate_record
from gates._verdict.gate_record import GateRecord
from gates._verdict.seal import Seal, searches_left_out
from pools._dataset.dataset import Dataset
from pools._dataset.records import PairKey
from pools._dataset.settings import Settings
from pools.errors import GateClosed

MOST_NAMED = 10
"""Texts that one line names; all are in the JSON."""


class PooledBy(Pooled, Protocol):
    """A pair of the pool with the retrievers that returned it."""

    @property
    def retrievers(self) -> tuple[str, ...]: ...


class ChangedTexts(Protocol):
    """Which of a rated pair's two texts is no longer the one that was rated."""

    @property
    def search(self) -> bool: ...
    @property
    def function(self) -> bool: ...


class Anchor(Protocol):
    """What pins a ledger: the chain of its last line, the number of its lines, the SHA-256 of all of them."""

    @property
    def head(self) -> str: ...
    @property
    def lines(self) -> int: ...
    @property
    def sha256(self) -> str: ...


@dataclass(frozen=True, slots=True)
class Evidence:
    """One language's judge.

    `judge_id` None and `identity` empty for ratings published without a ledger; `ratings` are all the judge's, `identity` is
    the document that its id hashes (model, pairs_per_batch, shown_characters, sampling, …), `seal` what was fixed before the
    first rating, `stated` what judge.toml says now, `changes` how the ledger came to this seal by others, `alarms` what was
    found wrong with the judge after its verdict, which closes the gate again, `observations` what else was seen of it, for the
    record's notes, `full` the expert-rated pairs that were rated in batches of the production's size, None where nothing says
    so, `reached` how far the ledger has got, in bytes, and the hash of its last line, `tried` how many judges it has that rated
    expert-rated pairs, this one included, `changed` the pairs whose ratings do not count because their texts are others now,
    `anchor` what pins the ledger.
    """

    judge_id: str | None
    ratings: Mapping[PairKey, int]
    seal: Seal
    stated: Seal | None = None
    identity: Mapping[str, Any] = field(default_factory=dict)
    pool: Sequence[PooledBy] = ()
    changes: tuple[Event, ...] = ()
    alarms: tuple[str, ...] = ()
    observations: tuple[str, ...] = ()
    full: Collection[PairKey] | None = None
    reached: tuple[int, str] | None = None
    tried: int | None = None
    changed: Mapping[PairKey, ChangedTexts] = field(default_factory=dict)
    anchor: Anchor | None = None


def changed_functions(changed: Mapping[PairKey, ChangedTexts]) -> tuple[str, ...]:
    """Return the functions whose code is no longer what was rated, sorted."""
    return tuple(sorted({pair[1] for pair, change in changed.items() if change.function}))


def changed_searches(changed: Mapping[PairKey, ChangedTexts]) -> tuple[str, ...]:
    """Return the searches whose text is no longer what was rated, sorted."""
    return tuple(sorted({pair[0] for pair, change in changed.items() if change.search}))


def changed_texts(language: str, changed: Mapping[PairKey, ChangedTexts]) -> str | None:
    """Return in one line which texts changed since they were rated, and what follows; None where none did."""
    if not changed:
        return None
    which = [("function", changed_functions(changed)), ("search", changed_searches(changed))]
    named = "; ".join(_named(what, ids) for what, ids in which if ids)
    one = len(changed) == 1
    return (
        f"{len(changed)} {'pair was' if one else 'pairs were'} rated on texts that have changed since ({named}), so the gate "
        f"is closed for {'its rating' if one else 'their ratings'}; `judge rate --lang {language}` asks again, or restore the "
        "texts"
    )


def _named(what: str, ids: Sequence[str]) -> str:
    plural = what if len(ids) == 1 else {"function": "functions", "search": "searches"}[what]
    more = f" and {len(ids) - MOST_NAMED} more" if len(ids) > MOST_NAMED else ""
    return f"{plural} {', '.join(ids[:MOST_NAMED])}{more}"


def published(data: Dataset, language: str, *, settings: Settings) -> Evidence | None:
    """Return the evidence that a published dataset carries in itself: the judge's ratings in its own rows; None without any.

    An audit of it can pass only as far as expert-rated pairs have a `judge_rating`; nothing was sealed, so it opens no gate.
    """
    ratings = {qrel.pair: qrel.judge_rating for qrel in data.qrels_of(language) if qrel.judge_rating is not None}
    seal = Seal(settings.gate, settings.relevant_from)
    return Evidence(None, ratings, seal) if ratings else None


def verdict(data: Dataset, language: str, *, evidence: Evidence, notes: Sequence[str] = ()) -> GateRecord:
    """Return the verdict that follows from a language's evidence under what was sealed."""
    changed = changed_texts(language, evidence.changed)
    return gate_record.assess(
        language,
        data.experts_of(language),
        ratings=evidence.ratings,
        gate=evidence.seal.gate,
        relevant_from=evidence.seal.relevant_from,
        seed=gate_record.SEED,
        judge_id=evidence.judge_id,
        notes=notes if changed is None else (*notes, changed),
        left_out=searches_left_out(data, language, gate=evidence.seal.gate),
        full=evidence.full,
    )


def admits(data: Dataset, language: str, *, evidence: Evidence) -> GateRecord:
    """Return the verdict that lets a language's judge ratings leave, or raise `GateClosed` with the cause and remedy.

    The one question that merging and exporting ask of the gate; see `gates._verdict.gate_record.admits`. Ratings published
    without a ledger never do: of them nothing shows what was fixed before they were given, and a record of them can only be
    written by hand.
    """
    if evidence.judge_id is None:
        raise GateClosed(
            f"{language}: its judge's ratings came without a ledger, so nothing shows what was sealed before them; bring that "
            f"ledger to work/{language}/judgements.jsonl, or rate with a judge of your own (`judge rate`) and merge"
        )
    return gate_record.admits(
        gate_record.read(gate_record.path(data.folder, language)),
        language,
        judge_id=evidence.judge_id,
        experts=data.experts_of(language),
        ratings=evidence.ratings,
        seal=evidence.seal,
        stated=evidence.stated,
        left_out=searches_left_out(data, language, gate=evidence.seal.gate),
        alarms=evidence.alarms,
        full=evidence.full,
    )
