"""Small text utilities."""

import os
import re
from collections import Counter


def reverse_string(text: str) -> str:
    """Reverse a string."""
    chars = list(text)
    chars.reverse()
    return "".join(chars)


def backwards(s):
    out = ""
    for ch in s:
        out = ch + out
    return out


def reverse_words(sentence):
    """Put the words of a sentence in reverse order; the words stay intact."""
    words = sentence.split()
    words.reverse()
    return " ".join(words)


def word_frequencies(text: str) -> dict[str, int]:
    """Count how often each word occurs in text, ignoring case."""
    counts: dict[str, int] = {}
    for word in re.findall(r"[a-z']+", text.lower()):
        counts[word] = counts.get(word, 0) + 1
    return counts


def tally(text):
    # most common first
    terms = re.split(r"\W+", text.casefold())
    table = {}
    for term in filter(None, terms):
        table[term] = table.get(term, 0) + 1
    return sorted(table.items(), key=lambda pair: pair[1], reverse=True)


def top_words(path, limit=10):
    """Return the most frequent words of a text file."""
    counter = Counter()
    with open(path, encoding="utf-8") as handle:
        for line in handle:
            counter.update(line.lower().split())
    return [word for word, _ in counter.most_common(limit)]


def count_words(text):
    """Number of words in the text."""
    if not text.strip():
        return 0
    return len(text.split())


def longest_common_prefix(strings: list[str]) -> str:
    """Longest prefix that all the strings have in common ("" if none)."""
    if not strings:
        return ""
    prefix = strings[0]
    for candidate in strings[1:]:
        while not candidate.startswith(prefix):
            prefix = prefix[:-1]
    return prefix


def shared_start(names):
    matched = []
    for column in zip(*names):
        if len(set(column)) > 1:
            break
        matched.append(column[0])
    return "".join(matched)


def common_folder(paths):
    """Deepest folder that is a common prefix of all paths."""
    if not paths:
        return ""
    parents = [os.path.dirname(os.path.abspath(p)) for p in paths]
    return os.path.commonpath(parents)


def longest_common_subsequence(a, b):
    """Length of the longest common subsequence of two strings."""
    previous = [0] * (len(b) + 1)
    for x in a:
        current = [0]
        for j, y in enumerate(b):
            if x == y:
                current.append(previous[j] + 1)
            else:
                current.append(max(current[-1], previous[j + 1]))
        previous = current
    return previous[-1]


def slugify(title):
    slug = title.strip().lower()
    slug = re.sub(r"[^a-z0-9]+", "-", slug)
    return slug.strip("-")
