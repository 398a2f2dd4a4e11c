"""The log of a language: what happened, in order, with its reasons."""

from pathlib import Path

import pytest

from gates._release import journal
from gates._release.journal import Event
from pools.errors import DataError, UsageError

JUDGE = "0123456789abcdef"


def test_the_log_keeps_what_happened_in_order(tmp_path: Path) -> None:
    merge = Event("2026-01-02T00:00:00Z", "merge", "python", JUDGE, details="8 ratings")
    withdraw = Event("2026-01-03T00:00:00Z", "withdraw", "python", JUDGE, "wrong prompt")
    reseal = Event("2026-01-01T00:00:00Z", "reseal", "go", JUDGE, "new gold")
    journal.append(tmp_path, merge)
    assert journal.merged(journal.read(tmp_path, "python")) == merge
    journal.append(tmp_path, withdraw)
    assert journal.read(tmp_path, "python") == (merge, withdraw)
    assert journal.merged(journal.read(tmp_path, "python")) is None
    assert journal.read(tmp_path, "go") == ()
    assert journal.history(tmp_path, ("python", "go"), further=[reseal]) == (reseal, merge, withdraw)
    assert journal.lines([merge]) == "2026-01-02T00:00:00Z  python  merge  0123456789abcdef  8 ratings"


@pytest.mark.parametrize("kind", journal.NEEDS_REASON)
def test_what_needs_a_reason_is_refused_without(tmp_path: Path, kind: journal.Kind) -> None:
    with pytest.raises(UsageError, match="needs a reason"):
        journal.append(tmp_path, Event("2026-01-02T00:00:00Z", kind, "python", JUDGE, "  "))
    assert not journal.path(tmp_path, "python").exists()


@pytest.mark.parametrize(
    "line", ['{"time": 1}', '{"time": "t", "kind": "other", "language": "go", "judge_id": null}', "no json"]
)
def test_a_log_that_is_none_is_named_with_its_line(tmp_path: Path, line: str) -> None:
    path = journal.path(tmp_path, "python")
    path.parent.mkdir(parents=True)
    path.write_text(line + "\n", encoding="utf-8")
    with pytest.raises(DataError, match=r"log\.jsonl:1: "):
        journal.read(tmp_path, "python")
