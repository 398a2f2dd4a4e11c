"""Imports go one way, and heavy ones stay where they are needed."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

from tests.builders.places import ROOT

MAY_IMPORT = {
    "prompts": {"prompts"},
    "pools": {"prompts", "pools"},
    "gates": {"prompts", "pools", "gates"},
    "judge": {"prompts", "pools", "judge"},
}
ABOVE = ("cli", "api", "steps")
"""The rooms of `judge` that see `gates` too, from the top."""
SEEN_BY_CLI = ("judge.cli", "judge.steps", "pools.errors", "pools._dataset.folder", "pools._grid")
RENDERED_BY_CLI = {
    "compare": ("gates._report.details",),
    "gate": ("gates._report.details", "gates._report.wording", "gates._verdict.findings"),
    "importing": ("pools._formats.registry", "pools._formats.format"),
    "log": ("gates._release.journal",),
    "pool": ("pools._sampling.contribution", "pools._retrievers.registry"),
    "panel": ("gates._verdict.panels.METHODS",),
    "rate": ("judge._judges.JUDGES",),
    "tune": ("gates._measures.tuning", "gates._measures.measure.Figure"),
}
"""What a command imports to print a record as text, or to list the values that an option takes."""
HEAVY = {
    "pandas",
    "sklearn",
    "openai",
    "pyarrow",
    "scipy",
    "bm25s",
    "krippendorff",
    "onnxruntime",
    "tokenizers",
    "sentence_transformers",
    "torch",
    "datasketch",
    "detect_secrets",
}
MODULES = sorted(path.relative_to(ROOT) for top in MAY_IMPORT for path in (ROOT / top).rglob("*.py"))


def imports(path: Path, root: Path = ROOT) -> list[tuple[str, bool]]:
    """The modules that a file imports, each with whether that happens when the file itself is imported."""
    tree = ast.parse((root / path).read_text(encoding="utf-8"))
    delayed = {
        id(inner)
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        or (isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING")
        for inner in ast.walk(node)
    }
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found += [(name.name, id(node) not in delayed) for name in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert not node.level, f"{path}: relative import"
            found += [(f"{node.module}.{name.name}", id(node) not in delayed) for name in node.names]
    return found


def room(path: Path) -> str:
    """The part of `judge` that a file belongs to; the package's own `__init__` is the API's."""
    name = path.parts[1].removesuffix(".py") if path.parts[0] == "judge" else ""
    return {"__init__": "api", "__main__": "cli"}.get(name, name)


def against_the_order(path: Path, root: Path = ROOT) -> list[str]:
    """The imports of a file from what is above it, or beside it and none of its business."""
    height = ABOVE.index(room(path)) if room(path) in ABOVE else len(ABOVE)
    found = []
    for name, _ in imports(path, root):
        top, *below = name.split(".")
        foreign = top in MAY_IMPORT and room(path) not in ABOVE and top not in MAY_IMPORT[path.parts[0]]
        if top == "tests" or foreign or (top == "judge" and below and below[0] in ABOVE[:height]):
            found.append(name)
    return found


@pytest.mark.parametrize("path", MODULES, ids=str)
def test_imports_go_one_way(path: Path) -> None:
    """The command line sees the API and the steps, those see all the rest, and nothing sees what is above it."""
    assert not against_the_order(path)


@pytest.mark.parametrize(
    ("place", "line", "sound"),
    [
        ("judge/_rating/run.py", "from judge.steps import rate", False),
        ("judge/steps/rate.py", "import judge.cli.bars", False),
        ("judge/steps/rate.py", "from judge.steps import seals", True),
        ("judge/steps/rate.py", "from gates._verdict import seal", True),
        ("judge/api.py", "from judge.steps import rate", True),
        ("judge/steps/rate.py", "from judge.api import Folder", False),
        ("judge/__init__.py", "from judge.cli import main", False),
        ("judge/_rating/run.py", "from gates._verdict import seal", False),
        ("gates/_verdict/seal.py", "from judge._ledger import entries", False),
        ("judge/__main__.py", "from judge.cli import run", True),
        ("pools/_dataset/files.py", "from tests import conftest", False),
    ],
)
def test_an_import_against_the_order_is_found(tmp_path: Path, place: str, line: str, sound: bool) -> None:
    file = tmp_path / place
    file.parent.mkdir(parents=True)
    file.write_text(line + "\n", encoding="utf-8")
    assert (not against_the_order(Path(place), tmp_path)) == sound


@pytest.mark.parametrize("path", [path for path in MODULES if room(path) == "cli"], ids=str)
def test_the_command_line_holds_no_work(path: Path) -> None:
    """It takes what it does from the steps, and imports beside them only what opens a folder and what renders a record."""
    for name, _ in imports(path):
        if name.split(".")[0] in MAY_IMPORT:
            allowed = [*SEEN_BY_CLI, *RENDERED_BY_CLI.get(path.stem, ())]
            assert any(f"{name}.".startswith(f"{known}.") for known in allowed), f"{path} imports {name}: work for a step"


def test_only_the_command_line_knows_a_terminal() -> None:
    for path in MODULES:
        if room(path) != "cli":
            assert not {name.split(".")[0] for name, _ in imports(path)} & {"click", "tqdm"}, path


def test_no_two_modules_share_a_name() -> None:
    """Except a command and its step, a folder and the module in it that it is about, and each room's registry."""
    places: dict[str, list[Path]] = {}
    for path in MODULES:
        is_folder = path.stem == "__init__"
        name = path.parent.name if is_folder else path.stem
        if not (not is_folder and path.parent.name == name) and name not in {"__main__", "registry"}:
            places.setdefault(name, []).append(path.parent if is_folder else path)
    shared = {name: found for name, found in places.items() if len(found) > 1}
    pairs = {name: [Path("judge/cli", f"{name}.py"), Path("judge/steps", f"{name}.py")] for name in shared}
    assert shared == pairs


@pytest.mark.parametrize("path", MODULES, ids=str)
def test_heavy_packages_are_imported_where_they_are_used(path: Path) -> None:
    at_once = {name.split(".")[0] for name, immediate in imports(path) if immediate}
    assert not at_once & HEAVY


def test_a_run_begins_without_what_gates_compute_with() -> None:
    """numpy alone takes a tenth of the second that a first request may wait for."""
    loaded = subprocess.run(
        [sys.executable, "-c", "import sys, judge.steps.rate; print(*sys.modules)"], capture_output=True, text=True, check=True
    ).stdout.split()
    assert "judge.steps.seals" in loaded
    assert not {"numpy", *HEAVY} & set(loaded)


def test_only_one_module_imports_openai() -> None:
    assert [str(path) for path in MODULES if any(name.split(".")[0] == "openai" for name, _ in imports(path))] == [
        "judge/_endpoint/client.py"
    ]


def test_retrievers_never_import_each_other() -> None:
    folder = [path for path in MODULES if path.parts[:2] == ("pools", "_retrievers")]
    retrievers = {path for path in folder if "\nRETRIEVER = " in (ROOT / path).read_text(encoding="utf-8")}
    assert {path.stem for path in folder} - {path.stem for path in retrievers} == {"__init__", "registry", "retriever"}
    for path in folder:
        names = {name.split(".")[2] for name, _ in imports(path) if name.startswith("pools._retrievers.")}
        assert not names & ({other.stem for other in retrievers} - {path.stem}), path
