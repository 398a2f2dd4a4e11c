"""The endpoint's batch interface: batches uploaded as a file, answered within a day or so, at a lower price.

Every step is in the ledger before the next one is taken: the file with the pairs behind each of its rows, the job made of
it, each reply, the job's end. So the command may be stopped anywhere and run again days later: a file without a job is
looked for among the endpoint's jobs before one is made of it, a job that runs is waited for, a job that has ended is
collected, rows that are stored already left out. What a job left open goes into the next one: rows that never came back or
met an error that passes as they were, the others as with live requests.

A job is paid for as a whole and cannot be stopped for what it costs, so the limits hold before one is made: its rows are
counted, and estimated by the prices, and only those within the limits go into it.
"""

import asyncio
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from tenacity import AsyncRetrying, RetryCallState, retry_if_result, wait_exponential

from judge._batching import batches
from judge._batching.batches import Batch, Item
from judge._endpoint.answer import Answer, Unfit, Usage
from judge._endpoint.client import Asked
from judge._endpoint.refusals import Form
from judge._judges.llm_judge import LlmJudge
from judge._ledger import entries
from judge._ledger.entries import Record
from judge._ledger.ledger import Ledger
from judge._ledger.tally import Job, Purpose, Sent
from judge._rating import course, money
from judge._rating.controls import Controls
from judge._rating.course import Course, Reply
from judge._rating.money import NO_LIMITS, Limits
from judge._rating.task import Outcome, Reports, Task
from judge._reading.replies import Reading
from pools._dataset.settings import JudgeSettings, PriceSettings
from pools.errors import Stopped, UsageError

MOST_ROWS = 50_000
MOST_BYTES = 190_000_000
MOST_BARREN = 3
"""Jobs in a row that may bring nothing but errors that pass."""
FIRST_POLL = 0.5
POLL = 60.0
"""Seconds between the first two looks at a job, doubled each time, and between later ones."""
ENDED = {"completed", "expired", "cancelled", "failed"}


async def rate(
    items: Sequence[Item],
    purpose: Purpose,
    *,
    judge: LlmJudge,
    ledger: Ledger,
    settings: JudgeSettings,
    seed: int,
    prices: PriceSettings,
    note: Callable[[str], None],
    limits: Limits = NO_LIMITS,
    controls: Controls | None = None,
    others: Sequence[Item] = (),
) -> Outcome:
    """Return what `course.run` does of a `Task` of these, by jobs."""
    task = Task(items, purpose, seed, settings, limits, prices, controls)
    return await course.run(task, Jobs(judge, ledger, others=others), ledger=ledger, reports=Reports(note=note))


@dataclass(frozen=True, slots=True)
class _Row:
    """A batch on its way into a job, as the line of its file, and what it is expected to use."""

    batch: Batch
    text: bytes
    expected: Usage


class Jobs:
    """A transport of whole jobs: all that may be asked is asked, then waited for, then what is left, until nothing is.

    Jobs that earlier calls made are collected first, whatever they were for; `others` are pairs that they may have asked for
    besides the task's. A request, for the limits, is one row of a job. Besides what `course.run` raises, it raises `Stopped`
    when a job ends without any reply, and `UsageError` where costs are limited and the prices unknown.
    """

    def __init__(self, judge: LlmJudge, ledger: Ledger, *, others: Sequence[Item] = ()) -> None:
        self.judge_id = judge.identity.judge_id
        self._identity, self._client, self._ledger = judge.identity, judge.client, ledger
        self._tally = ledger.tally(self.judge_id)
        self._known = {item.pair: item for item in others}
        self._last: _Row | None = None
        self._interrupted = asyncio.Event()
        self._barren = 0

    async def work(self, course: Course) -> None:
        """Take up what earlier calls began, then make jobs of what is left until nothing is."""
        task = course.task
        if task.limits.cost is not None and not money.priced(task.prices):
            raise UsageError(
                "a job is estimated before it is made; set [prices] in judge.toml to use --max-cost with --batch-api"
            )
        canaries = () if task.controls is None else task.controls.items
        self._known |= {item.pair: item for item in (*canaries, *task.items)}
        await self._collect_all(course, earlier=True)
        await course.begin()
        while await self._upload(course):
            await self._collect_all(course, earlier=False)

    async def keep(self, record: Record) -> Reading | None:
        """Write a record at once: nothing else is to be done meanwhile."""
        return self._ledger.add(record)[0]

    def estimate(self, batch: Batch) -> Usage | None:
        """Return what a batch can be expected to take; a judge that thinks at length is known by its replies so far."""
        self._last = self._row(batch)
        return self._last.expected

    def interrupt(self, _course: Course) -> None:
        """Wait for no job any longer."""
        self._interrupted.set()

    async def _upload(self, course: Course) -> bool:
        """Upload all that may be asked now; says whether there was any. Jobs are made of the files when they are collected."""
        uploaded = False
        for content, sent in _files(self._rows(course)):
            file = await self._client.send(lambda content=content: self._client.upload(content))  # type: ignore[misc]
            size = course.task.settings.pairs_per_batch
            self._ledger.add(entries.upload(self.judge_id, course.task.purpose, file=file, size=size, planned=sent))
            uploaded = True
        return uploaded

    def _rows(self, course: Course) -> Iterator[_Row]:
        while (batch := course.ready(together=True)) is not None:
            last, self._last = self._last, None
            yield last if last is not None and last.batch is batch else self._row(batch)

    def _row(self, batch: Batch) -> _Row:
        prompt = batches.prompt(batch, self._identity)
        body = self._client.body(prompt, batches.reply_schema(batch, self._identity.scale))
        row = {"custom_id": batch.ids[0], "method": "POST", "url": "/v1/chat/completions", "body": body}
        return _Row(batch, json.dumps(row).encode() + b"\n", self._expected(len(prompt), len(batch.entries)))

    def _expected(self, characters: int, pairs: int) -> Usage:
        usage, totals = money.expected(characters, pairs), self._tally.totals
        seen = round(pairs * totals.usage.completion / totals.pairs) if totals.pairs else 0
        return replace(usage, completion=max(usage.completion, seen))

    async def _collect_all(self, course: Course, *, earlier: bool) -> None:
        for job in list(self._tally.jobs.values()):
            await self._collect(job, course, earlier=earlier)

    async def _collect(self, job: Job, course: Course, *, earlier: bool) -> None:
        """Wait for the end of a job and take in its replies; raises `Stopped` where another job would bring none either."""
        job_id = await self._made(job)
        found = await self._ended(job_id, len(job.batches), note=course.note)
        form = self._client.form
        for name in ("output_file_id", "error_file_id"):
            if found.get(name):
                content = await self._client.send(lambda name=name: self._client.download(f"/files/{found[name]}/content"))  # type: ignore[misc]
                for line in content.splitlines():
                    reply = self._reply(job, line, form=form, note=course.note)
                    if reply is not None:
                        job.stored.add(reply.source["custom_id"])
                        await course.take(replace(reply, earlier=earlier))
        self._ledger.add(entries.job_end(self.judge_id, job_id, file=job.file, status=str(found["status"])))
        missing = job.batches.keys() - job.stored
        for custom_id in sorted(missing):
            await course.take(Reply(self._batch(job.batches[custom_id]), None, earlier=earlier))
        if missing:
            course.note(
                f"job {job_id}: {found['status']}; {len(missing)} of {len(job.batches)} batches came back without a reply"
            )
        learnt = self._client.form is not form
        self._barren = 0 if job.stored or learnt else self._barren + 1
        if self._barren and (found["status"] != "completed" or self._barren >= MOST_BARREN):
            raise Stopped(f"job {job_id} {found['status']} without any reply{_why(found)}; the same command makes another one")

    async def _made(self, job: Job) -> str:
        """Return the id of the job made of a file, which an earlier call may have made without living to note it."""
        if job.job is not None:
            return job.job
        known = await self._client.send(lambda: self._client.get("/batches?limit=100"))
        made = [entry for entry in known.get("data") or [] if entry.get("input_file_id") == job.file]
        if not made:
            request = {
                "input_file_id": job.file,
                "endpoint": "/v1/chat/completions",
                "completion_window": "24h",
                "metadata": {"judge_id": self.judge_id},
            }
            made = [await self._client.send(lambda: self._client.post("/batches", request))]
        job_id = str(made[0]["id"])
        self._ledger.add(entries.job(self.judge_id, job_id, file=job.file))
        return job_id

    async def _ended(self, job_id: str, batches: int, *, note: Callable[[str], None]) -> dict[str, Any]:
        """Look at a job until it has ended, and return what the endpoint says of it; an interrupt ends the waiting."""

        def say(state: RetryCallState) -> None:
            found = state.outcome.result() if state.outcome else {}
            counts = found.get("request_counts") or {}
            note(f"job {job_id}: {found['status']}, {counts.get('completed', 0)} of {batches} batches answered")

        async def pause(seconds: float) -> None:
            await self._client.pause(self._interrupted, seconds)
            if self._interrupted.is_set():
                raise Stopped(f"job {job_id} goes on at the endpoint; the same command collects it, also days later")

        polling = AsyncRetrying(
            retry=retry_if_result(lambda found: found["status"] not in ENDED),
            wait=wait_exponential(FIRST_POLL, POLL),
            before_sleep=say,
            sleep=pause,
        )
        return await polling(self._client.send, lambda: self._client.get(f"/batches/{job_id}"))

    def _reply(self, job: Job, line: bytes, *, form: Form, note: Callable[[str], None]) -> Reply | None:
        """Return what one row of a job's files brings; None where that is nothing, or stored already.

        `form` is how the job's requests were worded.
        """
        try:
            row = json.loads(line)
            custom_id, response = str(row["custom_id"]), row.get("response")
        except (ValueError, KeyError, TypeError, AttributeError):
            note(f"job {job.job}: a row that cannot be read is left out")
            return None
        if custom_id not in job.batches:
            note(f"job {job.job}: row {custom_id!r} was never sent and is left out")
            return None
        if custom_id in job.stored or not isinstance(response, dict) or not isinstance(response.get("body"), dict):
            return None
        batch = self._batch(job.batches[custom_id])
        prompt = batches.render(batch, self._identity)
        asked = Asked(prompt.text, batches.reply_schema(batch, self._identity.scale), form)
        status = response.get("status_code")
        answer: Answer | Unfit | None
        try:
            answer = self._client.read(status if isinstance(status, int) else 200, response["body"], asked=asked)
        except Unfit as unfit:
            answer = unfit
        if answer is None:
            return None
        if isinstance(answer, Answer):
            answer = replace(answer, redacted=sum(prompt.redacted.values()))
        return Reply(batch, answer, job.purpose, {"file": job.file, "custom_id": custom_id})

    def _batch(self, sent: Sequence[Sent]) -> Batch:
        """Make the batch again that was sent; a pair that is no longer in the dataset has no texts, which only shows less."""
        return Batch(tuple((entry_id, self._known.get((a, b)) or Item((a, b), "", "")) for entry_id, a, b, *_ in sent))


def _files(rows: Iterator[_Row]) -> Iterator[tuple[bytes, dict[str, Batch]]]:
    """Yield files of rows as large as a job may be, each with its batches by custom id."""
    texts: list[bytes] = []
    sent: dict[str, Batch] = {}
    length = 0
    for row in rows:
        if texts and (len(texts) >= MOST_ROWS or length + len(row.text) > MOST_BYTES):
            yield b"".join(texts), sent
            texts, sent, length = [], {}, 0
        texts.append(row.text)
        sent[row.batch.ids[0]] = row.batch
        length += len(row.text)
    if texts:
        yield b"".join(texts), sent


def _why(found: Mapping[str, Any]) -> str:
    errors = found.get("errors")
    listed = errors.get("data") if isinstance(errors, dict) else None
    if isinstance(listed, list) and listed and isinstance(listed[0], dict):
        return f" ({str(listed[0].get('message'))[:200]})"
    return ""
