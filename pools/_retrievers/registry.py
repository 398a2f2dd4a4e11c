"""The registry of retrievers: those of this package, those of other packages that are installed, those that a program adds.

Each module here with a `RETRIEVER` is one. Another package brings its own by an entry point of the group
`qrels_judge.retrievers` that has the retriever's name and leads to its record (docs/retrievers.md has an example). A program
adds one with `register`. Nothing of another package is loaded before its retriever is asked for, so one that is broken is in
nobody's way; and what goes wrong inside it is told as its fault, in a line.
"""

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from pkgutil import iter_modules
from typing import Any

from pools import _retrievers as own
from pools._dataset.partition import Partition
from pools._retrievers.retriever import Access, LeftOut, Retriever
from pools._sampling.hits import Hit
from pools.errors import JudgeError, UsageError

GROUP = "qrels_judge.retrievers"
OURS = "qrels-judge"

_registered: dict[str, Retriever] = {}


@dataclass(frozen=True, slots=True)
class Listed:
    """A retriever as it is listed: what brings it, and its record, or in a line why there is none to be had."""

    name: str
    package: str
    retriever: Retriever | None
    fault: str = ""

    def document(self) -> dict[str, Any]:
        """Return it as JSON has it; what is not known of one that cannot be loaded is null."""
        known = self.retriever
        return {
            "name": self.name,
            "package": self.package,
            "about": known.about if known else None,
            "needs": list(known.needs) if known else None,
            "loose": known.loose if known else None,
            "fault": self.fault or None,
        }


@dataclass(frozen=True, slots=True)
class _Source:
    """Where a retriever comes from: a package, with its release where it is not this one, and what loads the record."""

    package: str
    load: Callable[[], Retriever]


def register(retriever: Retriever) -> None:
    """Add a retriever for as long as this program runs; raises `UsageError` where there is another one of its name."""
    if _registered.get(retriever.name) is not retriever and retriever.name in (taken := names()):
        raise UsageError(f"retriever {retriever.name!r} is there already; name another than {', '.join(taken)}")
    _registered[retriever.name] = retriever


def names() -> tuple[str, ...]:
    """Return the names of all retrievers, sorted, those that cannot be loaded included."""
    return tuple(sorted(_sources()))


def chosen(wanted: Iterable[str]) -> tuple[Retriever, ...]:
    """Return the retrievers that `pool.retrievers` names, each once, sorted by name.

    Raises `UsageError` for an unknown name, listing the valid ones, and for a retriever that cannot be loaded.
    """
    found = _sources()
    ordered = sorted(set(wanted))
    if unknown := [name for name in ordered if name not in found]:
        raise UsageError(f"pool.retrievers in judge.toml names {', '.join(unknown)}; valid are {', '.join(sorted(found))}")
    return tuple(_load(name, found[name]) for name in ordered)


def listed() -> tuple[Listed, ...]:
    """Return all retrievers by name, each loaded as far as that can be done."""
    out = []
    for name, sources in sorted(_sources().items()):
        package = " and ".join(source.package for source in sources)
        try:
            out.append(Listed(name, package, _load(name, sources)))
        except UsageError as error:
            out.append(Listed(name, package, None, str(error)))
    return tuple(out)


def _sources() -> dict[str, list[_Source]]:
    out: dict[str, list[_Source]] = {}
    for name, source in (*_own(), *_installed(), *_added()):
        out.setdefault(name, []).append(source)
    return out


def _own() -> Iterator[tuple[str, _Source]]:
    for module in iter_modules(own.__path__):
        retriever = getattr(import_module(f"{own.__name__}.{module.name}"), "RETRIEVER", None)
        if retriever is not None:
            yield retriever.name, _Source(OURS, partial(_same, retriever))


def _installed() -> Iterator[tuple[str, _Source]]:
    for point in sorted(entry_points(group=GROUP), key=lambda point: (point.name, point.value)):
        package = f"{point.dist.name} {point.dist.version}" if point.dist is not None else point.value
        yield point.name, _Source(package, partial(_loaded, point, package))


def _added() -> Iterator[tuple[str, _Source]]:
    for retriever in _registered.values():
        package = retriever.hits.__module__
        yield retriever.name, _Source(package, partial(_guarded, retriever, package))


def _same(retriever: Retriever) -> Retriever:
    return retriever


def _load(name: str, sources: list[_Source]) -> Retriever:
    if len(sources) > 1:
        packages = " and ".join(source.package for source in sources)
        raise UsageError(f"retriever {name!r} is brought by {packages}, and a name can mean one only; uninstall all but one")
    return sources[0].load()


def _loaded(point: EntryPoint, package: str) -> Retriever:
    remedy = f"mend or uninstall {package}, or take it out of pool.retrievers in judge.toml"
    try:
        found = point.load()
    except (Exception, SystemExit) as error:
        raise UsageError(
            f"retriever {point.name!r} of the package {package} cannot be loaded ({type(error).__name__}: {error}); {remedy}"
        ) from error
    if not isinstance(found, Retriever) or found.name != point.name:
        what = f"the retriever {found.name!r}" if isinstance(found, Retriever) else f"a {type(found).__name__}"
        raise UsageError(
            f"entry point {point.name!r} of the package {package} leads to {what}, not to that retriever; {remedy}"
        )
    return _guarded(found, package)


def _guarded(retriever: Retriever, package: str) -> Retriever:
    """Return a retriever of someone else's whose faults are told in a line, and whose hits are what hits have to be."""

    def checked(partition: Partition, access: Access) -> tuple[Hit, ...] | LeftOut:
        """Return the hits of the retriever, or raise `UsageError` for what went wrong in it."""
        try:
            found = retriever.hits(partition, access)
            return found if isinstance(found, LeftOut) else tuple(_sound(found, partition))
        except JudgeError:
            raise
        except Exception as error:
            raise UsageError(
                f"{partition.language}: retriever {retriever.name!r} of {package} failed ({type(error).__name__}: {error}); "
                "tell those who wrote it, or take it out of pool.retrievers in judge.toml"
            ) from error

    return replace(retriever, hits=checked)


def _sound(found: Iterable[Hit], partition: Partition) -> Iterator[Hit]:
    searches = {query.search_id for query in partition.queries}
    functions = {function.id for function in partition.functions}
    seen = set()
    for search_id, function_id, rank, score, probability in found:
        # Plain numbers, whatever they were computed with.
        hit = Hit(
            search_id,
            function_id,
            int(rank),
            None if score is None else float(score),
            None if probability is None else float(probability),
        )
        if search_id not in searches or function_id not in functions:
            raise ValueError(f"{hit} is of no search or no function of {partition.language}")
        if hit.rank < 1 or hit.rank != rank or not math.isfinite(hit.score or 0) or not 0 <= (hit.probability or 0) <= 1:
            raise ValueError(f"{hit} has a rank below 1, a score that is not finite or a probability outside 0 to 1")
        if hit.pair in seen:
            raise ValueError(f"{hit} is of a pair that it has a hit of already")
        seen.add(hit.pair)
        yield hit
