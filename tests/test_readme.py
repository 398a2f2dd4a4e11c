"""The README's commands, run as they stand there."""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from judge.steps.demo import copy_sample
from tests.builders.command import judge, process
from tests.builders.fake_api import FakeApi
from tests.builders.places import ROOT
from tests.builders.samples import QUICK, as_experts, plain_sample

README = (ROOT / "README.md").read_text(encoding="utf-8")
BLOCKS = [block.strip().split("\n") for block in re.findall(r"^```\n(.*?)^```", README, re.MULTILINE | re.DOTALL)]
LINES = [re.sub(r"\s+# .*", "", line) for block in BLOCKS for line in block]
COMMANDS = [line for line in LINES if line.startswith("judge ")]
MAKES = [line for line in LINES if line.startswith("make ")]


def environment(**further: str) -> dict[str, str]:
    """The tests' environment without what an outer make puts there."""
    return {name: value for name, value in os.environ.items() if not name.startswith(("MAKE", "MFLAGS"))} | further


def make(*arguments: str, **further: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["make", *arguments], cwd=ROOT, env=environment(**further), capture_output=True, text=True, check=False
    )


def test_the_commands_for_a_dataset_of_ones_own(tmp_path: Path) -> None:
    block = next(block for block in BLOCKS if block[0].startswith("judge init"))
    commands = [shlex.split(re.sub(r"\s+# .*", "", line)) for line in block]
    assert [words[1] for words in commands] == ["init", "check", "pool", "rate", "gate", "merge", "export", "status"]
    copy_sample(tmp_path / "sample")
    with FakeApi(rate=rate_of_both(tmp_path / "sample")) as api:
        given = environment(JUDGE_MODEL="m", OPENAI_BASE_URL=api.url, PYTHONPATH=str(ROOT))
        for words in commands:
            done = process(*words[1:], environment=given, folder=tmp_path)
            assert done.code == 0, (words, done.err)
            if words[1] == "init":
                (tmp_path / "sample" / "judge.toml").unlink()
                for path in (tmp_path / "sample").iterdir():
                    path.rename(tmp_path / "my-collection" / path.name)
    assert (tmp_path / "my-collection" / "export" / "README.md").is_file()


def rate_of_both(folder: Path):  # type: ignore[no-untyped-def]
    """A judge that rates both languages of the sample as the experts did."""
    python, go = as_experts(folder, "python"), as_experts(folder, "go")
    return lambda search, code: go(search, code) if "func " in code else python(search, code)


def test_the_commands_with_an_llm(tmp_path: Path) -> None:
    lines = [line for line in COMMANDS if "MODEL" in line]
    assert len(lines) == 6
    plain_sample(tmp_path, QUICK)
    with FakeApi(rate=rate_of_both(tmp_path)) as api:
        for line in lines:
            words = shlex.split(re.sub(r"https?://\S+/v1", api.url, line.replace("MODEL", "m")))[1:]
            given = environment(OPENAI_BASE_URL=api.url, PYTHONPATH=str(ROOT))
            done = process(*words, environment=given, folder=tmp_path)
            assert done.code == 0, (line, done.err)


def test_the_replay_of_a_published_ledger(capfd: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    [line] = [line for line in COMMANDS if "--replay" in line]
    plain_sample(tmp_path, QUICK)
    with FakeApi(rate=as_experts(tmp_path, "go")) as api:
        judge(capfd, "rate", "--data", tmp_path, "--lang", "go", "--model", "m", "--base-url", api.url)
    (tmp_path / "published").mkdir()
    (tmp_path / "work" / "go" / "judgements.jsonl").rename(tmp_path / "published" / "judgements.jsonl")
    done = process(*shlex.split(line)[1:], environment=environment(PYTHONPATH=str(ROOT)), folder=tmp_path)
    assert (done.code, "replies read again" in done.out) == (0, True)


def test_the_gate_of_a_dataset_of_ones_own(capfd: pytest.CaptureFixture[str], csn: Path) -> None:
    line = next(line for line in COMMANDS if line.startswith("judge gate --data my-collection --lang"))
    done = judge(capfd, *shlex.split(line.replace("my-collection", str(csn)))[1:])
    assert (done.code, done.out.startswith("{")) == (1, True)


def test_every_command_of_the_readme_is_run_here() -> None:
    own = [re.sub(r"\s+# .*", "", line) for line in next(block for block in BLOCKS if block[0].startswith("judge init"))]
    run = [*own, *(line for line in COMMANDS if "MODEL" in line or "--replay" in line)]
    run += [line for line in COMMANDS if line.startswith("judge gate --data my-collection --lang")]
    assert sorted(run) == sorted(COMMANDS)
    assert sorted(MAKES) == ["make demo", "make gate LANG=go", "make gate LANG=ruby DATA=../shared/csn"]


INSTALLED = pytest.mark.skipif(
    Path(sys.prefix) != ROOT / ".venv" or not (ROOT / ".venv" / "installed").is_file(), reason="not run by make"
)


@INSTALLED
def test_make_gate_gives_the_gates_exit_code(csn: Path) -> None:
    done = make("gate", "LANG=ruby", "DATA=../shared/csn")
    assert done.returncode == 0, done.stderr
    assert "ruby: F1 0.7093 >= 0.67: passed" in done.stdout
    done = make("gate", "LANG=go", "DATA=../shared/csn")
    assert done.returncode == 2, "make's own code for a command that failed"
    assert "Error 1" in done.stderr
    assert "go: F1 0.6292 < 0.67: missed" in done.stdout


@INSTALLED
def test_lang_in_the_environment_is_no_language(csn: Path) -> None:
    done = make("gate", "DATA=../shared/csn", LANG="en_US.UTF-8")
    assert done.returncode != 0
    assert "a language is needed" in done.stderr
    assert "python, java, javascript, php, ruby, go" in done.stderr
    assert "en_US" not in done.stderr + done.stdout


@INSTALLED
def test_lang_on_the_command_line_is_no_locale() -> None:
    done = make("--eval", "show: ; @env", "show", "LANG=go", LANG="C.UTF-8")
    assert done.returncode == 0, done.stderr
    assert not re.search(r"^LANG=go$", done.stdout, re.MULTILINE)
    done = make("--eval", "show: ; @env", "show", LANG="C.UTF-8")
    assert re.search(r"^LANG=C\.UTF-8$", done.stdout, re.MULTILINE)


@INSTALLED
def test_make_demo_ends_with_the_verdicts_that_the_readme_shows(tmp_path: Path) -> None:
    done = process("demo", tmp_path / "demo", folder=tmp_path, environment=environment(PYTHONPATH=str(ROOT)))
    assert done.code == 0, done.err
    shown = next(block for block in BLOCKS if block[0].startswith(("language ", "python:", "go:")))
    assert "\n".join(shown) in done.out
    assert (tmp_path / "demo" / "export" / "qrels.jsonl.gz").is_file()
    again = process("demo", tmp_path / "demo", folder=tmp_path, environment=environment(PYTHONPATH=str(ROOT)))
    assert again.code == 0, again.err
