"""Checks of what an attacker believes, wants, and may learn."""

from __future__ import annotations

import math
from collections.abc import Iterator

from guessproof.checking.concern import Checked, Concern
from guessproof.names import suggest_name
from guessproof.plan.places import Key
from guessproof.rounded import percent_down
from guessproof.world import Attribute, Finite, LinePrior, Within, joint_of

MOST_OUTSIDE = 0.2  # a normal prior for a number that is never negative often has a tenth outside
MOST_WIDE = 100  # times as wide as where 99 % of people are believed
KNOWN, HARDLY = 0.95, 1e-4  # how often a guess at the middle of the prior is right before any release
NEVER = 1e-6  # of people, beyond a true value


def prior_lies_outside(case: Checked) -> Iterator[Concern]:
    """A belief that most people lie where the bounds say that nobody does: often another unit, as cents."""
    for name, attribute in case.plan.attributes().items():
        bounds = case.plan.columns[name].bounds
        if bounds is None or joint_of(attribute) is not None:
            continue
        outside = _outside(attribute, bounds)
        if outside is None or outside <= MOST_OUTSIDE:
            continue
        low, high = map(attribute.shown, bounds)
        problem = (
            f"the prior believes {percent_down(outside, 0)} of people outside the bounds {low} … {high}, and every "
            "value outside them is counted as the nearest bound"
        )
        remedy = "give prior and bounds in the same unit, or widen the bounds"
        yield case.concern("prior_outside_bounds", ("columns", name, "prior"), attribute.prior.name, problem, remedy)


def _outside(attribute: Attribute, bounds: tuple[float, float]) -> float | None:
    """The probability of a value outside; None where the prior tells none."""
    prior = attribute.prior
    if isinstance(prior, LinePrior):
        return 1 - min(1.0, float(prior.mass(*bounds)))
    if isinstance(prior, Finite) and prior.is_line:
        return sum(float(w) for x, w in zip(prior.points, prior.mass, strict=True) if not bounds[0] <= x <= bounds[1])
    return None


def bounds_are_wide(case: Checked) -> Iterator[Concern]:
    """Bounds far wider than where people are believed to be: noise is made for the bounds."""
    for name, attribute in case.plan.attributes().items():
        bounds, prior = case.plan.columns[name].bounds, attribute.prior
        if bounds is None or not isinstance(prior, LinePrior):
            continue
        low, high = (float(prior.quantile(share)) for share in (0.005, 0.995))
        if bounds[1] - bounds[0] > MOST_WIDE * (high - low) > 0:
            usual = f"{attribute.shown(low)} … {attribute.shown(high)}"
            problem = f"the prior believes 99 % of people in {usual}, and the noise is made for these bounds"
            remedy = "give bounds that people can really have, in the prior's unit"
            shown = [attribute.shown(end) for end in bounds]
            yield case.concern("bounds_wide", ("columns", name, "bounds"), shown, problem, remedy)


def goal_is_decided(case: Checked) -> Iterator[Concern]:
    """A goal that nearly every guess meets beforehand, or none: often in another unit than the prior."""
    plan = case.plan
    goal = None if plan.attacker is None else plan.goal()
    if plan.attacker is None or not isinstance(goal, Within) or goal.radius is None:
        return
    attribute = plan.attributes()[goal.attribute.name]
    prior = attribute.prior
    if not isinstance(prior, LinePrior):
        return
    middle = float(prior.quantile(0.5))
    right = float(prior.mass(middle - goal.radius, middle + goal.radius))
    remedy = "give the goal in the unit of the prior, or another prior"
    if right >= KNOWN:
        often = percent_down(right, 0)
        problem = f"a guess at {attribute.shown(middle)} is right in {often} of cases before any release"
    elif right < HARDLY:
        problem = f"even the best guess is right in fewer than {HARDLY:.2%} of cases before any release"
    else:
        return
    yield case.concern("goal_decided", ("attacker", "goal"), plan.attacker.goal, problem, remedy)


def truth_is_unlikely(case: Checked) -> Iterator[Concern]:
    """A true value that nobody has: the limit would hold for nobody."""
    attacker = case.plan.attacker
    for name, value in (attacker.at or {}).items() if attacker is not None else ():
        attribute = case.plan.attributes().get(name)
        if attribute is None or not isinstance(value, (int, float)):
            continue
        bounds, prior = case.plan.columns[name].bounds, attribute.prior
        if bounds is not None and not bounds[0] <= value <= bounds[1]:
            low, high = map(attribute.shown, bounds)
            problem = f"the true value {attribute.shown(value)} lies outside the bounds {low} … {high}"
        elif isinstance(prior, LinePrior) and not NEVER < float(prior.mass(-math.inf, value)) < 1 - NEVER:
            problem = f"the prior believes nobody near the true value {attribute.shown(value)}"
        else:
            continue
        remedy = "write one that people have, or leave at out: the limit then holds for every true value"
        yield case.concern("truth_unlikely", ("attacker", "at"), value, problem, remedy)


def goal_is_never_read(case: Checked) -> Iterator[Concern]:
    """A wish about columns that no answer depends on: the limit protects nothing, and every ε would keep it."""
    plan = case.plan
    if plan.wanted is None or plan.attacker is None:
        return
    wanted = list(plan.wanted.names)
    tied = {n for name in wanted for joint in [joint_of(plan.attributes()[name])] if joint for n in joint.names}
    read = case.asked.columns
    if read & ({*wanted} | tied):
        return
    protected = sorted(name for name in read if name in plan.columns and not plan.columns[name].public)
    hint = suggest_name(wanted[0], protected, "")
    if protected and not hint:
        hint = f"write the goal about {' or '.join(protected)}, which it reads"
    problem = f"the query never reads {' or '.join(wanted)}, so that this limit protects nothing of what is released"
    remedy = hint or "declare the columns that the query reads, and write the goal about one of them"
    yield case.concern("goal_not_read", ("attacker", "goal"), plan.attacker.goal, problem, remedy)


def limit_is_certainty(case: Checked) -> Iterator[Concern]:
    """A limit of 1: nothing is more than certain."""
    for key in ("advantage", "posterior"):
        if case.plan.attacker is not None and getattr(case.plan.attacker, key) == 1:
            problem = "is a limit that no release can break: nothing is more than certain"
            yield case.concern("limit_without_force", ("attacker", key), 1, problem, "write for instance 0.05 for 5 %")


def limit_cannot_be_broken(case: Checked) -> Iterator[Concern]:
    """A limit that holds whatever is released."""
    for limit in () if case.choice is None else case.choice.limits:
        if limit.side == "at most" and math.isinf(limit.epsilon):
            path: Key = ("attacker",) if limit.name == "attacker" else ("risk",)
            problem = f"no release can break this limit: {limit.how}"
            yield case.concern("limit_without_force", path, limit.how, problem, "write a smaller one")
