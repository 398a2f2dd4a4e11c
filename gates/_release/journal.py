"""The log of a language: what was merged, overridden, resealed and withdrawn, by which judge, when and why.

One JSON line an event, added at the end and never changed, because an override is only honest as long as it stays on record:
the card prints it, and export of judge ratings that did not pass the gate rests on it. The time is an argument; nothing here
reads a clock.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Literal, get_args

from pools._dataset import dataset, files, tables
from pools.errors import DataError, UsageError

Kind = Literal["merge", "override", "seal", "reseal", "withdraw", "import"]
KINDS: tuple[Kind, ...] = get_args(Kind)
CHANGES: Mapping[Kind, str] = {
    "reseal": "what was sealed for judge {} was changed",
    "seal": "judge {} was sealed under other conditions than those before",
}
"""What is said of the events by which the conditions of a gate were changed, by their kind."""
NEEDS_REASON = ("override", "reseal", "withdraw")


@dataclass(frozen=True, slots=True)
class Event:
    """One line of the log: `time` in ISO 8601, UTC; `judge_id` None for ratings published without a ledger."""

    time: str
    kind: Kind
    language: str
    judge_id: str | None
    reason: str | None = None
    details: str | None = None


def path(folder: Path, language: str) -> Path:
    """Return where a language's log is kept."""
    return dataset.work(folder, language) / "log.jsonl"


def append(folder: Path, event: Event) -> None:
    """Add an event to its language's log, atomically; raises `UsageError` for one that needs a reason and has none."""
    if event.kind in NEEDS_REASON and not (event.reason or "").strip():
        raise UsageError(f"{event.kind} needs a reason, which stays on record; give one")
    target = path(folder, event.language)
    before = files.read(target) if target.is_file() else b""
    files.replace(target, before + tables.line(asdict(event)))


def read(folder: Path, language: str) -> tuple[Event, ...]:
    """Return a language's events in the order they were added; raises `DataError` with file and line for what is no event."""
    target = path(folder, language)
    if not target.is_file():
        return ()
    out = []
    for place, row in tables.read(target):
        try:
            event = Event(**row)
        except TypeError as error:
            raise DataError(f"{place}: not an event of the log ({error}); restore the file") from error
        if event.kind not in KINDS or not isinstance(event.time, str):
            raise DataError(f"{place}: kind is {event.kind!r}; valid are {', '.join(KINDS)}; restore the file")
        out.append(event)
    return tuple(out)


def history(folder: Path, languages: Sequence[str], *, further: Iterable[Event] = ()) -> tuple[Event, ...]:
    """Return the events of several languages and `further` ones (a ledger's) by time.

    Times are whole seconds. Of the same one, `further` events come first, because nothing is merged before it is sealed.
    """
    events = [*further, *(event for language in languages for event in read(folder, language))]
    return tuple(sorted(events, key=lambda event: event.time))


def change(event: Event) -> str:
    """Return in words what an event of `CHANGES` changed, without when and why."""
    return CHANGES[event.kind].format(event.judge_id)


def override(events: Iterable[Event], judge_id: str | None) -> Event | None:
    """Return the override in force for a judge: its last one, unless its ratings were withdrawn after."""
    found = None
    for event in events:
        if event.judge_id == judge_id and event.kind == "override":
            found = event
        elif event.kind == "withdraw" and event.judge_id == judge_id:
            found = None
    return found


def merged(events: Iterable[Event]) -> Event | None:
    """Return the merge whose ratings the judgements hold: the last one, unless anything was withdrawn after."""
    found = None
    for event in events:
        if event.kind == "merge":
            found = event
        elif event.kind == "withdraw":
            found = None
    return found


def lines(events: Sequence[Event]) -> str:
    """Return events as text, a line each: time, language, what, judge, reason and details."""
    return "\n".join(
        "  ".join(part for part in (event.time, event.language, event.kind, _whose(event), event.reason, event.details) if part)
        for event in events
    )


def _whose(event: Event) -> str | None:
    # Imported ratings are experts', so they are of no judge.
    return None if event.kind == "import" else event.judge_id or "as published"
