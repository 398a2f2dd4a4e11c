"""Secrets in code, masked before it is sent anywhere; the corpus itself is never touched.

Tokens of providers are found by detect-secrets, those of its patterns that need no guessing: what only looks random, or is
merely called a password, is left alone, because code with holes in it is rated worse. Beside them: tokens it does not know
yet, private key blocks whole (it knows their first line), and e-mail addresses. A mask keeps the lines as they are, and
masking what is masked changes nothing.

Few functions hold a secret, so a text is first asked for what every secret has: a fixed string, or a run of 24 characters
without a break. Only lines that have either are put to the patterns, and only then is detect-secrets imported.
"""

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

E_MAIL = "E-mail Address"
PRIVATE_KEY = "Private Key"
PASSWORD_IN_URL = "Basic Auth Credentials"  # noqa: S105  a kind's name

MASK = "<masked>"
E_MAIL_MASK = "<masked e-mail>"

# Guesses by entropy or by name, addresses, and words that begin with AP or AKC take more from the code than they hide; of
# private keys detect-secrets knows the first line only.
LEFT_OUT = frozenset(
    {"Base64 High Entropy String", "Hex High Entropy String", "Secret Keyword", "Public IP (ipv4)", "Artifactory Credentials"}
    | {PRIVATE_KEY}
)
FURTHER = {
    "GitHub Token": r"github_pat_[A-Za-z0-9_]{22,}",
    "Google API Key": r"AIza[A-Za-z0-9_-]{35}",
    "Anthropic Token": r"sk-ant-[A-Za-z0-9_-]{20,}",
    "Hugging Face Token": r"hf_[A-Za-z0-9]{34}",
}

# What every pattern in use needs: a run of characters, or else one of these strings, one of the second in any case of
# letters, or both "://" and "@".
_STRINGS = ("AKIA", "ASIA", "ABIA", "ACCA", "A3T", "AccountKey=", "eyJ", ":_authToken=", "sq0csp-")
_STRINGS_OF_ANY_CASE = ("aws", "xox", "hooks.slack.com")
_RUN = re.compile(r"[\w-]{24}")
_ASCII_RUN = re.compile(r"[A-Za-z0-9_-]{24}")

_E_MAIL = re.compile(
    r"(?<![A-Za-z0-9._%+-])[A-Za-z0-9._%+-]+@(?:[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?\.)+[A-Za-z]{2,}(?![\w(\[]|[.-]\w)"
)
_KEY = re.compile(
    r"(?P<first>-{4,5} ?BEGIN (?P<name>[A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?) ?-{4,5})"
    r"(?:(?P<whole>.*?)(?=-{4,5} ?END (?P=name))|(?P<cut>(?:.{0,16}?[A-Za-z0-9+/=]{32,})+))",
    re.DOTALL,
)
_KEY_LINE = re.compile(r"[A-Za-z0-9+/=]{32,}")
_LINE_END = re.compile(r"[\r\n]")
_REST = re.compile(r"[A-Za-z0-9_-]*")
_REST_OF_WEB_TOKEN = re.compile(r"[A-Za-z0-9_.+/=-]*")
_TEMPLATE = re.compile(r"[{}<>%]")


@dataclass(frozen=True, slots=True)
class Masked:
    """A text without its secrets, and how many of each kind were masked."""

    text: str
    counts: Mapping[str, int]

    @property
    def total(self) -> int:
        return sum(self.counts.values())


def mask(text: str) -> Masked:
    """Put a mask in the place of every secret; line ends are kept, and a text without a secret comes back as it is."""
    counts: Counter[str] = Counter()
    found = _pass(text, counts)
    # A mask is shorter than what it hides and may bring a name and its secret close enough to be seen as such.
    while found != text:
        text, found = found, _pass(found, counts)
    return Masked(text, counts)


def _pass(text: str, counts: Counter[str]) -> str:
    if "PRIVATE KEY" in text:
        text = _KEY.sub(lambda match: _without_key(match, counts), text)
    if _suspect(text):
        text = "\n".join([_without_tokens(line, counts) if _suspect(line) else line for line in text.split("\n")])
    if "@" in text:
        text, number = _E_MAIL.subn(E_MAIL_MASK, text)
        if number:
            counts[E_MAIL] += number
    return text


def _suspect(text: str) -> bool:
    if "@" in text and "://" in text:
        return True
    folded = text.casefold()
    return (
        (_ASCII_RUN if text.isascii() else _RUN).search(text) is not None
        or any(string in text for string in _STRINGS)
        or any(string in folded for string in _STRINGS_OF_ANY_CASE)
    )


def _without_key(match: re.Match[str], counts: Counter[str]) -> str:
    body = match["cut"] if match["whole"] is None else match["whole"]
    # Code that reads or writes keys has both of their lines too, with code in between.
    lines = sum(len(line) for line in _KEY_LINE.findall(body))
    if 2 * lines < len("".join(body.split())) or not lines:
        return match[0]
    counts[PRIVATE_KEY] += 1
    return match["first"] + MASK + "".join(_LINE_END.findall(body))


def _without_tokens(line: str, counts: Counter[str]) -> str:
    for kind, pattern in _patterns():
        pieces, place = [], 0
        for match in pattern.finditer(line):
            start, end = _span(match, kind)
            if start < place or (kind == PASSWORD_IN_URL and _TEMPLATE.search(line[start:end])):
                continue
            counts[kind] += 1
            pieces += [line[place:start], MASK]
            place = end
        if pieces:
            line = "".join([*pieces, line[place:]])
    return line


def _span(match: re.Match[str], kind: str) -> tuple[int, int]:
    """Return where the secret of a match is: its group, unless that is but the token's beginning, and what hangs on to it."""
    group = max(range(len(match.groups()) + 1), key=lambda number: (number > 0) * len(match[number] or ""))
    start, end = match.span(group) if group and (kind == PASSWORD_IN_URL or len(match[group]) >= 20) else match.span()
    if kind == PASSWORD_IN_URL:
        return start, end
    rest = _REST_OF_WEB_TOKEN if kind == "JSON Web Token" else _REST
    found = rest.match(match.string, end)
    return start, found.end() if found else end


@lru_cache(maxsize=1)
def _patterns() -> tuple[tuple[str, re.Pattern[str]], ...]:
    from detect_secrets.core.plugins.util import get_mapping_from_secret_type_to_class

    plugins: list[tuple[str, Any]] = sorted(get_mapping_from_secret_type_to_class().items())
    known = [(kind, pattern) for kind, plugin in plugins if kind not in LEFT_OUT for pattern in plugin.denylist]
    return (*known, *((kind, re.compile(pattern)) for kind, pattern in FURTHER.items()))
