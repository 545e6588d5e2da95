"""What is believed beforehand, with the right guesses marked; and noise, seen before it is paid for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from guessproof.charts import live as charts
from guessproof.charts.exposed import exposed_place
from guessproof.charts.goals import goal_picture, shows_known
from guessproof.charts.numbers import density_rows, share_rows, typical
from guessproof.choosing import Chooser, asked
from guessproof.errors import GuessproofError, InfeasibleError
from guessproof.plan import Plan
from guessproof.plan.goals import known_on
from guessproof.releasing.answer import add_noise
from guessproof.risk import Attack
from guessproof.web.folder import Folder
from guessproof.web.states import Tables, has_data, read_calculation, read_state
from guessproof.world import Attribute, Finite, Goal, LinePrior

CELLS = 48  # of a number along the strips of labels
HEIGHT = 300  # of a map; it is as wide as there is room
SKETCHES = 5
MOST_GROUPS = 40
Json = dict[str, Any]


def shape_of(folder: Folder, state: Tables, worst: Any = None) -> Json:
    """The prior of the attacked columns, and which guesses are right for one true value.

    That is the stated one, the `worst` where it is known already, or one in the middle; `truth` says which.
    """
    plan = read_state(state, folder) if has_data(state) else read_calculation(state, folder).plan
    if plan.wanted is None:
        return {"kind": "none"}
    goal = plan.goal()
    attributes = list(goal.attributes)
    stated = dict((plan.attacker.at if plan.attacker is not None else None) or {})
    at = stated or exposed_place(goal, worst) or {}
    truth = "any" if not goal.depends_on_truth else "stated" if stated else "worst" if at else "middle"
    for attribute in attributes:
        at.setdefault(attribute.name, typical(attribute))
    told = {
        "truth": truth,
        "at": {name: value if isinstance(value, (int, float)) else str(value) for name, value in at.items()},
    }
    knows = None if plan.attacker is None else known_on(plan.attacker.knows, plan.attributes())
    try:
        attack = Attack(goal, at, knows)
    except GuessproofError:  # a true value that cannot be; the answer says so
        return {"kind": "none"}
    first = attributes[0]
    if len(attack.asked.attributes) == 1:
        return {**_of_one(attack.conditioned[first.name], goal, at[first.name]), "drawn_for": told}
    return {**_of_several(attack, plan.label), "drawn_for": told}


def _of_one(attribute: Attribute, goal: Goal, at: Any) -> Json:
    prior = attribute.prior
    if isinstance(prior, LinePrior):
        rows = density_rows(attribute, goal, at)
        drawn = charts.apart(charts.beliefs(rows, rows, [{"x": at}], attribute.name))
        return {"kind": "line", "name": attribute.name, "at": at, "spec": drawn.spec, "rows": drawn.rows}
    if isinstance(prior, Finite):
        rows = share_rows(attribute, goal, at)
        drawn = charts.apart(charts.shares(rows, attribute.name))
        return {"kind": "labels", "name": attribute.name, "at": str(at), "spec": drawn.spec, "rows": drawn.rows}
    return {"kind": "none"}


def _of_several(attack: Attack, named: Callable[[str], str]) -> Json:
    """An AND is a box, an OR is a cross, a formula is a band, or an interval of its values."""
    try:
        picture = goal_picture(attack, points=CELLS, width=HEIGHT, named=named)
    except (GuessproofError, ValueError):  # three labels, or a true place that cannot be
        return {"kind": "none"}
    drawn = charts.apart(picture.properties(width="container"))
    likely = "the stronger, the likelier" if len(attack.asked.attributes) == 2 else "the higher, the likelier"
    legend = [["ink", likely], ["alarm", "right guesses"]]
    if shows_known(attack):
        legend.append(["quiet", "ruled out by what he knows"])
    return {
        "kind": "map",
        "legend": legend,
        "name": " and ".join(attack.at or {}),
        "at": None,
        "spec": drawn.spec,
        "rows": drawn.rows,
    }


def sketches(folder: Folder, state: Tables) -> Json:
    """What the noise would do to an empty table, drawn a few times; the data is not opened, nothing is charged."""
    plan = read_state(state, folder)
    choice = _choice(plan)
    if not choice.feasible or not choice.noises:
        raise InfeasibleError(choice.explanation)
    tables = [add_noise(choice, {}).answers[:MOST_GROUPS] for _ in range(SKETCHES)]
    names = [" · ".join([*(str(v) for v in a.group.values()), a.name]) for a in tables[0]]
    values = [[None if a.value is None else float(f"{a.value:.4g}") for a in table] for table in tables]
    return {"names": names, "tables": values}


def _choice(plan: Plan) -> Any:
    return Chooser(plan, asked(plan), None, False).choice()
