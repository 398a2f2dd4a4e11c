"""The formats by name: each module here with a `FORMAT` is one, and a program may register more.

`judge import` has a command for each, and `judge export --format` takes those that can be written.
"""

from importlib import import_module
from pkgutil import iter_modules

from pools import _formats as forms
from pools._formats.format import Format, Write
from pools.errors import UsageError

_formats: dict[str, Format] = {}


def register(form: Format) -> None:
    """Add a format for as long as this program runs; raises `UsageError` where there is another one of its name."""
    if _formats.setdefault(form.name, form) is not form:
        raise UsageError(f"format {form.name!r} is there already; name another than {', '.join(_formats)}")


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


for _module in iter_modules(forms.__path__):
    if (_form := getattr(import_module(f"pools._formats.{_module.name}"), "FORMAT", None)) is not None:
        register(_form)
