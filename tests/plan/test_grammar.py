"""One goal language: a goal about one column may leave its name out, as the calculator's does."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from guessproof.cli import reading
from guessproof.errors import GoalError
from guessproof.plan.goals import read_goal
from guessproof.plan.grammar import VERBS, Wish, read_names, read_tree, walk_wishes
from guessproof.world.attributes import Attribute
from guessproof.world.priors import categorical, normal

NUMBERS = st.floats(0.01, 1e6).map(lambda x: f"{x:.4g}")
WISHES = st.one_of(
    NUMBERS.map(lambda x: f"within {x}"),
    NUMBERS.map(lambda x: f"within {x} %"),
    st.just("exactly"),
    st.lists(st.sampled_from(["math", "'computer science'", "3"]), min_size=1).map(lambda v: f"among {', '.join(v)}"),
    st.tuples(NUMBERS, NUMBERS).map(lambda ends: f"inside {ends[0]} {ends[1]}"),
    st.tuples(st.sampled_from(["above", "below"]), NUMBERS).map(" ".join),
)


@given(st.lists(WISHES, min_size=1, max_size=5), st.sampled_from([" and ", " or ", " or not "]))
def test_a_name_left_out_is_the_column_s(wishes: list[str], word: str) -> None:
    short, long = read_tree(word.join(wishes), "my time"), read_tree(word.join(f"'my time' {w}" for w in wishes))

    def said(tree: object) -> list[tuple[object, ...]]:
        return [
            (w.verb, [c.text for c in w.columns], [v.text for v in w.values], w.percent)
            for w in walk_wishes(tree)  # pyright: ignore[reportArgumentType]
        ]

    assert said(short) == said(long)


@pytest.mark.parametrize("verb", VERBS)
def test_without_a_column_nothing_is_implied(verb: str) -> None:
    with pytest.raises(GoalError, match="not the name of a column"):
        read_goal(f"{verb} 2")


def test_a_column_that_is_called_like_a_verb_needs_quotes() -> None:
    tree = read_tree("'within' within 2", "time")
    assert isinstance(tree, Wish)
    assert tree.columns[0].text == "within"


def _answer(read: Callable[[], object]) -> object:
    """The goal, or what is wrong with its words."""
    try:
        return read()
    except GoalError as error:
        return error.problem


@given(WISHES)
def test_the_calculator_reads_what_a_plan_reads(text: str) -> None:
    """The same goal or the same problem, by both doors."""
    for prior in (normal(20, 6), categorical({"math": 0.5, "computer science": 0.3, 3: 0.2})):
        x = Attribute("x", prior=prior)
        by_plan = _answer(lambda x=x: read_goal(f"x {text}").build({"x": x}))
        assert _answer(lambda x=x: reading.read_goal(text, x)) == by_plan


def test_names_of_columns_in_parentheses() -> None:
    assert read_names("(lon, 'my lat')") == ("lon", "my lat")
