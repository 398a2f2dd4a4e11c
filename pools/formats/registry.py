"""The formats by name.

A further one is a module with a `Format` that is registered here, or by whoever imports this package: `judge import` has a
command for it, and `judge export --format` takes it where it can be written.
"""

from pools.errors import UsageError
from pools.formats import beir, csn, hf, trec
from pools.formats.format import Format, Write

_formats: dict[str, Format] = {}


def register(form: Format) -> None:
    """Add a format; raises `UsageError` where another one has its name."""
    if _formats.setdefault(form.name, form) is not form:
        raise UsageError(f"format {form.name!r} is registered already; name another than {', '.join(_formats)}")


def names() -> tuple[str, ...]:
    """Return the names of all formats."""
    return tuple(_formats)


def get(name: str) -> Format:
    """Return a format; raises `UsageError` for an unknown one, listing the valid names."""
    if name not in _formats:
        raise UsageError(f"unknown format {name!r}; valid are {', '.join(_formats)}")
    return _formats[name]


def writer(name: str) -> Write:
    """Return what writes a format; raises `UsageError` for an unknown one and one that can only be read, listing the others."""
    form = get(name)
    if form.write is None:
        valid = ", ".join(other.name for other in _formats.values() if other.write is not None)
        raise UsageError(f"format {name} can only be read: {form.read_only}; valid are {valid}")
    return form.write


for _form in (csn.FORMAT, trec.FORMAT, beir.FORMAT, hf.FORMAT):
    register(_form)
