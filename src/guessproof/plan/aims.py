"""The attacker of a plan: his goal on the plan's attributes, what is true, what he knows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from guessproof.errors import GoalError, InputError, KnowledgeError, PlanError
from guessproof.plan.goals import GoalText, read_goal
from guessproof.plan.grammar import wishes
from guessproof.plan.model import Attacker, PlanFile
from guessproof.plan.positions import Key
from guessproof.plan.refusals import Place
from guessproof.plan.words import close_name, spelling, spells
from guessproof.risk.attack import Attack
from guessproof.world.attributes import Attribute
from guessproof.world.checks import ordered
from guessproof.world.finite import Finite, is_number
from guessproof.world.goals import Goal
from guessproof.world.joint import conditioned, joint_of
from guessproof.world.priors import PartlyKnown, Unknown

_GOAL: Key = ("attacker", "goal")


def read_aim(file: PlanFile, attributes: Mapping[str, Attribute], place: Place) -> tuple[GoalText, Attacker]:
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
    knows = _knowledge(attacker.knows, goal, attributes, place)
    believed = _conditioned(goal, attributes, knows, place)
    at = _truth(attacker.at, text, believed, place)
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


def _knowledge(
    raw: Mapping[str, Any] | None, goal: Goal, attributes: Mapping[str, Attribute], place: Place
) -> dict[str, Any] | None:
    if raw is None:
        return None
    joints = [joint_of(attribute) for attribute in goal.attributes]
    allowed = {a.name for a in goal.attributes} | {n for joint in joints if joint is not None for n in joint.names}
    found: dict[str, Any] = {}
    for name, known in raw.items():
        path: Key = ("attacker", "knows", name)
        if name not in allowed:
            raise _stranger(path, name, allowed, place)
        try:
            found[name] = _known(attributes[name], known)
        except InputError as error:
            raise place.error(path, known, error.problem, error.remedy) from None
    return found


def _known(attribute: Attribute, known: Any) -> Any:
    """An interval as a pair of numbers, a choice of values as a set."""
    values = known if isinstance(known, (list, tuple)) else (known,)
    prior = attribute.prior
    if any(isinstance(value, (list, tuple, dict)) for value in values):
        raise KnowledgeError("knows", known, "is not a list of values", "write an interval [10, 40], or values")
    categories = isinstance(prior, Finite) and not prior.is_line
    if len(values) == 2 and not categories:
        return ordered(KnowledgeError, "knows", *values)
    if not isinstance(prior, Finite):
        raise KnowledgeError("knows", known, "is not an interval", "write its two ends, as [10, 40]")
    return frozenset(_own_value(prior, value, KnowledgeError) for value in values)


def _own_value(prior: Finite, value: Any, kind: type[InputError]) -> Any:
    for own in prior.values:
        if spells(spelling(value), own):
            return own
    names = [spelling(own) for own in prior.values]
    hint = close_name(spelling(value), names, f"choose from {', '.join(names[:6])}{', …' if len(names) > 6 else ''}")
    raise kind("value", value, "is not a value of the prior", hint)


def _conditioned(
    goal: Goal, attributes: Mapping[str, Attribute], knows: Mapping[str, Any] | None, place: Place
) -> Mapping[str, Attribute]:
    try:
        return conditioned(goal.attributes, knows or {})
    except InputError as error:
        names = [name for name in knows or {} if name in error.field or len(knows or {}) == 1]
        path: Key = ("attacker", "knows", *names[:1])
        value = (knows or {}).get(names[0]) if names else knows
        raise place.error(path, value, error.problem, error.remedy) from None


def _truth(
    raw: Mapping[str, Any] | None, text: GoalText, believed: Mapping[str, Attribute], place: Place
) -> dict[str, Any] | None:
    if raw is None:
        return None
    found: dict[str, Any] = {}
    for name, value in raw.items():
        path: Key = ("attacker", "at", name)
        if name not in believed:
            raise _stranger(path, name, set(believed), place)
        try:
            found[name] = _true_value(believed[name], value)
        except InputError as error:
            raise place.error(path, value, error.problem, error.remedy) from None
    moving = [c.text for wish in wishes(text.tree) if wish.verb in ("within", "exactly") for c in wish.columns]
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
    if isinstance(value, (str, bool)):
        raise GoalError("at", value, "is not a number", f"{attribute.name} holds numbers")
    low, high = (prior.low, prior.high) if isinstance(prior, (Unknown, PartlyKnown)) else prior.support
    if not low <= value <= high:
        problem = f"{attribute.name} can only lie between {low:g} and {high:g}, by the prior and what he knows"
        raise GoalError("at", value, problem, "choose a value that can occur")
    return float(value)


def _check_possible(goal: Goal, attacker: Attacker, place: Place) -> None:
    """Neither impossible nor certain before the release, where that is quickly known."""
    first, *others = goal.attributes
    if others or isinstance(first.prior, (Unknown, PartlyKnown)):
        return
    if goal.depends_on_truth and attacker.at is None:
        return
    try:
        _ = Attack(goal, attacker.at, attacker.knows, or_=attacker.or_).prior
    except InputError as error:
        if error.field == "or_":  # each alternative has a prior of its own
            return
        raise place.error(_GOAL, attacker.goal, error.problem, error.remedy) from None


def _stranger(path: Key, name: str, known: set[str], place: Place) -> PlanError:
    names = sorted(known)
    hint = close_name(name, names, f"the goal speaks of {', '.join(names)}")
    return place.error(path, name, "is not a column of the goal", hint)
