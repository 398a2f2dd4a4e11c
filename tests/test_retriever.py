"""What retrievers are given and how they use it: work that is shared, what they lack, what they say."""

from functools import partial
from pathlib import Path

import pytest

from pools._dataset import folder as folders
from pools._dataset.partition import Partition
from pools._engines.yes_or_no import Answered, YesOrNo
from pools._retrievers import registry
from pools._retrievers.retriever import Access, LeftOut, Llm
from pools._sampling.hits import Hit


@pytest.fixture
def partition(folder: Path) -> Partition:
    return folders.load(folder)["python"]


def with_settings(folder: Path, toml: str) -> Partition:
    (folder / "judge.toml").write_text(toml, encoding="utf-8")
    return folders.load(folder)["python"]


def run(name: str, partition: Partition, access: Access) -> tuple[Hit, ...] | LeftOut:
    found = registry.chosen([name])[0].hits(partition, access)
    return found if isinstance(found, LeftOut) else tuple(found)


def test_work_is_done_once_under_a_name_and_again_for_others() -> None:
    made: list[str] = []
    access = Access()

    def make(name: str) -> str:
        made.append(name)
        return name

    assert [access.once(name, partial(make, name)) for name in ("a", "b", "a")] == ["a", "b", "a"]
    assert made == ["a", "b"]
    assert Access().once("a", lambda: make("c")) == "c"


@pytest.mark.parametrize("first", ["grep-all", "grep-any"])
def test_grep_all_and_grep_any_take_one_pass(partition: Partition, first: str) -> None:
    access = Access()
    run(first, partition, access)
    (both,) = access.kept.values()
    for name in ("grep-all", "grep-any"):
        assert run(name, partition, access) is both[name]
        assert run(name, partition, Access()) == both[name]
    assert both["grep-any"]


def test_a_search_without_a_pattern_asks_the_llm_that_is_named_and_leaves_out_where_there_is_none(partition: Partition) -> None:
    notes: list[str] = []
    left = run("grep-agent", partition, Access(note=notes.append))
    assert isinstance(left, LeftOut)
    assert left.reason.startswith("no patterns in ")
    asked: list[str] = []

    def ask(prompt: str) -> str:
        asked.append(prompt)
        return '{"q0": "reverse", "q1": ""}'

    found = run("grep-agent", partition, Access(llm=Llm("m", ask), note=notes.append))
    assert found == (Hit("q0", "python/0001", 1, 2.0),)
    assert len(asked) == 2
    (note,) = notes
    assert note.startswith("python: grep-agent has no pattern for q1; write them into ")


def test_an_embedding_that_needs_what_is_not_installed_is_left_out_with_the_remedy(folder: Path) -> None:
    partition = with_settings(folder, '[embedding]\nmodel = "absent/model"\n')
    left = Access().vectors(partition)
    assert isinstance(left, LeftOut)
    assert "pip install sentence-transformers" in left.reason


def test_vectors_are_told_of_as_they_are_made_and_made_once(folder: Path) -> None:
    partition = with_settings(folder, '[embedding]\nmodel = "lengths"\nbase_url = "http://127.0.0.1:1"\n')
    asked: list[int] = []
    told: list[tuple[str, int, int, str]] = []

    def vectorise(texts: object) -> list[list[float]]:
        assert isinstance(texts, list)
        asked.append(len(texts))
        return [[1.0, float(len(text))] for text in texts]

    def progress(stage: str, done: int, *, total: int, unit: str) -> None:
        told.append((stage, done, total, unit))

    access = Access(vectorise=vectorise, progress=progress)
    first, second = access.vectors(partition), access.vectors(partition)
    assert first is second
    assert (asked, told) == ([6], [("embedding", 6, 6, "text")])


def test_llm_asks_through_the_function_that_it_is_given_and_says_what_came_of_it(folder: Path) -> None:
    partition = with_settings(folder, "[llm]\nprefilter = 0\nthreshold = 0.5\n")
    assert isinstance(run("llm", partition, Access()), LeftOut)
    notes: list[str] = []
    asked: list[tuple[str, str]] = []

    def answer(pairs: object) -> Answered:
        assert isinstance(pairs, tuple)
        asked.extend(pairs)
        known = {pairs[0]: YesOrNo(True, 0.9), pairs[1]: YesOrNo(False, 0.5), pairs[2]: YesOrNo(False, None)}
        return Answered(known, {pairs[3]: "off-scale after 3 attempts"})

    found = run("llm", partition, Access(answer=answer, note=notes.append))
    assert found == (Hit("q0", "python/0000", 1, 1.0, 0.9), Hit("q0", "python/0001", 2, 0.0, 0.5))
    assert asked == [(query.search_id, function.id) for query in partition.queries for function in partition.functions]
    assert [note.partition("; these")[0] for note in notes] == [
        "python: llm was asked about 8 pairs: 1 yes, 2 hits",
        "python: 1 pairs got no yes or no (off-scale after 3 attempts), and are no hits of llm",
        "python: 1 answers came without log-probabilities of yes and no",
    ]
