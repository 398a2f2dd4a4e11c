"""The embedding in `judge pool` and behind an endpoint: its hits, its files, and what is said when it is left out."""

import json
from pathlib import Path

import pytest

from pools._dataset import dataset
from pools._dataset.settings import EmbeddingSettings
from pools._engines import vectors
from pools._sampling import hits
from prompts import scales
from tests.builders.command import judge
from tests.builders.fake_api import FakeApi, answer_of
from tests.builders.letters import Body, serve, sound
from tests.builders.samples import plain_sample

Capture = pytest.CaptureFixture[str]
ONLY = '\n[pool]\nretrievers = ["embedding"]\n'


def test_pool_asks_an_endpoint_for_each_text_once(capfd: Capture, tmp_path: Path) -> None:
    with serve(sound) as server:
        settings = EmbeddingSettings("letters", server.url)
        folder = plain_sample(tmp_path, f'{ONLY}\n[embedding]\nmodel = "letters"\nbase_url = "{server.url}"\nthreshold = 0.2\n')
        done = judge(capfd, "pool", "--data", folder, "--lang", "python", "--json")
        assert done.code == 0, done.err
        texts = [text for _, body in server.asked for text in body["input"]]
        assert len(texts) == len(set(texts)) == 20 + 87
        assert max(len(body["input"]) for _, body in server.asked) == 64
        again = judge(capfd, "pool", "--data", folder, "--lang", "python", "--json")
        first, second = (json.loads(out)["languages"][0] for out in (done.out, again.out))
        assert (first.pop("new") > 0, second.pop("new")) == (True, 0)
        assert second == first
        assert sum(len(body["input"]) for _, body in server.asked) == len(texts)
    found = hits.read(hits.path(folder, "python", retriever="embedding"))
    assert json.loads(done.out)["languages"][0]["hits"] == {"embedding": len(found)}
    assert all(hit.probability is not None and hit.probability >= 0.2 for hit in found)
    assert len({hit.search_id for hit in found}) > 5
    held = vectors.read(vectors.path(folder, "python", settings=settings))
    assert held is not None
    assert (held.embedder, held.rows.shape) == (f"letters at {server.url}", (107, 27))
    document = json.loads((folder / "work" / "python" / "calibration" / "embedding.json").read_bytes())
    assert (document["model"], document["learned_from"], document["pairs"]) == (held.embedder, "tuning", 168)
    assert "embedding calibrated on the tuning split" in done.err


def test_an_endpoint_that_is_down_stops_the_command_and_leaves_no_hits(capfd: Capture, tmp_path: Path) -> None:
    with serve(lambda _number, _body: (401, {"error": {"message": "who are you"}})) as server:
        folder = plain_sample(tmp_path, f'{ONLY}\n[embedding]\nmodel = "letters"\nbase_url = "{server.url}"\n')
        done = judge(capfd, "pool", "--data", folder, "--lang", "python")
    assert done.code == 4
    assert "who are you" in done.err
    assert not (folder / "work" / "python" / "hits").exists()


def test_a_missing_package_leaves_the_embedding_out_with_a_note(capfd: Capture, tmp_path: Path) -> None:
    folder = plain_sample(
        tmp_path, '\n[pool]\nretrievers = ["bm25", "embedding"]\n\n[embedding]\nmodel = "absent/model"\n'
    )  # fmt: skip
    done = judge(capfd, "pool", "--data", folder, "--lang", "go", "--json")
    assert done.code == 0, done.err
    assert list(json.loads(done.out)["languages"][0]["hits"]) == ["bm25"]
    assert "go: embedding left out: embedding.model is 'absent/model'" in done.err
    assert "pip install sentence-transformers" in done.err


def test_too_few_ratings_leave_the_embedding_out_with_a_note(capfd: Capture, folder: Path) -> None:
    (folder / "judge.toml").write_text('[pool]\nretrievers = ["bm25", "embedding"]\n')
    done = judge(capfd, "pool", "--data", folder)
    assert done.code == 0, done.err
    assert "python: embedding left out: its hits are told by expert ratings, of at least 5 searches, 10 relevant" in done.err
    assert not hits.path(folder, "python", retriever="embedding").exists()


def test_with_too_few_ratings_no_vector_is_made(capfd: Capture, folder: Path) -> None:
    with serve(sound) as server:
        settings = f'{ONLY}\n[embedding]\nmodel = "letters"\nbase_url = "{server.url}"\n'
        (folder / "judge.toml").write_text(settings, encoding="utf-8")
        done = judge(capfd, "pool", "--data", folder)
    assert done.code == 0, done.err
    assert "python: embedding left out: its hits are told by expert ratings" in done.err
    assert server.asked == []
    assert not (folder / "work" / "python" / "vectors").exists()


def test_with_too_few_ratings_the_vectors_that_llm_goes_by_are_made(capfd: Capture, folder: Path) -> None:
    with serve(sound) as server, FakeApi(yesno=answer_of) as fake:
        settings = f'\n[embedding]\nmodel = "letters"\nbase_url = "{server.url}"\n[llm]\nmodel = "m"\nprefilter = 1\n'
        (folder / "judge.toml").write_text(f'[pool]\nretrievers = ["embedding", "llm"]\n{settings}', encoding="utf-8")
        done = judge(capfd, "pool", "--data", folder, "--base-url", fake.url)
    assert done.code == 0, done.err
    assert "python: embedding left out: its hits are told by expert ratings" in done.err
    assert sorted(text for _, body in server.asked for text in body["input"]) == sorted(texts_of(folder))
    assert len(fake.asked_pairs) == 2
    assert "llm.prefilter goes by bm25 alone" not in done.err


def texts_of(folder: Path) -> set[str]:
    """The searches and functions of the dataset that the fixture `folder` holds."""
    data = dataset.load(folder, scales.load("relevance"))
    return {query.search for query in data.queries_of("python")} | {each.code for each in data.functions_of("python")}


def test_a_cosine_that_tells_nothing_leaves_the_embedding_out_with_a_note(capfd: Capture, tmp_path: Path) -> None:
    def contrary(_number: int, body: Body) -> tuple[int, Body]:
        return 200, {"data": [{"index": place, "embedding": [1.0, 0.0]} for place in range(len(body["input"]))]}

    with serve(contrary) as server:
        folder = plain_sample(tmp_path, f'{ONLY}\n[embedding]\nmodel = "same"\nbase_url = "{server.url}"\n')
        done = judge(capfd, "pool", "--data", folder, "--lang", "go")
    assert done.code == 0, done.err
    assert "go: embedding left out: its cosine does not tell relevant pairs from others" in done.err
