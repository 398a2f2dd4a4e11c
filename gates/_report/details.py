"""What stands behind a verdict, as text for a terminal: levels, floor and ceiling, breakdowns, comparisons, labels."""

from gates._measures.breakdown import Breakdown
from gates._measures.comparison import Comparison
from gates._measures.levels import LeftOut, Levels
from gates._measures.measure import Figure
from gates._measures.standard import ALWAYS_F1
from gates._report import wording
from gates._verdict.gate_record import GateRecord
from gates._verdict.labels import Needed
from pools import _grid as grid

MOST_GROUPS = 12


def bounds(
    record: GateRecord,
    baseline: float | None,
    *,
    left_out: LeftOut | None,
    no_baseline: str | None = None,
    sees: str | None = None,
) -> str:
    """Return the judge's F1 between its floor and ceiling.

    `baseline` is the F1 of the baseline judge, cross-validated, and `sees` the features that it had; None where it was not
    run, for the reason `no_baseline`.
    """
    between = record.between_experts
    rows = [
        ("floor: always relevant", wording.figure(ALWAYS_F1, record.agreement.always_f1)),
        (
            "floor: baseline judge" + (f" by {sees}" if sees else ""),
            _not_run(no_baseline) if baseline is None else f"{baseline:.3f}",
        ),
        ("this judge", wording.number(record.agreement.f1, 3)),
        ("ceiling: first expert against the others", "too few pairs" if between is None else wording.number(between.f1, 3)),
        ("ceiling: each expert left out in turn", "too few pairs" if left_out is None else wording.number(left_out.f1, 3)),
    ]
    return "F1 between floor and ceiling\n" + "\n".join(grid.lines(rows))


def _not_run(why: str | None) -> str:
    return f"not run ({why})" if why else "not run"


def levels(found: Levels) -> str:
    """Return the agreement on the scale: the table of ratings, precision and recall a level, then the single figures."""
    names = [str(level.rating) for level in found.levels]
    table = [("experts \\ judge", *names, "all")]
    for level, counts in zip(found.levels, found.table, strict=True):
        table.append((str(level.rating), *map(str, counts), str(level.experts)))
    table.append(("all", *(str(level.judge) for level in found.levels), str(found.pairs)))
    shares = [("level", "precision", "recall")]
    shares += [(str(level.rating), _figure(level.precision), _figure(level.recall)) for level in found.levels]
    figures = [
        ("kappa", _figure(found.kappa)),
        ("quadratic weighted kappa", _figure(found.weighted_kappa)),
        ("Krippendorff's alpha, ordinal", _figure(found.alpha)),
        ("leniency (judge less experts)", _figure(found.leniency, signed=True)),
    ]
    return "\n\n".join("\n".join(grid.lines(rows)) for rows in (table, shares, figures))


def breakdown(found: Breakdown) -> str:
    """Return the groups of one dimension, those that differ from the overall share marked at the end of their line.

    Of more than `MOST_GROUPS` only those that are marked and those with the most other verdicts are shown.
    """
    rows = [(found.dimension, "pairs", "same verdict", "interval", "")]
    shown = sorted(found.groups, key=lambda group: (not group.flagged, group.same - group.pairs, group.name))
    chosen = {group.name for group in shown[: max(MOST_GROUPS, sum(group.flagged for group in shown))]}
    for group in found.groups:
        if group.name in chosen:
            mark = "differs" if group.flagged else ""
            cells = (str(group.pairs), wording.counted(group.same, group.pairs), wording.interval(group.interval), mark)
            rows.append((group.name, *cells))
    rows.append(("all", str(found.pairs), wording.counted(found.same, found.pairs), "", ""))
    left_out = len(found.groups) - len(chosen)
    more = f"\n({left_out} more, none of which differs, are in the JSON)" if left_out else ""
    return "\n".join(grid.lines(rows)) + more


def comparison(found: Comparison, first: str, *, second: str) -> str:
    """Return how the second of two judges, called by the names given, does against the first."""
    moved = "undefined" if found.difference is None else f"{found.difference:+.4f}"
    interval = "undefined" if found.interval is None else f"{found.interval[0]:+.3f} to {found.interval[1]:+.3f}"
    rows = [
        ("pairs rated by experts and both", str(found.pairs)),
        (f"F1 of {first}", wording.number(found.first)),
        (f"F1 of {second}", wording.number(found.second)),
        ("difference", f"{moved} ({interval})"),
        (f"resamples in which {second} is better", wording.share(found.share)),
        (f"right by {second} alone", str(found.corrected)),
        (f"right by {first} alone", str(found.spoiled)),
        ("pairs rated by both", str(found.flips.pairs)),
        (f"relevant by {first} alone", str(found.flips.first_only)),
        (f"relevant by {second} alone", str(found.flips.second_only)),
    ]
    return "\n".join(grid.lines(rows))


def labels(record: GateRecord, needed: Needed | None) -> str:
    """Return in one line what would make a verdict clear."""
    if record.clear:
        return f"{record.language}: the verdict is clear; no further labels are needed"
    more = more_labels(record, needed)
    if more is None:
        return f"{record.language}: no number of further labels can be named for this verdict"
    return f"{record.language}: {more} would make the verdict clear at the present F1"


def more_labels(record: GateRecord, needed: Needed | None) -> str | None:
    """Return how many further labels an uncertain verdict needs; None where it needs none, or no number can be named."""
    if record.clear or needed is None:
        return None
    return f"about {needed.pairs} more expert-rated pairs ({needed.relevant} of them relevant)"


def _figure(figure: Figure, signed: bool = False) -> str:
    if figure.value is None:
        return wording.UNDEFINED
    sign = "+" if signed else ""
    interval = "" if figure.interval is None else f" ({figure.interval[0]:{sign}.3f} to {figure.interval[1]:{sign}.3f})"
    return f"{figure.value:{sign}.4f}{interval}"
