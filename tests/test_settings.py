"""judge.toml: defaults, every fault named with the valid keys, and a commented file that says the same."""

import re
from pathlib import Path

import pytest

from pools._dataset import settings
from pools._dataset.settings import Settings
from pools.errors import UsageError


def test_a_folder_without_the_file_runs_on_the_defaults(tmp_path: Path) -> None:
    found = settings.load(tmp_path)
    assert found == Settings()
    assert (found.gate.f1, found.judge.pairs_per_batch, found.judge.shown_characters) == (0.67, 40, 20_000)
    assert (found.pool.grep_any_sample, found.pool.unflagged_sample, found.relevant_from) == (20, 10, 2)


def test_the_commented_file_holds_every_default(tmp_path: Path) -> None:
    (tmp_path / "judge.toml").write_text(settings.document(), encoding="utf-8")
    assert settings.load(tmp_path) == Settings()
    uncommented = re.sub(r"^# (\w+ = )", r"\1", settings.document(), flags=re.MULTILINE)
    assert "\nf1 = 0.67\n" in uncommented
    (tmp_path / "judge.toml").write_text(uncommented, encoding="utf-8")
    assert settings.load(tmp_path) == Settings()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("thing = 1", r"unknown key thing; valid are relevant_from, scale, seed"),
        ("[gate]\nf_1 = 0.5", r"unknown key gate\.f_1; valid are gate\.f1, "),
        ("[gate]\nf1 = 1.5", r"gate\.f1 must be between 0 and 1, not 1\.5"),
        ("[gate]\nf1 = nan", r"gate\.f1 must be between 0 and 1, not nan"),
        ("relevant_from = nan", r"relevant_from must be a finite number, not nan"),
        ("[judge]\ntimeout = inf", r"judge\.timeout must be a finite number, not inf"),
        ("[gate]\nf1 = '0.5'", r"gate\.f1 must be of type float"),
        ("[gate]\nrequire_confidence = 1", r"must be of type bool"),
        ("[judge]\nattempts = true", r"must be of type int"),
        ("[judge]\nattempts = 0", r"judge\.attempts must be at least 1, not 0"),
        ("gate = 3", r"gate is a section; write it as \[gate\]"),
        ("[pool]\nretrievers = 'bm25'", r"must be a list of strings"),
        ("[gate", r"not TOML"),
    ],
)
def test_a_fault_is_named(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "judge.toml").write_text(text, encoding="utf-8")
    with pytest.raises(UsageError, match=rf"judge\.toml: .*{message}"):
        settings.load(tmp_path)


def test_whole_numbers_serve_where_a_fraction_may_stand(tmp_path: Path) -> None:
    (tmp_path / "judge.toml").write_text("relevant_from = 1\n[gate]\nf1 = 1\n", encoding="utf-8")
    found = settings.load(tmp_path)
    assert (found.relevant_from, found.gate.f1) == (1.0, 1.0)
