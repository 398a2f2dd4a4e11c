"""One whole grade a pair, for forms without languages."""

from hypothesis import example, given
from hypothesis import strategies as st

from pools._formats import collection, languageless


@given(st.lists(st.integers(0, 3), min_size=1, max_size=4), st.floats(0.1, 3.0))
@example([2, 1], 2.0)
@example([2, 2, 1], 1.5)
@example([3, 3, 2], 2.6667)
def test_a_grade_is_the_nearest_on_the_same_side_of_relevant(ratings: list[int], relevant_from: float) -> None:
    qrel = collection.expert("all", "q", function_id="f", ratings=tuple(ratings), relevant_from=relevant_from)
    grade = languageless.grade(qrel, relevant_from)
    assert (grade >= relevant_from) == qrel.relevant
    assert abs(grade - qrel.relevance) <= 1
    if len(set(ratings)) == 1:
        assert grade == ratings[0]
