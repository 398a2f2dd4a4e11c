"""An embedder that makes vectors of nothing but the texts' hashes."""

import hashlib
from collections.abc import Sequence
from typing import Any

TEXTS = [f"text {number} " + "x" * (number % 7) for number in range(20)]


class Hashes:
    """Vectors out of the texts' hashes; keeps what it was asked, and fails at a chunk when told to."""

    def __init__(self, name: str = "hashes", chunk: int = 6, width: int = 5, fail_at: int | None = None) -> None:
        self.name, self.chunk, self._width, self._fail_at = name, chunk, width, fail_at
        self.asked: list[list[str]] = []

    def embed(self, texts: Sequence[str]) -> Any:
        if len(self.asked) == self._fail_at:
            raise KeyboardInterrupt
        self.asked.append(list(texts))
        return [[byte - 127.5 for byte in hashlib.sha256(text.encode()).digest()[: self._width]] for text in texts]
