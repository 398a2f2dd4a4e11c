"""Verdicts as text for a terminal: one language as a block that ends with the verdict, several as a table."""

from collections.abc import Sequence
from typing import Any

from gates._measures import registry, standard
from gates._measures.further import FurtherFigure
from gates._measures.measure import Measure
from gates._verdict import gate_record
from gates._verdict.gate_record import GateRecord
from pools import _grid as grid

UNDEFINED = "undefined"


def render(record: GateRecord, more_labels: str | None = None) -> str:
    """Return one language's verdict as lines that end with the verdict's own, without a final line break.

    `more_labels` is what `gates._report.wording.details.more_labels` says would make an uncertain verdict clear.
    """
    figures = record.agreement
    rows = [
        ("language", record.language),
        ("judge", record.judge_id or "as published"),
        ("pairs", _pairs(record)),
        ("judge relevant", str(figures.judge_relevant)),
        ("experts relevant", str(figures.expert_relevant)),
        ("both relevant", str(figures.both)),
        ("same verdict", counted(figures.same, figures.pairs)),
        *((measure.label, figure(measure, getattr(figures, measure.name))) for measure in standard.MEASURES),
        *((registry.get(item.name).label, _further(item)) for item in record.further),
        ("between experts", _between(record)),
        ("95% interval of F1", interval(record.interval)),
        ("percentiles of resamples", interval(record.percentile)),
        ("resamples that pass" if record.conditions else f"resamples at {record.threshold:g} or more", share(record.share)),
        *([("for a clear verdict", more_labels)] if more_labels else []),
        *((f"least {item.name}", f"{item.least:g}: {'met' if item.met else 'not met'}") for item in record.conditions),
    ]
    return "\n".join([*grid.lines(rows), *(f"note: {line}" for line in record.notes), sentence(record)])


def table(records: Sequence[GateRecord]) -> str:
    """Return several languages' verdicts as an aligned table, a line each, then their notes."""
    present = {item.name for record in records for item in record.further}
    measures = [*standard.MEASURES, *(measure for measure in registry.further() if measure.name in present)]
    headings = [measure.heading or measure.label for measure in measures]
    head = ("language", "pairs", "relevant", "same", *headings, "95% interval", "share", "gate")
    rows = [head, *(_row(record, measures) for record in records)]
    lines = grid.lines(rows, right=range(1, len(head) - 1))
    notes = [f"note: {record.language}: {line}" for record in records for line in record.notes]
    return "\n".join(lines + notes)


def document(records: Sequence[GateRecord], closed: Sequence[str] = ()) -> dict[str, Any]:
    """Return verdicts as a JSON object: whether all passed, and each language's record with every figure unrounded.

    `closed` says why ratings that passed may not leave all the same, a line each; then it is not passed, whatever the verdicts.
    """
    passed = all(record.passed for record in records) and not closed
    return {"passed": passed, "gates": [gate_record.document(record) for record in records], "closed": list(closed)}


def sentence(record: GateRecord) -> str:
    """Return the verdict in one line: language, threshold, F1, verdict, and how sure it is."""
    figures = record.agreement
    if record.verdict == "incomplete":
        return f"{record.language}: incomplete: {figures.pairs} of {record.expert_pairs} expert-rated pairs are rated"
    f1 = "F1 is undefined (no pair relevant on either side)" if figures.f1 is None else f"F1 {figures.f1:.4f}"
    relation = "<" if figures.f1 is None or figures.f1 < record.threshold else ">="
    compared = f"{f1}, threshold {record.threshold:g}" if figures.f1 is None else f"{f1} {relation} {record.threshold:g}"
    unmet = "".join(f", {item.name} below {item.least:g}" for item in record.conditions if not item.met)
    return f"{record.language}: {compared}{unmet}: {record.verdict} ({certainty(record)})"


def certainty(record: GateRecord) -> str:
    """Return "clear" or "uncertain" with the share of resamples that gives the verdict and the confidence asked for."""
    if record.share is None:
        return UNDEFINED
    agreeing = 1 - record.share if record.verdict == "missed" else record.share
    return f"{'clear' if record.clear else 'uncertain'}: {share(agreeing)} of resamples agree, {record.confidence:.0%} is clear"


def number(value: float | None, digits: int = 4) -> str:
    """Return a figure to so many digits, or the word for one that is not defined."""
    return UNDEFINED if value is None else f"{value:.{digits}f}"


def figure(measure: Measure, value: float | None) -> str:
    """Return a measure's figure as it is printed, or the word for one that is not defined."""
    return UNDEFINED if value is None else format(value, measure.format)


def counted(part: int, whole: int) -> str:
    """Return a count with its percentage of the whole."""
    return f"{part} ({part / whole:.0%})" if whole else str(part)


def interval(bounds: tuple[float, float] | None) -> str:
    """Return an interval to three digits."""
    return UNDEFINED if bounds is None else f"{bounds[0]:.3f}-{bounds[1]:.3f}"


def share(value: float | None) -> str:
    """Return a share as a percentage to one digit."""
    return UNDEFINED if value is None else f"{100 * value:.1f}%"


def _pairs(record: GateRecord) -> str:
    left_out = f"; {record.left_out} of tuning searches left out" if record.left_out else ""
    return f"{record.agreement.pairs} of {record.expert_pairs} expert-rated, in {record.searches} searches{left_out}"


def _between(record: GateRecord) -> str:
    between = record.between_experts
    if between is None:
        return "too few pairs rated twice"
    return f"{counted(between.same, between.pairs)} of {between.pairs} the same, F1 {number(between.f1, 3)}"


def _further(item: FurtherFigure) -> str:
    measure = registry.get(item.name)
    return figure(measure, item.value) + (f" ({interval(item.interval)})" if measure.resampled else "")


def _row(record: GateRecord, measures: Sequence[Measure]) -> tuple[str, ...]:
    figures = record.agreement
    values = {item.name: item.value for item in record.further}
    values |= {measure.name: getattr(figures, measure.name) for measure in standard.MEASURES}
    certain = "" if record.verdict == "incomplete" else f" ({'clear' if record.clear else 'uncertain'})"
    return (
        record.language,
        f"{figures.pairs}/{record.expert_pairs}" if figures.pairs < record.expert_pairs else str(figures.pairs),
        str(figures.expert_relevant),
        counted(figures.same, figures.pairs),
        *(figure(measure, values.get(measure.name)) for measure in measures),
        interval(record.interval),
        share(record.share),
        record.verdict + certain,
    )
