"""Dates and durations."""

import re
from datetime import date, datetime, timedelta

FORMATS = ("%Y-%m-%d", "%d.%m.%Y", "%m/%d/%Y", "%d %B %Y")


def parse_date(text: str) -> date:
    """Parse a date from text in one of the known formats.

    Raises ValueError if none of the formats fits.
    """
    for fmt in FORMATS:
        try:
            return datetime.strptime(text.strip(), fmt).date()
        except ValueError:
            continue
    raise ValueError(f"not a date: {text!r}")


def find_iso_date(text):
    """Return the first YYYY-MM-DD in a longer text as a date, or None."""
    match = re.search(r"\b(\d{4})-(\d{2})-(\d{2})\b", text)
    if match is None:
        return None
    try:
        return date(*map(int, match.groups()))
    except ValueError:
        return None


def to_timestamp(raw):
    # "2021-03-04T05:06:07" or "20210304"
    if raw.isdigit():
        moment = datetime.strptime(raw, "%Y%m%d")
    else:
        moment = datetime.fromisoformat(raw)
    return moment.timestamp()


def date_as_text(day, long=False):
    """Turn a date into text for the page header."""
    if long:
        return day.strftime("%A, %d %B %Y")
    return day.isoformat()


def parse_duration(text):
    """Parse text such as "1h 30m" into a timedelta."""
    units = {"d": "days", "h": "hours", "m": "minutes", "s": "seconds"}
    parts = re.findall(r"(\d+)\s*([dhms])", text)
    if not parts:
        raise ValueError(f"no duration in {text!r}")
    total = timedelta()
    for amount, unit in parts:
        total += timedelta(**{units[unit]: int(amount)})
    return total


def readable_duration(seconds):
    """Human readable form of a number of seconds, such as 2h 05m."""
    minutes, seconds = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours}h {minutes:02d}m"
    if minutes:
        return f"{minutes}m {seconds:02d}s"
    return f"{seconds}s"


def next_weekday(day, weekday):
    """First day after `day` that falls on weekday (Monday is 0)."""
    ahead = (weekday - day.weekday()) % 7
    if ahead == 0:
        ahead = 7
    return day + timedelta(days=ahead)
