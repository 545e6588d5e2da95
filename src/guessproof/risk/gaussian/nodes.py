"""A prior as weighted points, and what one noisy answer makes of it.

The answer is ψ(x) plus normal noise, in units of the noise. An answer y weighs each value x by e^{−(y−ψ(x))²/2}; the
sums of these weights inside and outside a goal, with their first two moments, are all that is ever asked. Between the
points of a density lie Gauss–Legendre panels that end at the goals' edges and where the prior or ψ bends.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from guessproof.world.checks import Array
from guessproof.world.finite import Finite
from guessproof.world.line import LinePrior
from guessproof.world.line_form import LineForm

Places = NDArray[np.int64]  # of points
GAUSS, GAUSS_WEIGHTS = (np.asarray(part) for part in np.polynomial.legendre.leggauss(10))
WIDEST = 0.5  # how far ψ, or a pure log-likelihood, may rise within one panel
LEAST, MOST = -34.0, 700.0  # log-odds that are told apart
ROWS = 1_000_000  # points times outputs that are held at once


@dataclass(frozen=True)
class Nodes:
    """Points x of the line, rising, with ln of their prior weights and ψ there."""

    x: Array
    log_weight: Array
    answer: Array

    @property
    def reach(self) -> float:
        """How far the answers of any two values are apart."""
        return float(self.answer[-1] - self.answer[0])

    def positions(self, low: Any, high: Any) -> tuple[Places, Places]:
        """Which points lie in the closed intervals [low, high]: from the first to before the second."""
        return np.searchsorted(self.x, low), np.searchsorted(self.x, high, side="right")


def nodes_of(prior: LinePrior | Finite, response: LineForm, pure: LineForm, edges: Array) -> Nodes:
    """The points of a prior that integrate every goal between the edges."""
    if isinstance(prior, Finite):
        some = prior.mass > 0
        x, log_weight = prior.points[some], np.log(prior.mass[some])
    else:
        x, log_weight = _panel_nodes(prior, response, pure, edges)
    return Nodes(x, log_weight, np.asarray(response.psi(x)))


def _panel_nodes(prior: LinePrior, response: LineForm, pure: LineForm, edges: Array) -> tuple[Array, Array]:
    ends = _panel_ends(prior, response, pure, edges)
    left, right = ends[:-1], ends[1:]
    outer_left, outer_right = left.copy(), right.copy()
    outer_left[0], outer_right[-1] = prior.support  # what the panels leave out at either end counts all the same
    exact = np.asarray(prior.log_tilt(0.0, outer_left, outer_right))
    some = exact > -np.inf
    left, right, exact = left[some], right[some], exact[some]
    half = 0.5 * (right - left)[:, None]
    x = left[:, None] + half * (1 + GAUSS)
    with np.errstate(divide="ignore"):
        density = np.asarray(prior.log_density(x)) + np.log(half * GAUSS_WEIGHTS)
    top = np.max(density, axis=1, keepdims=True)
    flat = ~np.isfinite(top)  # a panel whose density underflows: its mass is spread evenly
    density = np.where(flat, np.log(GAUSS_WEIGHTS / 2), density - np.where(flat, 0.0, top))
    found = density - np.log(np.sum(np.exp(density), axis=1, keepdims=True)) + exact[:, None]
    return x.ravel(), found.ravel()


def _panel_ends(prior: LinePrior, response: LineForm, pure: LineForm, edges: Array) -> Array:
    starts, stops = (np.ravel(side) for side in prior.panels(*prior.support))
    own = np.concatenate([side[stops > starts] for side in (starts, stops)])
    low, high = float(own.min()), float(own.max())
    extra = np.concatenate([np.ravel(edges), response.cuts, pure.cuts, prior.breaks])
    ends = np.unique(np.concatenate([own, extra[(extra > low) & (extra < high)]]))
    rise = np.maximum(np.diff(response.psi(ends)), np.diff(pure.psi(ends)))
    parts = np.maximum(1, np.ceil(rise / WIDEST)).astype(np.int64)
    if int(parts.sum()) == len(parts):
        return ends
    widths = np.repeat(np.diff(ends) / parts, parts)
    place = np.arange(len(widths)) - np.repeat(np.cumsum(parts) - parts, parts)
    return np.append(np.repeat(ends[:-1], parts) + place * widths, ends[-1])


@dataclass(frozen=True)
class Odds:
    """For outputs (rows) and goals (columns): ln odds, and the variances of the answer inside and outside the goal."""

    log: Array
    inside: Array
    outside: Array


def odds_of(nodes: Nodes, outputs: Array, first: Places, past: Places, tilt: Array | None = None) -> Odds:
    """The odds of goals, each the points from `first` to before `past`, after each output.

    `tilt` is added to the logarithm of the points' weights: what other releases make of them at their worst.
    """
    chunk = max(1, ROWS // len(nodes.x))
    parts = [_odds(nodes, outputs[i : i + chunk], first, past, tilt) for i in range(0, len(outputs), chunk)]
    log, inside, outside = (np.concatenate([getattr(p, n) for p in parts]) for n in ("log", "inside", "outside"))
    return Odds(log, inside, outside)


def _odds(nodes: Nodes, outputs: Array, first: Places, past: Places, tilt: Array | None) -> Odds:
    middle = 0.5 * (nodes.answer[0] + nodes.answer[-1])
    away = (nodes.answer - middle)[None, :]
    weight = nodes.log_weight + away * (outputs - middle)[:, None] - 0.5 * away * away  # but for what all have alike
    weight = weight if tilt is None else weight + tilt
    weight = np.exp(weight - np.max(weight, axis=1, keepdims=True))
    cuts = np.unique(np.concatenate([[0], first, past]))
    places = np.searchsorted(cuts, first), np.searchsorted(cuts, past)
    sums = [_inside_and_outside(terms, cuts, *places) for terms in (weight, weight * away, weight * away * away)]
    (mass, rest), (one, other), (square, rest_square) = sums
    with np.errstate(divide="ignore", invalid="ignore"):
        log = np.log(mass) - np.log(rest)
        inside = np.where(mass > 0, np.maximum(square / mass - (one / mass) ** 2, 0.0), 0.0)
        outside = np.where(rest > 0, np.maximum(rest_square / rest - (other / rest) ** 2, 0.0), 0.0)
    # Below e^{LEAST} a sum is rounding; what is certain in floating point stays so.
    return Odds(np.clip(np.where(mass <= 0, LEAST, np.where(rest <= 0, MOST, log)), LEAST, MOST), inside, outside)


def _inside_and_outside(terms: Array, cuts: Places, first: Places, past: Places) -> tuple[Array, Array]:
    """Sums over the points of each goal, and over all others, neither as a difference of large numbers."""
    starts = cuts[cuts < terms.shape[1]]
    parts = np.add.reduceat(terms, starts, axis=1)
    zero = np.zeros((len(terms), 1))
    upward = np.concatenate([zero, np.cumsum(parts, axis=1)], axis=1)
    downward = np.concatenate([np.cumsum(parts[:, ::-1], axis=1)[:, ::-1], zero], axis=1)
    from_left = first < parts.shape[1] // 2
    middle = np.where(from_left, upward[:, past] - upward[:, first], downward[:, first] - downward[:, past])
    return middle, upward[:, first] + downward[:, past]
