"""The retriever llm: which answers are hits, and which pairs are worth a question."""

import numpy
from hypothesis import given
from hypothesis import strategies as st

from pools._dataset import files
from pools._dataset.records import Function, Query
from pools._engines.vectors import Vectors
from pools._engines.yes_or_no import YesOrNo
from pools._retrievers import llm
from pools._sampling.hits import Hit
from tests.builders.hits_made import fused


def test_a_hit_is_a_yes_or_probable_enough() -> None:
    answers = {
        ("q0", "f0"): YesOrNo(True, 0.9),
        ("q0", "f1"): YesOrNo(False, 0.3),
        ("q0", "f2"): YesOrNo(False, 0.2999),
        ("q0", "f3"): YesOrNo(True, 0.1),
        ("q0", "f4"): YesOrNo(True, None),
        ("q0", "f5"): YesOrNo(False, None),
        ("q1", "f9"): YesOrNo(True, 0.5),
        ("q1", "f8"): YesOrNo(True, 0.5),
        ("q1", "f7"): YesOrNo(None, 0.99),
    }
    assert llm.hits(answers, 0.3) == (
        Hit("q0", "f4", 1, 1.0, None),
        Hit("q0", "f0", 2, 1.0, 0.9),
        Hit("q0", "f1", 3, 0.0, 0.3),
        Hit("q0", "f3", 4, 1.0, 0.1),
        Hit("q1", "f8", 1, 1.0, 0.5),
        Hit("q1", "f9", 2, 1.0, 0.5),
    )


@given(st.permutations([f"f{n:02}" for n in range(40)]), st.permutations([f"f{n:02}" for n in range(40)]), st.integers(1, 45))
def test_the_best_are_those_of_reciprocal_rank_fusion(first: list[str], second: list[str], most: int) -> None:
    query = Query("go", "q0", "search", "test", {})
    found = llm.best([query], [{"q0": first[:30]}, {"q0": second}], most=most)
    assert found == tuple(sorted(("q0", name) for name in fused([first[:30], second])[:most]))


def test_nothing_gets_in_from_below_the_depth_of_both() -> None:
    most = 5
    deep = llm.depth(most)
    both = 2 / (llm.FUSION + deep + 1)
    assert both < 1 / (llm.FUSION + most) <= 2 / (llm.FUSION + deep)


def test_the_nearest_go_by_cosine_then_by_id() -> None:
    codes = {"f3": "up", "f1": "right", "f2": "slant", "f0": "up "}
    rows = {"search": [0.0, 1.0], "up": [0.0, 1.0], "up ": [0.0, 1.0], "right": [1.0, 0.0], "slant": [0.6, 0.8]}
    keyed = {files.sha256(text.encode()): row for text, row in rows.items()}
    made = Vectors("e", tuple(sorted(keyed)), numpy.array([keyed[key] for key in sorted(keyed)], dtype=numpy.float32))
    functions = [function(name, code) for name, code in codes.items()]
    assert llm.nearest([Query("go", "q0", "search", "test", {})], functions, made=made, most=3) == {"q0": ["f0", "f3", "f2"]}


def function(name: str, code: str) -> Function:
    return Function(name, "go", code, {})
