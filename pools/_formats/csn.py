"""The CodeSearchNet Challenge as a test collection: its numbering, its split, its pairs, as in the published dataset.

Searches are numbered by the sorted texts of all languages together, so a search has one id in every language it was rated
in; functions by the sorted addresses of those of their language that resolve.

A function is its lines at the commit that was rated. The form can only be read: its rows are experts' ratings of addresses, so
it has no place for a judge's rating, nor for code.
"""

import random
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from pools._checkouts import sources
from pools._checkouts.sources import Content, File, Location, Resolution
from pools._dataset import files
from pools._dataset.records import Function, Query, query_row
from pools._formats import annotations as ratings
from pools._formats import collection
from pools._formats.annotations import LANGUAGES, Annotation
from pools._formats.collection import Collection
from pools._formats.format import Destination, Format, Input
from pools.errors import DataError, UsageError

TUNED = "python"
TUNING_SEED = 5
TUNING_SEARCHES = 20

CACHE = ("work", "cache")
UNRESOLVED = "unresolved.tsv"

Place = tuple[str, Location]
"""A function: its language and where its lines are."""


@dataclass(frozen=True, slots=True)
class Unresolved:
    """A function without code, and why."""

    language: str
    url: str
    reason: str


def read(destination: Destination, *, annotations: Path, code: str, unresolved: Path | None = None) -> Collection:
    """Return the collection, with the code of each function that resolves, and unresolved.tsv beside it.

    `code` says where it comes from: `raw`, the URL of a mirror, or a folder of clones. What a mirror hands out is kept in the
    destination's work/cache, so that a run that was stopped goes on. Raises `Stopped` where a mirror is out of order.
    """
    rated = ratings.parse(files.read(annotations), str(annotations), scale=destination.scale)
    # Before anything is fetched, which may take hours.
    collection.is_there(destination.folder, "queries", rows=[query_row(query) for query in queries(rated)])
    places = functions(rated)
    known = {} if unresolved is None else listed(files.read(unresolved), str(unresolved))
    stray = len(known.keys() - places.keys())
    if stray:
        destination.note(f"{stray} of the functions in {unresolved} are not annotated in {annotations}")
    locations = [location for language, location in places if (language, location) not in known]
    wanted = sources.files_of(locations)
    contents = _told(_contents(code, destination.folder, wanted=wanted), len(wanted), progress=destination.progress)
    resolution = sources.resolve(locations, contents)
    found, left_out = build(rated, known, resolution=resolution, relevant_from=destination.relevant_from)
    counts = Counter(entry.language for entry in left_out)
    path = destination.folder / UNRESOLVED
    return replace(
        found,
        notes=(f"{len(left_out)} functions do not resolve; {path} lists them with the reason",) if left_out else (),
        unresolved={language: counts[language] for language in LANGUAGES.values()},
        beside={UNRESOLVED: report(left_out)},
    )


def _contents(code: str, folder: Path, *, wanted: list[File]) -> Iterable[Content]:
    from pools._checkouts import clones, mirrors

    if code == "raw" or code.startswith(("http://", "https://")):
        return mirrors.Mirror(mirrors.RAW if code == "raw" else code, folder.joinpath(*CACHE)).read(wanted)
    if not Path(code).is_dir():
        raise UsageError(f"--code {code}: no such folder; valid are raw, the http(s) URL of a mirror, a folder of git clones")
    return clones.read(Path(code), wanted)


def _told(contents: Iterable[Content], total: int, *, progress: Callable[[int, int], None]) -> Iterator[Content]:
    progress(0, total)
    for done, content in enumerate(contents, start=1):
        yield content
        progress(done, total)


def functions(annotations: Sequence[Annotation]) -> dict[Place, str]:
    """Return the address of every annotated function, the first of its spellings in sorted order."""
    spellings: dict[Place, str] = {}
    for annotation in annotations:
        place = (annotation.language, annotation.location)
        spellings[place] = min(annotation.url, spellings.get(place, annotation.url))
    return spellings


def listed(content: bytes, name: str) -> dict[Place, str]:
    """Return the reason for each function of a file of unresolved ones: language, url and perhaps reason, between tabs.

    The first line may name the columns. Raises `DataError` naming the line.
    """
    found: dict[Place, str] = {}
    try:
        lines = content.decode("utf-8-sig").split("\n")
    except UnicodeDecodeError as error:
        raise DataError(f"{name}: not UTF-8 ({error.reason}); write it again as UTF-8") from error
    for number, line in enumerate(lines, start=1):
        fields = [field.strip() for field in line.split("\t")]
        if not line.strip() or (number == 1 and fields[:2] == ["language", "url"]):
            continue
        if len(fields) not in (2, 3) or fields[0] not in LANGUAGES.values():
            raise DataError(
                f"{name}:{number}: must be language, url and perhaps a reason, with a tab between; languages are "
                f"{', '.join(LANGUAGES.values())}"
            )
        try:
            place = (fields[0], sources.locate(fields[1]))
        except ValueError as error:
            raise DataError(f"{name}:{number}: {error}") from error
        found[place] = "".join(fields[2:]) or "known before the import"
    return found


def queries(annotations: Sequence[Annotation]) -> tuple[Query, ...]:
    """Return the searches of each language, numbered, with Python's tuning split; also those of which no function resolves."""
    ids = _search_ids(annotations)
    tuning = set(
        random.Random(TUNING_SEED).sample(sorted(ids.values()), min(TUNING_SEARCHES, len(ids)))  # noqa: S311  a published draw
    )
    rated = {(annotation.language, annotation.search) for annotation in annotations}
    return tuple(
        Query(language, ids[search], search, "tuning" if language == TUNED and ids[search] in tuning else "test")
        for language in LANGUAGES.values()
        for search in sorted(ids)
        if (language, search) in rated
    )


def build(
    annotations: Sequence[Annotation], unresolved: Mapping[Place, str], *, resolution: Resolution, relevant_from: float
) -> tuple[Collection, tuple[Unresolved, ...]]:
    """Return the collection, and the functions left out of it: those known not to resolve and those that did not.

    Every annotated function is in `unresolved` or in the resolution.
    """
    urls = functions(annotations)
    reasons = {place: unresolved.get(place) or resolution.reasons.get(place[1]) for place in urls}
    known = {place: url for place, url in urls.items() if reasons[place] is None}
    ids = _function_ids(known)
    search_ids = _search_ids(annotations)
    ratings: dict[tuple[str, str, str], list[int]] = {}
    for annotation in annotations:
        place = (annotation.language, annotation.location)
        if place in ids:
            key = (annotation.language, search_ids[annotation.search], ids[place])
            ratings.setdefault(key, []).append(annotation.rating)
    order = list(LANGUAGES.values())
    found = Collection(
        queries(annotations),
        tuple(_function(place, known[place], identifier=ids[place], code=resolution.codes[place[1]]) for place in ids),
        tuple(
            collection.expert(*key[:2], function_id=key[2], ratings=tuple(ratings[key]), relevant_from=relevant_from)
            for key in sorted(ratings, key=lambda key: (order.index(key[0]), *key[1:]))
        ),
    )
    left_out = [Unresolved(place[0], url, reasons[place] or "") for place, url in urls.items() if place not in ids]
    return found, tuple(sorted(left_out, key=lambda entry: (order.index(entry.language), entry.url)))


def report(left_out: Iterable[Unresolved]) -> bytes:
    """Return the content of unresolved.tsv, which `listed` reads."""
    rows = [("language", "url", "reason"), *((entry.language, entry.url, entry.reason) for entry in left_out)]
    return "".join("\t".join(" ".join(field.split()) for field in row) + "\n" for row in rows).encode("utf-8")


def _search_ids(annotations: Sequence[Annotation]) -> dict[str, str]:
    texts = sorted({annotation.search for annotation in annotations})
    width = max(2, len(str(len(texts) - 1)))
    return {text: f"q{number:0{width}}" for number, text in enumerate(texts)}


def _function_ids(known: Mapping[Place, str]) -> dict[Place, str]:
    ids = {}
    for language in LANGUAGES.values():
        places = sorted((place for place in known if place[0] == language), key=lambda place: known[place])
        width = max(4, len(str(len(places) - 1)))
        ids.update({place: f"{language}/{number:0{width}}" for number, place in enumerate(places)})
    return ids


def _function(place: Place, url: str, *, identifier: str, code: str) -> Function:
    language, location = place
    origin = {
        "url": url,
        "repository": location.file.repository,
        "commit": location.file.commit,
        "path": location.file.path,
        "first_line": location.first_line,
        "last_line": location.last_line,
        "license": None,
        "sha256": files.sha256(code.encode("utf-8")),
    }
    return Function(identifier, language, code, origin)


FORMAT = Format(
    "csn",
    "Import the CodeSearchNet Challenge with its code.",
    "A function is its lines at the commit that was rated. What does not resolve is left out and listed with the reason in "
    "unresolved.tsv, which --unresolved takes. Files fetched are kept in work/cache, so a run that was stopped goes on.",
    (
        "judge import csn --annotations annotationStore.csv --code raw --data csn",
        "judge import csn --annotations annotationStore.csv --code ~/clones --unresolved missing_urls.tsv --data csn",
    ),
    (
        Input("annotations", "file", "FILE", "The Challenge's annotationStore.csv."),
        Input(
            "code",
            "text",
            "raw|URL|DIR",
            "Where the code comes from: raw (GitHub's raw host), the URL of a mirror laid out like it, or a folder of git "
            "clones as owner+name/ or owner/name/.",
        ),
        Input(
            "unresolved",
            "file",
            "FILE",
            "Functions known not to resolve (language, tab, url); not asked for.",
            required=False,
        ),
    ),
    read,
    read_only="its rows are experts' ratings of addresses, so it has no place for a judge's rating, nor for code",
)
