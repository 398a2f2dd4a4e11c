"""A host on loopback: a real HTTP server that answers one request at a time, and has on record what it was asked.

It serves whatever is one answer a request: files by their path, and vectors by what was posted. The endpoint that an LLM
answers is tests.builders.fake_api, which can also hang, break off and count what is in flight.
"""

import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import unquote

Reply = tuple[int, dict[str, str], bytes]
"""Status, headers, body. A body shorter than a Content-Length among the headers is one that breaks off."""


@dataclass(frozen=True, slots=True)
class Request:
    """A request: its number (from 0), its path, unescaped, how often that was asked for before, and what was posted."""

    number: int
    path: str
    before: int
    body: bytes


class Host(ThreadingHTTPServer):
    """Answers requests by a function, and keeps them."""

    daemon_threads = True
    request_queue_size = 64

    def __init__(self, answer: Callable[[Request], Reply]) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.answer = answer
        self.requests: list[Request] = []
        self.lock = threading.Lock()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"

    @property
    def asked(self) -> Counter[str]:
        """How often each path was asked for."""
        return Counter(request.path for request in self.requests)


class _Handler(BaseHTTPRequestHandler):
    server: Host

    def do_GET(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        with self.server.lock:
            path = unquote(self.path)
            request = Request(len(self.server.requests), path, self.server.asked[path], body)
            self.server.requests.append(request)
        status, headers, content = self.server.answer(request)
        self.send_response(status)
        for name, value in {"Content-Length": str(len(content)), **headers}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(content)

    do_POST = do_GET  # noqa: N815  the names that the base class calls

    def log_message(self, *arguments: object) -> None:
        """Say nothing."""


@contextmanager
def serve(answer: Callable[[Request], Reply]) -> Iterator[Host]:
    """Run a host for as long as the block."""
    host = Host(answer)
    thread = threading.Thread(target=host.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield host
    finally:
        host.shutdown()
        thread.join()
        host.server_close()


def ok(body: bytes) -> Reply:
    return 200, {}, body
