"""What every command starts from: a dataset folder with its settings, scale and data read, and the languages asked for."""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import click

from pools.dataset import dataset, settings
from pools.dataset.dataset import Dataset
from pools.dataset.settings import Settings
from pools.errors import UsageError
from pools.relevance import is_relevant_rating
from prompts import scales
from prompts.scales import Scale

F = TypeVar("F", bound=Callable[..., Any])


@dataclass(frozen=True, slots=True)
class Workspace:
    """A dataset folder as a command sees it."""

    folder: Path
    settings: Settings
    scale: Scale
    dataset: Dataset
    languages: tuple[str, ...]

    def ledger_path(self, language: str) -> Path:
        return dataset.work(self.folder, language) / "judgements.jsonl"


def load_scale(folder: Path, found: Settings) -> Scale:
    """Return the scale that the settings name; raises `UsageError` where it is none."""
    try:
        return scales.load(found.scale, folder)
    except ValueError as error:
        raise UsageError(f"{folder / settings.FILE}: scale: {error}") from error


def open_workspace(folder: Path, languages: Sequence[str]) -> Workspace:
    """Read a dataset folder; raises `UsageError` or `DataError` before anything is written."""
    if not folder.is_dir():
        raise UsageError(f"{folder}: no such folder; name a dataset's with --data, or start one with `judge init {folder}`")
    found = settings.load(folder)
    scale = load_scale(folder, found)
    if is_relevant_rating(scale.lowest, found.relevant_from):
        raise UsageError(
            f"{folder / settings.FILE}: relevant_from is {found.relevant_from:g}, so every rating on the scale {scale.lowest}-"
            f"{scale.highest} would be relevant and every judge right; set it above {scale.lowest}"
        )
    data = dataset.load(folder, scale)
    if "" in languages:
        raise UsageError(f"a language is needed, as in --lang {data.languages[0]}; {folder} has {', '.join(data.languages)}")
    return Workspace(folder, found, scale, data, data.choose(languages))


def data_option(function: F) -> F:
    """Add --data, which is the dataset's folder as a `Path`."""
    return click.option(
        "--data",
        type=click.Path(path_type=Path),
        default=Path(),
        envvar="JUDGE_DATA",
        show_envvar=True,
        metavar="DIR",
        help="The dataset's folder (default: this folder).",
    )(function)


def lang_option(function: F) -> F:
    """Add --lang, which may come several times and arrives as `langs`."""
    return click.option("--lang", "langs", multiple=True, metavar="L", help="A language; repeatable (default: all).")(function)


def json_option(function: F) -> F:
    """Add --json, which arrives as `as_json`."""
    return click.option("--json", "as_json", is_flag=True, help="Print the figures as JSON.")(function)


def seed_option(function: F) -> F:
    """Add --seed; None means judge.toml's."""
    return click.option(
        "--seed", type=click.IntRange(0), envvar="JUDGE_SEED", show_envvar=True, help="Seed, instead of judge.toml's."
    )(function)


def endpoint_options(function: F) -> F:
    """Add --model and --base-url; None means judge.toml's."""
    for option in (
        click.option(
            "--base-url", envvar="OPENAI_BASE_URL", show_envvar=True, metavar="URL", help="OpenAI-compatible endpoint."
        ),
        click.option("--model", envvar="JUDGE_MODEL", show_envvar=True, help="Model name, instead of judge.toml's."),
    ):
        function = option(function)
    return function


def json_text(document: object) -> str:
    """Return figures as text for a program to read."""
    return json.dumps(document, ensure_ascii=False, indent=2)


def show_json(document: object) -> None:
    """Print figures for a program to read."""
    click.echo(json_text(document))


def note(message: str) -> None:
    """Print a note for the person at the terminal; results alone go to stdout."""
    click.echo(message, err=True)
