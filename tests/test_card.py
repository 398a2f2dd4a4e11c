"""The card: its header is what the hub reads, and its tables are counted, not written."""

from pathlib import Path

import numpy as np
import yaml

from gates._measures import interval
from gates._release.journal import Event
from gates._report import card, wording
from gates._report.card import Chapter
from gates._verdict import gate_record
from gates._verdict.evidence import Evidence
from gates._verdict.seal import Seal
from pools._dataset.dataset import Dataset
from pools._dataset.records import Function, Qrel, Query
from pools._dataset.settings import CardSettings, GateSettings, Settings
from prompts.scales import Scale
from tests.builders.rows import PoolEntry

SETTINGS = Settings(
    gate=GateSettings(resamples=200), card=CardSettings(title='A "title": yes', license="mit", source="From here and there.")
)
RESEAL = Event("2026-01-01T00:00:00Z", "reseal", "go", "aa", "more gold")


def _data() -> Dataset:
    queries = tuple(Query(language, f"q{number}", "words") for language in ("go", "ruby") for number in range(2))
    corpus = [
        Function(f"{language}/{number}", language, "code", {"license": "MIT"})
        for language in ("go", "ruby")
        for number in range(5)
    ]
    corpus[3] = Function("go/3", "go", "code", {"license": "Apache-2.0"})
    corpus[4] = Function("go/4", "go", "code")
    qrels = [
        Qrel("go", "q0", "go/0", 2.5, True, "expert", (3, 2), 3),
        Qrel("go", "q0", "go/1", 0.0, False, "expert", (0,), 2),
        Qrel("go", "q1", "go/2", 2.0, True, "judge", (), 2, "pooled"),
        Qrel("go", "q1", "go/3", 0.0, False, "judge", (), 0, "sample"),
        Qrel("ruby", "q0", "ruby/1", 3.0, True, "expert", (3,)),
    ]
    return Dataset(Path("name"), queries, tuple(corpus), tuple(qrels))


POOL = (
    PoolEntry("q1", "go/2", "pooled", ("bm25", "grep-any")), PoolEntry("q1", "go/3", "unflagged-sample", ()),
    PoolEntry("q0", "go/0", None, ("bm25",)),
)  # fmt: skip


def _text(scale: Scale, settings: Settings = SETTINGS, pool: tuple[PoolEntry, ...] = POOL) -> str:
    data = _data()
    experts, ratings = data.experts_of("go"), {qrel.pair: qrel.judge_rating for qrel in data.qrels_of("go")}
    rated = {pair: rating for pair, rating in ratings.items() if rating is not None}
    identity = {"model": "a|model", "pairs_per_batch": 40, "shown_characters": 20000, "sampling": {"temperature": 0.0}}
    seal = Seal(settings.gate, 2.0)
    shown = Evidence("aa", rated, seal, None, identity, pool, (RESEAL,), tried=2)
    record = gate_record.assess("go", experts, ratings=rated, gate=settings.gate, relevant_from=2.0, seed=1, judge_id="aa")
    return card.text(data, [Chapter("go", shown, record, None)], settings=settings, scale=scale)


def test_header_is_what_the_hub_reads(scale: Scale) -> None:
    text = _text(scale)
    header = yaml.safe_load(text.split("---\n")[1])
    assert header["pretty_name"] == 'A "title": yes'
    assert header["license"] == "mit"
    assert header["task_categories"] == ["text-retrieval"]
    assert header["size_categories"] == ["n<1K"]
    assert {"go", "ruby", "code-search"} <= set(header["tags"])
    assert header["configs"] == [
        {"config_name": "qrels", "data_files": "qrels.jsonl.gz", "default": True},
        {"config_name": "queries", "data_files": "queries.jsonl.gz"},
        {"config_name": "corpus", "data_files": "corpus.jsonl.gz"},
    ]


def test_a_licence_of_another_name_is_named(scale: Scale) -> None:
    settings = Settings(gate=SETTINGS.gate, card=CardSettings(license_name="mixed: see card"))
    text = _text(scale, settings)
    header = yaml.safe_load(text.split("---\n")[1])
    assert (header["license"], header["license_name"]) == ("other", "mixed: see card")
    assert "\n# name\n" in text


def test_tables_are_counted(scale: Scale) -> None:
    text = _text(scale)
    assert "| go | 2 | 5 | 2 | 2 | 2 |\n| ruby | 2 | 5 | 1 | 0 | 1 |\n| all | 4 | 10 | 3 | 2 | 3 |" in text
    assert "| MIT | 8 |\n| Apache-2.0 | 1 |\n| not known | 1 |" in text
    assert "| go | expert-rated | 1 |\n| go | pooled | 1 |\n| go | unflagged-sample | 1 |" in text
    assert "| go | bm25 | 2 |\n| go | grep-any | 1 |" in text
    assert '| go | a\\|model | aa | 40 | 20000 | {"temperature": 0.0} |' in text
    bounds = wording.interval(interval.of_f1(np.array([[1, 1, 0, 0]])))
    assert f"| go | 2 | 1 (50%) | 0.6667 | {bounds} | 0.67 | 2 | missed (clear) | yes |" in text
    assert "1 pairs were rated by two experts or more" in text


def test_a_pair_that_experts_rated_after_it_was_drawn_is_told_among_theirs(scale: Scale) -> None:
    text = _text(scale, pool=(PoolEntry("q0", "go/0", "unflagged-sample", ()), PoolEntry("q1", "go/3", "unflagged-sample", ())))
    assert "| go | expert-rated | 1 |\n| go | unflagged-sample | 1 |" in text


def test_it_says_what_was_resealed_and_what_unrated_means(scale: Scale) -> None:
    text = _text(scale)
    assert "**go: what was sealed for judge aa was changed** on 2026-01-01T00:00:00Z, with the reason: more gold" in text
    assert "rated by nobody, which is not a rating of 0" in text
    assert "- 3: exactly relevant" in text


def test_without_a_judge_it_speaks_of_none(scale: Scale) -> None:
    text = card.text(_data(), [], settings=SETTINGS, scale=scale)
    assert "## The gate" not in text
    assert "## How the judge rated" not in text
    assert "## How the pairs were pooled" not in text
