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
from numpy.typing import ArrayLike, NDArray

from guessproof.errors import NotCertifiedError
from guessproof.world.checks import Array, floats, quiet
from guessproof.world.finite import Finite
from guessproof.world.line import LinePrior, Mixture

TOLERANCE = 6e-7  # error of a belief that one piece may cause, for a rate of one per interquartile range
MOST_PIECES = 1500  # more cost too much time; only tails without a mean need more than 1,100
MOST_PARTS = 8  # of one piece in one round: oscillation is known too badly for more
COARSER = 4.0  # factor on the tolerance where there are too many pieces
ROUNDS = 40  # of splitting: each at least halves a piece
GAP_FACTOR = (
    4 / 3
)  # a concave gap is at most this times the largest of its values at the three quarter points
CHECKED_FACTOR = 2.0  # the same where curvature is unknown: a margin, not a proof
STEADY = 0.995  # a hazard that falls by less than this between the last two levels does not tend to 0
MARGIN = 0.9  # of a falling hazard, what is counted on further out
INWARDS = 1e-3  # of a place in a tail: how far inwards a chord of ln f begins
DECADES = 10.0 ** -np.concatenate(
    [np.arange(1.0, 20), np.arange(20.0, 300, 10)]
)  # tail quantiles at which pieces end
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
        """Make every given point a knot; masses of new pieces come from the prior."""
        if isinstance(self.prior, Finite):
            return self
        low, high = self.prior.support
        points, old = np.ravel(points), np.append(self.left, self.right[-1])
        knots = np.union1d(old, points[(points > low) & (points < high)])
        return self if knots.size == old.size else _at_knots(self.prior, knots, self)

    def split(self, parts: NDArray[np.int64]) -> Pieces:
        """Divide each piece into the given number of parts; the tails stay whole."""
        parts = np.where(self.width > 0, parts, 1)
        which = np.repeat(np.arange(parts.size), np.maximum(parts - 1, 0))
        share = (np.arange(which.size) - np.searchsorted(which, which) + 1) / parts[which]
        left, right = self.left[which], self.right[which]
        return self.cut(left + share * (right - left))

    def quantile(self, u: float) -> float:
        """About where probability u lies below: exact at knots, straight between them."""
        ends = np.append(self.left, self.right[-1])
        ends = np.where(np.isfinite(ends), ends, np.clip(ends, self.right[0], self.left[-1]))
        return float(np.interp(u, np.append(0.0, np.cumsum(np.exp(self.log_mass))), ends))

    def end_tilt(self, k: ArrayLike, *, at_left: bool) -> tuple[Array, Array]:
        """Bounds of ln ∫ e^{k(x−end)} f over each piece, k broadcast against the pieces.

        `end` is the piece's left or right end, and of a tail its only finite one. The bounds are the model's integral
        times e^{±τ}, so they hold for the part of any likelihood.
        """
        k = floats(k)
        k = np.broadcast_to(k, np.broadcast_shapes(k.shape, self.left.shape))
        width = self.width
        mean = _log_mean((self.slope + k) * width) - _log_mean(self.slope * width)
        value = self.log_mass + mean - (0.0 if at_left else k * width)
        tau = spread(np.abs(k) * width, self.osc)
        low, high = value - tau, value + tau
        for i, tail in zip((0, -1), self.tails, strict=True):
            if tail is not None:
                # A tail whose mass is 0 in doubles still outweighs everything where its tilt diverges.
                for side, excess in zip(
                    (low, high), tail.log_excess(k[..., i] if i else -k[..., i]), strict=True
                ):
                    with quiet():
                        whole = self.log_mass[i] + excess
                    side[..., i] = np.where(excess == np.inf, np.inf, whole)
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
        kept["_pieces"] = _atoms(prior) if atoms else _refined(_at_knots(prior, _knots(prior)))
    return kept["_pieces"]


def _atoms(prior: Finite) -> Pieces:
    some = prior.mass > 0
    points, log_mass, none = prior.points[some], np.log(prior.mass[some]), np.zeros(some.sum())
    return Pieces(prior, points, points, log_mass, none, none, (None, None), True)


def _knots(prior: LinePrior, mixed: bool = False) -> Array:
    """First knots: ends, breaks, turns of curvature and tail quantiles (of exponential tails only in a mixture)."""
    low, high = prior.support
    knots = [np.array([*prior.breaks, *(prior.inflections or ())])]
    if isinstance(prior, Mixture):
        knots += [_knots(part, True) for part in prior.parts]
    elif mixed or not prior.is_log_linear:
        places = [
            prior.quantile(DECADES),
            prior.upper_quantile(DECADES),
            prior.quantile(QUARTERS),
        ]
        found = np.concatenate(places)
        knots.append(found[np.isfinite(prior.log_density(found))])
    points = np.unique(np.concatenate(knots))
    inner = points[(points > low) & (points < high)]
    # Further out nothing is representable.
    inner = inner[(prior.mass(low, inner) > 0) & (prior.mass(inner, high) > 0)]
    return np.concatenate([[low], inner, [high]])


def _at_knots(prior: LinePrior, knots: Array, known: Pieces | None = None) -> Pieces:
    """Pieces between rising knots; those that `known` has are taken from it."""
    left, right = knots[:-1], knots[1:]
    fresh = np.ones(left.size, dtype=np.bool_)
    columns = np.empty((3, left.size))  # log mass, slope, δ
    if known is not None:
        at = np.searchsorted(known.left, left, side="right") - 1
        fresh = (known.left[at] != left) | (known.right[at] != right)
        columns[:, ~fresh] = np.stack([known.log_mass, known.slope, known.osc])[:, at[~fresh]]
    low, high = left[fresh], right[fresh]
    with quiet():
        finite = np.isfinite(high - low)
        starts, ends, above, below = _chords(
            prior, np.where(finite, low, 0.0), np.where(finite, high, 0.0)
        )
        slope = (ends - starts) / (high - low)
        usable = finite & np.isfinite(slope)
        osc = np.where(usable, above + below, np.inf)
        columns[:, fresh] = np.log(prior.mass(low, high)), np.where(usable, slope, 0.0), osc
    tails = _tail(prior, float(knots[1]), False), _tail(prior, float(knots[-2]), True)
    log_mass, slopes, osc = columns
    return Pieces(prior, left, right, log_mass, slopes, osc, tails, _is_proven(prior))


def _is_proven(prior: LinePrior) -> bool:
    if isinstance(prior, Mixture):
        return all(_is_proven(part) for part in prior.parts)
    return prior.inflections is not None


def _chords(prior: LinePrior, left: Array, right: Array) -> tuple[Array, Array, Array, Array]:
    """ln f at both ends from inside, and how far ln f rises above and falls below its chord."""
    if isinstance(prior, Mixture):
        return _mixed_chords(prior, left, right)
    # Where the density jumps, it is taken beside the knot.
    inside = [
        np.where(np.isin(x, prior.breaks), np.nextafter(x, to), x)
        for x, to in ((left, right), (right, left))
    ]
    apart = (right <= prior.support[0]) | (left >= prior.support[1])
    starts, ends = (np.where(apart, -np.inf, prior.log_density(x)) for x in inside)
    above = below = np.zeros(left.size)
    if not prior.is_log_linear:
        u = QUARTERS[:, None]
        gaps = prior.log_density(left + u * (right - left)) - ((1 - u) * starts + u * ends)
        factor = CHECKED_FACTOR if prior.inflections is None else GAP_FACTOR
        above = factor * np.max(np.maximum(gaps, 0.0), axis=0)
        below = factor * np.max(np.maximum(-gaps, 0.0), axis=0)
        mass = prior.mass(left, right)
        if prior.inflections is None:
            model = starts + _log_mean(ends - starts) + np.log(right - left)
            fits = np.abs(np.log(mass) - model) <= above + below + TOLERANCE
            above = np.where(fits, above, np.inf)
        empty = np.isneginf(starts) & np.isneginf(ends) & (mass == 0)
        above, below = np.where(empty, 0.0, [above, below])
    return starts, ends, above, below


def _mixed_chords(
    prior: Mixture, left: Array, right: Array
) -> tuple[Array, Array, Array, Array]:
    """The same of a mixture: a log-sum of the parts' chords is convex, and each part stays close to its own."""
    starts, ends, above, below = np.stack(
        [_chords(part, left, right) for part in prior.parts], axis=1
    )
    share = np.log(prior.shares)[:, None]

    def log_sum(u: float) -> Array:
        terms = starts if u == 0 else ends if u == 1 else (1 - u) * starts + u * ends
        return np.logaddexp.reduce(
            np.nan_to_num(terms + share, nan=-np.inf, neginf=-np.inf, posinf=np.inf), axis=0
        )

    start, end = log_sum(0.0), log_sum(1.0)
    sag = np.max([(1 - u) * start + u * end - log_sum(float(u)) for u in QUARTERS], axis=0)
    # A part that is infinite or 0 at one end only has no chord.
    mixed = np.any(np.isfinite(starts) != np.isfinite(ends), axis=0)
    above = np.where(mixed, np.inf, np.max(above, axis=0))
    return start, end, above, np.max(below, axis=0) + GAP_FACTOR * np.maximum(sag, 0.0)


def _beyond(prior: LinePrior, x: ArrayLike, on_right: bool) -> Array:
    return prior.survival(x) if on_right else prior.cdf(x)


def _tail(prior: LinePrior, knot: float, on_right: bool) -> Tail | None:
    """Bounds of the hazard beyond a knot on an infinite side; None for a part that has no mass there.

    The hazard lies within the range of −(ln f)′, which is monotone beyond the last turn of curvature. So is the hazard
    itself, and its value at the knot is a bound.
    """
    if np.isfinite(prior.support[on_right]):
        return None
    if isinstance(prior, Mixture):
        # The hazard of a mixture is a mean of the parts' hazards; far out the slowest decay is left.
        parts = [_tail(part, knot, on_right) for part in prior.parts]
        tails = [tail for tail in parts if tail is not None]
        return Tail(
            min(t.low for t in tails), max(t.high for t in tails), min(t.limit for t in tails)
        )
    with quiet():
        at_knot = float(np.exp(prior.log_density(knot)) / _beyond(prior, knot, on_right))
    if prior.inflections is None:
        return _checked_tail(prior, on_right, at_knot)
    side, limit = 1 if on_right else -1, prior.tail_rates[on_right]
    if prior.is_log_linear:
        return Tail(limit, limit, limit)
    last = max((side * x for x in prior.inflections), default=-np.inf)
    if last > side * knot:
        return Tail(0.0, np.inf, limit)
    if not np.isfinite(at_knot):
        # No mass is representable there: a chord from inside, on the safe side of −(ln f)′.
        inner = side * max(last, side * knot - INWARDS * abs(knot))
        with quiet():
            fall = prior.log_density(inner) - prior.log_density(knot)
            at_knot = float(fall / abs(knot - inner))
    if not np.isfinite(at_knot):
        return Tail(0.0, np.inf, limit)
    return Tail(min(at_knot, limit), max(at_knot, limit), limit)


def _checked_tail(prior: LinePrior, on_right: bool, at_knot: float) -> Tail:
    """The hazard of a density of unknown curvature, from its values at tail quantiles: checked, not proven."""
    with quiet():
        places = prior.upper_quantile(DECADES) if on_right else prior.quantile(DECADES)
        rates = np.exp(prior.log_density(places) - np.log(_beyond(prior, places, on_right)))
    rates = rates[np.isfinite(places) & np.isfinite(rates) & (rates > 0)]
    if not rates.size or rates[-1] < STEADY * rates[-2:][0]:
        return Tail(0.0, max(at_knot, *rates.tolist()), 0.0)
    last = float(rates[-1])
    if last < at_knot:
        return Tail(MARGIN * last, at_knot, last)
    return Tail(at_knot, np.inf, np.inf)


def _refined(pieces: Pieces) -> Pieces:
    """Split pieces until each adds at most the tolerance to the error of a belief."""
    scale, tolerance = pieces.quantile(0.75) - pieces.quantile(0.25), TOLERANCE
    for _ in range(ROUNDS):
        with quiet():
            width, mass = (pieces.right - pieces.left) / scale, np.exp(pieces.log_mass)
            weight = np.minimum(np.sqrt(mass / width), 100 * mass)
            size = np.tanh(pieces.osc / 4) * np.minimum(width, 1e3) * weight
        # Two neighbouring numbers cannot be told apart any more.
        halves = pieces.left / 2 + pieces.right / 2
        able = np.isfinite(width) & (halves > pieces.left) & (halves < pieces.right)
        size = np.where(able, size, 0.0)
        while True:  # until there are not too many
            # An error falls with the third power of the width.
            parts = np.ceil(np.cbrt(size / tolerance)).astype(np.int64).clip(1, MOST_PARTS)
            if parts.sum() <= max(MOST_PIECES, parts.size):
                break
            tolerance *= COARSER  # heavy tails: wider brackets, as sound as narrow ones
        if parts.sum() == parts.size:
            return pieces
        pieces = pieces.split(parts)
    raise NotCertifiedError(
        f"the prior {pieces.prior!r} could not be divided into pieces; give a histogram of it"
    )
