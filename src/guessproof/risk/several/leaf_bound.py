"""The leaf bound: boxes that grow from the goal's core prove what no likelihood can exceed (ℓ∞, log-concave priors).

Let B(r) = Π [lo_k − (r − ρ_k₋)/s_k, hi_k + (r − ρ_k₊)/s_k], every side moving at unit speed, empty at r₀. Face j
reaches the goal's edge at r = ρ_j. Follow a point of a face as the box grows, keeping the other coordinates'
conditional quantiles: for log-concave priors f(Q(u)) is concave, so it moves at speed ≤ 1, and the prior along it is
the same for every such leaf of a face,

    p_j(r) = f_i(edge_i(r)) · Π_{k≠i} P(x_k ∈ side_k of B(r)).

ln L is k-Lipschitz along leaves, so goal : rest on each is at most ∫_{r<ρ_j} e^{−kr} p_j : ∫_{r>ρ_j} e^{−kr} p_j, for
any offsets ρ; the best ones make the ratios of all faces equal. Points outside the goal that are swept before ρ_j
count as goal, which only raises the bound. With k < 0 the same ratios bound the odds from below, but then such points
would spoil it: all faces must reach the goal's edges together.

For OR the complement's corners shrink instead, and leaves keep quantiles of the corner: speed ≤ 1 by rising hazard.
`leaf_bound` uses this where a gate joins single intervals of log-concave attributes: there it improves on the product.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import product

import numpy as np

from guessproof.risk.several.formula import Gate, GoalBlock, Tree
from guessproof.risk.several.joint_attack import JointAttack, join
from guessproof.risk.several.quick import sketch
from guessproof.risk.several.shift import BeliefShift
from guessproof.world.checks import Array
from guessproof.world.goals import power_of
from guessproof.world.line import LinePrior

_NODES, _WEIGHTS = (np.asarray(part) for part in np.polynomial.legendre.leggauss(8))
_ROUNDS = 8
_MOST_LEAVES = {"and": 8, "or": 5}

Swept = tuple[Array, Array, Array, Array, Array]  # radii, weights, p_j(r), ρ_j, what lies beyond the last radius


@dataclass(frozen=True)
class LeafSide:
    """One attribute: its prior, its goal lo … hi, and its distance per unit."""

    prior: LinePrior
    lo: float
    hi: float
    slope: float

    @property
    def width(self) -> float:
        """The goal's width, as a distance."""
        return self.slope * (self.hi - self.lo)


def leaf_bound(joint_attack: JointAttack, gate: Gate, parts: list[BeliefShift], k: float) -> float | None:
    """A bound on the gate's gain from leaves over those parts that are intervals (or all complements of some)."""
    best: float | None = None
    for turned in (False, True):
        sides = [_side(joint_attack, part, turned) for part in gate.parts]
        own = [i for i, side in enumerate(sides) if side is not None]
        kind = gate.kind if not turned else ("or" if gate.kind == "and" else "and")
        if not 2 <= len(own) <= _MOST_LEAVES[kind]:
            continue
        factor = float(len(own)) ** (1 / power_of(joint_attack.norm))  # how much longer ways are than by ℓ∞
        leaves = and_leaves if kind == "and" else or_leaves
        chosen = [s for s in sides if s is not None]
        log_odds = leaves(chosen, -k * factor) * -1.0 if turned else leaves(chosen, k * factor)
        group = join(gate, [BeliefShift(parts[i].log_p, parts[i].log_q) for i in own])
        shift = BeliefShift(group.log_p, group.log_q, log_odds - (group.log_p - group.log_q))
        whole = join(gate, [shift, *(p for i, p in enumerate(parts) if i not in own)]).gain
        best = whole if best is None else (min(best, whole) if k > 0 else max(best, whole))
    return best


def _side(joint_attack: JointAttack, part: Tree, turned: bool) -> LeafSide | None:
    if not isinstance(part, GoalBlock) or not part.is_single:
        return None
    goal = ~part.goal if turned else part.goal
    (attribute,) = joint_attack.members(goal)
    prior, form = attribute.prior, attribute.distance.line_form
    if not isinstance(prior, LinePrior) or form is None or not prior.is_log_concave:
        return None
    if not form.is_straight or form.step or np.isfinite(form.cap) or form.slopes[0] <= 0:
        return None
    region = joint_attack.intervals(goal)
    if len(region) != 1:
        return None
    lo, hi = max(region[0][0], prior.support[0]), min(region[0][1], prior.support[1])
    return LeafSide(prior, lo, hi, form.slopes[0]) if np.isfinite(hi - lo) and lo < hi else None


def and_leaves(sides: list[LeafSide], k: float) -> float:
    """Log-odds that no likelihood exceeds (k > 0) or falls below (k < 0) for all of the goals at once."""
    n = len(sides)
    centre = np.array([0.5 * (s.lo + s.hi) for s in sides])
    extra = np.array([0.5 * (s.width - min(t.width for t in sides)) for s in sides])
    theta = np.concatenate([centre, extra])
    unit = np.concatenate([[0.5 * (s.hi - s.lo) for s in sides], np.full(n, min(s.width for s in sides) / 2)])

    def ratios(rows: Array, exact: bool = False, panels: int = 5) -> Array:
        return _ratios(_box_faces(sides, rows, k, exact, panels), k)

    def worst(values: Array) -> Array:
        return np.max(values, axis=-1) if k > 0 else -np.min(values, axis=-1)

    with np.errstate(all="ignore"):
        if k > 0:
            theta = _equalise(ratios, worst, theta, unit)
        final = [float(worst(ratios(theta[None, :], True, panels))[0]) for panels in (6, 12)]
    return _outward(final, k)


def or_leaves(sides: list[LeafSide], k: float) -> float:
    """The same for at least one of the goals."""
    centre = np.array([[0.5 * (s.lo + s.hi) for s in sides]])
    answers: list[float] = []
    with np.errstate(all="ignore"):
        for panels in (6, 12):
            found = [
                _ratios(_corner_faces(sides, signs, centre, k, panels), k)
                for signs in product((-1, 1), repeat=len(sides))
            ]
            values = np.concatenate(found, axis=1)
            answers.append(float(np.max(values) if k > 0 else -np.min(values)))
    return _outward(answers, k)


def _outward(final: list[float], k: float) -> float:
    """The finer of two quadratures, with more than their difference added."""
    if not all(np.isfinite(final)):
        return np.inf if k > 0 else -np.inf
    value = max(final) + 2 * abs(final[1] - final[0]) + 1e-11
    return value if k > 0 else -value


def _equalise(ratios: Callable[..., Array], worst: Callable[[Array], Array], theta: Array, unit: Array) -> Array:
    """Newton's method on the offsets until all faces are equally bad; any offsets are sound."""
    size, step = theta.size, 1e-4
    shifts = np.concatenate([np.zeros((1, size)), step * np.eye(size)])
    factors = np.array([1.0, 0.5, 0.2, 0.05])
    best = np.inf
    for _ in range(_ROUNDS):
        values = ratios(theta + unit * shifts)
        here, change = values[0], (values[1:] - values[0]).T / step
        usable = np.isfinite(here) & np.all(np.isfinite(change), axis=1)
        if usable.sum() < 2:
            break
        best = min(best, float(worst(here[None, :])[0]))
        system = np.concatenate([change[usable], -np.ones((int(usable.sum()), 1))], axis=1)
        move = np.linalg.lstsq(system, -here[usable], rcond=1e-6)[0][:-1]
        move = np.clip(move, -0.5, 0.5)
        trials = theta + unit * move * factors[:, None]
        scores = worst(ratios(trials))
        scores = np.where(np.isnan(scores), np.inf, scores)
        pick = int(np.argmin(scores))
        if not scores[pick] < best:
            break
        gained, theta = best - scores[pick], trials[pick]
        if gained < 1e-5:
            break
    return theta


def _box_faces(sides: list[LeafSide], theta: Array, k: float, exact: bool, panels: int) -> Swept:
    """Radii, weights, p_j(r), ρ_j and what lies beyond the last radius, for growing boxes; one row per θ."""
    n = len(sides)
    centre, extra = theta[:, :n], theta[:, n:]
    lo, hi, slope = (np.array([getattr(s, name) for s in sides]) for name in ("lo", "hi", "slope"))
    up, down = slope * (hi - centre) - extra, slope * (centre - lo) - extra  # ρ of the upper and the lower face
    first = np.max((up + down - slope * (hi - lo)) / 2, axis=1, keepdims=True)
    rho = np.concatenate([up, down], axis=1)
    places = [np.array([*sketch(s.prior).ends, *s.prior.support, *s.prior.breaks]) for s in sides]
    breaks = np.concatenate(
        [up[:, i, None] + slope[i] * (z - hi[i]) for i, z in enumerate(places)]
        + [down[:, i, None] + slope[i] * (lo[i] - z) for i, z in enumerate(places)],
        axis=1,
    )
    r, weight, last = _radii(first, rho, breaks, k, panels)
    shares, densities, tails = [], [], []
    for i, side in enumerate(sides):
        top = hi[i] + (r - up[:, i, None]) / slope[i]
        bottom = lo[i] - (r - down[:, i, None]) / slope[i]
        shares.append(_mass(side.prior, bottom, top, exact))
        densities.append((np.exp(side.prior.log_density(top)), np.exp(side.prior.log_density(bottom))))
        tails.append(_beyond(side, up[:, i], last, k, +1))
        tails.append(_beyond(side, down[:, i], last, k, -1))
    faces = [densities[i][side] * _others(shares, i) for side in (0, 1) for i in range(n)]
    order = [2 * i + side for side in (0, 1) for i in range(n)]
    return r, weight, np.stack(faces, axis=1), rho, np.stack([tails[j] for j in order], axis=1)


def _corner_faces(sides: list[LeafSide], signs: tuple[int, ...], centre: Array, k: float, panels: int) -> Swept:
    """The same for one corner of the complement, which shrinks away from the centre."""
    edges = np.array([s.hi if sign > 0 else s.lo for s, sign in zip(sides, signs, strict=True)])
    slope = np.array([s.slope for s in sides])
    start = slope * np.abs(edges - centre[0])
    speed = start / np.max(start)
    zero = np.zeros((1, len(sides)))
    places = [np.array([*sketch(s.prior).ends, *s.prior.support, *s.prior.breaks]) for s in sides]
    away = [sign * m * (z - e) for sign, m, z, e in zip(signs, slope, places, edges, strict=True)]
    breaks = np.concatenate([np.where(a < 0, a / v, a) for a, v in zip(away, speed, strict=True)])[None, :]
    r, weight, last = _radii(np.array([[-np.max(start)]]), zero, breaks, k, panels)
    shares, densities, tails = [], [], []
    for i, side in enumerate(sides):
        pace = np.where(r < 0, speed[i], 1.0)
        at = edges[i] + signs[i] * r * pace / slope[i]
        beyond = (at, np.full(at.shape, np.inf)) if signs[i] > 0 else (np.full(at.shape, -np.inf), at)
        shares.append(side.prior.quick_mass(*beyond))
        densities.append(pace * np.exp(side.prior.log_density(at)))
        tails.append(_beyond(side, zero[:, i], last, k, signs[i]))
    faces = [densities[i] * _others(shares, i) for i in range(len(sides))]
    return r, weight, np.stack(faces, axis=1), zero, np.stack(tails, axis=1)


def _others(shares: list[Array], i: int) -> Array:
    rest = [s for j, s in enumerate(shares) if j != i]
    return np.prod(rest, axis=0)


def _mass(prior: LinePrior, a: Array, b: Array, exact: bool) -> Array:
    return prior.quick_mass(a, b) if exact else sketch(prior).mass(a, b)


def _radii(first: Array, rho: Array, breaks: Array, k: float, panels: int) -> tuple[Array, Array, Array]:
    """Nodes and weights from the first radius past all faces, and the last radius."""
    latest = np.max(rho, axis=1, keepdims=True)
    finite = np.where(np.isfinite(breaks), breaks, latest)
    last = np.maximum(np.max(finite, axis=1, keepdims=True), latest)
    if k > 0:
        last = np.minimum(last, latest + 45 / k)
    inner = first + (latest - first) * np.linspace(0, 1, panels + 1)
    outer = latest + (last - latest) * np.linspace(0, 1, 3 * panels + 1) ** 1.5
    edges = np.sort(np.clip(np.concatenate([inner, outer, rho, finite], axis=1), first, last), axis=1)
    half = np.diff(edges, axis=1)[..., None] / 2
    r = edges[:, :-1, None] + half * (1 + _NODES)
    return r.reshape(len(rho), -1), (half * _WEIGHTS).reshape(len(rho), -1), last[:, 0]


def _beyond(side: LeafSide, rho: Array, last: Array, k: float, sign: int) -> Array:
    """For k < 0: ∫ e^{−kr} p_j beyond the last radius, at most the prior's own tilted tail (times its slope)."""
    if k > 0:
        return np.zeros(last.shape)
    edge = side.hi if sign > 0 else side.lo
    at = edge + sign * (last - rho) / side.slope
    reach = (at, np.full(at.shape, np.inf)) if sign > 0 else (np.full(at.shape, -np.inf), at)
    tilt = side.prior.log_tilt(np.full(at.shape, -k * sign * side.slope), *reach, at)
    return np.exp(tilt - k * last) * side.slope


def _ratios(swept: Swept, k: float) -> Array:
    """ln of goal : rest on the leaves of each face; −inf where a face meets no goal."""
    r, weight, faces, rho, beyond = swept
    shift = np.max(rho, axis=1, keepdims=True) if k > 0 else np.zeros((len(rho), 1))
    load = (weight * np.exp(-k * (r - shift)))[:, None, :] * faces
    inside = r[:, None, :] < rho[:, :, None]
    goal = np.sum(np.where(inside, load, 0.0), axis=2)
    rest = np.sum(np.where(inside, 0.0, load), axis=2) + beyond * np.exp(k * shift)
    ratio = np.log(goal) - np.log(rest)
    empty = -np.inf if k > 0 else np.inf
    return np.where((goal == 0) if k > 0 else (rest == 0), empty, ratio)
