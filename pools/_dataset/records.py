"""The records of a dataset: searches, functions and relevance judgements, made from rows of its tables and into rows again.

Column names are those of the published dataset. A record keeps the columns it does not know in `extra`, in file order, so they
survive a round trip.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from pools._dataset.tables import Row
from prompts.scales import Scale

ONLY_LANGUAGE = "all"
SPLITS = ("test", "tuning")
SOURCES = ("expert", "judge")
REASONS = ("expert", "pooled", "sample")

ORIGIN_COLUMNS = ("url", "repository", "commit", "path", "first_line", "last_line", "license", "sha256")
QREL_COLUMNS = (
    "language", "search_id", "function_id", "relevance", "relevant", "source", "expert_ratings", "judge_rating",
    "rated_because",
)  # fmt: skip

PairKey = tuple[str, str]
"""(search_id, function_id) of one language."""


@dataclass(frozen=True, slots=True)
class Query:
    """A search; its id is unique within its language. `split` is "tuning" or "test"."""

    language: str
    search_id: str
    search: str
    split: str = "test"
    extra: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Function:
    """A function of the corpus; its id is unique in the dataset. `origin` holds url, repository, commit, path, … as read."""

    id: str
    language: str
    code: str
    origin: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Qrel:
    """A relevance judgement of one pair. `relevance` is the experts' mean, else the judge's rating, to 4 places."""

    language: str
    search_id: str
    function_id: str
    relevance: float
    relevant: bool
    source: str
    expert_ratings: tuple[int, ...] = ()
    judge_rating: int | None = None
    rated_because: str = "expert"
    extra: Mapping[str, Any] = field(default_factory=dict)

    @property
    def pair(self) -> PairKey:
        return (self.search_id, self.function_id)


def query_of(row: Row) -> Query:
    """Make a record of a row of queries; raises `ValueError` naming the column at fault."""
    query = Query(
        _name(row, "language", default=ONLY_LANGUAGE),
        _name(row, "search_id"),
        _text(row, "search"),
        _text(row, "split", default="test"),
        _others(row, "language", "search_id", "search", "split"),
    )
    if not query.search.strip():
        raise ValueError(f"search {query.search_id!r} is empty; write what is searched for")
    if query.split not in SPLITS:
        raise ValueError(f"split is {query.split!r}; valid are {', '.join(SPLITS)}")
    return query


def function_of(row: Row) -> Function:
    """Make a record of a row of the corpus; raises `ValueError` naming the column at fault."""
    return Function(
        _name(row, "id"),
        _name(row, "language", default=ONLY_LANGUAGE),
        _text(row, "code"),
        _others(row, "id", "language", "code"),
    )


def qrel_of(row: Row, scale: Scale) -> Qrel:
    """Make a record of a row of qrels; raises `ValueError` naming the column at fault, or a rating that is off the scale."""
    given = row.get("expert_ratings")
    if given is not None and not isinstance(given, list):
        raise ValueError(f"expert_ratings must be a list of whole numbers, is {given!r}")
    experts = tuple(_rating(value, "expert_ratings", scale=scale) for value in given or ())
    judged = row.get("judge_rating")
    relevance = row.get("relevance")
    if isinstance(relevance, bool) or not isinstance(relevance, int | float):
        raise ValueError(f"relevance must be a number, is {_shown(row, 'relevance')}")
    if not scale.lowest <= relevance <= scale.highest:
        raise ValueError(f"relevance {relevance} is off the scale {scale.lowest}-{scale.highest}")
    if type(row.get("relevant")) is not bool:
        raise ValueError(f"relevant must be true or false, is {_shown(row, 'relevant')}")
    return Qrel(
        language=_name(row, "language", default=ONLY_LANGUAGE),
        search_id=_name(row, "search_id"),
        function_id=_name(row, "function_id"),
        relevance=float(relevance),
        relevant=row["relevant"],
        source=_one_of(row, "source", valid=SOURCES),
        expert_ratings=experts,
        judge_rating=None if judged is None else _rating(judged, "judge_rating", scale=scale),
        rated_because=_one_of(row, "rated_because", valid=REASONS),
        extra=_others(row, *QREL_COLUMNS),
    )


def query_row(query: Query) -> Row:
    """Return a search as a row in the published columns, its own further ones behind them."""
    return {
        "language": query.language, "search_id": query.search_id, "search": query.search, "split": query.split, **query.extra,
    }  # fmt: skip


def function_row(function: Function) -> Row:
    """Return a function as a row in the published columns, its own further ones behind them."""
    origin = {column: function.origin.get(column) for column in ORIGIN_COLUMNS}
    return {"id": function.id, "language": function.language, "code": function.code, **origin, **function.origin}


def qrel_row(qrel: Qrel) -> Row:
    """Return a judgement as a row in the published columns, its own further ones behind them."""
    row: Row = {column: getattr(qrel, column) for column in QREL_COLUMNS}
    return row | {"expert_ratings": list(qrel.expert_ratings)} | dict(qrel.extra)


def _text(row: Row, column: str, *, default: str | None = None) -> str:
    value = row.get(column, default)
    if not isinstance(value, str) or not value:
        raise ValueError(f"{column} must be a text that is not empty, is {_shown(row, column)}")
    return value


def _name(row: Row, column: str, *, default: str | None = None) -> str:
    """Return an id or a language, which has to fit into every kind of file."""
    value = _text(row, column, default=default)
    try:
        value.encode("utf-8")
    except UnicodeEncodeError:
        raise ValueError(f"{column} {value!a} holds half a surrogate pair, which is no character; write another one") from None
    return value


def _one_of(row: Row, column: str, *, valid: tuple[str, ...]) -> str:
    value = row.get(column, valid[0])
    if value not in valid:
        raise ValueError(f"{column} is {_shown(row, column)}; valid are {', '.join(valid)}")
    return str(value)


def _rating(value: object, column: str, *, scale: Scale) -> int:
    # Parquet columns with gaps come back as floats; 2.0 is the whole number 2, true is not 1.
    if isinstance(value, bool) or not isinstance(value, int | float) or not float(value).is_integer():
        raise ValueError(f"{column} holds {value!r}, which is no whole number")
    if int(value) not in scale.values:
        raise ValueError(f"{column} holds {value!r}, which is off the scale {scale.lowest}-{scale.highest}")
    return int(value)


def _shown(row: Row, column: str) -> str:
    return repr(row[column])[:80] if column in row else "missing"


def _others(row: Row, *known: str) -> Row:
    return {column: value for column, value in row.items() if column not in known}
