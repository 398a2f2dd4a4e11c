"""The retrievers' contributions, against sets of pairs counted one by one."""

import json

from hypothesis import given
from hypothesis import strategies as st

from pools import contribution
from pools.hits import Hit

PAIRS = st.tuples(st.sampled_from(["q0", "q1", "q2"]), st.sampled_from(["f0", "f1", "f2", "f3"]))
RETRIEVERS = st.dictionaries(st.sampled_from(["bm25", "embedding", "grep-all", "grep-any"]), st.lists(PAIRS, max_size=12))


@given(RETRIEVERS, st.sets(PAIRS))
def test_figures_are_those_of_sets(returned: dict[str, list[tuple[str, str]]], relevant: set[tuple[str, str]]) -> None:
    hits = {name: [Hit(*pair, rank) for rank, pair in enumerate(pairs, 1)] for name, pairs in returned.items()}
    found = contribution.compare(hits, relevant)
    sets = {name: set(pairs) for name, pairs in returned.items()}
    assert [entry.retriever for entry in found.retrievers] == sorted(sets)
    for entry in found.retrievers:
        own = sets[entry.retriever]
        others = set[tuple[str, str]]().union(*(pairs for name, pairs in sets.items() if name != entry.retriever))
        assert (entry.returned, entry.unique, entry.relevant) == (len(own), len(own - others), len(own & relevant))
        assert entry.overlap == {name: len(own & pairs) for name, pairs in sets.items()}
    assert found.relevant == len(relevant)
    assert found.found == len(relevant & set[tuple[str, str]]().union(*sets.values()))


def test_table_and_document() -> None:
    hits = {"grep-any": [Hit("q0", "f0", 1), Hit("q0", "f1", 2)], "bm25": [Hit("q0", "f1", 1)]}
    found = contribution.compare(hits, {("q0", "f0"), ("q1", "f9")})
    assert contribution.lines(found.document()) == [
        "          returned  unique  of 2 expert-relevant",
        "bm25             1       0                     0",
        "grep-any         2       1                     1",
    ]
    assert json.loads(json.dumps(found.document())) == {
        "expert_relevant": 2,
        "expert_relevant_returned": 1,
        "retrievers": {
            "bm25": {"returned": 1, "unique": 0, "expert_relevant": 0, "overlap": {"bm25": 1, "grep-any": 1}},
            "grep-any": {"returned": 2, "unique": 1, "expert_relevant": 1, "overlap": {"bm25": 1, "grep-any": 2}},
        },
    }
