"""Where a true value may be, which goal belongs to it, and what bounds all true values between two, or beyond one.

G(t) = [lo(t), hi(t)] has both ends rising in t. For all t in [t₁, t₂] the goal lies inside [lo(t₁), hi(t₂)] and
holds [lo(t₂), hi(t₁)], so beliefs after the release are at most those in the larger goal and beliefs before at
least those in the smaller one.

Of a goal that is narrow against the prior all true values give nearly the same, and so does that bound, unless boxes
are as narrow as the goal. Such boxes have a bound of their own. A true value moved by δ is a prior moved by δ, that
is, a prior times f(x+δ)/f(x); where the slope of ln f changes by at most κ per unit, the logarithm of this factor is
κδ-Lipschitz and the factor joins the likelihood: no true value within δ gives more than the middle does at ε + κδ.

What lies beyond a true value on an infinite side needs an argument of its own:
- light tails (normal): by log-concavity ∫_lo^∞ e^{k(x−lo)}f / ∫_{−∞}^lo e^{−k(lo−x)}f falls in lo, and bounds the odds;
- memoryless tails (exponential, Laplace) and a fixed radius: the belief itself falls in t from there on;
- where ψ bends or jumps, both arguments hold beyond its last bend, with the complement before it forgotten.
A falling belief cannot lose more than the prior of everything beyond. Other tails are not certified.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from guessproof.errors import NotCertifiedError
from guessproof.risk.capped import best_mountains
from guessproof.risk.limits import posterior_of
from guessproof.risk.tabled_tents import tabled_tents
from guessproof.risk.tent import Tents, TiltedIntegrals, best_tents, log_prior
from guessproof.world.checks import Array
from guessproof.world.line import LinePrior
from guessproof.world.line_form import LineForm

Range = tuple[Array, Array]
Direction = Literal["rise", "fall", "posterior"]  # what is to be as large as possible

_NEAR = 1e-8  # of a gain: how far apart bound and attack of a mountain may stay, beside boxes that leave far more open


@dataclass(frozen=True)
class TruthSearch:
    """A goal whose true value ranges over `low` … `high`."""

    prior: LinePrior
    form: LineForm
    edges: Callable[[Array], tuple[Array, Array]]
    low: float
    high: float
    fixed_radius: bool
    by_tables: bool = False  # whether beliefs may be told to a millionth of a millionth (under a cap less), and sooner

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
        k = signed_rate(epsilon, direction)
        step = k * self.form.step
        if self.form.is_flat:
            flat = np.broadcast_to(step, lo.shape)
            return Tents(flat, flat, lo, np.zeros(lo.shape))
        if np.isfinite(self.form.cap):
            near = _NEAR if self.by_tables else 0.0
            hills = best_mountains(self.prior, self.form, lo, hi, k, before, guess, near)
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

    def _beyond_bends(self, t: float, edge: float, side: int, kind: str, epsilon: float, direction: Direction) -> float:
        """Beyond the last bend ψ is straight; forgetting the complement on its other side only raises beliefs."""
        bend = self.form.cuts[-1 if side == 1 else 0]
        if (edge <= bend) if side == 1 else (edge >= bend):
            return 1.0
        straight = LineForm(slopes=(self.form.slopes[-1 if side == 1 else 0],), step=self.form.step)
        ends = (bend, np.inf) if side == 1 else (-np.inf, bend)
        outside = replace(self, prior=self.prior.given(*ends), form=straight)
        return outside.beyond(t, side, kind, epsilon, direction)


def signed_rate(epsilon: ArrayLike, direction: Direction) -> Array:
    """k = +ε for the largest belief, −ε for the smallest."""
    return (-1.0 if direction == "fall" else 1.0) * np.asarray(epsilon)
