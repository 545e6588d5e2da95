"""The worst true value beside a prior with finitely many values.

Along the line G(t) is a run of consecutive atoms, and as t rises so do its ends: at most twice as many runs as atoms
occur. Runs between two others lie inside the run from the first one's start to the second one's end, and hold the one
from the second one's start to the first one's end, so beliefs after the release are at most those in the former and
beliefs before at least those in the latter. Stretches of runs whose bound cannot beat the best run found so far are
dropped, the others cut into shorter ones, down to single runs. The peak of the best tent rises along the runs, so it
need only be looked for between those of the neighbours.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any, TypeVar

import numpy as np

from guessproof.errors import GoalError
from guessproof.risk.atoms import Atoms, Places, balance, rounding, signed, tents
from guessproof.risk.limits import largest_epsilon, posterior_of
from guessproof.risk.runs import Slopes
from guessproof.risk.truth_ends import Worst
from guessproof.risk.truth_search import Direction
from guessproof.risk.truths import possible_values, values_along
from guessproof.risk.worst_listed import gain_limit, measure_gain, some_open
from guessproof.world.attributes import Attribute
from guessproof.world.checks import Array
from guessproof.world.finite import Finite
from guessproof.world.goals import Exactly, Goal, Within

T = TypeVar("T", float, Array)

_AT_ONCE = 1 << 20  # numbers of sums that are kept, for several ε together
_PARTS = 8  # stretches that one is cut into
_THIN = 1000  # atoms that give a first idea of ε
_DIRECT = 2_000_000  # atoms looked at in checking the last contenders one by one
_LARGEST = 1e100
_SLACK = 1e-10  # relative: what a dropped stretch may exceed the best run by


@dataclass(frozen=True, eq=False)
class Runs:
    """Runs of atoms that are the correct guesses of some true value, in order, under |ψ(x) − ψ(x')| and a step."""

    atoms: Atoms
    step: float
    at: Array  # a true value for each run
    first: Places
    last: Places
    certain: float | None = None  # a true value at which every atom is a correct guess

    @staticmethod
    def of(attribute: Attribute, goal: Goal) -> Runs | None:
        """The runs of a goal about one number; None where they are none, or the distance has no ψ."""
        prior, form = attribute.prior, attribute.distance.line_form
        assert isinstance(prior, Finite)
        plain = isinstance(goal, (Within, Exactly)) and prior.is_line and form is not None and np.isinf(form.cap)
        if not plain:
            return None
        assert form is not None
        atoms = Atoms.of(prior, form)
        if isinstance(goal, Within):
            t = (
                values_along(attribute, goal)
                if prior.between is not None
                else np.asarray(possible_values(attribute), dtype=np.float64)
            )
            first, last = goal.window(atoms.points, t)
        else:
            t = np.asarray(possible_values(attribute), dtype=np.float64)
            first = last = np.searchsorted(atoms.points, t)
        return Runs.made(atoms, form.step, t, first, last)

    @staticmethod
    def made(atoms: Atoms, step: float, t: Array, first: Any, last: Any) -> Runs:
        """Runs without those that are empty, each once; the run of all atoms apart."""
        some = last >= first
        t, first, last = t[some], first[some].astype(np.int64), last[some].astype(np.int64)
        if not t.size:
            raise GoalError(
                "goal", "no value", "the prior has no value near any true value", "widen the goal or the bounds"
            )
        changed = np.flatnonzero((np.diff(first) != 0) | (np.diff(last) != 0)) + 1
        starts, ends = np.concatenate([[0], changed]), np.append(changed, t.size)
        middle = (starts + ends - 1) // 2  # the middle of the true values that share a run stands for them
        t, first, last = t[middle], first[middle], last[middle]
        whole = (first == 0) & (last == atoms.mass.size - 1)
        certain = float(t[np.argmax(whole)]) if whole.any() else None
        return Runs(atoms, step, t[~whole], first[~whole], last[~whole], certain)

    @property
    def rise(self) -> bool:
        """Whether there are runs, both ends of them rise with the true value, and numbers are not all equally far."""
        if not self.at.size or self._is_flat:
            return False
        return bool(np.all(np.diff(self.first) >= 0) and np.all(np.diff(self.last) >= 0))

    @cached_property
    def log_prior(self) -> tuple[Array, Array]:
        return self.atoms.log_prior(self.first, self.last)

    def worst(self, epsilon: float, direction: Direction) -> Worst:
        """The worst of all true values: best attack, and what none exceeds."""
        return self.worst_each(np.array([epsilon]), direction)[0]

    def worst_each(self, epsilon: Array, direction: Direction) -> list[Worst]:
        """The same for several ε, as many at a time as sums of them stay small."""
        if self.certain is not None and direction == "posterior":
            return [Worst(self.certain, 1.0, 1.0, 1.0)] * epsilon.size
        some_open(self.at.size, self.certain is not None)
        points = 1 << max(1, (self.atoms.mass.size - 1).bit_length())
        some = max(1, _AT_ONCE // (points * points.bit_length()))
        found = list[tuple[int, float, float]]()
        for i in range(0, epsilon.size, some):
            found += self._search_each(_signed(epsilon[i : i + some], direction), direction)
        return [Worst(float(self.at[r]), v, b, float(np.exp(self.log_prior[0][r]))) for r, v, b in found]

    def epsilon(self, limit: float, direction: Direction) -> float:
        """The largest ε at which no true value exceeds the limit.

        Each step solves for ε at the worst run of the last step, which can only be too large, and looks for a worse one
        there. What is returned was proven for every run.
        """
        if limit >= 1:
            return np.inf
        if (self.certain is not None and direction == "posterior") or limit <= 0:
            return 0.0
        some_open(self.at.size, self.certain is not None)
        back, upper = 4e-12, self._allowed(limit, direction)
        for _ in range(60):
            if not np.isfinite(upper):
                break
            trial = upper * (1 - back)
            row, _, bound = self._search(_signed(trial, direction), direction)
            if bound <= limit:
                return trial
            found = self._alone(row, limit, direction)
            upper, back = (found, back) if found < trial else (upper, 8 * back)  # no worse run: only rounding
        return upper if np.isinf(upper) else 0.0

    def _allowed(self, limit: float, direction: Direction) -> float:
        """An ε that some run does not allow to be exceeded, near the least one; infinite where no run limits it."""
        trial = self._start(limit, direction)
        while True:
            row, _, bound = self._search(_signed(trial, direction), direction)
            found = self._alone(row, limit, direction)
            if np.isfinite(found) or (trial >= _LARGEST and bound <= limit):
                return found
            if trial >= _LARGEST:
                return _LARGEST
            trial = min(1e3 * trial, _LARGEST)

    def _start(self, limit: float, direction: Direction) -> float:
        """A first guess at ε: that of fewer atoms, or a typical one."""
        if self.atoms.mass.size > 2 * _THIN:
            found = self._thinned.epsilon(limit, direction)
            if 0 < found < _LARGEST:
                return found
        return self.typical

    @property
    def typical(self) -> float:
        """An ε at which the bulk of the prior is about one unit wide."""
        below = np.cumsum(self.atoms.mass)
        low, high = self.atoms.psi[np.searchsorted(below, [0.1, 0.9]).clip(0, below.size - 1)]
        return 1 / float(high - low) if high > low else 1.0

    @cached_property
    def _thinned(self) -> Runs:
        """About the same with fewer atoms and runs: only to start a search from."""
        part = np.linspace(0, self.atoms.mass.size, _THIN + 1).astype(np.int64)
        middle = (part[1:] + part[:-1]) // 2
        mass = np.add.reduceat(self.atoms.mass, part[:-1])
        atoms = Atoms(self.atoms.points[middle], mass / mass.sum(), self.atoms.psi[middle])
        rows = np.unique(np.linspace(0, self.at.size - 1, 4 * _THIN).astype(np.int64))
        first, last = (np.searchsorted(part, v[rows], side="right") - 1 for v in (self.first, self.last))
        return Runs.made(atoms, self.step, self.at[rows], first, last)

    def _alone(self, row: int, limit: float, direction: Direction) -> float:
        """The largest ε at which one run keeps the limit."""
        log_p, log_q = (float(v[row]) for v in self.log_prior)
        first, last, sign = int(self.first[row]), int(self.last[row]), (-1 if direction == "fall" else 1)

        def size(epsilon: Array) -> Array:
            e = float(epsilon)
            gain = 0.0 if self._is_flat or e == 0 else self.atoms.gain(first, last, sign * e)
            return np.asarray(sign * gain + e * self.step)

        return float(largest_epsilon(size, gain_limit(log_p, log_q, limit, direction)))

    @cached_property
    def _is_flat(self) -> bool:
        return float(np.ptp(self.atoms.psi)) == 0

    def _search(self, k: float, direction: Direction) -> tuple[int, float, float]:
        """The best run for the attacker, what it gives, and what no run exceeds."""
        return self._search_each(np.array([k]), direction)[0]

    def _search_each(self, k: Array, direction: Direction) -> list[tuple[int, float, float]]:
        """The same for several k of one sign, or 0 alone."""
        if np.any(k == 0) and k.size > 1:
            return [self._search(float(each), direction) for each in k]
        slopes = None if self._is_flat or k[0] == 0 else Slopes(self.atoms.mass, self.atoms.psi, k)
        asked = _Asked(slopes, k, direction)
        rows = np.unique(np.linspace(0, self.at.size - 1, min(self.at.size, 129)).astype(np.int64))
        which, rows = np.repeat(np.arange(k.size), rows.size), np.tile(rows, k.size)
        here = self._at(asked, which, rows, self.first[rows], self.last[rows])
        seen, settled, best = [here], np.zeros(k.size), np.full(k.size, -np.inf)
        np.maximum.at(best, here.which, here.value)
        beside = np.flatnonzero(which[1:] == which[:-1])
        left, right = here.pick(beside), here.pick(beside + 1)
        while True:
            wide = right.row - left.row > 1
            left, right = left.pick(wide), right.pick(wide)
            if not left.row.size:
                break
            bound = self._between(asked, left, right)
            keep = bound > best[left.which] * (1 + _SLACK)
            np.maximum.at(settled, left.which[~keep], bound[~keep])
            left, right, middle = self._cut(asked, left.pick(keep), right.pick(keep))
            seen.append(middle)
            np.maximum.at(best, middle.which, middle.value)
        every = _SeenRows.joined(seen)
        each = [every.pick(every.which == i) for i in range(k.size)]
        return [self._checked(e, float(settled[i]), float(k[i]), direction) for i, e in enumerate(each)]

    def _cut(self, asked: _Asked, left: _SeenRows, right: _SeenRows) -> tuple[_SeenRows, _SeenRows, _SeenRows]:
        """Stretches cut into shorter ones, and the runs in between."""
        share = np.arange(1, _PARTS)[:, None] / _PARTS
        rows = (left.row + share * (right.row - left.row)).astype(np.int64)
        fresh = (rows > np.concatenate([left.row[None], rows[:-1]])) & (rows < right.row)
        which, low, high = (np.broadcast_to(v, rows.shape)[fresh] for v in (left.which, left.peak, right.peak))
        middle = self._at(asked, which, rows[fresh], low, high)
        every = _SeenRows.joined([left, middle, right])
        group = np.concatenate([np.arange(left.row.size), np.nonzero(fresh)[1], np.arange(left.row.size)])
        order = np.lexsort((every.row, group))
        pairs = group[order][1:] == group[order][:-1]
        return every.pick(order[:-1][pairs]), every.pick(order[1:][pairs]), middle

    def _at(self, asked: _Asked, which: Places, row: Places, low: Places, high: Places) -> _SeenRows:
        """What some runs give, their peaks being between two others."""
        log_p, log_q = (v[row] for v in self.log_prior)
        first, last, slopes, aim = self.first[row], self.last[row], asked.slopes, asked.direction
        if slopes is None:
            peak, attack, bound = low, np.zeros(row.size), np.zeros(row.size)
        else:
            peak = balance(slopes, first, last, np.clip(low, first, last), np.clip(high, first, last), which)
            attack, bound = (side - (log_p - log_q) for side in tents(slopes, first, last, peak, which))
        step = asked.k[which] * self.step
        value, most = (measure_gain(log_p, log_q, gain + step, aim) for gain in (attack, bound))
        right_way = attack <= 0 if aim == "fall" else attack >= 0  # rounding may turn a tiny gain round
        nothing = np.exp(log_p) if aim == "posterior" else 0.0
        return _SeenRows(which, row, peak, np.where(right_way, value, nothing), most)

    def _between(self, asked: _Asked, left: _SeenRows, right: _SeenRows) -> Array:
        """What no run between two others exceeds."""
        outer = self.first[left.row], self.last[right.row]
        inner = self.first[right.row], self.last[left.row]
        peak = (left.peak + right.peak) // 2
        if asked.direction == "fall":
            least = self._belief(asked, left.which, inner, peak)
            return np.exp(self.atoms.log_prior(*outer)[0]) - np.where(inner[0] <= inner[1], least, 0.0)
        most = self._belief(asked, left.which, outer, peak)
        return most if asked.direction == "posterior" else most - np.exp(self.atoms.log_prior(*inner)[0])

    def _belief(self, asked: _Asked, which: Places, run: tuple[Places, Places], peak: Places) -> Array:
        """The belief in a run that no likelihood exceeds (k < 0: falls below), by the tent with this peak."""
        log_p, log_q = self.atoms.log_prior(*run)
        gain, slopes = np.zeros(log_p.shape), asked.slopes
        some = np.flatnonzero((run[0] <= run[1]) & ~np.isneginf(log_q))
        if slopes is not None and some.size:
            first, last = run[0][some], run[1][some]
            middle = np.clip(peak[some], first, last)
            gain[some] = tents(slopes, first, last, middle, which[some])[1] - (log_p[some] - log_q[some])
        with np.errstate(invalid="ignore"):
            return posterior_of(log_p, log_q, gain + asked.k[which] * self.step)

    def _checked(self, every: _SeenRows, settled: float, k: float, direction: Direction) -> tuple[int, float, float]:
        """The last contenders once more, atom by atom, which keeps all digits however small a gain is."""
        best = int(np.argmax(every.value))
        rivals = np.flatnonzero(every.bound >= every.value[best])
        if k == 0 or self._is_flat or rivals.size * self.atoms.mass.size > _DIRECT:
            return int(every.row[best]), float(every.value[best]), max(settled, float(np.max(every.bound)))
        rest = float(np.max(np.delete(every.bound, rivals), initial=settled))
        row = every.row[rivals]
        log_p, log_q = (v[row] for v in self.log_prior)
        gains = np.array([self.atoms.gain(int(self.first[r]), int(self.last[r]), k) for r in row])
        values = [measure_gain(log_p, log_q, g + k * self.step, direction) for g in signed(gains, rounding(gains), k)]
        top = int(np.argmax(values[0]))
        return int(row[top]), float(values[0][top]), max(rest, float(np.max(values[1])))


@dataclass(frozen=True)
class _Asked:
    """What is asked of all runs: slopes of tents for some k (none where all beliefs stay), and in which direction."""

    slopes: Slopes | None
    k: Array
    direction: Direction


@dataclass(frozen=True)
class _SeenRows:
    """Runs under one k of some, where their best tents peak, what they give, and what they cannot exceed."""

    which: Places
    row: Places
    peak: Places
    value: Array
    bound: Array

    def pick(self, which: Any) -> _SeenRows:
        return _SeenRows(*(getattr(self, f.name)[which] for f in fields(self)))

    @classmethod
    def joined(cls, parts: list[_SeenRows]) -> _SeenRows:
        return cls(*(np.concatenate([getattr(part, f.name) for part in parts]) for f in fields(cls)))


def _signed(epsilon: T, direction: Direction) -> T:
    return -epsilon if direction == "fall" else epsilon
