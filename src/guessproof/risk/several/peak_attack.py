"""An attack from the program's own answer: L(x) = max_k M_k e^{−ε·d(x, x_k)} over a few summits x_k.

Any maximum of such peaks is a feasible likelihood, whatever the M_k. Its masses are bounded from the attacker's bad
side on small boxes. There each peak is a concave function of position (a norm is convex), so with w_c the multilinear
weights of a box's corners c at its mean,

    E[L | box] ≥ exp Σ_c w_c·(one peak at c)          a concave function lies above its corners (Jensen twice),
    E[L | box] ≤ Σ_c w_c·exp(largest tangent at c)    a convex function lies below them (Edmundson–Madansky),

both exact to second order in the size of the boxes.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import product
from typing import Any

import numpy as np

from guessproof.risk.several.axes import Axis
from guessproof.risk.several.heights import climbed_heights
from guessproof.risk.several.joint_attack import JointAttack
from guessproof.risk.several.lattice import Lattice, lattice, split_shares
from guessproof.world.checks import Array
from guessproof.world.goals import Goal, Norm, combine, power_of
from guessproof.world.joint import JointHistogram
from guessproof.world.line import LinePrior

_TILT = 1e-5  # over a piece: its square is what a mean misses by, and its inverse times rounding
_MOST = 500  # peak_attack
_NOTHING_MISSES = 1e-6
_CLIMBED_ON, _RIVALS = 5000, 24  # boxes, and summits that count on each
_TILE = 4  # cells per side of a group of boxes that are integrated together
_TAIL_LEVELS = np.array([0.0, 0.5, 0.9, 0.99, 0.999, 0.9999, 0.99999])


@dataclass(frozen=True)
class Peaks:
    """Heights ln M_k and places x_k, as ψ on lines and as positions of finite attributes."""

    axes: tuple[Axis, ...]
    norm: Norm
    epsilon: float
    height: Array
    place: tuple[Array, ...]
    clamped: tuple[bool, ...] = ()  # on these axes L stays as it is beyond the window

    def log_likelihood(self, places: list[Array]) -> Array:
        """ln L at points given by their places on every axis."""
        places = [
            np.clip(p, *window(axis)) if clamped else p
            for p, axis, clamped in zip(places, self.axes, self.clamped, strict=True)
        ]
        return np.max(self.height - self.epsilon * self._way([p[..., None] for p in places]), axis=-1)

    def _way(self, places: list[Any]) -> Any:
        return combine(self.norm, [self.gap(i, p, self.place[i]) for i, p in enumerate(places)])

    def gap(self, i: int, p: Any, q: Any) -> Any:
        """The distance on one axis."""
        table = self.axes[i].table
        return np.abs(p - q) if table is None else table[np.asarray(p, dtype=np.int64), np.asarray(q, dtype=np.int64)]


def window(axis: Axis) -> tuple[float, float]:
    """ψ at the ends of the finite cells."""
    psi = axis.attribute.distance.line_form.psi  # pyright: ignore[reportOptionalMemberAccess]
    ends = np.concatenate([axis.left, axis.right])
    ends = ends[np.isfinite(ends)]
    return float(psi(np.min(ends))), float(psi(np.max(ends)))


def peak_attack(cells: Lattice, log_m: Array, share: Array, epsilon: float) -> Peaks:
    """A few points of the goal whose peaks reproduce the program's answer there.

    Halfway between cells the answer may be as high as its neighbours allow: that is where ridges run.
    """
    place, height, mass = _candidates(cells, log_m, share, epsilon)
    reached, chosen = np.full(height.shape, -np.inf), list[int]()
    whole = Peaks(cells.axes, cells.norm, epsilon, height, place)
    weight = mass * np.exp(height - np.max(height))
    for _ in range(_MOST):
        missing = weight * -np.expm1(np.minimum(reached - height, 0.0))
        k = int(np.argmax(missing))
        if chosen and missing[k] <= _NOTHING_MISSES * float(np.sum(weight)):
            break
        chosen.append(k)
        gaps = [whole.gap(i, p, p[k]) for i, p in enumerate(place)]
        reached = np.maximum(reached, height[k] - epsilon * combine(cells.norm, gaps))
    keep = np.array(chosen)
    clamped = tuple(_goal_reaches_out(cells, share, i) for i in range(len(cells.axes)))
    return Peaks(cells.axes, cells.norm, epsilon, height[keep], tuple(p[keep] for p in place), clamped)


def _goal_reaches_out(cells: Lattice, share: Array, i: int) -> bool:
    axis = cells.axes[i]
    if axis.is_finite:
        return False
    is_open = np.isinf(axis.left) | np.isinf(axis.right)
    return bool(np.any(share[is_open[cells.index[i]]] > 0.5))


def _candidates(cells: Lattice, log_m: Array, share: Array, epsilon: float) -> tuple[tuple[Array, ...], Array, Array]:
    """Cells of the goal and points halfway between them, with the heights that their neighbours allow."""
    shape = cells.shape
    height, mass, goal = np.full(shape, np.inf), np.zeros(shape), np.zeros(shape, dtype=bool)
    height[cells.index], mass[cells.index], goal[cells.index] = log_m, cells.mass, share > 0.5 * np.max(share)
    lower = [np.arange(a.size) if a.is_finite else np.arange(2 * a.size - 1) // 2 for a in cells.axes]
    upper = [np.arange(a.size) if a.is_finite else np.arange(2 * a.size) // 2 for a in cells.axes]
    upper = [u[: low.size] if a.is_finite else u[1:] for a, u, low in zip(cells.axes, upper, lower, strict=True)]
    places = [0.5 * (a.place[low] + a.place[up]) for a, low, up in zip(cells.axes, lower, upper, strict=True)]
    top, heavy, inside = (np.full([p.size for p in places], v) for v in (np.inf, 0.0, True))
    reach = [(0,) if a.is_finite else (-1, 0, 1, 2) for a in cells.axes]
    for steps in product(*reach):
        near = [np.clip(low + s, 0, a.size - 1) for low, s, a in zip(lower, steps, cells.axes, strict=True)]
        with np.errstate(invalid="ignore"):  # a cell with no mass to speak of has its middle at infinity: no candidate
            gaps = [
                np.zeros(p.size) if a.is_finite else np.abs(p - a.place[i])
                for p, a, i in zip(places, cells.axes, near, strict=True)
            ]
        way = combine(cells.norm, list(np.ix_(*gaps)))
        top = np.minimum(top, height[np.ix_(*near)] + epsilon * way)
        if all(s in (0, 1) for s in steps):
            ends = [up if s else low for s, low, up in zip(steps, lower, upper, strict=True)]
            inside &= goal[np.ix_(*ends)]
            heavy = heavy + mass[np.ix_(*ends)]
    grid = np.meshgrid(*places, indexing="ij")
    some = inside & np.isfinite(top)
    return tuple(g[some] for g in grid), top[some], heavy[some]


def climbed_peaks(peaks: Peaks, goal: Goal, joint_attack: JointAttack, joint: JointHistogram | None) -> Peaks:
    """The same summits at heights that reach more, as far as the middles of boxes tell: a hint, as any heights are."""
    lines = sum(not a.is_finite for a in peaks.axes)
    cells = float(np.prod([a.size for a in peaks.axes]))
    parts = max(1, round((_CLIMBED_ON / cells) ** (1 / max(lines, 1))))
    fine = tuple(_refined(axis, parts, clamped) for axis, clamped in zip(peaks.axes, peaks.clamped, strict=True))
    boxes = lattice(tuple(f.axis for f in fine), peaks.norm, joint)
    (right, _), (_, wrong) = split_shares(boxes, goal, joint_attack)
    middle = [(f.start + (f.end - f.start) * f.mean)[i] for f, i in zip(fine, boxes.index, strict=True)]
    gaps = [peaks.gap(i, m[:, None], peaks.place[i][None, :]) for i, m in enumerate(middle)]
    ways = peaks.epsilon * combine(peaks.norm, gaps)
    is_open = np.any([f.open_end[i] for f, i in zip(fine, boxes.index, strict=True)], axis=0)
    masses = np.where(is_open, 0.0, boxes.mass * right), boxes.mass * wrong  # what has no end is sure to count as wrong
    height = climbed_heights(peaks.height - np.max(peaks.height), ways, masses, +1, _RIVALS)
    return replace(peaks, height=height)


def peak_odds(peaks: Peaks, goal: Goal, joint_attack: JointAttack, joint: JointHistogram | None, parts: int) -> float:
    """Log-odds that this likelihood is sure to reach."""
    mass, share, low, rest, high = box_means(peaks, goal, joint_attack, joint, parts)
    with np.errstate(divide="ignore"):
        return float(np.log(np.sum(mass * share * low)) - np.log(np.sum(mass * rest * high))) - 1e-12


def box_means(
    peaks: Peaks, goal: Goal, joint_attack: JointAttack, joint: JointHistogram | None, parts: int
) -> tuple[Array, Array, Array, Array, Array]:
    """Of boxes: their mass, the goal's share and the least mean of L there, the share of the rest and the most there.

    L is scaled by its highest peak.
    """
    fine = tuple(_refined(axis, parts, clamped) for axis, clamped in zip(peaks.axes, peaks.clamped, strict=True))
    boxes = lattice(tuple(f.axis for f in fine), peaks.norm, joint)
    (low_share, _), (_, high_rest) = split_shares(boxes, goal, joint_attack)
    top = float(np.max(peaks.height))
    least, most = np.zeros(boxes.mass.size), np.zeros(boxes.mass.size)
    for part in _tiles(boxes, fine, parts):
        index = tuple(i[part] for i in boxes.index)
        low, high, flat = _mean_bounds(_near(peaks, fine, index), fine, index, top)
        share, rest = low_share[part], high_rest[part]
        # In a box that the goal's edge cuts, the two parts are known only between the extremes of L on it.
        cut = ((share > 0) & (share < 1)) | ((rest > 0) & (rest < 1))
        least[part], most[part] = np.where(cut, flat[0], low), np.where(cut, flat[1], high)
    return boxes.mass, low_share, least, high_rest, most


def _tiles(boxes: Lattice, fine: tuple[_Fine, ...], parts: int) -> list[Any]:
    """Boxes in neighbourly groups."""
    sizes = [1 if f.axis.is_finite else _TILE * parts for f in fine]
    tile = np.zeros(boxes.mass.size, dtype=np.int64)
    for f, index, size in zip(fine, boxes.index, sizes, strict=True):
        tile = tile * (f.axis.size // size + 1) + index // size
    order = np.argsort(tile, kind="stable")
    ends = np.flatnonzero(np.diff(tile[order])) + 1
    return np.split(order, ends)


def _near(peaks: Peaks, fine: tuple[_Fine, ...], index: tuple[Any, ...]) -> Peaks:
    """The summits that can rise above all others somewhere in a group of boxes."""
    ends = [(float(np.min(f.start[i])), float(np.max(f.end[i]))) for f, i in zip(fine, index, strict=True)]
    centre = [0.5 * (a + b) if f.axis.table is None else a for f, (a, b) in zip(fine, ends, strict=True)]
    radius = [0.5 * (b - a) if f.axis.table is None else 0.0 for f, (a, b) in zip(fine, ends, strict=True)]
    gaps = [peaks.gap(i, np.full(1, c), peaks.place[i]) for i, c in enumerate(centre)]
    value = peaks.height - peaks.epsilon * combine(peaks.norm, gaps)
    # Heights above each other change by at most twice the way from the centre, tangents by no more than that again.
    reach = 4 * peaks.epsilon * float(combine(peaks.norm, radius)) + 1e-9
    keep = value >= np.max(value) - reach
    return replace(peaks, height=peaks.height[keep], place=tuple(p[keep] for p in peaks.place))


@dataclass(frozen=True)
class _Fine:
    """An axis cut finer: ψ at both ends of each piece, and where its mean lies between them."""

    axis: Axis
    start: Array
    end: Array
    mean: Array  # as a share of the way from start to end
    open_end: Any  # pieces that reach to infinity


def _refined(axis: Axis, parts: int, clamped: bool) -> _Fine:
    if axis.is_finite:
        return _Fine(axis, axis.place, axis.place, np.zeros(axis.size), np.zeros(axis.size, dtype=bool))
    prior, form = axis.attribute.prior, axis.attribute.distance.line_form
    assert isinstance(prior, LinePrior)
    assert form is not None
    edges = _fine_edges(axis, prior, parts)
    left, right = edges[:-1], edges[1:]
    mass = prior.quick_mass(left, right)
    some = mass > 0
    left, right, mass = left[some], right[some], mass[some]
    mean = mean_places(prior, left, right, axis.even)
    jumps = [(c, j) for c, j in zip(form.cuts, form.jumps, strict=True) if j]
    start, end = form.psi(left), form.psi(right)
    for cut, jump in jumps:  # just inside the piece
        start = start + np.where(left == cut, jump, 0.0)
    is_open = np.isinf(left) | np.isinf(right)
    # Beyond a finite edge a piece is represented by that edge: every peak only falls from there on.
    start, end = np.where(np.isinf(left), end, start), np.where(np.isinf(right), start, end)
    if clamped:
        first, last = window(axis)
        start, end, is_open = np.clip(start, first, last), np.clip(end, first, last), np.zeros(left.size, dtype=bool)
    piece = Axis(
        attribute=axis.attribute,
        left=left,
        right=right,
        mass=mass,
        place=np.zeros(left.size),
        moves=(),
        tail_moves=(),
        even=axis.even,
    )
    return _Fine(piece, np.asarray(start), np.asarray(end), mean, is_open)


def _fine_edges(axis: Axis, prior: LinePrior, parts: int) -> Array:
    pieces: list[Array] = []
    for a, b in zip(axis.left.tolist(), axis.right.tolist(), strict=True):
        if np.isfinite(a) and np.isfinite(b):
            pieces.append(np.linspace(a, b, parts + 1)[:-1])
            continue
        whole = float(prior.quick_mass(a, b))
        if np.isinf(b):
            below = float(prior.quick_mass(-np.inf, a))
            inner = np.asarray(prior.quantile(np.minimum(below + whole * _TAIL_LEVELS, 1.0)))
            pieces.append(np.clip(inner[np.isfinite(inner)], a, np.inf) if np.isfinite(a) else np.array([a]))
        else:
            inner = np.asarray(prior.quantile(whole * (1 - _TAIL_LEVELS)))
            pieces.append(np.concatenate([[a], np.sort(inner[np.isfinite(inner)])[:-1]]))
    edges = np.concatenate([*pieces, [axis.right[-1]]])
    return np.unique(edges)


def mean_places(prior: LinePrior, left: Array, right: Array, even: bool) -> Array:
    """Where the mean of each finite piece lies, from 0 at its left to 1 at its right end.

    By how the prior's own integrals over the piece change as they are tilted a little, to both sides. Nodes would miss
    what lies between them: a density that jumps, has a narrow hill or rises without end; and bounds that are read off
    at a wrong mean are none.
    """
    finite = np.isfinite(left) & np.isfinite(right) & (left < right)
    found = np.full(left.shape, 0.5)
    if even or not finite.any():
        return found
    pieces, own = np.unique(np.stack([left[finite], right[finite]], axis=1), axis=0, return_inverse=True)
    a, b = pieces[:, 0], pieces[:, 1]
    with np.errstate(all="ignore"):
        up, down = (prior.log_tilt(side * _TILT / (b - a), a, b, a) for side in (+1, -1))
        mean = (up - down) / (2 * _TILT)
    found[finite] = np.where(np.isfinite(mean), np.clip(mean, 0.0, 1.0), 0.5)[own.ravel()]
    return found


def _mean_bounds(
    peaks: Peaks, fine: tuple[_Fine, ...], index: tuple[Any, ...], top: float
) -> tuple[Array, Array, tuple[Array, Array]]:
    """Bounds on the mean of L over boxes, and on L itself."""
    n, epsilon = len(fine), peaks.epsilon
    ends = [(f.start[i], f.end[i]) for f, i in zip(fine, index, strict=True)]
    middle = [0.5 * (a + b) if f.axis.table is None else a for f, (a, b) in zip(fine, ends, strict=True)]
    gaps = [peaks.gap(i, m[:, None], peaks.place[i][None, :]) for i, m in enumerate(middle)]
    value = peaks.height - epsilon * combine(peaks.norm, gaps) - top
    slopes = _gradients(peaks, fine, middle, gaps)
    best = np.argmax(value, axis=1)
    lines = [i for i in range(n) if fine[i].axis.table is None]
    low, high = np.zeros(best.size), np.zeros(best.size)
    highest, lowest = np.full(best.size, -np.inf), np.full(best.size, np.inf)
    for corner in product((0, 1), repeat=len(lines)):
        places, weight, rise = list(middle), np.ones(best.size), np.zeros(value.shape)
        for i, side in zip(lines, corner, strict=True):
            places[i] = ends[i][side]
            mean = fine[i].mean[index[i]]
            weight = weight * (mean if side else 1 - mean)
            rise = rise + slopes[i] * (places[i] - middle[i])[:, None]
        way = combine(peaks.norm, [peaks.gap(i, p, peaks.place[i][best]) for i, p in enumerate(places)])
        peak = peaks.height[best] - epsilon * way - top
        tangent = np.max(value + rise, axis=1)
        low, high = low + weight * peak, high + weight * np.exp(tangent)
        highest, lowest = np.maximum(highest, tangent), np.minimum(lowest, peak)
    least, most = np.exp(lowest), np.exp(highest)
    is_open = np.any([f.open_end[i] for f, i in zip(fine, index, strict=True)], axis=0)
    # To infinity: L falls from the finite edges on, to an unknown depth.
    low = np.where(is_open, 0.0, np.exp(low))
    least, high = np.where(is_open, 0.0, least), np.where(is_open, most, high)
    return low, np.minimum(high, 1.0), (least, np.minimum(most, 1.0))


def _gradients(peaks: Peaks, fine: tuple[_Fine, ...], middle: list[Array], gaps: list[Any]) -> list[Any]:
    """A supergradient of every peak at every box's middle, axis by axis."""
    whole = combine(peaks.norm, gaps)
    slopes: list[Any] = []
    taken = np.zeros(np.shape(whole), dtype=bool)
    for i, f in enumerate(fine):
        if f.axis.table is not None:
            taken = taken | (gaps[i] >= whole) if peaks.norm == "linf" else taken
            slopes.append(np.zeros(np.shape(whole)))
            continue
        sign = np.sign(middle[i][:, None] - peaks.place[i][None, :])
        if peaks.norm == "linf":
            share = np.where((gaps[i] >= whole) & ~taken, 1.0, 0.0)
            taken = taken | (gaps[i] >= whole)
        elif peaks.norm != "l1":
            with np.errstate(invalid="ignore", divide="ignore"):
                share = np.where(whole > 0, (gaps[i] / whole) ** (power_of(peaks.norm) - 1), 0.0)
        else:
            share = np.ones(np.shape(whole))
        slopes.append(-peaks.epsilon * sign * share)
    return slopes
