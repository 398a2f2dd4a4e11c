"""Embedding: hits by calibrated cosine, the built-in model as it should be, and what is said where a package is missing."""

from collections.abc import Sequence
from importlib.resources import as_file
from importlib.resources import files as resources
from pathlib import Path
from typing import Any

import numpy
import pytest

from pools._dataset import dataset
from pools._dataset.dataset import Dataset
from pools._dataset.records import Function, Query
from pools._engines import calibration, vectors
from pools._engines.calibration import Calibration, Curve
from pools._engines.embedders import MiniLm
from pools._engines.vectors import Vectors
from pools._retrievers import embedding
from prompts import scales


@pytest.fixture(scope="module")
def sample() -> Dataset:
    with as_file(resources("pools._sample")) as folder:
        return dataset.load(folder, scales.load("relevance"))


@pytest.fixture(scope="module")
def embedded(sample: Dataset, tmp_path_factory: pytest.TempPathFactory) -> Vectors:
    """All searches and functions of the sample by the built-in model."""
    texts = [query.search for query in sample.queries] + [function.code for function in sample.corpus or ()]
    return vectors.complete(tmp_path_factory.mktemp("vectors") / "v.parquet", MiniLm(), texts=texts)


class Angles:
    """Vectors in a plane, at the angle whose cosine a text is."""

    name = "angles"
    chunk = 4

    def embed(self, texts: Sequence[str]) -> Any:
        cosines = numpy.array([float(text) for text in texts])
        return numpy.stack([cosines, numpy.sqrt(1 - cosines**2)], axis=1)


def by_curve(curve: Curve, **held_out: Curve) -> Calibration:
    return Calibration("all", curve, held_out, 0, 0, 0.1, 0.2, ())


def test_hits_are_the_pairs_of_the_threshold_by_the_curve_of_their_search(tmp_path: Path) -> None:
    queries = [Query("go", name, "1.0") for name in ("q", "r", "s")]
    functions = [Function(f"f{place}", "go", code) for place, code in enumerate(["0.9", "0.2", "0.5", "0.50", "0.4999"])]
    made = vectors.complete(tmp_path / "v.parquet", Angles(), texts=["1.0", *(function.code for function in functions)])
    learned = by_curve(Curve(10, -5), r=Curve(10, -4.2), s=Curve(-1, 5))
    found = embedding.search(queries, functions, made=made, learned=learned, threshold=0.5)
    assert [(hit.search_id, hit.function_id, hit.rank, hit.score) for hit in found] == [
        ("q", "f0", 1, 0.9), ("q", "f2", 2, 0.5), ("q", "f3", 3, 0.5),
        ("r", "f0", 1, 0.9), ("r", "f2", 2, 0.5), ("r", "f3", 3, 0.5), ("r", "f4", 4, 0.4999),
    ]  # fmt: skip
    assert [hit.probability for hit in found[:2]] == [0.982014, 0.5]
    assert embedding.search(queries[::-1], functions[::-1], made=made, learned=learned, threshold=0.5) == (
        *found[3:],
        *found[:3],
    )
    assert len(embedding.search(queries, functions, made=made, learned=learned, threshold=0.0)) == 10
    assert embedding.search(queries, functions, made=made, learned=learned, threshold=1.0) == ()


def test_blocks_do_not_show(sample: Dataset, embedded: Vectors) -> None:
    queries, functions = sample.queries_of("go"), sample.functions_of("go")
    learned = by_curve(Curve(6, -2.7))
    found = embedding.search(queries, functions, made=embedded, learned=learned, threshold=0.3)
    similar = vectors.between(embedded, queries, functions=functions)
    assert similar is not None
    for query in queries[:3]:
        cosines = {function.id: similar.cosine((query.search_id, function.id)) for function in functions}
        expected = sorted((-cosine, key) for key, cosine in cosines.items() if learned.curve.probability(cosine) >= 0.3)
        assert [(-hit.score, hit.function_id) for hit in found if hit.search_id == query.search_id and hit.score] == expected


def test_the_built_in_model_knows_what_is_alike(embedded: Vectors) -> None:
    texts = ["reverse a string", "turn text backwards", "open a network connection"]
    rows = MiniLm().embed(texts)
    assert rows.shape == (3, 384)
    rows = rows / numpy.linalg.norm(rows, axis=1, keepdims=True)
    assert rows[0] @ rows[1] > rows[0] @ rows[2] + 0.2
    assert embedded.rows.shape[1] == 384


@pytest.mark.parametrize("language", ["python", "go"])
def test_on_searches_it_did_not_see_the_calibration_beats_the_base_rate(
    sample: Dataset, embedded: Vectors, language: str
) -> None:
    queries, functions = sample.queries_of(language), sample.functions_of(language)
    similar = vectors.between(embedded, queries, functions=functions)
    assert similar is not None
    experts = sample.experts_of(language)
    relevant = {pair: sum(ratings) / len(ratings) >= 2 for pair, ratings in experts.items()}
    tuning = {query.search_id for query in queries if query.split == "tuning"}
    found = calibration.fit({pair: similar.cosine(pair) for pair in experts}, relevant, tuning=tuning)
    assert found is not None
    assert found.brier < found.base_rate_brier - 0.01
    hits = {hit.pair for hit in embedding.search(queries, functions, made=embedded, learned=found, threshold=0.3)}
    answers = {pair for pair, is_relevant in relevant.items() if is_relevant}
    assert len(hits & answers) > 0.6 * len(answers)
    assert len(hits) < 0.1 * len(queries) * len(functions)
