"""Vectors on disk: each text embedded once, whatever the order, and a killed run loses one chunk."""

import signal
import subprocess
import sys
import textwrap
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pools._dataset.records import Function, Query
from pools._dataset.settings import EmbeddingSettings
from pools._engines import vectors
from pools._engines.vectors import Vectors
from pools.errors import DataError, UsageError
from tests.builders.places import ROOT
from tests.builders.vectors_made import TEXTS, Hashes


def test_vectors_are_of_length_1_and_found_by_their_text(tmp_path: Path) -> None:
    found = vectors.complete(tmp_path / "v.parquet", Hashes(), texts=TEXTS)
    rows = found.of(TEXTS[::-1])
    assert rows.dtype == numpy.float32
    assert numpy.linalg.norm(rows, axis=1) == pytest.approx([1] * len(TEXTS), abs=1e-6)
    expected = numpy.array(Hashes().embed([TEXTS[3]])[0])
    assert rows[-4] == pytest.approx(expected / numpy.linalg.norm(expected), abs=1e-6)
    with pytest.raises(KeyError):
        found.of(["another"])


def test_each_text_is_embedded_once_longest_first(tmp_path: Path) -> None:
    path, embedder, seen = tmp_path / "v.parquet", Hashes(), list[tuple[int, int]]()
    vectors.complete(path, embedder, texts=[*TEXTS, *TEXTS], progress=lambda done, of: seen.append((done, of)))
    asked = [text for chunk in embedder.asked for text in chunk]
    assert sorted(asked) == sorted(TEXTS)
    assert [len(text) for text in asked] == sorted(map(len, TEXTS), reverse=True)
    assert seen == [(6, 20), (12, 20), (18, 20), (20, 20)]
    again = Hashes()
    vectors.complete(path, again, texts=[*TEXTS, "new"])
    assert again.asked == [["new"]]


def test_the_order_and_the_chunks_do_not_show_in_the_bytes(tmp_path: Path) -> None:
    paths = [tmp_path / f"{name}.parquet" for name in "abcd"]
    for path, texts, chunk in zip(paths, (TEXTS, TEXTS[::-1], TEXTS, TEXTS[:9]), (6, 6, 20, 6), strict=True):
        vectors.complete(path, Hashes(chunk=chunk), texts=texts)
    vectors.complete(paths[3], Hashes(), texts=TEXTS)
    assert len({path.read_bytes() for path in paths}) == 1
    assert sorted(tmp_path.iterdir()) == paths


def test_an_interrupted_run_goes_on_where_it_stopped(tmp_path: Path) -> None:
    whole, path = tmp_path / "whole.parquet", tmp_path / "v.parquet"
    vectors.complete(whole, Hashes(), texts=TEXTS)
    first = Hashes(fail_at=2)
    with pytest.raises(KeyboardInterrupt):
        vectors.complete(path, first, texts=TEXTS)
    second = Hashes()
    vectors.complete(path, second, texts=TEXTS)
    assert [text for chunk in first.asked + second.asked for text in chunk] == sorted(
        TEXTS, key=lambda text: (-len(text), vectors.key_of(text))
    )
    assert path.read_bytes() == whole.read_bytes()
    assert not path.with_suffix("").exists()


def test_a_run_that_ended_before_its_chunks_were_merged_is_only_merged(tmp_path: Path) -> None:
    whole, path = tmp_path / "whole.parquet", tmp_path / "v.parquet"
    made = vectors.complete(whole, Hashes(), texts=TEXTS)
    for start, end in ((0, 12), (12, 20)):
        part = Vectors(made.embedder, made.keys[start:end], made.rows[start:end])
        vectors.write(path.with_suffix("") / f"{start}.parquet", part)
    unused = Hashes(fail_at=0)
    assert vectors.complete(path, unused, texts=TEXTS).keys == made.keys
    assert path.read_bytes() == whole.read_bytes()
    assert not path.with_suffix("").exists()
    before = path.stat().st_mtime_ns
    assert vectors.complete(path, unused, texts=TEXTS[:3]).keys == made.keys
    assert path.stat().st_mtime_ns == before


def test_a_killed_process_loses_one_chunk_at_most(tmp_path: Path) -> None:
    program = """
        import os, signal, sys
        from pathlib import Path
        from pools._engines import vectors
        from tests.builders.vectors_made import Hashes, TEXTS
        class Deadly(Hashes):
            def embed(self, texts):
                if len(self.asked) == 2:
                    os.kill(os.getpid(), signal.SIGKILL)
                return super().embed(texts)
        vectors.complete(Path(sys.argv[1]), Deadly(), texts=TEXTS)
    """
    path = tmp_path / "v.parquet"
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(program), str(path)], cwd=ROOT, check=False)
    assert done.returncode == -signal.SIGKILL
    rest = Hashes()
    found = vectors.complete(path, rest, texts=TEXTS)
    assert sum(map(len, rest.asked)) == len(TEXTS) - 12
    assert len(found.keys) == len(TEXTS)


def test_vectors_of_another_embedder_are_made_anew(tmp_path: Path) -> None:
    path = tmp_path / "v.parquet"
    vectors.complete(path, Hashes(), texts=TEXTS)
    with pytest.raises(KeyboardInterrupt):
        vectors.complete(path, Hashes("other", width=7, fail_at=1), texts=TEXTS)
    held = vectors.read(path)
    assert held is not None
    assert held.embedder == "hashes"
    found = vectors.complete(path, Hashes("third", width=3), texts=TEXTS)
    assert (found.embedder, found.rows.shape) == ("third", (20, 3))
    kept = vectors.read(path)
    assert kept is not None
    assert (kept.keys, kept.rows.tolist()) == (found.keys, found.rows.tolist())
    assert not path.with_suffix("").exists()


def test_long_texts_are_cut_and_lone_surrogates_do_no_harm(tmp_path: Path) -> None:
    embedder = Hashes()
    long, odd = "y" * (vectors.CHARACTERS + 5), "a\ud800b"
    found = vectors.complete(tmp_path / "v.parquet", embedder, texts=[long, long + "z", odd])
    assert embedder.asked == [["y" * vectors.CHARACTERS, "a?b"]]
    assert (found.of([long])[0] == found.of([long + "z"])[0]).all()


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (lambda texts: [[1.0, 2.0]] * (len(texts) - 1), "one vector a text"),
        (lambda texts: [1.0] * len(texts), "one vector a text"),
        (lambda texts: [[float("nan"), 1.0]] * len(texts), "without a direction"),
        (lambda texts: [[0.0, 0.0]] * len(texts), "without a direction"),
        (lambda texts: [[]] * len(texts), "one vector a text"),
    ],
)
def test_what_is_no_vector_is_refused(tmp_path: Path, rows: Callable[[Sequence[str]], Any], message: str) -> None:
    class Odd(Hashes):
        def embed(self, texts: Sequence[str]) -> Any:
            return rows(texts)

    with pytest.raises(UsageError, match=message):
        vectors.complete(tmp_path / "v.parquet", Odd(), texts=TEXTS)
    assert list(tmp_path.iterdir()) == []


def test_an_embedder_that_changes_its_width_is_refused(tmp_path: Path) -> None:
    vectors.complete(tmp_path / "v.parquet", Hashes(width=4), texts=TEXTS[:3])
    with pytest.raises(UsageError, match="4 and 5 figures"):
        vectors.complete(tmp_path / "v.parquet", Hashes(width=5), texts=TEXTS)


def test_a_file_that_holds_no_vectors_is_named(tmp_path: Path) -> None:
    path = tmp_path / "v.parquet"
    path.write_bytes(b"PAR1 not really")
    with pytest.raises(DataError, match=r"v\.parquet: not a file of vectors .* remove it"):
        vectors.complete(path, Hashes(), texts=TEXTS)


def test_models_of_like_names_have_files_of_their_own(tmp_path: Path) -> None:
    named = [
        EmbeddingSettings("a/b"), EmbeddingSettings("a-b"), EmbeddingSettings("a/b", "http://one"),
        EmbeddingSettings("../../a"), EmbeddingSettings("m" * 300),
    ]  # fmt: skip
    paths = [vectors.path(tmp_path, "go", settings=settings) for settings in named]
    assert len(set(paths)) == len(paths)
    assert {path.parent for path in paths} == {tmp_path / "work" / "go" / "vectors"}
    assert max(len(path.name) for path in paths) < 100


def test_similarity_needs_a_vector_of_everything(tmp_path: Path) -> None:
    queries = [Query("go", "q", "text a"), Query("go", "r", "text b")]
    functions = [Function("f", "go", "text a"), Function("g", "go", "text c")]
    made = vectors.complete(tmp_path / "v.parquet", Hashes(), texts=["text a", "text b", "text c"])
    found = vectors.between(made, queries, functions=functions)
    assert found is not None
    assert found.cosine(("q", "f")) == 1
    a, c = (numpy.array(row, float) for row in Hashes().embed(["text a", "text c"]))
    assert found.cosine(("q", "g")) == pytest.approx(a @ c / numpy.linalg.norm(a) / numpy.linalg.norm(c), abs=1e-6)
    assert vectors.between(made, queries, functions=[*functions, Function("h", "go", "text d")]) is None
    assert vectors.between(None, queries, functions=functions) is None


@given(st.lists(st.lists(st.text("ab", max_size=2), min_size=1, max_size=6, unique=True), min_size=1, max_size=5))
def test_merged_each_key_has_the_vector_of_the_first_that_has_it(parts: list[list[str]]) -> None:
    made = [
        Vectors("e", tuple(keys), numpy.array([[number, place] for place, _ in enumerate(keys)], numpy.float32))
        for number, keys in enumerate(parts)
    ]
    merged = vectors._merged("e", [Vectors("e", (), numpy.zeros((0, 1), numpy.float32)), *made])
    first: dict[str, list[int]] = {}
    for number, keys in enumerate(parts):
        for place, key in enumerate(keys):
            first.setdefault(key, [number, place])
    assert list(merged.keys) == sorted(first)
    assert merged.rows.tolist() == [first[key] for key in merged.keys]


def test_a_file_is_read_in_parts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "v.parquet"
    made = vectors.complete(path, Hashes(), texts=TEXTS)
    for rows in (1, 7, len(TEXTS), 100):
        monkeypatch.setattr(vectors, "ROWS", rows)
        found = vectors.read(path)
        assert found is not None
        assert (found.embedder, found.keys, found.rows.tolist()) == ("hashes", made.keys, made.rows.tolist())
        assert found.rows.dtype == numpy.float32
