"""Formats written and read back: equal where the form can hold it, an error that names the id where it cannot."""

import json
import tempfile
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pools._dataset import dataset, files, tables
from pools._dataset.records import Function, Qrel, Query, function_row, qrel_row, query_row
from pools._formats import collection, registry
from pools._formats.collection import Collection
from pools._formats.format import Destination, Format
from pools.errors import DataError, UsageError
from prompts import scales
from prompts.scales import Scale
from tests.builders.command import Finished, process

SCALE = scales.load("relevance")
THRESHOLD = {"all": 2.0, "go": 2.0, "python": 2.0}
characters = st.characters(exclude_categories=["Cs"])
texts = st.text(characters, min_size=1, max_size=12).filter(str.strip)
# Ids as they come (spaces, leading zeros, any script), and some that are all but made to break a line or a column.
ids = st.one_of(
    st.sampled_from(["007", "7", "a b", "ä/ß#1", "语言", "a\u2028b", "<x>", "\ufeffx", "x\ty", "x\ny", " x", "x\r"]),
    st.text(st.characters(categories=["L", "N", "P", "S"]), min_size=1, max_size=6),
    texts,
)
values = st.one_of(
    st.none(), st.booleans(), st.integers(), st.text(characters, max_size=5), st.lists(st.integers(), max_size=2)
)
columns = st.dictionaries(st.sampled_from(["own", "url", "path", "größe", "metadata"]), values, max_size=3)


@st.composite
def functions(draw: st.DrawFn, language: str = "all") -> Function:
    """A function, perhaps with a title that is the first line of its code."""
    title, text = draw(st.one_of(st.just(""), texts)), draw(texts)
    code = collection.code_of(title, text)
    own = {"title": title} if title else {}
    return Function(draw(ids), language, code, own | draw(columns) | {"sha256": files.sha256(code.encode())})


@st.composite
def collections(draw: st.DrawFn, language: str = "all") -> Collection:
    """Searches, documents and whole expert ratings of one language, sorted as an import sorts them."""
    corpus = {found.id: found for found in draw(st.lists(functions(language), min_size=1, max_size=4))}
    queries = {
        identifier: Query(language, identifier, " ".join(draw(texts).split()))
        for identifier in draw(st.lists(ids, min_size=1, max_size=3))
    }
    pairs = draw(st.sets(st.tuples(st.sampled_from(sorted(queries)), st.sampled_from(sorted(corpus))), max_size=5))
    qrels = [
        collection.expert(language, search, function_id=function, ratings=(draw(st.integers(0, 3)),), relevant_from=2)
        for search, function in sorted(pairs)
    ]
    return Collection(
        tuple(queries[name] for name in sorted(queries)), tuple(corpus[name] for name in sorted(corpus)), tuple(qrels)
    )


def rows(found: Collection) -> tuple[list[tables.Row], ...]:
    return (
        [query_row(query) for query in found.queries],
        [function_row(function) for function in found.corpus or ()],
        [qrel_row(qrel) for qrel in found.qrels],
    )


def inputs(name: str, folder: Path) -> dict[str, Any]:
    """What a format is read from where it was written."""
    if name != "trec":
        return {"directory": folder}
    return {"topics": folder / "topics.tsv", "documents": [folder / "documents.jsonl"], "qrels": folder / "qrels.txt"}


def read_back(name: str, contents: dict[str, bytes], scale: Scale = SCALE) -> Collection:
    with tempfile.TemporaryDirectory() as folder:
        for path, content in contents.items():
            files.replace(Path(folder) / path, content)
        destination = Destination(Path(folder), scale, 2.0, print, print)
        return registry.get(name).read(destination, **inputs(name, Path(folder)))


def unheld(name: str, found: Collection) -> list[str]:
    """The ids that a form cannot hold."""
    searches = [query.search_id for query in found.queries]
    everything = [*searches, *(function.id for function in found.corpus or ())]
    if name == "trec":
        spaced = [identifier for identifier in everything if identifier.split() != [identifier]]
        return spaced + [identifier for identifier in searches if identifier[0] in "<\ufeff"]
    if name == "beir":
        return [identifier for identifier in everything if identifier.strip() != identifier or {"\t", "\n"} & set(identifier)]
    return []


@pytest.mark.parametrize("name", ["trec", "beir", "hf"])
@given(collections())
def test_what_is_written_is_read_back_equal_or_the_id_at_fault_is_named(name: str, found: Collection) -> None:
    wrong = unheld(name, found)
    if wrong:
        with pytest.raises(DataError) as refused:
            registry.writer(name)(found, THRESHOLD)
        assert any(repr(identifier) in str(refused.value) for identifier in wrong)
        return
    assert rows(read_back(name, registry.writer(name)(found, THRESHOLD))) == rows(found)


@given(collections("go"), collections("python"))
def test_each_language_is_a_collection_of_its_own(go: Collection, python: Collection) -> None:
    whole = Collection(go.queries + python.queries, (go.corpus or ()) + (python.corpus or ()), go.qrels + python.qrels)
    if unheld("beir", whole):
        return
    contents = registry.writer("beir")(whole, THRESHOLD)
    for language, part in (("go", go), ("python", python)):
        own = {path.removeprefix(f"{language}/"): text for path, text in contents.items() if path.startswith(f"{language}/")}
        back = read_back("beir", own)
        assert [query.search_id for query in back.queries] == [query.search_id for query in part.queries]
        assert [function.code for function in back.corpus or ()] == [function.code for function in part.corpus or ()]
        assert [(qrel.pair, qrel.relevance) for qrel in back.qrels] == [(qrel.pair, qrel.relevance) for qrel in part.qrels]


def _all(qrels: tuple[Qrel, ...] = (), *corpus: Function, **query: Any) -> Collection:
    return Collection((Query("all", "q", "search", **query),), corpus, qrels)


def test_columns_that_mean_something_else_in_the_form_stay_under_another_name() -> None:
    function = Function("f", "all", "code", {"title": "not above it", "text": "x", "source_text": "y", "_id": 7})
    found = _all((), function, extra={"text": "z", "own": 1})
    [query], [row], _ = rows(read_back("beir", registry.writer("beir")(found, THRESHOLD)))
    assert (query["source_text"], query["own"]) == ("z", 1)
    assert row["code"] == "code"
    assert (row["source_title"], row["source_source_text"], row["source_text"], row["source__id"]) == (
        "not above it", "x", "y", 7,
    )  # fmt: skip
    _, [row], _ = rows(read_back("trec", registry.writer("trec")(found, THRESHOLD)))
    assert (row["code"], row["source_title"], row["text"], row["_id"]) == ("code", "not above it", "x", 7)


@pytest.mark.parametrize("name", ["trec", "beir"])
def test_code_of_white_space_alone_is_named(name: str) -> None:
    with pytest.raises(DataError, match="function 'f' of all: its code is white space alone"):
        registry.writer(name)(_all((), Function("f", "all", " \n")), THRESHOLD)


@pytest.mark.parametrize(("name", "file"), [("trec", "documents.jsonl"), ("beir", "corpus.jsonl"), ("hf", "corpus.jsonl.gz")])
def test_a_value_that_is_no_json_is_said(name: str, file: str) -> None:
    found = _all((), Function("f", "all", "x", {"when": datetime(2026, 1, 2, tzinfo=UTC)}))
    with pytest.raises(DataError, match=rf"^\w+: a value that {file} cannot hold \(.*datetime.*\); write it as text or number"):
        registry.writer(name)(found, THRESHOLD)


def test_a_search_that_is_no_utf8_is_named() -> None:
    found = Collection((Query("all", "q", "x \ud800"),), (), ())
    with pytest.raises(DataError, match=r"search 'q' of all: TREC topics cannot hold its text \(half a surrogate pair\)"):
        registry.writer("trec")(found, THRESHOLD)
    assert read_back("beir", registry.writer("beir")(found, THRESHOLD)).queries == found.queries


def test_a_language_without_a_search_is_left_out() -> None:
    found = _all((), Function("f", "all", "x"), Function("g", "go", "y"))
    assert [function.id for function in read_back("trec", registry.writer("trec")(found, THRESHOLD)).corpus or ()] == ["f"]


def test_what_is_no_format_or_cannot_be_written_lists_what_can() -> None:
    with pytest.raises(UsageError, match="unknown format 'xml'; valid are beir, csn, hf, trec"):
        registry.writer("xml")
    with pytest.raises(UsageError, match=r"format csn can only be read: its rows are .*; valid are beir, hf, trec"):
        registry.writer("csn")


def test_a_format_added_through_the_registry_has_its_commands(folder: Path, tmp_path: Path) -> None:
    def extended(*arguments: object) -> Finished:
        return process(*arguments, module="tests.builders.with_registered")

    assert "lines " in extended("import", "--help").out
    shown = extended("import", "lines", "--help").out
    assert "judge import lines --from-file a.json --data collection" in shown
    assert "--from-file FILE  A file of it; repeatable.  [required]" in shown
    done = extended("export", "--data", folder, "--format", "lines")
    assert done.code == 0, done.err
    written = folder / "export" / "lines" / "collection.json"
    assert json.loads(written.read_text("utf-8"))["relevant_from"] == {"python": 2.0}
    done = extended("import", "lines", "--from-file", written, "--data", tmp_path / "back", "--json")
    assert json.loads(done.out)["languages"][0]["functions"] == 4
    before, after = (dataset.load(path, SCALE) for path in (folder, tmp_path / "back"))
    assert (after.queries, after.corpus, after.qrels) == (before.queries, before.corpus, before.qrels)
    assert process("import", "lines", "--help").code == 2


def test_a_name_is_registered_once() -> None:
    registry.register(registry.get("hf"))
    with pytest.raises(UsageError, match="format 'hf' is there already"):
        registry.register(Format("hf", "", "", (), (), read=registry.get("trec").read))
    assert registry.names() == ("beir", "csn", "hf", "trec")


def test_a_form_that_cannot_be_written_says_why() -> None:
    for form in map(registry.get, registry.names()):
        assert (form.write is None) == bool(form.read_only)
