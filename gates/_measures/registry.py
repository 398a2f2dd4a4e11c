"""The measures by name: the standard ones first, then each that was registered, in that order.

A further one is a `Measure` in a module of its own, registered here or by a program. It is shown and recorded beside the
standard ones; no verdict goes by it.
"""

from gates._measures import standard
from gates._measures.measure import Measure
from pools.errors import UsageError

_measures: dict[str, Measure] = {}


def register(measure: Measure) -> None:
    """Add a measure for as long as this program runs; raises `UsageError` where there is another one of its name."""
    if _measures.setdefault(measure.name, measure) is not measure:
        raise UsageError(f"measure {measure.name!r} is there already; name another than {', '.join(_measures)}")


def names() -> tuple[str, ...]:
    """Return the names of all measures, in the order in which they are shown."""
    return tuple(_measures)


def get(name: str) -> Measure:
    """Return a measure; raises `UsageError` for an unknown one, listing the valid names."""
    if name not in _measures:
        raise UsageError(f"unknown measure {name!r}; valid are {', '.join(_measures)}")
    return _measures[name]


def further() -> tuple[Measure, ...]:
    """Return the measures that are not standard."""
    return tuple(measure for measure in _measures.values() if measure not in standard.MEASURES)


for _measure in standard.MEASURES:
    register(_measure)
