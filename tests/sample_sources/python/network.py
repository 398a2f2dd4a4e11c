"""HTTP and socket helpers."""

import functools
import logging
import socket
import time
import urllib.error
import urllib.request

log = logging.getLogger(__name__)


def retry_request(url: str, attempts: int = 3, pause: float = 1.0) -> bytes:
    """Request a URL; retry when the request failed."""
    for attempt in range(1, attempts + 1):
        try:
            with urllib.request.urlopen(url, timeout=10) as response:
                return response.read()
        except urllib.error.URLError:
            if attempt == attempts:
                raise
            time.sleep(pause)
    raise ValueError("attempts must be at least 1")


def with_backoff(tries=4, first_delay=0.5, errors=(OSError,)):
    def decorate(func):
        @functools.wraps(func)
        def wrapper(*args, **kwargs):
            delay = first_delay
            for _ in range(tries - 1):
                try:
                    return func(*args, **kwargs)
                except errors:
                    time.sleep(delay)
                    delay *= 2
            return func(*args, **kwargs)
        return wrapper
    return decorate


def log_failed_request(request, status):
    """Write a warning about a failed request to the log."""
    if status < 400:
        return
    kind = "client" if status < 500 else "server"
    log.warning("request %s failed: %s error %d", request, kind, status)


def is_port_open(host: str, port: int, timeout: float = 2.0) -> bool:
    """Check whether a TCP port is open."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as sock:
        sock.settimeout(timeout)
        return sock.connect_ex((host, port)) == 0


def reachable(address, patience=3):
    # address is a (name, number) pair
    try:
        socket.create_connection(address, patience).close()
    except OSError:
        return False
    return True


def wait_for_server(host, port, deadline=30):
    """Block until the server accepts connections on its port."""
    end = time.monotonic() + deadline
    while time.monotonic() < end:
        try:
            with socket.create_connection((host, port), timeout=1):
                return
        except OSError:
            time.sleep(0.2)
    raise TimeoutError(f"{host}:{port} did not come up")


def find_free_port():
    """Ask the system for a port that nobody uses."""
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        return sock.getsockname()[1]
