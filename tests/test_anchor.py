"""The anchor of a ledger: nobody can put another one in its place unseen."""

from pathlib import Path

import pytest

from judge._ledger import anchor, entries
from judge._ledger.ledger import Ledger
from pools._dataset import files
from pools._dataset.settings import GateSettings
from pools.errors import GateClosed
from tests.builders.judging import identity
from tests.builders.texts_shown import batch, reply, write


def ledger(path: Path, rating: int = 2) -> Ledger:
    write(path, reply(batch(("q0", "f0")), rating))
    return Ledger.read(path)


def test_it_is_the_head_the_length_and_the_hash_of_the_file(tmp_path: Path) -> None:
    found = ledger(tmp_path / "l.jsonl").anchor
    content = (tmp_path / "l.jsonl").read_bytes()
    assert content.endswith(f'"chain":"{found.head}"}}\n'.encode())
    assert (found.lines, found.sha256) == (content.count(b"\n"), files.sha256(content))
    for expected in (found.head, found.sha256, f" {found.head.upper()} "):
        anchor.check(tmp_path / "l.jsonl", found, expected=expected)


def test_it_keeps_up_while_lines_are_added(tmp_path: Path) -> None:
    path = tmp_path / "l.jsonl"
    ledger(path)
    with Ledger.open(path) as book:
        for number in range(3):
            book.add(entries.failure(identity().judge_id, ("q0", f"f{number}"), reason="refused"))
            assert book.anchor == Ledger.read(path).anchor
    # Also where the last line end was lost, and put back.
    path.write_bytes(path.read_bytes()[:-1])
    with Ledger.open(path) as book:
        assert book.anchor.sha256 == files.sha256(path.read_bytes())


def test_a_ledger_written_anew_is_another_one(tmp_path: Path) -> None:
    published = ledger(tmp_path / "l.jsonl").anchor
    (tmp_path / "l.jsonl").unlink()
    forged = ledger(tmp_path / "l.jsonl", rating=3).anchor
    for expected in (published.head, published.sha256):
        with pytest.raises(GateClosed, match=rf"expected head {expected} is none of its {forged.lines} lines"):
            anchor.check(tmp_path / "l.jsonl", forged, expected=expected)


@pytest.mark.parametrize("by", ["head", "sha256"])
def test_a_ledger_that_went_on_says_so(tmp_path: Path, by: str) -> None:
    path = tmp_path / "l.jsonl"
    published = ledger(path).anchor
    write(path, reply(batch(("q1", "f1")), 1))
    found = Ledger.read(path).anchor
    with pytest.raises(GateClosed, match=rf"goes on from the expected head \w+ by {found.lines - published.lines} lines"):
        anchor.check(path, found, expected=getattr(published, by))


def test_an_empty_ledger_has_one_too(tmp_path: Path) -> None:
    with Ledger.open(tmp_path / "l.jsonl") as book:
        assert (book.anchor.lines, book.anchor.sha256) == (0, files.sha256(b""))
        book.add(entries.seal(identity(), GateSettings(), relevant_from=2, gold_sha256="0" * 64))
        assert book.anchor.lines == 1
