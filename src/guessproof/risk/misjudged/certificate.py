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

The least h is κ next to c inside the goal and κ far from c outside it: that is the attack, three numbers c, s₁, s₂.
A fall of the belief is the same with the signs turned: E with −ε, P = p − η. A step w of the distance multiplies the
odds by e^w: P in the constraint becomes P·e^{∓w}.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from guessproof.risk.misjudged.tents import MisjudgedGoal, Move, Pair
from guessproof.risk.tent import log_prior
from guessproof.world.checks import Array, Mask
from guessproof.world.line import expit

_BOXES = 4_000  # that are asked before a proof is given up
_FIRST_STEPS, _CORNER_STEPS, _STEPS = 60, 15, 10
NOISE = 2e-14  # of the sum of all terms: what the rounding of tilted integrals may hide


def is_proven(goal: MisjudgedGoal, epsilon: float, rise: float, move: Move) -> bool:
    """Whether it is proven that no such prior lets the belief move so far, at a stated true value."""
    question = MoveQuestion(goal, epsilon, rise, move)
    boxes, left = question.boxes(), _BOXES
    while left > 0:
        left -= boxes.shape[1]
        boxes, broken = question.left_open(boxes)
        if broken or boxes.size == 0:
            return not broken
    return False


@dataclass(frozen=True, eq=False)
class Looked:
    """Of each box: whether it is not settled, how far the belief was moved there if at all, and its better price."""

    open: Mask
    reached: Array
    priced: Array


@dataclass(frozen=True)
class MoveQuestion:
    """Can the belief move so far at this ε? Or, of one ε and move for each box: which of them can?"""

    goal: MisjudgedGoal
    epsilon: float | Array
    rise: float | Array
    move: Move

    def boxes(self) -> Array:
        """(c from, c to, p from, p to, ln λ left, right, and how far off): where to start from.

        Peaks are written as shares of the goal, ln λ as shares of what it can be.
        """
        p1, p2 = self.beliefs()
        zero = np.zeros_like(p1)
        boxes = np.stack([zero, zero + 1, p1, p2, zero, zero, zero + np.inf])[:, p1 < p2]
        for _ in range(3):
            boxes = cut(boxes)
        return boxes

    def beliefs(self) -> Pair:
        """Between which beliefs a move so far could start: outside of them it is impossible."""
        lo, hi = self.goal.edges(np.array([self.goal.low]))
        room = np.log(self.goal.factor)
        log_p, log_q = log_prior(self.goal.world.prior, lo, hi)
        low, high = expit(log_p - log_q - room), expit(log_p - log_q + room)
        low, high = low * (1 - 1e-12), high + 1e-12 * (1 - high)
        return (low, np.minimum(high, 1 - self.rise)) if self.move > 0 else (np.maximum(low, self.rise), high)

    def _places(self, boxes: Array) -> tuple[Pair, Pair, Pair]:
        """The goal's edges, the peaks and the beliefs of boxes."""
        edges = self.goal.edges(np.full(boxes.shape[1], self.goal.low))
        return edges, (between(*edges, boxes[0]), between(*edges, boxes[1])), (boxes[2], boxes[3])

    def left_open(self, boxes: Array) -> tuple[Array, bool]:
        """The boxes that are not settled, cut; and whether a move so far was found."""
        looked = self.look(boxes, _FIRST_STEPS if np.isinf(boxes[6]).any() else _STEPS)
        if np.any(looked.reached >= self.rise):
            return boxes, True
        return cut(looked.priced[:, looked.open]), False

    def look(self, boxes: Array, steps: int) -> Looked:
        """Which boxes are settled, after so many steps towards a better price."""
        edges, peaks, beliefs = self._places(boxes)
        c, p = 0.5 * (peaks[0] + peaks[1]), 0.5 * (beliefs[0] + beliefs[1])
        price, share = self._prices(edges, c, p, boxes[4:6], boxes[6], steps)
        settled, value = self._settled(boxes, c, p, price)
        reached = np.where(value <= 0, self.reached(edges, c, p, price), 0.0)
        open_ = ~settled
        hard = open_ & np.any((share <= 0) | (share >= 1), axis=0)
        if hard.any() and not np.any(reached >= self.rise):
            open_[hard] = ~self._of(hard)._settled_at_corners(boxes[:, hard])
        near = np.where(np.isinf(boxes[6]), 0.1, np.maximum(0.5 * boxes[6], 1e-6))
        return Looked(open_, reached, np.concatenate([boxes[:4], share, near[None, :]]))

    def _of(self, which: Mask) -> MoveQuestion:
        """The question of some of the boxes."""
        each = [v if np.ndim(v) == 0 else np.asarray(v)[which] for v in (self.epsilon, self.rise)]
        return replace(self, epsilon=each[0], rise=each[1])

    def _settled(self, boxes: Array, c: Array, p: Array, price: Array) -> tuple[Mask, Array]:
        """Which boxes this price settles, and g in their middle."""
        edges, (c1, c2), (p1, p2) = self._places(boxes)
        at = np.concatenate([c, c1, c1, c2, c2]), np.concatenate([p, p1, p2, p1, p2])
        each = [v if np.ndim(v) == 0 else np.tile(v, 5) for v in (self.epsilon, self.rise)]
        five = replace(self, epsilon=each[0], rise=each[1])
        value, size = five._functional((np.tile(edges[0], 5), np.tile(edges[1], 5)), *at, np.tile(price, 5))
        value, size = value.reshape(5, -1), np.max(size.reshape(5, -1), axis=0)
        return np.min(value[1:], axis=0) > NOISE * size, value[0]

    def _settled_at_corners(self, boxes: Array) -> Mask:
        """The same with λ priced where a constraint that cannot be met on all of a box can best be met."""
        edges, peaks, beliefs = self._places(boxes)
        easy = beliefs[0] if self.move > 0 else beliefs[1]
        zero = np.zeros_like(easy)
        anywhere = np.stack([zero, zero]), zero + np.inf
        left, right = (self._prices(edges, c, easy, *anywhere, _CORNER_STEPS)[0] for c in reversed(peaks))
        price = np.stack([left[0], right[1]])
        return self._settled(boxes, 0.5 * (peaks[0] + peaks[1]), easy, price)[0]

    def reached(self, edges: Pair, c: Array, p: Array, log_l: Array) -> Array:
        """By how much the belief truly moves under the prior and the tent that these numbers describe."""
        turn_in, turn_out, _, _ = self._terms(p, log_l)
        inside, tilted_in, outside, tilted_out = self._integrals(edges, c, turn_in, turn_out)
        form, way = self.goal.world.form, np.array([[1.0], [-1.0]])
        # Seen from a peak at an infinite end everything lies on one side, as far as from the other edge.
        top = np.where(np.isfinite(c), c, np.where(c > 0, edges[0], edges[1]))
        edge = np.where(np.isfinite(edges), np.stack(edges), top)
        drop = np.exp(-self.move * self.epsilon * way * (form.psi(top) - form.psi(edge)))
        before = np.sum(inside, axis=0) / (np.sum(inside, axis=0) + np.sum(outside, axis=0))
        raised = np.sum(tilted_in * drop, axis=0) * np.exp(self.move * self.epsilon * form.step)
        with np.errstate(divide="ignore", invalid="ignore"):  # of a heavy tail there may be infinitely much
            return self.move * (1 / (1 + np.sum(tilted_out * drop, axis=0) / raised) - before)

    def _prices(self, edges: Pair, c: Array, p: Array, guess: Array, near: Array, steps: int) -> tuple[Array, Array]:
        """ln λ of both sides for which g is about largest, and as a share of what it can be.

        Any λ proves; a better one proves more.
        """
        ends = self._price_ends(edges, c, p)
        low, high = np.maximum(guess - near, 0.0), np.minimum(guess + near, 1.0)

        def slack(share: Array) -> Array:
            return self._slack(edges, c, p, between(*ends, share))

        at_low, at_high = slack(low), slack(high)
        if np.isfinite(near).all():  # where the guess was not so good, all is open again
            beyond, before = (low > 0) & (at_low <= 0), (high < 1) & (at_high > 0)
            if np.any(beyond | before):
                low, high = (
                    np.where(before, high, np.where(beyond, 0.0, low)),
                    np.where(beyond, low, np.where(before, 1.0, high)),
                )
                at_low, at_high = slack(low), slack(high)
        share = _root(slack, (low, high), (at_low, at_high), steps)
        return between(*ends, share), share

    def _price_ends(self, edges: Pair, c: Array, p: Array) -> Pair:
        """Between which ln λ the integrand turns anywhere in the bulk of the prior; beyond them nothing changes."""
        form, prior = self.goal.world.form, self.goal.world.prior
        psi, bulk = form.psi, np.clip(prior.quantile([1e-15, 1 - 1e-15]), *prior.support)
        if not form.is_straight or prior.breaks:  # beside a bend, a jump or a step of the density prices vary more
            reach = 4.0 + self.epsilon * (psi(bulk[1]) - psi(bulk[0])) + np.zeros((2, c.size))
            return -reach, reach
        edge, outmost = np.clip(np.stack(edges), *bulk), np.repeat(bulk[:, None], c.size, axis=1)
        turn_in, turn_out, _, _ = self._terms(p, np.zeros((2, 1)))
        rate = self.move * self.epsilon
        inside = rate * np.abs(psi(np.clip(c, *bulk)) - psi(edge))
        outside = rate * np.abs(psi(edge) - psi(outmost))
        turns = np.stack(np.broadcast_arrays(turn_in, turn_in - inside, turn_out, turn_out + outside))
        turns = np.where(np.isfinite(turns), turns, 0.0)
        low, high = np.min(turns, axis=0), np.max(turns, axis=0)
        room = 1e-9 + 1e-6 * (high - low)
        return low - room, high + room

    def _terms(self, p: Array, log_l: Array) -> tuple[Array, Array, Array, Array]:
        """ln((1−p)/(1−P)) − ln λ and ln(p/P) − ln λ, where the integrand turns; then 1−P and P with the step."""
        after = np.clip(p + self.move * self.rise, 0.0, 1.0)
        step = self.move * self.epsilon * self.goal.world.form.step
        with np.errstate(divide="ignore", invalid="ignore"):
            turn_in = np.log1p(-p) - np.log1p(-after) - log_l
            turn_out = np.log(p) - np.log(after) + step - log_l
        return turn_in, turn_out, 1 - after, after * np.exp(-step)

    def _functional(self, edges: Pair, c: Array, p: Array, log_l: Array) -> tuple[Array, Array]:
        """g, and the sum of the sizes of its terms."""
        turn_in, turn_out, rest, after = self._terms(p, log_l)
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            integrals = self._integrals(edges, c, turn_in, turn_out)
            inside, tilted_in, outside, tilted_out = integrals
            price = np.exp(log_l)
            terms = [(1 - p) * inside, -price * (rest * tilted_in), -p * outside, price * (after * tilted_out)]
            terms = np.where(integrals > 0, np.stack(terms), 0.0)
            return self.move * np.sum(terms, axis=(0, 1)), np.sum(np.abs(terms), axis=(0, 1))

    def _slack(self, edges: Pair, c: Array, p: Array, log_l: Array) -> Array:
        """By side the derivative of g by λ, as a difference of logarithms."""
        turn_in, turn_out, rest, after = self._terms(p, log_l)
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            tilted_in, tilted_out = self._integrals(edges, c, turn_in, turn_out, masses=False)
            slack = np.log(after * tilted_out) - np.log(rest * tilted_in)
        return self.move * np.where(np.isnan(slack), -1.0, np.clip(slack, -1e3, 1e3))

    def _integrals(self, edges: Pair, c: Array, turn_in: Array, turn_out: Array, *, masses: bool = True) -> Array:
        """∫hf and ∫Ehf inside, then outside, on the left and on the right of c; ∫hf only where masses are asked for.

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
        rates = np.stack([np.zeros_like(rate), rate] if masses else [rate])[:, None]
        tilts = np.exp(self.goal.world.log_tilt(*np.broadcast_arrays(rates, a, b, finite)))
        weighed = tilts[:, ::2] + (self.goal.factor - 1) * tilts[:, 1::2]  # (mass or tilt, in or out, side, box)
        return np.concatenate([weighed[:, 0], weighed[:, 1]])


def _root(slack: Callable[[Array], Array], ends: Pair, at: Pair, steps: int) -> Array:
    """Where the slack changes its sign: regula falsi, where an end that stays twice counts half (Illinois)."""
    (low, high), (at_low, at_high) = ends, at
    never, always, middle, side = at_low <= 0, at_high > 0, low, np.zeros(low.shape)
    for step in range(steps):
        with np.errstate(invalid="ignore", divide="ignore"):
            share = at_low / (at_low - at_high)
        share = np.where(np.isfinite(share) & (step % 3 < 2), np.clip(share, 0.01, 0.99), 0.5)
        middle = low + share * (high - low)
        here = slack(middle)
        up = here > 0
        at_high = np.where(up & (side > 0), at_high / 2, np.where(up, at_high, here))
        at_low = np.where(~up & (side < 0), at_low / 2, np.where(up, here, at_low))
        low, high, side = np.where(up, middle, low), np.where(up, high, middle), np.where(up, 1.0, -1.0)
    return np.where(never, 0.0, np.where(always, 1.0, middle))


def between(lo: Array, hi: Array, share: Array) -> Array:
    """A peak inside the goal; at the infinite end of a goal that has one."""
    with np.errstate(invalid="ignore"):
        inside = lo + share * (hi - lo)
    return np.where(np.isinf(lo), lo, np.where(np.isinf(hi), hi, inside))


def cut(boxes: Array) -> Array:
    """Each box cut in four."""
    for axis in (0, 1):
        middle = 0.5 * boxes[2 * axis] + 0.5 * boxes[2 * axis + 1]
        below, above = boxes.copy(), boxes.copy()
        below[2 * axis + 1], above[2 * axis] = middle, middle
        boxes = np.concatenate([below, above], axis=1)
    return boxes
