"""The worst posterior of one real attribute, in as many digits as asked for.

The goal is an interval and the guarantee is ε|x − x'|. Then the worst likelihood is a tent e^{−ε|x−c|} whose
peak c lies in the goal (for the lowest posterior a valley e^{+ε|x−c|}), so it is enough to try every peak.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from mpmath import mp, mpf
from scipy.optimize import minimize_scalar

Number = float | mpf
DIGITS = 16  # as many as a float holds
GUARD_DIGITS = 15
PEAKS = 24
PLACE = 1e-10  # of the way from peak to peak


class Prior(Protocol):
    """What the search needs to know about a distribution."""

    def support(self) -> tuple[mpf, mpf]: ...

    def peaks(self, low: mpf, high: mpf) -> list[mpf]:
        """Peaks to try first, in order."""
        ...

    def refines(self) -> bool:
        """Whether the best peak may lie between the first ones."""
        ...

    def weigh(self, slope: mpf, peak: mpf, low: mpf, high: mpf) -> mpf:
        """∫ e^{slope·|x − peak|} dF over [low, high]; infinite where it diverges."""
        ...


def exponential_integral(rate: mpf, low: mpf, high: mpf) -> mpf:
    """∫ e^{rate·x} dx over [low, high]."""
    if high <= low:
        return mpf(0)
    if rate == 0:
        return high - low
    if mp.isinf(high):
        return mp.inf if rate > 0 else -mp.exp(rate * low) / rate
    if mp.isinf(low):
        return mp.inf if rate < 0 else mp.exp(rate * high) / rate
    return mp.exp(rate * low) * mp.expm1(rate * (high - low)) / rate


class Continuous:
    """A distribution that knows ∫ e^{rate·x} dF over an interval."""

    def support(self) -> tuple[mpf, mpf]:
        return mpf("-inf"), mpf("inf")

    def tilted(self, rate: mpf, low: mpf, high: mpf) -> mpf:
        raise AssertionError("each law says its own integral")

    def breaks(self) -> list[mpf]:
        """Where the density is not smooth."""
        return []

    def peaks(self, low: mpf, high: mpf) -> list[mpf]:
        # A peak beyond the support has the same ratios as one at its end.
        left, right = max(low, self.support()[0]), min(high, self.support()[1])
        evenly = [left + (right - left) * k / (PEAKS - 1) for k in range(PEAKS)]
        return sorted({*evenly, *(b for b in self.breaks() if left < b < right)})

    def refines(self) -> bool:
        return True

    def weigh(self, slope: mpf, peak: mpf, low: mpf, high: mpf) -> mpf:
        if high <= low:
            return mpf(0)
        left = self.tilted(-slope, low, min(high, peak))
        right = self.tilted(slope, max(low, peak), high)
        return mp.exp(slope * peak) * left + mp.exp(-slope * peak) * right


@dataclass(frozen=True)
class Normal(Continuous):
    mean: Number
    sd: Number

    def tilted(self, rate: mpf, low: mpf, high: mpf) -> mpf:
        if high <= low:
            return mpf(0)
        mean, sd = mpf(self.mean), mpf(self.sd)
        centre = mean + rate * sd**2
        a, b = (low - centre) / (sd * mp.sqrt(2)), (high - centre) / (sd * mp.sqrt(2))
        if a + b < 0:  # the tail nearer to the interval keeps all its digits
            a, b = -b, -a
        return mp.exp(rate * mean + (rate * sd) ** 2 / 2) * (_erfc(a) - _erfc(b)) / 2


def _erfc(x: mpf) -> mpf:
    if mp.isinf(x):
        return mpf(0) if x > 0 else mpf(2)
    return mp.erfc(x)


@dataclass(frozen=True)
class Uniform(Continuous):
    low: Number
    high: Number

    def support(self) -> tuple[mpf, mpf]:
        return mpf(self.low), mpf(self.high)

    def tilted(self, rate: mpf, low: mpf, high: mpf) -> mpf:
        left, right = self.support()
        return exponential_integral(rate, max(low, left), min(high, right)) / (right - left)


@dataclass(frozen=True)
class Exponential(Continuous):
    scale: Number

    def support(self) -> tuple[mpf, mpf]:
        return mpf(0), mpf("inf")

    def tilted(self, rate: mpf, low: mpf, high: mpf) -> mpf:
        decay = 1 / mpf(self.scale)
        return decay * exponential_integral(rate - decay, max(low, mpf(0)), high)


@dataclass(frozen=True)
class Laplace(Continuous):
    mean: Number
    scale: Number

    def breaks(self) -> list[mpf]:
        return [mpf(self.mean)]

    def tilted(self, rate: mpf, low: mpf, high: mpf) -> mpf:
        mean, decay = mpf(self.mean), 1 / mpf(self.scale)
        left = mp.exp(-decay * mean) * exponential_integral(rate + decay, low, min(high, mean))
        right = mp.exp(decay * mean) * exponential_integral(rate - decay, max(low, mean), high)
        return decay * (left + right) / 2


@dataclass(frozen=True)
class Histogram(Continuous):
    """Masses spread evenly over cells; normalised here."""

    edges: Sequence[Number]
    masses: Sequence[Number]

    def support(self) -> tuple[mpf, mpf]:
        return mpf(self.edges[0]), mpf(self.edges[-1])

    def breaks(self) -> list[mpf]:
        return [mpf(e) for e in self.edges]

    def tilted(self, rate: mpf, low: mpf, high: mpf) -> mpf:
        total = mp.fsum(mpf(m) for m in self.masses)
        cells = zip(self.edges[:-1], self.edges[1:], self.masses, strict=True)
        return mp.fsum(
            mpf(mass) / total / (mpf(b) - mpf(a)) * exponential_integral(rate, max(low, mpf(a)), min(high, mpf(b)))
            for a, b, mass in cells
        )


@dataclass(frozen=True)
class Density(Continuous):
    """Any density, by quadrature. The slowest and the most obvious."""

    pdf: Callable[[mpf], mpf]
    low: Number
    high: Number
    kinks: Sequence[Number] = ()

    def support(self) -> tuple[mpf, mpf]:
        return mpf(self.low), mpf(self.high)

    def breaks(self) -> list[mpf]:
        return [mpf(k) for k in self.kinks]

    def tilted(self, rate: mpf, low: mpf, high: mpf) -> mpf:
        left, right = max(low, mpf(self.low)), min(high, mpf(self.high))
        if right <= left:
            return mpf(0)
        pieces = [left, *(k for k in self.breaks() if left < k < right), right]
        return mp.quad(lambda x: mp.exp(rate * x) * self.pdf(x), pieces)

    def weigh(self, slope: mpf, peak: mpf, low: mpf, high: mpf) -> mpf:
        # The exponent is kept small: far from the peak e^{rate·x} alone would be astronomically large.
        left, right = max(low, mpf(self.low)), min(high, mpf(self.high))
        if right <= left:
            return mpf(0)
        pieces = [left, *sorted(k for k in {*self.breaks(), peak} if left < k < right), right]
        return mp.quad(lambda x: mp.exp(slope * abs(x - peak)) * self.pdf(x), pieces)


@dataclass(frozen=True)
class Atoms:
    """Masses at points; normalised here. Between atoms odds are monotone in e^{2εc}: no peak lies there."""

    points: Sequence[Number]
    masses: Sequence[Number]

    def support(self) -> tuple[mpf, mpf]:
        return mpf(min(self.points)), mpf(max(self.points))

    def peaks(self, low: mpf, high: mpf) -> list[mpf]:
        return sorted({mpf(x) for x in self.points if low <= x <= high})

    def refines(self) -> bool:
        return False

    def weigh(self, slope: mpf, peak: mpf, low: mpf, high: mpf) -> mpf:
        total = mp.fsum(mpf(m) for m in self.masses)
        return mp.fsum(
            mpf(m) / total * mp.exp(slope * abs(x - peak))
            for x, m in zip(self.points, self.masses, strict=True)
            if low <= x <= high
        )


@dataclass(frozen=True)
class Known:
    """A prior given that low ≤ x ≤ high."""

    prior: Prior
    low: Number
    high: Number

    def support(self) -> tuple[mpf, mpf]:
        left, right = self.prior.support()
        return max(left, mpf(self.low)), min(right, mpf(self.high))

    def peaks(self, low: mpf, high: mpf) -> list[mpf]:
        return self.prior.peaks(max(low, mpf(self.low)), min(high, mpf(self.high)))

    def refines(self) -> bool:
        return self.prior.refines()

    def weigh(self, slope: mpf, peak: mpf, low: mpf, high: mpf) -> mpf:
        known = self.prior.weigh(mpf(0), mpf(0), mpf(self.low), mpf(self.high))
        return self.prior.weigh(slope, peak, max(low, mpf(self.low)), min(high, mpf(self.high))) / known


@dataclass(frozen=True)
class Clamped:
    """A continuous prior under |clamp(x) − clamp(x')|: all that lies beyond an end has one likelihood.

    A goal that crosses an end holds only a part of the mass there. The values worth raising still form an
    interval of the clamped line, so the tent is still the worst likelihood.
    """

    prior: Continuous
    low: Number
    high: Number

    def support(self) -> tuple[mpf, mpf]:
        return self.prior.support()

    def peaks(self, low: mpf, high: mpf) -> list[mpf]:
        return self.prior.peaks(max(low, mpf(self.low)), min(high, mpf(self.high)))

    def refines(self) -> bool:
        return True

    def weigh(self, slope: mpf, peak: mpf, low: mpf, high: mpf) -> mpf:
        left, right = mpf(self.low), mpf(self.high)
        below = self.prior.tilted(mpf(0), low, min(high, left))
        above = self.prior.tilted(mpf(0), max(low, right), high)
        between = self.prior.weigh(slope, peak, max(low, left), min(high, right))
        return between + mp.exp(slope * (peak - left)) * below + mp.exp(slope * (right - peak)) * above


def probability(prior: Prior, low: Number, high: Number, digits: int = DIGITS) -> mpf:
    """P(low ≤ x ≤ high)."""
    with mp.workdps(digits + GUARD_DIGITS):
        return +prior.weigh(mpf(0), mpf(0), mpf(low), mpf(high))


def posterior(
    prior: Prior, low: Number, high: Number, epsilon: Number, side: str = "upper", digits: int = DIGITS
) -> mpf:
    """The highest (or lowest) belief in low ≤ x ≤ high after a release that is ε|x − x'|-private."""
    sign = 1 if side == "upper" else -1
    with mp.workdps(digits + GUARD_DIGITS):
        goal, slope = (mpf(low), mpf(high)), -sign * mpf(epsilon)

        def signed(peak: mpf) -> mpf:
            everything = prior.weigh(slope, peak, mpf("-inf"), mpf("inf"))
            return sign * (mpf(0) if mp.isinf(everything) else prior.weigh(slope, peak, *goal) / everything)

        return sign * _maximum(signed, prior.peaks(*goal), prior.refines())


def advantage(
    prior: Prior, low: Number, high: Number, epsilon: Number, side: str = "upper", digits: int = DIGITS
) -> mpf:
    """How far the belief can move, computed with digits to spare for a tiny ε."""
    with mp.workdps(digits + GUARD_DIGITS):
        gain = posterior(prior, low, high, epsilon, side, digits) - probability(prior, low, high, digits)
        return gain if side == "upper" else -gain


def epsilon_for(prior: Prior, low: Number, high: Number, limit: Number, side: str = "upper", digits: int = 20) -> mpf:
    """The ε at which the advantage reaches the limit, by bisection on the logarithm of ε."""
    with mp.workdps(digits + GUARD_DIGITS):
        over = mpf(1)
        while advantage(prior, low, high, over, side, digits) < limit:
            over *= 2
        under = over
        while advantage(prior, low, high, under, side, digits) > limit:
            under /= 2
        return mp.findroot(
            lambda e: advantage(prior, low, high, e, side, digits) - mpf(limit),
            (under, over),
            solver="anderson",
            tol=mpf(10) ** -(digits - 2),
            verify=False,
        )


def with_step(posterior: Number, step: Number, side: str = "upper") -> float:
    """A posterior whose log odds are moved by ±step: what a step between any two different values does."""
    p = mpf(posterior)
    shrink = mp.exp(-mpf(step) if side == "upper" else mpf(step))
    return float(p / (p + shrink * (1 - p)))


def _maximum(value: Callable[[mpf], mpf], tried: list[mpf], refine: bool) -> mpf:
    values = [value(x) for x in tried]
    best = max(values)
    if not refine:
        return best
    for k, here in enumerate(values):
        left, right = max(k - 1, 0), min(k + 1, len(values) - 1)
        if here >= values[left] and here >= values[right]:
            best = max(best, _climb(value, tried[left], tried[right]))
    return best


def _climb(value: Callable[[mpf], mpf], low: mpf, high: mpf) -> mpf:
    """Brent's search finds the place; the maximum is flat there, so half the digits in it give all of its value.

    Where all values are nearly one, only their differences tell: these are taken in many digits, and then scaled.
    """
    ends = value(low), value(high)
    least, spread = min(ends), max(abs(value((low + high) / 2) - min(ends)), abs(ends[0] - ends[1]))
    if spread == 0:
        return max(ends)
    best = list(ends)

    def fallen(share: float) -> float:
        best.append(value(low + (high - low) * mpf(share)))
        return float((least - best[-1]) / spread)

    minimize_scalar(fallen, bounds=(0, 1), method="bounded", options={"xatol": PLACE, "maxiter": 200})
    return max(best)
