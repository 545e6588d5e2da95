"""The worst true value: a supremum over t, certified by branch and bound.

G(t) = [lo(t), hi(t)] has both ends rising in t. For all t in [t₁, t₂] the goal lies inside [lo(t₁), hi(t₂)] and
holds [lo(t₂), hi(t₁)], so beliefs after the release are at most those in the larger goal and beliefs before at
least those in the smaller one. Boxes whose bound cannot beat the best t found so far are dropped, others halved.

That bound is of first order. The derivative makes it one of second order: by the envelope theorem the best tent L
may be held fixed, so the belief changes by f(hi)·hi'·L(hi)/Z − f(lo)·lo'·L(lo)/Z with Z = ∫Lf. The peak c rises
with t (at a fixed c the left ratio A/C falls and the right ratio B/D rises), and ln Z is ε-Lipschitz in c, which
encloses the derivative over a box from its two ends. A box on which it keeps its sign is settled by one end.
A step w multiplies the odds by e^w, and the belief's derivative by e^w/(1 + P·(e^w − 1))² where P is the belief
without it.

Of a goal that is narrow against the prior all true values give nearly the same, and so do both bounds, unless boxes
are as narrow as the goal. Such boxes have a bound of their own. A true value moved by δ is a prior moved by δ, that
is, a prior times f(x+δ)/f(x); where the slope of ln f changes by at most κ per unit, the logarithm of this factor is
κδ-Lipschitz and the factor joins the likelihood: no true value within δ gives more than the middle does at ε + κδ.

The last box on an infinite side needs an argument of its own:
- light tails (normal): by log-concavity ∫_lo^∞ e^{k(x−lo)}f / ∫_{−∞}^lo e^{−k(lo−x)}f falls in lo, and bounds the odds;
- memoryless tails (exponential, Laplace) and a fixed radius: the belief itself falls in t from there on;
- where ψ bends or jumps, both arguments hold beyond its last bend, with the complement before it forgotten.
A falling belief cannot lose more than the prior of everything beyond. Other tails are not certified.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from guessproof.errors import NotCertifiedError
from guessproof.risk.capped import best_mountains
from guessproof.risk.capped_truths import ratios_of_hills
from guessproof.risk.limits import advantage_of, posterior_of
from guessproof.risk.tabled_tents import tabled_tents
from guessproof.risk.tent import Tents, TiltedIntegrals, best_tents, log_prior
from guessproof.world.checks import Array
from guessproof.world.line import LinePrior
from guessproof.world.line_form import LineForm

Range = tuple[Array, Array]
Direction = Literal["rise", "fall", "posterior"]  # what is to be as large as possible

_BOXES = 600_000  # asked in all; a narrow goal needs as many as go into the range of true values
_PATIENCE = ((150_000, 1e-6), (250_000, 1e-4), (400_000, 1e-3))  # after so many boxes, which share may be left open
_MOST_KINKS = 40  # a histogram of more intervals is cut at its quantiles only
_PARTS, _AT_ONCE = 16, 1024  # into how many parts a box is cut at most, and about how many points are asked at once
_CLOSE = np.geomspace(1e-5, 1.0, 96)  # in how many steps boxes narrow towards where the worst value seems to lie
_ZOOMS, _CLOSER = 3, 128  # looks for a worst value, and points of each: long questions cost little


@dataclass(frozen=True)
class Worst:
    """The best true value found for the attacker, what it gives, and what no true value exceeds."""

    at: float
    value: float
    bound: float
    prior: float


@dataclass(frozen=True)
class TruthSearch:
    """A goal whose true value ranges over `low` … `high`."""

    prior: LinePrior
    form: LineForm
    edges: Callable[[Array], tuple[Array, Array]]
    low: float
    high: float
    fixed_radius: bool
    by_tables: bool = False  # whether beliefs may be told to a millionth of a millionth only, and sooner

    @cached_property
    def sharp(self) -> bool:
        """Whether the density's range is known, and with it the derivative's: else boxes shrink at first order."""
        return bool(np.isfinite(self.prior.density_range(*self.prior.quantile([0.25, 0.75]))[1]))

    @property
    def half(self) -> TruthSearch:
        """The same over the true values on one side, where all on the other have a mirror image that gives the same."""
        centre = self.prior.mirror
        if centre is None or not self.fixed_radius or not self.low < centre < self.high:
            return self
        if not self.form.is_even_around(centre):
            return self
        return replace(self, low=centre) if self.high - centre >= centre - self.low else replace(self, high=centre)

    def pace(self, t1: Array, t2: Array) -> tuple[Array, Array]:
        """How fast the edges of a goal move with the true value, between two of one sign."""
        if self.fixed_radius:
            return np.ones_like(t1), np.ones_like(t1)
        lo, hi = self.edges(np.asarray(1.0))
        after = 0.5 * t1 + 0.5 * t2 >= 0
        return np.where(after, lo, hi), np.where(after, hi, lo)

    def truths_with_edges_at(self, places: Array) -> Array:
        """True values whose goals begin or end at some places, and where edges change their pace."""
        if self.fixed_radius:
            lo, hi = self.edges(np.asarray(0.0))
            return np.concatenate([places - lo, places - hi])
        return np.concatenate([*(places / edge for edge in self.edges(np.asarray(1.0))), [0.0]])

    @cached_property
    def moves_forwards(self) -> bool:
        """Whether both edges move the way the true value does."""
        return self.fixed_radius or float(self.edges(np.asarray(1.0))[0]) > 0

    @cached_property
    def last_tents(self) -> dict[str, tuple[float, Array, Range, Tents]]:
        """The tents that raise beliefs most, of the ε and the true values that were asked about last."""
        return {}

    @cached_property
    def last_kinks(self) -> dict[tuple[float, float], Array]:
        """Where the slope changes at once, between ends for which that was looked for."""
        return {}

    def tents(
        self,
        lo: Array,
        hi: Array,
        epsilon: ArrayLike,
        direction: Direction,
        before: tuple[Array, Array] | None = None,
        guess: Array | None = None,
    ) -> Tents:
        """The best likelihoods for each goal [lo, hi], and what they gain with the step."""
        k = _signed(epsilon, direction)
        step = k * self.form.step
        if self.form.is_flat:
            flat = np.broadcast_to(step, lo.shape)
            return Tents(flat, flat, lo, np.zeros(lo.shape))
        if np.isfinite(self.form.cap):
            hills = best_mountains(self.prior, self.form, lo, hi, k, before, guess)
            return Tents(hills.attack + step, hills.bound + step, lo, hills.log_z, hills.hill)
        if self.by_tables and direction != "fall":
            before = log_prior(self.prior, lo, hi) if before is None else before
            found = tabled_tents(TiltedIntegrals(self.prior, self.form), lo, hi, k, before, guess)
        else:
            found = best_tents(self.prior, self.form, lo, hi, k, before, guess)
        return replace(found, attack=found.attack + step, bound=found.bound + step)

    def gain(
        self, lo: Array, hi: Array, epsilon: ArrayLike, direction: Direction, before: tuple[Array, Array] | None = None
    ) -> tuple[Array, Array]:
        """(attack, bound) of the signed gain for each goal [lo, hi]."""
        found = self.tents(lo, hi, epsilon, direction, before)
        return found.attack, found.bound

    def box(self, t1: Array, t2: Array, epsilon: ArrayLike, direction: Direction) -> Array:
        """What no true value in [t1, t2] exceeds."""
        (lo1, hi1), (lo2, hi2) = self.edges(t1), self.edges(t2)
        outer, inner = (lo1, hi2), (lo2, np.maximum(hi1, lo2))
        with np.errstate(invalid="ignore"):
            log_big, log_rest = log_prior(self.prior, *outer)
            small = self.prior.mass(*inner)
        if direction == "fall":
            ok = inner[1] > inner[0]
            lo, hi = np.where(ok, inner[0], outer[0]), np.where(ok, inner[1], outer[1])
            log_p, log_q = log_prior(self.prior, lo, hi)
            _, bound = self.gain(lo, hi, epsilon, direction, (log_p, log_q))
            least = np.where(ok, posterior_of(log_p, log_q, bound), 0.0)
            return np.exp(log_big) - least
        certain = np.isneginf(log_rest)
        _, bound = self.gain(*outer, epsilon, direction, (log_big, log_rest))
        most = np.where(certain, 1.0, posterior_of(log_big, log_rest, np.where(certain, 0.0, bound)))
        return most if direction == "posterior" else most - small

    @cached_property
    def reach(self) -> float:
        """From the middle of a goal to its edge."""
        lo, hi = self.edges(np.asarray(self.prior.quantile(0.5)))
        return float(hi - lo) / 2

    @cached_property
    def bend(self) -> float:
        """What moving the true value by 1 adds to ε at most; inf where a move is no move of the prior."""
        moves = self.fixed_radius and self.form.is_straight and not self.form.is_flat and np.isinf(self.form.cap)
        return self.prior.bend / self.form.slopes[0] if moves and self.prior.is_log_concave else np.inf

    def moved(self, t1: Array, t2: Array, epsilon: ArrayLike, direction: Direction) -> Array:
        """What no true value in [t1, t2] exceeds: what its middle gives at the ε that a move there adds up to."""
        middle = 0.5 * t1 + 0.5 * t2
        more = (1 + 1e-12) * self.bend * np.maximum(middle - t1, t2 - middle)
        lo, hi = self.edges(middle)
        before = log_prior(self.prior, lo, hi)
        gain = best_tents(self.prior, self.form, lo, hi, np.asarray(epsilon) + more, before).bound
        belief = posterior_of(*before, gain + np.asarray(epsilon) * self.form.step)
        if direction == "posterior":
            return belief
        # Under a log-concave prior a window of one width holds least at an end of the box.
        return belief - np.minimum(*(self.prior.mass(*self.edges(t)) for t in (t1, t2)))

    def tails(self, epsilon: float, direction: Direction) -> tuple[float, float, float]:
        """A finite range of true values, and a bound on what lies beyond it."""
        low, high = self.low, self.high
        beyond = 0.0
        for side in (0, 1):
            end = (low, high)[side]
            if np.isfinite(end):
                continue
            kind = self.prior.tails[side]
            if kind not in ("light", "memoryless"):
                raise NotCertifiedError(
                    "the worst true value may lie at infinity and this prior's tail is not known; "
                    "give the attribute bounds=(low, high), or a true value with at={…}"
                )
            t, bound = self._cut(side, kind, epsilon, direction)
            low, high = (t, high) if side == 0 else (low, t)
            beyond = max(beyond, bound)
        return low, high, beyond

    def _cut(self, side: int, kind: str, epsilon: float, direction: Direction) -> tuple[float, float]:
        """Where the finite range may end, far enough out that what lies beyond is small or constant."""
        middle = float(self.prior.quantile(0.5))
        far = 1e-9 if kind == "memoryless" else 1e-13
        t = float(self.prior.quantile(far if side == 0 else 1 - far))
        bound = self.beyond(t, side, kind, epsilon, direction)
        for _ in range(60):
            if bound <= 1e-12 or (kind == "memoryless" and bound < 1):
                break
            t = middle + 1.5 * (t - middle)
            bound = self.beyond(t, side, kind, epsilon, direction)
        return t, bound

    def beyond(self, t: float, side: int, kind: str, epsilon: float, direction: Direction) -> float:
        """What no true value beyond t exceeds."""
        found = self._beyond_uncapped(t, side, kind, epsilon, direction)
        if direction == "fall" or np.isinf(self.form.cap):
            return found
        edge = float(self.edges(np.asarray(t))[1 - side])
        log_p, log_q = log_prior(self.prior, *((-np.inf, edge) if side == 0 else (edge, np.inf)))
        return min(found, float(posterior_of(log_p, log_q, epsilon * (self.form.cap + self.form.step))))

    def _beyond_uncapped(self, t: float, side: int, kind: str, epsilon: float, direction: Direction) -> float:
        """The same, whatever the cap is."""
        lo, hi = (float(e) for e in self.edges(np.asarray(t)))
        edge = hi if side == 0 else lo
        if direction == "fall":
            rest = (-np.inf, edge) if side == 0 else (edge, np.inf)
            return float(self.prior.mass(*rest))
        if not self.form.is_straight:
            return self._beyond_bends(t, edge, side, kind, epsilon, direction)
        if self.forgets(t, side, direction):
            return float(self.beyond_forgotten(t, np.asarray(epsilon), direction))
        world, k = TiltedIntegrals(self.prior, self.form), np.asarray(epsilon if side == 1 else -epsilon)
        here = np.asarray(edge)
        out, back = ((here, np.inf), (-np.inf, here)) if side == 1 else ((-np.inf, here), (here, np.inf))
        gain = world.log_tilt(k, np.asarray(out[0]), np.asarray(out[1]), here)
        rest = world.log_tilt(k, np.asarray(back[0]), np.asarray(back[1]), here)
        return float(posterior_of(gain, rest, epsilon * self.form.step))

    def forgets(self, t: ArrayLike, side: int, direction: Direction) -> NDArray[np.bool_]:
        """Whether the goal of t lies beyond the last break of a tail without memory: beliefs only fall from there."""
        straight = self.form.is_straight and self.fixed_radius and self.prior.is_log_concave
        if not straight or direction == "fall" or self.prior.tails[side] != "memoryless":
            return np.zeros(np.shape(t), dtype=bool)
        breaks = [x for x in (*self.prior.support, *self.prior.breaks) if np.isfinite(x)]
        edge = self.edges(np.asarray(t))[1 - side]
        return edge >= max(breaks) if side == 1 else edge <= min(breaks)

    def beyond_forgotten(self, t: ArrayLike, epsilon: Array, direction: Direction) -> Array:
        """What no true value beyond t exceeds in such a tail, at several ε: the belief after at t itself."""
        lo, hi = (np.broadcast_to(e, epsilon.shape) for e in self.edges(np.asarray(t)))
        log_p, log_q = log_prior(self.prior, lo, hi)
        _, bound = self.gain(lo, hi, epsilon, direction)
        return posterior_of(log_p, log_q, bound)

    def in_tails(self, left: Ends, right: Ends, direction: Direction) -> Array:
        """What boxes in a memoryless tail do not exceed: a belief after is highest at their nearer end; inf elsewhere.

        Farther out by δ, what lies in and beyond the goal weighs e^{−rδ} times as much, r being the tail's rate. Of a
        log-concave prior everything before it weighs at least that, so that correct guesses lose.
        """
        bound = np.full(left.t.shape, np.inf)
        if direction == "fall" or not (self.fixed_radius and self.form.is_straight and self.prior.is_log_concave):
            return bound
        breaks = [x for x in (*self.prior.support, *self.prior.breaks) if np.isfinite(x)]
        for side, near in ((0, right), (1, left)):
            if self.prior.tails[side] == "memoryless":
                edge = self.edges(near.t)[1 - side]
                outside = (edge >= max(breaks)) if side == 1 else (edge <= min(breaks))
                after = near.bound if direction == "posterior" else near.bound + near.prior
                bound = np.where(outside, np.minimum(bound, after), bound)
        return bound

    def _beyond_bends(self, t: float, edge: float, side: int, kind: str, epsilon: float, direction: Direction) -> float:
        """Beyond the last bend ψ is straight; forgetting the complement on its other side only raises beliefs."""
        bend = self.form.cuts[-1 if side == 1 else 0]
        if (edge <= bend) if side == 1 else (edge >= bend):
            return 1.0
        straight = LineForm(slopes=(self.form.slopes[-1 if side == 1 else 0],), step=self.form.step)
        ends = (bend, np.inf) if side == 1 else (-np.inf, bend)
        outside = replace(self, prior=self.prior.given(*ends), form=straight)
        return outside.beyond(t, side, kind, epsilon, direction)


def _signed(epsilon: ArrayLike, direction: Direction) -> Array:
    """k = +ε for the largest belief, −ε for the smallest."""
    return (-1.0 if direction == "fall" else 1.0) * np.asarray(epsilon)


def _of(epsilon: ArrayLike, which: Any) -> Array:
    """The ε of some boxes: one for all, or one for each."""
    epsilon = np.asarray(epsilon)
    return epsilon[which] if epsilon.ndim else epsilon


def _measure(log_p: Array, log_q: Array, gain: Array, direction: Direction) -> Array:
    if direction == "posterior":
        return posterior_of(log_p, log_q, gain)
    return np.abs(advantage_of(log_p, log_q, gain))


def worst_true_value(goal: TruthSearch, epsilon: float, direction: Direction, near: float | None = None) -> Worst:
    """The supremum over true values, to an absolute tolerance unless the box limit is reached first.

    `near` is where it seems to lie: boxes are narrow there from the start.
    """
    if epsilon == 0 and direction != "posterior":
        middle = np.clip(goal.prior.quantile(0.5), goal.low, goal.high)
        return Worst(float(middle), 0.0, 0.0, float(goal.prior.mass(*goal.edges(middle))))
    low, high, beyond = goal.tails(epsilon, direction)
    tolerance = 1e-10 if goal.sharp else 1e-3
    points = first_points(goal, low, high)
    if near is not None:
        points = np.union1d(points, _around(near, points))
    ends = _first_ends(goal, points, epsilon, direction)
    left, right = ends.pick(slice(None, -1)), ends.pick(slice(1, None))
    best, settled = ends.best(), beyond
    if beyond > best.value:  # a supremum at infinity is approached slowly
        tolerance = max(tolerance, 1e-9)
    asked = 0
    for _ in range(70):
        some = goal.prior.mass(left.t, right.t) > 0  # a true value has to be possible
        left, right = left.pick(some), right.pick(some)
        low_slope, high_slope = slope_range(goal, left, right, epsilon, direction)
        one_end = (low_slope >= 0) | (high_slope <= 0)
        settled = max(settled, float(np.max(np.maximum(left.bound, right.bound)[one_end], initial=0.0)))
        left, right = left.pick(~one_end), right.pick(~one_end)
        if left.t.size == 0:
            break
        asked += left.t.size
        share = max((share for boxes, share in _PATIENCE if asked > boxes), default=0.0)
        tolerance = max(tolerance, share * best.value)
        enough = max(best.value, settled) + tolerance
        out_there = goal.in_tails(left, right, direction)
        done = out_there <= max(best.value, beyond) + tolerance
        settled = max(settled, float(np.max(out_there[done], initial=0.0)))
        left, right, slopes = left.pick(~done), right.pick(~done), [s[~one_end][~done] for s in (low_slope, high_slope)]
        bound = box_bound(goal, left, right, *slopes, epsilon, direction, enough)
        keep = bound > enough
        settled = max(settled, float(np.max(bound[~keep], initial=0.0)))
        left, right = left.pick(keep), right.pick(keep)
        if left.t.size == 0:
            break
        if asked > _BOXES or np.all(np.nextafter(left.t, np.inf) >= right.t):
            settled = max(settled, float(np.max(bound[keep])))
            break
        left, right, inner = _split(goal, left, right, epsilon, direction)
        best = max(best, inner.best(), key=lambda w: w.value)
    return Worst(best.at, best.value, max(settled, best.bound), best.prior)


def _first_ends(goal: TruthSearch, points: Array, epsilon: float, direction: Direction) -> Ends:
    """What the ends of the first boxes give: how far a belief rises and how high it gets come from the same tents."""
    known = goal.last_tents.get("tents")
    if known is None or direction == "fall" or known[0] != epsilon or not np.array_equal(known[1], points):
        edges = goal.edges(points)
        before = log_prior(goal.prior, *edges)
        known = epsilon, points, before, goal.tents(*edges, epsilon, direction, before)
        if direction != "fall":
            goal.last_tents["tents"] = known
    return Ends.of(goal, points, epsilon, direction, *known[2:])


def likely_worst(goal: TruthSearch, epsilon: float, direction: Direction, near: float | None = None) -> float:
    """Where the worst true value seems to lie, or the worst one near another: a quick look, not proven."""
    low, high, _ = goal.tails(epsilon, direction)
    t, zooms, guess = first_points(goal, low, high, 24), _ZOOMS, None
    best = float(t[0])
    if near is not None:
        reach = 0.02 * (t[-1] - t[0])
        t, zooms = np.clip(near + reach * np.linspace(-1, 1, _CLOSER + 1), low, high), _ZOOMS - 1
    for _ in range(zooms):
        ends = Ends.at(goal, t, epsilon, direction, guess)
        i = int(np.argmax(ends.value))
        best, before, after = (float(t[j]) for j in (i, max(i - 1, 0), min(i + 1, t.size - 1)))
        closer = np.unique(np.append(np.linspace(before, after, _CLOSER + 1), best))
        guess = None if np.isfinite(goal.form.cap) else np.interp(closer, t, ends.peak)
        t = closer
    return best


def first_points(goal: TruthSearch, low: float, high: float, most: int = 64) -> Array:
    """Ends of the first boxes: evenly over the range, over the bulk of the prior, and where a goal bends."""
    count = most if goal.sharp else 8
    bulk = np.clip(goal.prior.quantile(np.linspace(0.001, 0.999, 2 * count + 1)), low, high)
    return np.unique(np.concatenate([np.linspace(low, high, count + 1), bulk, _kinks(goal, low, high)]))


def _around(near: float, points: Array) -> Array:
    """Points around one, the further from it the further apart, until others are as near to each other."""
    low, high = float(points[0]), float(points[-1])
    i = int(np.searchsorted(points, near))
    step = float(points[min(i + 1, points.size - 1)] - points[max(i - 2, 0)])
    away = step * _CLOSE
    around = np.concatenate([near - away, [near], near + away])
    return around[(around >= low) & (around <= high)]


def _split(goal: TruthSearch, left: Ends, right: Ends, epsilon: float, direction: Direction) -> tuple[Ends, Ends, Ends]:
    """Every box cut into equal ones (few into many, as a long question costs little more than a short one)."""
    parts = int(np.clip(_AT_ONCE // left.t.size, 2, _PARTS))
    share = (np.arange(1, parts) / parts)[:, None]
    t = (1 - share) * left.t + share * right.t
    inner = Ends.at(goal, t.ravel(), epsilon, direction, left.guess(right, share))
    return left.join(inner), inner.join(right), inner


@dataclass(frozen=True)
class Ends:
    """True values, what they give the attacker, and the tent that gives it."""

    t: Array
    value: Array
    bound: Array
    prior: Array
    peak: Array
    log_z: Array
    plain: Array  # the belief without the step
    hill: Array  # of mountains, both pairs in rows (`capped`); of tents nothing

    @classmethod
    def at(
        cls, goal: TruthSearch, t: Array, epsilon: ArrayLike, direction: Direction, guess: Array | None = None
    ) -> Ends:
        """What these true values give; `guess` says where their tents about peak."""
        lo, hi = goal.edges(t)
        before = log_prior(goal.prior, lo, hi)
        return cls.of(goal, t, epsilon, direction, before, goal.tents(lo, hi, epsilon, direction, before, guess))

    @classmethod
    def of(
        cls, goal: TruthSearch, t: Array, epsilon: ArrayLike, direction: Direction, before: Range, tents: Tents
    ) -> Ends:
        """The same where the beliefs before and the tents are known."""
        log_p, log_q = before
        attack, bound = tents.attack, tents.bound
        pointless = np.isneginf(log_q) | np.isneginf(log_p)  # certain or empty at this true value
        attack, bound = np.where(pointless, 0.0, attack), np.where(pointless, 0.0, bound)
        gain = bound
        values = (_measure(log_p, log_q, gain, direction) for gain in (attack, bound))
        possible = goal.prior.log_density(t) > -np.inf
        attack, bound = (np.where(np.isnan(v), 0.0, v) for v in values)
        k = _signed(epsilon, direction)
        with np.errstate(invalid="ignore"):
            plain = posterior_of(log_p, log_q, gain - k * goal.form.step)
        value = np.where(possible, attack, -np.inf)
        hill = np.empty((t.size, 0)) if tents.hill is None else tents.hill
        plain = np.where(np.isnan(plain), 0.0, plain)
        return cls(t, value, bound, np.exp(log_p), tents.peak, tents.log_z, plain, hill)

    def guess(self, right: Ends, share: Array) -> Array:
        """Where the tents or mountains of true values between these and others about are, for each share of the way."""
        if self.hill.shape[1]:
            return np.concatenate([(1 - s) * self.hill + s * right.hill for s in share.ravel()])
        return ((1 - share) * self.peak + share * right.peak).ravel()

    def pick(self, which: Any) -> Ends:
        return Ends(*(getattr(self, f.name)[which] for f in fields(self)))

    def join(self, other: Ends) -> Ends:
        return Ends(*(np.concatenate([getattr(self, f.name), getattr(other, f.name)]) for f in fields(self)))

    def best(self) -> Worst:
        i = int(np.argmax(self.value))
        return Worst(float(self.t[i]), float(self.value[i]), float(self.bound[i]), float(self.prior[i]))


def slope_range(
    goal: TruthSearch, left: Ends, right: Ends, epsilon: ArrayLike, direction: Direction
) -> tuple[Array, Array]:
    """An enclosure of the derivative of what the attacker gets, over each box."""
    k = _signed(epsilon, direction)
    (lo1, hi1), (lo2, hi2) = goal.edges(left.t), goal.edges(right.t)
    with np.errstate(invalid="ignore", over="ignore", divide="ignore"):
        ratio_lo, ratio_hi = ratios_at_edges(goal, left, right, epsilon, direction)
        width = right.t - left.t
        upper, lower = goal.prior.density_range(hi1, hi2), goal.prior.density_range(lo1, lo2)
        flow_in = _times(upper, (hi2 - hi1) / width), _times(lower, (lo2 - lo1) / width)
        belief = _minus(_times(flow_in[0], *ratio_hi), _times(flow_in[1], *ratio_lo))
        factor = _step_factor(left, right, belief, k * goal.form.step)
        # What flows in at an edge raises the belief by L/Z there and the prior by 1: an infinite flow has one sign too.
        before = 0.0 if direction == "posterior" else 1.0
        net_hi, net_lo = (
            (ratio[0] * factor[0] - before, ratio[1] * factor[1] - before) for ratio in (ratio_hi, ratio_lo)
        )
        change = _minus(_times(flow_in[0], *net_hi), _times(flow_in[1], *net_lo))
        least, most = change if direction != "fall" else (-change[1], -change[0])
    return np.where(np.isnan(least), -np.inf, least), np.where(np.isnan(most), np.inf, most)


def ratios_at_edges(
    goal: TruthSearch, left: Ends, right: Ends, epsilon: ArrayLike, direction: Direction
) -> tuple[Range, Range]:
    """Enclosures of L/Z at the lower and at the upper edges, for all tents that peak between those of the two ends."""
    k, psi = _signed(epsilon, direction), goal.form.psi
    if np.isfinite(goal.form.cap):
        return ratios_of_hills(goal, left, right, k)
    (lo1, hi1), (lo2, hi2) = goal.edges(left.t), goal.edges(right.t)
    with np.errstate(invalid="ignore", over="ignore", divide="ignore"):
        log_z = _log_z_range(goal, left, right, epsilon)
        # Where a goal becomes certain its peak may be anywhere: the lower one need not be that of the left end.
        first, last = psi(np.minimum(left.peak, right.peak)), psi(np.maximum(left.peak, right.peak))
        climb_lo = k * (first - psi(lo2)), k * (last - psi(lo1))
        climb_hi = k * (psi(hi1) - last), k * (psi(hi2) - first)
        at_lo, at_hi = (
            (np.exp(-np.maximum(*climb) - log_z[1]), np.exp(-np.minimum(*climb) - log_z[0]))
            for climb in (climb_lo, climb_hi)
        )
    return at_lo, at_hi


def _log_z_range(goal: TruthSearch, left: Ends, right: Ends, epsilon: ArrayLike) -> Range:
    """ln Z over each box: it is ε-Lipschitz in the peak, which stays between the peaks of the two ends."""
    drift = np.asarray(epsilon) * np.abs(goal.form.psi(right.peak) - goal.form.psi(left.peak))
    return np.maximum(left.log_z, right.log_z) - drift, np.minimum(left.log_z, right.log_z) + drift


def _step_factor(left: Ends, right: Ends, slope: Range, step: ArrayLike) -> Range:
    """The range of e^w/(1 + P·(e^w − 1))² over a box, P being the belief without the step."""
    if not np.any(step):
        return np.ones(left.t.shape), np.ones(left.t.shape)
    room = (right.t - left.t) * np.maximum(np.abs(slope[0]), np.abs(slope[1]))
    beliefs = np.minimum(left.plain, right.plain) - room, np.maximum(left.plain, right.plain) + room
    ends = [np.exp(step) / (1 + np.clip(p, 0.0, 1.0) * np.expm1(step)) ** 2 for p in beliefs]
    return np.minimum(*ends), np.maximum(*ends)


def _times(x: Range, *by: Array) -> Range:
    """The range of a product with one number, or with anything between two."""
    ends = [a * b for a in x for b in by]
    return np.min(ends, axis=0), np.max(ends, axis=0)


def _minus(x: Range, y: Range) -> Range:
    return x[0] - y[1], x[1] - y[0]


def box_bound(
    goal: TruthSearch,
    left: Ends,
    right: Ends,
    low_slope: Array,
    high_slope: Array,
    epsilon: ArrayLike,
    direction: Direction,
    enough: ArrayLike = np.inf,
) -> Array:
    """The bound that follows from the derivative, and where it matters the smaller of it and the first-order one.

    The first-order bound is at least the larger belief after minus the smaller one before, of the two ends: boxes on
    which that says more than the derivative does, or more than `enough`, need not be asked.
    """
    width = right.t - left.t
    with np.errstate(invalid="ignore"):
        climb, drop = width * np.maximum(high_slope, 0.0), width * np.minimum(low_slope, 0.0)
        by_slope = np.minimum(left.bound + climb, right.bound - drop)
    bound = np.where(np.isnan(by_slope), np.inf, by_slope)
    least = np.maximum(left.bound, right.bound)
    if direction != "posterior":
        sign = 1 if direction == "rise" else -1
        least = np.maximum(left.bound + sign * left.prior, right.bound + sign * right.prior)
        least -= np.minimum(sign * left.prior, sign * right.prior)
    ask = np.flatnonzero((least < bound) & ((least <= enough) | np.isposinf(bound)))
    if ask.size:
        narrow = direction != "fall" and goal.bend * goal.reach < np.min(epsilon)
        look = goal.moved if narrow else goal.box
        bound[ask] = np.fmin(look(left.t[ask], right.t[ask], _of(epsilon, ask), direction), bound[ask])
    return bound


def _kinks(goal: TruthSearch, low: float, high: float) -> Array:
    """Where the slope changes at once: 0 for a percentage, where an edge of the goal meets a break of prior or ψ."""
    known = goal.last_kinks.get((low, high))
    if known is not None:
        return known
    breaks = np.array([x for x in (*goal.prior.support, *goal.prior.breaks, *goal.form.cuts) if np.isfinite(x)])
    below, above = np.full((2, breaks.size), low), np.full((2, breaks.size), high)
    for _ in range(60 if breaks.size <= _MOST_KINKS else 0):
        middle = 0.5 * below + 0.5 * above
        edges = goal.edges(middle)
        short = np.stack([edges[0][0], edges[1][1]]) < breaks
        below, above = np.where(short, middle, below), np.where(short, above, middle)
    found = np.concatenate([below.ravel(), above.ravel(), [0.0]])
    found = found[(found > low) & (found < high)]
    if (low, high) == (goal.low, goal.high):  # the same for every ε
        goal.last_kinks[low, high] = found
    return found
