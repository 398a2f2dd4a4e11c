"""The command line: exit codes, one line an error, and nothing written by what fails."""

import json
import os
import re
import stat
from pathlib import Path

import click
import pytest

from gates._release import journal
from judge import cli
from pools._dataset import files, tables
from tests.builders.command import judge, process
from tests.builders.places import ROOT
from tests.builders.rows import qrel_row

Capture = pytest.CaptureFixture[str]
COMMANDS = sorted(cli.main.commands)
LEAVES = [
    f"{name} {further}".strip()
    for name, command in sorted(cli.main.commands.items())
    for further in (sorted(command.commands) if isinstance(command, click.Group) else [""])
]


@pytest.mark.parametrize("command", LEAVES)
def test_every_command_says_what_it_does_and_shows_an_example(capfd: Capture, command: str) -> None:
    done = judge(capfd, *command.split(), "--help")
    assert done.code == 0
    assert f"judge {command}" in done.out.split("Options:")[0]
    assert "Example" in done.out


def test_every_command_is_in_the_readme() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    for command in COMMANDS:
        assert re.search(rf"\| `judge {command}\b.*` \|", readme), command


OFF_SCALE = tables.lines([qrel_row("q0", 1, [3]) | {"expert_ratings": [7]}])
NO_SEARCH = b'{"language": "python", "search_id": "q0"}\n'
TRUNCATED = files.compress(b'{"a": 1}\n' * 50)[:-9]
BAD = {
    "truncated gz": ("qrels.jsonl.gz", TRUNCATED, 3, r"qrels\.jsonl\.gz: not a whole gzip file.*again"),
    "csv named jsonl": ("qrels.jsonl", b"language,search_id\npython,q0\n", 3, r"qrels\.jsonl:1: not JSON.*one JSON object"),
    "rating of 7": ("qrels.jsonl", OFF_SCALE, 3, r"qrels\.jsonl:1: .*7.*off the scale 0-3"),
    "missing column": ("queries.jsonl", NO_SEARCH, 3, r"queries\.jsonl:1: search must be .* is missing"),
    "NUL byte": ("queries.jsonl", b'{"search_id": "q\0"}\n', 3, r"queries\.jsonl:1: holds a NUL byte; write"),
    "all relevant": ("judge.toml", b"relevant_from = 0\n", 2, r"judge\.toml: relevant_from is 0, .*; set it above 0"),
    "settings": ("judge.toml", b"[gate]\nf2 = 0.1\n", 2, r"judge\.toml: unknown key gate\.f2; valid are gate\.f1"),
}


@pytest.mark.parametrize("command", ["gate", "pool", "rate", "merge", "export", "status"])
@pytest.mark.parametrize("case", BAD)
def test_bad_input_is_one_line_and_writes_nothing(capfd: Capture, folder: Path, command: str, case: str) -> None:
    name, content, code, message = BAD[case]
    if name != "judge.toml":
        next(folder.glob(name.split(".")[0] + ".*")).unlink()
    (folder / name).write_bytes(content)
    before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    done = judge(capfd, command, "--data", folder)
    assert done.code == code
    assert re.search(message, done.error), done.error
    assert {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()} == before


def test_what_no_terminal_can_show_is_escaped_as_json_does_it(tmp_path: Path) -> None:
    """Half surrogate pairs come in searches, in replies of endpoints, and with names that are not UTF-8."""
    rows = [{"search_id": "q0", "search": "sort \ud800"}]
    tables.write(tmp_path / "queries.jsonl", rows)
    tables.write(tmp_path / "corpus.jsonl", [{"id": "f0", "code": "def sort(): '\ud800'"}])
    journal.append(tmp_path, journal.Event("2026-01-01T00:00:00Z", "merge", "all", "aa", "because \udcff"))
    assert "because \\udcff" in process("log", "--data", tmp_path).out
    [event] = json.loads(process("log", "--data", tmp_path, "--json").out)
    assert event["reason"] == "because \udcff"
    for command in ("check", "pool", "status"):
        assert process(command, "--data", tmp_path).code == 0
    missing = process("check", "--data", tmp_path / "\udcff")
    assert (missing.code, "\\udcff: no such folder" in missing.error) == (2, True)


def test_an_unknown_language_lists_the_known_ones(capfd: Capture, folder: Path) -> None:
    done = judge(capfd, "gate", "--data", folder, "--lang", "cobol")
    assert (done.code, "has python" in done.error) == (2, True)
    done = judge(capfd, "gate", "--data", folder, "--lang", "")
    assert (done.code, "a language is needed" in done.error, "has python" in done.error) == (2, True, True)


def test_usage_errors_are_one_line(capfd: Capture, tmp_path: Path) -> None:
    for arguments in (["nonsense"], ["gate", "--nonsense"], ["gate", "--data", tmp_path / "nowhere"], ["gate", "--data"]):
        done = judge(capfd, *arguments)
        assert done.code == 2
        assert done.error


def test_a_fault_of_our_own_shows_no_traceback(capfd: Capture, folder: Path) -> None:
    # A folder in the place of a file is an input that no command expects.
    (folder / "judge.toml").mkdir()
    (folder / "work").write_text("")
    done = judge(capfd, "gate", "--data", folder)
    assert done.code in {2, 3}
    assert done.error


@pytest.mark.skipif(os.geteuid() == 0, reason="root writes to read-only folders")
def test_a_read_only_folder_is_named(capfd: Capture, folder: Path) -> None:
    folder.chmod(stat.S_IRUSR | stat.S_IXUSR)
    try:
        done = judge(capfd, "pool", "--data", folder)
        assert (done.code, "cannot be written" in done.error) == (2, True)
    finally:
        folder.chmod(stat.S_IRWXU)


def test_the_module_is_the_command() -> None:
    done = process("--version")
    assert done.code == 0
    assert done.out.startswith("judge, version ")


def test_help_does_not_import_what_is_heavy() -> None:
    import subprocess
    import sys

    heavy = ("numpy", "openai", "sklearn", "pyarrow", "scipy", "bm25s")
    code = f"import sys, judge.cli; print([name for name in {heavy!r} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
