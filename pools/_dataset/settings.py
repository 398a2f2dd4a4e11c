"""The settings of a dataset: `judge.toml` read into frozen records, every key of it documented where it is defined.

The file is optional and so is every key; what is not there has the default given here. An unknown key is an error that
lists the valid ones, because a misspelt threshold that is silently ignored is a lowered bar. The commented file that
`judge init` writes is rendered from these definitions, so it cannot fall behind them.
"""

import dataclasses
import math
import tomllib
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any, get_type_hints

from pools._dataset import files
from pools.errors import UsageError

FILE = "judge.toml"
BUILT_IN = "all-MiniLM-L6-v2-int8"
"""The embedding that comes with the install extra."""


def _key(default: Any, doc: str, *, least: float | None = None, most: float | None = None) -> Any:
    return field(default=default, metadata={"doc": doc, "least": least, "most": most})


@dataclass(frozen=True, slots=True)
class PoolSettings:
    """Which pairs are pooled."""

    retrievers: tuple[str, ...] = _key(
        ("grep-agent", "grep-all", "grep-any", "bm25", "embedding"),
        "the retrievers that `judge pool` runs; what it lacks (a model, say) it names",
    )
    grep_any_sample: int = _key(20, "pairs a search drawn at random from what only grep-any hit", least=0)
    unflagged_sample: int = _key(10, "pairs a search drawn at random from what nothing hit", least=0)
    depth: int = _key(
        0, "most hits a search that any retriever but grep-any may bring into the pool, its best ones; 0: all", least=0
    )
    bm25_depth: int = _key(20, "hits of bm25 a search: its best so many", least=1)


@dataclass(frozen=True, slots=True)
class EmbeddingSettings:
    """The model that compares searches and functions by their meaning."""

    model: str = _key(
        BUILT_IN, "the built-in default, which needs no download; or a sentence-transformers name or folder, or an endpoint's"
    )
    base_url: str = _key("", "an OpenAI-compatible endpoint that gives embeddings; empty: the model runs here")
    threshold: float = _key(0.3, "a hit is relevant with at least this probability, by the expert-rated pairs", least=0, most=1)


@dataclass(frozen=True, slots=True)
class LlmSettings:
    """The retriever `llm`, which asks of one pair at a time whether the function answers the search; name it to run it."""

    model: str = _key("", "model name as the endpoint knows it; empty: judge.model")
    prompt: str = _key(
        "yesno",
        "a built-in wording's name (yesno, yesno-plain, yesno-useful), or the path of a .j2 file of your own; "
        "`judge tune --retriever llm` chooses",
    )
    max_tokens: int = _key(8, "most tokens of an answer; a model that thinks before it answers needs more", least=1)
    prefilter: int = _key(100, "pairs a search that are asked about: its best by bm25 and embedding together; 0 = all", least=0)
    threshold: float = _key(0.3, "a hit is a yes, or a yes with at least this probability", least=0, most=1)


@dataclass(frozen=True, slots=True)
class JudgeSettings:
    """The LLM that judges, and how it is asked. What a rating may depend on makes up its identity."""

    model: str = _key("", "model name as the endpoint knows it; the key comes from OPENAI_API_KEY, never from this file")
    base_url: str = _key("https://api.openai.com/v1", "any OpenAI-compatible endpoint")
    prompt: str = _key("judge", "a built-in prompt's name, or the path of a .j2 file of your own")
    temperature: float = _key(0.0, "sampling temperature", least=0, most=2)
    max_tokens: int = _key(4096, "most tokens of a reply", least=1)
    pairs_per_batch: int = _key(40, "pairs in one prompt", least=1)
    max_batch_characters: int = _key(400_000, "a batch is closed earlier when its searches and code would exceed this", least=1)
    shown_characters: int = _key(20_000, "code is cut here, and said to be cut", least=1)
    redact: bool = _key(True, "mask e-mail addresses, private keys and providers' tokens in code before it is sent")
    attempts: int = _key(3, "times a pair is asked for before it is listed as failed", least=1)
    canaries: int = _key(
        1, "expert-rated pairs hidden in each batch of the pool, to see that the judge is still the same", least=0
    )
    retest: float = _key(
        0.02, "share of the pool's pairs that is rated a second time, to see how steady the judge is", least=0, most=1
    )
    concurrency: int = _key(16, "requests in flight", least=1)
    timeout: float = _key(300.0, "seconds to wait for a reply before it is asked for again", least=0.001)


@dataclass(frozen=True, slots=True)
class GateSettings:
    """The bar that a judge must clear, sealed into the ledger before the first rating."""

    f1: float = _key(0.67, "least F1 of `relevant` against the experts", least=0, most=1)
    confidence: float = _key(0.95, "a verdict is clear when this share of the resamples gives it too", least=0.5, most=1)
    resamples: int = _key(10_000, "times whole searches are resampled", least=100)
    require_confidence: bool = _key(False, "true: an uncertain pass is `inconclusive` and does not open the gate")
    split: str = _key("all", "the expert pairs that count: all, or test (without the searches of split tuning)")
    precision: float = _key(0.0, "least precision; 0 = not asked for", least=0, most=1)
    recall: float = _key(0.0, "least recall; 0 = not asked for", least=0, most=1)
    kappa: float = _key(0.0, "least Cohen's kappa; 0 = not asked for", least=0, most=1)
    relevant_pairs: int = _key(0, "least number of pairs that are relevant by the experts; 0 = not asked for", least=0)
    full_batches: float = _key(
        0.0, "least share of the expert pairs rated among judge.pairs_per_batch; 0 = not asked for", least=0, most=1
    )


@dataclass(frozen=True, slots=True)
class PriceSettings:
    """Prices in US dollars a million tokens, as the endpoint's price list gives them; 0 = not known."""

    prompt: float = _key(0.0, "prompt tokens", least=0)
    cached: float = _key(0.0, "prompt tokens read from the endpoint's cache; 0 = the price of prompt tokens", least=0)
    completion: float = _key(0.0, "completion tokens", least=0)


@dataclass(frozen=True, slots=True)
class CardSettings:
    """What the dataset card says that no file can tell."""

    title: str = _key("", "the dataset's title; empty: the folder's name")
    license: str = _key("other", "licence of the ratings and searches, as the Hugging Face hub names it")
    license_name: str = _key("", "with license = other: the licence's name")
    source: str = _key("", "where searches, functions and expert ratings come from, in a sentence or two")


@dataclass(frozen=True, slots=True)
class Settings:
    """Everything judge.toml may say."""

    relevant_from: float = _key(2, "a pair is relevant from this rating on (experts' mean, or the judge's rating)")
    scale: str = _key("relevance", "a built-in scale's name (0-3), or the path of a .toml file of your own")
    seed: int = _key(1, "seed of all sampling and shuffling, but not of the gate's resampling, whose seed is fixed", least=0)
    pool: PoolSettings = PoolSettings()
    embedding: EmbeddingSettings = EmbeddingSettings()
    llm: LlmSettings = LlmSettings()
    judge: JudgeSettings = JudgeSettings()
    gate: GateSettings = GateSettings()
    prices: PriceSettings = PriceSettings()
    card: CardSettings = CardSettings()


def load(folder: Path) -> Settings:
    """Return a dataset folder's settings, the defaults where it has no judge.toml; raises `UsageError` naming the key."""
    path = folder / FILE
    if not path.is_file():
        return Settings()
    try:
        document = tomllib.loads(files.read(path).decode("utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise UsageError(f"{path}: not TOML: {error}") from error
    settings: Settings = _record(Settings, document, place=str(path), section="")
    return settings


def _record(kind: Any, document: dict[str, Any], *, place: str, section: str) -> Any:
    known = {item.name: item for item in fields(kind)}
    hints = get_type_hints(kind)
    values: dict[str, Any] = {}
    for key, value in document.items():
        name = f"{section}{key}"
        if key not in known:
            valid = ", ".join(section + other for other in known)
            raise UsageError(f"{place}: unknown key {name}; valid are {valid}")
        if dataclasses.is_dataclass(hints[key]):
            if not isinstance(value, dict):
                raise UsageError(f"{place}: {name} is a section; write it as [{name}]")
            values[key] = _record(hints[key], value, place=place, section=f"{name}.")
        else:
            values[key] = _value(hints[key], value, metadata=known[key].metadata, place=f"{place}: {name}")
    return kind(**values)


def _value(hint: Any, value: Any, *, metadata: Any, place: str) -> Any:
    if hint == tuple[str, ...]:
        if not isinstance(value, list) or not all(isinstance(entry, str) for entry in value):
            raise UsageError(f"{place} must be a list of strings, not {value!r}")
        return tuple(value)
    if hint is float and type(value) is int:
        value = float(value)
    if type(value) is not hint:
        raise UsageError(f"{place} must be of type {hint.__name__}, not {value!r}")
    least, most = metadata["least"], metadata["most"]
    if (least is not None and not value >= least) or (most is not None and not value <= most):
        span = f"at least {least}" if most is None else f"between {least} and {most}"
        raise UsageError(f"{place} must be {span}, not {value!r}")
    if hint is float and not math.isfinite(value):
        raise UsageError(f"{place} must be a finite number, not {value!r}")
    return value


def overridden(settings: Settings, *, concurrency: int | None = None, seed: int | None = None) -> Settings:
    """Return settings with what is asked for at one run, each None for what judge.toml says."""
    judge = replace(settings.judge, concurrency=settings.judge.concurrency if concurrency is None else concurrency)
    return replace(settings, judge=judge, seed=settings.seed if seed is None else seed)


def document() -> str:
    """Return a judge.toml with every key at its default, commented out, under the words that document it."""
    out = ["# Settings of this dataset. Every key is optional; the values shown are the defaults.", ""]
    sections = [item for item in fields(Settings) if dataclasses.is_dataclass(item.default)]
    for item in fields(Settings):
        if item not in sections:
            out += _documented(item)
    for section in sections:
        kind: Any = type(section.default)
        # A folded docstring would break the comment, so it goes on one line.
        out += ["", f"[{section.name}]", "# " + " ".join((kind.__doc__ or "").split())]
        for item in fields(kind):
            out += _documented(item)
    return "\n".join(out) + "\n"


def _documented(item: Any) -> list[str]:
    return [f"# {item.metadata['doc']}", f"# {item.name} = {_toml(item.default)}"]


def _toml(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, tuple):
        return "[" + ", ".join(_toml(entry) for entry in value) + "]"
    return f'"{value}"' if isinstance(value, str) else str(value)
