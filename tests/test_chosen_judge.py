"""The judge that a step is told to use, from the settings and what is on disk."""

import json
from pathlib import Path

import pytest

from judge.steps import chosen_judge
from pools._dataset.folder import load
from tests.builders.command import judge
from tests.builders.letters import serve, sound
from tests.builders.samples import plain_sample

Capture = pytest.CaptureFixture[str]
ONLY = '\n[pool]\nretrievers = ["embedding"]\n'


def test_the_baseline_sees_the_cosine_once_everything_has_a_vector(capfd: Capture, tmp_path: Path) -> None:
    with serve(sound) as server:
        folder = plain_sample(tmp_path, f'{ONLY}\n[embedding]\nmodel = "letters"\nbase_url = "{server.url}"\n')
        before = chosen_judge.baseline(load(folder)["go"])
        assert judge(capfd, "pool", "--data", folder, "--lang", "go").code == 0
    after = chosen_judge.baseline(load(folder)["go"])
    assert (before.sees, after.sees) == (
        "lexical features", f"lexical features and the cosine of letters at {server.url}",
    )  # fmt: skip
    corpus = folder / "corpus.jsonl"
    further = {"id": "go/9999", "language": "go", "code": "func New() {}"}
    corpus.write_text(corpus.read_text(encoding="utf-8") + json.dumps(further) + "\n", encoding="utf-8")
    assert chosen_judge.baseline(load(folder)["go"]).sees == "lexical features"
