"""Several intervals of correct guesses on the line: the exact answer.

The best likelihood zigzags, e^{±kψ} between peaks inside the goal and valleys outside. Dually, mass of the goal
is carried to the complement, a distance d away at a price of e^{kd}, loading no point beyond λ times its prior:
if that can be done, no posterior odds exceed λ. On a line carriers never cross, and everything left of a
point is worth e^{kψ} per unit to it, so one sweep from left to right decides whether λ suffices:

    rising    λ·capacity left behind, in units e^{+kψ}, serves the goal ahead until it runs out (a peak);
    falling   goal left behind, in units e^{−kψ}, waits for capacity ahead until it is served (a valley).

The least λ that suffices is both the bound and, through its peaks and valleys, the attack.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from guessproof.risk.roots import root
from guessproof.risk.tent import Stretched
from guessproof.world.checks import Array
from guessproof.world.line import LinePrior
from guessproof.world.line_form import LineForm

Component = tuple[float, float, bool]  # from, to, whether it belongs to the goal


def components(prior: LinePrior, intervals: list[tuple[float, float]]) -> list[Component]:
    """The support cut into goal and complement, in order, without empty pieces."""
    low, high = prior.support
    pieces: list[Component] = []
    at = low
    for a, b in intervals:
        a, b = max(a, low), min(b, high)
        if b <= a:
            continue
        pieces += [(at, a, False), (a, b, True)]
        at = b
    pieces.append((at, high, False))
    return [p for p in pieces if p[1] > p[0] and float(prior.log_tilt(0.0, p[0], p[1])) > -np.inf]


def zigzag(prior: LinePrior, form: LineForm, pieces: list[Component], k: float) -> tuple[float, float]:
    """(attack, bound) of the gain at k > 0 for the goal marked in `pieces`."""
    world = Stretched(prior, form)
    inside, outside = (_log_mass(prior, pieces, goal) for goal in (True, False))
    low, high = 0.0, 1.0
    while not _suffices(world, pieces, k, outside, inside + high):
        low, high = high, high * 2
        if high > 1e9:
            return np.inf, np.inf
    for _ in range(200):
        if high - low <= 1e-13 * (1 + high):
            break
        middle = 0.5 * (low + high)
        if _suffices(world, pieces, k, outside, inside + middle):
            high = middle
        else:
            low = middle
    noise = 1e-12 * (1 + high)
    return max(low - noise, 0.0), high + noise


def _log_mass(prior: LinePrior, pieces: list[Component], goal: bool) -> float:
    return float(np.logaddexp.reduce([float(prior.log_tilt(0.0, a, b)) for a, b, g in pieces if g is goal]))


def _suffices(world: Stretched, pieces: list[Component], k: float, log_q: float, log_p_gain: float) -> bool:
    """Whether λ = e^{gain}·p/q lets every piece of goal be carried; all quantities as logarithms."""
    log_lambda = log_p_gain - log_q
    ref = next(e for a, b, _ in pieces for e in (a, b) if np.isfinite(e))
    rising, waiting = -np.inf, -np.inf

    def tilt(sign: int, a: float, b: float) -> float:
        return float(world.log_tilt(*(np.asarray(v) for v in (sign * k, a, b, ref))))

    for a, b, goal in pieces:
        if goal and waiting > -np.inf:
            waiting = np.logaddexp(waiting, tilt(-1, a, b))
        elif goal:
            need = tilt(+1, a, b)
            if need <= rising:
                rising = _minus(rising, need)
            else:
                peak = _where(lambda x, a=a: tilt(+1, a, x), rising, a, b, world)
                rising, waiting = -np.inf, tilt(-1, peak, b)
        elif waiting > -np.inf:
            room = log_lambda + tilt(-1, a, b)
            if room < waiting:
                waiting = _minus(waiting, room)
            else:
                valley = _where(lambda x, a=a: log_lambda + tilt(-1, a, x), waiting, a, b, world)
                rising, waiting = log_lambda + tilt(+1, valley, b), -np.inf
        else:
            rising = np.logaddexp(rising, log_lambda + tilt(+1, a, b))
    return waiting == -np.inf


def _minus(x: float, y: float) -> float:
    """ln(e^x − e^y)."""
    if y == -np.inf or x == np.inf:
        return x
    return x + float(np.log(-np.expm1(y - x))) if y < x else -np.inf


def _where(amount: Callable[[float], float], target: float, a: float, b: float, world: Stretched) -> float:
    """The x in [a, b] up to which `amount`, rising in x, reaches the target; a bit short of it."""
    if target == -np.inf:
        return a
    if np.isinf(a) or np.isinf(b):
        centre = float(world.prior.quantile(0.5))
        spread = float(world.prior.quantile(0.75) - world.prior.quantile(0.25))
        while np.isinf(b) or np.isinf(a):
            edge = (max(a, centre) if np.isinf(b) else min(b, centre)) + (spread if np.isinf(b) else -spread)
            reached = amount(edge) >= target
            if np.isinf(b):
                a, b = (a, edge) if reached else (edge, b)
            else:
                a, b = (edge, b) if not reached else (a, edge)
            spread *= 2
            if spread > 1e300:
                break
    if amount(b) <= target:
        return b
    inner = np.nextafter(a, b)
    if amount(inner) >= target:
        return a
    return root(lambda x: amount(x) - target, float(inner), b)


def signed_zigzag(
    prior: LinePrior, form: LineForm, intervals: list[tuple[float, float]], k: float
) -> tuple[float, float]:
    """(attack, bound) of the signed gain; a loss is the gain of the complement."""
    if k == 0:
        return 0.0, 0.0
    pieces = components(prior, intervals)
    if k < 0:
        pieces = [(a, b, not goal) for a, b, goal in pieces]
    attack, bound = zigzag(prior, form, pieces, abs(k))
    return (attack, bound) if k > 0 else (-attack, -bound)


def region_log_prior(prior: LinePrior, intervals: list[tuple[float, float]]) -> tuple[Array, Array]:
    """ln P and ln(1 − P) of a union of intervals."""
    pieces = components(prior, intervals)
    inside = [float(prior.log_tilt(0.0, a, b)) for a, b, goal in pieces if goal]
    outside = [float(prior.log_tilt(0.0, a, b)) for a, b, goal in pieces if not goal]
    log_p, log_q = (np.asarray(np.logaddexp.reduce(part) if part else -np.inf) for part in (inside, outside))
    return log_p, log_q
