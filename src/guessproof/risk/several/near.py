"""A point within a distance by ℓ2 (or ℓ1): its prior, a bound from rays, and an attack from a cone.

Rays (ℓ2 distance, normal priors): along the ray c + rθ from the true point the prior is r^{n−1}e^{−b r − a r²/2} with
a = θᵀΣ⁻¹θ and b = θᵀΣ⁻¹(c − μ). A larger a or b moves mass inward, so the ratio ∫_{r<R} e^{−εr} : ∫_{r>R} e^{−εr} is
largest at the largest of both, and no likelihood exceeds it on any ray.
"""

from __future__ import annotations

import numpy as np

from guessproof.risk.several.joint_attack import JointAttack
from guessproof.world.attributes import joint_of
from guessproof.world.checks import Array
from guessproof.world.goals import Near, other_side
from guessproof.world.line import LinePrior

_NODES, _WEIGHTS = (np.asarray(part) for part in np.polynomial.legendre.leggauss(16))


def disc_prior(joint_attack: JointAttack, goal: Near) -> tuple[float, float] | None:
    """ln P and ln(1 − P) of two independent numbers near their true values; None for anything else."""
    members = joint_attack.members(goal)
    if len(members) != 2 or not all(isinstance(a.prior, LinePrior) for a in members):
        return None
    x, y = (a.prior for a in members)
    assert isinstance(x, LinePrior)
    assert isinstance(y, LinePrior)
    t = [float(joint_attack.truth[a.name]) for a in members]
    marks = [z - t[0] for z in (*x.breaks, *x.support) if np.isfinite(z)]
    marks += [s * max(float(other_side(goal.by, goal.radius, abs(z - t[1]))), 0.0) for z in (*y.breaks, *y.support)
              if np.isfinite(z) for s in (-1, 1)]  # fmt: skip
    inner = np.clip(np.array([0.0, *marks]) / goal.radius, -1, 1)
    angles = np.unique(np.concatenate([np.linspace(-np.pi / 2, np.pi / 2, 33), np.arcsin(inner)]))
    half = np.diff(angles)[:, None] / 2
    angle = (angles[:-1, None] + half * (1 + _NODES)).ravel()
    gap, speed = goal.radius * np.sin(angle), goal.radius * np.cos(angle)
    reach = other_side(goal.by, goal.radius, np.abs(gap)) if goal.by != "l2" else speed
    weight = (half * _WEIGHTS).ravel() * speed * np.exp(x.log_density(t[0] + gap))
    inside = float(weight @ y.quick_mass(t[1] - reach, t[1] + reach))
    outside = float(weight @ (y.quick_mass(np.full(reach.shape, -np.inf), t[1] - reach)
                              + y.quick_mass(t[1] + reach, np.full(reach.shape, np.inf))))  # fmt: skip
    outside += float(x.quick_mass(-np.inf, t[0] - goal.radius) + x.quick_mass(t[0] + goal.radius, np.inf))
    total = inside + outside
    with np.errstate(divide="ignore"):
        return float(np.log(inside / total)), float(np.log(outside / total))


def ray_bound(joint_attack: JointAttack, goal: Near, epsilon: float) -> float:
    """Log-odds that no likelihood exceeds, from rays; infinite where they prove nothing."""
    world = _round(joint_attack, goal)
    if world is None:
        return np.inf
    sd, offset, scale, n = world
    a, b = float(np.max(sd**-2.0)), float(np.linalg.norm(offset / sd**2))
    inside, outside = (part.item() for part in _radial(np.array([a]), np.array([b]), epsilon / scale, n, goal.radius))
    return float(np.log(inside) - np.log(outside)) + 1e-10


def cone_attack(joint_attack: JointAttack, goal: Near, epsilon: float) -> float:
    """Log-odds of the likelihood e^{−ε·distance from the true point}; −inf where they are not computed."""
    world = _round(joint_attack, goal)
    if world is None or world[3] != 2:
        return -np.inf
    sd, offset, scale, _ = world
    angles = (np.arange(128) + 0.5) * (2 * np.pi / 128)
    ways = np.stack([np.cos(angles), np.sin(angles)])
    a, b = np.sum((ways / sd[:, None]) ** 2, axis=0), np.sum(ways * (offset / sd**2)[:, None], axis=0)
    inside, outside = (np.sum(part) for part in _radial(a, b, epsilon / scale, 2, goal.radius))
    return float(np.log(inside) - np.log(outside)) - 1e-9


def _round(joint_attack: JointAttack, goal: Near) -> tuple[Array, Array, float, int] | None:
    """Standard deviations, offsets from the means and the common scale, for ℓ2 balls of independent normals."""
    members = joint_attack.members(goal)
    if any(joint_of(a) is not None for a in members):
        return None
    forms = [a.distance.line_form for a in members]
    priors = [p for a in members if isinstance(a.prior, LinePrior) and (p := a.prior.normal_form) is not None]
    if goal.by != "l2" or joint_attack.norm != "l2" or len(priors) < len(members):
        return None
    if any(f is None or not f.is_straight or f.step or np.isfinite(f.cap) or f.slopes[0] <= 0 for f in forms):
        return None
    slopes = {f.slopes[0] for f in forms if f is not None}
    if len(slopes) > 1:
        return None
    offset = np.array([float(joint_attack.truth[a.name]) - p.mean for a, p in zip(members, priors, strict=True)])
    return np.array([p.sd for p in priors]), offset, 1 / slopes.pop(), len(members)


def _radial(a: Array, b: Array, rate: float, n: int, radius: float) -> tuple[Array, Array]:
    """∫ r^{n−1} e^{−(b + rate) r − a r²/2} from 0 to the radius, and from there on; for each a and b."""
    pull = (b + rate)[:, None]
    a = a[:, None]
    peak = np.maximum(0.0, -pull / a)
    end = np.maximum(radius, peak) + 12 / np.sqrt(a)
    top = pull * peak + a * peak * peak / 2

    def between(low: Array, high: Array, panels: int) -> Array:
        half = (high - low) / (2 * panels)
        r = low + half * (2 * np.repeat(np.arange(panels), _NODES.size) + np.tile(1 + _NODES, panels))
        value = r ** (n - 1) * np.exp(-pull * r - a * r * r / 2 + top) @ np.tile(_WEIGHTS, panels)
        return half[:, 0] * value * np.exp(-top[:, 0])

    return between(np.zeros_like(end), np.full_like(end, radius), 8), between(np.full_like(end, radius), end, 32)
