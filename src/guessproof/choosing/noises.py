"""Which noise a plan may name for what it asks: refused for its own sake, before any limit is looked at.

The place to mend is always the same then. Entered where a plan names a mechanism, a δ or noise that follows the data.
"""

from __future__ import annotations

import math

from guessproof.guarantee import list_moved
from guessproof.mechanisms import BEST, FOLLOWING, MECHANISMS
from guessproof.noise import Noise
from guessproof.plan import Plan
from guessproof.plan.checks import refuse_delta
from guessproof.sql import Asked


def check_noise(plan: Plan, asked: Asked) -> None:
    """Whole noise is for whole numbers, noise that follows the data for extremes, and a δ for what needs one."""
    mechanism = plan.release.mechanism
    if plan.release.smooth:
        _check_smooth(plan, asked)
    if mechanism is not None and MECHANISMS[mechanism].is_whole:
        for measurement in asked.measurements:
            if not measurement.is_whole:
                problem, remedy = f"{measurement.text} is no whole number", f'say mechanism = "{BEST.name}"'
                raise plan.error(("release", "mechanism"), mechanism, problem, remedy)
    _check_groups(plan, asked)


def _check_smooth(plan: Plan, asked: Asked) -> None:
    """There is one kind of noise that follows the data."""
    release, spot = plan.release, ("release", "smooth")
    if release.mechanism not in (None, FOLLOWING.name):
        remedy = 'leave mechanism out, or say mechanism = "cauchy"'
        raise plan.error(spot, True, f"{release.mechanism} noise has a fixed scale", remedy)
    if release.ranks_inside is not None:
        raise plan.error(spot, True, "an extreme is picked by its rank, or gets noise", "write one of the two")
    if not any(m.follows for m in asked.measurements):
        raise plan.error(spot, True, "the query asks for no MIN or MAX of rows", "leave it out")


def _check_groups(plan: Plan, asked: Asked) -> None:
    """A δ is for Gaussian noise, or for groups that are found in the table."""
    mechanism = plan.release.mechanism
    if asked.finds_groups:
        from guessproof.choosing.frequent import check_found_groups

        check_found_groups(plan)
    elif plan.release.delta is not None and not (mechanism and MECHANISMS[mechanism].has_delta):
        raise refuse_delta(plan.release, plan.place)


def check_delta(plan: Plan, asked: Asked, noises: tuple[Noise, ...]) -> None:
    """What the grid adds to δ grows with ε; all of it must stay within what the plan allows."""
    allowed = plan.release.delta
    given = list_moved([n.cost[1] for n in noises], asked.families if noises else (), key=float)
    if allowed is not None and math.fsum(given) > allowed:
        problem = "this little Gaussian noise on numbers this large needs a larger failure probability"
        raise plan.error(("release", "delta"), allowed, problem, "ask for less accuracy, or use laplace noise")
