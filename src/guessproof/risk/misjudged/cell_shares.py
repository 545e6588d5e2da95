"""What a share of a cell can hold of a likelihood: straight lines above it, for a linear program.

Of the likelihood in a cell, the share s on which it is largest holds at most τ(s) = sR/(1−s+sR), where R(s) is the mean
of e^{εd} over the furthest 2s(1−s) of all pairs of values of the cell (`apart`). A line α + β·s lies above τ if
α ≥ τ(s) − β·s everywhere. With R taken at the worse end of a step of s the difference is concave in s, so that its
largest value on the step is a formula. Of a cell without an end nothing is said but τ ≤ 1.
"""

from __future__ import annotations

import numpy as np

from guessproof.risk.several.axes import Axis
from guessproof.risk.several.lattice import Lattice
from guessproof.world.checks import Array
from guessproof.world.line import LinePrior

_PIECES = 12  # of a cell along an axis
_RADII = 24
_STEPS = 20
_TANGENTS = (0.0, 0.2, 0.5, 0.8, 1.0)  # where τ of the middle share is touched
_THIN = 1e-6  # below this mass quantiles have too few digits


def lines_above(cells: Lattice, epsilon: float) -> list[tuple[Array, Array]]:
    """Pairs (α, β), an entry a cell: no share s of a cell holds more than α + β·s of its likelihood."""
    shares = np.linspace(0.0, 1.0, _STEPS + 1)
    ratios = _ratios(cells, epsilon, 2 * shares * (1 - shares))
    bounded = np.isfinite(ratios[:, 0])
    worse = np.where(bounded[:, None], np.maximum(ratios[:, :-1], ratios[:, 1:]), 1.0)
    middle = np.where(bounded, ratios[:, _STEPS // 2], 1.0)
    lines = [(np.ones(cells.mass.size), np.zeros(cells.mass.size))]
    for touch in _TANGENTS:
        slope = middle / (1 - touch + touch * middle) ** 2
        with np.errstate(invalid="ignore", divide="ignore"):
            best = (np.sqrt(worse / slope[:, None]) - 1) / (worse - 1)
        best = np.clip(np.where(np.isfinite(best), best, 0.0), shares[:-1], shares[1:])
        above = np.max(best * worse / (1 - best + best * worse) - slope[:, None] * best, axis=1)
        lines.append((np.where(bounded, above + 1e-12, 1.0), np.where(bounded, slope, 0.0)))
    return lines


def _ratios(cells: Lattice, epsilon: float, wanted: Array) -> Array:
    """cells × shares of pairs: the mean of e^{εd} over so many of the furthest pairs; infinite without an end."""
    diameter = cells.diameter
    steps = np.arange(1, _RADII + 1) / _RADII
    within = np.ones((diameter.size, _RADII))
    if cells.norm == "linf":
        for axis, place in zip(cells.axes, cells.index, strict=True):
            within *= _pairs_within(axis, place, diameter, steps)
    else:
        within[:, :-1] = 0.0
    within[:, -1] = 1.0
    with np.errstate(over="ignore", invalid="ignore"):
        height = np.exp(epsilon * np.where(np.isfinite(diameter), diameter, 0.0)[:, None] * steps)
    share = np.diff(within, axis=1, prepend=0.0)[:, ::-1]
    parts = np.concatenate([np.zeros((diameter.size, 1)), np.cumsum(share, axis=1)], axis=1)
    sums = np.concatenate([np.zeros((diameter.size, 1)), np.cumsum(share * height[:, ::-1], axis=1)], axis=1)
    some = np.maximum(wanted, 1e-12)
    found = np.stack([np.interp(some, p, s) / some for p, s in zip(parts, sums, strict=True)])
    found = np.where(wanted > 0, np.minimum(found * (1 + 1e-9), height[:, -1:]), height[:, -1:])
    return np.where(np.isfinite(diameter)[:, None], np.maximum(found, 1.0), np.inf)


def _pairs_within(axis: Axis, place: Array, diameter: Array, steps: Array) -> Array:
    """cells × radii (shares of each cell's diameter): the share of pairs of one number that is so near, at least."""
    if axis.is_finite:
        return np.ones((diameter.size, steps.size))
    prior, metric = axis.attribute.prior, axis.attribute.distance
    assert isinstance(prior, LinePrior)
    sized = np.isfinite(axis.left) & np.isfinite(axis.right) & (axis.mass >= _THIN)
    if axis.even:
        u = np.linspace(0.0, 1.0, _PIECES + 1)
        with np.errstate(invalid="ignore"):
            x = axis.left[:, None] + (axis.right - axis.left)[:, None] * u
    else:
        below = prior.quick_mass(np.full(axis.size, -np.inf), axis.left)[:, None]
        u = np.linspace(0.0, 1.0, _PIECES + 1)
        x = np.asarray(prior.quantile(np.clip(below + axis.mass[:, None] * u, 0.0, 1.0)))
    found = np.zeros((diameter.size, steps.size))
    for k in np.flatnonzero(sized).tolist():
        rows = np.flatnonzero(place == k)
        pad = 1e-8 * (axis.right[k] - axis.left[k])
        low, high = np.maximum(x[k, :-1] - pad, axis.left[k]), np.minimum(x[k, 1:] + pad, axis.right[k])
        low[0], high[-1] = axis.left[k], axis.right[k]
        apart = metric.spread((low[:, None], high[:, None]), (low[None, :], high[None, :]))
        sorted_ = np.sort(np.asarray(apart).ravel())
        radii = np.where(np.isfinite(diameter[rows]), diameter[rows], 0.0)[:, None] * steps
        found[rows] = np.searchsorted(sorted_, radii, side="right") / sorted_.size * (1 - 1e-8)
    return found
