"""The sample: sound, as large as its README says, and its rows the lines of its source files."""

from importlib.resources import files as resources
from pathlib import Path

import pytest

from pools._dataset import dataset, faults, settings
from pools._dataset.dataset import Dataset
from prompts.scales import Scale
from tests.builders.places import ROOT

SAMPLE = ROOT / "pools" / "_sample"


@pytest.fixture(scope="module")
def sample(scale: Scale) -> Dataset:
    return dataset.load(SAMPLE, scale)


def test_it_has_no_faults(scale: Scale) -> None:
    assert faults.find(SAMPLE, scale, settings=settings.load(SAMPLE)) == []


@pytest.mark.parametrize(("language", "functions", "pairs", "rated_twice"), [("python", 87, 168, 48), ("go", 107, 164, 0)])
def test_it_is_as_large_as_its_readme_says(
    sample: Dataset, language: str, functions: int, pairs: int, rated_twice: int
) -> None:
    experts = sample.experts_of(language)
    relevant = [pair for pair, ratings in experts.items() if sum(ratings) / len(ratings) >= 2]
    assert len(sample.queries_of(language)) == 20
    assert len(sample.functions_of(language)) == functions
    assert len(experts) == pairs
    assert sum(len(ratings) == 2 for ratings in experts.values()) == rated_twice
    assert len(relevant) * 3 >= len(experts)
    assert {search for search, _ in relevant} == {query.search_id for query in sample.queries_of(language)}
    assert {rating for ratings in experts.values() for rating in ratings} == {0, 1, 2, 3}
    readme = (SAMPLE / "README.md").read_text(encoding="utf-8")
    for number in (functions, pairs, rated_twice):
        assert not number or f"{number} " in readme


def test_rows_are_the_lines_of_the_source_files(sample: Dataset) -> None:
    for function in sample.corpus or ():
        lines = (ROOT / Path(function.origin["path"])).read_text(encoding="utf-8").split("\n")
        first, last = function.origin["first_line"], function.origin["last_line"]
        assert function.code == "\n".join(lines[first - 1 : last]), function.id


def test_it_is_shipped_with_the_package() -> None:
    shipped = {entry.name for entry in resources("pools._sample").iterdir()}
    assert {"README.md", "judge.toml", "queries.jsonl", "corpus.jsonl", "qrels.jsonl"} <= shipped
