"""The step `import`: a test collection in another form becomes a dataset folder."""

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from judge.steps.progress import Listener, Note, Progress, ignore
from pools._dataset import folder, settings
from pools._formats import collection, registry
from pools._formats.collection import Collection
from pools._formats.format import Destination
from pools.errors import UsageError


@dataclass(frozen=True, slots=True)
class ImportedLanguage:
    """What was imported of one language; `unresolved` functions without code were left out, None where all code was given."""

    language: str
    searches: int
    tuning: int
    functions: int
    unresolved: int | None
    pairs: int
    relevant: int

    def document(self) -> dict[str, Any]:
        """Return it as a JSON object, without what does not apply."""
        return {key: value for key, value in asdict(self).items() if value is not None}


def import_collection(
    form: str, *, data: Path, note: Note = ignore, progress: Listener = ignore, **inputs: Any
) -> tuple[ImportedLanguage, ...]:
    """Make a dataset of a collection in the format called `form`, and return what each language has.

    `data` is the dataset's folder, which may be new; `inputs` are the format's own, under their names. Ratings become expert
    ratings. Everything is read before anything is written. Raises `UsageError` where the folder holds another dataset already,
    or an input is missing or unknown, `DataError` with file and line for what is wrong in one.
    """
    chosen = registry.get(form)
    known = {item.name: item for item in chosen.inputs}
    wrong = inputs.keys() - known.keys()
    missing = [name for name, item in known.items() if item.required and inputs.get(name) in (None, ())]
    if wrong or missing:
        needed = ", ".join(name + ("" if item.required else " (optional)") for name, item in known.items())
        raise UsageError(
            f"format {form} is read from {needed}; not given or not known: {', '.join([*missing, *sorted(wrong)])}"
        )
    if data.exists() and not data.is_dir():
        raise UsageError(f"{data} is no folder; name one with --data")
    stated = settings.load(data)
    destination = Destination(
        folder=data,
        scale=folder.load_scale(data, stated),
        relevant_from=stated.relevant_from,
        note=note,
        progress=lambda done, total: progress(Progress("code", "file", done, total)),
    )
    found = chosen.read(destination, **inputs)
    collection.write(data, found)
    for line in found.notes:
        note(line)
    if found.qrels and not any(qrel.relevant for qrel in found.qrels):
        highest = max(qrel.relevance for qrel in found.qrels)
        note(f"no pair is relevant: the highest rating is {highest:g}; set scale and relevant_from in {data / settings.FILE}")
    return tuple(_imported(found, language) for language in dict.fromkeys(query.language for query in found.queries))


def _imported(found: Collection, language: str) -> ImportedLanguage:
    queries = [query for query in found.queries if query.language == language]
    qrels = [qrel for qrel in found.qrels if qrel.language == language]
    return ImportedLanguage(
        language=language,
        searches=len(queries),
        tuning=sum(query.split == "tuning" for query in queries),
        functions=sum(function.language == language for function in found.corpus or ()),
        unresolved=found.unresolved[language] if found.unresolved else None,
        pairs=len(qrels),
        relevant=sum(qrel.relevant for qrel in qrels),
    )
