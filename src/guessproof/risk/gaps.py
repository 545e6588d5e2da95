"""How far a belief can lie above the straight line between its values at two ε.

A likelihood that is ε-Lipschitz is e^{εs} with s 1-Lipschitz, whatever ε is. For one s the belief in G is N(ε)/Z(ε)
with N = ∫_G e^{εs}f and Z = ∫ e^{εs}f; the logarithms of both are convex in ε. So between ε₁ and ε₂

    N ≤ N₁^{1−θ}·N₂^θ     and     Z ≥ e^{−γ}·Z₁^{1−θ}·Z₂^θ,     hence     N/Z ≤ e^γ·((1−θ)·N₁/Z₁ + θ·N₂/Z₂)

where γ(θ) is how far ln Z lies below its own chord. Let δ be half of ε₂ − ε₁, take means in the middle, and let m be
the mean of s there. With x = δ(s − m) and τ = 2θ − 1, by the means of two numbers and as E[e^{yx}] ≥ 1 for every y,

    e^γ − 1 ≤ E[cosh x + τ·sinh x − e^{τx}] ≤ (1 − τ²)·E[(|x|·e^{|x|} − sinh |x|)/2]:

term by term, 1 − τⁿ ≤ (1−τ²)·n/2 for even n, and |τ − τⁿ| ≤ (1−τ²)·(n−1)/2 for odd ones. What is in the brackets is at
most 0.566·sinh²x. Two copies of s, independent, tell that without m: M₊ = E[e^{2x}] and M₋ = E[e^{−2x}] are 1 at least,
so that 2·E[sinh²x] = (M₊ + M₋)/2 − 1 ≤ (M₊M₋ − 1)/2, which is q = E[sinh²(δ(s₁−s₂))]. So

    e^γ − 1 ≤ 4θ(1−θ)·g,     g = 0.283·q.

(About (ε₂−ε₁)²/8 times the variance of s, and an eighth more.) For tents that peak at most h apart, s differs by h and
the weights by e^{2εh}, which bounds all peaks from a few; a step w on top adds w to what s differs by and e^{εw} to the
weights. Where s varies by R at most, its variance is at most R²/4 and γ ≤ (ε₂ − ε₁)²R²/32.

A chord of logarithms lies below a chord: with P₁ < P₂ the beliefs at the two ends and ρ = ln(P₂/P₁),

    P₁^{1−θ}·P₂^θ ≤ (1−θ)·P₁ + θ·P₂ − θ(1−θ)/2·P₁·ρ²,     hence     N/Z ≤ (1−θ)·P₁ + θ·P₂ + max(0, g·P₂ − P₁·ρ²/8).

P₁^{1−θ}·P₂^θ rises with both, and from a belief before it p on, with P = p + (what it rises by), by at least as much as
p does: so the largest p and what bounds the rises at the two ends bound the rise between them.

The same for what is not in G, with M = Z − N instead of Z: ln(N/M) lies at most γ above its own chord. That says more
where little is left to believe. With v = P(1−P) and L what the log-odds climb by, P along that chord of log-odds has
the second derivative L²·v(1−2P): its chord lies above it where P < 1/2, and below it beyond.

Let the prior be wrong: h·f with 1 ≤ h ≤ κ. At ε = (1−θ)ε₁ + θε₂, with Δ = ε₂ − ε₁ and means taken at ε, e^γ is

    E[e^{−θΔs}]^{1−θ}·E[e^{(1−θ)Δs}]^θ ≤ 1 + E[φ(s−m)],     φ(u) = (1−θ)e^{−θΔu} + θe^{(1−θ)Δu} − 1 ≥ 0,

for any m, and under f itself they are equal for the m that makes the two means equal. The mean of φ under h·f is at
most κ times that under f: so e^γ − 1 is at most κ times what it is under f. It is less where φ is nowhere much larger
than its mean: with m the mean of s in the middle, e = E[φ] and v² = e·v + (κ−1)·E[φ²]/4,

    E[h·(φ − v)] ≤ e − v + (κ−1)·E[(φ − v)₊] ≤ e − v + (κ−1)·E[φ²]/4v = 0,     hence     e^γ − 1 ≤ v.

As φ·e^{τx} is what stands in brackets above, φ²·e^{τx} ≤ (1−τ²)²·(0.566·sinh²x)²·e^{|x|}, and E[e^{τx}] ≥ 1.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
from numpy.typing import NDArray

from guessproof.risk.tent import TiltedIntegrals
from guessproof.world.checks import Array
from guessproof.world.line_form import LineForm

_PEAKS = (5, 9, 17, 33, 65, 129, 257, 513)  # how many are looked at, by how far they reach
_NEAR = 40  # the same for each unit of ε times distance that they reach
_MOST_BENT = 0.5 + 0.5 / np.sqrt(3)  # where P(1−P)(1−2P) is least
_WEIGHT = -0.925, 2.0  # e^{|x|} is at most the first of these and the second times cosh 2x
_STARTS = 17  # beliefs that a rise may start from, where the prior may be wrong or the true value is unknown
OF_SINH = 0.283  # half of what (xeˣ − sinh x)/2 is of sinh² x at most


Total = Callable[[Array, Array], Array]  # peaks and rates → ln ∫ e^{εs} f over all values, or some


def gap_of_tents(
    world: TiltedIntegrals,
    low: Array,
    high: Array,
    first: Array,
    second: Array,
    sign: int,
    factor: float = 1.0,
    goal: tuple[float, float] | None = None,
) -> Array:
    """g, with e^γ − 1 ≤ 4θ(1−θ)·g, for tents (sign +1) or valleys (−1) that peak between low and high, for each two ε.

    With a goal: of what its belief is compared with, the rest for tents and the goal itself for valleys. Peaks on the
    two sides of a jump of ψ are far apart, with none between them: each side is looked at by itself.
    """
    low, high, first, second = np.broadcast_arrays(low, high, first, second)
    found = np.zeros(first.shape)
    for start, end in _unbroken(world.form):
        some = np.flatnonzero((low <= end) & (high >= start))
        ends = np.maximum(low[some], start), np.minimum(high[some], end)
        gap = _gap_of_unbroken(world, ends, (first[some], second[some]), sign, goal)
        found[some] = np.maximum(found[some], factor * gap)
    return found


def _unbroken(form: LineForm) -> list[tuple[float, float]]:
    """From where to where ψ does not jump."""
    cuts = [cut for cut, jump in zip(form.cuts, form.jumps, strict=True) if jump]
    return list(zip([-np.inf, *(float(np.nextafter(c, np.inf)) for c in cuts)], [*cuts, np.inf], strict=True))


def _gap_of_unbroken(
    world: TiltedIntegrals,
    peaks: tuple[Array, Array],
    rates: tuple[Array, Array],
    sign: int,
    goal: tuple[float, float] | None,
) -> Array:
    """The same where ψ does not jump between the first and the last peak."""
    (low, high), (first, second) = peaks, rates
    total = partial(_log_total, world) if goal is None else partial(_log_rest, world, *goal, sign)
    step = world.form.step if goal is None else 0.0  # on the rest, or on the goal, it is the same everywhere
    climb = second * (world.form.psi(high) - world.form.psi(low))
    enough = enough_peaks(climb)
    found = np.zeros(first.shape)
    for count in np.unique(enough):
        rows = enough == count
        a, b, left, right = (e[rows] for e in (low, high, first, second))
        each = _gaps_of_peaks(world, total, step, int(count), (a, b), (sign * left, sign * right))
        found[rows] = np.max(each, axis=0)
    return found


def enough_peaks(climb: Array) -> NDArray[np.int64]:
    """How many peaks stand for all that reach so far, in units of ε times distance."""
    return np.take(_PEAKS, np.searchsorted(_PEAKS[:-1], _NEAR * climb))  # further apart, their gaps say little


def _gaps_of_peaks(
    world: TiltedIntegrals,
    total: Total,
    step: float,
    count: int,
    range_: tuple[Array, Array],
    rates: tuple[Array, Array],
) -> Array:
    share, (first, second) = np.linspace(0.0, 1.0, count)[:, None], rates
    peaks = (1 - share) * range_[0] + share * range_[1]
    apart = 0.5 * np.max(np.diff(world.form.psi(peaks), axis=0), axis=0)
    middle, half = 0.5 * (first + second), 0.5 * (second - first)
    reach, widened = 2 * np.abs(half) * (apart + 0.5 * step), np.abs(second) * (2 * apart + step)
    with np.errstate(invalid="ignore", over="ignore", divide="ignore"):  # beside a jump there may be nothing
        ends = np.stack([total(peaks, rate) for rate in (middle - 2 * half, middle + 2 * half, middle)])
        return gap_near(ends, reach, widened)


def gap_near(ends: Array, reach: Array | float, widened: Array | float) -> Array:
    """g near a peak with ln ∫ e^{εs} f known below, above and in the middle: x differs by `reach`, weights by e^w."""
    root = np.sqrt(of_two_copies(ends))
    grown = np.cosh(reach) * root + np.sinh(reach) * np.sqrt(1 + root * root)
    found = OF_SINH * np.square(np.exp(widened) * grown)
    return np.where(np.isfinite(found), found, np.inf)


def of_two_copies(ends: Array, off: Array | float = 0.0) -> Array:
    """q, weighed as in the middle: ln ∫ e^{εs} f is known below, above and there, and may be off by as much."""
    below = np.maximum(0.5 * (ends[0] + ends[1]) - ends[2], 0.0) + 4e-16 * (4 + np.max(np.abs(ends), axis=0))
    return 0.5 * np.expm1(2 * (below + 2 * off))


Pieces = list[tuple[Array, Array]]  # from and to, which together are a part of all values


def gap_of_boxes(
    world: TiltedIntegrals,
    parts: tuple[Pieces, Pieces],
    peaks: tuple[Array, Array],
    rates: tuple[Array, Array],
    factor: float,
    step: float = 0.0,
) -> tuple[Array, Array]:
    """g of one part of all values, for tents (or valleys) that peak between two values, for each two rates.

    The part may be any that lies in the first of two and holds the second: what the first has more adds to means, and
    what the second has less divides them, once for each copy of s. Where a step is part of what is compared, s differs
    by as much. Beside it g in the middle of the peaks alone.
    """
    c, psi, (first, second) = 0.5 * peaks[0] + 0.5 * peaks[1], world.form.psi, rates
    apart = np.maximum(psi(peaks[1]) - psi(c), psi(c) - psi(peaks[0])) + 0.5 * step
    logs = _log_part(world, parts[0], c, rates_around(first, second, factor))
    less = logs[0] if parts[1] is parts[0] else _log_part(world, parts[1], c, 0.5 * (first + second))
    return gap_of_logs(logs, less, (apart, 0.5 * step), rates, factor)


def rates_around(first: Array, second: Array, factor: float) -> Array:
    """The rates at which ln ∫ e^{εs} f tells g between two others: the middle one first."""
    around = [0, -2, 2] if factor == 1 else [0, -2, 2, -4, 4, -6, 6]
    return 0.5 * (first + second) + np.array(around)[:, None] * np.abs(0.5 * (second - first))


def gap_of_logs(
    logs: Array, less: Array, apart: tuple[Array | float, Array | float], rates: tuple[Array, Array], factor: float
) -> tuple[Array, Array]:
    """g from ln ∫ e^{εs} f at those rates, and `less` for what is in every part, in the middle.

    Twice: where s may be so far from what it was told from, and so far.
    """
    (first, second), found = rates, list[Array]()
    half = np.abs(0.5 * (second - first))
    with np.errstate(all="ignore"):
        for away, more in ((apart[0], np.maximum(logs[0] - less, 0.0)), (apart[1], 0.0)):
            by_peak = 2 * np.abs(second) * away  # what weights differ by, as logarithms
            gap = gap_near(logs[[1, 2, 0]], 2 * half * away, by_peak + more)
            if factor > 1:
                spread = _spread_near(logs, half * away, by_peak, more)
                gap = np.fmin(factor * gap, 0.5 * (gap + np.sqrt(gap * gap + (factor - 1) * spread)))
            found.append(gap)
    return found[0], found[1]


def _spread_near(logs: Array, reach: Array | float, by_peak: Array | float, by_part: Array | float) -> Array:
    """What E[φ²] is at most of (1−τ²)², near a peak with ln ∫ e^{εs} f known at seven rates.

    Weights differ by e^{by_peak} either way, and by e^{by_part} upwards, or to nothing.
    """
    x = 0.25 * (logs[2] - logs[1])  # δ·m, m about the mean of s
    cosh = [0.5 * (np.exp(up - logs[0] - n * x) + np.exp(down - logs[0] + n * x))
            for n, down, up in ((2, *logs[1:3]), (4, *logs[3:5]), (6, *logs[5:7]))]  # fmt: skip
    two, four, six = cosh
    weighed = 0.5 * six + 3.5 * two  # with cosh 2x as a weight, beside what two and four say
    sinh4 = (_WEIGHT[0] * (four - 4 * two + 3) + _WEIGHT[1] * (weighed - 2 * four - 2)) / 8
    cosh4 = (_WEIGHT[0] * (four + 4 * two + 3) + _WEIGHT[1] * (weighed + 2 * four + 2)) / 8
    sinh4 = np.maximum(sinh4, 0.0) + 1e-14 * (1 + np.max(np.abs(logs), axis=0)) * six
    # The mean of s lies between two slopes of the convex logarithm, and moves with the peak and with the weights: as
    # these have the mean 1 and are e^w at most, their variance is e^w − 1 at most.
    size = np.sqrt(0.5 * np.maximum(two - 1, 0.0))
    mean = 0.25 * np.maximum(logs[1] + logs[2] - 2 * logs[0], 0.0) + reach
    mean = mean + size * (np.sqrt(np.expm1(by_part)) + np.expm1(by_peak) * np.exp(0.5 * by_part))
    shift = reach + mean
    grown = np.cosh(shift) * sinh4**0.25 + np.sinh(shift) * cosh4**0.25
    return np.square(2 * OF_SINH) * np.exp(by_peak + by_part + shift) * grown**4


def _log_part(world: TiltedIntegrals, part: Pieces, peaks: Array, k: Array) -> Array:
    """ln ∫ e^{−k|ψ(x)−ψ(c)|} f over a part of all values, wherever its peak is."""
    found = list[Array]()
    for a, b in part:
        rows = [v.ravel() for v in np.broadcast_arrays(k, a, np.maximum(a, b), peaks)]
        found.append(world.log_tent(rows[0], rows[1], rows[2], rows[3]).reshape(k.shape))
    return np.logaddexp.reduce(found)


def _log_total(world: TiltedIntegrals, peaks: Array, k: Array) -> Array:
    """ln ∫ e^{−k|ψ(x)−ψ(c)|} f for each peak c."""
    k = np.broadcast_to(k, peaks.shape)
    ends = np.full(peaks.shape, np.inf)
    return np.logaddexp(world.log_tilt(k, -ends, peaks, peaks), world.log_tilt(-k, peaks, ends, peaks))


def _log_rest(world: TiltedIntegrals, lo: float, hi: float, sign: int, peaks: Array, k: Array) -> Array:
    """The same outside of a goal (sign +1), or in it (−1)."""
    k, ends, edges = np.broadcast_to(k, peaks.shape), np.full(peaks.shape, np.inf), (peaks * 0 + lo, peaks * 0 + hi)
    left, right = ((-ends, edges[0]), (edges[1], ends)) if sign > 0 else ((edges[0], peaks), (peaks, edges[1]))
    return np.logaddexp(world.log_tilt(k, *left, peaks), world.log_tilt(-k, *right, peaks))


def room_by_ratio(gap: Array, before: Array | float, climbs: tuple[Array, Array]) -> Array:
    """How far a rise can lie above its chord where the belief before it is at most so much: g·P₂ − P₁·ρ²/8, or 0."""
    first, second = (before + climb for climb in climbs)
    with np.errstate(divide="ignore", invalid="ignore"):
        found = gap * second - first * np.square(np.log(second / first)) / 8
    return np.where(np.isnan(found), np.inf, np.maximum(found, 0.0))


def room_by_odds(
    gap: Array,
    before: tuple[Array, Array],
    climbs: tuple[Array, Array],
    most: tuple[Array, Array],
    steepest: Array | float = np.inf,
) -> Array:
    """How far a rise can lie above its chord where ln of the odds lies at most ln(1 + 4θ(1−θ)g) above its own.

    The belief P starts anywhere between two beliefs p. It ends at p + (what it rises by) at most, and at `most`. Along
    the chord of the log-odds, which climb by L, P lies at most −θ(1−θ)/2·L²·(least v(1−2P)) above its own chord, and
    what is added to them adds at most 4θ(1−θ)g·v. Where the log-odds climb by no more than `steepest`, L does
    not either: P rises with both of its ends, and a second end that is further up is not reached.
    """
    both = climbs[1] - climbs[0], most[1] - most[0]
    low, high = np.minimum(before[0] + climbs[0], most[0]), np.minimum(before[1] + climbs[1], most[1])
    nearest = np.clip(0.5, low, high)
    least, largest = np.minimum(low * (1 - low), high * (1 - high)), nearest * (1 - nearest)
    bends = (p * (1 - p) * (1 - 2 * p) for p in (low, high, np.clip(_MOST_BENT, low, high)))
    bend = np.minimum.reduce([*bends])
    with np.errstate(divide="ignore", invalid="ignore"):
        climb = np.where(bend > 0, np.maximum(np.minimum(*both), 0.0) / largest, np.maximum(*both) / least)
        climb = np.fmin(climb, steepest)
        found = gap * largest - np.square(climb) / 8 * bend
    return np.where(np.isnan(found), np.inf, np.maximum(found, 0.0))


def room_of_beliefs(
    whole: Array, rest: Array, before: tuple[float, float], bound: tuple[Array, Array], most: tuple[Array, Array]
) -> Array:
    """How far a rise can lie above its chord, by g of all values and g of the rest, from any belief between two."""
    # Of two ways one may have moved as far as it can while the other goes on, which the bound is that of.
    level = bound[0] >= 1 - before[0]
    ends = np.linspace(*before, _STARTS if before[0] < before[1] else 2)[:, None]
    by_odds = np.max(room_by_odds(rest, (ends[:-1], ends[1:]), bound, most), axis=0)
    return np.where(level, 0.0, np.minimum(room_by_ratio(whole, before[1], bound), by_odds))


def gap_across(across: float, first: Array, second: Array) -> Array:
    """e^γ − 1 at most where no two values are further than `across` apart."""
    with np.errstate(over="ignore", invalid="ignore"):
        found = np.expm1(np.square((second - first) * across) / 32)
    return np.where(np.isnan(found), np.inf, found)
