"""TREC collections: topics, documents and qrels.

Topics are `<top>` or `<topic>` blocks, as SGML with open tags or as XML, or lines of id and text with a tab between.
Documents are `<DOC>` blocks or JSON lines. None of these files is well-formed XML as a rule, so blocks are found by their
tags alone, and a document's text is taken as it stands, entities included: it may be code.

Written are the forms that hold every text: topics as lines of id and text (white space within as one space, as it is read),
documents as JSON lines, qrels as lines of topic, 0, document and grade (`pools._formats.languageless` says how it is rounded).
Qrels are split at spaces, so an id with white space cannot be written. Columns of a search are not held.
"""

import html
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from pools._dataset import files, tables
from pools._dataset.records import Function, Query
from pools._formats import collection, languageless
from pools._formats.collection import Collection, Judged
from pools._formats.format import Destination, Format, Input
from pools.errors import DataError
from prompts.scales import Scale

SEARCH_TAGS = ("title", "query", "question", "desc", "description")
ID_TAGS = ("num", "number", "id")
TITLE_TAGS = ("title", "headline", "head")
ID_COLUMNS = ("id", "_id", "docno", "doc_id", "docid")
TEXT_COLUMNS = ("code", "text", "contents", "body")

_TOPIC = re.compile(r"<(?P<tag>topic|top)(?P<attributes>\s[^>]*)?>(?P<body>.*?)</(?P=tag)\s*>", re.DOTALL | re.IGNORECASE)
# A field ends with its closing tag, or, where it has none, at the next line that begins with a tag.
_FIELD = re.compile(
    r"<(?P<tag>[a-z][\w-]*)(?:\s[^>]*)?>(?P<text>.*?)(?:</(?P=tag)\s*>|(?=^[ \t]*<[a-z])|\Z)",
    re.DOTALL | re.IGNORECASE | re.MULTILINE,
)
_NUMBER = re.compile(r"""(?:^|\s)(?:number|num|id)\s*=\s*["']([^"']*)["']""", re.IGNORECASE)
_LABELS = {"num": "number", "title": "topic", "desc": "description", "narr": "narrative"}
_DOCUMENT = re.compile(r"^[ \t]*<DOC>(?P<body>.*?)</DOC>", re.DOTALL | re.IGNORECASE | re.MULTILINE)
_DOCNO = re.compile(r"<DOCNO>(.*?)</DOCNO>", re.DOTALL | re.IGNORECASE)
_HEADER = re.compile(r"<DOCHDR>.*?</DOCHDR>", re.DOTALL | re.IGNORECASE)
_TEXT = re.compile(r"<TEXT>(.*?)</TEXT>", re.DOTALL | re.IGNORECASE)
_CLOSED = re.compile(r"<(?P<tag>[a-z][\w-]*)>(?P<text>.*?)</(?P=tag)>", re.DOTALL | re.IGNORECASE)
_OPENING = re.compile(r"^[ \t]*<(?:top|topic|doc)(?:\s[^>]*)?>", re.MULTILINE | re.IGNORECASE)
_MARKUP = re.compile(r"\s|<\?.*?\?>|<!.*?>|</?[a-z][^>]*>", re.DOTALL | re.IGNORECASE)


class _Block(NamedTuple):
    place: str
    found: re.Match[str]


def load(topics: Path, documents: Sequence[Path], *, qrels: Path, scale: Scale, relevant_from: float) -> Collection:
    """Return a TREC collection, its searches and documents sorted by id; raises `DataError` with file and line."""
    queries = collection.unique(_topics(topics), lambda query: query.search_id, what="topic")
    corpus = collection.unique(
        (pair for path in documents for pair in _documents(path)), lambda found: found.id, what="document"
    )  # fmt: skip
    return Collection(
        tuple(sorted(queries, key=lambda query: query.search_id)),
        tuple(sorted(corpus, key=lambda found: found.id)),
        collection.judgements(_judged(qrels), queries, corpus=corpus, scale=scale, relevant_from=relevant_from),
    )


def read(destination: Destination, *, topics: Path, documents: Sequence[Path], qrels: Path) -> Collection:
    """Return the collection for a dataset folder; see `load`."""
    return load(topics, documents, qrels=qrels, scale=destination.scale, relevant_from=destination.relevant_from)


def write(found: Collection, relevant_from: Mapping[str, float]) -> dict[str, bytes]:
    """Return topics.tsv, documents.jsonl and qrels.txt of each language; raises `DataError` for an id that they cannot hold."""
    out = {}
    for folder, part in languageless.parts(found).items():
        out[f"{folder}topics.tsv"] = b"".join(_line(query) for query in part.queries)
        documents = [languageless.document(_checked(function), identifier="id", text="code") for function in part.corpus or ()]
        out[f"{folder}documents.jsonl"] = collection.lines(f"{folder}documents.jsonl", documents)
        levels = [
            f"{qrel.search_id} 0 {qrel.function_id} {languageless.grade(qrel, relevant_from[qrel.language])}\n"
            for qrel in part.qrels
        ]
        out[f"{folder}qrels.txt"] = "".join(levels).encode("utf-8")
    return out


def _line(query: Query) -> bytes:
    # What begins with these would be read as markup, or lost as the mark at the beginning of a file.
    if query.search_id.split() != [query.search_id] or query.search_id.startswith(("<", "\ufeff")):
        raise DataError(
            f"search {query.search_id!r} of {query.language}: TREC topics cannot hold this id (white space, or < at its "
            "beginning); write another format, or rename it"
        )
    try:
        return f"{query.search_id}\t{' '.join(query.search.split())}\n".encode()
    except UnicodeEncodeError as error:
        raise DataError(
            f"search {query.search_id!r} of {query.language}: TREC topics cannot hold its text (half a surrogate pair); write "
            "another format, or correct it"
        ) from error


def _checked(function: Function) -> Function:
    if function.id.split() != [function.id]:
        raise DataError(
            f"function {function.id!r} of {function.language}: TREC qrels cannot hold an id with white space; write another "
            "format, or rename it"
        )
    return languageless.with_text(function)


def _topics(path: Path) -> Iterator[tuple[str, Query]]:
    lines = collection.text_lines(path)
    if "\n".join(lines).lstrip().startswith("<"):
        for place, found in _blocks(path, "\n".join(lines), pattern=_TOPIC, what="topic"):
            yield place, _topic(place, found)
        return
    for number, line in enumerate(lines, start=1):
        place = f"{path}:{number}"
        if line.strip():
            identifier, tab, text = line.partition("\t")
            if not tab:
                raise DataError(f"{place}: no tab; a line of topics is an id and a text with a tab between")
            yield place, collection.query(place, identifier.strip(), text=text, extra={})


def _topic(place: str, found: re.Match[str]) -> Query:
    fields: dict[str, list[str]] = {}
    for field in _FIELD.finditer(found["body"]):
        tag, text = field["tag"].lower(), html.unescape(field["text"]).strip()
        label, colon, rest = text.partition(":")
        if colon and label.strip().lower() == _LABELS.get(tag):
            text = rest.strip()
        fields.setdefault(tag, []).append(text)
    numbered = _NUMBER.search(found["attributes"] or "")
    identifiers = [numbered[1]] if numbered else next((fields[tag] for tag in ID_TAGS if tag in fields), [])
    search_tag = next((tag for tag in SEARCH_TAGS if any(fields.get(tag, ()))), None)
    if not identifiers or search_tag is None:
        raise DataError(
            f"{place}: a topic needs a number (<num>, or an attribute) and a text in one of {', '.join(SEARCH_TAGS)}"
        )  # fmt: skip
    extra = {tag: "\n".join(texts) for tag, texts in fields.items() if tag not in (search_tag, *ID_TAGS)}
    return collection.query(place, identifiers[0].strip(), text=" ".join(fields[search_tag]), extra=extra)


def _documents(path: Path) -> Iterator[tuple[str, Function]]:
    if path.suffix == ".parquet" or files.read(path).lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"{"):
        for place, row in tables.read(path):
            name, body = (
                collection.chosen(place, row, what, *columns) for what, columns in (("id", ID_COLUMNS), ("text", TEXT_COLUMNS))
            )
            extra = {column: value for column, value in row.items() if column not in (name, body, "title")}
            title = collection.text(place, row, "title") if row.get("title") is not None else ""
            yield place, collection.document(place, str(row[name]).strip(), title=title, text=str(row[body]), extra=extra)
        return
    for place, found in _blocks(path, "\n".join(collection.text_lines(path)), pattern=_DOCUMENT, what="document"):
        yield place, _document(place, found["body"])


def _document(place: str, body: str) -> Function:
    docno = _DOCNO.search(body)
    if docno is None:
        raise DataError(f"{place}: a document without <DOCNO>; add it, or remove the document")
    rest = body[: docno.start()] + body[docno.end() :]
    texts = _TEXT.findall(rest)
    if not texts:
        return collection.document(place, docno[1].strip(), title="", text=_HEADER.sub("", rest).strip("\n"), extra={})
    fields: dict[str, list[str]] = {}
    for field in _CLOSED.finditer(_TEXT.sub("", rest)):
        fields.setdefault(field["tag"].lower(), []).append(field["text"].strip())
    title_tag = next((tag for tag in TITLE_TAGS if any(fields.get(tag, ()))), None)
    title = " ".join(" ".join(fields[title_tag]).split()) if title_tag else ""
    extra = {tag: "\n".join(found) for tag, found in fields.items() if tag != title_tag}
    return collection.document(
        place, docno[1].strip(), title=title, text="\n".join(text.strip("\n") for text in texts), extra=extra
    )


def _judged(path: Path) -> Iterator[Judged]:
    for number, line in enumerate(collection.text_lines(path), start=1):
        fields = line.split()
        if fields and len(fields) != 4:
            raise DataError(f"{path}:{number}: {len(fields)} columns; must be topic, iteration, document and level")
        if fields:
            yield Judged(f"{path}:{number}", fields[0], fields[2], fields[3])


def _blocks(path: Path, text: str, *, pattern: re.Pattern[str], what: str) -> Iterator[_Block]:
    end, line = 0, 1
    for found in pattern.finditer(text):
        between = text[end : found.start()]
        _nothing(path, line, between=between, what=what)
        line += between.count("\n")
        place = f"{path}:{line}"
        if _OPENING.search(found["body"]):
            raise DataError(f"{place}: not a closed {what}, another begins in it; close it")
        yield _Block(place, found)
        line += found[0].count("\n")
        end = found.end()
    _nothing(path, line, between=text[end:], what=what)


def _nothing(path: Path, line: int, *, between: str, what: str) -> None:
    """Raise `DataError` where there is more between two blocks than space, comments and tags around them."""
    stray = _MARKUP.sub("", between)
    opening = _OPENING.search(between)
    if stray or opening:
        at = opening.start() if opening else len(between) - len(between.lstrip())
        raise DataError(f"{path}:{line + between[:at].count(chr(10))}: not in a closed {what}; close it, or remove it")


FORMAT = Format(
    "trec",
    "Import a TREC collection: topics, documents, qrels.",
    "A topic's title is the search; a document's text, below its title, is the function's code. All other fields are kept as "
    "columns. There is one language, `all`. Files may be compressed (.gz).",
    ("judge import trec --topics topics.xml --documents docs.jsonl.gz --qrels qrels.txt --data collection",),
    (
        Input("topics", "file", "FILE", "<top> or <topic> blocks, or lines of id, tab, text."),
        Input("documents", "file", "FILE", "<DOC> blocks or JSON lines; repeatable.", repeatable=True),
        Input("qrels", "file", "FILE", "Lines of topic, iteration, document, level."),
    ),
    read,
    write,
)
