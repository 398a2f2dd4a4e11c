"""The retrievers' contributions, against sets of pairs counted one by one."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pools._retrievers import grep_agent
from pools._sampling import contribution, hits
from pools._sampling.hits import Hit
from tests.builders.command import judge

PAIRS = st.tuples(st.sampled_from(["q0", "q1", "q2"]), st.sampled_from(["f0", "f1", "f2", "f3"]))
RETRIEVERS = st.dictionaries(st.sampled_from(["bm25", "embedding", "grep-all", "grep-any"]), st.lists(PAIRS, max_size=12))


@given(RETRIEVERS, st.sets(PAIRS))
def test_figures_are_those_of_sets(returned: dict[str, list[tuple[str, str]]], relevant: set[tuple[str, str]]) -> None:
    flagged = {name: [Hit(*pair, rank) for rank, pair in enumerate(pairs, 1)] for name, pairs in returned.items()}
    found = contribution.compare(flagged, relevant)
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
    flagged = {"grep-any": [Hit("q0", "f0", 1), Hit("q0", "f1", 2)], "bm25": [Hit("q0", "f1", 1)]}
    found = contribution.compare(flagged, {("q0", "f0"), ("q1", "f9")})
    assert contribution.lines(found) == [
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


def test_judge_pool_tells_who_returned_what(capfd: pytest.CaptureFixture[str], folder: Path) -> None:
    (folder / "judge.toml").write_text('[pool]\nretrievers = ["grep-agent", "grep-any", "bm25"]\ndepth = 1\n', encoding="utf-8")
    grep_agent.write(grep_agent.path(folder, "python"), [grep_agent.Pattern("q0", "reverse a string", "return")])
    done = judge(capfd, "pool", "--data", folder, "--json")
    assert done.code == 0, done.err
    (entry,) = json.loads(done.out)["languages"]
    flagged = {name: hits.read(hits.path(folder, "python", retriever=name)) for name in ("grep-agent", "grep-any", "bm25")}
    assert entry["hits"] == {name: len(found) for name, found in sorted(flagged.items())}
    counted = {name: [hit for hit in found if hit.rank == 1 or name == "grep-any"] for name, found in flagged.items()}
    assert len(counted["grep-agent"]) == 1 < len(flagged["grep-agent"])
    assert counted["grep-any"]
    experts = {("q0", "python/0001"), ("q1", "python/0002")}
    assert entry["contribution"] == contribution.compare(counted, experts).document()
    returned = {
        (pair["search_id"], pair["function_id"], name, by["rank"], by["score"])
        for pair in entry["pool"]
        for name, by in pair["returned_by"].items()
    }
    assert returned == {(*hit.pair, name, hit.rank, hit.score) for name, found in counted.items() for hit in found}
    table = judge(capfd, "pool", "--data", folder).out.split("\n")
    assert [line[2:] for line in table[1:] if line] == contribution.lines(contribution.compare(counted, experts))
