"""How far a belief can lie above the straight line between its values at two ε, beside finitely many numbers.

What `gaps` says of tents holds here as well, and more is known: the best tent peaks at one of the numbers in the goal
(theory §3), so that only finitely many s occur, and for each of them ln ∫ e^{εs} f is a sum. Of many numbers, those
that lie close together are judged by one of them, as `gaps` judges the peaks between two others.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from guessproof.risk.atoms import Atoms, Places
from guessproof.risk.gaps import enough_peaks, gap_near, gap_of_logs, rates_around
from guessproof.world.checks import Array

_BINS, _FAR = 512, 600.0  # numbers that stand for all, and how far exponentials reach
_AT_ONCE = 1 << 21  # exponentials that are worked out together


@dataclass(frozen=True, eq=False)
class AtomPeaks:
    """Some of the numbers, how far from each those lie that it stands for, and the first of these."""

    places: Places
    away: Array
    first: Places

    @staticmethod
    def among(psi: Array, count: int) -> AtomPeaks:
        """All numbers where they are not more than so many, else one for each of so many parts of where they lie."""
        if psi.size <= count:
            return AtomPeaks(np.arange(psi.size), np.zeros(psi.size), np.arange(psi.size))
        wide = float(psi[-1] - psi[0])
        part = np.floor((psi - psi[0]) / wide * count) if wide > 0 else np.zeros(psi.size)
        first = np.flatnonzero(np.diff(part, prepend=-1.0))
        last = np.append(first[1:], psi.size) - 1
        places = (first + last) // 2
        return AtomPeaks(places, np.maximum(psi[last] - psi[places], psi[places] - psi[first]), first)


def gap_of_rest(atoms: Atoms, run: tuple[int, int], first: Array, second: Array) -> Array:
    """g of what lies outside a run of numbers, for tents that peak in it, for each two ε."""
    psi, inside = atoms.psi, slice(run[0], run[1] + 1)
    goal = psi[inside]
    found = np.zeros(first.shape)
    for rows, peaks in _peaks_for(goal, first, second):
        rates = _rates(first[rows], second[rows])
        left = log_sums(atoms.mass[: run[0]], psi[: run[0]] - goal[0], rates)
        right = log_sums(atoms.mass[run[1] + 1 :], goal[-1] - psi[run[1] + 1 :], rates)
        at = goal[peaks.places][:, None, None]
        with np.errstate(invalid="ignore"):
            ends = np.logaddexp(left - rates * (at - goal[0]), right - rates * (goal[-1] - at))
        found[rows] = _largest(ends, peaks.away, first[rows], second[rows], 0.0)
    return found


def gap_of_peaks(
    atoms: Atoms, run: tuple[int, int], first: Array, second: Array, sign: int, step: float = 0.0
) -> Array:
    """g of a run of numbers itself, for tents (sign +1) or valleys (−1) that peak in it, for each two ε.

    All numbers are a run too. A step is part of what is compared where only some of these are believed in.
    """
    mass, psi = (v[run[0] : run[1] + 1] for v in (atoms.mass, atoms.psi))
    found = np.zeros(first.shape)
    for rows, peaks in _peaks_for(psi, first, second):
        ends = _log_tents(mass, psi, peaks.places, sign * _rates(first[rows], second[rows]))
        found[rows] = _largest(ends, peaks.away, first[rows], second[rows], step)
    return found


def _peaks_for(psi: Array, first: Array, second: Array) -> list[tuple[Places, AtomPeaks]]:
    """Which intervals of ε are judged by which peaks."""
    count = enough_peaks(second * (psi[-1] - psi[0]))
    return [(np.flatnonzero(count == n), AtomPeaks.among(psi, int(n))) for n in np.unique(count)]


def _rates(first: Array, second: Array) -> Array:
    """Half an interval below, half an interval above, and in the middle."""
    return np.stack([1.5 * first - 0.5 * second, 1.5 * second - 0.5 * first, 0.5 * first + 0.5 * second])


def _largest(ends: Array, away: Array, first: Array, second: Array, step: float) -> Array:
    """The largest g of all peaks (the first axis of `ends`)."""
    apart = away[:, None] + 0.5 * step
    with np.errstate(invalid="ignore", over="ignore"):
        gaps = gap_near(np.moveaxis(ends, 1, 0), (second - first) * apart, 2 * second * apart)
    return np.max(gaps, axis=0)


def log_sums(mass: Array, x: Array, rates: Array) -> Array:
    """ln Σ mass·e^{rate·x} for each rate, −∞ over nothing."""
    if not mass.size:
        return np.full(rates.shape, -np.inf)
    found, flat = np.empty(rates.size), rates.ravel()
    size, top = max(1, _AT_ONCE // mass.size), np.where(flat > 0, x.max(), x.min())  # where e^{rate·x} is largest
    for i in range(0, flat.size, size):
        some = slice(i, i + size)
        found[some] = np.exp((x[:, None] - top[some]) * flat[some]).T @ mass
    with np.errstate(divide="ignore"):
        return (np.log(found) + flat * top).reshape(rates.shape)


def _log_tents(mass: Array, psi: Array, places: Places, rates: Array) -> Array:
    """ln Σ mass·e^{−rate·|ψ−ψ(c)|} for each peak c, by its place, and each rate.

    What is known up to one peak is part of what is known up to the next one.
    """
    at, flat = psi[places], rates.ravel()
    found = np.empty((places.size, flat.size))
    size = max(1, _AT_ONCE // mass.size)
    for i in range(0, flat.size, size):
        rate = flat[i : i + size]
        rising = (at - at[0])[:, None] * rate  # carried to the first peak and back
        left = np.logaddexp.accumulate(_log_blocks(mass, psi, places, rate) + rising) - rising
        right = np.logaddexp.accumulate(_log_blocks(mass, -psi, places, rate, after=True)[::-1] - rising[::-1])
        found[:, i : i + size] = np.logaddexp(left, right[::-1] + rising)
    return found.reshape((places.size, *rates.shape))


def _log_blocks(mass: Array, x: Array, places: Places, rates: Array, *, after: bool = False) -> Array:
    """ln Σ mass·e^{rate·(x−x(c))} of the numbers from one peak up to the next one c, or behind c up to the next."""
    own = np.arange(mass.size)
    if after:
        some, starts = slice(places[0] + 1, None), places + 1
        peak = np.searchsorted(places, own[some], side="left") - 1
    else:
        some, starts = slice(None, places[-1] + 1), np.append(0, places[:-1] + 1)
        peak = np.searchsorted(places, own[some], side="left")
    terms = mass[some, None] * np.exp((x[some] - x[places[peak]])[:, None] * rates)
    found = np.zeros((places.size, rates.size))
    start_of = starts - (some.start or 0)
    held = start_of < len(terms)  # behind the last number there is nothing
    if held.any():
        found[held] = np.add.reduceat(terms, start_of[held])
    with np.errstate(divide="ignore"):
        return np.log(found)


_Pair = tuple[Array, Array]


class AtomBins:
    """Many numbers judged by fewer that stand for those around them: g of all of them, for tents of all peaks.

    Where ψ of each number is moved by h at most, so is every s, as if a peak were further away.
    """

    def __init__(self, atoms: Atoms, factor: float, step: float) -> None:
        peaks = AtomPeaks.among(atoms.psi, _BINS)
        self.psi, self.mass = atoms.psi[peaks.places], np.add.reduceat(atoms.mass, peaks.first)
        self.off, self.factor, self.step = float(np.max(peaks.away)), factor, step
        self.bin_of = np.repeat(np.arange(peaks.first.size), np.diff(peaks.first, append=atoms.psi.size))
        self._known: dict[tuple[float, float], Array] = {}

    def gap(self, low: Places, high: Places, first: Array, second: Array) -> tuple[Array, Array]:
        """g for peaks between two numbers, for each two rates; and in the middle of the peaks alone.

        Of two neighbours each is judged by itself, however far apart they are.
        """

        def at(c: Places, sums: _BinSums) -> Array:
            return sums.seen_from(c, c + 1, c + 1)

        return self._of_both(low, high, (first, second), at, 0.5 * self.step)

    def gap_of_rest(
        self,
        at_most: tuple[Places, Places],
        at_least: tuple[Places, Places],
        peaks: tuple[Places, Places],
        rates: _Pair,
    ) -> Array:
        """g of what lies outside of runs, for tents: of runs that lie in one and hold another; infinite where these
        have nothing in common, or a peak may lie outside."""
        count, bins = self.bin_of.size, self.psi.size
        known = np.append(self.bin_of, bins)
        inner = np.where(at_least[0] > 0, self.bin_of[at_least[0] - 1] + 1, 0), known[at_least[1]]
        outer = known[np.minimum(at_most[0], count)], self.bin_of[at_most[1] - 1] + 1
        ends = [self.bin_of[p] for p in peaks]
        inside = (at_least[1] > at_least[0]) & (ends[0] >= inner[0]) & (ends[1] < inner[1])

        def at(c: Places, sums: _BinSums) -> Array:
            return sums.seen_from(c, *inner)

        def less(c: Places, sums: _BinSums) -> Array:
            return sums.seen_from(c, *outer)[0]

        with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
            found = self._of_both(*peaks, rates, at, 0.0, less)[0]
        return np.where(inside, found, np.inf)

    def _of_both(
        self,
        low: Places,
        high: Places,
        rates: _Pair,
        seen: Callable[[Places, _BinSums], Array],
        step: float,
        less: Callable[[Places, _BinSums], Array] | None = None,
    ) -> _Pair:
        sums, close = self._sums(*rates), high <= low + 1
        found = list[_Pair]()
        for end in (low, high):
            a, b = (self.bin_of[np.where(close, end, other)] for other in (low, high))
            c = (a + b) // 2
            apart = np.maximum(self.psi[b] - self.psi[c], self.psi[c] - self.psi[a]) + 2 * self.off
            logs = seen(c, sums)
            known = logs[0] if less is None else less(c, sums)
            found.append(gap_of_logs(logs, known, (apart + step, self.off + step), rates, self.factor))
        return np.maximum(found[0][0], found[1][0]), np.maximum(found[0][1], found[1][1])

    def _sums(self, first: Array, second: Array) -> _BinSums:
        """What bins hold below and above each place, at the rates around each two; each two are added up once."""
        pairs, inverse = np.unique(np.stack([first, second]), axis=1, return_inverse=True)
        for a, b in pairs.T:
            if (float(a), float(b)) not in self._known:
                self._known[float(a), float(b)] = self._added(float(a), float(b))
        known = np.stack([self._known[float(a), float(b)] for a, b in pairs.T])
        return _BinSums(known, inverse.ravel())

    def _added(self, first: float, second: float) -> Array:
        """e^x with x = rate·ψ for each rate, Σ mass·e^x below each place, Σ mass·e^{−x} above it."""
        x = rates_around(np.array([first]), np.array([second]), self.factor) * (self.psi - self.psi[0])
        x = np.where(np.max(np.abs(x), axis=1, keepdims=True) > _FAR, np.nan, x)  # where exponentials end
        none = np.zeros((len(x), 1))
        below = np.concatenate([none, np.cumsum(self.mass * np.exp(x), axis=1)], axis=1)
        above = np.concatenate([np.cumsum((self.mass * np.exp(-x))[:, ::-1], axis=1)[:, ::-1], none], axis=1)
        return np.stack([np.concatenate([np.exp(x), none], axis=1), below, above])


@dataclass(frozen=True, eq=False)
class _BinSums:
    """By two rates: e^x, and sums below and above each place, at the rates around; and which two each row has."""

    known: Array
    pair: Places

    def seen_from(self, c: Places, lo: Places, hi: Places) -> Array:
        """ln Σ mass·e^{−rate·|ψ−ψ(c)|} of what lies below one place, left of c, and from another on, right of it."""
        unit, below, above = (self.known[self.pair, i, :, at].T for i, at in ((0, c), (1, lo), (2, hi)))
        return np.log(below / unit + above * unit)
