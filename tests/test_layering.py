"""Imports go one way, and heavy ones stay where they are needed."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import ROOT

MAY_IMPORT = {
    "prompts": {"prompts"},
    "pools": {"prompts", "pools"},
    "gates": {"prompts", "pools", "gates"},
    "judge": {"prompts", "pools", "judge"},
}
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


def imports(path: Path) -> list[tuple[str, bool]]:
    """The modules that a file imports, each with whether that happens when the file itself is imported."""
    tree = ast.parse((ROOT / path).read_text(encoding="utf-8"))
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


@pytest.mark.parametrize("path", MODULES, ids=str)
def test_imports_go_one_way(path: Path) -> None:
    is_cli = path.parts[:2] == ("judge", "cli") or path.name == "__main__.py"
    is_step = path.parts[:2] == ("judge", "steps")
    for name, _ in imports(path):
        top = name.split(".")[0]
        assert top != "tests", f"{path} imports the tests"
        if top in MAY_IMPORT and not is_cli:
            assert is_step or top in MAY_IMPORT[path.parts[0]], f"{path} imports {name}, against the one-way order"
            assert not f"{name}.".startswith("judge.cli."), f"{path} imports judge.cli, which nothing may import"


@pytest.mark.parametrize("path", MODULES, ids=str)
def test_heavy_packages_are_imported_where_they_are_used(path: Path) -> None:
    at_once = {name.split(".")[0] for name, immediate in imports(path) if immediate}
    assert not at_once & HEAVY


def test_a_run_begins_without_what_gates_compute_with() -> None:
    """numpy alone takes a tenth of the second that a first request may wait for."""
    loaded = subprocess.run(
        [sys.executable, "-c", "import sys, judge.cli.phases; print(*sys.modules)"], capture_output=True, text=True, check=True
    ).stdout.split()
    assert "judge.cli.seals" in loaded
    assert not {"numpy", *HEAVY} & set(loaded)


def test_only_one_module_imports_openai() -> None:
    assert [str(path) for path in MODULES if any(name.split(".")[0] == "openai" for name, _ in imports(path))] == [
        "judge/endpoint/client.py"
    ]


def test_retrievers_never_import_each_other() -> None:
    folder = [path for path in MODULES if path.parts[:2] == ("pools", "retrievers")]
    retrievers = {path for path in folder if "\nRETRIEVER = " in (ROOT / path).read_text(encoding="utf-8")}
    assert {path.stem for path in folder} - {path.stem for path in retrievers} == {"__init__", "registry", "retriever"}
    for path in folder:
        names = {name.split(".")[2] for name, _ in imports(path) if name.startswith("pools.retrievers.")}
        assert not names & ({other.stem for other in retrievers} - {path.stem}), path
