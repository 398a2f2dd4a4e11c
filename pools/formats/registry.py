"""The formats by name.

A further one is a module with a `Format` that is registered here, or by whoever imports this package: `judge import` has a
command for it, and `judge export --format` takes it where it can be written.
"""

from pools.errors import UsageError
from pools.formats import beir, csn, hf, trec
from pools.formats.format import Format

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


for _form in (csn.FORMAT, trec.FORMAT, beir.FORMAT, hf.FORMAT):
    register(_form)
