"""grep-agent: patterns asked for, checked by real ripgrep, edited by hand, and what they hit."""

import json
import re
from pathlib import Path

import pytest

from pools._dataset import tables
from pools._dataset.records import Function, Query
from pools._engines import ripgrep
from pools._retrievers import grep_agent
from pools._retrievers.grep_agent import Pattern
from pools.errors import DataError, Stopped

QUERIES = [Query("go", f"q{number:02}", f"search {number}") for number in range(45)]


class Writer:
    """Stands in for the LLM: answers each prompt by a script that fails loudly when it runs out."""

    def __init__(self, *replies: object) -> None:
        self.prompts: list[str] = []
        self._replies = list(replies)

    def __call__(self, prompt: str) -> str:
        self.prompts.append(prompt)
        assert self._replies, f"asked once too often: {prompt}"
        reply = self._replies.pop(0)
        if callable(reply):
            reply = reply(prompt)
        return reply if isinstance(reply, str) else json.dumps(reply)


def every(prompt: str) -> dict[str, str]:
    return {search: f"x{search}" for search in re.findall(r"^(q\d\d):", prompt, re.MULTILINE)}


def test_twenty_searches_a_request_and_never_the_code() -> None:
    writer = Writer(every, every, every)
    found = list(grep_agent.ask_for(QUERIES, writer, language="go", model="some-model"))
    assert [len(every(prompt)) for prompt in writer.prompts] == [20, 20, 5]
    assert [len(written) for written in found] == [20, 20, 5]
    assert [(p.search_id, p.search, p.pattern, p.model, p.edited) for written in found for p in written] == [
        (q.search_id, q.search, f"x{q.search_id}", "some-model", False) for q in QUERIES
    ]


def test_a_refused_pattern_is_asked_for_once_more_with_ripgreps_message() -> None:
    writer = Writer({"q00": "a(b", "q01": "fine"}, {"q00": "a(b)"})
    found = [pattern for written in grep_agent.ask_for(QUERIES[:2], writer, language="go", model="m") for pattern in written]
    assert {pattern.search_id: pattern.pattern for pattern in found} == {"q00": "a(b)", "q01": "fine"}
    assert "unclosed group" in writer.prompts[1]
    assert "q01" not in writer.prompts[1]


def test_what_has_no_pattern_in_the_end_has_none() -> None:
    writer = Writer("I cannot do that. {not json}", {"q00": "(", "q01": 7, "q02": "a\r", "q99": "x"})
    assert list(grep_agent.ask_for(QUERIES[:3], writer, language="go", model="m")) == [(), ()]


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        ('{"q00": "a"}', {"q00": "a"}),
        ('Sure:\n```json\n{"q00": "a|b"}\n```', {"q00": "a|b"}),
        ('{"q00": ""}', {}),
        ("", {}),
        ("{" * 5000, {}),
        ('["q00"]', {}),
        ('[{"id": "q00", "pattern": "a"}]', {"id": "q00", "pattern": "a"}),
        ('{"q00": "a", "q01": "b", "q00": "c"}', {"q01": "b"}),
        ('{"q00": "a", "q00": "a"}', {"q00": "a"}),
        (r'{"q00": "a\.b"}', {}),
        (r'{"q00": "a\\.b"}', {"q00": r"a\.b"}),
    ],
)
def test_replies_are_read_strictly(reply: str, expected: dict[str, str]) -> None:
    assert grep_agent.parse(reply) == expected


def test_an_edited_file_is_read_back_and_a_changed_search_is_asked_again(tmp_path: Path) -> None:
    path = grep_agent.path(tmp_path, "go")
    assert grep_agent.read(path) == ()
    grep_agent.write(path, [Pattern("q01", "search 1", "b"), Pattern("q00", "another text", "a", "m")])
    found = grep_agent.read(path)
    assert [pattern.search_id for pattern in found] == ["q00", "q01"]
    assert [query.search_id for query in grep_agent.missing(QUERIES[:3], found)] == ["q00", "q02"]


def test_missing_patterns_are_kept_as_they_come_and_edited_ones_stay(tmp_path: Path) -> None:
    path = grep_agent.path(tmp_path, "go")
    by_hand = [Pattern("q00", "search 0", "mine"), Pattern("q01", "an older text", "old"), Pattern("zz", "gone", "kept")]
    grep_agent.write(path, by_hand)

    def stop(prompt: str) -> str:
        raise Stopped("no more money")

    with pytest.raises(Stopped):
        grep_agent.complete(path, QUERIES, ask=Writer(every, stop), language="go", model="m")
    kept = {pattern.search_id: pattern for pattern in grep_agent.read(path)}
    assert (len(kept), kept["q00"], kept["zz"]) == (22, by_hand[0], by_hand[2])
    assert (kept["q01"].search, kept["q01"].pattern) == ("search 1", "xq01")
    writer = Writer(every, "{}", "no")
    found = grep_agent.complete(path, QUERIES, ask=writer, language="go", model="n")
    assert [len(every(prompt)) for prompt in writer.prompts] == [20, 4, 4]
    assert found == grep_agent.read(path)
    assert {pattern.search_id for pattern in found} == {f"q{number:02}" for number in range(41)} | {"zz"}


def test_a_pattern_of_an_older_text_stays_until_there_is_a_new_one_but_hits_nothing(tmp_path: Path) -> None:
    path = grep_agent.path(tmp_path, "go")
    grep_agent.write(path, [Pattern("q00", "an older text", "x")])
    before = path.read_bytes()
    found = grep_agent.complete(path, QUERIES[:1], ask=Writer("", ""), language="go", model="m")
    assert path.read_bytes() == before
    assert grep_agent.missing(QUERIES[:1], found) == (QUERIES[0],)
    assert grep_agent.search_patterns(QUERIES[:1], [Function("f0", "go", "x")], patterns=found) == ()


def test_a_model_s_pattern_that_a_person_edits_is_known_as_edited(tmp_path: Path) -> None:
    path = grep_agent.path(tmp_path, "go")
    grep_agent.complete(path, QUERIES[:2], ask=Writer(every), language="go", model="m")
    path.write_bytes(path.read_bytes().replace(b'"xq00"', b'"edited"'))
    assert [(pattern.model, pattern.edited) for pattern in grep_agent.read(path)] == [("m", True), ("m", False)]
    assert grep_agent.complete(path, QUERIES[:2], ask=Writer(), language="go", model="m") == grep_agent.read(path)


@pytest.mark.parametrize("text", ["\0", "\ud800", "a\nb", "a\r", "[", "(?P<a>x)(?P<a>y)", "\\1", "(?=a)"])
def test_what_ripgrep_cannot_take_is_a_complaint_and_no_crash(text: str) -> None:
    assert ripgrep.complaint(text, *grep_agent.OPTIONS)


LONG = "".join(f"x{number:05}" for number in range(16_000))
"""A pattern of 96,000 characters that does not repeat itself, since one that does takes ripgrep minutes to look for."""


@pytest.mark.parametrize("text", ["", "-e", "--files", "é|\U0001f600", r"\x00", LONG])
def test_what_ripgrep_takes_is_searched(text: str) -> None:
    assert ripgrep.complaint(text, *grep_agent.OPTIONS) is None
    functions = [Function("f0", "go", "x -e --files é \0" + LONG), Function("f1", "go", "")]
    found = grep_agent.search_patterns(QUERIES[:1], functions, patterns=[Pattern("q00", "search 0", text)])
    assert [hit.function_id for hit in found] == ["f0"]
    assert grep_agent.useless(found, functions) == ("q00",)
    assert grep_agent.useless(found, [*functions, Function("f2", "go", "y")]) == ()


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"search_id": "q", "search": "s", "pattern": "a["}, r"patterns\.jsonl:1: ripgrep cannot compile 'a\['.*unclosed"),
        ({"search_id": "q", "search": "s"}, r"patterns\.jsonl:1: not a pattern"),
        ({"search_id": "q", "search": "s", "pattern": 3}, r"patterns\.jsonl:1: .*must be texts"),
    ],
)
def test_a_fault_in_an_edited_file_is_named(tmp_path: Path, row: dict[str, object], message: str) -> None:
    tables.write(tmp_path / "patterns.jsonl", [row])
    with pytest.raises(DataError, match=message):
        grep_agent.read(tmp_path / "patterns.jsonl")


def test_a_second_pattern_of_a_search_is_a_fault(tmp_path: Path) -> None:
    tables.write(tmp_path / "p.jsonl", [{"search_id": "q", "search": "s", "pattern": text} for text in ("a", "b")])
    with pytest.raises(DataError, match=r"p\.jsonl:2: search 'q' has a pattern already"):
        grep_agent.read(tmp_path / "p.jsonl")


def test_patterns_hit_line_by_line_and_case_sensitively() -> None:
    functions = [
        Function("f0", "go", "Open(x)\nopen(y) open(y)\nopen(z)"),
        Function("f3", "go", ""),
        Function("f1", "go", "open\n(x)"),
        Function("f2", "go", "x := os.open(y)\r\n"),
    ]
    patterns = [Pattern("q00", "search 0", r"open\("), Pattern("q01", "search 1", r"(?i)OPEN$"), Pattern("q02", "search 2", "")]
    found = grep_agent.search_patterns(QUERIES[:4], functions, patterns=patterns)
    assert [(hit.search_id, hit.function_id, hit.rank, hit.score) for hit in found if hit.search_id != "q02"] == [
        ("q00", "f0", 1, 2.0),
        ("q00", "f2", 2, 1.0),
        ("q01", "f1", 1, 1.0),
    ]
    assert len([hit for hit in found if hit.search_id == "q02"]) == 3
