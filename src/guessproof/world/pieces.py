"""One representation of every prior on a line: pieces with exact masses and log-linear models of the density.

Between two knots the density f is modelled by its chord, log-linear with slope s, scaled to the exact mass. δ is the
oscillation of ln(f/model) on the piece. Where ln L varies by at most w on a piece, its mean under f and its mean under
the model differ by a factor of at most e^{±τ} with

    τ = 4·artanh(tanh(w/4)·tanh(δ/4)) ≤ min(w, δ)        (theory §2)

so a belief computed with masses times e^{τ} in the goal and e^{−τ} outside bounds what any likelihood reaches. A piece
of width 0 is an atom. The two infinite tails are a mass each, with bounds of the hazard f/(mass further out).
δ is proven where it is known between which points ln f is concave or convex, and checked at samples elsewhere.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from guessproof.world.checks import Array, Mask, floats, quiet
from guessproof.world.finite import Finite
from guessproof.world.line import LinePrior

FITS = 6e-7  # how far ln of a mass may lie outside of what a checked density says
# A concave gap is at most 4/3 of the largest of its values at the three quarter points. What is more is a margin for
# densities of unknown curvature.
GAP_FACTOR = 2.0
STEADY = 0.995  # a hazard that falls by less than this between the last two levels does not tend to 0
MARGIN = 0.9  # of a falling hazard, what is counted on further out
INWARDS = 1e-3  # of a place in a tail: how far inwards a chord of ln f begins
# About how many standard deviations from the median of a normal prior pieces end, and the mass further out.
DEVIATIONS = 2 * np.sinh(np.linspace(0.0, np.arcsinh(18.0), 200))
LEVELS = 0.5 * np.exp(-0.8 * DEVIATIONS - 0.5 * DEVIATIONS**2)
TAILS = LEVELS[::10]  # at which a hazard is checked
QUARTERS = np.arange(1, 4) / 4


@dataclass(frozen=True)
class Tail:
    """Bounds of the hazard at every point beyond the outermost knot, and its limit at infinity."""

    low: float
    high: float
    limit: float

    def log_excess(self, k: Array) -> tuple[Array, Array]:
        """Bounds of ln E e^{kY}, Y the distance beyond the knot; +inf where it diverges or has no bound."""
        with quiet():  # by a hazard of 0 everything may lie at infinity
            slow, fast = (
                np.where(k < h, -np.log1p(-k / h), np.inf)
                for h in np.array([self.low, self.high])
            )
        low = np.where(k > self.limit, np.inf, fast)
        bounds = np.where(k > 0, [low, slow], [slow, fast])
        low, high = np.where(k == 0, 0.0, bounds)
        return low, high


@dataclass(frozen=True, eq=False)
class Pieces:
    """Pieces in order; `left` = `right` is an atom, −inf and +inf are the ends of the tails."""

    prior: LinePrior | Finite
    left: Array
    right: Array
    log_mass: Array
    slope: Array  # of the log-linear model
    osc: Array  # δ
    tails: tuple[Tail | None, Tail | None]
    proven: bool

    @cached_property
    def width(self) -> Array:
        """0 for tails."""
        with quiet():
            width = self.right - self.left
        return np.where(np.isfinite(width), width, 0.0)

    def cut(self, points: ArrayLike) -> Pieces:
        """Make every given point a knot."""
        if isinstance(self.prior, Finite):
            return self
        low, high = self.prior.support
        points, old = np.ravel(points), np.append(self.left, self.right[-1])
        knots = np.union1d(old, points[(points > low) & (points < high)])
        return self if knots.size == old.size else _at_knots(self.prior, knots)

    def halved(self, which: Mask) -> Pieces:
        """Divide some of the pieces; the tails stay whole."""
        middle = 0.5 * self.left[which] + 0.5 * self.right[which]
        return self.cut(middle[np.isfinite(middle)])

    def end_tilt(self, k: ArrayLike) -> tuple[Array, Array]:
        """Bounds of ln ∫ e^{k(x−end)} f over each piece, k broadcast against the pieces.

        `end` is the piece's left end, and of a tail its only finite one. The bounds are the model's integral
        times e^{±τ}, so they hold for the part of any likelihood.
        """
        k = floats(k)
        k = np.broadcast_to(k, np.broadcast_shapes(k.shape, self.left.shape))
        width = self.width
        mean = _log_mean((self.slope + k) * width) - _log_mean(self.slope * width)
        value = self.log_mass + mean
        tau = spread(np.abs(k) * width, self.osc)
        low, high = value - tau, value + tau
        for i, tail in zip((0, -1), self.tails, strict=True):
            if tail is not None:
                # A tail whose mass is 0 in doubles still outweighs everything where its tilt diverges.
                beyond = np.array(tail.log_excess(k[..., i] if i else -k[..., i]))
                with quiet():
                    whole = self.log_mass[i] + beyond
                low[..., i], high[..., i] = np.where(beyond == np.inf, np.inf, whole)
        return low, high


def spread(variation: Array, osc: Array) -> Array:
    """τ of the lemma: how far ln of a mean under f may be from that under the model.

    >>> spread(np.array([0.1, 0.1, 50.0]), np.array([0.04, np.inf, 0.04])).round(5).tolist()
    [0.001, 0.1, 0.04]
    """
    with quiet():
        exact = 4 * np.arctanh(np.tanh(variation / 4) * np.tanh(osc / 4))
    return np.minimum(np.minimum(variation, osc), exact)


def _log_mean(z: Array) -> Array:
    """ln((e^z − 1)/z), the logarithm of the mean of e^{zu} for u uniform on [0, 1]."""
    size = np.abs(z)
    with quiet():
        value = np.log(-np.expm1(-size) / size)
    return np.maximum(z, 0.0) + np.where(size > 0, value, 0.0)


def pieces_of(prior: LinePrior | Finite) -> Pieces:
    """Return the pieces of a prior; they are kept with it."""
    kept = vars(prior)
    if "_pieces" not in kept:
        atoms = isinstance(prior, Finite)
        kept["_pieces"] = _atoms(prior) if atoms else _at_knots(prior, _knots(prior))
    return kept["_pieces"]


def _atoms(prior: Finite) -> Pieces:
    some = prior.mass > 0
    points, log_mass, none = prior.points[some], np.log(prior.mass[some]), np.zeros(some.sum())
    return Pieces(prior, points, points, log_mass, none, none, (None, None), True)


def _knots(prior: LinePrior) -> Array:
    """First knots: ends, breaks, turns of curvature and quantiles (of straight log-densities only in a mixture)."""
    low, high = prior.support
    found = [np.array(prior.breaks)]
    for part, share in prior.weighted:
        found.append(np.array([*part.breaks, *(part.inflections or ())]))
        if share < 1 or not part.is_log_linear:
            found += [part.quantile(LEVELS), part.quantile(LEVELS, True)]
    points = np.unique(np.concatenate(found))
    inner = points[(points > low) & (points < high)]
    # Further out nothing is representable.
    inner = inner[(prior.mass(low, inner) > 0) & (prior.mass(inner, high) > 0)]
    return np.concatenate([[low], inner, [high]])


def _at_knots(prior: LinePrior, knots: Array) -> Pieces:
    """Pieces between rising knots: a log-sum of the parts' chords is convex, and each part stays close to its own."""
    left, right = knots[:-1], knots[1:]
    with quiet():
        log_mass = np.log(prior.mass(left, right))
        width = right - left
        ends = [np.where(np.isfinite(width), end, 0.0) for end in (left, right)]
        chords = [_chord(part, *ends) for part, _ in prior.weighted]
        lefts, rights, above, below = np.stack(chords, axis=1)
        share = np.log([share for _, share in prior.weighted])[:, None]
        start, end = (np.logaddexp.reduce(x + share, axis=0) for x in (lefts, rights))
        sags = [
            (1 - u) * start
            + u * end
            - np.logaddexp.reduce((1 - u) * lefts + u * rights + share, axis=0)
            for u in QUARTERS
        ]
        slope = (end - start) / width
        sag = GAP_FACTOR * np.maximum(np.max(sags, axis=0), 0.0)
    # A part that is infinite or 0 at one end only has no chord.
    usable = np.isfinite(slope) & np.all(np.isfinite(lefts) == np.isfinite(rights), axis=0)
    osc = np.where(usable, np.max(above, axis=0) + np.max(below, axis=0) + sag, np.inf)
    tails = _tail(prior, float(knots[1]), False), _tail(prior, float(knots[-2]), True)
    proven = all(part.inflections is not None for part, _ in prior.weighted)
    return Pieces(
        prior, left, right, log_mass, np.where(usable, slope, 0.0), osc, tails, proven
    )


def _chord(prior: LinePrior, left: Array, right: Array) -> tuple[Array, Array, Array, Array]:
    """ln f at both ends from inside, and how far ln f rises above and falls below its chord."""
    starts = prior.log_density(np.nextafter(left, right))
    ends = prior.log_density(np.nextafter(right, left))
    u = QUARTERS[:, None]
    gaps = prior.log_density(left + u * (right - left)) - ((1 - u) * starts + u * ends)
    above, below = GAP_FACTOR * np.fmax(np.max([gaps, -gaps], axis=1), 0.0)
    if prior.inflections is None:
        model = starts + _log_mean(ends - starts) + np.log(right - left)
        misses = np.abs(np.log(prior.mass(left, right)) - model) > above + below + FITS
        above = np.where(misses, np.inf, above)
    return starts, ends, above, below


def _tail(prior: LinePrior, knot: float, on_right: bool) -> Tail | None:
    """Bounds of the hazard beyond a knot on an infinite side: that of a mixture is a mean of the parts' hazards."""
    if np.isfinite(prior.support[on_right]):
        return None
    infinite = [part for part, _ in prior.weighted if np.isinf(part.support[on_right])]
    low, high, limit = zip(*(_hazard(part, knot, on_right) for part in infinite), strict=True)
    return Tail(min(low), max(high), min(limit))  # far out the slowest decay is left


def _hazard(prior: LinePrior, knot: float, on_right: bool) -> tuple[float, float, float]:
    """Bounds of the hazard beyond a knot, and its limit.

    The hazard lies within the range of −(ln f)′, which is monotone beyond the last turn of curvature: between its limit
    and a chord from inside.
    """
    side, limit = 1 if on_right else -1, prior.tail_rates[on_right]
    if prior.inflections is None:
        return _checked_hazard(prior, on_right)
    if prior.is_log_linear:
        return limit, limit, limit
    last = max((side * x for x in prior.inflections), default=-np.inf)
    inner = side * max(last, side * knot - INWARDS * abs(knot))
    with quiet():
        fall = prior.log_density(inner) - prior.log_density(knot)
        steep = float(fall / abs(knot - inner))
    if last > side * knot or not np.isfinite(steep):
        return 0.0, np.inf, limit
    return min(steep, limit), max(steep, limit), limit


def _checked_hazard(prior: LinePrior, on_right: bool) -> tuple[float, float, float]:
    """That of a density of unknown curvature, from its values at tail quantiles: checked, not proven."""
    with quiet():
        places = prior.quantile(TAILS, on_right)
        rates = np.exp(prior.log_density(places) - np.log(prior.cdf(places, on_right)))
    rates = rates[np.isfinite(places) & np.isfinite(rates) & (rates > 0)]
    if not rates.size or rates[-1] < STEADY * rates[-2:][0]:
        return 0.0, np.inf, 0.0
    return MARGIN * float(rates[-1]), np.inf, np.inf
