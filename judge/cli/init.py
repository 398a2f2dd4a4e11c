"""`judge init`: a dataset folder with every setting explained."""

from pathlib import Path

import click

from judge.cli.workspace import note
from pools.dataset import files, settings
from pools.errors import UsageError

NEXT = """{path} written; every key is commented out and shows its default.
Put beside it (as .jsonl, .jsonl.gz or .parquet):
  queries   language, search_id, search, split ("tuning" or "test")
  corpus    id, language, code, url, repository, commit, path, first_line, last_line, license, sha256
  qrels     language, search_id, function_id, relevance, relevant, source, expert_ratings, judge_rating, rated_because
Then: judge check --data {folder}"""


@click.command()
@click.argument("directory", metavar="DIR", type=click.Path(path_type=Path))
def init(directory: Path) -> None:
    """Start a dataset folder.

    Writes DIR/judge.toml with every setting explained and says which files to put beside it.

    \b
    Example:
      judge init my-collection
    """
    path = directory / settings.FILE
    if path.exists():
        raise UsageError(f"{path} is there already; edit it, or remove it to start again")
    files.replace(path, settings.document().encode("utf-8"))
    note(NEXT.format(path=path, folder=directory))
