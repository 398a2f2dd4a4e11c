"""`judge import`: a test collection in another form becomes a dataset folder."""

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from judge.cli.workspace import data_option, json_option, load_scale, note, show_json
from pools.dataset.settings import Settings
from pools.errors import UsageError
from prompts.scales import Scale

if TYPE_CHECKING:
    from pools.checkouts.sources import Content, File
    from pools.formats.collection import Collection

CACHE = ("work", "cache")
UNRESOLVED = "unresolved.tsv"

_FILE = click.Path(path_type=Path, exists=True, dir_okay=False)
_FOLDER = click.Path(path_type=Path, exists=True, file_okay=False)


@click.group(name="import")
def importing() -> None:
    """Make a dataset of a test collection in another form.

    Writes queries.jsonl.gz, corpus.jsonl.gz and qrels.jsonl.gz into the dataset's folder; ratings become expert ratings. A
    folder that holds another dataset already is refused. Scale and relevant_from are those of its judge.toml, if it has one.
    """


@importing.command()
@data_option
@json_option
@click.option("--annotations", type=_FILE, required=True, metavar="FILE", help="The Challenge's annotationStore.csv.")
@click.option(
    "--code",
    required=True,
    metavar="raw|URL|DIR",
    help="Where the code comes from: raw (GitHub's raw host), the URL of a mirror laid out like it, or a folder of git clones "
    "as owner+name/ or owner/name/.",
)
@click.option(
    "--unresolved",
    type=_FILE,
    metavar="FILE",
    help="Functions known not to resolve (language, tab, url); not asked for.",
)
def csn(data: Path, as_json: bool, annotations: Path, code: str, unresolved: Path | None) -> None:
    """Import the CodeSearchNet Challenge with its code.

    A function is its lines at the commit that was rated. What does not resolve is left out and listed with the reason in
    unresolved.tsv, which --unresolved takes. Files fetched are kept in work/cache, so a run that was stopped goes on.

    \b
    Examples:
      judge import csn --annotations annotationStore.csv --code raw --data csn
      judge import csn --annotations annotationStore.csv --code ~/clones --unresolved missing_urls.tsv --data csn
    """
    from pools.checkouts import sources
    from pools.dataset import files
    from pools.dataset.records import query_row
    from pools.formats import annotations as ratings
    from pools.formats import collection
    from pools.formats import csn as challenge

    settings, scale = _settings(data)
    rated = ratings.parse(files.read(annotations), str(annotations), scale=scale)
    collection.is_there(data, "queries", rows=[query_row(query) for query in challenge.queries(rated)])
    functions = challenge.functions(rated)
    listed = {} if unresolved is None else challenge.listed(files.read(unresolved), str(unresolved))
    stray = len(listed.keys() - functions.keys())
    if stray:
        note(f"{stray} of the functions in {unresolved} are not annotated in {annotations}")
    locations = [location for language, location in functions if (language, location) not in listed]
    wanted = sources.files_of(locations)
    resolution = sources.resolve(locations, _progress(_contents(code, data, wanted=wanted), len(wanted)))
    found, left_out = challenge.build(rated, listed, resolution=resolution, relevant_from=settings.relevant_from)
    collection.write(data, found)
    files.replace(data / UNRESOLVED, challenge.report(left_out))
    if left_out:
        note(f"{len(left_out)} functions do not resolve; {data / UNRESOLVED} lists them with the reason")
    counts = {language: sum(entry.language == language for entry in left_out) for language in ratings.LANGUAGES.values()}
    _show(data, found, as_json=as_json, unresolved=counts)


@importing.command()
@data_option
@json_option
@click.option("--topics", type=_FILE, required=True, metavar="FILE", help="<top> or <topic> blocks, or lines of id, tab, text.")
@click.option(
    "--documents", type=_FILE, required=True, multiple=True, metavar="FILE", help="<DOC> blocks or JSON lines; repeatable."
)
@click.option("--qrels", type=_FILE, required=True, metavar="FILE", help="Lines of topic, iteration, document, level.")
def trec(data: Path, as_json: bool, topics: Path, documents: tuple[Path, ...], qrels: Path) -> None:
    """Import a TREC collection: topics, documents, qrels.

    A topic's title is the search; a document's text, below its title, is the function's code. All other fields are kept as
    columns. There is one language, `all`. Files may be compressed (.gz).

    \b
    Example:
      judge import trec --topics topics.xml --documents docs.jsonl.gz --qrels qrels.txt --data collection
    """
    from pools.formats import trec as form

    settings, scale = _settings(data)
    _finish(data, form.load(topics, documents, qrels=qrels, scale=scale, relevant_from=settings.relevant_from), as_json=as_json)


@importing.command()
@data_option
@json_option
@click.argument("directory", metavar="DIR", type=_FOLDER)
def beir(data: Path, as_json: bool, directory: Path) -> None:
    """Import a BEIR folder: corpus.jsonl, queries.jsonl, qrels/test.tsv.

    A document's text, below its title, is the function's code; all other columns are kept. There is one language, `all`.
    Searches that only other splits' qrels name (train, dev) are left out.

    \b
    Example:
      judge import beir nfcorpus --data collection
    """
    from pools.formats import beir as form

    settings, scale = _settings(data)
    _finish(data, form.load(directory, scale, relevant_from=settings.relevant_from), as_json=as_json)


@importing.command()
@data_option
@json_option
@click.argument("directory", metavar="DIR", type=_FOLDER)
def hf(data: Path, as_json: bool, directory: Path) -> None:
    """Import a published dataset as the Hugging Face hub lays it out.

    DIR holds queries, corpus and qrels as .jsonl, .jsonl.gz or .parquet: files of these names, folders of these names, or
    either of them under data/, shards included. All columns are kept.

    \b
    Example:
      judge import hf codesearchnet-challenge-extended --data csn
    """
    from pools.formats import hf

    _, scale = _settings(data)
    _finish(data, hf.load(directory, scale), as_json=as_json)


def _settings(data: Path) -> tuple[Settings, Scale]:
    from pools.dataset import settings

    if data.exists() and not data.is_dir():
        raise UsageError(f"{data} is no folder; name one with --data")
    found = settings.load(data)
    return found, load_scale(data, found)


def _contents(code: str, data: Path, *, wanted: "list[File]") -> "Iterable[Content]":
    from pools.checkouts import clones, mirrors

    if code == "raw" or code.startswith(("http://", "https://")):
        return mirrors.Mirror(mirrors.RAW if code == "raw" else code, data.joinpath(*CACHE)).read(wanted)
    if not Path(code).is_dir():
        raise UsageError(f"--code {code}: no such folder; valid are raw, the http(s) URL of a mirror, a folder of git clones")
    return clones.read(Path(code), wanted)


def _progress(contents: "Iterable[Content]", total: int) -> "Iterable[Content]":
    from tqdm import tqdm

    return tqdm(contents, total=total, desc="code", unit="file", disable=None)


def _finish(data: Path, found: "Collection", *, as_json: bool) -> None:
    from pools.formats import collection

    collection.write(data, found)
    _show(data, found, as_json=as_json, unresolved={})


def _show(data: Path, found: "Collection", *, as_json: bool, unresolved: dict[str, int]) -> None:
    for line in found.notes:
        note(line)
    if found.qrels and not any(qrel.relevant for qrel in found.qrels):
        highest = max(qrel.relevance for qrel in found.qrels)
        note(f"no pair is relevant: the highest rating is {highest:g}; set scale and relevant_from in {data / 'judge.toml'}")
    figures = [
        _figures(found, language, unresolved=unresolved)
        for language in dict.fromkeys(query.language for query in found.queries)
    ]
    if as_json:
        show_json({"languages": figures})
        return
    for entry in figures:
        words = f"{entry['searches']} searches ({entry['tuning']} tuning), {entry['functions']} functions"
        left_out = f" ({entry['unresolved']} unresolved)" if unresolved else ""
        click.echo(f"{entry['language']}: {words}{left_out}, {entry['pairs']} rated pairs, {entry['relevant']} relevant")


def _figures(found: "Collection", language: str, *, unresolved: dict[str, int]) -> dict[str, Any]:
    queries = [query for query in found.queries if query.language == language]
    qrels = [qrel for qrel in found.qrels if qrel.language == language]
    return {
        "language": language,
        "searches": len(queries),
        "tuning": sum(query.split == "tuning" for query in queries),
        "functions": sum(function.language == language for function in found.corpus or ()),
        **({"unresolved": unresolved[language]} if unresolved else {}),
        "pairs": len(qrels),
        "relevant": sum(qrel.relevant for qrel in qrels),
    }
