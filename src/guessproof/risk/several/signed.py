"""The signed-distance attack: L = e^{ε·s(x)} with s = min for AND, max for OR, −s for NOT.

Minima and maxima of 1-Lipschitz functions of single attributes are 1-Lipschitz in ℓ∞, hence in every ℓp. For
independent attributes P(s > a) and P(s > a, goal) multiply over an AND, P(s ≤ a) and P(s ≤ a, not goal) over an OR,
so the belief after this release is one integral over levels, in any dimension:

    E[e^{εs}; goal] = e^{εa₀}·p + ∫_{a₀} ε e^{εa} P(s > a, goal) da,        s clipped below at a₀ (still Lipschitz).

Centres and offsets are free and are searched; whatever the search finds is an attack.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np

from guessproof.risk.several.formula import GoalBlock, Tree
from guessproof.risk.several.joint_attack import JointAttack
from guessproof.risk.several.slopes import Four, Slope, Still, slope_of
from guessproof.world.checks import Array

_NODES, _WEIGHTS = (np.asarray(part) for part in np.polynomial.legendre.leggauss(6))
_REACH = 45.0  # e^{−45} of the peak is as good as nothing
_PANELS = 14
_STEP = 1e-4


@dataclass(frozen=True)
class Climb:
    """A tree of slopes, with the parameters of all of them in one row."""

    joint_attack: JointAttack
    tree: Tree
    slopes: tuple[Slope, ...]
    epsilon: float

    @property
    def start(self) -> Array:
        return np.concatenate([s.start for s in self.slopes])

    @property
    def unit(self) -> Array:
        return np.concatenate([s.unit for s in self.slopes])

    def log_odds(self, theta: Array, panels: int = _PANELS) -> Array:
        """ln E[e^{εs}; goal] − ln E[e^{εs}; not goal], one per row of parameters."""
        pieces = self._cut(theta)
        levels, low, top = self._levels(pieces)
        grid = low + (top - low) * np.linspace(0, 1, panels + 1)
        edges = np.sort(np.concatenate([grid, np.clip(levels, low, top)], axis=1), axis=1)
        half = np.diff(edges, axis=1)[..., None] / 2
        a = edges[:, :-1, None] + half * (1 + _NODES)
        flat = a.reshape(len(theta), -1)
        goal, rest, goal_low, rest_low = self._split(self.tree, pieces, flat, True, [0])
        p, q = goal[:, 0] + goal_low[:, 0], rest[:, 0] + rest_low[:, 0]
        weight = (half * _WEIGHTS).reshape(flat.shape) * self.epsilon * np.exp(self.epsilon * (flat - top))
        base = np.exp(self.epsilon * (low - top))[:, 0]
        with np.errstate(divide="ignore"):
            return np.log(base * p + np.sum(weight * goal, axis=1)) - np.log(base * q + np.sum(weight * rest, axis=1))

    def _levels(self, pieces: list[Array]) -> tuple[Array, Array, Array]:
        """Where s bends, its lowest level that counts, and its highest."""
        levels = np.concatenate([s.levels(t) for s, t in zip(self.slopes, pieces, strict=True)], axis=1)
        top = np.max(levels, axis=1, keepdims=True)
        return levels, np.maximum(np.min(levels, axis=1, keepdims=True), top - _REACH / self.epsilon), top

    def layers(self, theta: Array, count: int) -> tuple[Array, Array, Array]:
        """Levels, rising, and the masses of the goal and of the rest at the first, and from each to the next."""
        pieces = self._cut(theta[None, :])
        _, low, top = self._levels(pieces)
        levels = low + (top - low) * np.linspace(0.0, 1.0, count + 1)
        goal, rest, goal_low, rest_low = self._split(self.tree, pieces, levels, True, [0])
        masses = [
            np.maximum(np.append(under[0, 0], -np.diff(over[0])), 0.0)
            for over, under in ((goal, goal_low), (rest, rest_low))
        ]
        return levels[0], masses[0], masses[1]

    def _cut(self, theta: Array) -> list[Array]:
        ends = np.cumsum([0, *(s.start.size for s in self.slopes)])
        return [theta[:, a:b] for a, b in pairwise(ends.tolist())]

    def _split(self, tree: Tree, pieces: list[Array], a: Array, under_and: bool, at: list[int]) -> Four:
        """Goal and rest above a, goal and rest up to a."""
        if isinstance(tree, GoalBlock):
            slope, theta = self.slopes[at[0]], pieces[at[0]]
            at[0] += 1
            return (replace(slope, high=under_and) if isinstance(slope, Still) else slope).split(theta, a)
        is_and = tree.kind == "and"
        turn = slice(None, None, 1 if is_and else -1)  # an OR is an AND of complements, upside down
        parts = [self._split(part, pieces, a, is_and, at)[turn] for part in tree.parts]
        whole = parts[0]
        for part in parts[1:]:
            whole = _and(*whole, *part)  # pyright: ignore[reportArgumentType, reportCallIssue]
        return whole[turn]  # pyright: ignore[reportReturnType]


def _and(
    g1: Array, n1: Array, g1_low: Array, n1_low: Array, g2: Array, n2: Array, g2_low: Array, n2_low: Array
) -> Four:
    """The smaller of two independent functions: its goal is both goals, its rest everything else."""
    above, low, rest = g2 + n2, g2_low + n2_low, n2 + n2_low
    return (
        g1 * g2,
        n1 * above + g1 * n2,
        g1_low * (g2 + g2_low) + g1 * g2_low,
        n1_low + n1 * low + g1_low * rest + g1 * n2_low,
    )


def signed_attack(joint_attack: JointAttack, tree: Tree, epsilon: float) -> tuple[float, Climb, Array] | None:
    """The gain of the best signed distance found, with it and its parameters; None where there is none."""
    slopes: list[Slope] = []
    for block in _in_order(tree):
        slope = slope_of(joint_attack, block.goal, epsilon) if block.is_single else None
        if slope is None:
            return None
        slopes.append(slope)
    climb = Climb(joint_attack, tree, tuple(slopes), epsilon)
    if not climb.start.size:
        return 0.0, climb, climb.start
    theta = _search(replace(climb, slopes=tuple(s.sketched() for s in slopes)))
    coarse, fine = (float(climb.log_odds(theta[None, :], panels)[0]) for panels in (3 * _PANELS, 8 * _PANELS))
    prior = joint_attack.prior(tree)
    gain = min(coarse, fine) - abs(coarse - fine) - 1e-12 - (prior.log_p - prior.log_q)
    return max(gain, 0.0), climb, theta


def _in_order(tree: Tree) -> list[GoalBlock]:
    return [tree] if isinstance(tree, GoalBlock) else [b for part in tree.parts for b in _in_order(part)]


def _search(climb: Climb) -> Array:
    start, unit = climb.start, climb.unit
    shifts = np.concatenate([np.zeros((1, start.size)), _STEP * np.eye(start.size), -_STEP * np.eye(start.size)])
    n = start.size

    from scipy.optimize import minimize  # heavy, and often not needed

    def loss(z: Array) -> tuple[float, Array]:
        values = -climb.log_odds(start + unit * (z + shifts))
        values = np.where(np.isnan(values), 1e9, values)
        return float(values[0]), (values[1 : n + 1] - values[n + 1 :]) / (2 * _STEP)

    with np.errstate(all="ignore"):
        found: Any = minimize(loss, np.zeros(n), jac=True, method="BFGS", options={"gtol": 1e-5, "maxiter": 12})
    z = found.x if np.all(np.isfinite(found.x)) else np.zeros(n)
    return start + unit * z
