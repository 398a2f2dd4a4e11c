"""All faults of a dataset at once, as `judge check` lists them.

Reading already finds the faults of single rows and keys; this module collects those instead of stopping, and adds the
checks that reading leaves out because no step needs them to be safe: a function's `sha256`, and judgements that do not follow
from their own ratings, which an export needs and asks for itself.
"""

from pathlib import Path

from pools._dataset import dataset, files
from pools._dataset.dataset import Dataset
from pools._dataset.records import Qrel
from pools._dataset.settings import Settings
from pools.errors import DataError
from pools.relevance import is_relevant, is_relevant_rating, is_relevant_value
from prompts.scales import Scale


def find(folder: Path, scale: Scale, *, settings: Settings) -> list[str]:
    """Return one line a fault, each with its place; an empty list where the dataset is sound."""
    found: list[str] = []
    try:
        data = dataset.load(folder, scale, report=found.append)
    except DataError as error:
        return [*found, str(error)]
    return found + _hashes(data) + _judgements(data, settings.relevant_from)


def _hashes(data: Dataset) -> list[str]:
    out = []
    for function in data.corpus or ():
        given = function.origin.get("sha256")
        if given is not None and given != files.sha256(function.code.encode("utf-8", "surrogatepass")):
            out.append(f"{data.folder}: corpus has {function.id} with a sha256 that is not of its code; restore the code")
    return out


def _judgements(data: Dataset, relevant_from: float) -> list[str]:
    return [
        f"{data.folder}: qrels have {qrel.language} {qrel.search_id} {qrel.function_id} {fault}"
        for qrel in data.qrels
        for fault in of_judgement(qrel, relevant_from)
    ]


def of_judgement(qrel: Qrel, relevant_from: float) -> list[str]:
    """Return what in a judgement does not follow from its own ratings and source, as the ends of sentences about it."""
    out = []
    if qrel.expert_ratings and _mean(qrel) != qrel.relevance:
        out.append(f"with relevance {qrel.relevance}, which is not the mean of {list(qrel.expert_ratings)}")
    if qrel.source == "expert" and not qrel.expert_ratings:
        out.append("from an expert but without expert_ratings")
    if qrel.source == "judge" and qrel.expert_ratings:
        out.append("from a judge but with expert_ratings")
    if qrel.relevant != _is_relevant(qrel, relevant_from):
        out.append(f"with relevant {str(qrel.relevant).lower()} at relevance {qrel.relevance} (from {relevant_from:g})")
    return out


def _mean(qrel: Qrel) -> float:
    return round(sum(qrel.expert_ratings) / len(qrel.expert_ratings), 4)


def _is_relevant(qrel: Qrel, relevant_from: float) -> bool:
    # By the ratings where the relevance follows from them, because it is rounded.
    if qrel.expert_ratings and _mean(qrel) == qrel.relevance:
        return is_relevant(qrel.expert_ratings, relevant_from)
    if qrel.judge_rating is not None and qrel.judge_rating == qrel.relevance:
        return is_relevant_rating(qrel.judge_rating, relevant_from)
    return is_relevant_value(qrel.relevance, relevant_from)
