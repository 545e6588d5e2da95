"""The worst true place of two independent numbers, for a goal of one shape around it.

For a fixed likelihood L of mean 1 the advantage at the place t is A(t) = ∫_{G(t)} (L − 1) f. Its second derivative
along a number is an integral over the goal's edge, so in a box of places with sides w

    A(t) ≤ largest A at a corner + Σ w_i²/8·K_i + w_i/4·J_i,
    K_i = 2·P·(ε_i·B·sup f_i + D·sup |f_i′|),   J_i = P·D·Σ |jumps of f_i|,

P the largest probability of the other number's side of the goal, B and b the largest and the least value of L around
the box, D = max(B − 1, 1 − b), ε_i the rate along the number; jumps count for each end of the goal that may meet them.
It holds for the best L of any place, so the corners' own bounds may stand for A. B is at most 1/∫ e^{−ε·d(x, c)} f(x)dx
for the points c of the box: where f is log-concave so is the integral (Prékopa), and least at a corner of the box.
As min(L, sup L over the goal) is no worse, b ≥ e^{−ε·diameter}. Of a belief the same holds with D = B; of a fall with
1 − L, where L ≤ e^{ε·diameter} on the goal and nothing is known of b (theory §10).

Boxes are refined best-first: their corners start from P(G)·(B − 1), and cells answer for the corners of boxes that may
hold the worst place. Beyond a far quantile the odds are at most those of a half-line.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, cached_property, partial
from heapq import heappop, heappush
from itertools import count, product
from typing import Any

import numpy as np

from guessproof.errors import TrueValueError
from guessproof.risk.bracket import Direction
from guessproof.risk.joint.engine import JointBounds
from guessproof.risk.joint.formula import BeliefShift
from guessproof.risk.joint.joint_attack import JointAttack
from guessproof.risk.limits import advantage_of, posterior_of
from guessproof.risk.line.worst import WorstSearch
from guessproof.world.attributes import Attribute, joint_of
from guessproof.world.checks import Array
from guessproof.world.distances import LineForm
from guessproof.world.goals import And, Goal, Near, Norm, Within, combine, other_side
from guessproof.world.line import LinePrior, Truncated, expit
from guessproof.world.priors import Normal

Place = tuple[float, ...]
Box = tuple[
    float, int, Array, Array, Array
]  # less what no place in it exceeds, a ticket, its ends, how it bends

FAR = 1e-12  # probability beyond which places are bounded by a half-line
CELLS = 512  # of one number, in which its density is bounded
COARSE = 0.3  # times the usual number of cells at a corner: a few percent looser, in a third of the time
CLOSE = 0.08  # relative width within which the worst place is looked for
CLOSE_ROUND = (
    0.004  # the same where a limit is to be proven on a half-line: few places are asked
)
BENT = (
    0.4  # share of a box's bound that may come from its size before its corners are looked at
)
BETTER = 1e-3  # relative: less is not worth another turn of a box
CORNERS = 60  # places looked at; what is left open stays in the bound
SLICES = 2000  # for the probability near a place
BOXES = 1500  # looked at, for the same reason
# Of a number, where cells end in which a likelihood is bounded.
LEVELS = np.unique([0, *np.linspace(0, 1, 31)[1:-1], *expit(np.linspace(-25, 25, 21)), 1])
LOOSE = 1 + 1e-9  # rounding of a slope
KINK = 0.01  # of the largest jump of a density: places where an end of the goal meets one that large are cut


def change(log_p: Any, log_q: Any, gain: Any, direction: Direction) -> Array:
    """The belief after a gain, or how far it moves."""
    value = posterior_of if direction == "posterior" else advantage_of
    return np.abs(value(log_p, log_q, gain))


def judged(engine: JointBounds, epsilon: float, direction: Direction, *, attack: bool) -> float:
    """What an engine's attack reaches, or what its bound says that nothing exceeds."""
    prior = engine.prior()
    gain = engine.gain(-epsilon if direction == "fall" else epsilon, attack)[not attack]
    return float(change(prior.log_p, prior.log_q, gain, direction))


@dataclass(frozen=True, eq=False)
class PlaceAxis:
    """One number: the range of its true values, and bounds of its density."""

    prior: LinePrior
    radius: float
    slope: float  # of the distance
    low: float
    high: float
    beyond: float  # belief in a side of the goal further out, at most
    knots: Array
    bounds: tuple[Array, Array, Array]  # in the cells between knots, and jumps at the knots

    @classmethod
    def of(cls, attribute: Attribute, radius: float, epsilon: float) -> PlaceAxis:
        """The bounds along one number that `is_known`."""
        prior, form = attribute.prior, attribute.distance.line_form
        assert isinstance(prior, LinePrior)
        assert form is not None
        slope, (first, last) = max(form.slopes), prior.support
        straight, goal = LineForm(slopes=(slope,)), Within(attribute, radius)
        search = WorstSearch(prior, straight, goal, *attribute.range)
        low, high, beyond = search.range_of(epsilon, "rise")
        outer = np.linspace(max(low - radius, first), min(high + radius, last), CELLS // 4)
        bulk = np.linspace(prior.quantile(FAR), prior.quantile(FAR, True), CELLS)
        knots = np.unique(np.concatenate([bulk, outer, prior.breaks, prior.support]))
        knots = knots[np.isfinite(knots)]
        middle, ends = prior.mirror, attribute.range
        is_even = np.all(np.isinf(ends)) or sum(ends) == 2 * (middle or 0.0)
        if middle is not None and form.is_straight and is_even:
            low = middle  # places on both sides of the middle are alike
        bounds = _densities(prior, knots)
        return cls(prior, radius, slope, low, high, beyond, knots, bounds)

    def edge(self, low: float, high: float) -> Array:
        """In an interval the density and the size of its derivative at most, and the sum of its jumps."""
        first = int(np.searchsorted(self.knots, low, side="right"))
        last = int(np.searchsorted(self.knots, high))
        cells, (top, steep, jump) = slice(max(first - 1, 0), last), self.bounds
        most = [np.max(x[cells], initial=0.0) for x in (top, steep)]
        return np.array([*most, np.sum(jump[first:last])])

    @cached_property
    def cells(self) -> Array:
        """Ends of cells in which a likelihood is bounded."""
        return self.prior.quantile(LEVELS)

    def furthest(self, points: Sequence[float]) -> tuple[Array, Array]:
        """How far each of a few cells lies from some points at most, one row for each; and their masses."""
        gaps = np.abs(self.cells - np.reshape(points, (-1, 1)))
        far = self.slope * np.maximum(gaps[:, 1:], gaps[:, :-1])
        return far, np.diff(LEVELS)

    @cached_property
    def kinks(self) -> Array:
        """PlaceBoxes where an end of the goal meets a jump of the density."""
        top, _, jump = self.bounds
        jumps = self.knots[jump > KINK * np.max(top)]
        return np.concatenate([jumps - self.radius, jumps + self.radius])

    def cut(self, low: float, high: float) -> float:
        """Where to divide a side: at a kink, else in the middle."""
        middle = 0.5 * (low + high)
        inside = self.kinks[(self.kinks > low) & (self.kinks < high)]
        return float(inside[np.argmin(np.abs(inside - middle))]) if inside.size else middle


def is_known(attribute: Attribute) -> bool:
    """Whether density and distance of a number are of the kinds that places are searched for."""
    prior, form = attribute.prior, attribute.distance.line_form
    if not isinstance(prior, LinePrior) or joint_of(attribute) is not None or form is None:
        return False
    smooth = not form.step and not any(form.jumps) and 0 < max(form.slopes) < np.inf
    return smooth and (prior.is_log_concave or prior.is_log_linear)


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
class PlaceBoxes:
    """All places of two numbers; `radii` say how far correct guesses lie from the true value of each."""

    attributes: Mapping[str, Attribute]
    goal: Goal
    norm: Norm
    radii: tuple[float, ...]
    is_box: bool
    is_round: bool  # places equally far from the middle are alike: a half-line stands for all
    engines: dict[Place, JointBounds | None] = field(
        default_factory=dict[Place, JointBounds | None]
    )

    @classmethod
    def of(
        cls, attributes: Mapping[str, Attribute], goal: Goal, norm: Norm
    ) -> PlaceBoxes | None:
        """None where boxes of places cannot be bounded, or the product rule is sharp."""
        radii, is_box = dict[str, float](), not (isinstance(goal, Near) and goal.by != "linf")
        if isinstance(goal, Near):
            radii = {a.name: goal.radius for a in goal.members}
        elif isinstance(goal, And):
            for part in goal.parts:
                if not isinstance(part, Within) or part.radius is None:
                    return None
                radii[part.attribute.name] = part.radius
            radii = radii if len(radii) == len(goal.parts) else {}
        members = {name: attributes[name] for name in radii}
        known = all(map(is_known, members.values()))
        if len(radii) != 2 or (norm == "l1" and is_box) or not known:
            return None
        (one, two), is_round = members.values(), False
        prior, disc = one.prior, isinstance(goal, Near) and goal.by == norm == "l2"
        if disc and isinstance(prior, Normal) and prior == two.prior:
            alike = one.metric == two.metric and one.scale == two.scale
            is_round = alike and all(x.range[0] <= prior.mean <= x.range[1] for x in (one, two))
        if is_round:
            members = {name: replace(a, bounds=None) for name, a in members.items()}
        return cls(members, goal, norm, tuple(radii.values()), is_box, is_round)

    @property
    def priors(self) -> list[LinePrior]:
        """The priors of both numbers."""
        return [a.prior for a in self.attributes.values() if isinstance(a.prior, LinePrior)]

    @property
    def middle(self) -> Place:
        """The place nearest to all medians."""
        ends = [a.range for a in self.attributes.values()]
        medians = [float(prior.quantile(0.5)) for prior in self.priors]
        return tuple(float(np.clip(x, *of)) for x, of in zip(medians, ends, strict=True))

    def at(self, place: Place, epsilon: float, aim: Direction) -> float:
        """What no likelihood exceeds at one place, by few cells; infinite where it cannot be true."""
        if place not in self.engines:
            truth = dict(zip(self.attributes, place, strict=True))
            try:
                question = JointAttack(self.attributes, truth, self.norm)
                finer = 1.0 if self.is_round else COARSE
                engine = JointBounds(question, self.goal, finer)
                engine._once("prior", partial(self._before, place))  # pyright: ignore[reportPrivateUsage]
                self.engines[place] = engine
            except TrueValueError:
                self.engines[place] = None
        engine = self.engines[place]
        return np.inf if engine is None else judged(engine, epsilon, aim, attack=False)

    def _before(self, place: Place) -> BeliefShift:
        """The probability of the goal at one place, by slices along the first number."""
        (one, two), (x, y) = self.priors, place
        edge = np.sin(np.linspace(-np.pi / 2, np.pi / 2, SLICES + 1)) * self.radii[0]
        middle = np.abs(0.5 * (edge[1:] + edge[:-1]))
        by = self.goal.by if isinstance(self.goal, Near) else "linf"
        reach = self.radii[1] * other_side(by, 1.0, middle / self.radii[0])
        mass = one.mass(x + edge[:-1], x + edge[1:]) @ two.mass(y - reach, y + reach)
        with np.errstate(divide="ignore"):
            return BeliefShift(float(np.log(mass)), float(np.log1p(-mass)))

    def worst(self, epsilon: float, aim: Direction, enough: float = 0.0) -> PlaceFound:
        """Return what no place exceeds; where `enough` is given, no closer than to show that it is kept or not."""
        members = zip(self.attributes.values(), self.radii, strict=True)
        axes = [PlaceAxis.of(attribute, radius, epsilon) for attribute, radius in members]
        if self.is_round:
            axes[1] = replace(axes[1], high=axes[1].low)
        low, high = (np.array([getattr(axis, end) for axis in axes]) for end in ("low", "high"))
        place, seen = self.middle, dict[Place, float]()
        value, far = self.at(place, epsilon, aim), max(axis.beyond for axis in axes)

        @cache
        def first(place: Place) -> float:
            sides = np.array(place) - self.radii, np.array(place) + self.radii
            mass = np.exp(self._before(place).log_p)
            return float(mass * self._likelihood(axes, *sides, epsilon, aim)[0])

        def between(a: Array, b: Array, bends: Array) -> float:
            corners = max(seen.get(place) or first(place) for place in _corners(a, b))
            return corners + float(np.sum(bends))

        def bounded(a: Array, b: Array, top: float) -> Box:
            whole, bends = self._limits(axes, a, b, epsilon, aim)
            return -min(top, whole, between(a, b, bends)), next(tickets), a, b, bends

        tickets = count()
        boxes, close = (
            [bounded(low, high, 1.0)],
            CLOSE_ROUND if self.is_round and enough else CLOSE,
        )
        for _ in range(BOXES):
            top, kept = -boxes[0][0], max(far, enough, value * (1 + close))
            if top <= kept or value > enough > 0 or len(seen) >= CORNERS:
                break
            _, _, a, b, bends = heappop(boxes)
            corners = [place for place in _corners(a, b) if place not in seen]
            if np.sum(bends) <= BENT * top:
                for corner in corners:
                    seen[corner] = min(self.at(corner, epsilon, aim), first(corner))
                    if seen[corner] > value:
                        value, place = seen[corner], corner
            found = between(a, b, bends)
            if found < top * (1 - BETTER):
                heappush(boxes, (-found, next(tickets), a, b, bends))
                continue
            i = int(np.argmax(bends))
            one, two = b.copy(), a.copy()
            one[i] = two[i] = axes[i].cut(float(a[i]), float(b[i]))
            heappush(boxes, bounded(a, one, top))
            heappush(boxes, bounded(two, b, top))
        return PlaceFound(min(max(far, -boxes[0][0]), 1.0), place, value)

    def _limits(
        self, axes: list[PlaceAxis], low: Array, high: Array, epsilon: float, aim: Direction
    ) -> tuple[float, Array]:
        """What no place in a box exceeds, without asking any engine; and how much its size adds along each number."""
        start, end, width = low - self.radii, high + self.radii, high - low
        sides = list(zip(axes, start.tolist(), end.tolist(), strict=True))
        mass = np.array([float(axis.prior.mass(a, b)) for axis, a, b in sides])
        gained, most, change = self._likelihood(axes, start, end, epsilon, aim)
        # Each end of a box moves along one number alone; that of another shape may lie anywhere.
        inner = (high - self.radii, low + self.radii) if self.is_box else (end, start)
        lower, upper = (start, inner[0]), (inner[1], end)
        top, steep, jumps = np.sum(
            [[axes[i].edge(a[i], b[i]) for i in (0, 1)] for a, b in (lower, upper)], axis=0
        ).T
        with np.errstate(over="ignore", invalid="ignore"):
            rates = epsilon * np.array([axis.slope for axis in axes])
            curve = width**2 / 8 * (rates * most * top + change * steep)
            bends = mass[::-1] * (curve + width / 4 * change * jumps)
            whole = min(1.0, float(np.prod(mass) * gained))
        return whole, np.where(width > 0, np.nan_to_num(bends, nan=np.inf, posinf=np.inf), 0.0)

    def _likelihood(
        self, axes: list[PlaceAxis], low: Array, high: Array, epsilon: float, aim: Direction
    ) -> tuple[float, float, float]:
        """By what share of it a belief changes at most; a likelihood's largest value and change from 1, in a box."""
        reach = combine(self.norm, [a.slope * x for a, x in zip(axes, high - low, strict=True)])
        with np.errstate(over="ignore", divide="ignore"):
            spread = float(np.exp(epsilon * reach))
            if aim == "fall":
                return 1.0, spread, max(spread - 1, 1.0)
            points, loose = np.transpose([low, high]), 1.0
            if not all(axis.prior.is_log_concave for axis in axes):
                points, loose = np.mean(points, axis=1), spread**0.5
            one, two = (a.furthest(x) for a, x in zip(axes, points, strict=True))
            far = combine(self.norm, [one[0][:, None, :, None], two[0][:, None]])
            mean = np.einsum("i,abij,j", one[1], np.exp(-epsilon * far), two[1])
            most = float(loose / np.min(mean))
        return (
            (most, most, most)
            if aim == "posterior"
            else (most - 1, most, max(most - 1, 1 - 1 / spread))
        )


def _corners(low: Array, high: Array) -> list[Place]:
    return list(product(*zip(low.tolist(), high.tolist(), strict=True)))
