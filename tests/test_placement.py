"""The place in its batch at which a pair got the rating that counts."""

from pathlib import Path

from judge._ledger import placement
from tests.builders.texts_shown import JUDGE, batch, reply, texts, write


def test_the_place_in_the_batch_is_that_of_the_rating_that_counts(tmp_path: Path) -> None:
    path, later = tmp_path / "l.jsonl", texts(f0="def f(): return")
    write(path, reply(batch(("q0", "f0"), ("q0", "f1")), 1, 2))
    write(path, reply(batch(("q1", "f1"), ("q0", "f0"), now=later), 1, 3), now=later)
    assert placement.first(path, JUDGE.judge_id, texts=later) == {("q0", "f1"): 2, ("q1", "f1"): 1, ("q0", "f0"): 2}
    assert placement.first(path, JUDGE.judge_id)["q0", "f0"] == 1
