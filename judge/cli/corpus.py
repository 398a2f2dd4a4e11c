"""`judge corpus`: the functions of a checkout into the corpus."""

from collections import Counter
from pathlib import Path
from typing import Any

import click

from judge.cli.workspace import data_option, json_option, note, show_json
from pools.errors import UsageError

BROKEN = "function with a syntax error within"


@click.command()
@click.option(
    "--from", "folder", type=click.Path(path_type=Path), required=True, metavar="PATH",
    help="A git checkout (its tracked files are read), a folder in one, or a folder without git.",
)  # fmt: skip
@click.option("--lang", "langs", multiple=True, required=True, metavar="L", help="A language to extract; repeatable.")
@data_option
@click.option("--include-vendored", is_flag=True, help="Vendored, generated and minified files too.")
@json_option
def corpus(folder: Path, langs: tuple[str, ...], data: Path, include_vendored: bool, as_json: bool) -> None:
    """Extract every function and method of a checkout into the corpus.

    Languages: python, java, javascript, typescript, php, ruby, go. A corpus that is there already keeps its rows and ids and
    grows by the new functions only. Identical code becomes one row, its occurrences counted in column `count` and listed in
    `copies`; `near_duplicate_of` names an earlier function that is nearly the same.

    \b
    Examples:
      judge corpus --from ../flask --lang python --data my-collection
      judge corpus --from ../app --lang javascript --lang typescript --json
    """
    from tqdm import tqdm

    from pools.checkouts import checkout, harvest

    languages = tuple(dict.fromkeys(langs))
    suffixes = {language: harvest.suffixes(language) for language in languages}
    if data.exists() and not data.is_dir():
        raise UsageError(f"{data}: not a folder; name a dataset's with --data")
    path, functions = harvest.read(data)
    found = checkout.open_checkout(folder)
    if not found.git:
        note(f"{folder}: git tracks nothing here, so every file is read and no commit is noted")
    figures: dict[str, dict[str, Any]] = {}
    for language in languages:
        left_out: Counter[str] = Counter()
        sources = checkout.sources(found, suffixes[language], include_vendored=include_vendored, left_out=left_out)
        harvested = harvest.harvest(found, language, sources=tqdm(sources, desc=language, unit=" files", disable=None))
        counted = dict(sorted((left_out + Counter({BROKEN: harvested.broken})).items()))
        if not harvested.functions:
            files, why = ", ".join(f"*{suffix}" for suffix in suffixes[language]), ""
            if counted:
                why = ", left out: " + ", ".join(f"{reason} {number}" for reason, number in counted.items())
            raise UsageError(f"{folder}: no {language} function in {files}{why}; name another folder or language")
        grown = harvest.grow(functions, language, harvested=harvested.functions)
        functions = grown.functions
        changed = [path for path in found.changed if path.startswith(found.below) and path.lower().endswith(suffixes[language])]
        figures[language] = {
            "found": grown.found, "added": grown.added, "repeated": grown.repeated, "known": grown.known,
            "near_duplicates": grown.near_duplicates, "left_out": counted, "changed_files": len(changed),
            "faulty_files": harvested.faulty, "undecodable_files": harvested.undecodable,
        }  # fmt: skip
    harvest.write(path, functions)
    if as_json:
        show_json({"corpus": str(path), "languages": figures})
    else:
        for language, figure in figures.items():
            click.echo(_sentence(language, figure))


def _sentence(language: str, figure: dict[str, Any]) -> str:
    lines = [
        f"{language}: {figure['found']} functions found: {figure['added']} added, {figure['repeated']} the same as others, "
        f"{figure['known']} known before; {figure['near_duplicates']} rows are near-duplicates of an earlier one"
    ]
    lines += [f"  left out, {reason}: {number}" for reason, number in figure["left_out"].items()]
    if figure["changed_files"]:
        lines.append(f"  files that differ from the commit, so none is noted for them: {figure['changed_files']}")
    if figure["faulty_files"]:
        lines.append(f"  files with a syntax error, of which functions may be missing: {figure['faulty_files']}")
    if figure["undecodable_files"]:
        lines.append(f"  files with undecodable bytes, kept as U+FFFD: {figure['undecodable_files']}")
    return "\n".join(lines)
