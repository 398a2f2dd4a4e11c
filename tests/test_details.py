"""The texts behind a verdict, on small cases that can be counted by hand."""

from gates._measures import breakdown, comparison, levels
from gates._report import details
from gates._verdict import labels
from tests.builders.verdicts import assess, ratings_of

EXPERTS = {("q0", "a"): (3,), ("q0", "b"): (1,), ("q1", "c"): (0,), ("q1", "d"): (2,)}
RATINGS = {("q0", "a"): 3, ("q0", "b"): 2, ("q1", "c"): 0, ("q1", "d"): 2}


def test_levels_show_the_table_and_every_figure() -> None:
    lines = details.levels(
        levels.compare(EXPERTS, RATINGS, scale=(0, 1, 2, 3), relevant_from=2, resamples=50, seed=1)
    ).splitlines()
    assert [line.split() for line in lines[1:6]] == [
        ["0", "1", "0", "0", "0", "1"],
        ["1", "0", "0", "1", "0", "1"],
        ["2", "0", "0", "1", "0", "1"],
        ["3", "0", "0", "0", "1", "1"],
        ["all", "1", "0", "2", "1", "4"],
    ]
    assert lines[7].split() == ["level", "precision", "recall"]
    assert lines[9].split()[:2] == ["1", "undefined"]
    assert lines[-1].startswith("leniency (judge less experts)  +0.2500 (")


def test_floor_and_ceiling_stand_around_the_judge() -> None:
    experts, ratings = ratings_of(90, 5, 5, 50)
    text = details.bounds(assess(experts, ratings), 0.712, left_out=None, sees="lexical features")
    assert "floor: baseline judge by lexical features  " in text
    assert [line.split()[-1] for line in text.splitlines()[1:4]] == ["0.776", "0.712", "0.947"]
    assert text.splitlines()[-1].endswith("too few pairs")
    assert "not run" in details.bounds(assess(experts, ratings), None, left_out=levels.LeftOut(30, 0.5, 0.5))


def test_a_breakdown_marks_what_differs() -> None:
    group = breakdown.Group("bm25", 100, 50, 40, 60, (0.4, 0.6), 0.99, flagged=True)
    other = breakdown.Group("grep-all", 300, 270, 40, 60, (0.85, 0.95), 0.95, flagged=False)
    lines = details.breakdown(breakdown.Breakdown("retriever", 400, 320, (group, other))).splitlines()
    assert lines[1].split() == ["bm25", "100", "50", "(50%)", "0.400-0.600", "differs"]
    assert lines[2].split() == ["grep-all", "300", "270", "(90%)", "0.850-0.950"]
    assert lines[3].split() == ["all", "400", "320", "(80%)"]


def test_a_comparison_names_both_judges() -> None:
    found = comparison.compare(EXPERTS, RATINGS, second=RATINGS | {("q0", "b"): 0}, relevant_from=2, resamples=50, seed=1)
    lines = [line.split("  ", 1) for line in details.comparison(found, "aa", second="bb").splitlines()]
    text = {name: value.strip() for name, value in lines}
    assert (text["F1 of aa"], text["F1 of bb"]) == ("0.8000", "1.0000")
    assert text["difference"].startswith("+0.2000 (")
    assert (text["right by bb alone"], text["right by aa alone"]) == ("1", "0")
    assert (text["relevant by aa alone"], text["relevant by bb alone"]) == ("1", "0")
    assert "undefined (undefined)" in details.comparison(
        comparison.compare({}, {}, second={}, relevant_from=2, resamples=5, seed=1), "aa", second="bb"
    )


def test_labels_are_told_in_one_line() -> None:
    clear, uncertain = assess(*ratings_of(90, 5, 5, 50)), assess(*ratings_of(67, 33, 33, 50))
    assert details.labels(clear, labels.Needed(0, 0)) == "go: the verdict is clear; no further labels are needed"
    assert details.labels(uncertain, None) == "go: no number of further labels can be named for this verdict"
    assert "about 120 more expert-rated pairs (40 of them relevant)" in details.labels(uncertain, labels.Needed(120, 40))
