"""Options that several commands have, as decorators: each is written once, and arrives under one name."""

import functools
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from pools.errors import UsageError

F = TypeVar("F", bound=Callable[..., Any])


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
    """Add --json, which arrives as `as_json`, for commands whose result is no table."""
    return click.option("--json", "as_json", is_flag=True, help="Print the figures as JSON.")(function)


def form_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add --json and --csv, which arrive as `form`: "text", "json" or "csv". Both at once are a usage error."""

    @functools.wraps(function)
    def called(*arguments: Any, as_json: bool, as_csv: bool, **options: Any) -> Any:
        if as_json and as_csv:
            raise UsageError("--json and --csv are two forms of the same; give one of them")
        form = "json" if as_json else "csv" if as_csv else "text"
        return function(*arguments, form=form, **options)

    rows = click.option("--csv", "as_csv", is_flag=True, help="Print the figures as CSV, a row a record.")
    return json_option(rows(called))


def seed_option(function: F) -> F:
    """Add --seed; None means judge.toml's."""
    return click.option(
        "--seed", type=click.IntRange(0), envvar="JUDGE_SEED", show_envvar=True, help="Seed, instead of judge.toml's."
    )(function)


def model_option(function: F) -> F:
    """Add --model; None means judge.toml's."""
    return click.option("--model", envvar="JUDGE_MODEL", show_envvar=True, help="Model name, instead of judge.toml's.")(
        function
    )


def base_url_option(function: F) -> F:
    """Add --base-url; None means judge.toml's."""
    return click.option(
        "--base-url", envvar="OPENAI_BASE_URL", show_envvar=True, metavar="URL", help="OpenAI-compatible endpoint."
    )(function)


def endpoint_options(function: F) -> F:
    """Add --model and --base-url."""
    return model_option(base_url_option(function))


def concurrency_option(function: F) -> F:
    """Add --concurrency; None means judge.toml's."""
    return click.option(
        "--concurrency",
        type=click.IntRange(1),
        envvar="JUDGE_CONCURRENCY",
        show_envvar=True,
        help="Requests in flight, instead of judge.toml's.",
    )(function)


def limit_options(*, pairs: bool = True, whose: str = "") -> Callable[[F], F]:
    """Add --max-cost, --max-requests and, with `pairs`, --max-pairs; `whose` names what alone they stop, as "llm "."""

    def add(function: F) -> F:
        if pairs:
            words = f"Stop {whose}after this many pairs were asked {'about' if whose else 'for'}."
            function = click.option("--max-pairs", type=click.IntRange(1), help=words)(function)
        words = f"Stop {whose}after this many requests."
        function = click.option("--max-requests", type=click.IntRange(1), help=words)(function)
        words = f"Stop {whose}before this many US dollars are exceeded."
        return click.option("--max-cost", type=click.FloatRange(0, min_open=True), help=words)(function)

    return add
