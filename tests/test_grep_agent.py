"""grep-agent: patterns asked for, checked by real ripgrep, edited by hand, and what they hit."""

import json
import re
from pathlib import Path

import pytest

from pools import grep_agent, tables
from pools.dataset import Function, Query
from pools.errors import DataError
from pools.grep_agent import Pattern

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
    found = grep_agent.ask_for(QUERIES, writer, "go", "some-model")
    assert [len(every(prompt)) for prompt in writer.prompts] == [20, 20, 5]
    assert found == tuple(Pattern(q.search_id, q.search, f"x{q.search_id}", "some-model") for q in QUERIES)


def test_a_refused_pattern_is_asked_for_once_more_with_ripgreps_message() -> None:
    writer = Writer({"q00": "a(b", "q01": "fine"}, {"q00": "a(b)"})
    found = grep_agent.ask_for(QUERIES[:2], writer, "go", "m")
    assert {pattern.search_id: pattern.pattern for pattern in found} == {"q00": "a(b)", "q01": "fine"}
    assert "unclosed group" in writer.prompts[1]
    assert "q01" not in writer.prompts[1]


def test_what_has_no_pattern_in_the_end_has_none() -> None:
    writer = Writer("I cannot do that. {not json}", {"q00": "(", "q01": 7, "q99": "x"})
    assert grep_agent.ask_for(QUERIES[:2], writer, "go", "m") == ()


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        ('{"q00": "a"}', {"q00": "a"}),
        ('Sure:\n```json\n{"q00": "a|b"}\n```', {"q00": "a|b"}),
        ('{"q00": ""}', {}),
        ("", {}),
        ("{" * 5000, {}),
        ('["q00"]', {}),
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
        Function("f0", "go", "Open(x)\nopen(y)\nopen(z)"),
        Function("f1", "go", "open\n(x)"),
        Function("f2", "go", "x := os.open(y)\r\n"),
    ]
    patterns = [Pattern("q00", "search 0", r"open\("), Pattern("q01", "search 1", r"(?i)OPEN$"), Pattern("q02", "search 2", "")]
    found = grep_agent.search_patterns(QUERIES[:4], functions, patterns)
    assert [(hit.search_id, hit.function_id, hit.rank, hit.score) for hit in found if hit.search_id != "q02"] == [
        ("q00", "f0", 1, 2.0),
        ("q00", "f2", 2, 1.0),
        ("q01", "f1", 1, 1.0),
    ]
    assert len([hit for hit in found if hit.search_id == "q02"]) == 3
