"""Verdicts as text: a block, a line, a table, and the document of them."""

import json

from gates._report import wording
from tests.builders.verdicts import assess, ratings_of


def test_the_block_ends_with_threshold_and_verdict() -> None:
    lines = wording.render(assess(*ratings_of(90, 5, 5, 50))).splitlines()
    assert lines[-1] == "go: F1 0.9474 >= 0.67: passed (clear: 100.0% of resamples agree, 95% is clear)"
    assert any(line.split() == ["same", "verdict", "140", "(93%)"] for line in lines)
    missed = wording.render(assess(*ratings_of(20, 40, 40, 50))).splitlines()
    assert missed[-1].startswith("go: F1 0.3333 < 0.67: missed (clear: ")
    assert wording.render(assess({}, {})).splitlines()[-1] == "go: incomplete: 0 of 0 expert-rated pairs are rated"


def test_the_table_has_a_line_a_language_and_the_document_says_whether_all_passed() -> None:
    records = [assess(*ratings_of(90, 5, 5, 50)), assess(*ratings_of(20, 40, 40, 50)), assess({("q", "f"): (1,)}, {})]
    lines = wording.table(records).splitlines()
    assert [line.split()[0] for line in lines] == ["language", "go", "go", "go"]
    assert lines[1].endswith("passed (clear)")
    assert lines[3].endswith("incomplete")
    assert wording.document(records)["passed"] is False
    assert wording.document(records[:1])["passed"] is True
    json.dumps(wording.document(records), allow_nan=False)
