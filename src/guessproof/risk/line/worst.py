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
from guessproof.risk.line.recursion import LineQuestion
from guessproof.risk.line.tent import CappedTilts, Indices, Tilts, binding_form, capped_ends
from guessproof.world.checks import Array
from guessproof.world.distances import LineForm
from guessproof.world.goals import Within
from guessproof.world.line import LinePrior
from guessproof.world.pieces import pieces_of

CLOSE = 8e-4  # relative width at which a box is left alone
ROUGHLY = 30.0  # times as wide while an ε is looked for
CLOSE_CAPPED = 5e-3  # the same under a cap, where a true value costs ten times as much
ROUGH = 1e-4  # of a gain: how closely odds under a cap are bounded
FIRST = 64  # boxes at the start, evenly and by quantiles each
PARTS = 4  # into which a box is divided
MOST = 60_000  # true values; what is left open then stays in the bound
ROUNDS = 60  # of division; a box may become as narrow as two neighbouring numbers
HIGH = 0.5  # a belief or rise from which on goals are compared by their odds as well
TINY = 1e-15  # of an advantage: rounding
FURTHER = np.array(
    [1e-13, 1e-30, 1e-60, 1e-120, 1e-280]
)  # tail masses beyond which true values are bounded at once
NOTHING = 1e-12  # a bound of what lies beyond that is small enough
BULK = np.array(
    [0.1, 0.9]
)  # quantiles: the search for ε starts where this is about one unit wide
SURE = 1e-3  # of a belief: what is left of 1 is not bounded more closely than a share of this
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

    def worst(
        self, epsilon: float, direction: Direction, enough: float = 0.0, rough: float = 1.0
    ) -> Worst:
        """The worst true value found, and what none exceeds; bounds up to `enough` are not improved.

        `rough`: how many times further apart than usual both may be.
        """
        if epsilon == 0 and direction != "posterior":
            middle = float(np.clip(self.prior.quantile(0.5), self.low, self.high))
            return Worst(
                middle, 0.0, 0.0, float(self.prior.mass(*self._edges(np.asarray(middle))))
            )
        low, high, settled = self.range_of(epsilon, direction)
        points = self.points(low, high)
        left, right = points[:-1], points[1:]
        best, asked, close = None, 0, rough * self.close
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
        if direction != "posterior" and limit >= self._farthest(direction):
            return math.inf

        def size(value: float) -> float:
            """About in proportion to ε; of a belief, what it gains in ln odds."""
            if direction != "posterior":
                return value
            with np.errstate(divide="ignore"):
                odds = np.log([value, before]) - np.log1p([-value, -before])
            return float(odds[0] - odds[1])

        def found(epsilon: Array) -> Array:
            return np.asarray(size(self.worst(float(epsilon), direction, rough=ROUGHLY).value))

        aim = size(limit - self.close * min(limit, 1 - limit))
        bulk = float(np.diff(self.form.psi(self.prior.quantile(BULK)))[0])
        start = 1 / bulk if bulk > 0 else 1.0
        epsilon = float(largest_epsilon(found, np.asarray(aim), start=start, relative=COSTLY))
        if not 0 < epsilon < math.inf:
            return epsilon
        back = self.close
        enough = (
            limit if limit > 1 - SURE else 0.0
        )  # what is said of this ε afterwards is the same
        for _ in range(TRIES):
            proven = self.worst(epsilon, direction, enough)
            if proven.bound <= limit:
                return epsilon
            epsilon *= min(aim / max(size(proven.value), aim), 1 - back)
            back = min(2 * back, MOST_BACK)
        return 0.0

    def _farthest(self, direction: Direction) -> float:
        """How far no belief can move, whatever is released: up to 1, or down to 0."""
        if not np.isfinite(self.low) or not np.isfinite(self.high):
            return 1.0
        lo, hi = self._edges(self.points(self.low, self.high))
        if np.any(np.diff(lo) < 0) or np.any(np.diff(hi) < 0):  # more than 100 %
            return 1.0
        if direction == "fall":
            return float(np.max(self.prior.mass(lo[:-1], hi[1:]), initial=0.0))
        inner = np.maximum(lo[1:], hi[:-1])  # correct for all true values between two points
        return 1.0 - float(np.min(self.prior.mass(lo[1:], inner)))

    def _edges(self, t: Array) -> tuple[Array, Array]:
        return self.goal.edges(t)[0]

    def points(self, low: float, high: float) -> Array:
        """Points over the range and over the bulk of the prior, and where an edge meets a kink."""
        bulk = self.prior.quantile((np.arange(FIRST) + 0.5) / FIRST)
        places = np.array([*self.prior.support, *self.prior.breaks, *self.form.cuts])
        kinks = self.goal.turning_points(places[np.isfinite(places)])
        points = np.concatenate([np.linspace(low, high, FIRST + 1), bulk, kinks])
        points = np.unique(np.clip(points, low, high))
        return points if points.size > 1 else np.array([low, high])

    def _tilts(self, lo: Array, hi: Array, epsilon: float) -> tuple[Tilts, Indices, Indices]:
        """Tents over pieces that end at the ends of some goals, and the pieces of these."""
        ends = np.concatenate([lo, hi, self.form.cuts])
        pieces = pieces_of(self.prior).cut(np.concatenate([ends, capped_ends(self.form, ends)]))
        question = LineQuestion(pieces, pieces.left >= self.prior.quantile(0.5), self.form)
        knots = np.append(pieces.left, pieces.right[-1])
        first, last = (
            np.searchsorted(knots, np.clip(edge, knots[0], knots[-1])) for edge in (lo, hi)
        )
        if np.isinf(self.form.cap):
            return Tilts(question, epsilon), first, last
        met = ROUGH * epsilon * question.reach
        return CappedTilts(question, epsilon, met), first, last

    def over(self, t: Array, epsilon: float, direction: Direction) -> TrueValues:
        """What rising true values give, and what all true values between them do."""
        lo, hi = self._edges(t)
        tilts, first, last = self._tilts(lo, hi, epsilon)
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
            value(odds) for odds in tilts.bracket(first[some], last[some], sign > 0)
        )
        attack = np.where(possible, reached, -np.inf)
        boxes = self._boxes(t, (first, last), attack, most, tilts, direction)
        return TrueValues(t, attack, most, np.exp(log_p), *boxes)

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
        epsilon, (lo, hi) = tilts.epsilon, self._edges(t)
        place = np.append(tilts.level[0], tilts.level[1][-1])
        cap, step = epsilon * self.form.cap if epsilon else 0.0, epsilon * self.form.step
        sharpest = tilts.log_extreme(direction != "fall")
        first, last = knots[0][:-1], knots[1][1:]  # of the union of a box's goals

        def gained(first: Indices, last: Indices) -> Array:
            """How far L is from 1 at most, on its better side, anywhere between two knots (of a belief: L itself)."""
            top = 0.5 * (sharpest[first] + sharpest[last] + place[last] - place[first])
            top = np.minimum(top, cap) + step
            if direction == "fall":
                return -np.expm1(-top)
            return np.expm1(top) if direction == "rise" else np.exp(top)

        with np.errstate(over="ignore", invalid="ignore"):
            diameter = np.minimum(place[last] - place[first], cap) + step
            lost = {"rise": -np.expm1(-diameter), "fall": np.expm1(diameter)}.get(
                direction, 0.0
            )
            strips = np.zeros(
                first.size
            )  # by how much what is reached differs from both ends' at most
            for at, edge in ((knots[0], lo), (knots[1], hi)):
                mass = self.prior.mass(edge[:-1], edge[1:])
                most = np.maximum(gained(at[:-1], at[1:]), lost)
                strips += np.where(mass > 0, mass * most, 0.0)
            # A narrow goal has at most its width times the largest density in the box.
            pieces = tilts.question.pieces
            width = pieces.right - pieces.left
            variation = np.abs(pieces.slope) * np.where(np.isfinite(width), width, 0.0)
            density = np.append(np.exp(pieces.log_mass + variation + pieces.osc) / width, 0.0)
            box = np.stack([first, np.maximum(last, first + 1)], axis=1).ravel()
            peak = np.maximum.reduceat(density, box)[::2]
            narrow = np.maximum(hi[1:] - lo[1:], hi[:-1] - lo[:-1]) * peak
            union = np.fmin(self.prior.mass(lo[:-1], hi[1:]), narrow)
            bounds = [0.5 * (value[:-1] + value[1:] + strips), union * gained(first, last)]
            if direction != "fall" and np.max(value) > HIGH:
                odds = tilts.bracket(first, np.maximum(last, first + 1), True)[1]
                inner = self.prior.mass(lo[1:], np.maximum(hi[:-1], lo[1:]))
                belief = posterior_of(odds, 0.0, step)
                bounds.append(belief - (inner if direction == "rise" else 0.0))
        most = np.clip(np.nan_to_num(np.min(bounds, axis=0), nan=1.0), 0.0, 1.0)
        most = np.where(self.prior.mass(t[:-1], t[1:]) > 0, most, 0.0)
        return np.maximum(0.5 * (attack[:-1] + attack[1:] - strips), 0.0), most

    def range_of(self, epsilon: float, direction: Direction) -> tuple[float, float, float]:
        """A finite range of true values, and what none beyond it exceeds."""
        ends, beyond = [self.low, self.high], 0.0
        for side, sign in ((0, -1), (1, 1)):
            if np.isinf(ends[side]):
                ends[side], bound = self._cut(sign, epsilon, direction)
                beyond = max(beyond, bound)
        if ends[0] >= ends[1]:
            ends = self.prior.quantile([0.25, 0.75]).tolist()
        return ends[0], ends[1], beyond

    def _cut(self, side: int, epsilon: float, direction: Direction) -> tuple[float, float]:
        """A true value far out, and what none further out exceeds."""
        tail, radius = pieces_of(self.prior).tails[side > 0], self.goal.radius
        places = self.prior.quantile(FURTHER, side > 0)
        exponential = tail is not None and 0 < tail.low == tail.high
        if exponential and radius is not None and direction != "fall":
            return self._memoryless(float(places[0]), side, epsilon)
        bound = t = math.inf
        for near in places[np.isfinite(places)].tolist():  # those of a heavy tail are infinite
            edge = self._edges(np.asarray(math.copysign(1.0, near)))[side < 0]
            t = (
                near / abs(float(edge))
                if radius is None and edge
                else near + side * (radius or 0.0)
            )
            rest = (near, np.inf) if side > 0 else (-np.inf, near)
            beyond = float(self.prior.mass(*rest))
            if direction != "fall":
                lo, hi = np.array(rest)[:, None]
                tilts, first, last = self._tilts(lo, hi, epsilon)
                odds = tilts.bracket(first, last, True)[1]
                beyond = float(posterior_of(odds, 0.0, epsilon * self.form.step)[0])
            bound = min(bound, beyond)
            if bound <= NOTHING:
                break
        unknown = (tail is None or tail.low == 0) and self.form.slopes[side > 0 and -1] > 0
        if bound > NOTHING and unknown and np.isinf(self.form.cap):
            raise NotCertifiedError(REFUSAL)
        return t, bound

    def _memoryless(self, near: float, side: int, epsilon: float) -> tuple[float, float]:
        """Beyond the beginning of an exponential tail and all cuts of ψ, where all before may be forgotten."""
        pieces, form = pieces_of(self.prior), self.form
        ends = [float(pieces.left[-1] if side > 0 else pieces.right[0]), *form.cuts]
        knot = side * max(side * x for x in ends)
        t = side * max(side * knot, side * near) + side * (self.goal.radius or 0.0)
        world = self
        if form.cuts or not self.prior.is_log_linear:  # else log-concave
            prior = self.prior.given(*sorted((knot, side * math.inf)))
            form = LineForm(
                slopes=(form.slopes[side > 0 and -1],), step=form.step, cap=form.cap
            )
            world = replace(self, prior=prior, form=form)
        found = world.over(
            np.array([t, np.nextafter(t, side * math.inf)]), epsilon, "posterior"
        )
        return t, float(found.bound[0])


def _slack(value: float, close: float) -> float:
    """How far a bound may lie above the worst value found."""
    return close * min(value, max(1 - value, SURE))
