"""Raw files over HTTP: kept in a cache, tried again, and never taken for missing because a host is out of order."""

import os
import socket
from pathlib import Path

import pytest

from pools._checkouts.mirrors import ATTEMPTS, Mirror
from pools._checkouts.sources import File, Missing
from pools.errors import Stopped
from tests.builders.host import Reply, ok, serve

FILES = [File("o/n", "a" * 40, f"src/{number}.py") for number in range(30)]


def test_what_came_is_not_asked_for_again(tmp_path: Path) -> None:
    with serve(lambda request: ok(request.path.encode())) as host:
        first = dict(Mirror(host.url, tmp_path).read(FILES))
        assert first == {file: f"/o/n/{'a' * 40}/{file.path}".encode() for file in FILES}
        assert dict(Mirror(host.url + "/", tmp_path).read(FILES)) == first
        assert set(host.asked.values()) == {1}
    assert dict(Mirror(host.url, tmp_path).read(FILES)) == first


def test_names_are_escaped_whatever_is_in_them(tmp_path: Path) -> None:
    file = File("o/n", "a" * 40, "My Dir/a?b#c%20é&d=../e.py")
    with serve(lambda _: ok(b"x")) as host:
        assert dict(Mirror(host.url, tmp_path).read([file])) == {file: b"x"}
        assert list(host.asked) == [f"/o/n/{'a' * 40}/My Dir/a?b#c%20é&d=../e.py"]
    assert len(list(tmp_path.iterdir())) == 1


def test_missing_is_an_answer_and_is_not_kept(tmp_path: Path) -> None:
    with serve(lambda request: (404 if "0.py" in request.path else 410, {}, b"")) as host:
        assert dict(Mirror(host.url, tmp_path).read(FILES[:2])) == {
            FILES[0]: Missing("HTTP 404, no such file"),
            FILES[1]: Missing("HTTP 410, the file is gone"),
        }
    with serve(lambda _: ok(b"back")) as host:
        assert dict(Mirror(host.url, tmp_path).read(FILES[:2])) == dict.fromkeys(FILES[:2], b"back")


def test_failures_are_tried_again_with_growing_waits(tmp_path: Path) -> None:
    replies: list[Reply] = [
        (503, {}, b""),
        (429, {"Retry-After": "17"}, b""),
        (200, {"Content-Length": "99"}, b"breaks off"),
        (500, {"Retry-After": "9999"}, b""),
        ok(b"whole"),
    ]
    waits: list[float] = []
    with serve(lambda request: replies[request.before]) as host:
        assert list(Mirror(host.url, tmp_path, waits.append).read(FILES[:1])) == [(FILES[0], b"whole")]
    assert 1 <= waits[0] <= 2
    assert waits[1] == 17
    assert waits[2] == waits[0] * 4
    assert waits[3] == 60


@pytest.mark.parametrize("status", [400, 401, 403, 451, 500])
def test_other_failures_stop_the_run_in_the_end(tmp_path: Path, status: int) -> None:
    with serve(lambda _: (status, {}, b"")) as host:
        with pytest.raises(Stopped, match=rf"0\.py: HTTP {status}, 5 times; run the same command again") as stopped:
            list(Mirror(host.url, tmp_path, lambda _: None).read(FILES[:1]))
        assert set(host.asked.values()) == {ATTEMPTS}
    assert stopped.value.exit_code == 4
    assert list(tmp_path.iterdir()) == []


def test_no_host_stops_the_run(tmp_path: Path) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        base = f"http://127.0.0.1:{free.getsockname()[1]}"
        with pytest.raises(Stopped, match=r"no whole answer \(.*refused\), 5 times"):
            list(Mirror(base, tmp_path, lambda _: None).read(FILES[:1]))


def test_a_stopped_run_keeps_what_came_and_goes_on_from_there(tmp_path: Path) -> None:
    with serve(lambda request: (500, {}, b"") if "/29.py" in request.path else ok(request.path.encode())) as host:
        with pytest.raises(Stopped, match=r"29\.py"):
            list(Mirror(host.url, tmp_path, lambda _: None).read(FILES))
        kept = len(list(tmp_path.iterdir()))
        came = sum(1 for path in host.asked if "/29.py" not in path)
        assert kept == came > 0
        host.answer = lambda request: ok(request.path.encode())
        assert len(dict(Mirror(host.url, tmp_path, lambda _: None).read(FILES))) == 30
        assert [count for path, count in host.asked.items() if "/29.py" not in path] == [1] * 29


def test_a_run_that_is_stopped_while_it_waits_asks_no_more(tmp_path: Path) -> None:
    with serve(lambda request: (500, {"Retry-After": "60"}, b"") if "/1.py" in request.path else ok(b"x")) as host:
        reading = Mirror(host.url, tmp_path).read(FILES[:2])
        assert next(reading) == (FILES[0], b"x")
        while not any("/1.py" in path for path in host.asked):
            os.sched_yield()
        reading.close()
        assert set(host.asked.values()) == {1}
