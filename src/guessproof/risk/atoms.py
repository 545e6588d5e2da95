"""The tent on a prior with finitely many numbers: the peak need only range over the numbers in G.

With A and B the goal's masses on the left and on the right of the peak, tilted, and C and D those outside, the odds are
at most max(A/C, B/D) wherever the peak's own mass is split between the two sides (theory §3), and where these
balance the tent attains them. A/C rises along the numbers and B/D falls, so the balance is found by halving.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from guessproof.risk.runs import Slopes
from guessproof.risk.tent import SMALL
from guessproof.world.checks import Array
from guessproof.world.finite import Finite
from guessproof.world.line_form import LineForm

Places = NDArray[np.int64]

_FEW = 8  # goals at one ε up to which each is worked out by itself


def atoms_log_prior(prior: Finite, lo: ArrayLike, hi: ArrayLike) -> tuple[Array, Array]:
    """ln P(lo ≤ X ≤ hi) and ln P(otherwise), summed apart so that neither cancels."""
    atoms = Atoms.of(prior, LineForm())
    lo, hi = np.broadcast_arrays(np.asarray(lo, dtype=np.float64), np.asarray(hi, dtype=np.float64))
    return atoms.log_prior(*atoms.places(lo, hi))


def atoms_tent(prior: Finite, form: LineForm, lo: ArrayLike, hi: ArrayLike, k: ArrayLike) -> tuple[Array, Array]:
    """(attack, bound) of the signed gain at k = ±ε for the goal lo ≤ x ≤ hi, as in `tent`."""
    lo, hi, k = np.broadcast_arrays(*(np.asarray(v, dtype=np.float64) for v in (lo, hi, k)))
    atoms = Atoms.of(prior, form)
    first, last = (v.ravel() for v in atoms.places(lo, hi))
    attack, bound = np.zeros(k.size), np.zeros(k.size)
    for value in np.unique(k[k != 0]):
        rows = np.flatnonzero(k.ravel() == value)
        attack[rows], bound[rows] = atoms.gains(first[rows], last[rows], float(value))
    return attack.reshape(k.shape), bound.reshape(k.shape)


@dataclass(frozen=True, eq=False)
class Atoms:
    """Numbers that can occur, their probabilities, and ψ there."""

    points: Array
    mass: Array
    psi: Array

    @staticmethod
    def of(prior: Finite, form: LineForm) -> Atoms:
        """Those of a prior, without the impossible ones."""
        some = prior.mass > 0
        points = prior.points[some]
        return Atoms(points, prior.mass[some], form.psi(points))

    def places(self, lo: Array, hi: Array) -> tuple[Places, Places]:
        """The first and the last atom in each interval."""
        first, last = np.searchsorted(self.points, lo), np.searchsorted(self.points, hi, side="right") - 1
        return first.astype(np.int64), last.astype(np.int64)

    @cached_property
    def _plain(self) -> Slopes:
        return Slopes(self.mass, np.zeros(self.mass.size), 1.0)

    def log_sum(self, first: Places, last: Places) -> Array:
        """ln of the mass of each run of atoms, −∞ for an empty one."""
        return self._plain.left(first, last)[0]

    def log_prior(self, first: Places, last: Places) -> tuple[Array, Array]:
        """ln P and ln(1 − P) of each run of atoms."""
        end = np.full_like(last, self.mass.size - 1)
        before, after = self.log_sum(np.zeros_like(first), first - 1), self.log_sum(last + 1, end)
        return self.log_sum(first, last), np.logaddexp(before, after)

    def gains(self, first: Places, last: Places, k: float) -> tuple[Array, Array]:
        """(attack, bound) of the signed gain of each run at one k."""
        if first.size <= _FEW:
            found = np.array([self.gain(int(i), int(j), k) for i, j in zip(first, last, strict=True)])
            return signed(found, rounding(found), k)
        slopes = Slopes(self.mass, self.psi, k)
        attack, bound = tents(slopes, first, last, balance(slopes, first, last, first, last))
        log_p, log_q = self.log_prior(first, last)
        base = log_p - log_q
        attack, bound = attack - base, bound - base
        for row in np.flatnonzero(np.abs(bound) < SMALL):  # differences of logarithms have lost digits
            exact = np.array([self.gain(int(first[row]), int(last[row]), k)])
            (attack[row],), (bound[row],) = signed(exact, rounding(exact), k)
        return attack, bound

    def gain(self, first: int, last: int, k: float) -> float:
        """The gain of the best peak (k > 0) or valley (k < 0) of one run, worked out atom by atom."""
        log_mass, psi = np.log(self.mass), self.psi
        inside = slice(first, last + 1)
        left, right = k * (psi - psi[first]), k * (psi[last] - psi)
        rising = np.logaddexp.accumulate((log_mass + left)[inside])
        falling = np.logaddexp.accumulate((log_mass + right)[inside][::-1])[::-1]
        falling = np.append(falling[1:], -np.inf)  # strictly right of the peak
        before = np.logaddexp.reduce((log_mass + left)[:first], initial=-np.inf)
        after = np.logaddexp.reduce((log_mass + right)[last + 1 :], initial=-np.inf)
        # Heights of the two slopes seen from a peak at x: e^{−k(ψ(x)−ψ(first))} and e^{−k(ψ(last)−ψ(x))}.
        left, right = left[inside], right[inside]
        odds = np.logaddexp(rising - left, falling - right) - np.logaddexp(before - left, after - right)
        best = int(np.argmax(odds) if k > 0 else np.argmin(odds))
        p, q = float(self.mass[inside].sum()), float(self.mass[:first].sum() + self.mass[last + 1 :].sum())
        gain = float(odds[best] - (np.log(p) - np.log(q)))
        return self._small_gain(first, last, k, float(psi[first + best]), p, q) if abs(gain) < SMALL else gain

    def _small_gain(self, first: int, last: int, k: float, peak: float, p: float, q: float) -> float:
        """The gain of a tent from the likelihood's deficits below 1, exact for tiny k."""
        deficit = -np.expm1(-k * np.abs(self.psi - peak)) * self.mass
        lost_in = float(deficit[first : last + 1].sum())
        lost_out = float(deficit[:first].sum() + deficit[last + 1 :].sum())
        advantage = (p * lost_out - q * lost_in) / (1 - lost_in - lost_out)
        return float(np.log1p(advantage / (p * (q - advantage))))


def correct_run(prior: Finite, marks: Array) -> tuple[int, int] | None:
    """The first and the last correct one of the numbers that can occur, where all between them are correct."""
    places = np.flatnonzero(marks[prior.mass > 0])
    whole = places.size > 0 and places[-1] - places[0] + 1 == places.size
    return (int(places[0]), int(places[-1])) if whole else None


def balance(slopes: Slopes, first: Places, last: Places, low: Places, high: Places, which: Any = 0) -> Places:
    """The first atom c between low and high with A(c)/C ≥ B(c)/D, for runs first … last."""
    low, high = _one_sided(slopes, first, last, low), _one_sided(slopes, first, last, high)
    todo = np.flatnonzero(low < high)
    before, after = slopes.before(first, which), slopes.after(last, which)
    while todo.size:
        i, j, middle = first[todo], last[todo], (low[todo] + high[todo]) // 2
        left, right = slopes.left_odds(before.pick(todo), i, middle), slopes.right_odds(after.pick(todo), middle + 1, j)
        reached = left >= right
        high[todo] = np.where(reached, middle, high[todo])
        low[todo] = np.where(reached, low[todo], middle + 1)
        todo = todo[low[todo] < high[todo]]
    return low


def _one_sided(slopes: Slopes, first: Places, last: Places, peak: Places) -> Places:
    """With nothing outside on the left all of G answers to the right: the peak is its first atom; and the other way."""
    return np.where(first == 0, first, np.where(last == slopes.last, last, peak))


def tents(slopes: Slopes, first: Places, last: Places, peak: Places, which: Any = 0) -> tuple[Array, Array]:
    """Log-odds of the tent with this peak, and those that no likelihood exceeds (k < 0: falls below).

    Any peak gives an attack and a bound; at the balance they meet.
    """
    peak = _one_sided(slopes, first, last, peak)
    before, after = slopes.before(first, which), slopes.after(last, which)
    x, a = slopes.left_odds(before, first, peak - 1), slopes.left_odds(before, peak, peak)
    y, b = slopes.right_odds(after, peak + 1, last), slopes.right_odds(after, peak, peak)
    with np.errstate(invalid="ignore"):
        left, right = np.logaddexp(x, a), np.logaddexp(y, b)
        if slopes.is_tent:  # the goal's mass seen from the peak, in units of the peak's own
            odds = np.logaddexp(np.logaddexp(x - a, y - b), 0.0) - np.logaddexp(-a, -b)
            too_left, too_right = x, y
        else:  # a mixture of both sides
            odds = np.logaddexp(left - np.logaddexp(0.0, a - b), y - np.logaddexp(0.0, b - a))
            too_left, too_right = right, left
        # Where no split of the peak's mass balances, the better end of it bounds.
        bound = np.where(x > right, too_left, np.where(y > left, too_right, odds))
    for only, one_sided in ((np.isnan(a), right), (np.isnan(b), left)):  # nothing outside on one side sets no limit
        odds, bound = np.where(only, one_sided, odds), np.where(only, one_sided, bound)
    noise = 1e-14 * (4 + np.abs(bound))
    way = 1 if slopes.is_tent else -1
    return signed(odds, noise, way)[0], signed(bound, noise, way)[1]


def signed(value: Array, noise: Array, k: float) -> tuple[Array, Array]:
    """(attack, bound) around a value that is known up to rounding: a bound is above for k > 0, below otherwise."""
    return (value - noise, value + noise) if k > 0 else (value + noise, value - noise)


def rounding(gain: Array) -> Array:
    """How far rounding can move a gain that was worked out atom by atom."""
    return 1e-13 * np.minimum(np.abs(gain), 1.0) + 4e-15 * np.abs(gain)
