"""Who judges: everything that may change a rating, under one hash.

Two runs with the same identity are one judge, whose ratings may stand in one ledger and pass one gate; a changed letter of
the prompt makes another judge. Where requests are sent, and how many at a time, is no part of it.
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from prompts.scales import Scale

RENDERING = 1
"""Version of how `judge._batching.batches` shows searches and code; raised when the same pair would be shown differently."""


@dataclass(frozen=True, slots=True)
class Identity:
    """A judge: model name, prompt text (not its file's name), scale, cut length, pairs a batch, sampling parameters.

    `sampling` holds JSON values only, in any order of keys: temperature, most tokens, and whatever else the ratings depend on.
    `redact`: whether secrets in code are masked before it is shown.
    """

    model: str
    prompt: str
    scale: Scale
    shown_characters: int
    pairs_per_batch: int
    sampling: Mapping[str, Any]
    redact: bool = True

    @property
    def judge_id(self) -> str:
        """The first 16 hexadecimal digits of the SHA-256 of the canonical JSON of `document()`."""
        canonical = json.dumps(self.document(), sort_keys=True, separators=(",", ":"), allow_nan=False)
        return hashlib.sha256(canonical.encode("ascii")).hexdigest()[:16]

    def document(self) -> dict[str, Any]:
        """Return all of it as JSON values, which is what a ledger's seal stores."""
        return {
            "model": self.model,
            "prompt": self.prompt,
            "scale": {"name": self.scale.name, "levels": [list(level) for level in self.scale.levels]},
            "shown_characters": self.shown_characters,
            "pairs_per_batch": self.pairs_per_batch,
            "sampling": dict(self.sampling),
            "redact": self.redact,
            "rendering": RENDERING,
        }
