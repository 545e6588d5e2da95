"""What counts as a right guess, drawn on what is believed beforehand; for goals about several columns."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from guessproof.charts.exposed import exposed_place
from guessproof.charts.goals import goal_picture
from guessproof.charts.numbers import typical
from guessproof.errors import GuessproofError
from guessproof.reporting.facts import Facts
from guessproof.reporting.figures import figure
from guessproof.reporting.markup import Markup, join, tag
from guessproof.reporting.shift import shown
from guessproof.risk import Attack
from guessproof.rounded import percent_short
from guessproof.world import LinePrior

MARGIN, WIDEST = 70, 460  # for the axis; a map is as high as it is wide


def guesses(facts: Facts) -> Markup | None:
    """A map of two columns, or the values of a formula of more; None where there is none to draw."""
    found = _attack(facts)
    if found is None:
        return None
    attack, whose = found

    def draw(width: int) -> Any:
        return goal_picture(attack, width=min(width - MARGIN, WIDEST), named=facts.plan.label)

    label = f"What is believed beforehand, and the guesses that count as right: {facts.goal()}."
    is_map = len(attack.asked.attributes) == 2
    how = "The darker, the likelier. Red: right guesses" if is_map else "How likely each value is. Red: right guesses"
    known = " Grey: what the attacker rules out." if is_map and attack.asked is not attack.goal else ""
    try:
        red = percent_short(attack.prior, "near")
        picture = figure("goal", draw, label, f"{how}{whose}, {red} of what is believed beforehand.{known}")
    except (GuessproofError, ValueError):  # a goal that has no picture, or true values that cannot be
        return None
    return join([tag("h3", "What counts as a right guess"), picture])


def _attack(facts: Facts) -> tuple[Attack, str] | None:
    """Whom the picture is drawn for, and for which true values, in words."""
    exposure = facts.choice.exposure
    if exposure is None or len(exposure.attacker.names) < 2:
        return None
    attacker, choice = exposure.attacker, facts.choice
    priors = [attacker.attributes[name].prior for name in attacker.names]
    if not any(isinstance(prior, LinePrior) for prior in priors):
        return None  # combinations of labels are listed one by one
    worst = None if choice.advantage is None else choice.advantage.worst_at
    at, why = attacker.at, "for the plan’s true values"
    told = at or worst
    if not at:
        at, why = exposed_place(attacker.goal, worst), "for the true values at which most can be learnt"
    if not at:
        at, why = {a.name: typical(a) for a in attacker.goal.attributes}, "for true values in the middle"
        told = at
    said = told if isinstance(told, Mapping) else at  # of a formula its value, which many places have
    values = ", ".join(f"{facts.plan.label(n)} = {shown(v)}" for n, v in said.items())
    return Attack(attacker.goal, at, attacker.knows), f" {why} ({values})" if attacker.goal.depends_on_truth else ""
