"""The worst true value for a goal of one interval: tents at many true values, and a strip bound between them.

With L the best likelihood at t, ∫ L f = 1, the advantage is A(t) = ∫_{G(t)} (L − 1) f. For another true value m

    A(t) ≤ A(m) + P(G(t)∖G(m))·(B − 1) + P(G(m)∖G(t))·(1 − b),

B the largest and b the least value of L on these strips, and A(t) ≥ A(m) − P(G(t)∖G(m))·(1 − b) − P(G(m)∖G(t))·(B − 1)
with the L that is best at m. B is at most 1/∫ e^{−ε|ψ−ψ(x)|} f and e^{εC} under a cap C, and b at least e^{−εD} with D
the diameter of both goals: capping L at its largest value in the goal changes nothing (theory §7). In a box
of true values the mean of the bounds from both ends holds. Beliefs that fall: L ≤ e^{εD} on both goals, and nothing is
known of b.

Beyond a finite range the odds are at most ∫_{x>lo} e^{εψ} f / ∫_{x<lo} e^{εψ} f, which falls in t. Where the tail is
exponential and the radius fixed, the belief itself falls: moving the prior inwards multiplies it by a factor there.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from guessproof.errors import NotCertifiedError
from guessproof.risk.bracket import Direction, Worst
from guessproof.risk.limits import COSTLY, advantage_of, largest_epsilon, posterior_of
from guessproof.risk.line.capped import CappedTilts, binding_form, capped_ends
from guessproof.risk.line.recursion import LineQuestion
from guessproof.risk.line.tent import DOWN, UP, Indices, Tilts
from guessproof.world.checks import Array
from guessproof.world.distances import LineForm
from guessproof.world.goals import Within
from guessproof.world.line import LinePrior
from guessproof.world.pieces import pieces_of

CLOSE = 8e-4  # relative width at which a box is left alone
CLOSE_CAPPED = 5e-3  # the same under a cap, where a true value costs ten times as much
ROUGH = 1e-4  # of a gain: how closely odds under a cap are bounded
FIRST = 64  # boxes at the start, evenly and by quantiles each
PARTS = 4  # into which a box is divided
MOST = 60_000  # true values; what is left open then stays in the bound
ROUNDS = 60  # of division; a box may become as narrow as two neighbouring numbers
HIGH = 0.5  # a belief or rise from which on goals are compared by their odds as well
TINY = 1e-15  # of an advantage: rounding
FURTHER = (
    1e-13,
    1e-30,
    1e-60,
    1e-120,
    1e-280,
)  # tail masses beyond which true values are bounded at once
NOTHING = 1e-12  # a bound of what lies beyond that is small enough
BULK = np.array(
    [0.1, 0.9]
)  # quantiles: the search for ε starts where this is about one unit wide
SURE = 1e-3  # of a belief: what is left of 1 is not bounded more closely than a share of this
ZOOMS = 2  # of a look at one ε, towards where the worst true value seems to lie
CERTAIN = 1 - 2**-53  # the largest belief below 1
TRIES = 40  # to prove a limit, each at a smaller ε
MOST_BACK = 0.1  # share of ε that one try gives up at most
REFUSAL = (
    "the worst true value may lie at infinity and this prior's tail is not known; "
    "give the attribute bounds=(low, high), or a true value with at={…}"
)


@dataclass(frozen=True)
class TrueValues:
    """What rising true values give: an attack, a bound, the prior; and between each and the next what all of them do.

    `least` and `most` are one shorter than the others: no true value between two neighbours gives less, or more.
    """

    at: Array
    attack: Array
    bound: Array
    prior: Array
    least: Array
    most: Array


@dataclass(frozen=True, eq=False)
class WorstSearch:
    """A goal of one interval whose true value ranges over low … high."""

    prior: LinePrior
    form: LineForm
    goal: Within
    low: float
    high: float

    @classmethod
    def of(
        cls, prior: LinePrior, form: LineForm, goal: Within, low: float, high: float
    ) -> WorstSearch:
        """The search; a cap that no two values reach is dropped."""
        return cls(prior, binding_form(prior, form), goal, low, high)

    def worst(self, epsilon: float, direction: Direction, enough: float = 0.0) -> Worst:
        """The worst true value found, and what none exceeds; bounds up to `enough` are not improved."""
        if epsilon == 0 and direction != "posterior":
            middle = float(np.clip(self.prior.quantile(0.5), self.low, self.high))
            return Worst(
                middle, 0.0, 0.0, float(self.prior.mass(*self._edges(np.asarray(middle))))
            )
        low, high, settled = self.range_of(epsilon, direction)
        points = self.points(low, high)
        left, right = points[:-1], points[1:]
        best, asked, close = None, 0, self.close
        for _ in range(ROUNDS):
            found = self.over(np.union1d(left, right), epsilon, direction)
            asked += found.at.size
            i = int(np.argmax(found.attack))
            if best is None or found.attack[i] > best.value:
                best = Worst(
                    *(float(x[i]) for x in (found.at, found.attack, found.bound, found.prior))
                )
            bound = found.most[np.searchsorted(found.at, left)]
            accepted = max(enough or best.value + _slack(best.value, close) + TINY, settled)
            open_ = (bound > accepted) & (right > np.nextafter(left, np.inf)) & (asked <= MOST)
            settled = max(settled, float(np.max(bound[~open_], initial=0.0)))
            if not open_.any() or (enough and best.value > enough):
                unsettled = float(np.max(bound, initial=0.0))
                return replace(best, bound=max(settled, unsettled, best.value))
            share = np.arange(PARTS + 1) / PARTS
            cuts = left[open_, None] + share * (right - left)[open_, None]
            cuts[:, -1] = right[open_]
            left, right = cuts[:, :-1].ravel(), cuts[:, 1:].ravel()
        raise NotCertifiedError(
            "the worst true value was not found; give a true value with at={…}"
        )

    @property
    def close(self) -> float:
        """How closely a bound lies above the worst value found, relative to the value or to what is left of 1."""
        return CLOSE if np.isinf(self.form.cap) else CLOSE_CAPPED

    def epsilon(self, limit: float, direction: Direction) -> float:
        """The largest ε found at which the limit is proven for every true value."""
        before = self.worst(0.0, direction).bound
        if limit >= 1 or limit <= before:
            return math.inf if limit >= 1 else 0.0

        def size(value: float) -> float:
            """About in proportion to ε; of a belief, what it gains in ln odds."""
            if direction != "posterior":
                return value
            return _logit(min(value, CERTAIN)) - _logit(before)

        def look(epsilon: Array) -> Array:
            return np.asarray(size(self._look(float(epsilon), direction)))

        aim = size(limit - self.close * min(limit, 1 - limit))
        bulk = float(np.diff(self.form.psi(self.prior.quantile(BULK)))[0])
        start = 1 / bulk if bulk > 0 else 1.0
        epsilon = float(largest_epsilon(look, np.asarray(aim), start=start, relative=COSTLY))
        if not 0 < epsilon < math.inf:
            return epsilon
        back, enough = (
            self.close,
            limit if limit > 1 - SURE else 0.0,
        )  # what is said of this ε afterwards is the same
        for _ in range(TRIES):
            proven = self.worst(epsilon, direction, enough)
            if proven.bound <= limit:
                return epsilon
            epsilon *= min(aim / max(size(proven.value), aim), 1 - back)
            back = min(2 * back, MOST_BACK)
        return 0.0

    def _look(self, epsilon: float, direction: Direction) -> float:
        """About what the worst true value gives."""
        low, high, _ = self.range_of(epsilon, direction)
        t, best = self.points(low, high), 0.0
        for _ in range(1 + ZOOMS):
            found = self.over(t, epsilon, direction).attack
            i = int(np.argmax(found))
            best = max(best, float(found[i]))
            t = np.linspace(t[max(i - 1, 0)], t[min(i + 1, t.size - 1)], 9)
        return best

    def _edges(self, t: Array) -> tuple[Array, Array]:
        return self.goal.edges(t)[0]

    def points(self, low: float, high: float) -> Array:
        """Points over the range and over the bulk of the prior, and where an edge meets a kink."""
        pieces = pieces_of(self.prior)
        share = (np.arange(FIRST) + 0.5) / FIRST
        bulk = [pieces.quantile(float(u)) for u in share]
        even = np.linspace(low, high, FIRST + 1)
        places = np.array(
            [
                x
                for x in (*self.prior.support, *self.prior.breaks, *self.form.cuts)
                if np.isfinite(x)
            ]
        )
        points = np.unique(
            np.clip(np.concatenate([even, bulk, self.goal.turning_points(places)]), low, high)
        )
        return points if points.size > 1 else np.array([low, high])

    def over(self, t: Array, epsilon: float, direction: Direction) -> TrueValues:
        """What rising true values give, and what all true values between them do."""
        lo, hi = self._edges(t)
        ends = np.concatenate([lo, hi, self.form.cuts])
        pieces = pieces_of(self.prior).cut(np.concatenate([ends, capped_ends(self.form, ends)]))
        question = LineQuestion(pieces, pieces.left >= pieces.quantile(0.5), self.form)
        knots = np.append(pieces.left, pieces.right[-1])
        first, last = (
            np.searchsorted(knots, np.clip(edge, knots[0], knots[-1])) for edge in (lo, hi)
        )
        capped = np.isfinite(self.form.cap)
        tilts = (
            CappedTilts(question, epsilon, ROUGH * epsilon * question.reach)
            if capped
            else Tilts(question, epsilon)
        )
        with np.errstate(divide="ignore"):
            log_p = np.log(self.prior.mass(lo, hi))
            log_q = np.log(self.prior.mass(-np.inf, lo) + self.prior.mass(hi, np.inf))
        some = (last > first) & np.isfinite(log_p) & np.isfinite(log_q)
        sign, step = (-1.0 if direction == "fall" else 1.0), epsilon * self.form.step

        def value(odds: Array) -> Array:
            gain = np.zeros(t.size)
            gain[some] = sign * (np.maximum(sign * (odds - (log_p - log_q)[some]), 0.0) + step)
            with np.errstate(invalid="ignore"):
                if direction == "posterior":
                    return np.where(some, posterior_of(log_p, log_q, gain), np.exp(log_p))
                return np.where(some, sign * advantage_of(log_p, log_q, gain), 0.0)

        possible = self.prior.log_density(t) > -np.inf
        reached, most = (
            tilts.odds(first[some], last[some], sign > 0, bound) for bound in (False, True)
        )
        bound = value(most)
        if capped and some.any():  # likelihoods are worked out for one true value only
            best = int(np.argmax(np.where(possible, bound, -np.inf)[some]))
            at = int(first[some][best]), int(last[some][best])
            reached[best] = (
                sign * CappedTilts(question, epsilon).best(*at, sign > 0)[1].log_odds
            )
        attack = np.where(possible, value(reached), -np.inf)
        return TrueValues(
            t,
            attack,
            bound,
            np.exp(log_p),
            *self._boxes(t, (first, last), attack, bound, tilts, direction),
        )

    def _boxes(
        self,
        t: Array,
        knots: tuple[Indices, Indices],
        attack: Array,
        value: Array,
        tilts: Tilts,
        direction: Direction,
    ) -> tuple[Array, Array]:
        """What no true value between one point and the next falls below, or exceeds."""
        epsilon = tilts.epsilon
        place = epsilon * np.append(tilts.question.position[0], tilts.question.position[1][-1])
        cap, step = epsilon * self.form.cap, epsilon * self.form.step
        diameter = np.minimum(place[knots[1][1:]] - place[knots[0][:-1]], cap) + step
        pieces, edges = tilts.question.pieces, self._edges(t)
        sharpest = tilts.log_extreme(direction != "fall")

        def gained(first: Indices, last: Indices) -> Array:
            """How far L is from 1 at most, on its better side, anywhere between two knots (of a belief: L itself)."""
            top = 0.5 * (sharpest[first] + sharpest[last]) + 0.5 * (place[last] - place[first])
            top = np.minimum(top, cap) + step
            if direction == "fall":
                return -np.expm1(-top)
            return np.expm1(top) if direction == "rise" else np.exp(top)

        rising, falling, both = np.zeros(
            (3, t.size - 1)
        )  # by how much what is reached changes along the box at most
        with np.errstate(over="ignore", invalid="ignore"):
            lost = {
                "rise": -np.expm1(-diameter),
                "fall": np.expm1(diameter),
                "posterior": 0.0 * diameter,
            }[direction]
            for side, at, edge in zip((-1, 1), knots, edges, strict=True):
                strip = self.prior.mass(edge[:-1], edge[1:])
                most_in, most_out = (
                    np.where(strip > 0, strip * x, 0.0) for x in (gained(at[:-1], at[1:]), lost)
                )
                rising += most_in if side > 0 else most_out
                falling += most_out if side > 0 else most_in
                both += np.maximum(most_in, most_out)
            # A narrow goal gives hardly less than its mass times the largest gain in it.
            width = np.where(
                np.isfinite(pieces.right - pieces.left), pieces.right - pieces.left, 0.0
            )
            density = (
                np.exp(pieces.log_mass + np.abs(pieces.slope) * width + pieces.osc) / width
            )
            ranges = np.stack(
                [knots[0][:-1], np.maximum(knots[1][1:], knots[0][:-1] + 1)], axis=1
            )
            peak = np.maximum.reduceat(np.append(density, 0.0), ranges.ravel())[::2]
            narrow = (
                np.max([edges[1][1:] - edges[0][1:], edges[1][:-1] - edges[0][:-1]], axis=0)
                * peak
            )
            narrow *= gained(knots[0][:-1], knots[1][1:])
            if (
                direction != "fall" and np.max(value) > HIGH
            ):  # larger goals, whose odds are told closely near certainty
                odds = tilts.odds(ranges[:, 0], ranges[:, 1], True, True)
                inner = self.prior.mass(edges[0][1:], np.maximum(edges[1][:-1], edges[0][1:]))
                outer = posterior_of(odds, 0.0, step) - (inner if direction == "rise" else 0.0)
                narrow = np.fmin(narrow, outer)
        (a, b), (c, d) = (value[:-1], value[1:]), (attack[:-1], attack[1:])
        most = np.min(
            [a + rising, b + falling, 0.5 * (a + b + both), np.nan_to_num(narrow, nan=1.0)],
            axis=0,
        )
        possible = self.prior.mass(t[:-1], t[1:]) > 0
        ceiling = self.prior.mass(edges[0][:-1], edges[1][1:]) if direction == "fall" else 1.0
        most = np.where(possible, np.clip(most, 0.0, ceiling), 0.0)
        least = np.max([c - falling, d - rising, 0.5 * (c + d - both)], axis=0)
        return np.maximum(least, 0.0), most

    def range_of(self, epsilon: float, direction: Direction) -> tuple[float, float, float]:
        """A finite range of true values, and what none beyond it exceeds."""
        ends, beyond = [self.low, self.high], 0.0
        for side, sign in ((0, -1), (1, 1)):
            if np.isinf(ends[side]):
                ends[side], bound = self._cut(sign, epsilon, direction)
                beyond = max(beyond, bound)
        if ends[0] >= ends[1]:
            ends = [pieces_of(self.prior).quantile(u) for u in (0.25, 0.75)]
        return ends[0], ends[1], beyond

    def _cut(self, side: int, epsilon: float, direction: Direction) -> tuple[float, float]:
        """A true value far out, and what none further out exceeds."""
        tail = pieces_of(self.prior).tails[side > 0]
        if (
            tail is not None
            and 0 < tail.low == tail.high
            and self.goal.radius is not None
            and direction != "fall"
        ):
            return self._memoryless(side, epsilon, direction)
        bound = t = math.inf
        for mass in FURTHER:
            near = self._quantile(side, mass)
            if np.isinf(near):  # a heavy tail
                break
            t = self._true_value(near, side)
            bound = min(bound, self._beyond(near, side, epsilon, direction))
            if bound <= NOTHING:
                break
        slope = self.form.slopes[side > 0 and -1]
        if (
            bound > NOTHING
            and (tail is None or tail.low == 0)
            and slope > 0
            and np.isinf(self.form.cap)
        ):
            raise NotCertifiedError(REFUSAL)
        return t, bound

    def _beyond(self, near: float, side: int, epsilon: float, direction: Direction) -> float:
        """What no true value whose goal begins beyond a place exceeds."""
        rest = (near, np.inf) if side > 0 else (-np.inf, near)
        mass = float(self.prior.mass(*rest))
        if direction == "fall":
            return mass
        pieces = pieces_of(self.prior).cut([near, *self.form.cuts])
        question = LineQuestion(pieces, pieces.left >= pieces.quantile(0.5), self.form)
        at = np.searchsorted(np.append(pieces.left, pieces.right[-1]), [near]).astype(
            np.float64
        )
        masses, row = Tilts(question, epsilon).masses, (UP if side > 0 else DOWN)
        below = masses.between(row + int(side < 0), np.zeros(1), at)
        above = masses.between(row + int(side > 0), at, np.full(1, float(question.goal.size)))
        gain = math.inf if np.isinf(below + above).any() else side * float((above - below)[0])
        capped = (
            math.log(mass) - math.log1p(-mass) + epsilon * self.form.cap
            if 0 < mass < 1
            else -math.inf
        )
        return float(posterior_of(min(gain, capped), 0.0, epsilon * self.form.step))

    def _memoryless(
        self, side: int, epsilon: float, direction: Direction
    ) -> tuple[float, float]:
        """Beyond the beginning of an exponential tail and all cuts of ψ, where all before may be forgotten."""
        pieces = pieces_of(self.prior)
        ends = [float(pieces.left[-1] if side > 0 else pieces.right[0]), *self.form.cuts]
        near = max([*ends, self._quantile(side, FURTHER[0])], key=lambda x: side * x)
        t = self._true_value(near, side)
        world = self
        if (
            self.form.cuts or not self.prior.is_log_linear
        ):  # log-linear with an infinite tail: log-concave
            knot = max(ends, key=lambda x: side * x)
            form = replace(
                self.form, cuts=(), slopes=(self.form.slopes[side > 0 and -1],), jumps=()
            )
            world = replace(
                self, prior=self.prior.given(*sorted((knot, side * math.inf))), form=form
            )
        found = world.over(
            np.array([t, np.nextafter(t, side * math.inf)]), epsilon, "posterior"
        )
        return t, float(found.bound[0]) if world is not self or direction == "rise" else 0.0

    def _quantile(self, side: int, mass: float) -> float:
        return float(
            (self.prior.upper_quantile if side > 0 else self.prior.quantile)(np.asarray(mass))
        )

    def _true_value(self, near: float, side: int) -> float:
        """The true value whose goal begins at a place, seen from the bulk."""
        if self.goal.radius is not None:
            return near + side * self.goal.radius
        edge = self._edges(np.asarray(math.copysign(1.0, near)))[side < 0]
        return near / abs(float(edge)) if edge else near


def _logit(p: float) -> float:
    return math.log(p) - math.log1p(-p)


def _slack(value: float, close: float) -> float:
    """How far a bound may lie above the worst value found."""
    return close * min(value, max(1 - value, SURE))
