"""What is published: queries, corpus, judgements and the dataset card, in the folder export/, and other forms of them there.

Everything is checked before anything is written. A language whose judgements hold a judge's ratings must show where they
come from (every one equal to the ledger's) and that its gate admits them, or an override on record; what poses as an expert's
row and does not follow from experts' ratings stays in. What is written depends on the files of the dataset alone, so two
exports are the same bytes.
"""

import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from gates._release import journal, qrels
from gates._report import card
from gates._report.card import Chapter
from gates._verdict import evidence as proof
from gates._verdict.evidence import Evidence
from pools._dataset import files
from pools._dataset.dataset import Dataset
from pools._dataset.settings import Settings
from pools._formats import hf, registry
from pools._formats.collection import Collection
from pools.errors import DataError, GateClosed, UsageError
from pools.relevance import is_relevant_rating
from prompts.scales import Scale

FOLDER = "export"
CARD = "README.md"
FORMATS = (hf.FORMAT.name,)
"""What is written unless something else is asked for; it alone lies in export/ itself, every other form in a folder there."""


def export(
    data: Dataset,
    evidence: Mapping[str, Evidence],
    *,
    settings: Settings,
    scale: Scale,
    formats: Sequence[str] = FORMATS,
) -> tuple[Path, ...]:
    """Write the files of export/ and return their paths, the card last.

    `evidence` has an entry for each language with a judge (see `gates._verdict.evidence.Evidence`), `formats` are names of
    `pools._formats.registry`. Raises `GateClosed` for judge ratings that nothing admits, `DataError` where there is no corpus
    or a format cannot hold an id, `UsageError` for a format that cannot be written; in any case nothing is written.
    """
    contents = render(data, evidence, settings=settings, scale=scale, formats=formats)
    folder = data.folder / FOLDER
    try:
        # All of it is on the disk before the first file of export/ changes.
        with tempfile.TemporaryDirectory(dir=data.folder, prefix=f".{FOLDER}.") as staged:
            for name, content in contents.items():
                files.replace(Path(staged) / name, content)
            for name in contents:
                (folder / name).parent.mkdir(parents=True, exist_ok=True)
                (Path(staged) / name).replace(folder / name)
    except OSError as error:
        raise UsageError(
            f"{folder}: cannot be written ({error.strerror or error}); choose a folder that can, with --data"
        ) from error
    return tuple(folder / name for name in contents)


def left_over(data: Dataset, formats: Sequence[str]) -> tuple[str, ...]:
    """Return the formats beside these that an earlier export left in export/, where nothing updates them."""
    folder = data.folder / FOLDER
    places = {name: folder / ("qrels.jsonl.gz" if name in FORMATS else name) for name in registry.names()}
    return tuple(name for name, place in places.items() if name not in formats and place.exists())


def render(
    data: Dataset,
    evidence: Mapping[str, Evidence],
    *,
    settings: Settings,
    scale: Scale,
    formats: Sequence[str] = FORMATS,
) -> dict[str, bytes]:
    """Return the content of each file of export/ by its path there, the card last; raises as `export` does."""
    writers = {name: registry.writer(name) for name in dict.fromkeys(formats)}
    if data.corpus is None:
        raise DataError(f"{data.folder}: no corpus.jsonl.gz (or .jsonl, .parquet); an export needs the functions")
    checked = [check(data, language, evidence=evidence.get(language), settings=settings) for language in data.languages]
    chapters = [chapter for chapter in checked if chapter is not None]
    found = _collection(data)
    relevant_from = {language: _relevant_from(evidence.get(language), settings) for language in data.languages}
    contents = {
        path if name in FORMATS else f"{name}/{path}": content
        for name, write in writers.items()
        for path, content in write(found, relevant_from).items()
    }
    return contents | {CARD: card.text(data, chapters, settings=settings, scale=scale).encode("utf-8", "backslashreplace")}


def _collection(data: Dataset) -> Collection:
    place = {language: index for index, language in enumerate(data.languages)}
    queries = sorted(data.queries, key=lambda query: (place[query.language], query.search_id))
    corpus = sorted(
        data.corpus or (), key=lambda function: (place.get(function.language, len(place)), function.language, function.id)
    )
    return Collection(tuple(queries), tuple(corpus), tuple(qrels.ordered(data, data.qrels)))


def _relevant_from(evidence: Evidence | None, settings: Settings) -> float:
    return settings.relevant_from if evidence is None else evidence.seal.relevant_from


def check(data: Dataset, language: str, *, evidence: Evidence | None, settings: Settings) -> Chapter | None:
    """Return what the card tells of a language's judge, None without one; raises `GateClosed` where ratings may not leave."""
    events = journal.read(data.folder, language)
    qrels.check(data, language, relevant_from=_relevant_from(evidence, settings))
    if evidence is None:
        if qrels.carries(data, language):
            raise GateClosed(
                f"{language}: its judgements hold a judge's ratings, and there is no ledger or audit to show for them; "
                f"merge them with `judge merge --lang {language}`, or take them out with `judge withdraw`"
            )
        return None
    # Where nothing admits, the verdict is computed and not read from gate.json: the card cannot show a figure edited there.
    if not qrels.carries(data, language):
        return Chapter(language, evidence, proof.verdict(data, language, evidence=evidence), None, events)
    _traced(data, language, evidence=evidence)
    override = journal.override(events, evidence.judge_id)
    try:
        record = proof.admits(data, language, evidence=evidence)
    except GateClosed:
        if override is None:
            raise
        return Chapter(language, evidence, proof.verdict(data, language, evidence=evidence), override, events)
    return Chapter(language, evidence, record, None, events)


def _traced(data: Dataset, language: str, *, evidence: Evidence) -> None:
    for qrel in data.qrels_of(language):
        row = f"{language}: the judgement of {qrel.search_id} {qrel.function_id}"
        if qrel.judge_rating is not None and evidence.ratings.get(qrel.pair) != qrel.judge_rating:
            known = evidence.ratings.get(qrel.pair)
            changed = evidence.changed.get(qrel.pair)
            if changed is not None:
                which = [name for name, is_other in (("search", changed.search), ("function", changed.function)) if is_other]
                raise GateClosed(
                    f"{row} was rated on another text of its {' and its '.join(which)} than there is now; restore it, or run "
                    f"`judge rate --lang {language}`, which asks again, and `judge merge --lang {language}`"
                )
            raise GateClosed(
                f"{row} has judge_rating {qrel.judge_rating}, the ledger of judge {evidence.judge_id} has "
                f"{'none' if known is None else known}; run `judge merge --lang {language}` again, or `judge withdraw`"
            )
        if not qrels.of_expert(qrel) and (
            qrel.judge_rating is None
            or qrel.relevance != qrel.judge_rating
            or qrel.relevant != is_relevant_rating(qrel.judge_rating, evidence.seal.relevant_from)
        ):
            raise GateClosed(
                f"{row} has source judge, and its relevance does not follow from a judge_rating; run `judge merge --lang "
                f"{language}` again, or `judge withdraw`"
            )
