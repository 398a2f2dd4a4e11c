"""The pool drawn again: what was in it stays, what is new is added, and the samples stay random ones of known probability."""

import random
from collections import Counter
from collections.abc import Collection, Mapping, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pools._dataset.settings import PoolSettings
from pools._sampling import frame, pooled
from pools._sampling.frame import Frame
from pools._sampling.hits import Hit
from pools._sampling.pooled import PoolPair
from tests.builders.hits_made import IDS, LOOSE, QUERIES, SIZES, world

Pair = tuple[str, str]


class Pool:
    """A pool that is drawn again and again, each time from what it is drawn from now."""

    def __init__(self, seed: int = 1) -> None:
        self.frame: Frame | None = None
        self.seed = seed
        self.pairs: tuple[PoolPair, ...] = ()

    def draw(
        self,
        ids: Sequence[str] = IDS,
        flagged: Mapping[str, Sequence[Hit]] | None = None,
        validation: Collection[Pair] = (),
        settings: PoolSettings = SIZES,
        searches: int = 3,
    ) -> dict[Pair, PoolPair]:
        self.frame = frame.of(ids, self.seed) if self.frame is None else frame.grown(self.frame, ids)
        self.pairs = pooled.draw(
            QUERIES[:searches],
            self.frame,
            hits=flagged or {},
            validation=validation,
            settings=settings,
            loose=LOOSE,
            earlier=self.pairs,
        )
        found = {entry.pair: entry for entry in self.pairs}
        assert len(found) == len(self.pairs)
        return found


def sizes(pairs: Mapping[Pair, PoolPair], stratum: str) -> Counter[tuple[str, float | None]]:
    """How many pairs of a stratum a search has at each probability."""
    return Counter((entry.search_id, entry.probability) for entry in pairs.values() if entry.stratum == stratum)


def test_drawn_again_from_the_same_it_is_the_same() -> None:
    flagged, validation = world(7)
    grown = Pool()
    first = grown.draw(flagged=flagged, validation=validation)
    grown.pairs = tuple(random.Random(1).sample(grown.pairs, len(grown.pairs)))
    assert grown.draw(IDS[::-1], flagged, validation) == first


def test_a_new_retriever_adds_its_hits_and_fills_up_the_samples() -> None:
    flagged, validation = world(8)
    grown, whole = Pool(), Pool()
    first = grown.draw(flagged={name: found for name, found in flagged.items() if name != "bm25"}, validation=validation)
    second = grown.draw(flagged=flagged, validation=validation)
    assert second == whole.draw(flagged=flagged, validation=validation)
    assert first.keys() <= second.keys()
    taken = {pair for pair, entry in first.items() if entry.stratum in pooled.SAMPLES} & {hit.pair for hit in flagged["bm25"]}
    added = [entry for pair, entry in second.items() if pair not in first]
    assert taken
    assert len([entry for entry in added if entry.stratum != pooled.POOLED]) == len(taken)
    assert {entry.pair for entry in added if entry.stratum == pooled.POOLED} <= {hit.pair for hit in flagged["bm25"]}


def test_new_functions_are_sampled_by_themselves_as_many_as_is_their_share() -> None:
    grown = Pool()
    first = grown.draw(IDS[:40])
    second = grown.draw(IDS)
    assert first.items() <= second.items(), "what was drawn stays as it was"
    added = {pair: entry for pair, entry in second.items() if pair not in first}
    assert {name for _, name in added} <= set(IDS[40:])
    # 20 of 60 are new, so 7 / 3 pairs rounded up.
    assert sizes(added, pooled.UNFLAGGED_SAMPLE) == {(query.search_id, 3 / 20): 3 for query in QUERIES}
    third = grown.draw([*IDS, "f999"])
    assert second.items() <= third.items()
    assert [entry for pair, entry in third.items() if pair not in second] == [
        PoolPair(query.search_id, "f999", (), pooled.UNFLAGGED_SAMPLE, 1.0) for query in QUERIES
    ]
    assert grown.draw([*IDS, "f999"]) == third


def test_new_functions_and_a_new_retriever_at_once() -> None:
    flagged, validation = world(9)
    grown = Pool()
    first = grown.draw(IDS[:40], {name: found for name, found in flagged.items() if name != "bm25"}, validation)
    second = grown.draw(IDS, flagged, validation)
    assert first.keys() - second.keys() == set()
    assert all(entry.probability is not None for entry in second.values() if entry.stratum is not None)
    for query in QUERIES:
        own = {pair: entry for pair, entry in second.items() if entry.search_id == query.search_id}
        loose, strict = (
            {hit.pair for name in names for hit in flagged[name]} for names in (["grep-any"], ["grep-all", "bm25"])
        )
        for stratum, size in ((pooled.GREP_ANY_SAMPLE, 5), (pooled.UNFLAGGED_SAMPLE, 7)):
            cells = [
                {
                    (query.search_id, name)
                    for name in names
                    if (query.search_id, name) not in validation | strict
                    and ((query.search_id, name) in loose) == (stratum == pooled.GREP_ANY_SAMPLE)
                }
                for names in (IDS[:40], IDS[40:])
            ]
            wanted = [size, -(-size * len(cells[1]) // (len(cells[0]) + len(cells[1])))]
            for cell, count in zip(cells, wanted, strict=True):
                chosen = {pair: entry for pair, entry in own.items() if entry.stratum == stratum and pair in cell}
                assert len(chosen) == min(count, len(cell))
                assert {entry.probability for entry in chosen.values()} == {len(chosen) / len(cell)}


def test_what_was_pooled_stays_pooled_with_who_returned_it() -> None:
    grown = Pool()
    grown.draw(
        flagged={"grep-agent": [Hit("q0", "f001", 3, 0.5)], "grep-any": [Hit("q0", "f001", 9)]}, searches=1
    )  # fmt: skip
    edited = {"grep-agent": [Hit("q0", "f002", 1, 0.25)], "grep-any": [Hit("q0", "f001", 8)]}
    second = grown.draw(flagged=edited, searches=1)
    assert second["q0", "f001"] == PoolPair("q0", "f001", ("grep-agent", "grep-any"), pooled.POOLED, 1.0, (3, 8), (0.5, None))
    assert second["q0", "f002"] == PoolPair("q0", "f002", ("grep-agent",), pooled.POOLED, 1.0, (1,), (0.25,))
    assert sizes(second, pooled.UNFLAGGED_SAMPLE) == {("q0", 7 / 58): 7}


def test_smaller_samples_lose_nothing_and_larger_ones_go_on() -> None:
    grown = Pool()
    first = grown.draw()
    assert grown.draw(settings=PoolSettings(unflagged_sample=2)) == first
    larger = grown.draw(settings=PoolSettings(unflagged_sample=9))
    assert first.keys() < larger.keys()
    assert sizes(larger, pooled.UNFLAGGED_SAMPLE) == {(query.search_id, 9 / 60): 9 for query in QUERIES}


def test_a_sampled_pair_that_only_grep_any_returns_now_counts_in_that_sample() -> None:
    grown = Pool()
    first = grown.draw()
    loose = {"grep-any": [Hit("q0", name, 1) for name in IDS[:50]]}
    second = grown.draw(flagged=loose)
    assert first.keys() <= second.keys()
    moved = {pair for pair in first if pair[0] == "q0" and pair[1] in IDS[:50]}
    assert len(moved) > 5
    # More were drawn of these than the five that are asked for, and they have the smallest lots among them.
    assert sizes(second, pooled.GREP_ANY_SAMPLE) == {("q0", len(moved) / 50): len(moved)}
    assert moved == {entry.pair for entry in second.values() if entry.stratum == pooled.GREP_ANY_SAMPLE}
    assert sizes(second, pooled.UNFLAGGED_SAMPLE)["q0", 7 / 10] == 7


def test_where_a_stratum_gains_old_functions_what_they_push_out_stays_without_a_probability() -> None:
    loose = {"grep-any": [Hit("q0", name, 1) for name in IDS[30:]]}
    grown = Pool()
    first = grown.draw(flagged=loose, searches=1)
    second = grown.draw(searches=1)
    assert first.keys() <= second.keys()
    counted = {entry for entry in second.values() if entry.probability is not None}
    assert counted == set(Pool().draw(searches=1).values())
    kept = {entry.pair for entry in second.values()} - {entry.pair for entry in counted}
    assert kept == first.keys() - {entry.pair for entry in counted} != set()
    assert grown.draw(searches=1) == second


def test_pairs_that_experts_rate_later_stay_what_they_were() -> None:
    flagged = {"bm25": [Hit("q0", "f000", 1), Hit("q0", "f001", 2)]}
    grown = Pool()
    first = grown.draw(IDS[:50], flagged, {("q0", "f001")}, searches=1)
    drawn = min(pair for pair, entry in first.items() if entry.stratum == pooled.UNFLAGGED_SAMPLE)
    not_drawn = min(("q0", name) for name in IDS[:50] if ("q0", name) not in first)
    rated = {("q0", "f000"), ("q0", "f001"), drawn, not_drawn, ("q0", "f055")}
    second = grown.draw(IDS, flagged, rated, searches=1)
    assert second[drawn] == first[drawn]
    assert second[not_drawn] == PoolPair(*not_drawn, (), pooled.UNFLAGGED_SAMPLE, None)
    assert {pair for pair in rated if second[pair].stratum is None} == {("q0", "f000"), ("q0", "f001"), ("q0", "f055")}
    assert sizes(second, pooled.UNFLAGGED_SAMPLE) == {("q0", 7 / 48): 7, ("q0", 2 / 9): 2, ("q0", None): 1}
    assert grown.draw(IDS, flagged, rated, searches=1) == second


def test_a_pair_whose_expert_rating_is_taken_back_stays() -> None:
    grown = Pool()
    grown.draw(validation={("q0", name) for name in IDS[:40]})
    after = grown.draw()
    assert {("q0", name) for name in IDS[:40]} <= after.keys()
    assert sizes(after, pooled.UNFLAGGED_SAMPLE)["q0", 7 / 60] == 7
    assert after == grown.draw()


def test_a_new_search_is_drawn_like_the_others() -> None:
    grown = Pool()
    grown.draw(IDS[:40], searches=1)
    grown.draw(IDS, searches=1)
    whole = grown.draw(IDS, validation={("q1", "f000")}, searches=2)
    assert whole["q1", "f000"].stratum is None
    assert sizes(whole, pooled.UNFLAGGED_SAMPLE) == {
        ("q0", 7 / 40): 7, ("q0", 3 / 20): 3, ("q1", 7 / 39): 7, ("q1", 3 / 20): 3,
    }  # fmt: skip


def test_only_what_the_dataset_still_has_is_kept() -> None:
    flagged = {"bm25": [Hit("q0", "f001", 1), Hit("q1", "f001", 1), Hit("q0", "f002", 1)]}
    grown = Pool()
    first = grown.draw(flagged=flagged, validation={("q2", "f000")}, searches=2)
    second = grown.draw(IDS[2:], validation={("q0", "f002")}, settings=PoolSettings(unflagged_sample=0), searches=1)
    assert second["q0", "f002"] == PoolPair("q0", "f002", (), None, None)
    assert second.keys() == {pair for pair in first if pair[0] == "q0" and pair[1] > "f001"}
    back = grown.draw(searches=1)
    [returned] = [entry for entry in back.values() if entry.function_id in {"f000", "f001"}]
    assert returned.probability == 1 / 2, "functions that come back are new ones"


@given(st.data())
def test_whatever_happens_nothing_is_lost_and_the_samples_have_their_sizes(data: st.DataObject) -> None:
    """Four drawings, each over more functions, of more retrievers and with more ratings."""
    flagged, validation = world(data.draw(st.integers(0, 9), "world"))
    ends = sorted(data.draw(st.lists(st.integers(1, len(IDS)), min_size=4, max_size=4), "functions"))
    names = ["grep-any", *data.draw(st.permutations(["bm25", "grep-all"]), "retrievers")]
    known = data.draw(st.integers(1, 3), "retrievers at first")
    grown, before, rated = Pool(), dict[Pair, PoolPair](), set[Pair]()
    for end in ends:
        rated |= {pair for pair in validation if pair[1] in IDS[:end] and data.draw(st.booleans())}
        now = grown.draw(IDS[:end], {name: flagged[name] for name in names[:known]}, rated)
        assert before.keys() <= now.keys()
        for pair, entry in now.items():
            if entry.probability is None:
                late = pair in rated and pair not in before
                assert entry.stratum is None or late or before[pair].probability is None
            else:
                assert 0 < entry.probability <= 1
        for (_, probability), count in (sizes(now, pooled.UNFLAGGED_SAMPLE) + sizes(now, pooled.GREP_ANY_SAMPLE)).items():
            assert probability is None or (count / probability) == pytest.approx(round(count / probability))
        before, known = now, min(3, known + 1)
