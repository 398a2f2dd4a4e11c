"""The endpoint's batch interface: batches uploaded as a file, answered within a day or so, at a lower price.

Every step is in the ledger before the next one is taken: the file with the pairs behind each of its rows, the job made of
it, each reply, the job's end. So the command may be stopped anywhere and run again days later: a file without a job is
looked for among the endpoint's jobs before one is made of it, a job that runs is waited for, a job that has ended is
collected, rows that are stored already left out. What a job left open (expired, an error, a row that never came back, no
rating) goes into the next one, in batches half as large where there were replies, so that a pair that spoils its batch ends
up alone.

A job is paid for as a whole and cannot be stopped for what it costs, so the limits hold before one is made: its rows are
counted, and estimated by the prices, and only those within the limits go into it. Controls are those of a direct run:
canaries in the batches, their agreement looked at whenever a job has been collected, a share of the pairs rated again.
"""

import asyncio
import json
import signal
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from judge.batching import batches
from judge.batching.batches import Batch, Item
from judge.endpoint.answer import Unfit, Usage
from judge.endpoint.client import Asked
from judge.endpoint.refusals import Form
from judge.judges.llm_judge import LlmJudge
from judge.ledger import entries
from judge.ledger.ledger import Ledger
from judge.ledger.tally import Job, Purpose, Sent, Tally
from judge.rating import money
from judge.rating.controls import Controls, Hider, Watcher, retests
from judge.rating.money import NO_LIMITS, Limits, Spent
from judge.rating.rating import Outcome
from pools.dataset.settings import JudgeSettings, PriceSettings
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
    """Have every pair rated that the ledger has no rating of, by jobs; returns when all are rated or given up.

    Jobs that earlier calls made are collected first, whatever they were for; `others` are pairs that they may have asked for
    besides `items`. With `controls`, expert-rated pairs are hidden among them, and when all are done a share of them is
    rated once more. A request, for the limits, is one row of a job. Raises `Stopped` when it is interrupted, when a limit
    allows no further job, or when a job ends without any reply; the same call goes on from there. Raises `UsageError` where
    costs are limited and the prices unknown, or the ledger holds no seal of this judge.
    """
    judge_id = judge.identity.judge_id
    if ledger.seal(judge_id) is None:
        raise UsageError(f"{ledger.path}: judge {judge_id} is not sealed; seal it before its first rating")
    if limits.cost is not None and not money.priced(prices):
        raise UsageError("a job is estimated before it is made; set [prices] in judge.toml to use --max-cost with --batch-api")
    jobs = _Jobs(
        items,
        purpose,
        judge=judge,
        ledger=ledger,
        settings=settings,
        seed=seed,
        prices=prices,
        note=note,
        limits=limits,
        controls=controls,
        others=others,
    )
    remove = jobs.listen()
    try:
        await jobs.all()
    finally:
        remove()
    tally, spent = jobs.tally, jobs.spent
    failed = {item.pair: tally.failed[item.pair] for item in items if item.pair in tally.failed}
    rated = sum(item.pair in tally.ratings for item in items)
    return Outcome(rated, failed, spent.requests, spent.pairs, spent.usage, spent.total(prices))


@dataclass(frozen=True, slots=True)
class _Row:
    """A batch on its way into a job, as the line of its file, and what it is expected to use."""

    batch: Batch
    text: bytes
    expected: Usage


class _Jobs:
    def __init__(
        self,
        items: Sequence[Item],
        purpose: Purpose,
        *,
        judge: LlmJudge,
        ledger: Ledger,
        settings: JudgeSettings,
        seed: int,
        prices: PriceSettings,
        note: Callable[[str], None],
        limits: Limits,
        controls: Controls | None,
        others: Sequence[Item],
    ) -> None:
        self.tally: Tally = ledger.tally(judge.identity.judge_id)
        self.spent = Spent()
        self._purpose, self._identity, self._client = purpose, judge.identity, judge.client
        self._ledger, self._settings, self._seed, self._note = ledger, settings, seed, note
        self._prices, self._limits, self._controls = prices, limits, controls
        self._hider = None if controls is None else Hider(controls, self.tally, seed)
        self._watcher = None if controls is None else Watcher(self.tally, controls.experts, controls.relevant_from)
        self._retested = controls is None
        canaries = () if controls is None else controls.items
        self._known = {item.pair: item for item in (*others, *canaries, *items)}
        self._items = items
        self._within: Sequence[Item] = items
        self._interrupted = asyncio.Event()
        self._barren = 0

    async def all(self) -> None:
        """Take up what earlier calls began, then make jobs of what is left until nothing is."""
        size = self._settings.pairs_per_batch
        self._within = self._allowed()
        while True:
            for job in list(self.tally.jobs.values()):
                if await self._collect(job):
                    size = max(1, min(size, job.size // 2))
                self._watch()
            left = self._left(self._within)
            if not left and len(self._within) < len(self._items) and self._left(self._items):
                raise Stopped(self._limits.pairs_reached)
            if not left and not self._retested:
                self._retested, size = True, self._settings.pairs_per_batch
                left = self._retests()
            if not left:
                return
            await self._upload(left, size)

    def _allowed(self) -> Sequence[Item]:
        """Return the pairs that this call may have rated: as many as the limit says, besides those in jobs already."""
        if self._limits.pairs is None:
            return self._items
        asked = {(search, function) for job in self.tally.jobs.values() for sent in job.batches.values()
                 for _, search, function, *_ in sent}  # fmt: skip
        left = [item for item in self._left(self._items) if item.pair not in asked]
        if len(left) <= self._limits.pairs:
            return self._items
        return [item for batch in batches.plan(left, self._seed, settings=self._settings) for item in batch.items][
            : self._limits.pairs
        ]

    def _left(self, items: Sequence[Item]) -> list[Item]:
        """Return the pairs to be asked for; gives up those that were asked for often enough."""
        tally, judge_id = self.tally, self._identity.judge_id
        left = [item for item in items if item.pair not in tally.ratings and item.pair not in tally.failed]
        exhausted = [item for item in left if tally.attempts.get(item.pair, 0) >= self._settings.attempts]
        if exhausted:
            reason = f"no rating after {self._settings.attempts} attempts"
            self._ledger.add(*(entries.failure(judge_id, item.pair, reason=reason) for item in exhausted))
        return [item for item in left if item.pair not in tally.failed]

    def _retests(self) -> list[Item]:
        controls = self._controls
        return [] if controls is None else retests(self._items, controls, tally=self.tally, seed=self._seed)

    def _watch(self) -> None:
        """Raise the alarm, once, when the agreement on canaries has fallen below the gate's."""
        if self._watcher is not None and (alarm := self._watcher.alarm()) is not None:
            self._note(alarm)

    async def _upload(self, left: Sequence[Item], size: int) -> None:
        """Upload files of batches within the limits; the jobs are made of them when they are collected."""
        room = size if self._hider is None else self._hider.room(size)
        planned = batches.plan(left, self._seed, settings=replace(self._settings, pairs_per_batch=room))
        if self._hider is not None:
            planned = self._hider.hide(planned, size)
        rows = self._affordable(self._row(batch) for batch in planned)
        for content, sent in _files(rows):
            file = await self._client.send(lambda content=content: self._client.upload(content))  # type: ignore[misc]
            self._ledger.add(entries.upload(self._identity.judge_id, self._purpose, file=file, size=size, planned=sent))

    def _affordable(self, rows: Iterator[_Row]) -> Iterator[_Row]:
        """Yield rows as long as the limits allow another one; raises `Stopped` where they do not allow the first."""
        limits, spent = self._limits, self.spent
        cost, first = spent.total(self._prices) or 0.0, spent.sent
        for row in rows:
            cost += money.cost(row.expected, self._prices)
            refused = None
            if limits.requests is not None and spent.sent >= limits.requests:
                refused = limits.requests_reached
            elif limits.cost is not None and cost > limits.cost:
                already = spent.total(self._prices) or 0.0
                refused = (
                    f"${already:.4f} of ${limits.cost:g} are spent (--max-cost), and the next batch is estimated at "
                    f"${money.cost(row.expected, self._prices):.4f}; the same command with more goes on"
                )
            if refused is not None and spent.sent == first:
                raise Stopped(refused)
            if refused is not None:
                return
            spent.sent += 1
            yield row

    def _row(self, batch: Batch) -> _Row:
        prompt = batches.prompt(batch, self._identity)
        body = self._client.body(prompt, batches.reply_schema(batch, self._identity.scale))
        row = {"custom_id": batch.ids[0], "method": "POST", "url": "/v1/chat/completions", "body": body}
        return _Row(batch, json.dumps(row).encode() + b"\n", self._expected(len(prompt), len(batch.entries)))

    def _expected(self, characters: int, pairs: int) -> Usage:
        """Estimate a batch; a judge that thinks at length before it answers is known by its replies so far."""
        usage, totals = money.expected(characters, pairs), self.tally.totals
        seen = round(pairs * totals.usage.completion / totals.pairs) if totals.pairs else 0
        return replace(usage, completion=max(usage.completion, seen))

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
        self._ledger.add(entries.job(self._identity.judge_id, job_id, file=job.file))
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
        form = self._client.form
        for name in ("output_file_id", "error_file_id"):
            if found.get(name):
                content = await self._client.send(lambda name=name: self._client.download(f"/files/{found[name]}/content"))  # type: ignore[misc]
                for line in content.splitlines():
                    self._store(job, line, form=form)
        judge_id = self._identity.judge_id
        answered = bool(job.stored)
        self._ledger.add(entries.job_end(judge_id, job_id, file=job.file, status=str(found["status"])))
        missing = len(job.batches) - len(job.stored)
        if missing:
            self._note(f"job {job_id}: {found['status']}; {missing} of {len(job.batches)} batches came back without a reply")
        learnt = self._client.form is not form
        self._barren = 0 if answered or learnt else self._barren + 1
        if self._barren and (found["status"] != "completed" or self._barren >= MOST_BARREN):
            raise Stopped(f"job {job_id} {found['status']} without any reply{_why(found)}; the same command makes another one")
        return answered

    def _store(self, job: Job, line: bytes, *, form: Form) -> None:
        """Store what one row of a job's files brings, unless it is stored already; `form` is how its requests were worded."""
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
        prompt = batches.render(batch, self._identity)
        asked = Asked(prompt.text, batches.reply_schema(batch, self._identity.scale), form)
        status = response.get("status_code")
        judge_id, source = self._identity.judge_id, {"file": job.file, "custom_id": custom_id}
        try:
            answer = self._client.read(status if isinstance(status, int) else 200, response["body"], asked=asked)
        except Unfit as unfit:
            job.stored.add(custom_id)
            if unfit.answer is not None:
                self.spent.add(len(batch.entries), unfit.answer)
                self._ledger.add(
                    entries.discarded(judge_id, job.purpose, batch=batch, answer=unfit.answer, reason=unfit.reason) | source
                )
            if len(batch.entries) == 1 and batch.items[0].pair not in self.tally.ratings:
                self._ledger.add(entries.failure(judge_id, batch.items[0].pair, reason=unfit.reason))
            return
        if answer is None:
            return
        answer = replace(answer, redacted=sum(prompt.redacted.values()))
        self.spent.add(len(batch.entries), answer)
        self._ledger.add(entries.reply(judge_id, job.purpose, batch=batch, answer=answer) | source)

    def _batch(self, sent: Sequence[Sent]) -> Batch:
        """Make the batch again that was sent; a pair that is no longer in the dataset has no texts, which only shows less."""
        return Batch(tuple((entry_id, self._known.get((a, b)) or Item((a, b), "", "")) for entry_id, a, b, *_ in sent))

    def listen(self) -> Callable[[], object]:
        """Let an interrupt end the waiting; returns what undoes that."""
        if threading.current_thread() is not threading.main_thread():
            return lambda: None
        loop = asyncio.get_running_loop()
        loop.add_signal_handler(signal.SIGINT, self._interrupted.set)
        return lambda: loop.remove_signal_handler(signal.SIGINT)


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
