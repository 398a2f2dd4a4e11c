"""The step `compare`: two judges side by side on the same expert-rated pairs."""

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from gates._measures import comparison
from gates._measures.comparison import Comparison
from gates._verdict.seal import searches_left_out
from judge._ledger.ledger import Ledger
from judge._rating import money
from judge.steps import evidences, ledgers, seals
from pools._dataset import folder
from pools._dataset.partition import Partition
from pools._dataset.records import PairKey
from pools.errors import UsageError


@dataclass(frozen=True, slots=True)
class Spending:
    """What a judge's replies took; a panel's are its members' together. `cost` in US dollars, None where nobody tells."""

    requests: int
    prompt_tokens: int
    cached_tokens: int
    completion_tokens: int
    cost: float | None


@dataclass(frozen=True, slots=True)
class Side:
    """One of the two: how it was named, whose ratings they are (None: as published), and what they took (None: not known)."""

    name: str
    judge_id: str | None
    model: str | None
    ratings: dict[PairKey, int]
    spending: Spending | None

    def document(self) -> dict[str, Any]:
        """Return it as a JSON object, its ratings counted."""
        spent = None if self.spending is None else asdict(self.spending)
        known = {"name": self.name, "judge_id": self.judge_id, "model": self.model}
        return known | {"rated": len(self.ratings), "spending": spent}


@dataclass(frozen=True, slots=True)
class Compared:
    """How judge `b` does against judge `a` in one language."""

    language: str
    a: Side
    b: Side
    comparison: Comparison

    def document(self) -> dict[str, Any]:
        """Return it as a JSON object."""
        sides = {"language": self.language, "a": self.a.document(), "b": self.b.document()}
        return sides | asdict(self.comparison)


def compare(partitions: Iterable[Partition], a: str, *, b: str) -> tuple[Compared, ...]:
    """Compare judge `b` with judge `a` in each language.

    Each is the id of a judge in the language's ledger, the file of another ledger (its judge sealed last, or FILE:ID), or a
    dataset's folder (its ledger, else the ratings that its qrels carry). Raises `UsageError` for a name that is none of these,
    or for the ledger of one language where several are meant.
    """
    chosen = tuple(partitions)
    languages = [partition.language for partition in chosen]
    return tuple(
        _compared(partition, *(_side(partition, name, languages=languages) for name in (a, b))) for partition in chosen
    )


def _compared(partition: Partition, one: Side, two: Side) -> Compared:
    settings = partition.settings
    left_out = searches_left_out(partition.dataset, partition.language, gate=settings.gate)
    compared = comparison.compare(
        {pair: given for pair, given in partition.experts.items() if pair[0] not in left_out},
        one.ratings,
        second=two.ratings,
        relevant_from=settings.relevant_from,
        resamples=settings.gate.resamples,
        seed=settings.seed,
    )
    return Compared(partition.language, one, two, compared)


def _side(partition: Partition, name: str, *, languages: list[str]) -> Side:
    place, (file, _, judge_id) = Path(name), name.rpartition(":")
    if place.is_dir():
        other = folder.load(place, [partition.language])[partition.language]
        path = other.ledger_path
        if path.is_file():
            return _of_ledger(partition, ledgers.read(partition, path), path=path, name=name, judge_id=None)
        return Side(name, None, None, dict(evidences.required(other).ratings), None)
    if place.is_file() or Path(file).is_file():
        if len(languages) > 1:
            raise UsageError(f"{name} is the ledger of one language; name it with --lang: {', '.join(languages)}")
        path, wanted = (place, None) if place.is_file() else (Path(file), judge_id)
        return _of_ledger(partition, ledgers.read(partition, path), path=path, name=name, judge_id=wanted)
    path = partition.ledger_path
    ledger = ledgers.read(partition)
    if name not in ledger.judges():
        known = ", ".join(ledger.judges()) or "none"
        raise UsageError(
            f"{name} is no judge of {partition.language}, no ledger's file and no folder; {path} has the judges: {known}"
        )
    return _of_ledger(partition, ledger, path=path, name=name, judge_id=name)


def _of_ledger(partition: Partition, ledger: Ledger, *, path: Path, name: str, judge_id: str | None) -> Side:
    chosen = seals.choose(ledger, path, judge_id=judge_id)
    sealed = None if chosen is None else ledger.seal(chosen)
    if chosen is None or sealed is None:
        raise UsageError(f"{path}: holds no judge, so there is nothing to compare; run `judge rate`")
    totals = [ledger.totals(member) for member in evidences.members(ledger, chosen)]
    costs = [money.total(part, partition.settings.prices) for part in totals]
    spending = Spending(
        requests=sum(part.requests for part in totals),
        prompt_tokens=sum(part.usage.prompt for part in totals),
        cached_tokens=sum(part.usage.cached for part in totals),
        completion_tokens=sum(part.usage.completion for part in totals),
        cost=None if None in costs else sum(cost or 0.0 for cost in costs),
    )
    return Side(name, chosen, str(sealed.identity["model"]), evidences.ratings(ledger, chosen), spending)
