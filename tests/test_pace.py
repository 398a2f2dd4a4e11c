"""The pace that all workers share: slots, falls at an overload, and nobody let in once it is drained."""

import asyncio
import random
from typing import Any

from judge._endpoint.pace import Drained, Pace
from tests.builders.judging import QuickClock


def test_the_number_in_flight_falls_at_an_overload_and_climbs_back() -> None:
    clock = QuickClock()
    pace = Pace(10, clock, rng=random.Random(1))
    pace.failed(clock.monotonic(), None, overloaded=True)
    assert pace.limit == 7
    pace.failed(clock.monotonic() - 100, None, overloaded=True)
    assert (pace.limit, pace.streak) == (7, 1), "a fault of the same burst changes nothing"
    for _ in range(7):
        pace.answered()
    assert (pace.limit, pace.streak) == (7, 0)
    for _ in range(100):
        pace.answered()
    assert pace.limit == 10


def test_no_more_are_in_flight_than_may_be() -> None:
    async def crowd() -> int:
        pace = Pace(3, QuickClock(), rng=random.Random(1))
        inside = most = 0

        async def one() -> None:
            nonlocal inside, most
            await pace.enter()
            inside += 1
            most = max(most, inside)
            await asyncio.sleep(0)
            inside -= 1
            pace.leave()

        workers = [asyncio.create_task(one()) for _ in range(20)]
        await asyncio.sleep(0)
        for worker in workers[3:9:2]:
            worker.cancel()
        await asyncio.gather(*workers, return_exceptions=True)
        assert inside == 0
        return most

    assert asyncio.run(crowd()) == 3


def test_draining_lets_nobody_in() -> None:
    async def waiting() -> list[Any]:
        pace = Pace(1, QuickClock(), rng=random.Random(1))
        await pace.enter()
        others = [asyncio.create_task(pace.enter()) for _ in range(3)]
        await asyncio.sleep(0)
        pace.drain()
        return await asyncio.gather(*others, pace.enter(), return_exceptions=True)

    assert [type(result) for result in asyncio.run(waiting())] == [Drained] * 4
