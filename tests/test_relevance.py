"""One meaning of "relevant", exact, everywhere."""

import ast
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gates._measures import agreement
from gates._release import qrels
from gates._verdict import labels
from judge._ledger.tally import Tally
from judge._rating import controls
from pools._dataset import faults
from pools._dataset.dataset import Dataset
from pools._dataset.records import Query
from pools._formats import collection
from pools.relevance import is_relevant, is_relevant_rating, is_relevant_value, least_sum
from tests.builders.places import ROOT

RATINGS = st.lists(st.integers(-2, 12), min_size=1, max_size=12)
# As a person writes them: a decimal fraction, which binary fractions only come near.
THRESHOLDS = st.decimals("-2", "12", places=4, allow_nan=False).map(str) | st.integers(-2, 12).map(str)
SOURCES = [path for top in ("judge", "gates", "pools", "prompts", "bench") for path in sorted((ROOT / top).rglob("*.py"))]


@given(ratings=RATINGS, written=THRESHOLDS)
def test_a_mean_is_compared_as_a_ratio_with_the_threshold_as_it_is_written(ratings: list[int], written: str) -> None:
    expected = Fraction(sum(ratings), len(ratings)) >= Fraction(written)
    assert is_relevant(ratings, float(written)) is expected
    assert is_relevant(list(reversed(ratings)), float(written)) is expected
    # Rating by rating, and in whole numbers.
    assert is_relevant_rating(ratings[0], float(written)) is is_relevant(ratings[:1], float(written))
    least = least_sum(len(ratings), float(written))
    assert Fraction(least, len(ratings)) >= Fraction(written) > Fraction(least - 1, len(ratings))


@given(ratings=RATINGS)
def test_a_mean_on_the_threshold_is_relevant_where_it_can_be_written(ratings: list[int]) -> None:
    mean = Fraction(sum(ratings), len(ratings))
    written = f"{float(mean):.4f}"
    assert is_relevant(ratings, float(written)) is (mean >= Fraction(written))
    if Fraction(written) == mean:
        assert is_relevant(ratings, float(written))
        assert is_relevant_value(float(written), float(written))


@given(pairs=st.lists(RATINGS, min_size=1, max_size=8), written=THRESHOLDS)
def test_many_pairs_at_a_time_get_the_same_verdicts(pairs: list[list[int]], written: str) -> None:
    experts = {("q", f"f{place:02}"): tuple(given) for place, given in enumerate(pairs)}
    ratings = {pair: given[0] for pair, given in experts.items()}
    found = agreement.verdicts(agreement.align(experts, ratings), float(written))
    assert found.expert.tolist() == [is_relevant(given, float(written)) for given in experts.values()]
    assert found.judge.tolist() == [is_relevant_rating(rating, float(written)) for rating in ratings.values()]


@pytest.mark.parametrize("relevant_from", [2.6666, 2.6667, 2.7])
def test_all_who_ask_agree_where_the_mean_is_only_on_the_threshold_once_it_is_rounded(relevant_from: float) -> None:
    experts, pair = (3, 3, 2), ("q", "f")
    relevant = relevant_from == 2.6666
    row = collection.expert("go", "q", function_id="f", ratings=experts, relevant_from=relevant_from)
    assert (row.relevance, row.relevant) == (2.6667, relevant)
    assert faults.of_judgement(row, relevant_from) == []
    data = Dataset(Path(), (Query("go", "q", "read a file"),), None, (row,))
    qrels.check(data, "go", relevant_from=relevant_from)
    (layered,) = labels.add_layer(
        Dataset(Path(), data.queries, None, ()), {("go", *pair): 2}, rater="r", date="d", relevant_from=relevant_from
    )
    assert layered.relevant is is_relevant((2,), relevant_from)
    assert agreement.compare({pair: experts}, {pair: 3}, relevant_from=relevant_from).expert_relevant == relevant
    assert agreement.compare({pair: (3, *experts)}, {pair: 3}, relevant_from=relevant_from).pairs == 1
    same = controls.watch(Tally(ratings={pair: 3}), {pair: experts}, relevant_from=relevant_from)
    assert same.at_gate == relevant


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(ROOT)))
def test_nothing_else_compares_with_the_threshold(path: Path) -> None:
    if path == ROOT / "pools" / "relevance.py":
        return
    tree = ast.parse(path.read_text(encoding="utf-8"))
    orders = (ast.Lt, ast.LtE, ast.Gt, ast.GtE)
    for node in ast.walk(tree):
        if isinstance(node, ast.Compare) and any(isinstance(operator, orders) for operator in node.ops):
            names = {
                inner.id if isinstance(inner, ast.Name) else inner.attr
                for side in (node.left, *node.comparators)
                for inner in ast.walk(side)
                if isinstance(inner, ast.Name | ast.Attribute) and not _called(side, inner)
            }
            assert "relevant_from" not in names, f"{path}:{node.lineno}: {ast.unparse(node)}; call pools.relevance"


def _called(side: ast.expr, inner: ast.AST) -> bool:
    """Whether a name only stands among the arguments of a call, which then is what is compared."""
    calls = [node for node in ast.walk(side) if isinstance(node, ast.Call)]
    return any(inner is part for call in calls for argument in call.args for part in ast.walk(argument))


def test_the_search_for_comparisons_finds_one(tmp_path: Path) -> None:
    path = tmp_path / "x.py"
    path.write_text("def f(mean, settings):\n    return mean >= settings.relevant_from\n")
    with pytest.raises(AssertionError, match=r"call pools\.relevance"):
        test_nothing_else_compares_with_the_threshold(path)
