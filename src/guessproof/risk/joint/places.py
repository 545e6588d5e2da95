"""The worst true place of two independent numbers, for a goal of one shape around it.

For a fixed likelihood L of mean 1 the advantage at the place t is A(t) = ∫_{G(t)} (L − 1) f. Its second derivative
along a number is an integral over the goal's edge, so in a box of places with sides w

    A(t) ≤ largest A at a corner + Σ w_i²/8·K_i + w_i/4·J_i,
    K_i = 2·P·(ε_i·B·sup f_i + D·sup |f_i′|),   J_i = P·D·Σ |jumps of f_i|,

P the largest probability of the other number's side of the goal, B and b the largest and the least value of L around
the box, D = max(B − 1, 1 − b), ε_i the rate along the number; jumps count for each end of the goal that may meet them.
It holds for the best L of any place, so the corners' own bounds may stand for A. B is at most the product of
1/∫ e^{−ε_i d} f_i, as no norm is above l1; b likewise with e^{+ε_i d}. Of a belief the same holds with D = B, of a fall
with 1 − L (theory §10).

Boxes are refined best-first: their corners start from P(G)·(B − 1), and cells answer for the corners of boxes that may
hold the worst place. Between corners of values v and v − d that bend by β the largest value is v + (4β − d)²/16β, where
d < 4β. Beyond a far quantile the odds are at most those of a half-line.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from heapq import heappop, heappush
from itertools import product

import numpy as np

from guessproof.risk.bracket import Direction
from guessproof.risk.joint.cells import cell_bound
from guessproof.risk.joint.joint_attack import JointAttack
from guessproof.risk.line.recursion import LineQuestion
from guessproof.risk.line.tent import Tilts
from guessproof.risk.line.worst import WorstSearch
from guessproof.world.attributes import Attribute, joint_of
from guessproof.world.checks import Array
from guessproof.world.distances import LineForm
from guessproof.world.families import Normal
from guessproof.world.goals import And, Goal, Near, Norm, Within, other_side
from guessproof.world.line import LinePrior, Truncated, expit
from guessproof.world.pieces import pieces_of

Place = tuple[float, ...]

FAR = 1e-12  # probability beyond which places are bounded by a half-line
CELLS = 512  # of one number, in which its density is bounded
COARSE = 0.3  # times the usual number of cells at a corner: a few percent looser, in a third of the time
CLOSE = 0.08  # relative width within which the worst place is looked for
BENT = (
    0.25  # share of a box's bound that may come from its size before its corners are looked at
)
BETTER = 1e-3  # relative: less is not worth another turn of a box
SLICES = 2000  # for the probability near a place
CORNERS = 60  # places looked at; what is left open stays in the bound
BOXES = 1500  # looked at, for the same reason
NOISE = 0.03  # relative: of what few cells say of two places
LOOSE = 1 + 1e-9  # rounding of a slope
KINK = 0.01  # of the largest jump of a density: places where an end of the goal meets one that large are cut


@dataclass(frozen=True, eq=False)
class PlaceAxis:
    """One number: the range of its true values, and bounds of its density and of any likelihood along it."""

    prior: LinePrior
    radius: float
    rate: float  # ε times the slope of the distance
    low: float
    high: float
    beyond: float  # belief in a side of the goal further out, at most
    knots: Array
    top: Array  # density in each cell between knots, at most
    steep: Array  # its derivative's size, at most
    jump: Array  # by which it jumps at each knot
    log_least: Array  # ln of a likelihood's least and largest value at each knot
    log_most: Array

    def cells(self, low: float, high: float) -> slice:
        """The cells that meet an interval."""
        first = int(np.searchsorted(self.knots, low, side="right")) - 1
        return slice(max(first, 0), int(np.searchsorted(self.knots, high)))

    def likelihood(self, low: float, high: float) -> tuple[float, float]:
        """ln of the least and the largest value of a likelihood in an interval."""
        inside = self.cells(low, high)
        ends = slice(inside.start, inside.stop + 1)
        slack = self.rate * float(np.max(np.diff(self.knots)[inside], initial=0.0)) / 2
        return float(np.min(self.log_least[ends])) - slack, float(
            np.max(self.log_most[ends])
        ) + slack

    def edge(self, low: float, high: float) -> tuple[float, float, float]:
        """Density, its derivative and its jumps where an end of the goal may lie."""
        inside = self.cells(low, high)
        jumps = self.jump[
            np.searchsorted(self.knots, low, side="right") : np.searchsorted(self.knots, high)
        ]
        top, steep = (
            float(np.max(column[inside], initial=0.0)) for column in (self.top, self.steep)
        )
        return top, steep, float(np.sum(jumps))

    @cached_property
    def kinks(self) -> Array:
        """Places where an end of the goal meets a jump of the density."""
        jumps = self.knots[self.jump > KINK * float(np.max(self.top))]
        return np.concatenate([jumps - self.radius, jumps + self.radius])

    def cut(self, low: float, high: float) -> float:
        """Where to divide a side: at a kink, else in the middle."""
        middle = 0.5 * (low + high)
        inside = self.kinks[(self.kinks > low) & (self.kinks < high)]
        return float(inside[np.argmin(np.abs(inside - middle))]) if inside.size else middle


def reaches(goal: Goal) -> dict[str, float] | None:
    """How far correct guesses lie from the true value of each number; None where they do not move with it."""
    if isinstance(goal, Near):
        return {a.name: goal.radius for a in goal.members}
    if not isinstance(goal, And):
        return None
    parts = [
        part for part in goal.parts if isinstance(part, Within) and part.radius is not None
    ]
    found = {part.attribute.name: float(part.radius or 0.0) for part in parts}
    return found if len(found) == len(goal.parts) else None


def place_axis(attribute: Attribute, radius: float, epsilon: float) -> PlaceAxis | None:
    """Return the bounds along one number; None where its density or its distance is not one of the known kinds."""
    prior, form = attribute.prior, attribute.distance.line_form
    if not isinstance(prior, LinePrior) or joint_of(attribute) is not None or form is None:
        return None
    slope = max(form.slopes)
    if (
        not (prior.is_log_concave or prior.is_log_linear)
        or form.step
        or any(form.jumps)
        or not 0 < slope < np.inf
    ):
        return None
    straight, (first, last) = LineForm(slopes=(slope,)), prior.support
    search = WorstSearch(prior, straight, Within(attribute, radius), *attribute.range)
    low, high, beyond = search.range_of(epsilon, "rise")
    outer = np.linspace(max(low - radius, first), min(high + radius, last), CELLS // 4)
    bulk = np.linspace(float(prior.quantile(FAR)), float(prior.upper_quantile(FAR)), CELLS)
    knots = np.concatenate([bulk, outer, prior.breaks, prior.support])
    knots = np.unique(knots[np.isfinite(knots) & (knots >= first) & (knots <= last)])
    pieces = pieces_of(prior).cut(knots)
    tilts = Tilts(LineQuestion(pieces, pieces.left >= pieces.quantile(0.5), straight), epsilon)
    at = np.searchsorted(np.append(pieces.left, pieces.right[-1]), knots)
    middle, ends = prior.mirror, attribute.range
    if (
        middle is not None
        and form.is_straight
        and (sum(ends) == 2 * middle or np.all(np.isinf(ends)))
    ):
        low = middle  # places on both sides of the middle are alike
    extremes = -tilts.log_extreme(False)[at], tilts.log_extreme(True)[at]
    return PlaceAxis(
        prior,
        radius,
        epsilon * slope,
        low,
        high,
        beyond,
        knots,
        *_densities(prior, knots),
        *extremes,
    )


def _densities(prior: LinePrior, knots: Array) -> tuple[Array, Array, Array]:
    """Bounds of the density and of its derivative between knots, and its jumps at them.

    Where ln f is concave its slope lies between the slopes of the chords on both sides.
    """
    base = prior.base if isinstance(prior, Truncated) else prior
    size, middle = np.diff(knots), prior.quantile(0.5)
    scale = float(prior.log_density(middle) - base.log_density(middle))
    starts = base.log_density(np.nextafter(knots[:-1], np.inf)) + scale
    ends = base.log_density(np.nextafter(knots[1:], -np.inf)) + scale
    with np.errstate(invalid="ignore", over="ignore"):
        before = after = np.nan_to_num(
            (ends - starts) / size, nan=0.0, posinf=np.inf, neginf=-np.inf
        )
        if not prior.is_log_linear:
            outer = (
                base.log_density(np.array([knots[0] - size[0], knots[-1] + size[-1]])) + scale
            )
            before = np.append((starts[0] - outer[0]) / size[0], before[:-1])
            after = np.append(after[1:], (outer[1] - ends[-1]) / size[-1])
        over = size * np.minimum(np.maximum(before, 0.0), np.maximum(-after, 0.0))
        top = np.exp(np.maximum(starts, ends) + over)
        steep = top * np.maximum(np.abs(before), np.abs(after)) * LOOSE
    jump = np.abs(np.exp(np.append(starts, -np.inf)) - np.exp(np.append(-np.inf, ends)))
    return top, np.nan_to_num(steep, nan=np.inf, posinf=np.inf), jump


@dataclass(frozen=True)
class PlaceFound:
    """What no place exceeds, the worst place found, and about how much it gives."""

    bound: float
    place: Place
    value: float


@dataclass(frozen=True, eq=False)
class PlaceSearch:
    """All places at one ε."""

    attributes: Mapping[str, Attribute]
    goal: Goal
    norm: Norm
    aim: Direction
    epsilon: float
    axes: tuple[PlaceAxis, ...]
    quick: dict[Place, float] = field(default_factory=dict[Place, float])  # bounds at corners
    seen: dict[Place, float] = field(default_factory=dict[Place, float])  # by cells

    @classmethod
    def of(
        cls,
        attributes: Mapping[str, Attribute],
        goal: Goal,
        norm: Norm,
        aim: Direction,
        epsilon: float,
    ) -> PlaceSearch | None:
        """None where boxes of places cannot be bounded."""
        radii = reaches(goal)
        if isinstance(goal, Near) and goal.by == "linf":
            goal = And(tuple(Within(a, goal.radius) for a in goal.members))
        if (
            radii is None or len(radii) != 2 or (norm == "l1" and isinstance(goal, And))
        ):  # the product rule is sharp
            return None
        members = {name: attributes[name] for name in radii}
        turns = _looks_round(members, goal, norm)
        axes = [
            place_axis(replace(a, bounds=None) if turns else a, radii[a.name], epsilon)
            for a in members.values()
        ]
        found = tuple(axis for axis in axes if axis is not None)
        if turns:  # each place can be turned onto a half-line
            found = found[:1] + tuple(replace(axis, high=axis.low) for axis in found[1:])
        return (
            cls(members, goal, norm, aim, epsilon, found) if len(found) == len(axes) else None
        )

    def worst(self, enough: float = -np.inf) -> PlaceFound:
        """Return what no place exceeds; where `enough` is given, no closer than to show that it is kept or not."""
        low, high = (
            np.array([getattr(axis, end) for axis in self.axes]) for end in ("low", "high")
        )
        place = self.middle
        value, far = self.at(place), max(axis.beyond for axis in self.axes)
        boxes = [(-self._bound(low, high), 0, low, high)]
        for ticket in range(1, BOXES):
            top, _, a, b = heappop(boxes)
            top = -top
            settled = top <= max(far, enough, value * (1 + CLOSE)) or value > enough > 0
            if settled or len(self.seen) > CORNERS:
                return PlaceFound(min(max(far, top), 1.0), place, value)
            bends = self._quick(a, b)[1]
            if np.sum(bends) <= BENT * top:
                best = max(_corners(a, b), key=self.at)
                if self.at(best) > self.at(place) * (1 + NOISE):
                    place = best
                value = max(value, self.at(best))
            bound = self._bound(a, b)
            if bound < top * (1 - BETTER):
                heappush(boxes, (-bound, ticket, a, b))
                continue
            i = int(np.argmax(bends))
            one, two = b.copy(), a.copy()
            one[i] = two[i] = self.axes[i].cut(float(a[i]), float(b[i]))
            heappush(boxes, (-min(top, self._bound(a, one)), ticket, a, one))
            heappush(boxes, (-min(top, self._bound(two, b)), ticket + BOXES, two, b))
        return PlaceFound(min(max(far, -boxes[0][0]), 1.0), place, value)

    @property
    def middle(self) -> Place:
        """The place nearest to all medians."""
        return tuple(
            float(np.clip(axis.prior.quantile(0.5), axis.low, axis.high)) for axis in self.axes
        )

    def at(self, place: Place) -> float:
        """What no likelihood exceeds at one place, by few cells; where it cannot be true, by the first bound."""
        if place not in self.seen:
            self.seen[place] = self._by_cells(place)
        return self.seen[place]

    def _by_cells(self, place: Place) -> float:
        if any(
            axis.prior.log_density(x) == -np.inf
            for axis, x in zip(self.axes, place, strict=True)
        ):
            return self._first(place)
        question = JointAttack(
            self.attributes, dict(zip(self.attributes, place, strict=True)), self.norm
        )
        low, most = self._before(place)
        goal, before = self.goal, low
        if self.aim == "fall":
            goal, before, most = ~goal, 1 - most, 1 - low
        after = most
        if self.epsilon > 0:
            after = float(
                expit(
                    cell_bound(
                        question, goal, self.epsilon, COARSE, probability=most
                    ).program.bound
                )
            )
        return after if self.aim == "posterior" else max(after - before, 0.0)

    def _first(self, place: Place) -> float:
        """What no likelihood exceeds at one place, at once."""
        if place not in self.quick:
            sides = [
                (x - axis.radius, x + axis.radius)
                for axis, x in zip(self.axes, place, strict=True)
            ]
            self.quick[place] = min(1.0, self._before(place)[1] * self._gained(sides)[0])
        return self.quick[place]

    def _before(self, place: Place) -> tuple[float, float]:
        """Bounds of the belief before, by slices."""
        (one, two), (x, y) = self.axes, place
        edge = one.radius * np.sin(np.linspace(-np.pi / 2, np.pi / 2, SLICES + 1))
        reach = np.full(edge.size, two.radius)
        if isinstance(self.goal, Near):
            reach = np.maximum(other_side(self.goal.by, two.radius, np.abs(edge)), 0.0)
        mass = one.prior.mass(x + edge[:-1], x + edge[1:])
        ends = np.minimum(reach[1:], reach[:-1]), np.maximum(reach[1:], reach[:-1])
        low, high = (float(mass @ two.prior.mass(y - end, y + end)) for end in ends)
        return low, high

    def _bound(self, low: Array, high: Array) -> float:
        """What no place in a box exceeds."""
        whole, bends = self._quick(low, high)
        known = [self.seen.get(c) or self._first(c) for c in _corners(low, high)]
        value = np.reshape(known, (2, 2))
        i, j = np.unravel_index(int(np.argmax(value)), (2, 2))
        best = value[i, j]
        falls = best - np.array([value[1 - i, j], value[i, 1 - j]])
        excess = max(float(np.sum(falls) - (best - value[1 - i, 1 - j])), 0.0)
        falls = np.clip(falls - excess / 2, 0.0, 4 * bends)
        with np.errstate(invalid="ignore", divide="ignore"):
            over = np.where(np.isfinite(bends), (4 * bends - falls) ** 2 / (16 * bends), np.inf)
        return min(whole, best + float(np.sum(np.where(bends > 0, over, 0.0))))

    def _gained(self, sides: list[tuple[float, float]]) -> tuple[float, float, float]:
        """By how much at most beliefs grow in a box, as a share; the least and the largest likelihood there."""
        logs = np.sum(
            [axis.likelihood(*side) for axis, side in zip(self.axes, sides, strict=True)],
            axis=0,
        )
        with np.errstate(over="ignore"):
            least, most = (float(x) for x in np.exp(logs))
        return {"rise": most - 1, "fall": 1 - least, "posterior": most}[self.aim], least, most

    def _quick(self, low: Array, high: Array) -> tuple[float, Array]:
        """The same for all of a box without asking any engine; and how much its size adds to it along each number."""
        spans = zip(self.axes, low.tolist(), high.tolist(), strict=True)
        sides = [(a - axis.radius, b + axis.radius) for axis, a, b in spans]
        mass = np.array(
            [float(axis.prior.mass(*side)) for axis, side in zip(self.axes, sides, strict=True)]
        )
        gained, least, most = self._gained(sides)
        quick = min(1.0, float(np.prod(mass)) * gained)  # 1 where it is not a number
        change = most if self.aim == "posterior" else max(most - 1, 1 - least)
        bends = np.zeros(len(self.axes))
        for i in np.flatnonzero(high > low):
            axis, width, (start, end) = self.axes[i], float(high[i] - low[i]), sides[i]
            ends = [(start, end), (start, end)]
            if isinstance(self.goal, And):  # each end of a box moves with one number alone
                ends = [
                    (start, float(high[i]) - axis.radius),
                    (float(low[i]) + axis.radius, end),
                ]
            top, steep, jumps = np.sum([axis.edge(*pair) for pair in ends], axis=0)
            rest = float(np.prod(np.delete(mass, i)))
            with np.errstate(invalid="ignore"):
                curve = axis.rate * most * top + change * steep
                bends[i] = rest * (width**2 / 8 * curve + width / 4 * change * jumps)
        return quick, np.nan_to_num(bends, nan=np.inf, posinf=np.inf)


def _looks_round(members: Mapping[str, Attribute], goal: Goal, norm: Norm) -> bool:
    """Whether all places equally far from the mean are alike."""
    if not (isinstance(goal, Near) and goal.by == norm == "l2"):
        return False
    kinds = {
        (a.prior, a.metric, a.scale)
        for a in members.values()
        if isinstance(a.prior, Normal) and not joint_of(a)
    }
    inside = [
        a.range[0] <= a.prior.mean <= a.range[1]
        for a in members.values()
        if isinstance(a.prior, Normal)
    ]
    return len(kinds) == 1 and len(inside) == len(members) and all(inside)


def _corners(low: Array, high: Array) -> list[Place]:
    return list(product(*zip(low.tolist(), high.tolist(), strict=True)))
