"""TREC collections in their usual forms, and each fault with its line."""

from pathlib import Path

import pytest

from pools._dataset import faults, records, tables
from pools._dataset.settings import Settings
from pools._formats import collection, trec
from pools._formats.collection import Collection
from pools.errors import DataError, UsageError
from prompts.scales import Scale
from tests.builders.command import run_import
from tests.builders.rows import files_beside

CLASSIC = """<top>
<num> Number: 302
<title> Topic: convert List<String> to an array
<desc> Description:
How is a list made
an array?

<narr> Narrative:
R&amp;D: a &lt; b
</top>

<top>
<num> Number: 301
<title> open a file
</top>
"""
XML = """<?xml version="1.0"?>
<topics task="code">
<!-- two of them -->
<topic number="302"><query>convert List&lt;String&gt; to an array</query><question>How?</question>
  <split>dev</split><subtopic number="1" type="nav">one</subtopic><subtopic number="2">two</subtopic></topic>
<topic number='301' type="single">
  <query>open a
  file</query>
</topic>
</topics>
"""
TSV = "302\tconvert List<String> to an array\r\n\r\n301\topen a file\r\n"
DOCUMENTS = """<DOC>
<DOCNO> FT-2 </DOCNO>
<HEADLINE>
Reads
</HEADLINE>
<DATE>2020</DATE>
<TEXT>
    def read(path):
        return "&amp;" < path
</TEXT>
<TEXT>
more
</TEXT>
</DOC>
<DOC><DOCNO>FT-1</DOCNO>
<DOCHDR>
http://example.org
</DOCHDR>
if (a < b) { <b>x</b> }
</DOC>
"""
JSON = (
    '{"id": "FT-2", "title": "Reads", "text": "def read(path): pass", "url": "u", "language": "en", "sha256": "x"}\n'
    '{"docno": 7, "contents": "x"}\n'
)
QRELS = "301 0 FT-1 0\n302\tQ0\tFT-1\t3\n\n301 0 FT-2 2\n"


def load(folder: Path, scale: Scale, topics: str = TSV, documents: str = DOCUMENTS, qrels: str = QRELS) -> Collection:
    for name, text in (("t", topics), ("d", documents), ("q", qrels)):
        (folder / name).write_text(text, encoding="utf-8", newline="")
    return trec.load(folder / "t", [folder / "d"], qrels=folder / "q", scale=scale, relevant_from=2)


@pytest.mark.parametrize("topics", [CLASSIC, XML, TSV])
def test_the_forms_of_topics(tmp_path: Path, scale: Scale, topics: str) -> None:
    found = load(tmp_path, scale, topics)
    assert [(query.language, query.search_id, query.search, query.split) for query in found.queries] == [
        ("all", "301", "open a file", "test"),
        ("all", "302", "convert List<String> to an array", "test"),
    ]


def test_other_fields_of_a_topic_are_columns(tmp_path: Path, scale: Scale) -> None:
    assert load(tmp_path, scale, CLASSIC).queries[1].extra == {
        "desc": "How is a list made\nan array?",
        "narr": "R&D: a < b",
    }
    assert load(tmp_path, scale, XML).queries[1].extra == {"question": "How?", "source_split": "dev", "subtopic": "one\ntwo"}


def test_document_text_is_taken_as_it_stands(tmp_path: Path, scale: Scale) -> None:
    corpus = load(tmp_path, scale).corpus
    assert corpus is not None
    assert [(function.id, function.code) for function in corpus] == [
        ("FT-1", "if (a < b) { <b>x</b> }"),
        ("FT-2", 'Reads\n    def read(path):\n        return "&amp;" < path\nmore'),
    ]
    assert (corpus[1].origin["title"], corpus[1].origin["date"]) == ("Reads", "2020")


def test_documents_as_json_lines(tmp_path: Path, scale: Scale) -> None:
    corpus = load(tmp_path, scale, documents=JSON, qrels="301 0 7 1\n").corpus
    assert corpus is not None
    assert [(function.id, function.code) for function in corpus] == [("7", "x"), ("FT-2", "Reads\ndef read(path): pass")]
    row = records.function_row(corpus[1])
    assert (row["url"], row["language"], row["source_language"], row["source_sha256"]) == ("u", "all", "en", "x")
    assert row["sha256"] != "x"


def test_levels_are_expert_ratings(tmp_path: Path, scale: Scale) -> None:
    assert [records.qrel_row(qrel) for qrel in load(tmp_path, scale).qrels] == [
        {
            "language": "all", "search_id": search_id, "function_id": document, "relevance": float(level),
            "relevant": level >= 2, "source": "expert", "expert_ratings": [level], "judge_rating": None,
            "rated_because": "expert",
        }
        for search_id, document, level in (("301", "FT-1", 0), ("301", "FT-2", 2), ("302", "FT-1", 3))
    ]  # fmt: skip


def test_the_command_makes_a_sound_dataset(tmp_path: Path, scale: Scale) -> None:
    load(tmp_path, scale, CLASSIC)
    arguments = ("trec", "--topics", tmp_path / "t", "--documents", tmp_path / "d", "--qrels", tmp_path / "q")
    done = run_import(*arguments, "--data", tmp_path / "data")
    assert done.stdout == "all: 2 searches (0 tuning), 2 functions, 3 rated pairs, 2 relevant\n"
    assert faults.find(tmp_path / "data", scale, settings=Settings()) == []
    before = files_beside(tmp_path / "data")
    run_import(*arguments, "--data", tmp_path / "data")
    assert files_beside(tmp_path / "data") == before
    (tmp_path / "q").write_text("301 0 FT-1 1\n")
    with pytest.raises(UsageError, match=r"qrels\.jsonl\.gz holds something else"):
        run_import(*arguments, "--data", tmp_path / "data")
    assert files_beside(tmp_path / "data") == before


def test_several_compressed_files_of_documents(tmp_path: Path, scale: Scale) -> None:
    load(tmp_path, scale)
    (tmp_path / "q").write_text("301 0 FT-1 1\n301 0 x 1\n")
    tables.write(tmp_path / "more.jsonl.gz", [{"_id": "x", "text": "y"}])
    found = trec.load(
        tmp_path / "t", [tmp_path / "d", tmp_path / "more.jsonl.gz"], qrels=tmp_path / "q", scale=scale, relevant_from=2
    )
    assert [function.id for function in found.corpus or ()] == ["FT-1", "FT-2", "x"]
    tables.write(tmp_path / "more.parquet", [{"_id": "FT-1", "text": "y"}])
    with pytest.raises(DataError, match=r"more\.parquet, row 1: document 'FT-1' is already at .*d:15; keep one of them"):
        trec.load(
            tmp_path / "t", [tmp_path / "d", tmp_path / "more.parquet"], qrels=tmp_path / "q", scale=scale, relevant_from=2
        )


def test_a_collection_where_nothing_is_relevant_says_so(tmp_path: Path, scale: Scale) -> None:
    load(tmp_path, scale, qrels="301 0 FT-1 1\n")
    arguments = ("trec", "--topics", tmp_path / "t", "--documents", tmp_path / "d", "--qrels", tmp_path / "q")
    done = run_import(*arguments, "--data", tmp_path / "data")
    assert "no pair is relevant: the highest rating is 1; set scale and relevant_from" in done.stderr


def test_a_scale_of_ones_own_takes_other_levels(tmp_path: Path, scale: Scale) -> None:
    load(tmp_path, scale)
    (tmp_path / "q").write_text("301 0 FT-1 -1\n301 0 FT-2 4\n")
    data = tmp_path / "data"
    data.mkdir()
    (data / "judge.toml").write_text('scale = "levels.toml"\nrelevant_from = 4\n')
    (data / "levels.toml").write_text('name = "own"\n[levels]\n' + "".join(f"{level} = 'l'\n" for level in range(-1, 5)))
    arguments = ("trec", "--topics", tmp_path / "t", "--documents", tmp_path / "d", "--qrels", tmp_path / "q")
    done = run_import(*arguments, "--data", data)
    assert done.stdout.endswith("2 rated pairs, 1 relevant\n")


FAULTS = [
    ("qrels", "301 0 FT-1 -1\n", r"q:1: level -1 is off the scale 0-3; name a scale file of your own .*judge\.toml"),
    ("qrels", "301 0 FT-1 1\n301 0 FT-2 4\n", r"q:2: level 4 is off the scale 0-3; name a scale file of your own"),
    ("qrels", "301 0 FT-1 1.5\n", r"q:1: level '1\.5' is no whole number"),
    ("qrels", "301 0 FT-1 \u0661\n", r"q:1: level '\u0661' is no whole number"),
    ("qrels", "301 0 FT-1\n", r"q:1: 3 columns; must be topic, iteration, document and level"),
    ("qrels", "\n303 0 FT-1 1\n", r"q:2: no search '303' in the collection; add it or remove the line"),
    ("qrels", "301 0 FT-3 1\n", r"q:1: no document 'FT-3' in the collection"),
    ("qrels", "301 0 FT-1 1\n301 1 FT-1 1\n", r"q:2: pair '301 FT-1' is already at .*q:1; keep one"),
    ("topics", "301 open a file\n", r"t:1: no tab; a line of topics is an id and a text"),
    ("topics", "301\ta\n\n301\tb\n", r"t:3: topic '301' is already at .*t:1"),
    ("topics", "301\t \n", r"t:1: a search needs an id and a text"),
    ("topics", "\n<top>\n<num> 301\n<title> a\n", r"t:2: not in a closed topic"),
    ("topics", "<top>\n<num> 1\n<title> a\n<top>\n<num> 2\n<title> b\n</top>\n", r"t:1: not a closed topic, another begins"),
    ("topics", "<top>\n<title> a\n</top>\n", r"t:1: a topic needs a number"),
    (
        "topics",
        "<topics>\n<topic number='1'>\n<narr>x</narr></topic></topics>",
        r"t:2: a topic needs .* a text in one of title",
    ),
    ("documents", "<DOC>\n<TEXT>x</TEXT>\n</DOC>", r"d:1: a document without <DOCNO>"),
    ("documents", "<DOC>\n<DOCNO>a</DOCNO>\n<TEXT>\n</TEXT>\n</DOC>", r"d:1: document 'a' has no id or no text"),
    ("documents", DOCUMENTS + "\nstray\n", r"d:22: not in a closed document"),
    ("documents", DOCUMENTS.replace("</DOC>", "", 1), r"d:1: not a closed document, another begins in it"),
    ("documents", '{"id": "a", "text": "x"}\n{"id": "a"}\n', r"d:2: no text; it must be a text in code or text or"),
    ("documents", '{"text": "x"}\n', r"d:1: no id; it must be a text in id or _id or docno"),
    ("documents", '{"id": "a", "text": "x"\n', r"d:1: not JSON"),
]


@pytest.mark.parametrize(("which", "text", "message"), FAULTS)
def test_a_fault_is_named_with_its_line(tmp_path: Path, scale: Scale, which: str, text: str, message: str) -> None:
    with pytest.raises(DataError, match=message):
        load(tmp_path, scale, **{which: text})


def test_text_that_is_not_utf8_is_said(tmp_path: Path, scale: Scale) -> None:
    load(tmp_path, scale)
    (tmp_path / "d").write_bytes(DOCUMENTS.encode().replace(b"more", b"caf\xe9"))
    with pytest.raises(DataError, match=r"d: not UTF-8 \(.* at byte \d+\); write it again as UTF-8"):
        trec.load(tmp_path / "t", [tmp_path / "d"], qrels=tmp_path / "q", scale=scale, relevant_from=2)


def test_a_value_that_json_cannot_hold_is_said_and_nothing_written(tmp_path: Path, scale: Scale) -> None:
    found = load(tmp_path, scale)
    odd = records.Function("x", "all", "x", {"when": object()})
    with pytest.raises(DataError, match=r"corpus: a value that corpus\.jsonl\.gz cannot hold"):
        collection.write(tmp_path / "data", Collection(found.queries, (odd,), found.qrels))
    assert not (tmp_path / "data").exists()
