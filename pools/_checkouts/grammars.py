"""Which languages functions can be extracted from, with the grammar of each and what counts as a function in it.

One wheel a grammar, all compiled, so nothing is downloaded when they run. A function is something with a body and a name:
its own, or that of the variable, property or field that it is the value of. Not functions: lambdas, callbacks, closures
without a name, declarations without a body (interfaces, abstract and native methods, TypeScript's overload signatures),
methods made by a call (Ruby's `define_method`). Go's, PHP's and Java's function values are closures even where a variable
holds them, because those languages name functions by declaring them; JavaScript's are functions, because there
`const f = () => …` is how a function is declared.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from pools.errors import UsageError

if TYPE_CHECKING:
    from tree_sitter import Parser, Query


@dataclass(frozen=True, slots=True)
class Grammar:
    """A language's grammars by file suffix, each a wheel's module and function, and its node kinds.

    `named` are kinds that are functions wherever they stand if they have a body; `values` are functions only as the value of
    a `carrier`, whose first line is then theirs. A decorated definition is a carrier too: its decorators belong to it.
    """

    suffixes: Mapping[str, tuple[str, str]]
    named: frozenset[str]
    values: frozenset[str] = frozenset()
    carriers: frozenset[str] = frozenset()
    needs_body: bool = False


_SCRIPT_NAMED = frozenset({"function_declaration", "generator_function_declaration", "method_definition"})
_SCRIPT_VALUES = frozenset({"arrow_function", "function_expression", "generator_function"})
_SCRIPT_CARRIERS = frozenset(
    {"variable_declarator", "assignment_expression", "pair", "field_definition", "public_field_definition", "export_statement"}
)
_JAVASCRIPT = ("tree_sitter_javascript", "language")
_TYPESCRIPT = ("tree_sitter_typescript", "language_typescript")
_TSX = ("tree_sitter_typescript", "language_tsx")

GRAMMARS: Mapping[str, Grammar] = {
    "python": Grammar(
        {".py": ("tree_sitter_python", "language"), ".pyw": ("tree_sitter_python", "language")},
        frozenset({"function_definition"}),
        carriers=frozenset({"decorated_definition"}),
    ),
    "java": Grammar(
        {".java": ("tree_sitter_java", "language")},
        frozenset({"method_declaration", "constructor_declaration", "compact_constructor_declaration"}),
        needs_body=True,
    ),
    "javascript": Grammar(
        dict.fromkeys((".js", ".cjs", ".mjs", ".jsx"), _JAVASCRIPT), _SCRIPT_NAMED, _SCRIPT_VALUES, _SCRIPT_CARRIERS
    ),
    "typescript": Grammar(
        {**dict.fromkeys((".ts", ".cts", ".mts"), _TYPESCRIPT), ".tsx": _TSX}, _SCRIPT_NAMED, _SCRIPT_VALUES, _SCRIPT_CARRIERS
    ),
    "php": Grammar(
        {".php": ("tree_sitter_php", "language_php"), ".phtml": ("tree_sitter_php", "language_php")},
        frozenset({"function_definition", "method_declaration"}),
        needs_body=True,
    ),
    "ruby": Grammar(
        {".rb": ("tree_sitter_ruby", "language"), ".rake": ("tree_sitter_ruby", "language")},
        frozenset({"method", "singleton_method"}),
    ),
    "go": Grammar(
        {".go": ("tree_sitter_go", "language")}, frozenset({"function_declaration", "method_declaration"}), needs_body=True
    ),
}


def of(language: str) -> Grammar:
    """Return a language's grammar; raises `UsageError` listing the languages that have one."""
    if language not in GRAMMARS:
        raise UsageError(f"no grammar for language {language!r}; functions can be extracted from {', '.join(GRAMMARS)}")
    return GRAMMARS[language]


@cache
def parser(language: str, suffix: str) -> "tuple[Parser, Query]":
    """Return the parser of a language's files with that suffix, and the query for every node that may be a function.

    Raises `UsageError` for a language or suffix without a grammar, and where the grammar's package is not installed.
    """
    grammar = of(language)
    if suffix not in grammar.suffixes:
        raise UsageError(f"{language} has no files named *{suffix}; valid are {', '.join(grammar.suffixes)}")
    module, function = grammar.suffixes[suffix]
    try:
        from importlib import import_module

        from tree_sitter import Language, Parser, Query

        loaded = Language(getattr(import_module(module), function)())
    except ImportError as error:
        raise UsageError(f"{error.name} is not installed; run `pip install 'qrels-judge[corpus]'`") from error
    known = [kind for kind in sorted(grammar.named | grammar.values) if loaded.id_for_node_kind(kind, True)]
    return Parser(loaded), Query(loaded, " ".join(f"({kind}) @function" for kind in known))
