"""From the words of a plan to the attacker: his goal on the plan's attributes, what is true, what he knows."""

from __future__ import annotations

import datetime
import math
import re
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from guessproof import world
from guessproof.errors import GoalError, InputError, KnowledgeError, PlanError
from guessproof.names import suggest_name
from guessproof.plan.grammar import SIDES, Joined, Misread, Token, Tree, Wish, difference_hint, read_tree, walk_wishes
from guessproof.plan.places import Key, Place, spell_key, underline
from guessproof.plan.tables import AttackerTable, PlanFile
from guessproof.risk import Attack
from guessproof.world import (
    UNITS,
    Attribute,
    Finite,
    Goal,
    LinePrior,
    PartlyKnown,
    Unknown,
    conditioned,
    days_of,
    is_number,
    joint_of,
    label_of,
    ordered,
    spells,
)

if TYPE_CHECKING:
    from guessproof.world import Formula


@dataclass(frozen=True)
class GoalText:
    """A goal that was understood; `build` puts it on attributes."""

    text: str
    tree: Tree

    @property
    def names(self) -> tuple[str, ...]:
        """The columns that it speaks of, each once."""
        return tuple(dict.fromkeys(column.text for wish in walk_wishes(self.tree) for column in wish.columns))

    def build(self, attributes: Mapping[str, Attribute], without_prior: tuple[str, ...] = ()) -> Goal:
        """The goal on these attributes; `without_prior` names columns that are known but have no prior.

        >>> from guessproof.world import normal
        >>> time = Attribute("time", prior=normal(20, 6))
        >>> read_goal("not time within 2 or time inside 10 12").build({"time": time})
        ~(time within 2) | time in [10, 12]
        """
        with _underlining(self.text):
            return _build(self.tree, attributes, without_prior)


def read_goal(text: str, column: str | None = None) -> GoalText:
    """A goal's words, understood; GoalError underlines what is not. `column` is meant where none is named.

    >>> read_goal("(lon, lat) within 5 by l2 and not faculty among math, 'computer science'").names
    ('lon', 'lat', 'faculty')
    """
    with _underlining(text):
        return GoalText(text, read_tree(text, column))


@contextmanager
def _underlining(text: str) -> Generator[None]:
    try:
        yield
    except Misread as error:
        mark = underline(text, error.start, error.end)
        raise GoalError("goal", text, error.problem, error.remedy + mark) from None


def _build(tree: Tree, attributes: Mapping[str, Attribute], without_prior: tuple[str, ...]) -> Goal:
    if isinstance(tree, Joined):
        parts = [_build(part, attributes, without_prior) for part in tree.parts]
        if tree.word == "not":
            return ~parts[0]
        whole = parts[0]
        for part in parts[1:]:
            whole = whole & part if tree.word == "and" else whole | part
        return whole
    found = [_attribute(column, attributes, without_prior) for column in tree.columns]
    try:
        if tree.formula is not None:
            return _formula(tree, {attribute.name: attribute for attribute in found})
        return _wish(tree, found)
    except InputError as error:
        raise Misread(tree.start, tree.end, error.problem, error.remedy) from None


def _attribute(column: Token, attributes: Mapping[str, Attribute], without_prior: tuple[str, ...]) -> Attribute:
    if column.text in attributes:
        return attributes[column.text]
    header = spell_key(("columns", column.text))
    if column.text in without_prior:
        remedy = f'add prior to [{header}]; prior = "unknown" where nothing is known but the bounds'
        raise Misread(column.start, column.end, "the attacker's belief about this column is not given", remedy)
    known = [*attributes, *without_prior]
    hint = difference_hint(column.text, known) or suggest_name(column.text, known, f"declare it as [{header}]")
    raise Misread(column.start, column.end, "is not a declared column", hint)


def _wish(wish: Wish, attributes: list[Attribute]) -> Goal:
    attribute = attributes[0]
    if wish.verb == "within":
        radius = _number(wish.values[0]) * _unit(wish, attributes)
        if len(attributes) > 1:
            by: Any = "l2" if wish.by is None else wish.by.text.lower()
            return world.near(attributes, radius, by=by)
        return world.within(attribute, percent=radius) if wish.percent else world.within(attribute, radius)
    if wish.verb == "inside":
        ends = [_end(value, attribute) for value in wish.values]
        return world.inside(attribute, *zip(ends[::2], ends[1::2], strict=True))
    if wish.verb in SIDES:
        return world.inside(attribute, _side(wish, _end(wish.values[0], attribute)))
    if isinstance(attribute.prior, LinePrior):
        problem = "a single number has probability 0 among all real numbers"
        remedy = f"write {attribute.name} within …" if wish.verb == "exactly" else f"write {attribute.name} inside …"
        raise Misread(wish.start, wish.end, problem, remedy)
    if wish.verb == "exactly":
        return world.exactly(attribute)
    return world.among(attribute, [_value(value, attribute) for value in wish.values])


def _formula(wish: Wish, attributes: Mapping[str, Attribute]) -> Goal:
    assert wish.formula is not None
    for column in wish.columns:
        if attributes[column.text].is_time:
            raise Misread(column.start, column.end, "is a time, which formulas do not compute with", "use numbers")
    formula = wish.formula.build(lambda column: attributes[column.text])
    if wish.verb == "inside":
        ends = [_number(value) for value in wish.values]
        return world.inside(formula, *zip(ends[::2], ends[1::2], strict=True))
    if wish.verb in SIDES:
        return world.inside(formula, _side(wish, _number(wish.values[0])))
    radius = _number(wish.values[0])
    return world.within(formula, percent=radius) if wish.percent else world.within(formula, radius)


def _side(wish: Wish, end: float) -> tuple[float, float]:
    """All numbers on one side of one, and that one."""
    return (end, math.inf) if wish.verb == "above" else (-math.inf, end)


def _unit(wish: Wish, attributes: list[Attribute]) -> float:
    """How many days, of columns of times; numbers have no unit."""
    timely = [attribute.is_time for attribute in attributes]
    if wish.percent and any(timely):
        raise Misread(wish.start, wish.end, "a time has no percentage", "write within 30 days")
    if wish.unit is None:
        return 1.0
    if not all(timely):
        raise Misread(wish.unit.start, wish.unit.end, "is a unit of times, and the column holds none", "leave it out")
    return UNITS[wish.unit.text.lower().removesuffix("s")]


def _end(token: Token, attribute: Attribute) -> float:
    """A number, or for a column of times a date."""
    if not attribute.is_time:
        return _number(token)
    try:
        return days_of(datetime.datetime.fromisoformat(token.text))
    except ValueError:
        raise Misread(token.start, token.end, "is not a time", "write inside 1980-01-01 1990-01-01") from None


def _value(token: Token, attribute: Attribute) -> Any:
    """The value of the prior that a word names."""
    prior = attribute.prior
    listed = prior.values if isinstance(prior, (Finite, Unknown)) else ()
    if not listed:
        return _number(token)
    for value in listed:
        if spells(token.text, value):
            return value
    names = [label_of(value) for value in listed]
    hint = suggest_name(token.text, names, f"choose from {', '.join(names[:6])}{', …' if len(names) > 6 else ''}")
    raise Misread(token.start, token.end, f"is not a value that {attribute.name} can have", hint)


def _number(token: Token) -> float:
    try:
        number = float(token.text)
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        raise Misread(token.start, token.end, "is not a number that can be meant", "write for instance 2 or 0.5")
    return number


_GOAL: Key = ("attacker", "goal")


def read_attacker(file: PlanFile, attributes: Mapping[str, Attribute], place: Place) -> tuple[GoalText, AttackerTable]:
    """The goal, understood, and the attacker with `at` and `knows` as the priors' own values."""
    attacker = file.attacker
    assert attacker is not None
    without = tuple(name for name in file.columns if name not in attributes)
    try:
        text = read_goal(attacker.goal)
        goal = text.build(attributes, without)
    except InputError as error:
        raise place.error(_GOAL, attacker.goal, error.problem, error.remedy) from None
    _check_believed(file, goal, place)
    knows = _read_knowledge(attacker.knows, goal, attributes, place)
    believed = _condition(goal, attributes, knows, place)
    at = _read_truth(attacker.at, text, believed, place)
    attacker = attacker.model_copy(update={"at": at, "knows": knows})
    _check_possible(goal, attacker, place)
    return text, attacker


def _check_believed(file: PlanFile, goal: Goal, place: Place) -> None:
    """A limit on belief needs a belief to start from."""
    attacker = file.attacker
    assert attacker is not None
    for attribute in goal.attributes:
        if not isinstance(attribute.prior, (Unknown, PartlyKnown)):
            continue
        for key in ("posterior", "odds"):
            if getattr(attacker, key) is not None:
                problem = f"a belief is undefined, because the prior of {attribute.name} is unknown"
                remedy = "limit advantage instead, or give the column a prior"
                raise place.error(("attacker", key), getattr(attacker, key), problem, remedy)


def _read_knowledge(
    raw: Mapping[str, Any] | None, goal: Goal, attributes: Mapping[str, Attribute], place: Place
) -> dict[str, Any] | None:
    if raw is None:
        return None
    joints = [joint_of(attribute) for attribute in goal.attributes]
    allowed = {a.name for a in goal.attributes} | {n for joint in joints if joint is not None for n in joint.names}
    found: dict[str, Any] = {}
    for name, known in raw.items():
        path: Key = ("attacker", "knows", name)
        if name not in attributes and is_formula(name):
            formula, found[name] = _read_known_formula(name, known, attributes, path, place), known
            allowed |= {attribute.name for attribute in formula.attributes}
            continue
        if name not in allowed:
            raise _refuse_stranger(path, name, allowed, place)
        try:
            found[name] = _read_known(attributes[name], known)
        except InputError as error:
            raise place.error(path, known, error.problem, error.remedy) from None
    return found


def is_formula(name: str) -> bool:
    """Whether what is known is a formula of columns, and not one of them."""
    return re.search(r"[-+*/^(]", name) is not None


def _read_known_formula(text: str, known: Any, attributes: Mapping[str, Attribute], path: Key, place: Place) -> Formula:
    from guessproof.plan.arithmetic import read_formula  # only such knowledge needs it
    from guessproof.world import known_formula

    try:
        formula = read_formula(text, attributes)
        known_formula(formula, known)
    except Misread as error:
        raise place.error(path, text, error.problem, error.remedy + underline(text, error.start, error.end)) from None
    except InputError as error:
        raise place.error(path, known, error.problem, error.remedy) from None
    return formula


def known_on(knows: Mapping[str, Any] | None, attributes: Mapping[str, Attribute]) -> Mapping[Any, Any] | None:
    """What is known, formulas of columns as formulas of these attributes."""
    if not any(name not in attributes and is_formula(name) for name in knows or {}):
        return knows
    from guessproof.plan.arithmetic import read_formula

    return {
        read_formula(name, attributes) if name not in attributes and is_formula(name) else name: value
        for name, value in (knows or {}).items()
    }


def _read_known(attribute: Attribute, known: Any) -> Any:
    """An interval as a pair of numbers, a choice of values as a set."""
    values = known if isinstance(known, (list, tuple)) else (known,)
    prior = attribute.prior
    if any(isinstance(value, (list, tuple, dict)) for value in values):
        raise KnowledgeError("knows", known, "is not a list of values", "write an interval [10, 40], or values")
    if len(values) == 2 and not attribute.is_category:
        low, high = ordered(KnowledgeError, "knows", *values)
        if attribute.bounds is not None and not (low <= attribute.bounds[1] and attribute.bounds[0] <= high):
            ends = " … ".join(map(attribute.shown, attribute.bounds))
            remedy = "write an interval inside them, or widen the bounds"
            raise KnowledgeError("knows", known, f"lies outside the bounds {ends}", remedy)
        return low, high
    if not isinstance(prior, Finite):
        raise KnowledgeError("knows", known, "is not an interval", "write its two ends, as [10, 40]")
    return frozenset(_own_value(prior, value, KnowledgeError) for value in values)


def _own_value(prior: Finite | Unknown, value: Any, kind: type[InputError]) -> Any:
    for own in prior.values:
        if spells(label_of(value), own):
            return own
    names = [label_of(own) for own in prior.values]
    hint = suggest_name(label_of(value), names, f"choose from {', '.join(names[:6])}{', …' if len(names) > 6 else ''}")
    raise kind("value", value, "is not a value of the prior", hint)


def _condition(
    goal: Goal, attributes: Mapping[str, Attribute], knows: Mapping[str, Any] | None, place: Place
) -> Mapping[str, Attribute]:
    try:
        return conditioned(
            goal.attributes, {name: known for name, known in (knows or {}).items() if name in attributes}
        )
    except InputError as error:
        names = [name for name in knows or {} if name in error.field or len(knows or {}) == 1]
        path: Key = ("attacker", "knows", *names[:1])
        value = (knows or {}).get(names[0]) if names else knows
        raise place.error(path, value, error.problem, error.remedy) from None


def _read_truth(
    raw: Mapping[str, Any] | None, text: GoalText, believed: Mapping[str, Attribute], place: Place
) -> dict[str, Any] | None:
    if raw is None:
        return None
    found: dict[str, Any] = {}
    for name, value in raw.items():
        path: Key = ("attacker", "at", name)
        if name not in believed:
            raise _refuse_stranger(path, name, set(believed), place)
        try:
            found[name] = _true_value(believed[name], value)
        except InputError as error:
            raise place.error(path, value, error.problem, error.remedy) from None
    moving = [c.text for wish in walk_wishes(text.tree) if wish.verb in ("within", "exactly") for c in wish.columns]
    for name in moving:
        if name not in found:
            raise place.error(("attacker", "at"), dict(raw), f"the true value of {name} is missing", "give all or none")
    return found


def _true_value(attribute: Attribute, value: Any) -> Any:
    prior = attribute.prior
    if isinstance(prior, Finite) and prior.between is not None and is_number(value):
        attribute.check_true(value)
        return float(value)
    if isinstance(prior, Finite):
        own = _own_value(prior, value, GoalError)
        prior.index(own)
        return own
    if isinstance(prior, Unknown) and prior.values:
        return _own_value(prior, value, GoalError)
    if isinstance(value, (str, bool)):
        raise GoalError("at", value, "is not a number", f"{attribute.name} holds numbers")
    low, high = prior.support
    if not low <= value <= high:
        problem = f"{attribute.name} can only lie between {low:g} and {high:g}, by the prior and what he knows"
        raise GoalError("at", value, problem, "choose a value that can occur")
    return float(value)


def _check_possible(goal: Goal, attacker: AttackerTable, place: Place) -> None:
    """Neither impossible nor certain before the release, where that is quickly known."""
    first, *others = goal.attributes
    if others or isinstance(first.prior, (Unknown, PartlyKnown)):
        return
    if goal.depends_on_truth and attacker.at is None:
        return
    if isinstance(first.prior, LinePrior) and first.prior.support == (-math.inf, math.inf):
        return  # all can happen, if only too rarely for floats: `check` says how rarely
    try:
        known = {name: value for name, value in (attacker.knows or {}).items() if not is_formula(name)}
        _ = Attack(goal, attacker.at, known or None, or_=attacker.or_).prior
    except InputError as error:
        if error.field == "or_":  # each alternative has a prior of its own
            return
        raise place.error(_GOAL, attacker.goal, error.problem, error.remedy) from None


def _refuse_stranger(path: Key, name: str, known: set[str], place: Place) -> PlanError:
    names = sorted(known)
    hint = suggest_name(name, names, f"the goal speaks of {', '.join(names)}")
    return place.error(path, name, "is not a column of the goal", hint)
