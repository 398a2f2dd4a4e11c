"""All faults of a folder at once."""

from pathlib import Path

from pools._dataset import faults, tables
from pools._dataset.settings import Settings
from prompts.scales import Scale
from tests.builders.rows import rows_of


def test_all_faults_are_listed_at_once(folder: Path, scale: Scale) -> None:
    assert faults.find(folder, scale, settings=Settings()) == []
    corpus, qrels = rows_of(folder / "corpus.jsonl.gz"), rows_of(folder / "qrels.jsonl.gz")
    corpus[0]["code"] += " "
    qrels[0]["relevance"] = 1.0
    qrels[0]["source"] = "judge"
    qrels[1]["expert_ratings"] = [9]
    qrels[2]["function_id"] = "python/0077"
    tables.write(folder / "corpus.jsonl.gz", corpus)
    tables.write(folder / "qrels.jsonl.gz", qrels)
    found = faults.find(folder, scale, settings=Settings())
    for message in (
        "sha256 that is not of its code",
        "not the mean of [3, 2]",
        "from a judge but with expert_ratings",
        "off the scale",
        "'python/0077'",
        "relevant true at",
    ):
        assert any(message in fault for fault in found), message
    assert len(found) == 6
