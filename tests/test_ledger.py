"""The ledger: what is appended reads back, whatever its end looks like, and nothing put there by hand does."""

import json
import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from judge._batching.batches import Batch
from judge._endpoint.answer import Usage
from judge._ledger import chain, entries, ledger
from judge._ledger.ledger import Ledger
from judge._ledger.tally import Totals
from judge._reading import replies
from pools.errors import DataError, Stopped, UsageError
from tests.builders.judging import items, sealed
from tests.builders.ledgers import ID, JUDGE, filled, reply


def test_what_is_appended_reads_back(tmp_path: Path) -> None:
    path = tmp_path / "work" / "python" / "judgements.jsonl"
    book, _, _ = filled(path)
    pairs = [item.pair for item in items(5)]
    book.add(entries.failure(ID, pairs[2], reason="missing after 3 attempts"))
    book.close()
    for read in (book, Ledger.read(path), Ledger.open(path)):
        assert read.ratings(ID) == {pairs[0]: 3, pairs[1]: 0, pairs[3]: 1, pairs[4]: 2}
        assert read.tally(ID).attempts == {pairs[2]: 1}
        assert read.failed(ID) == {pairs[2]: "missing after 3 attempts"}
        assert read.totals(ID) == Totals(2, 5, Usage(200, 20, 10), 0.5, Usage(100, 10, 5))
        assert read.tally(ID).faults == {"missing": 1}
        assert read.judges() == (ID,)
        assert read.notes == ()
        seal = read.seal(ID)
        assert seal is not None
        assert seal.gate.f1 == 0.67
        assert seal.identity == JUDGE.document()
        read.close()
    kinds = [json.loads(line)["kind"] for line in path.read_text().splitlines()]
    assert sorted(kinds) == ["failure", "reading", "reading", "reply", "reply", "seal"]
    assert all(list(json.loads(line))[-1] == "chain" for line in path.read_text().splitlines())


def test_a_missing_ledger_says_nothing(tmp_path: Path) -> None:
    book = Ledger.read(tmp_path / "no" / "judgements.jsonl")
    assert book.ratings(ID) == {}
    assert book.seal(ID) is None
    assert not (tmp_path / "no").exists()


def test_a_second_writer_is_kept_out_and_a_reader_is_not(tmp_path: Path) -> None:
    path = tmp_path / "l.jsonl"
    code = f"from pathlib import Path; from judge._ledger.ledger import Ledger; Ledger.open(Path({str(path)!r}))"
    book, _, _ = filled(path)
    with book:
        second = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
        assert second.returncode
        assert f"UsageError: {path}: another process is writing to it" in second.stderr
        with pytest.raises(UsageError, match="another process is writing to it"):
            Ledger.open(path)
        assert len(Ledger.read(path).ratings(ID)) == 4
    subprocess.run([sys.executable, "-c", code], check=True)


def test_a_read_only_folder_is_read_and_not_written_to(tmp_path: Path) -> None:
    filled(tmp_path / "data" / "l.jsonl")[0].close()
    path = tmp_path / "data" / "l.jsonl"
    (tmp_path / "data" / ".l.jsonl.lock").unlink()
    path.chmod(stat.S_IRUSR)
    (tmp_path / "data").chmod(stat.S_IRUSR | stat.S_IXUSR)
    try:
        assert len(Ledger.read(path).ratings(ID)) == 4
        if os.geteuid():
            with pytest.raises(UsageError, match="cannot be written"):
                Ledger.open(path)
    finally:
        (tmp_path / "data").chmod(stat.S_IRWXU)


def test_a_path_that_cannot_be_made_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(UsageError, match=r"cannot be written .*; choose a folder that can, with --data"):
        Ledger.open(tmp_path / "file" / "l.jsonl")


def test_truncated_at_every_byte_of_its_last_two_lines_it_opens_says_so_and_goes_on(tmp_path: Path) -> None:
    path = tmp_path / "l.jsonl"
    book, _, second = filled(path)
    book.close()
    whole = path.read_bytes()
    ends = [0, *(place + 1 for place, byte in enumerate(whole) if byte == 0x0A)]
    complete = book.ratings(ID)
    without = {pair: rating for pair, rating in complete.items() if pair in {item.pair for item in items(3)}}
    for length in range(ends[-3], len(whole) + 1):
        path.write_bytes(whole[:length])
        # The reply's line counts as soon as it is whole, even without its line end or its reading.
        expected = complete if length >= ends[-2] - 1 else without
        kept = max(end for end in ends if end - (end > 0) <= length)
        read = Ledger.read(path)
        assert read.ratings(ID) == expected
        with Ledger.open(path) as opened:
            assert opened.ratings(ID) == expected
            if length in ends:
                assert opened.notes == ()
            elif length + 1 in ends:
                assert "line end" in opened.notes[0]
            else:
                assert f"its {length - kept} bytes are cut off" in opened.notes[0]
                assert "the last line is not whole" in read.notes[0]
            if expected == without:
                opened.add(reply(second, {0: 1, 1: 2}))
            assert opened.ratings(ID) == complete
        assert Ledger.read(path).ratings(ID) == complete
        assert Ledger.read(path).notes == ()


@pytest.mark.parametrize("change", ["rating", "added", "removed", "swapped", "chain"])
def test_what_was_changed_by_hand_is_found(tmp_path: Path, change: str) -> None:
    path = tmp_path / "l.jsonl"
    filled(path)[0].close()
    lines = path.read_bytes().splitlines(keepends=True)
    if change == "rating":
        place = next(n for n, line in enumerate(lines) if b'"ratings":{' in line)
        lines[place] = lines[place].replace(b'":3', b'":2')
    elif change == "added":
        lines.append(lines[-1].replace(b'":3', b'":2'))
    elif change == "removed":
        del lines[1]
    elif change == "swapped":
        lines[1], lines[2] = lines[2], lines[1]
    else:
        lines[1] = lines[1].replace(b'"chain":"', b'"chain":"0')
    path.write_bytes(b"".join(lines))
    for opening in (Ledger.read, Ledger.open):
        with pytest.raises(DataError, match=r"l\.jsonl:\d+: changed or put there by hand"):
            opening(path)
    assert path.read_bytes() == b"".join(lines)


def test_a_line_that_this_version_does_not_know_is_named(tmp_path: Path) -> None:
    path = tmp_path / "l.jsonl"
    path.write_bytes(chain.line({"kind": "prophecy"}, chain.FIRST)[0])
    with pytest.raises(DataError, match=r"l\.jsonl:1: not a line of this version .*prophecy"):
        Ledger.read(path)


def test_a_reading_by_older_rules_is_made_again(tmp_path: Path) -> None:
    path = tmp_path / "l.jsonl"
    batch = Batch.of(items(1))
    book = sealed(path, JUDGE)
    book.close()
    found = list(ledger.records(path))
    stored = {"kind": "reply", "time": "x"} | reply(batch, {0: 3}) | {"number": 1}
    content, last = path.read_bytes(), found[-1]["chain"]
    for rules, expected in ((replies.PARSER, 0), (replies.PARSER - 1, 3)):
        reading = {"kind": "reading", "number": 1, "parser": rules, "ratings": {batch.ids[0]: 0}, "faults": {}, "foreign": []}
        text, end = chain.line(stored, last)
        path.write_bytes(content + text + chain.line(reading, end)[0])
        assert Ledger.read(path).ratings(ID) == {batch.items[0].pair: expected}


def test_a_reseal_is_in_force_and_the_seal_on_record(tmp_path: Path) -> None:
    path = tmp_path / "l.jsonl"
    with sealed(path, JUDGE) as book:
        first = book.seal(ID)
        assert first is not None
        book.add(entries.reseal(first, first.gate, relevant_from=3, gold_sha256=first.gold_sha256, reason="experts revised"))
    book = Ledger.read(path)
    seal = book.seal(ID)
    assert seal is not None
    assert (seal.relevant_from, seal.reason) == (3, "experts revised")
    assert [entry.relevant_from for entry in book.history] == [2, 3]
    assert book.judges() == (ID,)


def test_a_full_disk_stops_with_a_whole_ledger(tmp_path: Path) -> None:
    # A limit on the size of files stands for the disk: the write comes back short, and the next one fails.
    path = tmp_path / "l.jsonl"
    filled(path)[0].close()
    before = path.read_bytes()
    code = f"""
import resource, sys
from pathlib import Path
from judge._ledger.ledger import Ledger
from pools.errors import Stopped
from judge._batching.batches import Batch
from tests.builders.judging import items
from tests.builders.ledgers import reply
size = {len(before)} + 150
resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))
book = Ledger.open(Path({str(path)!r}))
for _ in range(2):
    try:
        book.add(reply(Batch.of(items(9)), {{0: 1}}))
    except Stopped as error:
        print(error, error.exit_code)
book.close()
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    first, second = done.stdout.splitlines()
    assert "cannot be written any further" in first
    assert first.endswith("4")
    assert "closed after an error" in second
    assert path.read_bytes() == before
    with Ledger.open(path) as book:
        assert book.notes == ()
        book.add(reply(Batch.of(items(9)), {0: 1}))


def test_a_group_is_written_whole_or_not_at_all(tmp_path: Path) -> None:
    with sealed(tmp_path / "l.jsonl", JUDGE) as book:
        batch = Batch.of(items(2))
        first, second = book.add(reply(batch, {0: 1}), reply(batch, {1: 2}))
        assert first is not None
        assert second is not None
        assert first.entries[batch.ids[0]].rating == 1
        assert second.entries[batch.ids[1]].rating == 2
        book.close()
        with pytest.raises(Stopped, match="closed"):
            book.add(reply(batch, {0: 1}))


def test_a_ledger_continues_what_it_was_before_but_not_what_was_cut_off(tmp_path: Path) -> None:
    path = tmp_path / "l.jsonl"
    book, _, _ = filled(path)
    book.close()
    lines = path.read_bytes().splitlines(keepends=True)
    whole = Ledger.read(path).reached
    ends = []
    for content in (b"".join(lines[:-2]), b"".join(lines)[:-1]):  # without its last reply; without its last line end
        path.write_bytes(content)
        ends.append(Ledger.read(path).reached)
        assert not Ledger.read(path).continues(whole)
    path.write_bytes(b"".join(lines))
    assert [Ledger.read(path).continues(end) for end in (*ends, whole)] == [True, True, True]
    path.write_bytes(b"".join(lines[:-2]))
    with Ledger.open(path) as book:
        book.add(entries.failure(ID, ("q", "f" * len(lines[-1])), reason="another line"))
        assert [book.continues(end) for end in (*ends, whole)] == [True, False, False]
    assert Ledger.read(tmp_path / "none").continues(Ledger.read(tmp_path / "none").reached)
