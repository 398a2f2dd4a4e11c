"""The step `tune`: models, prompts and pairs a prompt tried on the tuning searches, and the best written into judge.toml."""

import itertools
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from gates._measures import tuning
from gates._measures.tuning import Result
from judge._judges import questions
from judge._ledger.ledger import Ledger
from judge._rating.money import Limits
from judge.steps import endpoints, trials
from judge.steps.progress import Listener, Note, ignore
from judge.steps.trials import Run, Setting
from pools._dataset import files, settings_file
from pools._dataset import settings as settings_of
from pools._dataset.folder import DatasetFolder
from pools.errors import UsageError

PAIRS = (1, 5, 10, 20, 40)
"""Pairs a prompt that are tried unless some are named."""


@dataclass(frozen=True, slots=True)
class Tuned:
    """How each combination did, which was chosen (None: none rated every pair), and the judge.toml it was written into."""

    results: tuple[Result, ...]
    choice: Result | None
    written: Path | None

    def document(self) -> dict[str, Any]:
        """Return it as a JSON object."""
        entries = []
        for result in self.results:
            entry = asdict(result)
            trial = entry.pop("trial")
            del trial["ratings"], trial["scores"], trial["spent"]
            entries.append(trial | entry | {"chosen": result is self.choice})
        return {"combinations": entries}


def tune(
    folder: DatasetFolder,
    *,
    model: str | Sequence[str] = (),
    prompt: str | Sequence[str] = (),
    retriever: str | None = None,
    pairs: int | Sequence[int] = (),
    base_url: str | None = None,
    concurrency: int | None = None,
    max_cost: float | None = None,
    max_requests: int | None = None,
    print_only: bool = False,
    note: Note = ignore,
    progress: Listener = ignore,
) -> Tuned:
    """Try every combination of models, prompts and pairs a prompt on the languages meant, and write the best into judge.toml.

    With `retriever` "llm" its question is tuned instead of the judge's, one pair a prompt. What is not named comes from
    judge.toml; `max_cost` is in US dollars and, as `max_requests`, for all of it. With `print_only` nothing is written but the
    replies, which are never asked for twice.

    Raises `UsageError` for what cannot be tried and, unless `print_only`, where a judge is sealed already; `Stopped` where a
    limit, the endpoint or an interrupt ends it.
    """
    folder = folder.with_settings(settings_of.overridden(folder.settings, concurrency=concurrency))
    if retriever not in (None, "llm"):
        raise UsageError(f"no retriever {retriever!r} can be tuned; valid is llm")
    if retriever is None and not print_only:
        _refuse_sealed(folder)
    combine = _judges if retriever is None else _wordings
    numbers = (pairs,) if isinstance(pairs, int) else tuple(pairs)
    tried = combine(folder, _several(model), prompts=_several(prompt), pairs=numbers)
    run = Run(base_url, Limits(max_cost, max_requests), note, progress)
    found = _results(folder, tried, of_retriever=retriever is not None, run=run)
    choice = tuning.choose(found)
    path = None if choice is None or print_only else _write(folder, choice, retriever=retriever, note=note)
    return Tuned(found, choice, path)


def _several(named: str | Sequence[str]) -> tuple[str, ...]:
    return (named,) if isinstance(named, str) else tuple(named)


def _judges(folder: DatasetFolder, models: Sequence[str], *, prompts: Sequence[str], pairs: Sequence[int]) -> list[Setting]:
    named = models or (endpoints.model_name(folder.settings, None),)
    return _combined(named, prompts or (folder.settings.judge.prompt,), pairs=pairs or PAIRS)


def _wordings(folder: DatasetFolder, models: Sequence[str], *, prompts: Sequence[str], pairs: Sequence[int]) -> list[Setting]:
    if pairs:
        raise UsageError("the retriever llm is asked about one pair at a time; leave --pairs out")
    named = models or (folder.settings.llm.model or endpoints.model_name(folder.settings, None),)
    return _combined(named, prompts or questions.wordings(), pairs=(1,))


def _combined(models: Sequence[str], prompts: Sequence[str], *, pairs: Sequence[int]) -> list[Setting]:
    each = itertools.product(dict.fromkeys(models), dict.fromkeys(prompts), dict.fromkeys(pairs))
    return [Setting(model, prompt, number) for model, prompt, number in each]


def _results(folder: DatasetFolder, tried: Sequence[Setting], *, of_retriever: bool, run: Run) -> tuple[Result, ...]:
    trials.check(folder[folder.languages[0]], tried, of_retriever=of_retriever)
    parts = trials.parts(folder, run.note)
    put_to = trials.of_retriever if of_retriever else trials.of_judge
    found = []
    for setting in tried:
        trial, left = put_to(parts, setting, run=run)
        run = replace(run, limits=left)
        found.append(trial)
    settings = folder.settings
    return tuning.results(
        trials.experts(parts),
        found,
        relevant_from=settings.relevant_from,
        resamples=settings.gate.resamples,
        seed=settings.seed,
    )


def _refuse_sealed(folder: DatasetFolder) -> None:
    for language in folder.dataset.languages:
        path = folder[language].ledger_path
        judges = Ledger.read(path).judges()
        if judges:
            raise UsageError(
                f"{path}: judge {judges[0]} is sealed, and settings are chosen before that; add --print-only to see the figures"
            )


def _write(folder: DatasetFolder, choice: Result, *, retriever: str | None, note: Note) -> Path:
    path = folder.path / settings_of.FILE
    before = files.read(path).decode("utf-8") if path.is_file() else ""
    trial, section = choice.trial, retriever or "judge"
    values: dict[str, settings_file.Value] = {"model": trial.model, "prompt": trial.prompt}
    if retriever is None:
        values["pairs_per_batch"] = trial.pairs_per_batch
    files.replace(path, settings_file.changed(before, section, values=values).encode("utf-8"))
    note(f"{path}: " + ", ".join(f"{section}.{key} = {value}" for key, value in values.items()))
    if retriever is None and folder.settings.gate.split == "all":
        note('the pairs tuned on count at the gate; gate.split = "test" in judge.toml, before `judge rate`, leaves them out')
    return path
