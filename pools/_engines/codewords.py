"""The words of code and of searches: identifiers taken apart, so that `readJSONFile`, `read_json_file` and a search for
"read JSON file" hold the same words.

Everything that compares searches with code by their words splits both with this.
"""

import re
import unicodedata

# An acronym in front of a capitalised word (HTTP|Server), an acronym in the plural (URLs), words, numbers, other scripts.
_WORD = re.compile(r"[A-Z]+(?=[A-Z][a-z])(?![A-Z]s(?![a-z]))|[A-Z]{2,}s(?![a-z])|[A-Z]?[a-z]+|[A-Z]+|\d+|[^\W\d_A-Za-z]+")
# Letters that Unicode does not take apart into ASCII letters and marks.
_LETTERS = str.maketrans(dict(zip("ßæÆœŒøØłŁđĐ", ["ss", "ae", "AE", "oe", "OE", "o", "O", "l", "L", "d", "D"], strict=True)))

# fmt: off
IN_BETWEEN = frozenset([
    "a", "an", "and", "another", "based", "by", "for", "from", "how", "in", "into", "is", "of", "on", "or", "the", "to",
    "with", "x",
])
# fmt: on
"""Words that hold a search together and say nothing of what is searched for."""
STOP_WORDS = IN_BETWEEN | {"i", "it", "that", "this"}
"""The same with pronouns. Where whole searches are looked up (`of_search`) these say nothing either; the grep retrievers have
always looked for them, and what a pool was drawn from must not change under it."""


def split(text: str) -> list[str]:
    """Return the words of a text in order, lower-case and without accents.

    Words end at anything but letters and digits, at a change from small to capital letters, before the last capital of an
    acronym, and between letters and digits: `parseHTTPDate2` is parse, http, date, 2. Letters of other scripts are kept.
    """
    return [word.lower() for word in _WORD.findall(fold(text))]


def of_search(search: str) -> tuple[str, ...]:
    """Return the words of a search, each once, in order, without `STOP_WORDS`; all of them where nothing else is left."""
    words = split(search)
    return tuple(dict.fromkeys([word for word in words if word not in STOP_WORDS] or words))


def fold(text: str) -> str:
    """Return text with accented letters and other forms of ASCII characters as plain ASCII, and all else as it is."""
    if text.isascii():
        return text
    taken_apart = unicodedata.normalize("NFKD", text.translate(_LETTERS))
    return "".join([char for char in taken_apart if not unicodedata.combining(char)])
