"""The least noise that keeps limits: found by a coarse look, then proven, and raised until it is."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from guessproof.errors import InfeasibleError
from guessproof.risk.gaussian.reading import GaussianReading

WIDEST = 2.0**40  # noise, in units of the first guess, beyond which nothing is found
STEPS = 12  # of the coarse look
TRIES = 12  # proofs, each with a little more noise
ROOM = 1e-3  # that is added each time, relative: creeping up to the limit would take as many proofs again
SLOWEST = 4.0  # the most by which noise must grow, as a power of what is broken


@dataclass(frozen=True)
class GainLimits:
    """What the attacker may gain, and with which probability an answer may break that."""

    advantage: float | None = None
    posterior: float | None = None
    both: bool = False
    failure: float = 0.0


def least_noise(reading: Callable[[float], GaussianReading], limits: GainLimits, start: float) -> float:
    """The least noise, near enough and on the private side; `reading` says what the attacker sees at one."""

    def over(noise: float) -> float:
        """By what factor the limits are broken, by a coarse look: above 1 where they are."""
        seen, worst = reading(noise), 0.0
        if limits.advantage is not None:
            worst = seen.likely_worst(limits.failure, "advantage", both=limits.both) / limits.advantage
        if limits.posterior is not None:
            worst = max(worst, seen.likely_worst(limits.failure, "posterior") / limits.posterior)
        return worst

    if not limits.failure:
        _refuse_hopeless(reading(1e6 * start), limits)
    low, high = _bracketed(over, start)
    return _proven(reading, limits, _narrowed(over, low, high)) if high > 0 else 0.0


def _refuse_hopeless(widest: GaussianReading, limits: GainLimits) -> None:
    """The largest belief over all answers only falls as noise grows: what the widest breaks, all break."""
    if _ratio(widest, limits) > 1:
        raise InfeasibleError(
            "no amount of Gaussian noise keeps these limits for every answer; say how probable an answer that breaks "
            "them may be (failure = 1e-6), or state the true value (at)"
        )


Broken = tuple[float, float]  # a noise, and by what factor it breaks the limits


def _bracketed(over: Callable[[float], float], start: float) -> tuple[Broken, float]:
    """A noise that is too small, and one that is not; 0 for the second where none is too small."""
    noise, broken = start, over(start)
    if broken > 1:
        while noise < WIDEST * start:
            low, noise = (noise, broken), 2 * noise
            broken = over(noise)
            if broken <= 1:
                return low, noise
        raise InfeasibleError("no noise keeps these limits; allow a larger failure, or a looser limit")
    while noise > start / WIDEST:
        high, noise = noise, noise / 2
        broken = over(noise)
        if broken > 1:
            return (noise, broken), high
    return (0.0, 0.0), 0.0


def _narrowed(over: Callable[[float], float], low: Broken, high: float) -> float:
    """Between the two, where what is broken falls like a power of the noise."""
    (noise, broken), kept = low, over(high)
    for _ in range(STEPS):
        if high <= noise * (1 + 1e-4):
            break
        share = math.log(broken) / max(math.log(broken) - math.log(max(kept, 1e-9)), 1e-12)
        middle = noise * (high / noise) ** min(max(share, 0.02), 0.98)
        found = over(middle)
        if found > 1:
            noise, broken = middle, found
        else:
            high, kept = middle, found
    return high


def _proven(reading: Callable[[float], GaussianReading], limits: GainLimits, noise: float) -> float:
    power, before = 1.0, None
    for _ in range(TRIES):
        ratio = _ratio(reading(noise), limits)
        if ratio <= 1:
            return noise
        if before is not None:
            power = _power(before, (noise, ratio))
        before = noise, ratio
        noise *= min(ratio**power, 1.5) * (1 + ROOM)
    raise InfeasibleError("no noise was proven to keep these limits; allow a larger failure, or a looser limit")


def _power(before: Broken, now: Broken) -> float:
    """How fast noise must grow with what is broken, as the last two proofs had it."""
    fallen = math.log(before[1] / now[1])
    return SLOWEST if fallen <= 0 else min(max(math.log(now[0] / before[0]) / fallen, 1.0), SLOWEST)


def _ratio(seen: GaussianReading, limits: GainLimits) -> float:
    """The proven figures over the limits."""
    found = 0.0
    if limits.advantage is not None:
        found = float(seen.advantage(limits.failure, both=limits.both).bound) / limits.advantage
    if limits.posterior is not None:
        found = max(found, float(seen.posterior(limits.failure).bound) / limits.posterior)
    return found
