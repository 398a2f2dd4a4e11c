"""Prompt templates: built-in ones by name, a user's own by path.

A template is handed round as its text, never as a compiled object, because the text is what a judge's identity hashes. It
is rendered without autoescaping (a prompt is not HTML) and with undefined names as errors, so a misspelt placeholder in a
user's template stops the run before anything is paid for.
"""

from functools import lru_cache
from importlib.resources import files
from pathlib import Path
from typing import Any


def builtin(suffix: str) -> list[str]:
    """Return the sorted names, without the suffix, of the files of that kind shipped with this package."""
    return sorted(entry.name.removesuffix(suffix) for entry in files("prompts").iterdir() if entry.name.endswith(suffix))


def text(name: str, suffix: str = ".j2", *, folder: Path | None = None) -> str:
    """Return the text of a built-in file, or of the file at a path (relative ones start at `folder`).

    Raises `ValueError`, listing the built-in names, when there is neither.
    """
    if name in builtin(suffix):
        return files("prompts").joinpath(name + suffix).read_text(encoding="utf-8")
    path = (folder or Path()) / name
    if name and path.is_file():
        return path.read_text(encoding="utf-8")
    raise ValueError(f"no such file or built-in name: {name!r}; built in are {', '.join(builtin(suffix))}")


def render(template: str, **values: object) -> str:
    """Fill a template's placeholders; raises `ValueError` for a broken template or a placeholder without a value."""
    import jinja2

    try:
        filled: str = _compiled(template).render(**values)
    except jinja2.TemplateError as error:
        raise ValueError(f"the prompt template cannot be filled: {error}") from error
    return filled


# Compiling takes longer than filling by far, and one run fills the same template thousands of times.
@lru_cache(maxsize=8)
def _compiled(template: str) -> Any:
    import jinja2

    environment = jinja2.Environment(
        undefined=jinja2.StrictUndefined,
        autoescape=False,  # noqa: S701  a prompt is not HTML
        keep_trailing_newline=True,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.from_string(template)
