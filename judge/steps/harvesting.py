"""The step `corpus`: the functions of a checkout into the corpus of a dataset folder."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from judge.steps.progress import Listener, Note, Progress, ignore
from pools._checkouts import checkout, harvest
from pools._checkouts.checkout import Checkout
from pools.errors import UsageError

BROKEN = "function with a syntax error within"

Source = tuple[str, bytes]


@dataclass(frozen=True, slots=True)
class HarvestedLanguage:
    """What a checkout had of one language, and what became of it in the corpus (see `pools._checkouts.harvest.Growth`).

    `left_out` counts files and functions by the reason; `changed_files` differ from the commit, so none is noted for them;
    `faulty_files` have a syntax error, `undecodable_files` bytes that are no text.
    """

    language: str
    found: int
    added: int
    repeated: int
    known: int
    near_duplicates: int
    left_out: Mapping[str, int]
    changed_files: int
    faulty_files: int
    undecodable_files: int


@dataclass(frozen=True, slots=True)
class Harvested:
    """The corpus file that grew, and each language's part in it."""

    path: Path
    languages: tuple[HarvestedLanguage, ...]

    def document(self) -> dict[str, Any]:
        """Return it as a JSON object."""
        found = {entry.language: asdict(entry) for entry in self.languages}
        return {
            "corpus": str(self.path),
            "languages": {
                language: {key: value for key, value in figures.items() if key != "language"}
                for language, figures in found.items()
            },
        }


def harvest_checkout(
    source: Path,
    languages: Sequence[str],
    *,
    data: Path,
    include_vendored: bool = False,
    note: Note = ignore,
    progress: Listener = ignore,
) -> Harvested:
    """Extract every function of a checkout, or of a folder in one or without git, into the corpus of the folder `data`.

    A corpus that is there already keeps its rows and ids. `progress` is told of the files of one language after the other.
    Raises `UsageError`, with nothing written, for a language without a grammar or of which there is no function.
    """
    suffixes = {language: harvest.suffixes(language) for language in dict.fromkeys(languages)}
    if data.exists() and not data.is_dir():
        raise UsageError(f"{data}: not a folder; name a dataset's with --data")
    path, functions = harvest.read(data)
    found = checkout.open_checkout(source)
    if not found.git:
        note(f"{source}: git tracks nothing here, so every file is read and no commit is noted")
    harvested = []
    for language, endings in suffixes.items():
        left_out: Counter[str] = Counter()
        sources = checkout.sources(found, endings, include_vendored=include_vendored, left_out=left_out)
        taken = harvest.harvest(found, language, sources=_told(sources, language, progress=progress))
        left_out += Counter({BROKEN: taken.broken})
        if not taken.functions:
            raise _nothing(source, language, endings=endings, left_out=left_out)
        grown = harvest.grow(functions, language, harvested=taken.functions)
        functions = grown.functions
        harvested.append(_language(found, language, endings=endings, grown=grown, taken=taken, left_out=left_out))
    harvest.write(path, functions)
    return Harvested(path, tuple(harvested))


def _language(
    found: Checkout,
    language: str,
    *,
    endings: tuple[str, ...],
    grown: harvest.Growth,
    taken: harvest.Harvest,
    left_out: Mapping[str, int],
) -> HarvestedLanguage:
    changed = [path for path in found.changed if path.startswith(found.below) and path.lower().endswith(endings)]
    return HarvestedLanguage(
        language=language,
        found=grown.found,
        added=grown.added,
        repeated=grown.repeated,
        known=grown.known,
        near_duplicates=grown.near_duplicates,
        left_out=dict(sorted(left_out.items())),
        changed_files=len(changed),
        faulty_files=taken.faulty,
        undecodable_files=taken.undecodable,
    )


def _told(sources: Iterable[Source], language: str, *, progress: Listener) -> Iterator[Source]:
    progress(Progress(language, " files", 0, None))
    for done, source in enumerate(sources, start=1):
        yield source
        progress(Progress(language, " files", done, None))


def _nothing(source: Path, language: str, *, endings: Sequence[str], left_out: Mapping[str, int]) -> UsageError:
    files, why = ", ".join(f"*{ending}" for ending in endings), ""
    if left_out:
        why = ", left out: " + ", ".join(f"{reason} {number}" for reason, number in sorted(left_out.items()))
    return UsageError(f"{source}: no {language} function in {files}{why}; name another folder or language")
