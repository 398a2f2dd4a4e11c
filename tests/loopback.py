"""A host of raw files on loopback: a real HTTP server that answers by path, and has on record what it was asked."""

import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import unquote

Reply = tuple[int, dict[str, str], bytes]
"""Status, headers, body. A body shorter than a Content-Length among the headers is one that breaks off."""


class Host(ThreadingHTTPServer):
    """Answers a path, unescaped, and the number of times (from 0) that it was asked for before."""

    daemon_threads = True
    request_queue_size = 64

    def __init__(self, answer: Callable[[str, int], Reply]) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.answer = answer
        self.asked: Counter[str] = Counter()
        self.lock = threading.Lock()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"


class _Handler(BaseHTTPRequestHandler):
    server: Host

    def do_GET(self) -> None:
        path = unquote(self.path)
        with self.server.lock:
            before = self.server.asked[path]
            self.server.asked[path] += 1
        status, headers, body = self.server.answer(path, before)
        self.send_response(status)
        for name, value in {"Content-Length": str(len(body)), **headers}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *arguments: object) -> None:
        """Say nothing."""


@contextmanager
def serve(answer: Callable[[str, int], Reply]) -> Iterator[Host]:
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
