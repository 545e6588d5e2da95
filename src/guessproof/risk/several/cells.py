"""Certified cells: a bracket for any goal about two attributes, or three when coarse.

The unknowns are the cells' own averages M_k = E[L | cell k], so the mass of the goal is an exact sum. Cells are coupled
coordinate by coordinate; a coupling that moves nothing further than D gives M_k ≤ e^{εD} M_k' for every private
likelihood, and the linear program over these bounds them all, to second order in the cells' size. Leaving an edge out
only loosens the bound. Where a curved goal cuts a cell, its share φ of the cell can hold at most
φ/(φ + (1−φ)e^{−ε·diameter}) of the cell's likelihood, and that share is charged.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from guessproof.risk.bracket import agreed
from guessproof.risk.several.axes import TAILS, Axis, class_axis, edges_of, finite_axis, line_axis
from guessproof.risk.several.joint_attack import JointAttack, is_untouched
from guessproof.risk.several.lattice import Lattice, edges_between, lattice, split_shares
from guessproof.risk.several.peak_attack import Peaks, climbed_peaks, peak_attack, peak_odds
from guessproof.risk.several.program import best_odds
from guessproof.world.attributes import Attribute, joint_of
from guessproof.world.checks import Array
from guessproof.world.finite import Finite
from guessproof.world.goals import Compound, Conditional, Goal, Together
from guessproof.world.joint import JointHistogram
from guessproof.world.line import LinePrior

_FAR, _WEIGHABLE = 1e-9, 23.0
_BOXES = 40_000  # about so many boxes integrate an attack, more for many cells


@dataclass(frozen=True)
class Certified:
    """Log-odds reached by an attack, log-odds never exceeded, and the attack itself."""

    attack: float
    bound: float
    peaks: Peaks | None
    cells: int


def leaves(goal: Goal) -> list[Goal]:
    """The goals that a compound is made of, each once; what is known besides among them."""
    if isinstance(goal, Conditional):
        return list(dict.fromkeys([*leaves(goal.goal), *leaves(goal.region)]))
    if isinstance(goal, Compound):
        return list(dict.fromkeys(leaf for part in goal.parts for leaf in leaves(part)))
    return [goal]


def can_cut(joint_attack: JointAttack, goal: Goal) -> bool:
    """Whether cells can answer: at most three attributes, tables of combinations excepted."""
    members = joint_attack.members(goal)
    joints = {id(j): j for a in members if (j := joint_of(a)) is not None}
    if not joints:
        return len(members) <= 3
    return len(members) == 2 and len(joints) == 1 and isinstance(next(iter(joints.values())), JointHistogram)


def certified_cells(
    joint_attack: JointAttack,
    goal: Goal,
    epsilon: float,
    target: int,
    seconds: float = 600.0,
    *,
    attack: bool = True,
) -> Certified:
    """The bracket of ln odds at ε > 0 from about `target` cells, or only its bound."""
    cells, joint = cut(joint_attack, goal, epsilon, target)
    share, rest = _charged(cells, goal, joint_attack, epsilon)
    solved = best_odds(cells.mass * share, cells.mass * rest, edges_between(cells, epsilon), seconds)
    if not attack or not is_straight(cells) or np.isinf(solved.bound):
        return Certified(-np.inf, solved.bound, None, cells.mass.size)
    peaks = peak_attack(cells, solved.log_m, share, epsilon)
    reached = peak_odds(peaks, goal, joint_attack, joint, _parts(cells.axes, cells.mass.size))
    return Certified(*agreed(float(reached), float(solved.bound)), peaks, cells.mass.size)


def climbed_further(found: Certified, joint_attack: JointAttack, goal: Goal) -> Certified:
    """The same with an attack that goes uphill from the program's own, which knows L by its cells' averages only."""
    if found.peaks is None:
        return found
    joint = _joint_histogram(joint_attack, goal)
    peaks = climbed_peaks(found.peaks, goal, joint_attack, joint)
    reached = peak_odds(peaks, goal, joint_attack, joint, _parts(peaks.axes, found.cells))
    if reached <= found.attack:
        return found
    return Certified(*agreed(float(reached), found.bound), peaks, found.cells)


def _parts(axes: tuple[Axis, ...], cells: int) -> int:
    """In how many parts each side of a cell is cut where an attack is integrated."""
    lines = sum(not a.is_finite for a in axes)
    return min(12, max(1, round(((_BOXES + 30 * cells) / cells) ** (1 / max(lines, 1)))))


def _joint_histogram(joint_attack: JointAttack, goal: Goal) -> JointHistogram | None:
    return next((j for a in joint_attack.members(goal) if isinstance(j := joint_of(a), JointHistogram)), None)


def _charged(cells: Lattice, goal: Goal, joint_attack: JointAttack, epsilon: float) -> tuple[Array, Array]:
    """Of each cell's likelihood, the most that the goal can hold and the least that the guesses beside it hold."""
    spread = np.exp(-epsilon * cells.diameter)
    inside, outside = split_shares(cells, goal, joint_attack)
    with np.errstate(invalid="ignore", divide="ignore"):  # all of a cell is said below
        most = np.where(inside[1] > 0, inside[1] / (inside[1] + (1 - inside[1]) * spread), 0.0)
        least = outside[0] * spread / (outside[0] * spread + 1 - outside[0])
    return np.where(inside[1] == 1, 1.0, most), np.where(outside[0] == 1, 1.0, np.where(outside[0] > 0, least, 0.0))


def cut(joint_attack: JointAttack, goal: Goal, epsilon: float, target: int) -> tuple[Lattice, JointHistogram | None]:
    """The space cut into about `target` cells."""
    members = joint_attack.members(goal)
    joint = _joint_histogram(joint_attack, goal)
    parts = leaves(goal)
    tables = {a.name: axis for a in members if (axis := _finite(joint_attack, a, parts, joint)) is not None}
    lines = [a for a in members if a.name not in tables]
    fixed = {a.name: fixed_points(joint_attack, a, parts, joint) for a in lines}
    each = target / max(1, int(np.prod([t.size for t in tables.values()])))
    widest = max((len(fixed[a.name]) for a in lines), default=0)
    tail = _tail(joint_attack, goal, lines, epsilon)
    key, kept = (goal, "width", target, tail), joint_attack.shares
    if key not in kept:  # the same at every ε with this tail
        kept[key] = _width(lines, fixed, joint is not None, max(each, widest + 1.0), tail) if lines else 1.0
    width = kept[key]
    offsets = 3 if joint_attack.norm not in ("l1", "linf") and len(lines) == 2 else 1
    if tables and joint_attack.norm != "l1":
        jump = max(float(np.max(t.table, initial=0.0, where=np.isfinite(t.table))) for t in tables.values())  # pyright: ignore[reportArgumentType, reportCallIssue]
        offsets = max(offsets, min(60 if len(lines) == 1 else 12, int(jump / width) + 1))
    axes: list[Axis] = []
    for attribute in members:
        if attribute.name in tables:
            axes.append(tables[attribute.name])
        else:
            edges = edges_of(attribute, fixed[attribute.name], width, joint is not None, tail)
            axes.append(line_axis(attribute, edges, epsilon, offsets, joint is not None))
    return lattice(tuple(axes), joint_attack.norm, joint), joint


def _tail(joint_attack: JointAttack, goal: Goal, lines: list[Attribute], epsilon: float) -> float:
    """The probability left to cells without end: little where far guesses are correct, since a likelihood climbs there.

    Not so little that ε·distance among the cells is more than a solver can weigh.
    """
    from guessproof.risk.several.tiles import decided  # it cuts by the same marks

    names = list(joint_attack.attributes)
    priors = [a.prior for a in lines if isinstance(a.prior, LinePrior)]
    if [a.name for a in lines] != names or len(priors) < len(names) or isinstance(goal, Conditional):
        return TAILS[-1]
    ends = [np.asarray(p.quantile([_FAR, 1 - _FAR]), dtype=np.float64) for p in priors]
    corners = [grid.ravel() for grid in np.meshgrid(*ends, indexing="ij")]
    if not np.any(decided(joint_attack, goal, corners, corners)[0]):
        return TAILS[-1]
    for tail in TAILS:
        spans = [a.distance.distance(*p.quantile([tail, 1 - tail])) for a, p in zip(lines, priors, strict=True)]
        if epsilon * float(max(spans)) <= _WEIGHABLE:
            return tail
    return TAILS[-1]


def _finite(
    joint_attack: JointAttack, attribute: Attribute, parts: list[Goal], joint: JointHistogram | None
) -> Axis | None:
    """The axis of an attribute that has finitely many values, or none that its distance tells apart."""
    own = [g for g in parts if any(a.name == attribute.name for a in g.attributes)]
    plain = [g for g in own if not isinstance(g, Together)]
    prior, form = attribute.prior, attribute.distance.line_form
    flat = is_untouched(attribute.distance) or (form is not None and form.is_flat)
    if isinstance(prior, Finite):
        marks = {g: g.chosen(prior, joint_attack.at(g)) for g in plain}
        if flat and len(plain) == len(own):
            return class_axis(attribute, prior.mass, marks)
        return finite_axis(attribute, marks)
    if not flat or joint is not None or len(plain) < len(own):
        return None
    assert isinstance(prior, LinePrior)
    ends = sorted({e for g in plain for pair in joint_attack.intervals(g) for e in pair})
    edges = np.unique([prior.support[0], *np.clip(ends, *prior.support), prior.support[1]])
    left, right = edges[:-1], edges[1:]
    marks = {g: _covered(left, right, joint_attack.intervals(g)) for g in plain}
    return class_axis(attribute, prior.quick_mass(left, right), marks)


def _covered(left: Array, right: Array, intervals: list[tuple[float, float]]) -> Array:
    return np.any([(left >= a) & (right <= b) for a, b in intervals], axis=0).astype(np.float64)


def fixed_points(
    joint_attack: JointAttack, attribute: Attribute, parts: list[Goal], joint: JointHistogram | None
) -> list[float]:
    """Points that must lie on cell edges: the goal's ends, and the histogram's own edges."""
    found: set[float] = set()
    for goal in parts:
        if isinstance(goal, Together):
            names = [a.name for a in goal.members]
            if attribute.name in names:
                found |= set(goal.marks(names.index(attribute.name), joint_attack.point(goal)))
        elif goal.attributes[0].name == attribute.name:
            found |= {e for pair in joint_attack.intervals(goal) for e in pair}
    if joint is not None:
        found |= set(joint.edges[joint.axis(attribute.name)])
    return sorted(e for e in found if np.isfinite(e))


def _width(lines: list[Attribute], fixed: dict[str, list[float]], even: bool, target: float, tail: float) -> float:
    """The cells' common width, as a distance, that makes about `target` cells; a fraction of the narrowest goal."""

    def count(width: float) -> float:
        return float(np.prod([edges_of(a, fixed[a.name], width, even, tail).size - 1.0 for a in lines]))

    spans = [
        float(a.distance.spread((np.asarray(x), np.asarray(x)), (np.asarray(y), np.asarray(y))))
        for a in lines
        for x, y in zip(fixed[a.name][:-1], fixed[a.name][1:], strict=True)
    ]
    spans = [s for s in spans if s > 0]
    whole = min(spans) if spans else 1.0
    low, high = whole * 1e-3, whole * 1e3
    for _ in range(24):
        width = float(np.sqrt(low * high))
        low, high = (width, high) if count(width) > target else (low, width)
    # Dividing the narrowest goal keeps all cells square; an even number puts its middle, where ridges run, on an edge.
    return whole / max(2, 2 * round(whole / high / 2)) if high < 1.5 * whole else high


def is_straight(cells: Lattice) -> bool:
    """Whether every line's distance is at least |ψ − ψ'|, which the attack's peaks are made of."""
    forms = [a.attribute.distance.line_form for a in cells.axes if not a.is_finite]
    finite = all(np.all(np.isfinite(a.table)) for a in cells.axes if a.table is not None)
    return finite and all(f is not None and np.isinf(f.cap) for f in forms)
