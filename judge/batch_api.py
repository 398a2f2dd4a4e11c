"""The endpoint's batch interface: batches uploaded as a file, answered within a day or so, at a lower price.

Every step is in the ledger before the next one is taken: the file with the pairs behind each of its rows, the job made of
it, each reply, the job's end. So the command may be stopped anywhere and run again days later: a file without a job is
looked for among the endpoint's jobs before one is made of it, a job that runs is waited for, a job that has ended is
collected, rows that are stored already left out. What a job left open (expired, an error, a row that never came back, no
rating) goes into the next one, in batches half as large where there were replies, so that a pair that spoils its batch ends
up alone.
"""

import asyncio
import json
import signal
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from judge import batches, entries, redaction
from judge.answer import Answer, Unfit
from judge.batches import Batch, Item
from judge.client import Client
from judge.identity import Identity
from judge.ledger import Ledger
from judge.money import Spent
from judge.run import Outcome
from judge.standing import Job, Purpose, Sent, Standing
from pools.errors import Stopped, UsageError
from pools.settings import JudgeSettings, PriceSettings

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
    identity: Identity,
    client: Client,
    ledger: Ledger,
    settings: JudgeSettings,
    seed: int,
    prices: PriceSettings,
    note: Callable[[str], None],
) -> Outcome:
    """Have every pair rated that the ledger has no rating of, by jobs; returns when all are rated or given up.

    Raises `Stopped` when it is interrupted, or when a job ends without any reply; the same call goes on from there.
    """
    if ledger.seal(identity.judge_id) is None:
        raise UsageError(f"{ledger.path}: judge {identity.judge_id} is not sealed; seal it before its first rating")
    jobs = _Jobs(items, purpose, identity, client, ledger, settings, seed, note)
    remove = jobs.listen()
    try:
        await jobs.all()
    finally:
        remove()
    standing, spent = jobs.standing, jobs.spent
    failed = {item.pair: standing.failed[item.pair] for item in items if item.pair in standing.failed}
    rated = sum(item.pair in standing.ratings for item in items)
    return Outcome(rated, failed, spent.requests, spent.pairs, spent.usage, spent.total(prices))


class _Jobs:
    def __init__(
        self,
        items: Sequence[Item],
        purpose: Purpose,
        identity: Identity,
        client: Client,
        ledger: Ledger,
        settings: JudgeSettings,
        seed: int,
        note: Callable[[str], None],
    ) -> None:
        self.standing: Standing = ledger.standing(identity.judge_id)
        self.spent = Spent()
        self._items, self._purpose, self._identity, self._client = items, purpose, identity, client
        self._codes = {item.pair: item.code for item in items}
        self._ledger, self._settings, self._seed, self._note = ledger, settings, seed, note
        self._interrupted = asyncio.Event()
        self._barren = 0

    async def all(self) -> None:
        """Take up what earlier calls began, then make jobs of what is left until nothing is."""
        size = self._settings.pairs_per_batch
        while True:
            for job in list(self.standing.jobs.values()):
                if await self._collect(job):
                    size = max(1, min(size, job.size // 2))
            left = self._left()
            if not left:
                return
            await self._upload(left, size)

    def _left(self) -> list[Item]:
        """Return the pairs to be asked for; gives up those that were asked for often enough."""
        standing, judge_id = self.standing, self._identity.judge_id
        left = [item for item in self._items if item.pair not in standing.ratings and item.pair not in standing.failed]
        exhausted = [item for item in left if standing.attempts.get(item.pair, 0) >= self._settings.attempts]
        if exhausted:
            reason = f"no rating after {self._settings.attempts} attempts"
            self._ledger.add(*(entries.failure(judge_id, item.pair, reason) for item in exhausted))
        return [item for item in left if item.pair not in standing.failed]

    async def _upload(self, left: Sequence[Item], size: int) -> None:
        planned = batches.plan(left, self._seed, replace(self._settings, pairs_per_batch=size))
        for content, sent in _files(planned, self._row):
            file = await self._client.send(lambda content=content: self._client.upload(content))  # type: ignore[misc]
            self._ledger.add(entries.upload(self._identity.judge_id, self._purpose, file, size, sent))

    def _row(self, custom_id: str, batch: Batch) -> bytes:
        schema = batches.reply_schema(batch, self._identity.scale)
        body = self._client.body(batches.prompt(batch, self._identity), schema)
        row = {"custom_id": custom_id, "method": "POST", "url": "/v1/chat/completions", "body": body}
        return json.dumps(row).encode() + b"\n"

    async def _begin(self, job: Job) -> str:
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
                "metadata": {"judge_id": self._identity.judge_id},
            }
            made = [await self._client.send(lambda: self._client.post("/batches", request))]
        job_id = str(made[0]["id"])
        self._ledger.add(entries.job(self._identity.judge_id, job_id, job.file))
        return job_id

    async def _collect(self, job: Job) -> bool:
        """Wait for the end of a job and store its replies; says whether there was any. Ends the run where none is to come."""
        job_id = await self._begin(job)
        wait = FIRST_POLL
        while (found := await self._client.send(lambda: self._client.get(f"/batches/{job_id}")))["status"] not in ENDED:
            counts = found.get("request_counts") or {}
            self._note(f"job {job_id}: {found['status']}, {counts.get('completed', 0)} of {len(job.batches)} batches answered")
            await self._client.pause(self._interrupted, wait)
            wait = min(2 * wait, POLL)
            if self._interrupted.is_set():
                raise Stopped(f"job {job_id} goes on at the endpoint; the same command collects it, also days later")
        for name in ("output_file_id", "error_file_id"):
            if found.get(name):
                content = await self._client.send(lambda name=name: self._client.download(f"/files/{found[name]}/content"))  # type: ignore[misc]
                for line in content.splitlines():
                    self._store(job, line)
        judge_id = self._identity.judge_id
        answered = bool(job.stored)
        self._ledger.add(entries.job_end(judge_id, job_id, job.file, str(found["status"])))
        missing = len(job.batches) - len(job.stored)
        if missing:
            self._note(f"job {job_id}: {found['status']}; {missing} of {len(job.batches)} batches came back without a reply")
        self._barren = 0 if answered else self._barren + 1
        if self._barren and (found["status"] != "completed" or self._barren >= MOST_BARREN):
            raise Stopped(f"job {job_id} {found['status']} without any reply{_why(found)}; the same command makes another one")
        return answered

    def _store(self, job: Job, line: bytes) -> None:
        """Store what one row of a job's files brings, unless it is stored already."""
        try:
            row = json.loads(line)
            custom_id, response = str(row["custom_id"]), row.get("response")
        except (ValueError, KeyError, TypeError, AttributeError):
            self._note(f"job {job.job}: a row that cannot be read is left out")
            return
        if custom_id not in job.batches:
            self._note(f"job {job.job}: row {custom_id!r} was never sent and is left out")
            return
        if custom_id in job.stored or not isinstance(response, dict) or not isinstance(response.get("body"), dict):
            return
        batch = self._batch(job.batches[custom_id])
        status = response.get("status_code")
        try:
            answer = self._client.read(status if isinstance(status, int) else 200, response["body"])
        except Unfit as unfit:
            job.stored.add(custom_id)
            if len(batch.entries) == 1:
                self._ledger.add(entries.failure(self._identity.judge_id, batch.items[0].pair, unfit.reason))
            return
        if answer is not None:
            self._keep(job, custom_id, batch, answer)

    def _keep(self, job: Job, custom_id: str, batch: Batch, answer: Answer) -> None:
        if self._identity.redact:
            # What was masked is not in the row that comes back, and the same code masks the same way.
            codes = [self._codes[pair] for pair in (item.pair for item in batch.items) if pair in self._codes]
            answer = replace(answer, redacted=sum(redaction.mask(code).total for code in codes))
        self.spent.add(len(batch.entries), answer)
        record = entries.reply(self._identity.judge_id, job.purpose, batch, answer)
        self._ledger.add(record | {"file": job.file, "custom_id": custom_id})

    def _batch(self, sent: Sequence[Sent]) -> Batch:
        """Make the batch again that was sent, of which only ids and pairs matter now."""
        return Batch(tuple((entry_id, Item((search_id, function_id), "", "")) for entry_id, search_id, function_id in sent))

    def listen(self) -> Callable[[], object]:
        """Let an interrupt end the waiting; returns what undoes that."""
        if threading.current_thread() is not threading.main_thread():
            return lambda: None
        loop = asyncio.get_running_loop()
        loop.add_signal_handler(signal.SIGINT, self._interrupted.set)
        return lambda: loop.remove_signal_handler(signal.SIGINT)


def _files(planned: Iterator[Batch], row: Callable[[str, Batch], bytes]) -> Iterator[tuple[bytes, dict[str, Batch]]]:
    """Yield files of rows as large as a job may be, each with its batches by custom id."""
    rows: list[bytes] = []
    sent: dict[str, Batch] = {}
    length = 0
    for batch in planned:
        custom_id = batch.ids[0]
        text = row(custom_id, batch)
        if rows and (len(rows) >= MOST_ROWS or length + len(text) > MOST_BYTES):
            yield b"".join(rows), sent
            rows, sent, length = [], {}, 0
        rows.append(text)
        sent[custom_id] = batch
        length += len(text)
    if rows:
        yield b"".join(rows), sent


def _why(found: Mapping[str, Any]) -> str:
    errors = found.get("errors")
    listed = errors.get("data") if isinstance(errors, dict) else None
    if isinstance(listed, list) and listed and isinstance(listed[0], dict):
        return f" ({str(listed[0].get('message'))[:200]})"
    return ""
