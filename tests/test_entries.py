"""The kinds of a ledger's lines, made from records and made into them again."""

from dataclasses import fields

from judge._judges.identity import Identity
from judge._ledger import entries
from pools._dataset.settings import GateSettings
from prompts import scales


def test_a_seal_holds_every_condition_and_an_earlier_versions_lack_means_not_asked_for() -> None:
    identity = Identity("m", "prompt", scales.load("relevance"), 100, 40, {})
    line = entries.seal(identity, GateSettings(f1=0.7, precision=0.5), relevant_from=2, gold_sha256="gold")
    assert line["gate"].keys() == {item.name for item in fields(GateSettings)}
    assert entries.seal_of(line | {"time": "now"}).gate == GateSettings(f1=0.7, precision=0.5)
    earlier = {"f1": 0.7, "confidence": 0.95, "resamples": 10_000, "require_confidence": False}
    assert entries.seal_of(line | {"time": "now", "gate": earlier}).gate == GateSettings(f1=0.7)
