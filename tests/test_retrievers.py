"""Retrievers by name: this project's own, one that a program registers, one of an installed package; and broken ones."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from pools._retrievers import registry
from pools._retrievers.retriever import Retriever
from pools._sampling import hits, pooled
from pools._sampling.hits import Hit
from pools.errors import UsageError
from tests.builders.command import Finished, judge, process
from tests.builders.places import ROOT

OWN = ["bm25", "embedding", "grep-agent", "grep-all", "grep-any", "llm"]


def environment(*folders: Path) -> dict[str, str]:
    """The environment of a process that finds what is in these folders as if it were installed."""
    return os.environ | {"PYTHONPATH": os.pathsep.join(map(str, (*folders, ROOT)))}


def choose(folder: Path, *names: str) -> None:
    (folder / "judge.toml").write_text(f"[pool]\nretrievers = {json.dumps(names)}\n", encoding="utf-8")


def python(script: str, *arguments: object) -> Finished:
    """Run a program that uses the project, in a process of its own: what it registers goes with it."""
    done = subprocess.run(
        [sys.executable, "-c", script, *map(str, arguments)], cwd=ROOT, capture_output=True, text=True, check=False
    )
    return Finished(done.returncode, done.stdout, done.stderr)


def test_the_names_are_those_of_the_modules_and_each_says_what_it_is() -> None:
    found = registry.chosen([*OWN, "bm25"])
    assert [retriever.name for retriever in found] == OWN
    assert set(OWN) <= set(registry.names())
    for retriever in found:
        assert retriever.about
        assert (ROOT / "pools" / "_retrievers" / f"{retriever.name.replace('-', '_')}.py").is_file()
    assert [retriever.name for retriever in found if retriever.loose] == ["grep-any"]
    assert [retriever.name for retriever in found if retriever.needs] == ["embedding", "grep-agent", "llm"]


@pytest.mark.parametrize("name", ["", "Upper", "a b", "../a", "a/b", "-a", "a-", "a--b", "a_b", "é", "a\n"])
def test_a_name_is_fit_for_a_file(name: str) -> None:
    with pytest.raises(ValueError, match="small letters, digits and single hyphens"):
        Retriever(name, "nothing", lambda _partition, _access: ())


def test_a_name_that_is_taken_cannot_be_registered() -> None:
    with pytest.raises(UsageError, match=r"retriever 'bm25' is there already; name another than bm25, embedding, grep-agent"):
        registry.register(Retriever("bm25", "nothing", lambda _partition, _access: ()))


def test_a_retriever_that_judge_toml_names_and_nobody_has_is_told_with_the_valid_ones(
    capfd: pytest.CaptureFixture[str], folder: Path
) -> None:
    choose(folder, "bm25", "bm52", "grep")
    done = judge(capfd, "pool", "--data", folder)
    assert done.code == 2
    assert re.search(r"pool.retrievers in judge.toml names bm52, grep; valid are bm25, .*grep-any.*, llm", done.error)
    assert not (folder / "work").exists()


REGISTERED = """
import sys
from judge import cli
from pools._retrievers import registry
from pools._retrievers.retriever import Retriever
from pools._sampling.hits import Hit

def shortest(partition, access):
    ordered = sorted(partition.functions, key=lambda function: (len(function.code), function.id))
    return [Hit(query.search_id, ordered[0].id, 1, float(len(ordered[0].code)), 0.5) for query in partition.queries]

def everything(partition, access):
    return [Hit(q.search_id, f.id, 1) for q in partition.queries for f in partition.functions]

registry.register(Retriever("shortest", "the shortest function", shortest))
registry.register(Retriever("everything", "all functions", everything, loose=True))
cli.run(sys.argv[1:])
"""


def test_a_registered_retriever_pools_like_the_others(folder: Path) -> None:
    """Through the registry alone: its hits, its pairs, its row; and what a loose one returned is only sampled."""
    choose(folder, "shortest", "grep-all", "everything")
    done = python(REGISTERED, "pool", "--data", folder, "--json")
    assert done.code == 0, done.err
    [entry] = json.loads(done.out)["languages"]
    assert entry["hits"] == {"everything": 8, "grep-all": 1, "shortest": 2}
    assert hits.read(hits.path(folder, "python", retriever="shortest")) == (
        Hit("q0", "python/0003", 1, 31.0, 0.5), Hit("q1", "python/0003", 1, 31.0, 0.5),
    )  # fmt: skip
    drawn = {pair.pair: pair for pair in pooled.read(pooled.path(folder, "python"))}
    assert drawn["q1", "python/0003"].retrievers == ("everything", "shortest")
    assert (drawn["q1", "python/0003"].stratum, drawn["q1", "python/0003"].scores) == (pooled.POOLED, (None, 31.0))
    loose = [pair for pair in drawn.values() if pair.retrievers == ("everything",) and pair.stratum is not None]
    assert {pair.stratum for pair in loose} == {pooled.GREP_ANY_SAMPLE}
    row = entry["contribution"]["retrievers"]["shortest"]
    assert (row["returned"], row["unique"], row["overlap"]["everything"]) == (2, 0, 2)
    shown = python(REGISTERED, "pool", "--data", folder)
    assert re.search(r"^  shortest +2 +0 +0$", shown.out, re.MULTILINE)


FAULTY = """
import sys
from pathlib import Path
from judge.steps.pool import pool
from pools._dataset import folder
from pools.errors import JudgeError, Stopped
from pools._retrievers import registry
from pools._retrievers.retriever import Retriever
from pools._sampling.hits import Hit

def raising(error):
    raise error

given = {
    "raises": lambda: raising(KeyError("x")),
    "stops": lambda: raising(Stopped("no more today")),
    "nothing": lambda: None,
    "no-hits": lambda: [("q0", "python/0000")],
    "no-search": lambda: [Hit("q9", "python/0000", 1)],
    "no-function": lambda: [Hit("q0", "go/0", 1)],
    "rank": lambda: [Hit("q0", "python/0000", 0)],
    "half": lambda: [Hit("q0", "python/0000", 1.5)],
    "score": lambda: [Hit("q0", "python/0000", 1, float("nan"))],
    "probability": lambda: [Hit("q0", "python/0000", 1, 1.0, 1.5)],
    "twice": lambda: [Hit("q0", "python/0000", 1), Hit("q0", "python/0000", 2)],
}
for name, make in given.items():
    registry.register(Retriever(name, "nothing good", lambda partition, access, make=make: make()))
    Path(sys.argv[1], "judge.toml").write_text(f'[pool]\\nretrievers = ["{name}"]\\n')
    try:
        pool(folder.load(Path(sys.argv[1])))
    except JudgeError as error:
        print(name, type(error).__name__, error)
"""


def test_what_goes_wrong_in_someone_elses_retriever_is_told_in_a_line_and_leaves_no_file(folder: Path) -> None:
    done = python(FAULTY, folder)
    assert done.code == 0, done.err
    told = dict(line.split(" ", 1) for line in done.out.strip().split("\n"))
    assert told.pop("stops") == "Stopped no more today"
    assert {text.split(" failed (")[0] for text in told.values()} == {
        f"UsageError python: retriever {name!r} of __main__" for name in told
    }
    for name, words in {
        "raises": "(KeyError: 'x'); tell those who wrote it, or take it out of pool.retrievers in judge.toml",
        "nothing": "(TypeError: ",
        "no-hits": "(ValueError: ",
        "no-search": "is of no search or no function of python",
        "no-function": "is of no search or no function of python",
        "rank": "has a rank below 1",
        "half": "has a rank below 1",
        "score": "a score that is not finite",
        "probability": "a probability outside 0 to 1",
        "twice": "is of a pair that it has a hit of already",
    }.items():
        assert words in told[name]
    assert not (folder / "work").exists()


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that holds the package in tests/third_party_retriever as pip installs it."""
    folder = tmp_path_factory.mktemp("installed")
    # pip builds in the folder of the sources, so it gets a copy.
    sources = tmp_path_factory.mktemp("sources")
    for path in (ROOT / "tests" / "third_party_retriever").iterdir():
        if path.is_file():
            (sources / path.name).write_bytes(path.read_bytes())
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-index", "--no-deps", "--no-build-isolation"]
    subprocess.run([*command, "--disable-pip-version-check", "--target", folder, sources], check=True)
    return folder


def test_a_retriever_of_an_installed_package_is_listed_and_pools(folder: Path, installed: Path) -> None:
    choose(folder, "first-words", "bm25")
    done = process("pool", "--retrievers", environment=environment(installed))
    assert done.code == 0, done.err
    assert "first-words (of first-words 1.2)\n  functions whose first line holds the first word of the search\n" in done.out
    assert "bm25 (of qrels-judge)\n" in done.out
    assert (
        "grep-agent (of qrels-judge)\n  functions with a line that the search's own ripgrep pattern matches\n  needs "
        in done.out
    )
    listed = json.loads(process("pool", "--retrievers", "--json", environment=environment(installed)).out)["retrievers"]
    assert [entry["name"] for entry in listed] == sorted([*OWN, "first-words"])
    assert listed[2] == {
        "name": "first-words",
        "package": "first-words 1.2",
        "about": "functions whose first line holds the first word of the search",
        "needs": [],
        "loose": False,
        "fault": None,
    }
    done = process("pool", "--data", folder, "--json", environment=environment(installed))
    assert done.code == 0, done.err
    assert "python: first-words looks at 4 functions" in done.err
    [entry] = json.loads(done.out)["languages"]
    assert entry["hits"]["first-words"] == 1
    assert hits.read(hits.path(folder, "python", retriever="first-words")) == (Hit("q0", "python/0001", 1),)
    drawn = {pair.pair: pair for pair in pooled.read(pooled.path(folder, "python"))}
    assert "first-words" in drawn["q0", "python/0001"].retrievers
    assert entry["contribution"]["retrievers"]["first-words"]["returned"] == 1
    without = process("pool", "--data", folder)
    assert (without.code, "names first-words; valid are bm25, " in without.error) == (2, True)


def fake_package(folder: Path, name: str, point: str, *, code: str) -> None:
    """Put a package into a folder as an installer leaves it, with one entry point that leads to its RETRIEVER."""
    about = folder / f"{name}-0.1.dist-info"
    about.mkdir(parents=True)
    (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 0.1\n", encoding="utf-8")
    (about / "entry_points.txt").write_text(f"[qrels_judge.retrievers]\n{point} = {name}:RETRIEVER\n", encoding="utf-8")
    (folder / f"{name}.py").write_text(code, encoding="utf-8")


BRINGS = (
    "from pools._retrievers.retriever import Retriever\nRETRIEVER = Retriever({!r}, 'nothing', lambda partition, access: ())\n"
)


@pytest.mark.parametrize(
    ("point", "code", "message"),
    [
        ("torn", "import absent_module", "cannot be loaded (ModuleNotFoundError: No module named 'absent_module')"),
        ("torn", "x = ", "cannot be loaded (SyntaxError: "),
        ("torn", "1 / 0", "cannot be loaded (ZeroDivisionError: "),
        ("torn", "", "cannot be loaded (AttributeError: "),
        ("torn", "raise SystemExit('gone')", "cannot be loaded (SystemExit: gone)"),
        ("torn", "RETRIEVER = 3", "leads to a int, not to that retriever"),
        ("torn", BRINGS.format("other"), "leads to the retriever 'other', not to that retriever"),
        ("torn", BRINGS.format("No Name"), "cannot be loaded (ValueError: a retriever's name is of small letters"),
        ("grep-all", BRINGS.format("grep-all"), "is brought by qrels-judge and broken_one 0.1, and a name can mean one only"),
    ],
)
def test_a_broken_package_is_named_in_a_line_where_it_is_asked_for_and_in_nobodys_way_elsewhere(
    folder: Path, tmp_path: Path, point: str, code: str, message: str
) -> None:
    broken = environment(tmp_path / "site")
    fake_package(tmp_path / "site", "broken_one", point, code=code)
    choose(folder, "bm25", point)
    done = process("pool", "--data", folder, environment=broken)
    assert done.code == 2
    assert f"{point!r}" in done.error
    assert "broken_one 0.1" in done.error
    assert message in done.error
    assert not (folder / "work").exists()
    listed = process("pool", "--retrievers", environment=broken)
    assert listed.code == 0
    assert message in listed.out
    assert "grep-any (of qrels-judge)\n" in listed.out
    choose(folder, "bm25")
    assert process("pool", "--data", folder, environment=broken).code == 0


def test_commands_that_do_not_pool_load_no_package_of_others(folder: Path, tmp_path: Path) -> None:
    fake_package(tmp_path, "loud_one", "loud", code="raise SystemExit(99)")
    for command in (["--help"], ["pool", "--help"], ["check", "--data", folder], ["status", "--data", folder]):
        done = process(*command, environment=environment(tmp_path))
        assert done.code == 0, done.err
    script = "import sys, judge.cli; print(*sys.modules)"
    loaded = python(script).out.split()
    assert "judge.cli.pool" in loaded
    assert not [name for name in loaded if name.startswith(("pools._retrievers", "importlib.metadata"))]


def test_what_goes_wrong_inside_a_package_is_told_as_its_fault(folder: Path, tmp_path: Path) -> None:
    code = "from pools._retrievers.retriever import Retriever\nRETRIEVER = Retriever('torn', 'nothing', lambda *_: 1 / 0)\n"
    fake_package(tmp_path, "broken_one", "torn", code=code)
    choose(folder, "torn")
    done = process("pool", "--data", folder, environment=environment(tmp_path))
    assert done.code == 2
    assert "python: retriever 'torn' of broken_one 0.1 failed (ZeroDivisionError: division by zero); tell those" in done.error


def test_the_documented_package_is_the_one_that_is_tested() -> None:
    page = (ROOT / "docs" / "retrievers.md").read_text(encoding="utf-8")
    for name, kind in (("pyproject.toml", "toml"), ("first_words.py", "python")):
        text = (ROOT / "tests" / "third_party_retriever" / name).read_text(encoding="utf-8")
        assert f"```{kind}\n{text}```\n" in page
