"""What the baseline judge sees of a pair: lexical figures of search and code, and their cosine, as named columns.

Nothing here knows a rating. A column is read from the pair's own texts, from how the function compares with all others of
its language for this search, or from how it resembles those that match best (pseudo-relevance feedback, which finds
functions that share no word with the search). Shares of a search are weighted by the rarity of its words. Word counts of
the corpus are held once as a sparse matrix; a further column is a further name in `COLUMNS` and a further figure in `_row`.
"""

import math
import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from pools._dataset.records import Function, PairKey, Query
from pools._engines import codewords, okapi
from pools._engines.vectors import Similarity

COLUMNS = (
    "bm25", "bm25_of_best", "bm25_rank", "words", "words_in_name", "words_in_code", "words_in_comments", "name_precision",
    "related", "related_of_best", "related_rank", "related_in_name", "ngrams", "ngrams_of_name", "ngrams_of_comments",
    "words_like_best", "ngrams_like_best", "length", "search_length", "has_comments",
)  # fmt: skip

COSINE = "cosine"
"""The column of the embedding, where there are vectors."""

FEEDBACK = 3
"""How many of the best matches a function is compared with."""
ABBREVIATION = 3
"""Letters from which on the beginning of a word counts as related to it: `dir`, `num`, `str`."""

_COMMENT = re.compile(r'"""(.*?)"""|\'\'\'(.*?)\'\'\'|/\*(.*?)\*/|//([^\n]*)|#([^\n]*)', re.DOTALL)
_NAME = re.compile(r"\b(?:def|func|function|fn|sub)\s+(?:self\.)?(?:\([^)]*\)\s*)?([A-Za-z_$][\w$]*)")
_CALL = re.compile(r"(?<![@\w$])([A-Za-z_$][\w$]*)\s*(?:\(|=\s*(?:async\s*)?(?:function|\())")


def columns(similarity: Similarity | None) -> tuple[str, ...]:
    """Return the columns that there are with or without vectors."""
    return COLUMNS if similarity is None else (*COLUMNS, COSINE)


def stem(word: str) -> str:
    """Return a word without its commonest English endings, as far as three letters are left."""
    for ending in ("ing", "ers", "er", "ed", "es", "s"):
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            return word[: -len(ending)]
    return word[:-1] if word.endswith("e") and len(word) > 3 else word


def stems(text: str) -> list[str]:
    return [stem(word) for word in codewords.split(text)]


def search_words(search: str) -> tuple[str, ...]:
    """Return the stems of a search, each once, without function words; all of them where nothing else is left."""
    return tuple(dict.fromkeys(stem(word) for word in codewords.of_search(search)))


def comments(code: str) -> str:
    return " ".join("".join(groups) for groups in _COMMENT.findall(code))


def name_of(code: str) -> str:
    """Return the name of the function that code defines, or nothing where none can be told."""
    bare = _COMMENT.sub(" ", code)
    found = _NAME.search(bare) or _CALL.search(bare)
    return found[1] if found else ""


@dataclass(frozen=True, slots=True)
class _Ranking:
    """How all functions of the corpus, in the order of their ids, compare for one search; shares are of 1."""

    words: tuple[str, ...]
    rarity: Mapping[str, float]
    bm25: Any
    related_rarity: Mapping[str, float]
    related: Any
    best: tuple[int, ...]


class Features:
    """The columns of any pair of one language, whatever order its searches and functions come in."""

    def __init__(
        self,
        queries: Iterable[Query],
        functions: Iterable[Function],
        *,
        shown_characters: int,
        similarity: Similarity | None = None,
    ) -> None:
        """Count the words of a corpus; with a `similarity` of its searches and functions, `cosine` is one more column."""
        from sklearn.feature_extraction.text import TfidfTransformer, TfidfVectorizer

        self._similarity = similarity
        self.searches = {query.search_id: query.search for query in queries}
        self.codes = {
            function.id: function.code[:shown_characters] for function in sorted(functions, key=lambda function: function.id)
        }
        self._ids = tuple(self.codes)
        self._place = {function_id: place for place, function_id in enumerate(self.codes)}
        stemmed, words = _stemmed(self.codes.values())
        self._index = okapi.Index(stemmed)
        self._counts, self._vocabulary = _count(stemmed)
        self._lengths = self._counts.sum(axis=1).A1
        self._weighted = TfidfTransformer(sublinear_tf=True).fit_transform(self._counts.tocsr())
        self._vectorizer = TfidfVectorizer(analyzer="char_wb", ngram_range=(3, 5), sublinear_tf=True).fit(words)
        # Bounded, because a corpus may have a hundred thousand functions and a dataset thousands of searches.
        self._ranking = lru_cache(maxsize=256)(self._rank)
        self._related_to = lru_cache(maxsize=4096)(self._find_related)
        self._ngrams = lru_cache(maxsize=4096)(self._transform)

    def table(self, pairs: Sequence[PairKey]) -> Any:
        """Return the figures of some pairs as an array of floats, a row a pair, in the order of `columns`."""
        import numpy

        rows = [self._row(pair) for pair in pairs]
        if self._similarity is not None:
            for pair, row in zip(pairs, rows, strict=True):
                row[COSINE] = self._similarity.cosine(pair)
        chosen = columns(self._similarity)
        return numpy.array([[row[column] for column in chosen] for row in rows], dtype=float).reshape(-1, len(chosen))

    def _row(self, pair: PairKey) -> dict[str, float]:
        search, function_id = self.searches[pair[0]], pair[1]
        code, place, ranking = self.codes[function_id], self._place[function_id], self._ranking(search)
        comment, name = comments(code), name_of(code)
        name_stems = set(stems(name))
        ngrams = self._ngrams(search)
        best = [other for other in ranking.best if other != place][:FEEDBACK]
        return {
            "bm25": ranking.bm25[place],
            "bm25_of_best": _ratio(ranking.bm25[place], ranking.bm25.max()),
            "bm25_rank": _log_rank(ranking.bm25, place),
            "words": _share(ranking.rarity, set(stems(code))),
            "words_in_name": _share(ranking.rarity, name_stems),
            "words_in_code": _share(ranking.rarity, set(stems(_COMMENT.sub(" ", code)))),
            "words_in_comments": _share(ranking.rarity, set(stems(comment))),
            "name_precision": _ratio(len(name_stems & set(ranking.words)), len(name_stems)),
            "related": ranking.related[place],
            "related_of_best": _ratio(ranking.related[place], ranking.related.max()),
            "related_rank": _log_rank(ranking.related, place),
            "related_in_name": _share(
                ranking.related_rarity,
                {word for word in ranking.words if any(self._are_related(word, other) for other in name_stems)},
            ),
            "ngrams": _dot(ngrams, self._ngrams(code)),
            "ngrams_of_name": _dot(ngrams, self._ngrams(name)),
            "ngrams_of_comments": _dot(ngrams, self._ngrams(comment)),
            "words_like_best": _mean([_dot(self._weighted[place], self._weighted[other]) for other in best]),
            "ngrams_like_best": _mean([_dot(self._ngrams(code), self._ngrams(self._code_at(other))) for other in best]),
            "length": math.log1p(self._lengths[place]),
            "search_length": len(ranking.words),
            "has_comments": float(bool(comment)),
        }

    def _rank(self, search: str) -> _Ranking:
        import numpy

        words = search_words(search)
        related = numpy.zeros(len(self.codes))
        rarity, related_rarity = {}, {}
        for word in words:
            places = self._holders(self._vocabulary.get(word))
            rarity[word] = okapi.rarity(len(places), len(self.codes))
            columns = [self._holders(column) for column in self._related_to(word)]
            places = numpy.unique(numpy.concatenate(columns)) if columns else places
            related_rarity[word] = okapi.rarity(len(places), len(self.codes))
            related[places] += related_rarity[word]
        # No word can weigh more in a text than its rarity, so this is a share of the most that there could be.
        bm25 = self._index.scores(words) / sum(rarity.values())
        related /= sum(related_rarity.values())
        both = bm25 / (bm25.max() or 1.0) + related / (related.max() or 1.0)
        best = tuple(int(place) for place in numpy.argsort(-both, kind="stable")[: FEEDBACK + 1] if both[place] > 0)
        return _Ranking(words, rarity, bm25, related_rarity, related, best)

    def _holders(self, column: int | None) -> Any:
        """Return the places of the functions that hold the stem of a column."""
        if column is None:
            return self._counts.indices[:0]
        return self._counts.indices[self._counts.indptr[column] : self._counts.indptr[column + 1]]

    def _find_related(self, word: str) -> tuple[int, ...]:
        return tuple(column for other, column in self._vocabulary.items() if self._are_related(word, other))

    def _are_related(self, word: str, other: str) -> bool:
        if min(len(word), len(other)) >= ABBREVIATION and (word.startswith(other) or other.startswith(word)):
            return True
        return word == other

    def _transform(self, text: str) -> Any:
        return self._vectorizer.transform([" ".join(codewords.split(text))])

    def _code_at(self, place: int) -> str:
        return self.codes[self._ids[place]]


def _stemmed(codes: Iterable[str]) -> tuple[list[list[str]], list[str]]:
    """Return the stems of each code in order, and all words, sorted, before they were stemmed."""
    # One text a stem, however often it occurs: a corpus has as many words as memory has room for.
    known: dict[str, str] = {}
    out = []
    for code in codes:
        split = codewords.split(code)
        known.update((word, stem(word)) for word in split if word not in known)
        out.append([known[word] for word in split])
    return out, sorted(known) or ["none"]


def _count(stemmed: Sequence[Sequence[str]]) -> tuple[Any, dict[str, int]]:
    """Return how often each code has each stem as a sparse matrix by column, and the stems' columns."""
    from scipy.sparse import csr_matrix

    counted = [Counter(held) for held in stemmed]
    vocabulary = {word: column for column, word in enumerate(sorted({word for counts in counted for word in counts} or {""}))}
    rows = [row for row, counts in enumerate(counted) for _ in counts]
    columns = [vocabulary[word] for counts in counted for word in counts]
    figures = [count for counts in counted for count in counts.values()]
    matrix = csr_matrix((figures, (rows, columns)), shape=(len(counted), len(vocabulary)), dtype=float)
    return matrix.tocsc(), vocabulary


def _share(rarity: Mapping[str, float], present: Collection[str]) -> float:
    return sum(weight for word, weight in rarity.items() if word in present) / sum(rarity.values())


def _log_rank(scores: Any, place: int) -> float:
    # Equal scores share the middle of their ranks, so that no order of the corpus shows.
    return math.log((scores > scores[place]).sum() + ((scores == scores[place]).sum() + 1) / 2)


def _ratio(part: float, whole: float) -> float:
    return part / whole if whole else 0.0


def _dot(left: Any, right: Any) -> float:
    return float((left @ right.T).sum())


def _mean(figures: Sequence[float]) -> float:
    return sum(figures) / len(figures) if figures else 0.0
