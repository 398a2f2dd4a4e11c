"""A fake chat completions endpoint: a real HTTP server on loopback, which rates what it reads out of the prompt.

A rating depends on the search and the code alone, so two runs can be compared pair by pair however their batches were cut.
Faults come from a function of the request's number (from 0), or from a script; one that runs out fails the test. What was
asked and what was answered is on record. It also runs as a program: `python -m tests.builders.fake_api --help`.
"""

import argparse
import asyncio
import hashlib
import json
import math
import random
import re
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from email.utils import formatdate
from pathlib import Path
from types import TracebackType
from typing import Any, Self

Pair = tuple[str, str]
"""(search, code) as shown."""
YesNo = tuple[str, dict[str, float]]
"""An answer to one pair, and the probabilities of tokens in the place of its first."""
Faults = Callable[[int], str | None]
Headers = dict[str, str]

PAIR = re.compile(r"^\[(\w+)\][^\n]*? search: ([^\n]*)\n<code \1>\n(.*?)\n</code \1>$", re.MULTILINE | re.DOTALL)


def rating_of(search: str, code: str) -> int:
    """The rating that the fake gives a pair, whatever else is in the prompt."""
    return hashlib.sha256(f"{search}\0{code}".encode()).digest()[0] % 4


def share(seed: int, *faults: str, of: float = 0.3) -> Faults:
    """Faults, each equally often, at a share of the requests."""

    def fault(number: int) -> str | None:
        rng = random.Random(f"{seed}/{number}")
        return rng.choice(faults) if rng.random() < of else None

    return fault


class Script:
    """Faults (None = a sound reply) for one request after the other; asking for more than there are raises."""

    def __init__(self, *faults: str | None) -> None:
        self._faults = faults

    def __call__(self, number: int) -> str | None:
        if number >= len(self._faults):
            raise AssertionError(f"request {number + 1} came, and the script has {len(self._faults)}")
        return self._faults[number]


@dataclass(frozen=True, slots=True)
class Asked:
    """A request: its number, its body, the pairs in its prompt by id, and the fault that it met."""

    number: int
    body: Mapping[str, Any]
    pairs: Mapping[str, Pair]
    fault: str | None

    @property
    def prompt(self) -> str:
        return str(self.body["messages"][-1]["content"])


@dataclass(frozen=True, slots=True)
class Response:
    """What goes back: `cut` sends half of the body and hangs up, `silent` nothing at all, `hang_up` hangs up at once."""

    status: int = 200
    body: bytes = b""
    headers: Headers = field(default_factory=dict)
    cut: bool = False
    silent: bool = False
    hang_up: bool = False


def error(status: int, message: str, code: str | None = None, param: str | None = None, **headers: str) -> Response:
    """An error as OpenAI words it."""
    body = {"error": {"message": message, "type": "invalid_request_error", "code": code, "param": param}}
    return Response(status, json.dumps(body).encode(), {name.replace("_", "-"): value for name, value in headers.items()})


ERRORS: Mapping[str, Callable[[], Response]] = {
    "429": lambda: error(429, "Rate limit reached for requests", "rate_limit_exceeded"),
    "429-seconds": lambda: error(429, "Rate limit reached", "rate_limit_exceeded", Retry_After="7"),
    "429-date": lambda: error(429, "Rate limit reached", "rate_limit_exceeded", Retry_After=formatdate(1e9 + 30, usegmt=True)),
    "429-later": lambda: error(429, "Rate limit reached for the day", "rate_limit_exceeded", Retry_After="7200"),
    "500": lambda: error(500, "The server had an error"),
    "503-html": lambda: Response(503, b"<html><h1>Error 503</h1>Rating: 3</html>", {"Content-Type": "text/html"}),
    "hang": lambda: Response(silent=True),
    "drop": lambda: Response(hang_up=True),
    "no-json": lambda: Response(200, b"<html>captive portal, 2 of 3</html>", {"Content-Type": "text/html"}),
    "error-in-200": lambda: Response(200, b'{"error": {"message": "Provider returned error", "code": 502}}'),
    "no-choices": lambda: Response(200, b'{"id": "x", "choices": []}'),
    "overflow": lambda: error(
        400, "This model's maximum context length is 8192 tokens. Please reduce the length of the messages.",
        "context_length_exceeded", "messages",
    ),
    "filter": lambda: error(400, "The prompt triggered the content management policy", "content_filter", "prompt"),
    "400": lambda: error(400, "Bad request"),
    "401": lambda: error(401, "Incorrect API key provided: sk-secret", "invalid_api_key"),
    "403": lambda: error(403, "You are not allowed to use this model"),
    "404": lambda: error(404, "The model `m` does not exist or you do not have access to it.", "model_not_found"),
    "402": lambda: error(402, "Payment required"),
    "quota": lambda: error(429, "You exceeded your current quota, please check your plan", "insufficient_quota"),
    "echo-key": lambda: error(418, "no tea for sk-secret"),
}  # fmt: skip


def _entries(ratings: Mapping[str, int]) -> list[dict[str, Any]]:
    return [{"id": entry_id, "rating": rating} for entry_id, rating in ratings.items()]


def _json(entries: Sequence[Any]) -> str:
    return json.dumps({"ratings": entries})


def _each_second(ratings: Mapping[str, int], value: Any) -> str:
    entries = _entries(ratings)
    for entry in entries[::2]:
        entry["rating"] = value(entry["rating"]) if callable(value) else value
    return _json(entries)


def _first(ratings: Mapping[str, int]) -> list[dict[str, Any]]:
    return _entries(ratings)[:1]


# Replies that are not what was asked for. None of them may change what a pair is rated in the end.
REPLIES: Mapping[str, Callable[[Mapping[str, int]], str]] = {
    "missing": lambda ratings: _json(_entries(ratings)[1::2]),
    "duplicate": lambda ratings: _json(_entries(ratings) + _first(ratings)),
    "conflict": lambda ratings: _json(
        _entries(ratings) + [entry | {"rating": (entry["rating"] + 1) % 4} for entry in _first(ratings)]
    ),
    "foreign": lambda ratings: _json([*_entries(ratings), {"id": "zzzzzzzz", "rating": 3}]),
    "off-scale": lambda ratings: _each_second(ratings, 7),
    "fraction": lambda ratings: _each_second(ratings, 2.5),
    "words": lambda ratings: _each_second(ratings, "high"),
    "nothing": lambda ratings: _each_second(ratings, None),
    "strings": lambda ratings: _each_second(ratings, str),
    "fenced": lambda ratings: f"Here you are:\n```json\n{_json(_entries(ratings))}\n```\nRated 3 of 3.",
    "thinking": lambda ratings: "<think>" + _each_second(ratings, 3) + "</think>" + _json(_entries(ratings)),
    "keys": lambda ratings: json.dumps(ratings),
    "prose": lambda _: "Both functions are good, I would give them a 3.",
    "refusal": lambda _: "I'm sorry, but I can't help with that.",
    "empty": lambda _: "",
    "surrogate": lambda ratings: "\ufeff\ud800" + _json(_entries(ratings)),
    "cut": lambda ratings: _json(_entries(ratings))[: len(_json(_entries(ratings))) * 2 // 3],
}
WORDS: Mapping[str, str] = {"prose": "Both are possible: yes or no.", "refusal": "I'm sorry, but", "empty": "", "cut": "Ye"}
"""Answers to a question of yes or no that are neither."""
NO_LOGPROBS = "no-logprobs"
FINISH = {"length": "length", "filtered": "content_filter"}
SHORTENED = "shortened"
CUT_BODY = "cut-body"
FAULTS = (*ERRORS, *REPLIES, *FINISH, SHORTENED, CUT_BODY, NO_LOGPROBS)


def answer_of(search: str, code: str) -> YesNo:
    """The answer of yes or no that the fake gives a pair, with probabilities in several spellings that add up to 0.95."""
    sure = round(rating_of(search, code) / 3 * 0.9 + 0.02, 4)
    likely = {"Yes": sure * 0.8, " yes": sure * 0.1, "**YES": sure * 0.05}
    likely |= {"No": (1 - sure) * 0.8, "no": (1 - sure) * 0.1, " No.": (1 - sure) * 0.05, "Not": 0.03, "\n": 0.02}
    return ("Yes." if sure >= 0.5 else "no"), likely


class FakeJobs:
    """The batch interface: a job runs when it is looked at, and is done when it is looked at again.

    `ends` says how each job ends, one after the other, and the last for all others: "completed"; "expired" after half of its
    rows; "lossy" without a word on half of them; "failed" with no file at all; "never" stays in progress.
    """

    def __init__(self, api: "FakeApi") -> None:
        self.ends: Sequence[str] = ("completed",)
        self.made: list[dict[str, Any]] = []
        self._api = api
        self._files: dict[str, bytes] = {}

    def respond(self, method: str, path: str, body: bytes) -> Response:
        """Answer a request about files and jobs."""
        path = path.partition("?")[0]
        if (method, path) == ("POST", "/files"):
            content = body.split(b"batches.jsonl", 1)[1].split(b"\r\n\r\n", 1)[1].rsplit(b"\r\n--", 2)[0]
            return _ok({"id": self._file(content.split(b"\r\n--")[0]), "purpose": "batch"})
        if (method, path) == ("POST", "/batches"):
            file = json.loads(body)["input_file_id"]
            self.made.append({"id": f"batch_{len(self.made)}", "input_file_id": file, "status": "validating"})
            return _ok(self.made[-1])
        if (method, path) == ("GET", "/batches"):
            return _ok({"data": self.made})
        if method == "GET" and path.startswith("/batches/"):
            number = int(path.removeprefix("/batches/batch_"))
            found = self.made[number]
            if found["status"] == "validating":
                found["status"] = "in_progress"
            elif found["status"] == "in_progress":
                self._run(found, self.ends[min(number, len(self.ends) - 1)])
            return _ok(found)
        if method == "GET" and path.endswith("/content"):
            return Response(200, self._files[path.split("/")[2]])
        self._api.errors.append(f"unexpected {method} {path}")
        return error(404, f"no {path} here")

    def _file(self, content: bytes) -> str:
        self._files[f"file-{len(self._files)}"] = content
        return f"file-{len(self._files) - 1}"

    def _run(self, job: dict[str, Any], end: str) -> None:
        if end == "never":
            return
        job["status"] = {"lossy": "completed"}.get(end, end)
        if end == "failed":
            job["errors"] = {"data": [{"code": "invalid", "message": "the file is not to our taste"}]}
            return
        rows = [json.loads(line) for line in self._files[job["input_file_id"]].splitlines()]
        ran = rows if end == "completed" else rows[: len(rows) // 2]
        good: list[dict[str, Any]] = []
        bad: list[dict[str, Any]] = []
        for row in ran:
            response = self._api.complete(row["body"])
            document = json.loads(response.body or b"null")
            (good if response.status == 200 else bad).append(
                {"custom_id": row["custom_id"], "response": {"status_code": response.status, "body": document}, "error": None}
            )
        if end == "expired":
            gone = {
                "code": "batch_expired",
                "message": "This request could not be executed in time.",
            }
            bad += [{"custom_id": row["custom_id"], "response": None, "error": gone} for row in rows[len(ran) :]]
        # Rows come back in any order.
        for name, found in (("output_file_id", good[::-1]), ("error_file_id", bad)):
            if found:
                job[name] = self._file(b"".join(json.dumps(row).encode() + b"\n" for row in found))


def _ok(document: Mapping[str, Any]) -> Response:
    return Response(200, json.dumps(document).encode())


def _logprobs(body: Mapping[str, Any], likely: Mapping[str, float]) -> dict[str, Any] | None:
    """The log-probabilities of two tokens, the first of them blank, as OpenAI gives them to those who ask."""
    if not body.get("logprobs") or not likely:
        return None
    tokens = [{"token": token, "logprob": math.log(share), "bytes": list(token.encode())} for token, share in likely.items()]
    tokens = sorted(tokens, key=lambda entry: -float(str(entry["logprob"])))
    blank = {"token": "\n", "logprob": -0.1, "bytes": [10], "top_logprobs": []}
    return {"content": [blank, tokens[0] | {"top_logprobs": tokens[: body.get("top_logprobs", 0)]}]}


class FakeApi:
    """The server, running in a thread of its own while it is entered.

    `refuses` are parameters that it answers with an error naming them; `context` the longest prompt it takes, in characters;
    `poison` says which pairs spoil a prompt, which then gets the answer
    `poisoned`, or prose where that is None; `chat` answers prompts that hold no pair; `rate` rates;
    `instead` may answer a request, given its path, in place of all that; `yesno` says yes or no to prompts of one pair that ask
    for no JSON; `completion_tokens` is what every reply is said to have taken, instead of about its length.
    """

    def __init__(
        self,
        faults: Faults = lambda _: None,
        latency: float = 0.0,
        refuses: Sequence[str] = (),
        context: int | None = None,
        poison: Callable[[str, str], bool] = lambda _search, _code: False,
        chat: Callable[[str], str] = lambda _: "ok",
        rate: Callable[[str, str], int] = rating_of,
        poisoned: Callable[[], Response] | None = ERRORS["filter"],
        instead: Callable[[str], Response | None] = lambda _: None,
        yesno: Callable[[str, str], YesNo] | None = None,
        log: Path | None = None,
        completion_tokens: int | None = None,
        release: str = "2026",
    ) -> None:
        self.requests: list[Asked] = []
        self.answered: list[Asked] = []
        self.errors: list[str] = []
        self.most_in_flight = 0
        self.first_request = self.last_answer = 0.0
        self.port = 0
        self._faults, self._latency, self._refuses, self._context = faults, latency, frozenset(refuses), context
        self._poison, self._chat, self._rate, self._log, self._instead = poison, chat, rate, log, instead
        self._poisoned, self._yesno = poisoned, yesno
        self._completion_tokens, self._release = completion_tokens, release
        self.jobs = FakeJobs(self)
        self._in_flight = 0
        self._loop = asyncio.new_event_loop()
        self._stop = asyncio.Event()
        self.ready = threading.Event()
        self._thread = threading.Thread(target=self._loop.run_until_complete, args=(self.serve(0),), daemon=True)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    @property
    def asked_pairs(self) -> list[Pair]:
        """All pairs of all requests, in the order asked, repeats included."""
        return [pair for asked in self.requests for pair in asked.pairs.values()]

    def __enter__(self) -> Self:
        self._thread.start()
        if not self.ready.wait(10):
            raise AssertionError("the fake did not start")
        return self

    def __exit__(self, kind: type[BaseException] | None, _error: BaseException | None, _trace: TracebackType | None) -> None:
        self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join(10)
        if kind is None and self.errors:
            raise AssertionError("; ".join(self.errors))

    async def serve(self, port: int) -> None:
        """Serve until stopped; `port` 0 takes a free one."""
        open_streams: set[asyncio.StreamWriter] = set()

        async def connection(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            open_streams.add(writer)
            try:
                while await self._one(reader, writer):
                    pass
            except (ConnectionError, asyncio.IncompleteReadError):
                pass
            finally:
                open_streams.discard(writer)
                writer.close()

        server = await asyncio.start_server(connection, "127.0.0.1", port, backlog=1024)
        self.port = server.sockets[0].getsockname()[1]
        self.ready.set()
        await self._stop.wait()
        server.close()
        for writer in list(open_streams):
            writer.transport.abort()

    async def _one(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        head = await reader.readuntil(b"\r\n\r\n")
        first, *lines = head.decode("latin-1").split("\r\n")
        headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
        body = await reader.readexactly(int(headers.get("content-length", 0)))
        self.first_request = self.first_request or time.monotonic()
        self._in_flight += 1
        self.most_in_flight = max(self.most_in_flight, self._in_flight)
        try:
            method, path, _ = first.split(" ")
            response = self.respond(method, path, headers, body)
            if response.status == 200 and self._latency:
                await asyncio.sleep(self._latency)
        finally:
            self._in_flight -= 1
        if response.silent:
            await reader.read()
            return False
        if response.hang_up:
            writer.transport.abort()
            return False
        fields = {"Content-Type": "application/json", "Content-Length": str(len(response.body))} | response.headers
        lines = [f"HTTP/1.1 {response.status} x", *(f"{name}: {value}" for name, value in fields.items()), "", ""]
        content = response.body[: len(response.body) // 2] if response.cut else response.body
        writer.write("\r\n".join(lines).encode("latin-1") + content)
        self.last_answer = time.monotonic()
        await writer.drain()
        return not response.cut

    def respond(self, method: str, path: str, _headers: Headers, body: bytes) -> Response:
        """Answer one request."""
        instead = self._instead(path)
        if instead is not None:
            return instead
        if (method, path) == ("DELETE", "/v1/stats"):
            return self._statistics()
        if path.startswith(("/v1/files", "/v1/batches")):
            return self.jobs.respond(method, path.removeprefix("/v1"), body)
        if (method, path) != ("POST", "/v1/chat/completions"):
            self.errors.append(f"unexpected {method} {path}")
            return error(404, f"no {path} here")
        document = json.loads(body)
        return self.complete(document)

    def complete(self, document: Mapping[str, Any]) -> Response:
        """Answer a chat completion request, with the fault that is its turn."""
        number = len(self.requests)
        try:
            fault = self._faults(number)
        except AssertionError as ran_out:
            self.errors.append(str(ran_out))
            return error(401, str(ran_out))
        prompt = document["messages"][-1]["content"]
        pairs = {entry_id: (search, code) for entry_id, search, code in PAIR.findall(prompt)}
        asked = Asked(number, document, pairs, fault)
        self.requests.append(asked)
        response = self._response(asked)
        if response.status == 200 and not (response.silent or response.hang_up or response.cut):
            self.answered.append(asked)
        self._note(asked, response)
        return response

    def _response(self, asked: Asked) -> Response:
        for name in self._refuses:
            if name in asked.body:
                return error(400, f"Unsupported parameter: '{name}' is not supported with this model.", param=name)
            if asked.body.get("response_format", {}).get("type") == name:
                return error(400, f"'response_format' of type '{name}' is not supported with this model.")
        if asked.fault is not None and asked.fault in ERRORS:
            return ERRORS[asked.fault]()
        if self._context is not None and len(asked.prompt) > self._context:
            return ERRORS["overflow"]()
        poisoned = any(self._poison(*pair) for pair in asked.pairs.values())
        if poisoned and self._poisoned is not None:
            return self._poisoned()
        ratings = {entry_id: self._rate(*pair) for entry_id, pair in asked.pairs.items()}
        kind = "prose" if poisoned else "cut" if asked.fault == "length" else asked.fault
        text = REPLIES[kind](ratings) if kind is not None and kind in REPLIES else _json(_entries(ratings))
        likely: dict[str, float] = {}
        if self._yesno is not None and len(asked.pairs) == 1 and "response_format" not in asked.body:
            [pair] = asked.pairs.values()
            text, likely = self._yesno(*pair)
            text = WORDS.get(asked.fault or "", text)
        content = None if asked.fault == "filtered" else text if asked.pairs else self._chat(asked.prompt)
        tokens = len(asked.prompt) // (100 if asked.fault == SHORTENED else 4)
        completion = len(text) // 4 if self._completion_tokens is None else self._completion_tokens
        reply = {
            "id": f"chatcmpl-{asked.number}",
            "object": "chat.completion",
            "created": 1_700_000_000,
            "model": f"{asked.body['model']}-{self._release}",
            "choices": [
                {
                    "index": 0,
                    "message": {"role": "assistant", "content": content, "refusal": None},
                    "finish_reason": FINISH.get(asked.fault or "", "stop"),
                    "logprobs": None if asked.fault == NO_LOGPROBS else _logprobs(asked.body, likely),
                }
            ],
            "usage": {
                "prompt_tokens": tokens,
                "completion_tokens": completion,
                "total_tokens": tokens + completion,
                "prompt_tokens_details": {"cached_tokens": tokens // 10},
            },
        }
        return Response(200, json.dumps(reply).encode(), cut=asked.fault == CUT_BODY)

    def _statistics(self) -> Response:
        """Report what was measured since the last report: the clock's times, requests, the most in flight."""
        measured = {
            "first_request": self.first_request,
            "last_answer": self.last_answer,
            "requests": len(self.requests),
            "pairs": len(self.asked_pairs),
            "most_in_flight": self.most_in_flight,
        }
        self.first_request = self.last_answer = 0.0
        self.most_in_flight = 0
        self.requests.clear()
        self.answered.clear()
        return Response(200, json.dumps(measured).encode())

    def _note(self, asked: Asked, response: Response) -> None:
        """Append to the log, for a test in another process: one line a request."""
        if self._log is not None:
            line = {"status": response.status, "fault": asked.fault, "pairs": list(asked.pairs.values())}
            with self._log.open("a", encoding="utf-8") as file:
                file.write(json.dumps(line) + "\n")


def main() -> None:
    """Serve until killed; the port goes to stdout first."""
    parser = argparse.ArgumentParser(description="A fake chat completions endpoint on loopback")
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--latency", type=float, default=0.0, help="seconds before each reply")
    parser.add_argument("--faults", nargs="*", default=[], choices=FAULTS, help="faults that requests meet")
    parser.add_argument("--share", type=float, default=0.3, help="share of the requests that meet one")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--log", type=Path, help="file to append a line a request to")
    options = parser.parse_args()
    faults = share(options.seed, *options.faults, of=options.share) if options.faults else lambda _: None
    fake = FakeApi(faults, options.latency, log=options.log)

    async def serve() -> None:
        serving = asyncio.create_task(fake.serve(options.port))
        await asyncio.to_thread(fake.ready.wait)
        print(fake.port, flush=True)  # noqa: T201
        await serving

    asyncio.run(serve())


if __name__ == "__main__":
    main()
