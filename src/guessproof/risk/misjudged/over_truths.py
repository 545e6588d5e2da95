"""The certificate for every true value of a range: boxes of true values, peaks and beliefs.

With the multipliers of both sides held fixed as functions of x (not of the goal's edges), g (`certificate`) changes
with the true value t only through the edges lo, hi and the peak c, which is a share of the way between them:

    g'(t) = f(lo)·lo'·(W_out − W_left)(lo) + f(hi)·hi'·(W_right − W_out)(hi) + f(c)·c'·(W_left − W_right)(c),

where W_left, W_right and W_out are the integrands inside on either side of the peak, and outside. Each difference is
monotone in x, so its two ends and the density's range enclose g' over a box, and g stays above two lines from the ends
of the box: it is off by the square of the box's width only. At any one t it is least in a corner of peaks and beliefs.
Where the density has no useful range, or an edge bends, its term is told by the mass that the edge passes: between the
ends of a box it adds at least min(0, W)·mass to g(t₁), and takes at most max(0, W)·mass off g(t₂).
ψ may bend and jump: it enters through E alone, which rises with ψ.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from guessproof.risk.misjudged.certificate import NOISE, MoveQuestion, between
from guessproof.risk.misjudged.quick import aim, first_boxes, is_kept_by_shares, left_by_shares
from guessproof.risk.misjudged.tents import MisjudgedGoal, Move, Pair
from guessproof.risk.tent import TiltedIntegrals, log_prior
from guessproof.risk.truth_search import TruthSearch
from guessproof.world.checks import Array, Mask
from guessproof.world.line import expit
from guessproof.world.quadrature import QuadraturePrior

_BOXES = 20_000  # that are asked before a proof is given up
_BOXES_BY_QUADRATURE = 4_000  # the same where each takes ten times as long
_HARDLY = 1.1  # a factor up to which shares may prove all
_FEW = 2e-3  # of the prior, times the factor: where no more than this lies beyond bends, a straight distance says all
_FIRST_STEPS, _STEPS = 40, 14
# Shares of ln λ, and between which numbers: the last keeps a side free that needs no price.
_LOWER = ((1.0, -0.6, 0.6), (0.65, -1.0, 1.0), (1.0, -2.0, 2.0), (1.0, -np.inf, 0.0))
_MOST_ODDS = 40.0
_EVERY_WAY = 3  # turns after which boxes are cut every way: where g changes most need not be what is left
_ROUNDED = 4e-15  # of what is added up
_BELIEFS, _RANGE = 0.6, 6.0  # how far apart, in log-odds, beliefs of a box are at first; of a box in all


def is_kept(search: TruthSearch, goal: MisjudgedGoal, epsilon: float, limit: float, move: Move, by_boxes: bool) -> bool:
    """Whether the limit is proven at this ε for every true value of a search, if the prior is wrong by a factor."""
    low, high, beyond = search.tails(epsilon, aim(move))
    if goal.factor * beyond * (1 - limit) > limit * (1 - beyond):  # what the odds of a belief out there become
        return False
    truths = first_boxes(search, low, high)

    def by_shares() -> bool:
        return is_kept_by_shares(search, epsilon, limit, goal.factor, move, truths)

    if not by_boxes:
        return by_shares()
    near_one = goal.factor <= _HARDLY  # there shares prove more, elsewhere boxes do: the better one is asked first
    if near_one and by_shares():
        return True
    some = left_by_shares(search, epsilon, limit, goal.factor, move, truths)
    goals = (replace(goal, world=world) for world in worlds_of(goal))
    return any(is_proven_over(g, epsilon, limit, move, some) for g in goals) or (not near_one and by_shares())


def worlds_of(goal: MisjudgedGoal) -> list[TiltedIntegrals]:
    """In which worlds a limit may be proven: under a straight distance, which says nearly the same, or as it is."""
    own, straight = goal.world, goal.world.straightened
    if straight is None:
        return [own]
    return [straight] if goal.factor * own.beside <= _FEW else [straight, own]


def is_proven_over(goal: MisjudgedGoal, epsilon: float, rise: float, move: Move, truths: Pair) -> bool:
    """Whether it is proven that no such prior lets the belief move so far at any true value between such pairs."""
    question = TruthQuestion(goal, epsilon, rise, move)
    boxes, left = question.boxes_over(*truths), _BOXES
    if isinstance(goal.world.prior, QuadraturePrior):
        left = _BOXES_BY_QUADRATURE
    for turn in itertools.count(1):
        left -= boxes.shape[1]
        boxes, broken = question.still_open(boxes, every_way=turn % _EVERY_WAY == 0)
        if broken or boxes.size == 0 or left < 0:
            return not broken and boxes.size == 0
    return False


@dataclass(frozen=True)
class TruthQuestion(MoveQuestion):
    """Can the belief move so far at this ε, at some true value?

    Boxes have two rows more than those at one true value: t from, t to. Their multipliers are those at the middle.
    """

    def boxes_over(self, t1: Array, t2: Array) -> Array:
        """Where to start from."""
        low, high = self._beliefs_over(t1, t2)
        some = (low < high) & (self.goal.world.prior.mass(t1, t2) > 0)
        low, high, t1, t2 = low[some], high[some], t1[some], t2[some]
        with np.errstate(divide="ignore"):
            top, bottom = (np.clip(np.log(p) - np.log1p(-p), -_MOST_ODDS, _MOST_ODDS) for p in (high, low))
        bottom = np.maximum(bottom, top - _RANGE)
        count = max(4, math.ceil(float(np.max(top - bottom, initial=0.0)) / _BELIEFS))
        p = expit(bottom + np.linspace(0.0, 1.0, count + 1)[:, None] * (top - bottom))
        p[0], p[-1] = np.minimum(p[0], low), np.maximum(p[-1], high)
        t1, t2, share = (np.tile(v, 4 * count) for v in (t1, t2, np.zeros_like(t1)))
        quarter = np.repeat(np.arange(4) / 4, low.size * count)
        p1, p2 = (np.tile(v.ravel(), 4) for v in (p[:-1], p[1:]))
        return np.stack([quarter, quarter + 0.25, p1, p2, share, share, share + np.inf, t1, t2])

    def _beliefs_over(self, t1: Array, t2: Array) -> Pair:
        (lo1, hi1), (lo2, hi2) = self.goal.edges(t1), self.goal.edges(t2)
        room, prior = np.log(self.goal.factor), self.goal.world.prior
        outer, inner = log_prior(prior, lo1, hi2), log_prior(prior, lo2, np.maximum(lo2, hi1))
        with np.errstate(invalid="ignore"):
            low, high = expit(inner[0] - inner[1] - room), expit(outer[0] - outer[1] + room)
        low, high = low * (1 - 1e-12), high + 1e-12 * (1 - high)
        return (low, np.minimum(high, 1 - self.rise)) if self.move > 0 else (np.maximum(low, self.rise), high)

    def still_open(self, boxes: Array, *, every_way: bool) -> tuple[Array, bool]:
        """The boxes that are not settled, cut where g changes most; and whether a move so far was found."""
        middle = 0.5 * (boxes[7] + boxes[8])
        edges, share, p = self.goal.edges(middle), 0.5 * (boxes[0] + boxes[1]), 0.5 * (boxes[2] + boxes[3])
        c = between(*edges, share)
        steps = _FIRST_STEPS if np.isinf(boxes[6]).any() else _STEPS
        price, guess = self._prices(edges, c, p, boxes[4:6], boxes[6], steps)
        alone, size = self._functional(edges, c, p, price)
        if np.any(self.reached(edges, c, p, price)[alone <= NOISE * size] >= self.rise):
            return boxes, True
        found = self.least(boxes, price)
        for share_of, least_price, most_price in _LOWER:  # the best price for the middle may say less of the corners
            rest = ~(found.least > 0)
            if rest.any():
                other = np.clip(share_of * price[:, rest], least_price, most_price)
                found.improve(rest, self.least(boxes[:, rest], other))
        near = np.where(np.isinf(boxes[6]), 0.1, np.maximum(0.5 * boxes[6], 1e-6))
        kept = np.concatenate([boxes[:4], guess, near[None, :], boxes[7:]])
        open_ = ~(found.least > 0)
        return _cut(kept[:, open_], found.way[open_], every_way), False

    def least(self, boxes: Array, price: Array) -> LeastOver:
        """The least of g on boxes with these multipliers, and the way along which it changes most."""
        (c1, c2, p1, p2), (t1, t2) = boxes[:4], boxes[7:]
        corners, least = np.empty((2, 2, 2, t1.size)), np.full(t1.shape, np.inf)
        for i, share in enumerate((c1, c2)):
            for j, p in enumerate((p1, p2)):
                ends = [self.at(t, boxes, share, p, price) for t in (t1, t2)]
                noise = NOISE * np.maximum(ends[0][1], ends[1][1])
                one, other = corners[i, j] = [value - noise for value, _ in ends]
                down, up, *drops = self.slope(boxes, share, p, price)
                lines = _above_lines(one - drops[0], other - drops[1], down, up, t2 - t1)
                least = np.minimum(least, np.where(t1 < t2, lines, one))
        flat = np.min(corners, axis=(0, 1, 2))
        apart = np.stack([np.max(np.abs(np.diff(corners, axis=k)), axis=(0, 1, 2)) for k in range(3)])
        way = np.where(flat > 0, 2, np.argmax(apart, axis=0))
        return LeastOver(np.minimum(least, flat), way)

    def _moved(self, boxes: Array, price: Array, edges: Pair) -> Array:
        """ln λ, as told from other edges than those at the middle of a box."""
        psi = self.goal.world.form.psi
        here = self.goal.edges(0.5 * (boxes[7] + boxes[8]))
        rate = self.move * self.epsilon
        shift = [sign * rate * (psi(b) - psi(a)) for sign, a, b in zip((1, -1), here, edges, strict=True)]
        return price + np.stack(shift)

    def at(self, t: Array, boxes: Array, share: Array, p: Array, price: Array) -> Pair:
        """g at true values with the multipliers of boxes, and the sum of the sizes of its terms."""
        edges = self.goal.edges(t)
        value, size = self._functional(edges, between(*edges, share), p, self._moved(boxes, price, edges))
        return value, size

    def slope(self, boxes: Array, share: Array, p: Array, price: Array) -> tuple[Array, Array, Array, Array]:
        """Between which numbers g'(t) lies, and by how much g may fall below the left and the right end besides.

        What an edge meets is told by the density there, or where that says less by the mass between its two ends.
        """
        t1, t2 = boxes[7:]
        (lo1, hi1), (lo2, hi2) = self.goal.edges(t1), self.goal.edges(t2)
        c1, c2 = between(lo1, hi1, share), between(lo2, hi2, share)
        bent, prior = self._bent(t1, t2), self.goal.world.prior
        total = np.zeros((4, t1.size))
        for kind, a, b in (("lo", lo1, lo2), ("hi", hi1, hi2), ("peak", c1, c2)):
            ends = [self._difference(kind, x, boxes, p, price) for x in (a, b)]
            with np.errstate(invalid="ignore", over="ignore", divide="ignore"):
                speed = (b - a) / (t2 - t1)
                terms = np.stack([speed * f * d for f in prior.density_range(a, b) for d in ends])
                down, up = terms.min(axis=0), terms.max(axis=0)
                mass = prior.mass(a, b)
                drops = -mass * np.minimum(np.minimum(*ends), 0.0), mass * np.maximum(np.maximum(*ends), 0.0)
                smooth = ~bent & (0.25 * (up - down) * (t2 - t1) < np.maximum(*drops))
            zero = np.zeros(t1.size)
            total += np.where(smooth, np.stack([down, up, zero, zero]), np.stack([zero, zero, *drops]))
        down, up, left, right = np.where(np.isnan(total), np.inf, total)
        return np.where(np.isposinf(down), -np.inf, down), up, left, right

    def _bent(self, t1: Array, t2: Array) -> Mask:
        """Where the edges are not straight in the true value: a share of it, around 0."""
        ends = zip(self.goal.edges(t1), self.goal.edges(0.5 * (t1 + t2)), self.goal.edges(t2), strict=True)
        size = np.abs(t1) + np.abs(t2)  # an edge at 0 is rounded as its true value is, which is not bent
        off = [np.abs(0.5 * (a + b) - m) > _ROUNDED * (np.abs(a) + np.abs(b) + size) for a, m, b in ends]
        return off[0] | off[1]

    def _difference(self, kind: str, x: Array, boxes: Array, p: Array, price: Array) -> Array:
        """By how much the integrand behind an edge, or behind the peak, is above the one before it."""
        log_l = self._moved(boxes, price, (x, x))
        _, _, rest, after = self._terms(p, log_l)
        left, right = (self._weighed(1 - p - rest * np.exp(own)) for own in log_l)
        if kind == "peak":
            return left - right
        outside = self._weighed(after * np.exp(log_l[0 if kind == "lo" else 1]) - p)
        return outside - left if kind == "lo" else right - outside

    def _weighed(self, value: Array) -> Array:
        """z, or κz where that is less, for a rise; the same of −z for a fall."""
        value = self.move * value
        return np.minimum(value, self.goal.factor * value)


@dataclass(eq=False)
class LeastOver:
    """The least of g on each box, above 0 where that is proven, and whether peaks, beliefs or truths matter most."""

    least: Array
    way: NDArray[np.int64]

    def improve(self, which: Mask, other: LeastOver) -> None:
        """Take what was found with another price where it says more."""
        better = other.least > self.least[which]
        self.least[which] = np.where(better, other.least, self.least[which])
        self.way[which] = np.where(better, other.way, self.way[which])


def _cut(boxes: Array, way: NDArray[np.int64], every_way: bool) -> Array:
    """Each box cut along its peaks (0), beliefs (1) or true values (2), in four, or in two and then every way."""
    boxes = _halved(boxes, way)
    if not every_way:
        return _halved(boxes, np.tile(way, 2))
    for each in range(3):
        boxes = _halved(boxes, np.full(boxes.shape[1], each))
    return boxes


def _halved(boxes: Array, way: NDArray[np.int64]) -> Array:
    row, each = np.array([0, 2, 7])[way], np.arange(way.size)
    middle = 0.5 * (boxes[row, each] + boxes[row + 1, each])
    below, above = boxes.copy(), boxes.copy()
    below[row + 1, each], above[row, each] = middle, middle
    return np.concatenate([below, above], axis=1)


def _above_lines(one: Array, other: Array, down: Array, up: Array, width: Array) -> Array:
    """The least that a function can be between two ends, if its slope lies between two numbers."""
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        met = (up * one - down * other + up * down * width) / (up - down)
    met = np.where(np.isnan(met), -np.inf, met)
    turns = (down < 0) & (up > 0)
    return np.where(turns, np.minimum(met, np.minimum(one, other)), np.minimum(one, other))
