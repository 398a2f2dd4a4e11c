"""Jobs of the batch interface against a real server: stopped anywhere and taken up again, with the ratings of a direct run."""

import asyncio
import contextlib
from pathlib import Path

import pytest

from judge import batch_api, entries
from judge.client import Client
from judge.ledger import Ledger
from judge.run import Outcome
from pools.errors import Stopped
from pools.settings import JudgeSettings, PriceSettings
from tests.fake_api import ERRORS, FakeApi, share
from tests.judging import SEED, QuickClock, identity, items, rate, sealed, truth

JUDGE = identity()
ID = JUDGE.judge_id
SETTINGS = JudgeSettings(pairs_per_batch=10, timeout=2.0)


def run_jobs(fake: FakeApi, path: Path, count: int = 95, said: list[str] | None = None) -> Outcome:
    note = (said if said is not None else []).append

    async def all_of_them() -> Outcome:
        async with Client(fake.url, "sk-secret", "m", JUDGE.sampling, timeout=2.0, clock=QuickClock()) as client:
            with sealed(path, JUDGE) as book:
                return await batch_api.rate(
                    items(count), "pool", JUDGE, client, book, SETTINGS, SEED, PriceSettings(prompt=1.0), note
                )

    return asyncio.run(all_of_them())


def test_a_job_gives_the_ratings_of_a_direct_run(tmp_path: Path) -> None:
    with FakeApi() as fake:
        outcome = run_jobs(fake, tmp_path / "jobs.jsonl")
        assert len(fake.jobs.made) == 1
        assert len(set(fake.asked_pairs)) == len(fake.asked_pairs) == 95
        direct = rate(fake, tmp_path / "direct.jsonl", items(95))
    assert (outcome.rated, outcome.failed, outcome.requests, outcome.pairs) == (95, {}, 10, 95)
    assert outcome.usage == direct.usage
    assert outcome.cost == pytest.approx(outcome.usage.prompt / 1e6)
    ratings = Ledger.read(tmp_path / "jobs.jsonl").ratings(ID)
    assert ratings == Ledger.read(tmp_path / "direct.jsonl").ratings(ID) == truth(items(95))


@pytest.mark.parametrize("end", ["expired", "lossy"])
def test_what_a_job_leaves_open_goes_into_the_next(tmp_path: Path, end: str) -> None:
    said: list[str] = []
    with FakeApi() as fake:
        fake.jobs.ends = (end, "completed")
        outcome = run_jobs(fake, tmp_path / "l.jsonl", said=said)
        assert len(fake.jobs.made) == 2
        assert len(fake.asked_pairs) == 95, "no pair twice"
    assert outcome.rated == 95
    assert any("5 of 10 batches came back without a reply" in line for line in said)


def test_a_job_without_any_reply_stops_with_its_reason_and_another_is_made_next_time(tmp_path: Path) -> None:
    with FakeApi() as fake:
        fake.jobs.ends = ("failed", "completed")
        with pytest.raises(Stopped, match=r"without any reply \(the file is not to our taste\)"):
            run_jobs(fake, tmp_path / "l.jsonl")
        assert run_jobs(fake, tmp_path / "l.jsonl").rated == 95


@pytest.mark.parametrize("seed", range(3))
def test_faults_of_single_rows(tmp_path: Path, seed: int) -> None:
    faults = ("500", "overflow", "filter", "missing", "conflict", "cut", "refusal", "filtered", "words", "no-choices")
    with FakeApi(share(seed, *faults, of=0.4)) as fake:
        outcome = run_jobs(fake, tmp_path / "l.jsonl", 150)
    book = Ledger.read(tmp_path / "l.jsonl")
    expected = truth(items(150))
    ratings = book.ratings(ID)
    assert set(ratings) | set(outcome.failed) == set(expected)
    assert ratings == {pair: rating for pair, rating in expected.items() if pair in ratings}
    assert book.failed(ID) == outcome.failed
    assert not book.standing(ID).repeats
    assert len(outcome.failed) <= 15
    assert book.standing(ID).jobs == {}


def test_a_pair_that_spoils_its_batch_ends_up_alone(tmp_path: Path) -> None:
    with FakeApi(poison=lambda _, code: "f13(" in code) as fake:
        outcome = run_jobs(fake, tmp_path / "l.jsonl", 40)
    assert outcome.rated == 39
    assert list(outcome.failed) == [items(40)[13].pair]
    assert "content management policy" in outcome.failed[items(40)[13].pair]


class Crash(Exception):
    pass


@pytest.mark.parametrize("step", range(1, 17))
def test_stopped_at_any_step_it_goes_on_from_there(tmp_path: Path, step: int) -> None:
    """The process dies right after one of its requests was answered, or its ledger was written to."""
    path = tmp_path / "l.jsonl"
    left = [step]

    class Dying(Ledger):
        def store(self, staged: list[entries.Record]) -> None:  # type: ignore[override]
            super().store(staged)
            left[0] -= 1
            if not left[0]:
                raise Crash

    with FakeApi() as fake:
        sealed(path, JUDGE).close()

        async def dying() -> None:
            async with Client(fake.url, "k", "m", JUDGE.sampling, timeout=2.0, clock=QuickClock()) as client:
                with Dying.open(path) as book:
                    await batch_api.rate(
                        items(95), "pool", JUDGE, client, book, SETTINGS, SEED, PriceSettings(), lambda _: None
                    )

        with pytest.raises(Crash) if step <= 13 else _nothing():
            asyncio.run(dying())
        outcome = run_jobs(fake, path)
        assert outcome.rated == 95
        assert len(fake.jobs.made) == 1
        assert len(fake.asked_pairs) == 95, "no pair twice"
    assert Ledger.read(path).ratings(ID) == truth(items(95))
    assert not Ledger.read(path).standing(ID).repeats


def test_a_job_that_was_made_but_not_noted_is_found_again(tmp_path: Path) -> None:
    path = tmp_path / "l.jsonl"
    with FakeApi() as fake:
        fake.jobs.ends = ("never",)
        with pytest.raises(Stopped, match="goes on at the endpoint; the same command collects it"):
            interrupted(fake, path)
        content = path.read_bytes().splitlines(keepends=True)
        assert b'"kind":"job"' in content[-1]
        path.write_bytes(b"".join(content[:-1]))
        fake.jobs.ends = ("completed",)
        assert run_jobs(fake, path).rated == 95
        assert len(fake.jobs.made) == 1


def interrupted(fake: FakeApi, path: Path) -> None:
    """Run until the job is in progress, then press Ctrl-C."""
    import signal

    async def pressed() -> None:
        async with Client(fake.url, "k", "m", JUDGE.sampling, timeout=2.0, clock=QuickClock()) as client:
            with sealed(path, JUDGE) as book:
                await batch_api.rate(
                    items(95), "pool", JUDGE, client, book, SETTINGS, SEED, PriceSettings(),
                    lambda _: signal.raise_signal(signal.SIGINT),
                )  # fmt: skip

    asyncio.run(pressed())


def test_rows_that_nobody_sent_are_left_out(tmp_path: Path) -> None:
    said: list[str] = []
    with FakeApi() as fake:
        sound = fake.jobs._run

        def strange(job: dict[str, object], end: str) -> None:
            sound(job, end)
            content = fake.jobs._files[str(job["output_file_id"])]
            row = content.splitlines(keepends=True)[0]
            fake.jobs._files[str(job["output_file_id"])] = b'nonsense\n{"custom_id": "zzz"}\n[]\n' + row + content

        fake.jobs._run = strange  # type: ignore[method-assign]
        outcome = run_jobs(fake, tmp_path / "l.jsonl", said=said)
    assert outcome.rated == 95
    assert sum("cannot be read" in line for line in said) == 2
    assert any("'zzz' was never sent" in line for line in said)
    assert Ledger.read(tmp_path / "l.jsonl").totals(ID).requests == 10


def test_what_stops_a_job_is_said(tmp_path: Path) -> None:
    with FakeApi(instead=lambda path: ERRORS["quota"]() if path == "/v1/batches" else None) as fake:
        with pytest.raises(Stopped, match="no quota left"):
            run_jobs(fake, tmp_path / "l.jsonl")
        assert len(Ledger.read(tmp_path / "l.jsonl").standing(ID).jobs) == 1


def test_jobs_that_only_bring_errors_are_not_made_for_ever(tmp_path: Path) -> None:
    with FakeApi(lambda _: "500") as fake:
        with pytest.raises(Stopped, match="without any reply"):
            run_jobs(fake, tmp_path / "l.jsonl")
        assert len(fake.jobs.made) == 3


def _nothing() -> "contextlib.AbstractContextManager[None]":
    return contextlib.nullcontext()
