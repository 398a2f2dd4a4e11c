"""The client of an OpenAI-compatible endpoint, and the only module that imports openai.

Importing openai takes most of a second, so it happens when the first request is sent, or before that in the background
(`preload`). The package gives transport and headers. Requests are put together here, because building one for any of its
many endpoints takes it longer than everything else that a reply costs; retrying is left to the pace shared by all workers
(its own would be each worker's for itself); and replies are read from their JSON, because endpoints that are compatible in
all that matters here send types that the package's models are not made for.
"""

import asyncio
import gc
import random
import re
import threading
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, TypeVar
from urllib.parse import urlsplit

import orjson
from tenacity import stop_after_attempt

from judge._endpoint import completions, refusals
from judge._endpoint.answer import Answer, Filtered, TooLong, Unanswered, Unfit, Usage
from judge._endpoint.pace import Clock, Pace, SystemClock
from judge._endpoint.refusals import Form, Refusal, Refused
from pools.errors import Stopped, UsageError

if TYPE_CHECKING:
    import httpx2

__all__ = ["Answer", "Asked", "Client", "Filtered", "TooLong", "Unanswered", "Unfit", "Usage", "preload"]

T = TypeVar("T")

TRIES = 6
"""Faults of one prompt, with answers to others in between, after which it is the prompt's own fault."""
DOWN = stop_after_attempt(13)
"""Faults in a row, with growing waits, at which the endpoint is taken to be down."""
NEVER_UP = stop_after_attempt(7)
"""The same while it has never answered."""
REFUSED = 8
"""Prompts refused without a reason that can be acted upon, while none was answered, after which the run stops."""

_LOOPBACK = {"localhost", "127.0.0.1", "::1"}
_SURROGATE = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class Asked:
    """What a job's row asked: the prompt, the JSON schema of its reply, and the form of the request."""

    prompt: str
    schema: Mapping[str, Any]
    form: Form


def preload() -> None:
    """Begin to import openai in the background, so that the first request need not wait for all of it.

    Until it is there no garbage is looked for: nearly all that is made meanwhile, here and by whoever loads a dataset, stays.
    """
    gc.disable()
    threading.Thread(target=_preloaded, daemon=True).start()


def _preloaded() -> None:
    try:
        _openai()
    finally:
        gc.freeze()
        gc.enable()


def _openai() -> Any:
    import openai

    return openai


class Client:
    """Sends prompts to one model. An asynchronous context manager; `ask` may be called by any number of workers."""

    def __init__(
        self,
        base_url: str,
        api_key: str,
        *,
        model: str,
        sampling: Mapping[str, Any],
        concurrency: int = 16,
        timeout: float = 300.0,
        clock: Clock | None = None,
        seed: int = 1,
    ) -> None:
        """Prepare a client; nothing is sent yet.

        `sampling` are further parameters of each request (temperature, max_tokens, …); `timeout` the seconds to wait for a
        reply; `seed` that of the jitter. Raises `UsageError` for an address, a key or a model name that cannot be used.
        """
        parts = urlsplit(base_url)
        if parts.scheme not in {"http", "https"} or not parts.hostname:
            raise UsageError(f"base_url is {base_url!r}, which is no http:// or https:// address; check --base-url")
        if not model:
            raise UsageError("no model is named; name one with --model or judge.model in judge.toml")
        if not api_key and parts.hostname not in _LOOPBACK:
            raise UsageError(f"OPENAI_API_KEY is not set, and {parts.hostname} needs a key; set it in the environment")
        if not (api_key.isascii() and api_key.isprintable()):
            raise UsageError("OPENAI_API_KEY holds characters that no key has; set it anew")
        self.base_url, self.model = base_url.rstrip("/"), model
        self._key = api_key
        self._sampling = dict(sampling)
        self._timeout = timeout
        self._clock = clock or SystemClock()
        self._pace = Pace(concurrency, self._clock, rng=random.Random(seed))  # noqa: S311  jitter, no secret
        self._form = Form()
        self._refused = 0
        self._loading: asyncio.Future[Any] | None = None
        self._http: httpx2.AsyncClient | None = None
        self._headers: httpx2.Headers | None = None
        self._urls: dict[str, httpx2.URL] = {}

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, _kind: type[BaseException] | None, _error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        if self._http is not None:
            await self._http.aclose()
            self._http = None

    @property
    def notes(self) -> tuple[str, ...]:
        """What the endpoint was found not to take, a line each."""
        lost = [*self._form.without]
        lost += [name for name in Form().formats if name not in self._form.formats]
        return tuple(f"{self.base_url} does not take {name}; it is asked without" for name in sorted(lost))

    def drain(self) -> None:
        """Send nothing new and repeat nothing: `ask` raises `Drained` where it would have to."""
        self._pace.drain()

    async def ask(self, prompt: str, schema: Mapping[str, Any] | None = None) -> Answer:
        """Return the reply to a prompt, as long as that may take; `schema` is a JSON schema for it.

        Raises `Stopped` where nothing that this run can do helps, `Unfit` where only this prompt cannot be answered, and
        `Drained` when the run is being ended. A task that is cancelled after the reply has arrived has lost it.
        """
        prompt = prompt if prompt.isascii() else _SURROGATE.sub("\ufffd", prompt)
        form, body = self._form, dict[str, Any]()

        async def complete() -> Answer:
            nonlocal form, body
            form = self._form
            body = form.body(self.model, prompt, schema=schema, sampling=self._sampling)
            return completions.answer(await self.post("/chat/completions", body), self.model)

        while True:
            try:
                answer = await self.send(complete)
            except Refused as refused:
                if self._form is not form:
                    continue
                milder = form.milder(refused.refusal, body) if refusals.meaning(refused.refusal) == "form" else None
                if milder is None:
                    raise self._unfit(refused.refusal) from refused
                self._form = milder
                continue
            return completions.whole(prompt, answer)

    def body(self, prompt: str, schema: Mapping[str, Any] | None) -> dict[str, Any]:
        """Return a chat completion request in the form that the endpoint is known to take."""
        return self._form.body(self.model, _SURROGATE.sub("\ufffd", prompt), schema=schema, sampling=self._sampling)

    @property
    def form(self) -> Form:
        """How requests are worded for this endpoint, as far as it is known."""
        return self._form

    def read(self, status: int, document: Mapping[str, Any], *, asked: Asked) -> Answer | None:
        """Read the response to a request that a job made; None where the same is to be asked again.

        That is so after a fault that passes, and where the endpoint does not take the form of the request, which is then
        remembered. Raises `Unfit` where only that prompt cannot be answered, and `Stopped` where nothing that this run can do
        helps.
        """
        try:
            if status >= 400:
                raise Refused(refusals.of(status, orjson.dumps(document), headers={}, now=self._clock.unix()))
            answer = completions.answer(document, self.model)
        except Refused as refused:
            match refusals.meaning(refused.refusal):
                case "again" | "overloaded":
                    return None
                case "stop":
                    raise self._stopped(refused.refusal) from refused
                case "form":
                    body = asked.form.body(self.model, asked.prompt, schema=asked.schema, sampling=self._sampling)
                    milder = asked.form.milder(refused.refusal, body)
                    if milder is not None:
                        self._form = milder if self._form is asked.form else self._form
                        return None
            raise self._unfit(refused.refusal) from refused
        return completions.whole(asked.prompt, answer)

    async def pause(self, event: asyncio.Event, seconds: float) -> None:
        """Wait for an event, at most so long, by the client's clock."""
        await self._clock.wait(event, seconds)

    async def embed(self, texts: Sequence[str]) -> list[list[float]]:
        """Return the vectors of some texts, in their order; raises `Stopped` where the endpoint does not give them."""
        body = {"model": self.model, "input": [_SURROGATE.sub("\ufffd", text) for text in texts]}

        async def once() -> list[list[float]]:
            return completions.vectors(await self.post("/embeddings", body), len(texts))

        try:
            return await self.send(once)
        except Refused as refused:
            raise self._stopped(refused.refusal) from refused
        except Unanswered as unanswered:
            raise self._stopped(Refusal(0, unanswered.reason)) from unanswered

    async def send(self, once: Callable[[], Awaitable[T]]) -> T:
        """Return what a request returns, sent again after faults that pass; raises as `ask` does."""
        tries, answers = 0, self._pace.answers
        await self._connected()  # out here, because importing takes time that the endpoint must not be blamed for
        while True:
            started = await self._pace.enter()
            try:
                async with asyncio.timeout(self._timeout):
                    result = await once()
            except Refused as refused:
                refusal = refused.refusal
            except TimeoutError:
                refusal = Refusal(0, f"no reply within {self._timeout:g} seconds")
            else:
                self._pace.answered()
                return result
            finally:
                self._pace.leave()
            meaning = refusals.meaning(refusal)
            if meaning == "stop":
                raise self._stopped(refusal)
            if meaning not in {"again", "overloaded"}:
                raise Refused(refusal)
            self._pace.failed(started, refusal.retry_after, overloaded=meaning == "overloaded")
            if (DOWN if self._pace.answers else NEVER_UP)(self._pace.faults):
                raise self._stopped(refusal)
            if meaning == "again" and self._pace.answers > answers:
                tries, answers = tries + 1, self._pace.answers
                if tries >= TRIES:
                    raise Unanswered(f"{self._scrub(_said(refusal))}, {tries} times")

    def _unfit(self, refusal: Refusal) -> Exception:
        reason = self._scrub(_said(refusal))
        match refusals.meaning(refusal):
            case "too-long":
                return TooLong(reason)
            case "filtered":
                return Filtered(reason)
        self._refused += 1
        if self._refused >= REFUSED and not self._pace.answers:
            return self._stopped(refusal)
        return Unfit(reason)

    def _stopped(self, refusal: Refusal) -> Stopped:
        self._pace.drain()
        return Stopped(self._scrub(refusals.remedy(refusal, self.model, base_url=self.base_url)))

    def _scrub(self, message: str) -> str:
        return message.replace(self._key, "***") if self._key else message

    async def post(self, path: str, body: Mapping[str, Any]) -> dict[str, Any]:
        """Send one request and return the JSON object that comes back; faults are raised for `send` to judge."""
        import httpx2

        await self._connected()
        request = httpx2.Request("POST", self._url(path), headers=self._headers, content=orjson.dumps(body))
        request.headers.encoding = "ascii"  # or it is found out by trying each header
        return self._object(await self._exchange(request))

    def _url(self, path: str) -> "httpx2.URL":
        """Return the address of a path; taking one apart is a sixteenth of a request's work, so it is kept."""
        import httpx2

        return self._urls.get(path) or self._urls.setdefault(path, httpx2.URL(self.base_url + path))

    async def get(self, path: str) -> dict[str, Any]:
        """Like `post`, for what an endpoint has."""
        return self._object(await self._exchange(await self._request("GET", path)))

    async def download(self, path: str) -> bytes:
        """Return the bytes at a path."""
        return (await self._exchange(await self._request("GET", path))).content

    async def upload(self, content: bytes) -> str:
        """Send a file of requests for a job; returns the file's id."""
        files = {"file": ("batches.jsonl", content, "application/jsonl")}
        request = await self._request("POST", "/files", data={"purpose": "batch"}, files=files)
        return str(self._object(await self._exchange(request))["id"])

    async def _request(self, method: str, path: str, **further: Any) -> "httpx2.Request":
        import httpx2

        await self._connected()
        headers = {name: value for name, value in (self._headers or {}).items() if name != "content-type"}
        return httpx2.Request(method, self.base_url + path, headers=headers, **further)

    async def _exchange(self, request: "httpx2.Request") -> "httpx2.Response":
        import aiohttp
        import httpx2

        if self._http is None:
            raise RuntimeError("not connected")
        try:
            response = await self._http.send(request)
        # The transport lets some of its own errors through as they are.
        except (httpx2.HTTPError, aiohttp.ClientError, OSError) as error:
            raise Refused(Refusal(0, f"no connection ({error or type(error).__name__})")) from error
        if response.status_code >= 300:
            raise Refused(refusals.of(response.status_code, response.content, headers=response.headers, now=self._clock.unix()))
        return response

    def _object(self, response: "httpx2.Response") -> dict[str, Any]:
        """Read the JSON object of a response, which may tell of an error although its status does not."""
        document = completions.decoded(response.content)
        if not isinstance(document, dict):
            raise Refused(Refusal(0, "a reply that is no JSON object"))
        failed = document.get("error")
        if failed and not document.get("choices"):
            code = failed.get("code") if isinstance(failed, dict) else None
            status = code if isinstance(code, int) and 400 <= code < 600 else 500
            raise Refused(refusals.of(status, response.content, headers=response.headers, now=self._clock.unix()))
        return document

    async def _connected(self) -> None:
        if self._http is not None:
            return
        if self._loading is None:
            self._loading = asyncio.ensure_future(asyncio.to_thread(_openai))
        openai = await asyncio.shield(self._loading)
        if self._http is None:
            import httpx2  # which openai has loaded by now

            # Loading the certificates takes a fifth of a second, which an endpoint without TLS on this machine does not need.
            plain = self.base_url.startswith("http:") and urlsplit(self.base_url).hostname in _LOOPBACK
            self._http = openai.DefaultAioHttpClient(timeout=None, verify=not plain, follow_redirects=not plain)
            sdk = openai.AsyncOpenAI(base_url=self.base_url, api_key=self._key or "none", http_client=self._http)
            sent = sdk.default_headers | sdk.auth_headers
            self._headers = httpx2.Headers({name: value for name, value in sent.items() if isinstance(value, str)})


def _said(refusal: Refusal) -> str:
    return f"HTTP {refusal.status}: {refusal.message[:200]}" if refusal.status else refusal.message[:200]
