"""The baseline judge: a small model over lexical features, with no network and no model file.

Where the embedding has left its vectors, their cosine is one more feature, and the judge's identity says so.

It learns from the expert ratings of its language and is cross-validated by search, so a validation pair is always rated by
a model that saw no rating of its search, and its figures at the gate are honest; every other pair is rated by the model
that saw them all. A logistic regression tells how probably a pair is relevant. Where that becomes a rating is decided on the
training searches alone: the cut for "relevant" is the one with the greatest F1 of their out-of-fold predictions, the cuts
between the other levels follow how often the experts gave each.

It answers like an LLM, in text, so that batches, ledger and reconciliation treat it like any other judge.
"""

import hashlib
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from judge._batching.batches import Batch
from judge._endpoint.answer import Answer
from judge._judges.features import Features, columns
from judge._judges.identity import Identity
from judge._reading import replies
from pools._dataset.records import Function, PairKey, Query
from pools._dataset.settings import Settings
from pools._engines.vectors import Similarity
from pools.errors import DataError, UsageError
from pools.relevance import is_relevant, is_relevant_rating
from prompts.scales import Scale

NAME = "baseline"
VERSION = 2
"""Raised when the same data would be rated differently."""

OUTER_FOLDS = 10
INNER_FOLDS = 5
LEAST_SEARCHES = 5
LEAST_PAIRS = 10


@dataclass(frozen=True, slots=True)
class _Model:
    """A fitted classifier and, for each level above the lowest, the probability from which on a pair is rated that high."""

    classifier: Any
    cuts: tuple[float, ...]
    values: tuple[int, ...]

    def rate(self, rows: Any) -> list[int]:
        return [self.values[sum(p >= cut for cut in self.cuts)] for p in _probabilities(self.classifier, rows)]


class Baseline:
    """A judge of one language; implements `judge._rating.live.Judge`.

    `experts` holds the ratings of every expert-rated pair, `similarity` the cosines where there are vectors. Its ratings are a
    function of searches, functions, expert ratings, cosines, scale and settings alone, not of their order or of the batches.
    Raises `UsageError` where there is too little to learn from, and `DataError` where an expert-rated pair has no search or no
    function.
    """

    def __init__(
        self,
        queries: Sequence[Query],
        functions: Sequence[Function],
        *,
        experts: Mapping[PairKey, Sequence[int]],
        scale: Scale,
        settings: Settings,
        similarity: Similarity | None = None,
    ) -> None:
        self._queries, self._functions, self._similarity = queries, functions, similarity
        self._pairs = tuple(sorted(experts))
        self._experts = experts
        self._scale, self._settings = scale, settings
        self._check(queries[0].language if queries else "this language")
        self.identity = Identity(
            NAME,
            f"Features {', '.join(columns(similarity))}; logistic regression cross-validated by search; version {VERSION}",
            scale,
            settings.judge.shown_characters,
            settings.judge.pairs_per_batch,
            {
                "learned_from": self._fingerprint(experts),
                "relevant_from": settings.relevant_from,
                "embedding": None if similarity is None else similarity.embedder,
            },
            redact=False,
        )

    @property
    def sees(self) -> str:
        """What it judges a pair by, in words."""
        return (
            "lexical features"
            if self._similarity is None
            else f"lexical features and the cosine of {self._similarity.embedder}"
        )

    async def answer(self, batch: Batch) -> Answer:
        """Return the ratings of a batch as the reply that the prompt asks for; the first call trains the models."""
        ratings = self.ratings([item.pair for item in batch.items])
        return Answer(replies.encode(dict(zip(batch.ids, ratings, strict=True))), "stop", NAME)

    def ratings(self, pairs: Sequence[PairKey]) -> list[int]:
        """Return a rating for each pair: an expert-rated one's by a model that saw no rating of its search."""
        held_out = self._held_out
        others = [pair for pair in pairs if pair not in held_out]
        found = (
            held_out | dict(zip(others, self._final.rate(self._features.table(others)), strict=True)) if others else held_out
        )
        return [found[pair] for pair in pairs]

    def _check(self, language: str) -> None:
        searches = {query.search_id for query in self._queries}
        functions = {function.id for function in self._functions}
        for search_id, function_id in self._pairs:
            if search_id not in searches or function_id not in functions:
                raise DataError(f"expert-rated pair {search_id} {function_id} of {language} lacks its search or its function")
        rated = len({search_id for search_id, _ in self._pairs})
        relevant = sum(self._relevant)
        if rated < LEAST_SEARCHES or min(relevant, len(self._pairs) - relevant) < LEAST_PAIRS:
            raise UsageError(
                f"the baseline judge learns from expert ratings, and {language} has {len(self._pairs)} rated pairs of {rated} "
                f"searches, {relevant} of them relevant; it needs at least {LEAST_SEARCHES} searches, {LEAST_PAIRS} relevant "
                f"pairs and {LEAST_PAIRS} others; have more pairs rated, or name an LLM with --model"
            )

    @cached_property
    def _relevant(self) -> list[bool]:
        return [is_relevant(self._experts[pair], self._settings.relevant_from) for pair in self._pairs]

    def _fingerprint(self, experts: Mapping[PairKey, Sequence[int]]) -> str:
        digest = hashlib.sha256()
        for record in (
            *((*pair, *experts[pair]) for pair in self._pairs),
            *sorted((query.search_id, query.search) for query in self._queries),
            *sorted((function.id, function.code) for function in self._functions),
        ):
            digest.update(json.dumps(record).encode("ascii") + b"\n")
        return digest.hexdigest()

    @cached_property
    def _features(self) -> Features:
        return Features(
            self._queries, self._functions, shown_characters=self._settings.judge.shown_characters, similarity=self._similarity
        )

    @cached_property
    def _table(self) -> Any:
        return self._features.table(self._pairs)

    @cached_property
    def _final(self) -> _Model:
        return self._train(range(len(self._pairs)))

    @cached_property
    def _held_out(self) -> dict[PairKey, int]:
        found: dict[PairKey, int] = {}
        for training, held_out in self._folds(range(len(self._pairs)), OUTER_FOLDS):
            ratings = self._train(training).rate(self._table[held_out])
            found |= dict(zip([self._pairs[place] for place in held_out], ratings, strict=True))
        return found

    def _folds(self, places: Sequence[int], count: int) -> list[tuple[list[int], list[int]]]:
        """Split pairs into training and held-out ones, whole searches at a time, whatever their ratings."""
        searches = sorted({self._pairs[place][0] for place in places})
        fold = {search_id: number % count for number, search_id in enumerate(searches)}
        return [
            (
                [place for place in places if fold[self._pairs[place][0]] != number],
                [place for place in places if fold[self._pairs[place][0]] == number],
            )
            for number in range(min(count, len(searches)))
        ]

    def _train(self, places: Sequence[int]) -> _Model:
        """Fit a model to some expert-rated pairs; nothing of it, the cuts included, knows any other rating."""
        unseen: dict[int, float] = {}
        for training, held_out in self._folds(places, INNER_FOLDS):
            probabilities = _probabilities(self._fit(training), self._table[held_out])
            unseen |= dict(zip(held_out, probabilities, strict=True))
        cuts = cut_points(
            [unseen[place] for place in places],
            [self._experts[self._pairs[place]] for place in places],
            values=self._scale.values,
            relevant_from=self._settings.relevant_from,
        )
        return _Model(self._fit(places), cuts, self._scale.values)

    def _fit(self, places: Sequence[int]) -> Any:
        from sklearn.dummy import DummyClassifier
        from sklearn.linear_model import LogisticRegression
        from sklearn.pipeline import make_pipeline
        from sklearn.preprocessing import StandardScaler

        relevant = [self._relevant[place] for place in places]
        # A few searches may hold pairs of one kind only.
        if len(set(relevant)) < 2:
            return DummyClassifier().fit(self._table[places], relevant)
        return make_pipeline(StandardScaler(), LogisticRegression(max_iter=1_000)).fit(self._table[places], relevant)


def _probabilities(classifier: Any, rows: Any) -> list[float]:
    classes = list(classifier.classes_)
    if True not in classes:
        return [0.0] * len(rows)
    # Rounded, so that the last bits, which differ between machines, do not decide.
    return [round(float(p), 9) for p in classifier.predict_proba(rows)[:, classes.index(True)]]


def cut_points(
    probabilities: Sequence[float], experts: Sequence[Sequence[int]], *, values: Sequence[int], relevant_from: float
) -> tuple[float, ...]:
    """Return for each value of the scale but the lowest the probability from which on a pair is rated that high.

    `experts` has the experts' ratings of each pair. The cut to the lowest relevant value is the probability with the greatest
    F1 against their means, the lowest of equals, and beyond all where none is relevant. The other cuts divide the pairs on
    either side of it in the shares in which the experts' means, by the highest value they reach, divide those of that side, so
    a value that they never reached is not given either.
    """
    relevant = [is_relevant(given, relevant_from) for given in experts]
    lowest = next((value for value in values if is_relevant_rating(value, relevant_from)), None)
    main = _best_cut(probabilities, relevant)
    above = sorted(p for p in probabilities if p >= main)
    below = sorted(p for p in probabilities if p < main)
    cuts = []
    for value in values[1:]:
        if is_relevant_rating(value, relevant_from):
            short = [sum(given) < value * len(given) for given, is_above in zip(experts, relevant, strict=True) if is_above]
            cuts.append(main if value == lowest else _quantile(above, short, beyond=math.inf))
        else:
            short = [sum(given) < value * len(given) for given, is_above in zip(experts, relevant, strict=True) if not is_above]
            cuts.append(_quantile(below, short, beyond=main))
    return tuple(cuts)


def _best_cut(probabilities: Sequence[float], relevant: Sequence[bool]) -> float:
    wanted = sum(relevant)
    best, best_f1 = math.inf, 0.0
    hits = taken = 0
    ranked = sorted(zip(probabilities, relevant, strict=True), reverse=True)
    for place, (p, hit) in enumerate(ranked):
        taken, hits = taken + 1, hits + hit
        if place + 1 < len(ranked) and ranked[place + 1][0] == p:
            continue
        f1 = 2 * hits / (taken + wanted)
        if hits and f1 >= best_f1:
            best, best_f1 = p, f1
    return best


def _quantile(ordered: Sequence[float], short: Sequence[bool], *, beyond: float) -> float:
    place = round(len(ordered) * sum(short) / len(short)) if short else len(ordered)
    return ordered[place] if place < len(ordered) else beyond
