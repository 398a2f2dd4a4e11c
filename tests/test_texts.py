"""A rating is bound to the texts that were shown."""

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from judge._batching.batches import Batch, Item
from judge._ledger import chain, entries, placement
from judge._ledger.ledger import Ledger, records
from judge._ledger.texts import Change, digest
from pools._dataset import files
from tests.builders.texts_shown import CODES, JUDGE, SEARCHES, batch, reply, texts, write


def test_every_pair_sent_carries_the_hashes_of_its_texts(tmp_path: Path) -> None:
    path = tmp_path / "l.jsonl"
    write(path, reply(batch(("q0", "f1"), ("q1", "f0")), 1, 2))
    [line] = [record for record in records(path) if record["kind"] == "reply"]
    assert [entry[1:] for entry in line["sent"]] == [
        ["q0", "f1", digest("read a file"), digest("def g(): ...")],
        ["q1", "f0", digest("sort a list"), digest("def f(): ...")],
    ]
    # Anyone can hold the ledger against the corpus's own column.
    assert files.sha256(b"def g(): ...").startswith(line["sent"][0][4])


def test_what_changed_since_is_not_rated_and_is_said(tmp_path: Path) -> None:
    path = tmp_path / "l.jsonl"
    write(path, reply(batch(("q0", "f0"), ("q0", "f1"), ("q1", "f1")), 1, 2, 3))
    tally = Ledger.read(path, texts=texts({"q1": "sort a map"}, f0="def f(): return")).tally(JUDGE.judge_id)
    assert tally.ratings == {("q0", "f1"): 2}
    assert tally.changed == {
        ("q0", "f0"): Change(search=False, function=True),
        ("q1", "f1"): Change(search=True, function=False),
    }
    # Without a dataset beside it, a ledger says what it always said, and the texts restored bring the ratings back.
    for same in (None, texts()):
        whole = Ledger.read(path, texts=same).tally(JUDGE.judge_id)
        assert (len(whole.ratings), whole.changed) == (3, {})


def test_a_pair_asked_again_is_rated_by_what_is_there_now(tmp_path: Path) -> None:
    path, later = tmp_path / "l.jsonl", texts(f0="def f(): return")
    write(path, reply(batch(("q0", "f0")), 1))
    write(path, reply(batch(("q0", "f0"), now=later), 3), now=later)
    now, before = (Ledger.read(path, texts=known).tally(JUDGE.judge_id) for known in (later, texts()))
    assert (now.ratings, now.changed, now.repeats) == ({("q0", "f0"): 3}, {}, [])
    # Each text keeps the first rating that it got: to change it and change it back brings no second chance.
    assert (before.ratings, before.changed, before.repeats) == ({("q0", "f0"): 1}, {}, [])


def test_a_canary_whose_text_changed_is_no_repeat(tmp_path: Path) -> None:
    path, later = tmp_path / "l.jsonl", texts(f0="def f(): return")
    write(path, reply(batch(("q0", "f0")), 1), reply(batch(("q0", "f0")), 1))
    assert len(Ledger.read(path, texts=texts()).tally(JUDGE.judge_id).repeats) == 1
    assert Ledger.read(path, texts=later).tally(JUDGE.judge_id).repeats == []


def test_what_was_given_up_is_open_again_once_its_text_changed(tmp_path: Path) -> None:
    path, later = tmp_path / "l.jsonl", texts(f0="def f(): return")
    write(path, entries.failure(JUDGE.judge_id, ("q0", "f0"), reason="refused"), now=texts())
    assert Ledger.read(path, texts=texts()).tally(JUDGE.judge_id).failed == {("q0", "f0"): "refused"}
    assert Ledger.read(path, texts=later).tally(JUDGE.judge_id).failed == {}
    # Attempts at another text are none either.
    write(path, *(reply(batch(("q1", "f0"), ("q1", "f1")), None, 2) for _ in range(2)))
    assert Ledger.read(path, texts=texts()).tally(JUDGE.judge_id).attempts == {("q1", "f0"): 2}
    assert Ledger.read(path, texts=later).tally(JUDGE.judge_id).attempts == {}


def test_the_reply_of_a_job_is_to_what_was_uploaded(tmp_path: Path) -> None:
    path, later = tmp_path / "l.jsonl", texts(f0="def f(): return")
    sent = batch(("q0", "f0"))
    upload = entries.upload(JUDGE.judge_id, "pool", file="file-1", size=1, planned={"row": sent})
    write(path, upload, entries.job(JUDGE.judge_id, "job-1", file="file-1"))
    # The code changed while the job ran; whoever collects it only has the new one.
    collected = reply(Batch(((sent.ids[0], Item(("q0", "f0"), SEARCHES["q0"], later.functions["f0"])),)), 3)
    write(path, collected | {"file": "file-1", "custom_id": "row"}, now=later)
    assert Ledger.read(path, texts=later).tally(JUDGE.judge_id).ratings == {}
    assert Ledger.read(path, texts=texts()).tally(JUDGE.judge_id).ratings == {("q0", "f0"): 3}


def test_a_ledger_without_hashes_counts_as_ever(tmp_path: Path) -> None:
    path = tmp_path / "l.jsonl"
    write(path, reply(batch(("q0", "f0")), 2))
    lines, last = [], chain.FIRST
    for record in records(path):
        old = {key: value for key, value in record.items() if key != "chain"}
        if "sent" in old:
            old["sent"] = [entry[:3] for entry in old["sent"]]
        text, last = chain.line(old, last)
        lines.append(text)
    path.write_bytes(b"".join(lines))
    changed = texts(f0="something else")
    assert Ledger.read(path, texts=changed).tally(JUDGE.judge_id).ratings == {("q0", "f0"): 2}
    assert placement.first(path, JUDGE.judge_id, texts=changed) == {("q0", "f0"): 1}


@given(
    before=st.dictionaries(st.sampled_from(list(CODES)), st.text(max_size=8)),
    after=st.dictionaries(st.sampled_from(list(CODES)), st.text(max_size=8)),
    search=st.text(max_size=8),
)
def test_a_change_is_one_of_the_text_and_nothing_else(before: dict[str, str], after: dict[str, str], search: str) -> None:
    then, now = texts({"q0": search}, **before), texts(None, **after)
    for function_id in CODES:
        shown = then.shown("q0", function_id)
        assert shown is not None
        searched, coded = search != SEARCHES["q0"], then.functions[function_id] != now.functions[function_id]
        expected = Change(searched, coded) if searched or coded else None
        assert now.change("q0", function_id, shown=shown) == expected
        assert then.change("q0", function_id, shown=shown) is None
    # Of what the dataset lacks nothing can have changed.
    assert now.shown("q9", "f0") is None
    assert now.change("q9", "f9", shown=("0" * 16, "0" * 16)) is None
