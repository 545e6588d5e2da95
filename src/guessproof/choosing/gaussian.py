"""A plan with Gaussian noise and an attacker: what its noise tells him, at any ε."""

from __future__ import annotations

from typing import TYPE_CHECKING

from guessproof.errors import InputError, PlanError
from guessproof.exposure import Attacker
from guessproof.exposure.gaussian import GaussianExposure
from guessproof.guarantee.bells import Bell
from guessproof.noise import Noise
from guessproof.sql.curve import answer_curve

if TYPE_CHECKING:
    from guessproof.choosing.chooser import Chooser
    from guessproof.plan import Plan


def gaussian_exposure(chooser: Chooser, attacker: Attacker) -> GaussianExposure:
    """What the attacker learns, from the noise that each ε stands for; refused where it is not proven."""
    plan = chooser.plan
    for measurement in chooser.asked.measurements:
        found = answer_curve(measurement)
        if isinstance(found, str):
            raise _refused(plan, found)
    try:
        return GaussianExposure(
            attacker,
            chooser.guarantee,
            bells=lambda epsilon: tuple(b.repeated(chooser.times) for b in bells_of(plan, chooser.noises(epsilon))),
            failure=failure_of(plan),
        )
    except InputError as error:
        raise plan.error(("attacker", "goal"), attacker.goal, error.problem, error.remedy) from None


def failure_of(plan: Plan) -> float:
    """How probable an answer that breaks the attacker's limits may be, over all releases together."""
    return 0.0 if plan.attacker is None or plan.attacker.failure is None else plan.attacker.failure


def bells_of(plan: Plan, noises: tuple[Noise, ...]) -> tuple[Bell, ...]:
    """What the noises of one release tell; each holds its part of the failure."""
    found: list[Bell] = []
    failure = failure_of(plan) / (len(noises) * plan.release.times)
    for noise in noises:
        curve = answer_curve(noise.measurement)
        if not isinstance(curve, str):
            name, form, rounding = curve
            sd = noise.mechanism.scale
            grid = noise.grid.step * noise.measurement.copies
            found.append(Bell(name, form.times((1 + 1e-14) / sd), (rounding + grid) / sd, failure))
    return tuple(found)


def _refused(plan: Plan, why: str) -> PlanError:
    problem = f"what Gaussian noise tells an attacker is not proven for this query: {why}"
    return plan.error(("release", "mechanism"), plan.release.mechanism, problem, "use laplace, or leave it out")
