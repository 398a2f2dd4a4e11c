"""Jobs of the batch interface against a real server: stopped anywhere and taken up again, with the ratings of a direct run."""

import asyncio
import contextlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from judge._batching.batches import Item
from judge._endpoint.client import Client
from judge._judges.llm_judge import LlmJudge
from judge._ledger import entries
from judge._ledger.ledger import Ledger, records
from judge._ledger.tally import Purpose, Tally
from judge._rating import course, jobs, money
from judge._rating.controls import Controls, retests
from judge._rating.money import NO_LIMITS, Limits
from judge._rating.task import Outcome, Progress, Reports, Task
from pools._dataset.settings import JudgeSettings, PriceSettings
from pools.errors import Stopped, UsageError
from tests.builders.fake_api import ERRORS, SHORTENED, FakeApi, rating_of, share
from tests.builders.judging import SEED, QuickClock, identity, items, rate, sealed, truth

JUDGE = identity()
ID = JUDGE.judge_id
SETTINGS = JudgeSettings(pairs_per_batch=10, timeout=2.0)


def run_jobs(fake: FakeApi, path: Path, count: int = 95, said: list[str] | None = None, **further: Any) -> Outcome:
    return run_items(fake, path, items(count), said, **further)


def run_items(fake: FakeApi, path: Path, pairs: Sequence[Item], said: list[str] | None = None, **further: Any) -> Outcome:
    note = (said if said is not None else []).append
    prices = further.pop("prices", PriceSettings(prompt=1.0))

    async def all_of_them() -> Outcome:
        async with Client(fake.url, "sk-secret", model="m", sampling=JUDGE.sampling, timeout=2.0, clock=QuickClock()) as client:
            with sealed(path, JUDGE) as book:
                return await jobs.rate(
                    pairs,
                    "pool",
                    judge=LlmJudge(JUDGE, client),
                    ledger=book,
                    settings=SETTINGS,
                    seed=SEED,
                    prices=prices,
                    note=note,
                    **further,
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


def test_jobs_tell_how_far_they_are(tmp_path: Path) -> None:
    path = tmp_path / "l.jsonl"
    told: list[Progress] = []
    with FakeApi() as fake:
        fake.jobs.ends = ("expired", "completed")

        async def all_of_them() -> Outcome:
            async with Client(fake.url, "k", model="m", sampling=JUDGE.sampling, timeout=2.0, clock=QuickClock()) as client:
                with sealed(path, JUDGE) as book:
                    task = Task(items(40), "pool", SEED, SETTINGS)
                    jobs_of_it = jobs.Jobs(LlmJudge(JUDGE, client), book)
                    return await course.run(task, jobs_of_it, ledger=book, reports=Reports(told.append))

        outcome = asyncio.run(all_of_them())
    assert [(step.done, step.total) for step in told] == [(10, 40), (20, 40), (30, 40), (40, 40)]
    assert (told[-1].requests, told[-1].usage) == (outcome.requests, outcome.usage)


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
    assert not book.tally(ID).repeats
    assert len(outcome.failed) <= 15
    assert book.tally(ID).jobs == {}


def test_a_pair_that_spoils_its_batch_ends_up_alone(tmp_path: Path) -> None:
    with FakeApi(poison=lambda _, code: "f13(" in code) as fake:
        outcome = run_jobs(fake, tmp_path / "l.jsonl", 40)
    assert outcome.rated == 39
    assert list(outcome.failed) == [items(40)[13].pair]
    assert "content management policy" in outcome.failed[items(40)[13].pair]


def test_what_the_job_of_a_call_that_was_stopped_left_open_is_halved_by_the_next_call(tmp_path: Path) -> None:
    path, bad = tmp_path / "l.jsonl", items(40)[13].pair
    with FakeApi(poison=lambda _, code: "f13(" in code) as fake:
        for _ in range(8):
            fake.jobs.ends = ("never",)
            try:
                interrupted(fake, path, pairs=items(40))
            except Stopped:
                fake.jobs.ends = ("completed",)
                for job in fake.jobs.made:
                    if job["status"] == "in_progress":
                        fake.jobs._run(job, "completed")
            else:
                break
        assert len(fake.jobs.made) < 8
    assert list(Ledger.read(path).failed(ID)) == [bad]
    assert len(Ledger.read(path).ratings(ID)) == 39


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
            async with Client(fake.url, "k", model="m", sampling=JUDGE.sampling, timeout=2.0, clock=QuickClock()) as client:
                with Dying.open(path) as book:
                    await jobs.rate(
                        items(95),
                        "pool",
                        judge=LlmJudge(JUDGE, client),
                        ledger=book,
                        settings=SETTINGS,
                        seed=SEED,
                        prices=PriceSettings(),
                        note=lambda _: None,
                    )

        with pytest.raises(Crash) if step <= 13 else _nothing():
            asyncio.run(dying())
        outcome = run_jobs(fake, path)
        assert outcome.rated == 95
        assert len(fake.jobs.made) == 1
        assert len(fake.asked_pairs) == 95, "no pair twice"
    assert Ledger.read(path).ratings(ID) == truth(items(95))
    assert not Ledger.read(path).tally(ID).repeats


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


def interrupted(
    fake: FakeApi,
    path: Path,
    limits: Limits = NO_LIMITS,
    pairs: Sequence[Item] = (),
    purpose: Purpose = "pool",
) -> None:
    """Run until the job is in progress, then press Ctrl-C."""
    import signal

    async def pressed() -> None:
        async with Client(fake.url, "k", model="m", sampling=JUDGE.sampling, timeout=2.0, clock=QuickClock()) as client:
            with sealed(path, JUDGE) as book:
                await jobs.rate(
                    pairs or items(95),
                    purpose,
                    judge=LlmJudge(JUDGE, client),
                    ledger=book,
                    settings=SETTINGS,
                    seed=SEED,
                    prices=PriceSettings(),
                    note=lambda _: signal.raise_signal(signal.SIGINT),
                    limits=limits,
                )

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
        assert len(Ledger.read(tmp_path / "l.jsonl").tally(ID).jobs) == 1


def test_jobs_that_only_bring_errors_are_not_made_for_ever(tmp_path: Path) -> None:
    with FakeApi(lambda _: "500") as fake:
        with pytest.raises(Stopped, match="without any reply"):
            run_jobs(fake, tmp_path / "l.jsonl")
        assert len(fake.jobs.made) == 3


@pytest.mark.parametrize("refuses", [("json_schema",), ("json_schema", "json_object", "temperature")])
def test_a_form_of_request_that_the_endpoint_does_not_take_is_left_out_of_the_next_job(
    tmp_path: Path, refuses: tuple[str, ...]
) -> None:
    with FakeApi(refuses=refuses) as fake:
        outcome = run_jobs(fake, tmp_path / "l.jsonl")
        assert len(fake.jobs.made) == 1 + len(refuses)
    assert (outcome.rated, outcome.failed) == (95, {})
    assert {len(sent) for sent in batch_sizes(tmp_path / "l.jsonl")} == {10, 5}, "no batch is halved for the form"


def batch_sizes(path: Path) -> list[list[str]]:
    return [record["sent"] for record in records(path) if record["kind"] == "reply"]


def test_a_shortened_prompt_is_no_reply_but_is_paid_for(tmp_path: Path) -> None:
    path = tmp_path / "l.jsonl"
    long = items(40, size=3_000)
    with FakeApi(lambda number: SHORTENED if number == 1 else None) as fake:
        outcome = run_items(fake, path, long)
    discarded = [record for record in records(path) if record["kind"] == "discarded"]
    assert len(discarded) == 1
    assert "the endpoint read" in discarded[0]["reason"]
    assert (outcome.rated, outcome.failed) == (40, {})
    assert Ledger.read(path).ratings(ID) == truth(long)
    totals = Ledger.read(path).totals(ID)
    assert (totals.requests, totals.pairs) == (outcome.requests, outcome.pairs) == (6, 50)


def test_max_pairs_and_max_requests_hold_before_a_job_is_made(tmp_path: Path) -> None:
    path = tmp_path / "l.jsonl"
    with FakeApi() as fake:
        with pytest.raises(Stopped, match="30 pairs are asked for"):
            run_jobs(fake, path, limits=Limits(pairs=30))
        assert len(Ledger.read(path).ratings(ID)) == len(fake.asked_pairs) == 30
        with pytest.raises(Stopped, match="2 requests are made"):
            run_jobs(fake, path, limits=Limits(requests=2))
        assert len(fake.asked_pairs) == 50
        assert run_jobs(fake, path, limits=Limits(pairs=45, requests=5)).rated == 95
        assert len(set(fake.asked_pairs)) == len(fake.asked_pairs) == 95


def test_max_pairs_leaves_alone_what_is_in_a_job_already(tmp_path: Path) -> None:
    path = tmp_path / "l.jsonl"
    with FakeApi() as fake:
        fake.jobs.ends = ("never",)
        with pytest.raises(Stopped, match="goes on at the endpoint"):
            interrupted(fake, path, Limits(pairs=30))
        fake.jobs.ends = ("completed",)
        with pytest.raises(Stopped, match="30 pairs are asked for"):
            run_jobs(fake, path, limits=Limits(pairs=30))
    assert len(Ledger.read(path).ratings(ID)) == 60


def test_max_cost_is_never_exceeded_and_nothing_is_uploaded_that_may_exceed_it(tmp_path: Path) -> None:
    path = tmp_path / "l.jsonl"
    prices = PriceSettings(prompt=100.0, completion=200.0)
    with FakeApi() as fake:
        with pytest.raises(UsageError, match=r"set \[prices\]"):
            run_jobs(fake, path, prices=PriceSettings(), limits=Limits(cost=1.0))
        with pytest.raises(Stopped, match=r"\$0.0000 of \$0.001 are spent \(--max-cost\), and the next batch is estimated at"):
            run_jobs(fake, path, prices=prices, limits=Limits(cost=0.001))
        assert not fake.jobs.made
        with pytest.raises(Stopped, match=r"of \$0.5 are spent \(--max-cost\)"):
            run_jobs(fake, path, prices=prices, limits=Limits(cost=0.5))
        spent = money.total(Ledger.read(path).totals(ID), prices)
        assert spent is not None
        assert 0.3 < spent <= 0.5
        assert run_jobs(fake, path, prices=prices, limits=Limits(cost=5.0)).rated == 95
        assert len(fake.asked_pairs) == 95


def test_a_judge_that_thinks_at_length_is_estimated_by_its_replies_so_far(tmp_path: Path) -> None:
    path = tmp_path / "l.jsonl"
    prices = PriceSettings(completion=100.0)
    wordy = items(100)
    with FakeApi(completion_tokens=5_000) as fake:
        with pytest.raises(Stopped):
            run_items(fake, path, wordy, prices=prices, limits=Limits(requests=1))
        made = len(fake.jobs.made)
        with pytest.raises(Stopped, match=r"the next batch is estimated at \$0.5000"):
            run_items(fake, path, wordy, prices=prices, limits=Limits(cost=0.49))
        assert len(fake.jobs.made) == made


VALIDATION, POOL = items(140)[:40], items(140)[40:]
EXPERTS = {pair: (rating,) for pair, rating in truth(VALIDATION).items()}


def test_canaries_and_retests_are_those_of_a_direct_run(tmp_path: Path) -> None:
    path = tmp_path / "l.jsonl"
    controls = Controls(VALIDATION, EXPERTS, 2, 1, 0.1)
    said: list[str] = []
    with FakeApi() as fake:
        rate(fake, path, VALIDATION)
        first = len(fake.requests)
        outcome = run_items(fake, path, POOL, said, controls=controls)
        texts = {(item.search, item.code) for item in VALIDATION}
        hidden = [sum(pair in texts for pair in asked.pairs.values()) for asked in fake.requests[first:]]
        assert set(hidden) == {1}
        assert max(len(asked.pairs) for asked in fake.requests[first:]) == 10
        assert len(fake.jobs.made) == 2
        again = run_items(fake, path, POOL, said, controls=controls)
        assert len(fake.jobs.made) == 2, "what was rated again is not rated a third time"
    assert (outcome.rated, outcome.failed) == (again.rated, again.failed) == (100, {})
    tally = Ledger.read(path).tally(ID)
    assert tally.ratings == truth([*VALIDATION, *POOL])
    counts = Counter(repeat.pair for repeat in tally.repeats if repeat.pair not in EXPERTS)
    expected = retests(POOL, controls, tally=Tally(ratings=dict(tally.ratings)), seed=SEED)
    assert counts == Counter(item.pair for item in expected)
    assert not any("agrees with the experts" in line for line in said)


def test_the_alarm_is_raised_when_a_job_brings_another_judge(tmp_path: Path) -> None:
    path = tmp_path / "l.jsonl"
    said: list[str] = []
    with FakeApi() as fake:
        rate(fake, path, VALIDATION)
    with FakeApi(rate=lambda search, code: 3 - rating_of(search, code)) as fake:
        run_items(fake, path, POOL, said, controls=Controls(VALIDATION, EXPERTS, 2, 2, 0.1))
    assert sum("agrees with the experts on 0 of" in line for line in said) == 1
    ratings = Ledger.read(path).ratings(ID)
    assert {pair: ratings[pair] for pair in EXPERTS} == truth(VALIDATION)


def test_masked_secrets_are_counted_whichever_phase_collects_the_job(tmp_path: Path) -> None:
    path = tmp_path / "l.jsonl"
    secret = [replace(item, code=item.code + "# somebody@example.com\n") for item in items(10)]
    with FakeApi() as fake:
        fake.jobs.ends = ("never",)
        with pytest.raises(Stopped, match="goes on at the endpoint"):
            interrupted(fake, path, pairs=secret)
        fake.jobs.ends = ("completed",)
        run_items(fake, path, items(30)[20:], others=secret)
    assert Ledger.read(path).totals(ID).redacted == 10


def test_replies_keep_the_purpose_that_their_job_was_made_for(tmp_path: Path) -> None:
    path = tmp_path / "l.jsonl"
    with FakeApi() as fake:
        fake.jobs.ends = ("never",)
        with pytest.raises(Stopped, match="goes on at the endpoint"):
            interrupted(fake, path, pairs=items(10), purpose="validation")
        fake.jobs.ends = ("completed",)
        run_items(fake, path, items(30)[20:], others=items(10))
    assert [record["purpose"] for record in records(path) if record["kind"] == "reply"] == ["validation", "pool"]


def _nothing() -> "contextlib.AbstractContextManager[None]":
    return contextlib.nullcontext()
