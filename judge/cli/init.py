"""`judge init`: a dataset folder with every setting explained."""

from pathlib import Path

import click

from judge.cli.printing import note

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
    from judge.steps import init as step

    note(NEXT.format(path=step.init(directory), folder=directory))
