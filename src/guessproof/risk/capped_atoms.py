"""A run of numbers under min(|ψ − ψ'|, cap), on a prior with finitely many of them: the exact answer.

The best likelihood is the table mountain (or basin) of `capped`. With atoms instead of a density, what a shape gains
over a given factor of the odds changes its slope only where an end of a slope meets an atom: at ψ_i, ψ_i + cap
and ψ_i − cap. So the ends of the flat part are found by halving among these places, and where the ends cross, the one
peak lies at such a place or where both slopes balance between two of them, which is a formula. All runs are worked out
together; the sums are those of `runs`, so that no ε·cap is too large.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from guessproof.risk.atoms import Atoms, Places
from guessproof.risk.limits import Gain
from guessproof.risk.runs import Slopes
from guessproof.risk.tent import SMALL
from guessproof.world.checks import Array
from guessproof.world.finite import Finite
from guessproof.world.line_form import LineForm

_STEPS = 100


@dataclass(frozen=True, eq=False)
class CappedAtoms:
    """Numbers that can occur, how far apart they count as far as possible, and the places where slopes change."""

    atoms: Atoms
    cap: float

    def gains(self, first: Places, last: Places, k: float) -> tuple[Array, Array]:
        """(attack, bound) of the signed gain of each run at one k = ±ε."""
        hills = _Hills(self, first, last, k)
        gain, todo = np.zeros(first.size), np.arange(first.size)
        left, right = self.atoms.psi[first], self.atoms.psi[last]  # of the best flat parts
        for _ in range(_STEPS):
            if not todo.size:
                break
            some = hills.pick(todo)
            u, v = some.flat_part(gain[todo])
            found = some.attained(u, v)
            better = found > gain[todo]
            left[todo], right[todo] = np.where(better, u, left[todo]), np.where(better, v, right[todo])
            again = found > gain[todo] + 1e-13 * (1 + gain[todo])
            gain[todo] = np.maximum(gain[todo], found)
            todo = todo[again]
        noise = 1e-12 * (1 + gain) + 1e-15 * abs(k) * self.cap
        for row in np.flatnonzero(gain < SMALL):  # differences of logarithms have lost digits
            gain[row] = max(hills.small_gain(int(row), float(left[row]), float(right[row])), 0.0)
            noise[row] = 1e-11 * gain[row] + 1e-300
        most = np.minimum(gain + noise, abs(k) * self.cap)
        attack = np.clip(gain - noise, 0.0, most)
        return (attack, most) if k > 0 else (-attack, -most)


class _Hills:
    """The mountains (k > 0) or basins (k < 0) of several runs, and what they attain."""

    def __init__(self, world: CappedAtoms, first: Places, last: Places, k: float) -> None:
        atoms, self.cap, self.k = world.atoms, world.cap, k
        self.atoms, self.psi, self.size = atoms, atoms.psi, atoms.mass.size
        self.first, self.last = first, last
        self.slopes = Slopes(atoms.mass, atoms.psi, k)
        self.log_flat, self.log_rest = (0.0, -k * self.cap) if k > 0 else (k * self.cap, 0.0)
        self.log_p, self.log_q = atoms.log_prior(first, last)
        self.places = np.unique(np.concatenate([self.psi, self.psi + self.cap, self.psi - self.cap]))

    def pick(self, which: Any) -> _Hills:
        """Some of the runs."""
        some = object.__new__(_Hills)
        some.__dict__.update(self.__dict__)
        some.first, some.last = self.first[which], self.last[which]
        some.log_p, some.log_q = self.log_p[which], self.log_q[which]
        return some

    def flat_part(self, gain: Array) -> tuple[Array, Array]:
        """The best ends of the flat parts, if odds that change by e^{gain} are to be beaten."""
        worth = (-self.log_p, gain - self.log_q) if self.k > 0 else (gain - self.log_p, -self.log_q)
        ends = (np.searchsorted(self.places, self.psi[i]) for i in (self.first, self.last))
        low, high = (e.astype(np.int64) for e in ends)

        def rises(at: Array) -> Any:
            inside, outside = self._left(at)
            return worth[0] + inside >= worth[1] + outside

        def falls(at: Array) -> Any:
            inside, outside = self._right(at)
            return worth[0] + inside < worth[1] + outside  # a slope over a gap holds nothing, and may go on

        u, v = self.places[_first(rises, self.places, low, high)], self.places[_first(falls, self.places, low, high)]
        cross = np.flatnonzero(u > v)
        if cross.size:
            some = self.pick(cross)
            u[cross] = v[cross] = some._peak(v[cross], u[cross], (worth[0][cross], worth[1][cross]))
        return u, v

    def _peak(self, low: Array, high: Array, worth: tuple[Array, Array]) -> Array:
        """The best peak between two places: where both slopes, each of which wants to be moved outwards, balance."""

        def want(at: Array) -> tuple[Array, Array]:
            """How much moving a peak from here to the right changes on its left and on its right, as logarithms."""
            (in_left, out_left), (in_right, out_right) = self._left(at), self._right(at)
            gained = np.logaddexp(worth[1] + out_left, worth[0] + in_right)
            return gained, np.logaddexp(worth[0] + in_left, worth[1] + out_right)

        def passed(at: Array) -> Any:
            gained, lost = want(at)
            return gained <= lost

        start, end = (np.searchsorted(self.places, x).astype(np.int64) for x in (low, high))
        right = _first(passed, self.places, start, end)
        at, before = self.places[right], self.places[np.maximum(right - 1, start)]
        # From `before` on the left slope's part shrinks with e^{−k·way} and the right one's grows with e^{k·way}.
        (in_left, out_left), (in_right, out_right) = self._left(before), self._right(before)
        with np.errstate(invalid="ignore", divide="ignore"):
            owed = _log_less(worth[1] + out_left, worth[0] + in_left)
            owing = _log_less(worth[1] + out_right, worth[0] + in_right)
            way = (owed - owing) / (2 * self.k)
        middle = before + np.where(np.isfinite(way), np.clip(way, 0.0, at - before), 0.0)
        beliefs = [self.attained(c, c) for c in (middle, at, before)]
        best = np.argmax(beliefs, axis=0)
        return np.choose(best, [middle, at, before])

    def attained(self, u: Array, v: Array) -> Array:
        """The gain of the shapes that are flat between u and v."""
        start, top, _ = self._ends(u)
        _, plateau, end = self._ends(v)
        left, right, plain = self._left(u), self._right(v), self._plain
        met, missed = [], []
        for log_height, i, j in (
            (self.log_flat, top + 1, plateau),
            (self.log_rest, np.zeros_like(start), start - 1),
            (self.log_rest, end + 1, np.full_like(end, self.size - 1)),
        ):
            met.append(log_height + plain(np.maximum(i, self.first), np.minimum(j, self.last)))
            missed += [log_height + plain(i, np.minimum(j, self.first - 1))]
            missed += [log_height + plain(np.maximum(i, self.last + 1), j)]
        met += [self.log_flat + side[0] for side in (left, right)]
        missed += [self.log_flat + side[1] for side in (left, right)]
        with np.errstate(invalid="ignore"):
            gain = (np.logaddexp.reduce(met) - self.log_p) - (np.logaddexp.reduce(missed) - self.log_q)
        return gain if self.k > 0 else -gain

    def small_gain(self, row: int, u: float, v: float) -> float:
        """The gain of one run's shape from how far the likelihood lies below 1, exact for tiny k."""
        way = np.clip(np.maximum(u - self.psi, self.psi - v), 0.0, self.cap)
        below = way - way.min() if self.k > 0 else way.max() - way  # what is nowhere attained would be lost everywhere
        deficit = -np.expm1(-abs(self.k) * below) * self.atoms.mass
        inside = np.zeros(self.size, dtype=bool)
        inside[self.first[row] : self.last[row] + 1] = True
        p, q = float(self.atoms.mass[inside].sum()), float(self.atoms.mass[~inside].sum())
        lost_in, lost_out = float(deficit[inside].sum()), float(deficit[~inside].sum())
        rise = (p * lost_out - q * lost_in) / (1 - lost_in - lost_out)
        return abs(float(np.log1p(rise / (p * (q - rise)))))

    def _ends(self, at: Array) -> tuple[Places, Places, Places]:
        """The first atom of a left slope that ends here, its last one, and the last one of a right slope from here."""
        slack = 1e-15 * (np.abs(at) + self.cap)  # a place was made from an atom: what rounding leaves of it is passed
        start = np.searchsorted(self.psi, at - self.cap + slack, side="right")
        top = np.searchsorted(self.psi, at + slack, side="right") - 1
        end = np.searchsorted(self.psi, at + self.cap + slack, side="right") - 1
        return start.astype(np.int64), top.astype(np.int64), end.astype(np.int64)

    def _left(self, at: Array) -> tuple[Array, Array]:
        """ln of the mass inside and outside the goals on the left slopes that end here, at height 1 there."""
        start, top, _ = self._ends(at)
        return self._tilted(self.slopes.left, np.maximum(start, self.first), np.minimum(top, self.last), at, 1), (
            self._tilted(self.slopes.left, start, np.minimum(top, self.first - 1), at, 1)
        )

    def _right(self, at: Array) -> tuple[Array, Array]:
        """The same on the right slopes from here."""
        _, top, end = self._ends(at)
        return self._tilted(self.slopes.right, np.maximum(top + 1, self.first), np.minimum(end, self.last), at, -1), (
            self._tilted(self.slopes.right, np.maximum(top + 1, self.last + 1), end, at, -1)
        )

    def _tilted(self, run: Callable[..., tuple[Array, Any]], i: Places, j: Places, at: Array, sign: int) -> Array:
        total, unit = run(i, j)
        away = self.psi[np.clip(unit, 0, self.size - 1)] - at
        return np.where(i > j, -np.inf, total + sign * self.k * away)

    def _plain(self, i: Places, j: Places) -> Array:
        return self.atoms.log_sum(i, j)


def _first(is_there: Callable[[Array], NDArray[np.bool_]], places: Array, low: Places, high: Places) -> Places:
    """The first of the places low … high from which on something holds, the last one where it does nowhere."""
    low, high = low.copy(), high.copy()
    for _ in range(64):
        if not np.any(low < high):
            break
        middle = (low + high) // 2
        there = is_there(places[middle])
        low, high = np.where(there | (low >= high), low, middle + 1), np.where(there, middle, high)
    return low


def _log_less(x: Array, y: Array) -> Array:
    """ln(e^x − e^y), NaN where that is negative."""
    return x + np.log1p(-np.exp(y - x))


def told_apart(prior: Finite, form: LineForm) -> bool:
    """Whether all numbers differ in ψ by more than rounding: what is said here of runs holds for such."""
    psi = Atoms.of(prior, form).psi
    return bool(np.all(np.diff(psi) > 1e-12 * (np.abs(psi[1:]) + np.abs(psi[:-1]) + form.cap)))


def capped_gain(prior: Finite, form: LineForm, lo: Array, hi: Array) -> tuple[Gain, str]:
    """The gains of intervals of numbers, and how they are found."""
    atoms = Atoms.of(prior, form)
    world = CappedAtoms(atoms, min(form.cap, float(atoms.psi[-1] - atoms.psi[0])))  # no two are further apart

    def gain(k: Array) -> tuple[Array, Array]:
        k, low, high = np.broadcast_arrays(k, lo, hi)
        first, last = (v.ravel() for v in world.atoms.places(low, high))
        attack, bound = np.zeros(k.size), np.zeros(k.size)
        for value in np.unique(k[k != 0]):
            rows = np.flatnonzero(k.ravel() == value)
            attack[rows], bound[rows] = world.gains(first[rows], last[rows], float(value))
        return attack.reshape(k.shape) + k * form.step, bound.reshape(k.shape) + k * form.step

    return gain, "table mountain or basin on the prior's own values"
