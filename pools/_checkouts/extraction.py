"""The functions of one source text, found by tree-sitter: pure, no file is read here.

Every function is found, nested ones and methods too, each for itself. Its code is the whole lines from the first to the
last, indentation kept, so that anyone can check it against the file; functions on the very same lines are therefore one.
The first line is that of the first decorator, annotation or attribute, else of the signature (of the name, where a variable
or property holds the function). Doc comments above a function are not part of it, nor are comments behind its last
statement; a Python docstring is part of it.

Lines are those of Python's universal newlines: LF, CR LF and a lone CR end a line, nothing else does (no form feed, no
U+2028), which is what Python's own parser counts.
"""

import ast
import codecs
import io
import tokenize
import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pools._checkouts import grammars
from pools._checkouts.grammars import Grammar

if TYPE_CHECKING:
    from tree_sitter import Node

Lines = tuple[int, int]
"""First and last line, from 1, inclusive."""


@dataclass(frozen=True, slots=True)
class Span:
    """A function's lines, from 1 and inclusive, and the code on them: lines end in LF, the last in nothing."""

    first_line: int
    last_line: int
    code: str


@dataclass(frozen=True, slots=True)
class Extraction:
    """The functions of a text by line, outer before inner.

    `faulty` says that the text has a syntax error, so that functions may be missing; `broken` is how many were made out but
    left out because an error is within them.
    """

    spans: tuple[Span, ...]
    faulty: bool = False
    broken: int = 0


def decode(content: bytes, language: str) -> str:
    """Return a source file's text without byte order mark, lines ending in LF, undecodable bytes as U+FFFD.

    UTF-8 unless a byte order mark, or in Python a coding cookie, says otherwise.
    """
    if content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        encoding = "utf-16"
    else:
        encoding = _python_encoding(content) if language == "python" else "utf-8"
    try:
        text = content.decode(encoding, "replace")
    except (LookupError, UnicodeError, ValueError):
        text = content.decode("utf-8", "replace")
    return text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")


def _python_encoding(content: bytes) -> str:
    try:
        return tokenize.detect_encoding(io.BytesIO(content).readline)[0]
    except (SyntaxError, ValueError):
        return "utf-8"


def functions(text: str, language: str, *, suffix: str) -> Extraction:
    """Return the functions of a text with LF line ends, as `decode` returns it.

    Where the text has a syntax error, the functions that hold none themselves are found as ever and the others are left out
    and counted. A Python text that only tree-sitter cannot parse is read by Python's own parser instead, which has the last
    word on the lines of a Python function. Raises `UsageError` for a language or suffix without a grammar.
    """
    parser, query = grammars.parser(language, suffix)
    from tree_sitter import QueryCursor

    tree = parser.parse(text.encode("utf-8", "surrogatepass"))
    grammar = grammars.of(language)
    nodes = QueryCursor(query).captures(tree.root_node).get("function", [])
    found = [node for node in nodes if _counts(node, grammar)]
    if language == "python" and tree.root_node.has_error:
        by_python = python_lines(text)
        if by_python is not None:
            return Extraction(_spans(text, by_python))
    whole = [node for node in found if not node.has_error]
    spans = _spans(text, {_lines(node, grammar) for node in whole})
    return Extraction(spans, tree.root_node.has_error, len(found) - len(whole))


def python_lines(text: str) -> set[Lines] | None:
    """Return the lines of every function of a Python text by Python's own parser, decorators included; None if it fails."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    return {
        (min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)]), node.end_lineno or node.lineno)
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    }


def _counts(node: "Node", grammar: Grammar) -> bool:
    if node.type in grammar.named:
        return not grammar.needs_body or node.child_by_field_name("body") is not None
    # A function expression with a name of its own is named wherever it stands.
    return node.child_by_field_name("name") is not None or (node.parent is not None and node.parent.type in grammar.carriers)


def _lines(node: "Node", grammar: Grammar) -> Lines:
    start = node
    if node.parent is not None and node.parent.type in grammar.carriers:
        start = node.parent
    # TypeScript's grammar has a method's decorators as siblings before it.
    sibling = start.prev_sibling
    while sibling is not None and sibling.type in {"decorator", "comment"}:
        start = sibling if sibling.type == "decorator" else start
        sibling = sibling.prev_sibling
    return start.start_point.row + 1, _last_line(node)


def _last_line(node: "Node") -> int:
    # Python's grammar counts comments behind the last statement as part of the block.
    while True:
        last = next((child for child in reversed(node.children) if child.type != "comment"), None)
        if last is None:
            return node.end_point.row + 1
        node = last


def _spans(text: str, found: set[Lines]) -> tuple[Span, ...]:
    lines = text.split("\n")
    return tuple(
        Span(first, last, "\n".join(lines[first - 1 : last]))
        for first, last in sorted(found, key=lambda span: (span[0], -span[1]))
    )
