"""A prior that may be misjudged: the attacker believes h·f with 1 ≤ h ≤ κ, and any such h counts. (docs/theory)

The odds of any two values may differ from the declared ones by the factor κ. Is there an h, and a likelihood that
privacy allows, that raises the belief in G = [lo, hi] from p to p + η? By the tent there is, if and only if some
peak c in G and some h with P_h(G) ≤ p have

    (1−P)·∫_lo^c E h f ≥ P·∫_{−∞}^lo E h f,   E = e^{ε(ψ(x)−ψ(lo))},  P = p + η,      and the same on the right of c.

Given c and p, these are two linear constraints on h, one a side, and P_h(G) ≤ p is a third that adds up over the
sides. With a multiplier λ for each side, the least of a linear functional over 1 ≤ h ≤ κ is taken point by point, so

    g(c, p; λ) = ∫_lo^c w((1−p) − λ(1−P)E) f + ∫_{−∞}^lo w(λP·E − p) f + (right side),      w(z) = z or κz, the less,

and g > 0 for any λ ≥ 0 at all proves that no h does it at (c, p). With λ held fixed, g is concave in p, and in c it
rises before it falls: on a box of peaks and beliefs it is least in a corner. So four numbers settle a box, to second
order in its size, for any prior. Boxes that are not settled are cut in four.

Where the true value t may be any, g is followed along t too: only the goal's edges move with it, so its derivative is
the density at the edges times what the integrand jumps by there, which is enclosed over a box.

The least h is κ next to c inside the goal and κ far from c outside it: that is the attack, three numbers c, s₁, s₂.
A fall of the belief is the same with the signs turned: E with −ε, P = p − η. A step w of the distance multiplies the
odds by e^w: P in the constraint becomes P·e^{∓w}.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.special import expit

from guessproof.risk.misjudged.tents import MisjudgedGoal, Move, Pair
from guessproof.risk.tent import log_prior
from guessproof.world.checks import Array, Mask

_BOXES, _BOXES_OVER_TRUTHS = 4_000, 30_000  # that are asked before a proof is given up
_FIRST_STEPS, _CORNER_STEPS, _STEPS = 60, 15, 10
_NOISE = 2e-14  # of the sum of all terms: what the rounding of tilted integrals may hide


def is_proven(goal: MisjudgedGoal, epsilon: float, rise: float, move: Move) -> bool:
    """Whether it is proven that no such prior lets the belief move so far, at any true value."""
    question = MoveQuestion(goal, epsilon, rise, move)
    boxes, left = question.boxes(), _BOXES if goal.is_fixed else _BOXES_OVER_TRUTHS
    while left > 0:
        left -= boxes.shape[1]
        boxes, broken = question.left_open(boxes)
        if broken or boxes.size == 0:
            return not broken
    return False


@dataclass(frozen=True)
class Spots:
    """Where a box is asked: the goal's edges at its first, middle and last true value, its peaks and its beliefs."""

    first: Pair
    middle: Pair
    last: Pair
    c: Pair
    p: Pair

    @classmethod
    def of(cls, goal: MisjudgedGoal, boxes: Array) -> Spots:
        t1, t2, v1, v2, p1, p2 = boxes[:6]
        first, last, middle = (goal.edges(t) for t in (t1, t2, 0.5 * t1 + 0.5 * t2))
        return cls(first, middle, last, (_between(*first, v1), _between(*last, v2)), (p1, p2))


@dataclass(frozen=True)
class MoveQuestion:
    """Can the belief move so far at this ε?"""

    goal: MisjudgedGoal
    epsilon: float
    rise: float
    move: Move

    def boxes(self) -> Array:
        """(t from, t to, c from, c to, p from, p to, ln λ left, right, and how far off): where to start from.

        Peaks are written as shares of the goal; what is asked of them is in `Spots`.
        """
        goal = self.goal
        cuts = np.unique(np.clip(goal.world.prior.quantile(np.linspace(0.0005, 0.9995, 33)), goal.low, goal.high))
        more = [] if goal.is_fixed else [*cuts, *np.linspace(goal.low, goal.high, 17)]
        t = np.unique([goal.low, goal.high, *more])
        t1, t2 = (t, t) if goal.is_fixed else (t[:-1], t[1:])
        p1, p2 = self._beliefs(t1, t2)
        zero = np.zeros_like(t1)
        boxes = np.stack([t1, t2, zero, zero + 1, p1, p2, zero, zero, zero + np.inf])[:, p1 < p2]
        for _ in range(3 if goal.is_fixed else 2):
            boxes = _cut(boxes, (False, True, True))
        return boxes

    def _beliefs(self, t1: Array, t2: Array) -> Pair:
        """Between which beliefs a move so far could start: outside of them it is impossible."""
        (lo1, hi1), (lo2, hi2) = self.goal.edges(t1), self.goal.edges(t2)
        room = np.log(self.goal.factor)
        least, most = (log_prior(self.goal.world.prior, lo, hi) for lo, hi in ((lo2, np.maximum(hi1, lo2)), (lo1, hi2)))
        low, high = expit(least[0] - least[1] - room), expit(most[0] - most[1] + room)
        low, high = low * (1 - 1e-12), high + 1e-12 * (1 - high)
        return (low, np.minimum(high, 1 - self.rise)) if self.move > 0 else (np.maximum(low, self.rise), high)

    def left_open(self, boxes: Array) -> tuple[Array, bool]:
        """The boxes that are not settled, cut; and whether a move so far was found."""
        spots = Spots.of(self.goal, boxes)
        c, p = 0.5 * (spots.c[0] + spots.c[1]), 0.5 * (spots.p[0] + spots.p[1])
        steps = _FIRST_STEPS if np.isinf(boxes[8]).any() else _STEPS
        price = self._prices(spots.middle, c, p, boxes[6:8], boxes[8], steps)
        settled, value, along_t = self._settled(boxes, spots, c, p, price)
        doubtful = value <= 0
        if np.any(self.reached(spots.middle, c, p, price)[doubtful] >= self.rise):
            return boxes, True
        open_ = ~settled
        hard = open_ & np.any(np.abs(price) >= self._reach, axis=0)
        if hard.any():
            open_[hard] = ~self._settled_at_corners(boxes[:, hard])
        near = np.where(np.isinf(boxes[8]), 0.5, np.maximum(0.5 * boxes[8], 1e-6))
        boxes = np.concatenate([boxes[:6], price, near[None, :]])
        return self._halved(boxes[:, open_], along_t[open_]), False

    def _settled(self, boxes: Array, spots: Spots, c: Array, p: Array, price: Array) -> tuple[Mask, Array, Mask]:
        """Which boxes this price settles, g in their middle, and which are rather to be cut along t."""
        (c1, c2), (p1, p2), edges = spots.c, spots.p, spots.middle
        at = np.concatenate([c, c1, c1, c2, c2]), np.concatenate([p, p1, p2, p1, p2])
        value, size, _ = self._functional((np.tile(edges[0], 5), np.tile(edges[1], 5)), *at, np.tile(price, 5))
        value, size = value.reshape(5, -1), np.max(size.reshape(5, -1), axis=0)
        least, drift = np.min(value[1:], axis=0), self._drift(boxes, price, spots)
        return least - drift > _NOISE * size, value[0], drift > value[0] - least

    def _settled_at_corners(self, boxes: Array) -> Mask:
        """The same with λ priced where a constraint that cannot be met on all of a box can best be met."""
        spots = Spots.of(self.goal, boxes)
        easy = spots.p[0] if self.move > 0 else spots.p[1]
        zero = np.zeros_like(easy)
        anywhere = np.stack([zero, zero]), zero + np.inf
        left, right = (self._prices(spots.middle, c, easy, *anywhere, _CORNER_STEPS) for c in reversed(spots.c))
        price = np.stack([left[0], right[1]])
        return self._settled(boxes, spots, 0.5 * (spots.c[0] + spots.c[1]), easy, price)[0]

    def reached(self, edges: Pair, c: Array, p: Array, log_l: Array) -> Array:
        """By how much the belief truly moves under the prior and the tent that these numbers describe."""
        turn_in, turn_out, _, _ = self._terms(p, log_l)
        inside, tilted_in, outside, tilted_out = self._integrals(edges, c, turn_in, turn_out)
        form, way = self.goal.world.form, np.array([[1.0], [-1.0]])
        drop = np.exp(-self.move * self.epsilon * way * (form.psi(c) - form.psi(np.stack(edges))))
        before = np.sum(inside, axis=0) / (np.sum(inside, axis=0) + np.sum(outside, axis=0))
        odds = np.sum(tilted_in * drop, axis=0) / np.sum(tilted_out * drop, axis=0)
        odds = odds * np.exp(self.move * self.epsilon * form.step)
        return self.move * (odds / (1 + odds) - before)

    def _halved(self, boxes: Array, along_t: Mask) -> Array:
        parts = _cut(boxes[:, along_t], (True, False, False)), _cut(boxes[:, ~along_t], (False, True, True))
        return np.concatenate(parts, axis=1)

    def _prices(self, edges: Pair, c: Array, p: Array, guess: Array, near: Array, steps: int) -> Array:
        """ln λ of both sides for which g is about largest. Any λ proves; a better one proves more."""
        reach = self._reach
        low, high = np.maximum(guess - near, -reach), np.minimum(guess + near, reach)
        at_low, at_high = (self._functional(edges, c, p, e)[2] for e in (low, high))
        if np.isfinite(near).all():  # where the guess was not so good, all is open again
            beyond, before = (low > -reach) & (at_low <= 0), (high < reach) & (at_high > 0)
            if np.any(beyond | before):
                low, high = (
                    np.where(before, high, np.where(beyond, -reach, low)),
                    np.where(beyond, low, np.where(before, reach, high)),
                )
                at_low, at_high = (self._functional(edges, c, p, e)[2] for e in (low, high))
        return self._root(edges, c, p, (low, high), (at_low, at_high), steps)

    def _root(self, edges: Pair, c: Array, p: Array, ends: Pair, slack: Pair, steps: int) -> Array:
        """Where the slack changes its sign: regula falsi, where an end that stays twice counts half (Illinois)."""
        (low, high), (at_low, at_high) = ends, slack
        never, always, middle, side = at_low <= 0, at_high > 0, low, np.zeros(low.shape)
        for step in range(steps):
            with np.errstate(invalid="ignore", divide="ignore"):
                share = at_low / (at_low - at_high)
            share = np.where(np.isfinite(share) & (step % 3 < 2), np.clip(share, 0.01, 0.99), 0.5)
            middle = low + share * (high - low)
            here = self._functional(edges, c, p, middle)[2]
            up = here > 0
            at_high = np.where(up & (side > 0), at_high / 2, np.where(up, at_high, here))
            at_low = np.where(~up & (side < 0), at_low / 2, np.where(up, here, at_low))
            low, high, side = np.where(up, middle, low), np.where(up, high, middle), np.where(up, 1.0, -1.0)
        return np.where(never, -self._reach, np.where(always, self._reach, middle))

    @cached_property
    def _reach(self) -> float:
        """A bound on |ln λ| beyond which it says nothing more."""
        prior, form = self.goal.world.prior, self.goal.world.form
        ends = np.clip(prior.quantile([1e-6, 1 - 1e-6]), *prior.support)
        spread = self.epsilon * float(form.psi(ends[1]) - form.psi(ends[0]))
        return 4.0 + spread if self.goal.is_fixed else 1.2 + 0.5 * spread  # a smaller one drifts less along t

    def _terms(self, p: Array, log_l: Array) -> tuple[Array, Array, Array, Array]:
        """ln((1−p)/(1−P)) − ln λ and ln(p/P) − ln λ, where the integrand turns; then 1−P and P with the step."""
        after = np.clip(p + self.move * self.rise, 0.0, 1.0)
        step = self.move * self.epsilon * self.goal.world.form.step
        with np.errstate(divide="ignore", invalid="ignore"):
            turn_in = np.log1p(-p) - np.log1p(-after) - log_l
            turn_out = np.log(p) - np.log(after) + step - log_l
        return turn_in, turn_out, 1 - after, after * np.exp(-step)

    def _functional(self, edges: Pair, c: Array, p: Array, log_l: Array) -> tuple[Array, Array, Array]:
        """g, the sum of the sizes of its terms, and by side its derivative by λ as a difference of logarithms."""
        turn_in, turn_out, rest, after = self._terms(p, log_l)
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            integrals = self._integrals(edges, c, turn_in, turn_out)
            inside, tilted_in, outside, tilted_out = integrals
            bind_in, bind_out, price = rest * tilted_in, after * tilted_out, np.exp(log_l)
            terms = np.stack([(1 - p) * inside, -price * bind_in, -p * outside, price * bind_out])
            terms = np.where(integrals > 0, terms, 0.0)
            slack = np.log(bind_out) - np.log(bind_in)
        slack = self.move * np.where(np.isnan(slack), -1.0, np.clip(slack, -1e3, 1e3))
        return self.move * np.sum(terms, axis=(0, 1)), np.sum(np.abs(terms), axis=(0, 1)), slack

    def _integrals(self, edges: Pair, c: Array, turn_in: Array, turn_out: Array) -> Array:
        """∫hf and ∫Ehf inside, then outside, on the left and on the right of c.

        h is κ inside from where ln E passes `turn_in` up to c, and outside from where it passes `turn_out` outwards.
        """
        form, edge, way = self.goal.world.form, np.stack(edges), np.array([[1.0], [-1.0]])
        finite, left = np.where(np.isfinite(edge), edge, 0.0), way > 0
        rate = self.move * self.epsilon * way
        first, second = (form.inverse(form.psi(finite) + turn / rate) for turn in (turn_in, turn_out))
        inner, outer = np.clip(c, *edges), np.full_like(c, np.inf)
        whole_in = np.where(left, edge, inner), np.where(left, inner, edge)
        whole_out = np.where(left, -outer, edge), np.where(left, edge, outer)
        first, second = np.clip(first, *whole_in), np.clip(second, *whole_out)
        near = np.where(left, first, whole_in[0]), np.where(left, whole_in[1], first)
        far = np.where(left, whole_out[0], second), np.where(left, second, whole_out[1])
        a, b = (np.stack([whole_in[i], near[i], whole_out[i], far[i]]) for i in (0, 1))
        rates = np.stack([np.zeros_like(rate), rate])[:, None]
        tilts = np.exp(self.goal.world.log_tilt(*np.broadcast_arrays(rates, a, b, finite)))
        weighed = tilts[:, ::2] + (self.goal.factor - 1) * tilts[:, 1::2]  # (mass or tilt, in or out, side, box)
        return np.stack([weighed[0, 0], weighed[1, 0], weighed[0, 1], weighed[1, 1]])

    def _drift(self, boxes: Array, log_l: Array, spots: Spots) -> Array:
        """How much lower g can be at another true value of the box than at its middle."""
        (t1, t2), ref, first, last, c = boxes[:2], spots.middle, spots.first, spots.last, spots.c
        if np.all(t1 == t2):
            return np.zeros_like(t1)
        total = np.zeros((2, t1.size))
        for side, sign in ((0, -1.0), (1, 1.0)):  # what is inside grows at the right edge and shrinks at the left one
            ends = first[side], last[side]
            inside = self._integrand(side, side, ends, ref, spots.p, log_l, inside=True)
            beside = c[0] < last[0] if side == 0 else c[1] > first[1]
            other = self._integrand(1 - side, side, ends, ref, spots.p, log_l, inside=True)
            inside = (
                np.where(beside, np.minimum(inside[0], other[0]), inside[0]),
                np.where(beside, np.maximum(inside[1], other[1]), inside[1]),
            )
            outside = self._integrand(side, side, ends, ref, spots.p, log_l, inside=False)
            jump = inside[0] - outside[1], inside[1] - outside[0]
            flow = self.goal.world.prior.density_range(*ends)
            speed = (ends[1] - ends[0]) / (t2 - t1)
            products = np.stack([f * speed * j for f in flow for j in jump])
            low, high = np.min(products, axis=0), np.max(products, axis=0)
            total += (low, high) if sign > 0 else (-high, -low)
        total = np.where(np.isnan(total), np.array([[-np.inf], [np.inf]]), total)
        return 0.5 * (t2 - t1) * np.maximum(0.0, np.maximum(-total[0], total[1]))

    def _integrand(self, side: int, edge: int, ends: Pair, ref: Pair, p: Pair, log_l: Array, *, inside: bool) -> Pair:
        """The range of w(…) at one edge of the goal over a box, as one side's multiplier has it."""
        form, rate = self.goal.world.form, self.move * self.epsilon * (1 if side == 0 else -1)
        found: list[Array] = []
        for x in ends:
            with np.errstate(over="ignore", invalid="ignore"):
                tilt = np.exp(log_l[side] + rate * (form.psi(x) - form.psi(ref[side])))
                for q in p:
                    _, _, rest, after = self._terms(q, log_l[side])
                    z = self.move * ((1 - q) - rest * tilt if inside else after * tilt - q)
                    found.append(np.where(z < 0, self.goal.factor * z, z))
        return np.min(found, axis=0), np.max(found, axis=0)


def _between(lo: Array, hi: Array, share: Array) -> Array:
    """A peak inside the goal; at the infinite end of a goal that has one."""
    with np.errstate(invalid="ignore"):
        inside = lo + share * (hi - lo)
    return np.where(np.isinf(lo), lo, np.where(np.isinf(hi), hi, inside))


def _cut(boxes: Array, axes: tuple[bool, bool, bool]) -> Array:
    """Each box cut in the middle along some of its axes."""
    for axis in (i for i in range(3) if axes[i]):
        middle = 0.5 * boxes[2 * axis] + 0.5 * boxes[2 * axis + 1]
        below, above = boxes.copy(), boxes.copy()
        below[2 * axis + 1], above[2 * axis] = middle, middle
        boxes = np.concatenate([below, above], axis=1)
    return boxes
