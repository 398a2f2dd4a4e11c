"""The tests themselves: what they share is in tests/builders."""

import ast
import re
from pathlib import Path

import pytest

from tests.builders.places import ROOT

FILES = sorted(path.relative_to(ROOT) for path in (ROOT / "tests").rglob("*.py") if "sample_sources" not in path.parts)
A_TEST_MODULE = re.compile(r"(from|import) tests(\.\w+)*[. ](import )?test_")


def from_test_modules(text: str) -> list[str]:
    """The lines of a source that import a test module, those of programs that it holds as a text among them."""
    return [line for line in text.splitlines() if A_TEST_MODULE.search(line)]


@pytest.mark.parametrize("path", FILES, ids=str)
def test_no_test_module_is_imported(path: Path) -> None:
    assert not from_test_modules((ROOT / path).read_text(encoding="utf-8"))


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("from tests." + "test_ledger import reply", True),
        ("    from tests import " + "test_ledger", True),
        ("import tests." + "test_ledger", True),
        ("from tests.builders.ledgers import reply", False),
        ("from tests.builders import ledgers", False),
    ],
)
def test_an_import_of_a_test_module_is_found(line: str, found: bool) -> None:
    assert bool(from_test_modules(line)) is found


def test_every_builder_is_named_in_the_list_of_them() -> None:
    folder = ROOT / "tests" / "builders"
    page = ast.get_docstring(ast.parse((folder / "__init__.py").read_text(encoding="utf-8"))) or ""
    listed = [line.split()[0] for line in page.splitlines()[2:]]
    assert sorted(listed) == sorted(path.stem for path in folder.glob("*.py") if path.stem != "__init__")
