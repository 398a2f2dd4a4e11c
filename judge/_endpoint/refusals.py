"""What an endpoint means by an error: try again, ask for less, ask in another form, or stop. Pure, and all in one place.

Endpoints agree on status codes and little else, so the words of the message count too. The order of the questions matters:
a context overflow often names `max_tokens`, and an exhausted quota comes as 429 like an overload that passes.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC
from email.utils import parsedate_to_datetime
from functools import partial
from typing import Any, Literal

Meaning = Literal["again", "overloaded", "too-long", "filtered", "form", "unfit", "stop"]

LONGEST_RETRY_AFTER = 600.0

_pattern = partial(re.compile, flags=re.IGNORECASE)
_QUOTA = _pattern(r"insufficient_quota|exceeded your current quota|billing|insufficient (?:credits|balance|funds)")
_MODEL = _pattern(r"model_not_found|(?:unknown|invalid|no such) model|model .{0,80}(?:not found|does not exist)")
_LONG = _pattern(
    r"context_length|context (?:length|window|size)|maximum context|(?:prompt|input|request)s? (?:is|are)? ?too (?:long|large)|"
    r"too many (?:input )?tokens|string_above_max_length|reduce the length"
)
_FILTER = _pattern(r"content[_ ](?:filter|policy|management)|responsible ?ai|safety (?:system|filter)|moderation")
_ANSWER_LENGTH = _pattern(r"max_(?:completion_)?tokens\W.{0,60}too (?:large|high)|at most \d+ completion tokens")
_FORMAT = _pattern(r"response_?format|json_?(?:schema|object)|json mode|structured output|grammar|guided")


@dataclass(frozen=True, slots=True)
class Refusal:
    """An error as it came: `status` 0 for one of the connection; `code` and `param` where the endpoint names them."""

    status: int
    message: str
    code: str = ""
    param: str = ""
    retry_after: float | None = None


class Refused(Exception):
    """An endpoint's refusal, on its way to who decides what follows from it."""

    def __init__(self, refusal: Refusal) -> None:
        super().__init__(refusal.message)
        self.refusal = refusal


def of(status: int, body: bytes, *, headers: Mapping[str, str], now: float) -> Refusal:
    """Make a refusal of a response; `now` in seconds since 1970, for a Retry-After that is a date."""
    try:
        document: Any = json.loads(body)
    except ValueError:
        document = None
    message, code, param = body.decode("utf-8", "replace"), "", ""
    if isinstance(document, dict):
        error = document.get("error", document)
        if isinstance(error, dict):
            code = " ".join(str(error[key]) for key in ("code", "type") if error.get(key) is not None)
            param = str(error.get("param") or "")
            message = str(error.get("message") or error.get("detail") or message)
        else:
            message = str(error)
    return Refusal(status, " ".join(message.split())[:500], code, param, retry_after(headers, now))


def retry_after(headers: Mapping[str, str], now: float) -> float | None:
    """Return the seconds that a response asks to wait, from Retry-After-Ms or Retry-After (seconds or a date), else None."""
    try:
        if "retry-after-ms" in headers:
            return _wait(float(headers["retry-after-ms"]) / 1000)
    except ValueError:
        pass
    given = headers.get("retry-after", "").strip()
    if not given:
        return None
    try:
        return _wait(float(given))
    except ValueError:
        pass
    try:
        moment = parsedate_to_datetime(given)
        return _wait((moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp() - now)
    except (ValueError, OverflowError):
        return None


def _wait(seconds: float) -> float | None:
    return max(0.0, seconds) if seconds == seconds else None


def meaning(refusal: Refusal) -> Meaning:
    """Say what an error asks for.

    "again" and "overloaded": the same request later; "too-long", "filtered", "unfit": fewer pairs; "form": the same request
    without something that the endpoint does not take; "stop": nothing that this run could do helps.
    """
    status = refusal.status
    words = f"{refusal.code} {refusal.message}"
    if status in {401, 402, 404} or (400 <= status < 500 and _QUOTA.search(words)):
        return "stop"
    if status == 403:
        return "filtered" if _FILTER.search(words) else "stop"
    if status == 429:
        return "stop" if (refusal.retry_after or 0) > LONGEST_RETRY_AFTER else "overloaded"
    if status in {0, 408, 409, 425} or status >= 500:
        return "stop" if (refusal.retry_after or 0) > LONGEST_RETRY_AFTER else "again"
    if _MODEL.search(words):
        return "stop"
    if _ANSWER_LENGTH.search(words):
        return "form"
    if status == 413 or _LONG.search(words):
        return "too-long"
    if _FILTER.search(words):
        return "filtered"
    return "form" if status in {400, 422} else "stop"


def remedy(refusal: Refusal, model: str, *, base_url: str) -> str:
    """Return the one line that a user sees when the run stops for an error."""
    words = f"{refusal.code} {refusal.message}"
    said = f"HTTP {refusal.status}: {refusal.message[:200]}" if refusal.status else refusal.message[:200]
    if refusal.status == 402 or _QUOTA.search(words):
        advice = "the account has no quota left; add credit, then run the command again, which resumes"
    elif refusal.status == 401:
        advice = "the key is not accepted; set OPENAI_API_KEY to a valid one and run the command again"
    elif refusal.status == 403:
        advice = f"the key may not use {model!r}; use another key or --model and run the command again"
    elif refusal.status == 404 or _MODEL.search(words):
        advice = f"no model {model!r} there; check --model and --base-url"
    elif refusal.retry_after:
        advice = f"it asks to wait {refusal.retry_after:.0f} seconds; run the command again then, which resumes"
    else:
        advice = "run the command again when it is mended, which resumes"
    return f"{base_url}: {said}; {advice}"


@dataclass(frozen=True, slots=True)
class Form:
    """How a request is worded for this endpoint: what it was found not to take is left out.

    `formats` are the ways to ask for JSON that are still to be tried, best first.
    """

    formats: tuple[str, ...] = ("json_schema", "json_object")
    without: frozenset[str] = frozenset()
    renamed: bool = False

    def body(self, model: str, prompt: str, *, schema: Mapping[str, Any] | None, sampling: Mapping[str, Any]) -> dict[str, Any]:
        """Return the JSON body of a chat completion request."""
        body: dict[str, Any] = {"model": model, "messages": [{"role": "user", "content": prompt}]}
        for name, value in sampling.items():
            if name not in self.without:
                body["max_completion_tokens" if name == "max_tokens" and self.renamed else name] = value
        if schema is not None and self.formats:
            body["response_format"] = {"type": self.formats[0]}
            if self.formats[0] == "json_schema":
                body["response_format"]["json_schema"] = {"name": "ratings", "strict": True, "schema": schema}
        return body

    def milder(self, refusal: Refusal, body: Mapping[str, Any]) -> "Form | None":
        """Return the form without what an error of the request names, or None where it names nothing that can be left out."""
        words = f"{refusal.code} {refusal.message}"
        if "response_format" in body and (_FORMAT.search(refusal.param) or (not refusal.param and _FORMAT.search(words))):
            return Form(self.formats[1:], self.without, self.renamed)
        optional = [name for name in body if name not in {"model", "messages", "response_format"}]
        named = [name for name in optional if name == refusal.param] or [name for name in optional if _names(words, name)]
        if not named:
            return None
        name = named[0]
        if name == "max_tokens" and not _ANSWER_LENGTH.search(words):
            return Form(self.formats, self.without, renamed=True)
        dropped = "max_tokens" if name == "max_completion_tokens" else name
        return Form(self.formats, self.without | {dropped}, self.renamed)


def _names(words: str, name: str) -> bool:
    return re.search(rf"(?<![A-Za-z_]){re.escape(name)}(?![A-Za-z_])", words) is not None
