"""Limits and timing of calls."""

import functools
import threading
import time
from collections import deque
from dataclasses import dataclass, field


def rate_limited(calls: int, period: float):
    """Decorator: limit the rate to `calls` calls per `period` seconds."""
    def decorate(func):
        recent = deque()

        @functools.wraps(func)
        def wrapper(*args, **kwargs):
            now = time.monotonic()
            while recent and now - recent[0] >= period:
                recent.popleft()
            if len(recent) >= calls:
                time.sleep(period - (now - recent[0]))
                recent.popleft()
            recent.append(time.monotonic())
            return func(*args, **kwargs)
        return wrapper
    return decorate


@dataclass
class Gate:
    """Lets a visitor through only so often."""

    capacity: float
    per_second: float
    level: float = 0.0
    updated: float = field(default_factory=time.monotonic)

    def admit(self):
        now = time.monotonic()
        gained = (now - self.updated) * self.per_second
        self.level = min(self.capacity, self.level + gained)
        self.updated = now
        if self.level < 1:
            return False
        self.level -= 1
        return True


def debounce(wait):
    """Run the function once it has not been called for `wait` seconds."""
    def decorate(func):
        timer = None

        @functools.wraps(func)
        def wrapper(*args, **kwargs):
            nonlocal timer
            if timer is not None:
                timer.cancel()
            timer = threading.Timer(wait, func, args, kwargs)
            timer.start()
        return wrapper
    return decorate


def spaced(jobs, gap):
    """Run jobs in turn, at least `gap` seconds from start to start."""
    for job in jobs:
        started = time.monotonic()
        yield job()
        rest = gap - (time.monotonic() - started)
        if rest > 0:
            time.sleep(rest)


def limit_length(text, limit=80):
    """Shorten text to the limit and mark the cut."""
    if len(text) <= limit:
        return text
    return text[:limit - 1] + "…"
