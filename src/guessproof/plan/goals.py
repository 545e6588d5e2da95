"""Goals: from the words of a plan to a goal of the world."""

from __future__ import annotations

import math
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from guessproof.errors import GoalError, InputError
from guessproof.plan.grammar import Joined, Tree, Wish, read_tree, wishes
from guessproof.plan.tokens import Misread, Token
from guessproof.plan.words import close_name, dotted, spelling, spells, underlined
from guessproof.world import goals
from guessproof.world.attributes import Attribute
from guessproof.world.finite import Finite
from guessproof.world.line import LinePrior


@dataclass(frozen=True)
class GoalText:
    """A goal that was understood; `build` puts it on attributes."""

    text: str
    tree: Tree

    @property
    def names(self) -> tuple[str, ...]:
        """The columns that it speaks of, each once."""
        return tuple(dict.fromkeys(column.text for wish in wishes(self.tree) for column in wish.columns))

    def build(self, attributes: Mapping[str, Attribute], without_prior: tuple[str, ...] = ()) -> goals.Goal:
        """The goal on these attributes; `without_prior` names columns that are known but have no prior.

        >>> from guessproof.world.priors import normal
        >>> time = Attribute("time", prior=normal(20, 6))
        >>> read_goal("not time within 2 or time inside 10 12").build({"time": time})
        ~(time within 2) | time in [10, 12]
        """
        with _underlining(self.text):
            return _built(self.tree, attributes, without_prior)


def read_goal(text: str) -> GoalText:
    """A goal's words, understood; GoalError underlines what is not.

    >>> read_goal("(lon, lat) within 5 by l2 and not faculty among math, 'computer science'").names
    ('lon', 'lat', 'faculty')
    """
    with _underlining(text):
        return GoalText(text, read_tree(text))


@contextmanager
def _underlining(text: str) -> Generator[None]:
    try:
        yield
    except Misread as error:
        mark = underlined(text, error.start, error.end)
        raise GoalError("goal", text, error.problem, error.remedy + mark) from None


def _built(tree: Tree, attributes: Mapping[str, Attribute], without_prior: tuple[str, ...]) -> goals.Goal:
    if isinstance(tree, Joined):
        parts = [_built(part, attributes, without_prior) for part in tree.parts]
        if tree.word == "not":
            return ~parts[0]
        whole = parts[0]
        for part in parts[1:]:
            whole = whole & part if tree.word == "and" else whole | part
        return whole
    found = [_attribute(column, attributes, without_prior) for column in tree.columns]
    try:
        return _wish(tree, found)
    except InputError as error:
        raise Misread(tree.start, tree.end, error.problem, error.remedy) from None


def _attribute(column: Token, attributes: Mapping[str, Attribute], without_prior: tuple[str, ...]) -> Attribute:
    if column.text in attributes:
        return attributes[column.text]
    header = dotted(("columns", column.text))
    if column.text in without_prior:
        remedy = f'add prior to [{header}]; prior = "unknown" where nothing is known but the bounds'
        raise Misread(column.start, column.end, "the attacker's belief about this column is not given", remedy)
    hint = close_name(column.text, [*attributes, *without_prior], f"declare it as [{header}]")
    raise Misread(column.start, column.end, "is not a declared column", hint)


def _wish(wish: Wish, attributes: list[Attribute]) -> goals.Goal:
    attribute = attributes[0]
    if wish.verb == "within":
        radius = _number(wish.values[0])
        if len(attributes) > 1:
            by: Any = "l2" if wish.by is None else wish.by.text.lower()
            return goals.near(attributes, radius, by=by)
        return goals.within(attribute, percent=radius) if wish.percent else goals.within(attribute, radius)
    if wish.verb == "inside":
        ends = [_number(value) for value in wish.values]
        return goals.inside(attribute, *zip(ends[::2], ends[1::2], strict=True))
    if isinstance(attribute.prior, LinePrior):
        problem = "a single number has probability 0 among all real numbers"
        remedy = f"write {attribute.name} within …" if wish.verb == "exactly" else f"write {attribute.name} inside …"
        raise Misread(wish.start, wish.end, problem, remedy)
    if wish.verb == "exactly":
        return goals.exactly(attribute)
    return goals.among(attribute, [_value(value, attribute) for value in wish.values])


def _value(token: Token, attribute: Attribute) -> Any:
    """The value of the prior that a word names."""
    prior = attribute.prior
    if not isinstance(prior, Finite):
        return _number(token)
    for value in prior.values:
        if spells(token.text, value):
            return value
    names = [spelling(value) for value in prior.values]
    hint = close_name(token.text, names, f"choose from {', '.join(names[:6])}{', …' if len(names) > 6 else ''}")
    raise Misread(token.start, token.end, f"is not a value that {attribute.name} can have", hint)


def _number(token: Token) -> float:
    try:
        number = float(token.text)
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        raise Misread(token.start, token.end, "is not a number that can be meant", "write for instance 2 or 0.5")
    return number
