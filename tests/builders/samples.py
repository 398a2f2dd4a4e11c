"""The sample as a dataset folder of its own, and judges that know what its experts said."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from judge._batching import batches, redaction
from judge.steps.demo import copy_sample
from judge.steps.rate import Rated, rate
from pools._dataset import dataset, settings, tables
from pools._dataset.folder import load
from prompts import scales
from tests.builders.fake_api import FakeApi, rating_of

QUICK = '\n[pool]\nretrievers = ["grep-agent", "grep-all", "grep-any"]\n'
"""The quick retrievers alone: what the others return is tested on its own."""
WITHOUT_CONTROLS = QUICK + "\n[judge]\ncanaries = 0\nretest = 0.0\n"
"""Without canaries and retests, which ask for some pairs a second time on purpose."""


def plain_sample(folder: Path, further: str = WITHOUT_CONTROLS) -> Path:
    """Copy the sample, and add to its judge.toml."""
    copy_sample(folder)
    with (folder / settings.FILE).open("a", encoding="utf-8") as file:
        file.write(further)
    return folder


def shown(code: str) -> str:
    """Code as a judge sees it."""
    return batches.show_code(redaction.mask(code).text, 20_000)


def as_experts(folder: Path, language: str, wrong: int = 0) -> Callable[[str, str], int]:
    """A judge that rates as the experts did, but for the first so many of their pairs; other pairs by `rating_of`."""
    data = dataset.load(folder, scales.load("relevance"))
    searches = {query.search_id: query.search for query in data.queries_of(language)}
    codes = {function.id: shown(function.code) for function in data.functions_of(language)}
    known = {}
    for index, ((search_id, function_id), ratings) in enumerate(sorted(data.experts_of(language).items())):
        mean = round(sum(ratings) / len(ratings))
        known[searches[search_id], codes[function_id]] = (3 - mean) if index < wrong else mean

    def rate(search: str, code: str) -> int:
        return known.get((search, code), rating_of(search, code))

    return rate


def rate_as_expert(folder: Path, pair: tuple[str, str]) -> None:
    """Have one expert find a pair of Go exactly relevant."""
    path = tables.find(folder, "qrels")
    assert path is not None
    row = {"language": "go", "search_id": pair[0], "function_id": pair[1], "relevance": 3, "relevant": True}
    row |= {"source": "expert", "expert_ratings": [3], "judge_rating": None, "rated_because": "expert"}
    tables.write(path, [row for _, row in tables.read(path)] + [row])


def rate_python(folder: Path, *languages: str, wrong: int = 10, model: str = "m", **further: Any) -> tuple[Rated, ...]:
    """Have a judge rate that is right about Python but for so many of the experts' pairs."""
    with FakeApi(rate=as_experts(folder, "python", wrong=wrong)) as api:
        return rate(load(folder, languages), model=model, base_url=api.url, concurrency=2, **further)
