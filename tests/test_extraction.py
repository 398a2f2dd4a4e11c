"""Functions of a source text: the same as Python's own parser finds, and the documented choices in every other language."""

import ast
import sysconfig
import time
import warnings
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pools._checkouts import extraction
from pools._checkouts.extraction import Lines
from pools.errors import UsageError

FUNCTIONS_A_MINUTE = 20_000


def by_ast(content: bytes) -> set[Lines] | None:
    """The lines of every function by Python's own reading of the bytes, which shares no code with the extraction."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(content)
    except (SyntaxError, ValueError, RecursionError):
        return None
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            assert node.end_lineno is not None
            found.add((min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)]), node.end_lineno))
    return found


def lines(text: str, language: str, suffix: str = "") -> list[Lines]:
    suffix = suffix or {"python": ".py", "javascript": ".js", "typescript": ".ts", "ruby": ".rb"}.get(language, f".{language}")
    found = extraction.functions(text, language, suffix=suffix)
    assert found.broken == 0
    return [(span.first_line, span.last_line) for span in found.spans]


def of_bytes(content: bytes) -> set[Lines]:
    return {
        (span.first_line, span.last_line)
        for span in extraction.functions(extraction.decode(content, "python"), "python", suffix=".py").spans
    }


def test_the_standard_library_has_exactly_the_functions_that_ast_finds_and_fast_enough() -> None:
    library = Path(sysconfig.get_paths()["stdlib"])
    files = functions = 0
    seconds = 0.0
    different = []
    for path in sorted(library.rglob("*.py")):
        content = path.read_bytes()
        wanted = None if "site-packages" in path.parts or "dist-packages" in path.parts else by_ast(content)
        if wanted is None:
            continue
        start = time.process_time()
        found = of_bytes(content)
        seconds += time.process_time() - start
        files, functions = files + 1, functions + len(wanted)
        if found != wanted:
            different.append((path.relative_to(library), sorted(found ^ wanted)))
    assert not different
    assert files > 400
    assert functions > 10_000
    assert functions / seconds * 60 >= FUNCTIONS_A_MINUTE


PIECES = (
    "def f(a, b=(1,\n      2)):\n    return a",
    "@wraps(\n  x)\n@other\nasync def f():\n    await x\n    # a comment of the body\n# a comment behind it",
    "@one\n# between\n@two(1)\n# and before\ndef f():\n    pass",
    "class A:\n    x = 1\n\n    @property\n    def f(self): return 1; y = 2\n\n    def g(self):\n\n        def h(): ...",
    'text = """\ndef not_one():\n    pass\n"""',
    "f = lambda: (yield)",
    "def f():\n\tif x:\n\t\treturn 'a\x0bb\x1cc\x85d\u2028e'\n\telse:\n\t\tpass\n\t# deeper",
    "\x0cdef f():\n    \x0c\n    pass",
    "def f():\n    x = 1 \\\n        + 2\n\n\n",
    "def f(): pass\n\x0c\ndef g(): '''doc\n  string'''",
    "# def f(): pass",
    "if True:\n    def f(x): pass\nelse:\n    def f(x): ...",
    "def f():\n    (bar.\nbaz)\n    (bar.\nbaz(\n))",
    "def é(x: 'ü') -> None:\n    return f'{x!r:>{10}}'",
    "match x:\n    case {'a': 1}:\n        def f(): ...",
    "",
)


@given(
    st.lists(st.sampled_from(PIECES), max_size=6),
    st.sampled_from(["\n", "\r\n", "\r"]),
    st.sampled_from([b"", b"\xef\xbb\xbf"]),
    st.sampled_from(["", "\n", "\n\n   \n"]),
)
def test_any_line_ends_and_oddities_give_the_lines_of_ast(pieces: list[str], end: str, mark: bytes, tail: str) -> None:
    content = mark + ("\n".join(pieces) + tail).replace("\n", end).encode()
    wanted = by_ast(content)
    assert wanted is not None
    assert of_bytes(content) == wanted


@given(st.binary(max_size=200), st.sampled_from(["python", "go"]))
def test_any_bytes_are_decoded_to_text_without_other_line_ends_than_lf(content: bytes, language: str) -> None:
    text = extraction.decode(content, language)
    assert "\r" not in text
    for span in extraction.functions(text, language, suffix={"python": ".py", "go": ".go"}[language]).spans:
        assert span.code == "\n".join(text.split("\n")[span.first_line - 1 : span.last_line])


def test_code_is_the_whole_lines_without_the_last_line_end() -> None:
    content = b"\xef\xbb\xbfclass A:\r\n    @staticmethod\r\n    def f():\r\n        return 1  # one\r\n\r\n"
    [span] = extraction.functions(extraction.decode(content, "python"), "python", suffix=".py").spans
    assert (span.first_line, span.last_line) == (2, 4)
    assert span.code == "    @staticmethod\n    def f():\n        return 1  # one"
    [first] = extraction.functions(extraction.decode(b"\xef\xbb\xbfdef f(): pass", "python"), "python", suffix=".py").spans
    assert first.code == "def f(): pass"
    [script] = extraction.functions(
        extraction.decode(b"\xef\xbb\xbffunction f() {}", "javascript"), "javascript", suffix=".js"
    ).spans
    assert script.code == "function f() {}"


def test_only_line_feeds_end_a_line() -> None:
    text = "x = '\x0b\x1c\x85\u2028'\n\x0c\ndef f():\n    return '\x0b\x1c\x85\u2028'\n"
    [span] = extraction.functions(text, "python", suffix=".py").spans
    assert (span.first_line, span.last_line) == (3, 4)
    assert span.code == "def f():\n    return '\x0b\x1c\x85\u2028'"


def test_a_function_held_by_a_name_starts_at_the_name_and_decorators_count_through_comments() -> None:
    assert lines("const\n  f =\n    function () {\n    },\n  g = 1\n", "javascript") == [(2, 4)]
    assert lines("class A {\n  // of a\n  @a\n  /* of b */\n  @b()\n  // of c\n  c() {}\n}\n", "typescript") == [(3, 7)]


def test_outer_functions_come_before_inner_ones() -> None:
    assert lines("def f():\n    def g():\n        pass\n    return g\n", "python") == [(1, 4), (2, 3)]
    assert lines("const f = () => () => function g() {\n}\n", "javascript") == [(1, 2)]


@pytest.mark.parametrize(
    ("content", "language", "code"),
    [
        (b"def f():\n    return '\xe9'\n", "python", "def f():\n    return '\ufffd'"),
        (b"# coding: latin-1\ndef f():\n    return '\xe9'\n", "python", "def f():\n    return 'é'"),
        ("# coding: shift_jis\ndef f():\n    return '表'\n".encode("shift_jis"), "python", "def f():\n    return '表'"),
        (b"# coding: no-such\ndef f():\n    return '\xc3\xa9'\n", "python", "def f():\n    return 'é'"),
        (b"# coding: rot13\ndef f():\n    return 1\n", "python", "def f():\n    return 1"),
        ("func f() {\n\tprint(1)\n}\n".encode("utf-16"), "go", "func f() {\n\tprint(1)\n}"),
        (b'func f() {\n\tprint("\xff\xfe")\n}\n', "go", 'func f() {\n\tprint("\ufffd\ufffd")\n}'),
    ],
)
def test_encodings(content: bytes, language: str, code: str) -> None:
    suffix = {"python": ".py", "go": ".go"}[language]
    [span] = extraction.functions(extraction.decode(content, language), language, suffix=suffix).spans
    assert span.code == code


@pytest.mark.parametrize(
    ("text", "found", "broken"),
    [
        ("", [], 0),
        ("def f():\n    return 1\n\ndef g(:\n    return ((\n\nx = 1\n\ndef h():\n    return 2\n", [(1, 2)], None),
        ("def f():\n    return 1\n\nx = = 2\n\ndef g():\n    return 2\n", [(1, 2), (6, 7)], 0),
        ("def f():\n    print 'python 2'\n", [(1, 2)], 0),
        ("def f():\n    return 1 +\n\n\ndef g():\n    return 2\n", [(5, 6)], 1),
    ],
)
def test_syntax_errors_leave_out_only_the_functions_that_hold_them(text: str, found: list[Lines], broken: int | None) -> None:
    result = extraction.functions(text, "python", suffix=".py")
    assert [(span.first_line, span.last_line) for span in result.spans][: len(found)] == found
    assert broken is None or result.broken == broken
    assert result.faulty == ("(:" in text or "= =" in text or "+" in text)


JAVA = """\
package a;
/** Doc. */
@Deprecated
class A<T> extends B {
    /** Doc comment: outside. */
    @Override
    @SuppressWarnings("x")
    public int f(int x) { return x; }
    A() { super(); }
    abstract int g();
    native void h();
    static { int y = 1; }
    Runnable r = () -> { run(); };
    Runnable s = new Runnable() {
        public void run() {
        }
    };
    interface I { int a(); default int b() { return 1; } static void c() {} }
    record P(int x) { P { check(x); } int twice() { return 2 * x; } }
    enum E { ONE { int v() { return 1; } }; abstract int v(); }
    @interface N { int value() default 1; }
}
"""
JAVASCRIPT = """\
/** Doc. */
export function a() {}
async function* b() { yield 1 }
const c = (x) => x, d = function () {
}
export const e = async x => {
  return x
}
exports.f = function () {}
A.prototype.g = () => 1
class H {
  #p = 1
  constructor() {}
  get q() { return 1 }
  static async *r() {}
  s = () => {
  }
  #t() {}
}
const o = {
  u() {},
  v: function () {},
  'w': (x) => x,
  get z() { return 1 },
}
list.map(function (x) { return x })
list.map(x => x)
;(function () { return 1 })()
;(function named() { return 1 })()
export default function () {
}
const text = `function nope() {}`
"""
TYPESCRIPT = """\
function a(x: string): string;
function a(x: number): number;
function a(x: any): any { return x }
declare function b(): void
interface C { d(): void; e: () => void }
abstract class F<T> {
  abstract g(): void
  h(x: T): void
  h(x: any): void {
  }
  @dec()
  @other
  i() {}
  private j = (x: number): number => x
}
export const k = <T,>(x: T): T => x
namespace N { export function l() {} }
type M = () => void
"""
PHP = """\
<html><?php if (true): ?><b>function nope() {}</b>
<?php endif;
/** Doc. */
function a($x) {
    return function () { return fn($y) => $y; };
}
abstract class B {
    #[Attribute]
    public static function c(): int { return 1; }
    abstract function d();
    function __construct() {}
}
interface E { function f(); }
trait G { private function h() {
} }
$i = function () {};
$s = <<<EOT
function nope() {}
EOT;
?>
<p>function nope() {}</p>
"""
RUBY = """\
# Doc.
def a(x)
  x
end
class B
  def self.c = 1
  private def d
    [1].each { |x| x }
    # last
  end
  define_method(:e) { 1 }
  class << self
    def f; end
  end
  def g=(value)
    @g = value
  rescue StandardError
    nil
  end
  attr_reader :h
  I = ->(x) { x }
end
text = <<~TEXT
  def nope
  end
TEXT
def +(other) = other
"""
GO = """\
package a

// Doc comment: outside.
func A[T any](x T) T {
	f := func() {}
	f()
	return x
}

func (b *B) C() int { return 1 }
func asm(x int) int
var d = func() int {
	return 1
}
type E interface { F() int }
const s = `
func nope() {}
`
"""


@pytest.mark.parametrize(
    ("language", "text", "wanted"),
    [
        ("java", JAVA, [(6, 8), (9, 9), (15, 16), (18, 18), (19, 19), (20, 20)]),
        (
            "javascript",
            JAVASCRIPT,
            [
                (2, 2),
                (3, 3),
                (4, 5),
                (4, 4),
                (6, 8),
                (9, 9),
                (10, 10),
                (13, 13),
                (14, 14),
                (15, 15),
                (16, 17),
                (18, 18),
                (21, 21),
                (22, 22),
                (23, 23),
                (24, 24),
                (29, 29),
                (30, 31),
            ],
        ),
        ("typescript", TYPESCRIPT, [(3, 3), (9, 10), (11, 13), (14, 14), (16, 16), (17, 17)]),
        ("php", PHP, [(4, 6), (8, 9), (11, 11), (14, 15)]),
        ("ruby", RUBY, [(2, 4), (6, 6), (7, 10), (13, 13), (15, 19), (27, 27)]),
        ("go", GO, [(4, 8), (10, 10)]),
    ],
)
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_what_counts_as_a_function(language: str, text: str, wanted: list[Lines], end: str) -> None:
    decoded = extraction.decode(text.replace("\n", end).encode(), language)
    assert lines(decoded, language) == wanted


def test_jsx_and_tsx() -> None:
    assert lines("const A = () => (\n  <b onClick={() => 1}>def f():</b>\n)\n", "javascript", ".jsx") == [(1, 3)]
    assert lines("function A(p: P) {\n  return <B<string> x={p} />\n}\n", "typescript", ".tsx") == [(1, 3)]


def test_unknown_languages_and_suffixes_are_answered_with_the_known_ones() -> None:
    with pytest.raises(UsageError, match="python, java, javascript, typescript, php, ruby, go"):
        extraction.functions("", "cobol", suffix=".cob")
    with pytest.raises(UsageError, match=r"\.py, \.pyw"):
        extraction.functions("", "python", suffix=".go")
