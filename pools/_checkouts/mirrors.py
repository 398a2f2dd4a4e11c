"""Files of repositories over HTTP, from GitHub's raw host or anything laid out like it: BASE/owner/name/commit/path.

Every file that came is kept in a cache folder under the hash of its URL, so a run that was stopped goes on where it was. An
answer that there is no such file (404, 410) is not kept: asking again is cheap, and a file may come back. Any other failure
is tried again with growing waits, and in the end stops the run, because a host that is out of order says nothing about
whether a file exists. Network is done in threads, disk in the caller's.
"""

import hashlib
import http.client
import threading
import urllib.error
import urllib.request
from collections.abc import Callable, Generator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import quote

from tenacity import (
    RetryCallState,
    Retrying,
    retry_if_exception_type,
    sleep_using_event,
    stop_after_attempt,
    stop_when_event_set,
    wait_exponential,
)

from pools._checkouts.sources import Content, File, Missing
from pools._dataset import files
from pools.errors import Stopped

RAW = "https://raw.githubusercontent.com"
GONE = {404: "HTTP 404, no such file", 410: "HTTP 410, the file is gone"}
ATTEMPTS = 5
FIRST_WAIT = 1.0
LONGEST_WAIT = 60.0
TIMEOUT = 60.0
CONCURRENCY = 8


class _Fault(Exception):
    """An answer, or none, after which asking again may help; `wait` is what the host asks for, in seconds."""

    def __init__(self, what: str, wait: float = 0.0) -> None:
        super().__init__(what)
        self.wait = wait


@dataclass(frozen=True, slots=True)
class Mirror:
    """A host of raw files and the folder that keeps what came from it.

    `base` begins with http:// or https://. `sleep` waits for some seconds; by default it ends early when the run stops.
    """

    base: str
    cache: Path
    sleep: Callable[[float], None] | None = None
    _stop: threading.Event = field(default_factory=threading.Event)

    def read(self, wanted: Sequence[File]) -> Generator[Content]:
        """Yield each file's content, what the cache has first, the rest as it comes.

        Raises `Stopped` naming the URL where an answer does not come after `ATTEMPTS` attempts; what came is in the cache.
        """
        missing = []
        for file in wanted:
            path = self._path(file)
            if path.is_file():
                yield file, path.read_bytes()
            else:
                missing.append(file)
        with ThreadPoolExecutor(CONCURRENCY) as pool:
            futures = {pool.submit(self._fetch, file): file for file in missing}
            try:
                for future in as_completed(futures):
                    file, content = futures.pop(future), future.result()
                    self._keep(file, content)
                    yield file, content
            finally:
                self._stop.set()
                pool.shutdown(cancel_futures=True)
                for future, file in futures.items():
                    if not future.cancelled() and future.exception() is None:
                        self._keep(file, future.result())

    def url(self, file: File) -> str:
        return f"{self.base.rstrip('/')}/{quote(file.repository)}/{file.commit}/{quote(file.path)}"

    def _keep(self, file: File, content: bytes | Missing) -> None:
        if isinstance(content, bytes) and not self._path(file).is_file():
            files.replace(self._path(file), content)

    def _path(self, file: File) -> Path:
        return self.cache / hashlib.sha256(self.url(file).encode()).hexdigest()

    def _fetch(self, file: File) -> bytes | Missing:
        url = self.url(file)
        # Up to twice the wait, by the URL, so that the threads do not come back as one.
        jitter = 1 + hashlib.sha256(url.encode()).digest()[0] / 256
        growing = wait_exponential(FIRST_WAIT * jitter, LONGEST_WAIT)

        def wait(state: RetryCallState) -> float:
            fault = state.outcome.exception() if state.outcome else None
            return max(growing(state), min(LONGEST_WAIT, fault.wait) if isinstance(fault, _Fault) else 0.0)

        def ask() -> bytes | Missing:
            if self._stop.is_set():
                raise _Fault("not asked for")
            return _ask(url)

        asking = Retrying(
            retry=retry_if_exception_type(_Fault),
            stop=stop_after_attempt(ATTEMPTS) | stop_when_event_set(self._stop),
            wait=wait,
            sleep=self.sleep or sleep_using_event(self._stop),
            reraise=True,
        )
        try:
            return asking(ask)
        except _Fault as fault:
            raise Stopped(
                f"{url}: {fault}, {ATTEMPTS} times; run the same command again to go on from {self.cache}, or list the "
                "function in a file for --unresolved"
            ) from fault


def _ask(url: str) -> bytes | Missing:
    try:
        with urllib.request.urlopen(url, timeout=TIMEOUT) as answer:  # noqa: S310  the base is checked to be HTTP
            content: bytes = answer.read()
            return content
    except urllib.error.HTTPError as error:
        with error:
            if error.code in GONE:
                return Missing(GONE[error.code])
            asked = error.headers.get("Retry-After") or ""
            raise _Fault(f"HTTP {error.code}", float(asked) if asked.isascii() and asked.isdigit() else 0.0) from error
    except (OSError, http.client.HTTPException) as error:
        reason = getattr(error, "reason", None) or error
        raise _Fault(f"no whole answer ({str(reason) or type(reason).__name__})") from error
