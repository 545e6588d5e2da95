"""Tilted integrals of one density at many rates and up to many places: on every panel a polynomial.

    V(x) = ∫ e^{k(ψ−ψ₀)} f   up to x, where k ≥ 0, and less than from x on, where k < 0

is known at all x once the integrand is known at a few nodes of each panel: between them it is the polynomial through
them, which is integrated exactly. Panels end where the density or the distance bends, and are so narrow that the
polynomial's last terms are nothing and that it has as much of the prior as the prior itself says: a peak between two
nodes has no terms. An integral is then a difference of two values of V, whatever the prior and the distance are. It
errs by 1e−13 of V, within a panel by up to 1e−11; V begins at the end where the tilt is least. A caller who needs the
digits of an integral that is tiny beside that asks for it in another way.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from guessproof.world.checks import Array
from guessproof.world.line_form import LineForm
from guessproof.world.powers import antiderivatives
from guessproof.world.smooth import MOST_PANELS, NODES, SMOOTH, TO_LEGENDRE, WEIGHTS, Smooth, smooth_panels

Places = NDArray[np.int64]
Ends = tuple[Array, Array]

_ORDER = NODES.size
_CLIMB = 1.4  # of ln of the tilt along a panel, at most: twelve nodes then tell it to the last digits
_NONE = -1000  # no group
_OCTAVES = 1  # of rates that share their panels
_MOST_RATES = 6000  # kept
_AT_ONCE = 1 << 16  # nodes
_AHEAD = 16  # times what rows there are: room for more of them, which takes memory only when it is filled
_HIGHEST = 300.0  # ln of what V may be
_HARDLY_OFF = 2e-13  # as a share of what V is on a panel; twenty times what was seen
_MISSED_BY = 4.0  # times the last terms: what all that are left out may add up to
_NOTHING = -32.0  # ln of a share that is nothing
_ON = 40.0  # the same, and more, of a tilt
_FEW = 1e-6  # of the prior
_TINY = -34.0  # and of the prior, beside what is left out of its bulk
_BULK = 0.01  # of the prior is left out on either side of most of it


_POWERS = antiderivatives(NODES, WEIGHTS)


@dataclass(eq=False)
class _Table:
    """V for rates that share their panels, two rows for each: with k and with −k; more can be added."""

    edges: Array
    log_weight: Array  # by panel and node, the density there times half of the panel
    lean: Array  # ψ − ψ₀ there
    rates: Array = field(default_factory=lambda: np.empty(0))
    powers: Array = field(default_factory=lambda: np.empty((0, _ORDER + 1)))  # of u on each panel of each row
    off: Array = field(default_factory=lambda: np.empty(0))  # by how much V may be off there
    heavy: Array = field(default_factory=lambda: np.empty(0))  # of each row, beyond all panels where e^{kψ} grows
    tails: tuple[Array, Array] | None = None  # ln of what lies below and above all panels, and ψ − ψ₀ at their ends

    @property
    def panels(self) -> int:
        return self.edges.size - 1

    @cached_property
    def rough(self) -> Array:
        """What polynomials miss of the density where they need not tell its digits: so little is there."""
        terms = np.abs(np.exp(self.log_weight) @ TO_LEGENDRE.T)
        last = np.max(terms[:, -2:], axis=1)
        return np.where(last > SMOOTH * np.max(terms, axis=1), _MISSED_BY * last, 0.0)

    def add(self, rates: Array) -> None:
        count, size = self.rates.size * 2 * self.panels, rates.size * 2 * self.panels
        if count + size > self.off.size:
            room = max(_AHEAD * count, count + size)
            powers, off = np.empty((room, _ORDER + 1)), np.empty(room)
            powers[:count], off[:count] = self.powers[:count], self.off[:count]
            self.powers, self.off = powers, off
        some = max(_AT_ONCE // (2 * self.panels * _ORDER), 1)
        for i in range(0, rates.size, some):
            self._fill(rates[i : i + some], count + 2 * self.panels * i)
        self.rates = np.append(self.rates, rates)
        self.heavy = np.append(self.heavy, np.full(2 * rates.size, np.nan))

    def _fill(self, rates: Array, start: int) -> None:
        """The rows of some rates, few at a time so that what they need stays in the cache."""
        both = np.stack([rates, -rates], axis=1).ravel()
        integrand = np.exp(both[:, None, None] * self.lean + self.log_weight).reshape(-1, _ORDER)
        rows = slice(start, start + integrand.shape[0])
        powers = self.powers[rows]
        np.matmul(integrand, _POWERS, out=powers)
        whole = np.sum(powers, axis=1).reshape(both.size, -1)
        falls = both[:, None] < 0
        upto = _added_up(whole, falls)
        powers[:, 0] += np.where(falls, -upto, upto - whole).ravel()
        rough = self.rough * np.exp(both[:, None] * np.where(falls, self.lean[:, 0], self.lean[:, -1]))
        self.off[rows] = (_HARDLY_OFF * upto + _added_up(rough, falls)).ravel()

    def upto(self, row: Places, x: Array) -> Array:
        """V at some values, in rows, as far as there are panels."""
        panel, u = self.on_panels(x)
        return self.polynomial(row * self.panels + panel, u)

    def on_panels(self, x: Array) -> tuple[Places, Array]:
        """On which panels some values lie, and where on them."""
        panel = np.searchsorted(self.edges[1:-1], x, side="right")
        left, right = self.edges[panel], self.edges[panel + 1]
        with np.errstate(over="ignore"):
            return panel, np.minimum(np.maximum(((x - left) - (right - x)) / (right - left), -1.0), 1.0)

    def polynomial(self, at: Places, u: Array) -> Array:
        powers = self.powers.take(at, axis=0)
        value = powers[..., _ORDER].copy()
        for power in range(_ORDER - 1, -1, -1):
            value *= u
            value += powers[..., power]
        return value


def _added_up(each: Array, falls: NDArray[np.bool_]) -> Array:
    """Up to each panel, itself included, from the first on or, where it falls, from the last on."""
    return np.where(falls, np.cumsum(each[:, ::-1], axis=1)[:, ::-1], np.cumsum(each, axis=1))


LogTilt = Callable[[Array, Array, Array, Array], Array]  # ln ∫_a^b e^{k(ψ(x)−ψ(ref))} f, in another way


@dataclass(eq=False)
class TiltTables:
    """Tables of one prior under one distance, made for the rates that are asked; rates far apart have tables apart."""

    prior: Smooth
    form: LineForm
    log_tilt: LogTilt
    _tables: dict[int | None, _Table | None] = field(default_factory=dict[Any, Any])
    _rates: Array = field(default_factory=lambda: np.empty(0))  # all that are known, rising
    _places: Places = field(default_factory=lambda: np.empty((2, 0), dtype=np.int64))  # group and row of each
    _turn: threading.RLock = field(default_factory=threading.RLock)  # one thread at a time: tables grow

    # Panels.

    @cached_property
    def ends(self) -> Array | None:
        """Ends of panels on which the density is smooth; None where it is infinite somewhere, or never smooth."""
        return smooth_panels(self.prior, self.form.cuts)

    @cached_property
    def middle(self) -> float:
        """Where ψ is ψ₀."""
        return float(self.prior.quantile(0.5))

    @cached_property
    def _bulk(self) -> Array:
        """Between which values most of the prior lies."""
        return self.prior.quantile([_BULK, 1 - _BULK])

    def away(self, x: Array) -> Array:
        """ψ − ψ₀."""
        return self.form.psi(x) - self.form.psi(self.middle)

    @cached_property
    def _unit(self) -> float:
        """The rate at which ln of the tilt climbs as far as it may along a panel where most of the prior lies."""
        assert self.ends is not None
        climb = np.max(np.diff(self.form.psi(np.clip(self.ends, *self._bulk))))
        return float(_CLIMB / climb) if climb > 0 else np.inf

    @cached_property
    def _lowest(self) -> int:
        """The group of the smallest rates, for which there are panels as far out as there are any."""
        assert self.ends is not None
        far = np.max(np.abs(self.away(self.ends[[0, -1]])))
        return min(int(np.floor(np.log2(_HIGHEST / (far * self._unit)) / _OCTAVES)), 0)

    @cached_property
    def _peaked(self) -> float:
        """How far from ψ₀ nearly all of the prior is: further out few peaks are asked for."""
        return float(np.max(np.abs(self.away(self.prior.quantile([_FEW, 1 - _FEW])))))

    def _climb(self, group: int, rate: float) -> float:
        """How far ln of the tilt climbs along all panels: beyond them there is nothing of tents that peak among most.

        From the middle to a peak, as far again to where it is as low as what lies on the other side, and on from there.
        The lowest group has rates that hardly climb, and of the prior all that there is.
        """
        return _HIGHEST if group == self._lowest else min(_HIGHEST, 2 * rate * self._peaked + _ON * 2**_OCTAVES)

    def _ends_of(self, group: int) -> Array | None:
        """Ends of panels for the rates of a group, as far out as numbers are not too large; None if that is not far."""
        assert self.ends is not None
        rate, there = self._unit * 2.0 ** (_OCTAVES * group), self.form.psi(self.middle)
        with np.errstate(divide="ignore", invalid="ignore"):
            last = [self.form.inverse(there + side * self._climb(group, rate) / rate) for side in (-1, 1)]
        low, high = max(float(last[0]), self.ends[0]), min(float(last[1]), self.ends[-1])
        if low > self._bulk[0] or high < self._bulk[1]:
            return None
        reach = np.unique(np.clip(self.ends, low, high))
        parts = np.ceil(np.maximum(np.diff(self.form.psi(reach)) * rate / _CLIMB, 1)).astype(np.int64)
        if np.sum(parts) > MOST_PANELS:
            return None
        share = np.concatenate([np.arange(n) / n for n in parts])
        return np.append(np.repeat(reach[:-1], parts) + share * np.repeat(np.diff(reach), parts), reach[-1])

    def _table(self, group: int | None) -> _Table | None:
        """The table of all rates of a group; of masses where that is None."""
        if group not in self._tables:
            edges = self.ends if group is None else self._ends_of(group)
            table = None if edges is None else self._empty(edges)
            if table is not None and group is None:
                table.add(np.zeros(1))
            self._tables[group] = table
        return self._tables[group]

    def _empty(self, edges: Array) -> _Table:
        half = 0.5 * np.diff(edges)[:, None]
        nodes = edges[:-1, None] + half * (1 + NODES)
        with np.errstate(divide="ignore"):
            return _Table(edges, self.prior.log_density(nodes) + np.log(half), self.away(nodes))

    @cached_property
    def _tails(self) -> tuple[float, float]:
        """What lies below and above all panels."""
        assert self.ends is not None
        none, (first, last), end = np.zeros(1), self.ends[[0, -1], None], np.full(1, np.inf)
        below, above = self.log_tilt(none, -end, first, none), self.log_tilt(none, last, end, none)
        return float(np.exp(below[0])), float(np.exp(above[0]))

    # Rates.

    def _groups(self, rates: Array) -> Places:
        """By their sizes; _NONE where a table would need too many panels."""
        with np.errstate(divide="ignore"):
            octave = np.ceil(np.log2(np.abs(rates) / self._unit) / _OCTAVES)
        group = np.clip(octave, self._lowest, 99).astype(np.int64)
        none = [g for g in np.unique(group) if self._table(int(g)) is None]
        return np.where(np.isin(group, none), _NONE, group)

    def places(self, rates: Array) -> Places:
        """The group and the first row of each rate above 0, made where it is new; group _NONE where there is none."""
        at = self._at(rates)
        new = rates != self._rates[at] if self._rates.size else np.ones(rates.shape, dtype=bool)
        if new.any():
            some = np.unique(rates[new])
            if self._rates.size + some.size > _MOST_RATES:
                some = self._forget(rates)
            self._add(some)
            at = self._at(rates)
        return self._places[:, at]

    def _forget(self, asked: Array) -> Array:
        """Begin again, with all rates that are asked, known ones too: these are returned."""
        self._tables.clear()
        self._rates, self._places = np.empty(0), np.empty((2, 0), dtype=np.int64)
        return np.unique(asked)

    def _at(self, rates: Array) -> Places:
        return np.minimum(np.searchsorted(self._rates, rates), max(self._rates.size - 1, 0))

    def _add(self, new: Array) -> None:
        groups, rows = self._groups(new), np.zeros(new.size, dtype=np.int64)
        for group in np.unique(groups[groups > _NONE]):
            table, some = self._table(int(group)), groups == group
            assert table is not None
            rows[some] = 2 * (table.rates.size + np.arange(np.count_nonzero(some)))
            table.add(new[some])
        rates = np.append(self._rates, new)
        order = np.argsort(rates)
        self._rates = rates[order]
        self._places = np.concatenate([self._places, np.stack([groups, rows])], axis=1)[:, order]

    def _with_heavy_ends(self, table: _Table, rows: Places, x: Array, value: Array) -> Array:
        """V with what lies beyond all panels, at an infinite end towards which the tilt grows."""
        low, high = self.prior.support
        falls = rows % 2 == 1
        at = np.where(falls, (x <= low) & (low < table.edges[0]), (x >= high) & (high > table.edges[-1]))
        if not at.any():
            return value
        asked = rows[at]
        new = np.unique(asked[np.isnan(table.heavy[asked])])
        if new.size:
            down, end = new % 2 == 1, np.full(new.size, np.inf)
            a, b = np.where(down, -end, table.edges[-1]), np.where(down, table.edges[0], end)
            rates = np.where(down, -1.0, 1.0) * table.rates[new // 2]
            with np.errstate(over="ignore"):
                table.heavy[new] = np.exp(self.log_tilt(rates, a, b, np.full(new.size, self.middle)))
        value[at] += np.where(asked % 2 == 1, -1.0, 1.0) * table.heavy[asked]
        return value

    def _beyond(self, table: _Table) -> tuple[Array, Array]:
        """ln of what lies below and above all panels, and ψ − ψ₀ at their ends."""
        if table.tails is None:
            ends, none = table.edges[[0, -1]], np.zeros(2)
            starts, stops = np.array([-np.inf, ends[1]]), np.array([ends[0], np.inf])
            with np.errstate(divide="ignore"):
                table.tails = self.log_tilt(none, starts, stops, none), self.away(ends)
        return table.tails

    def _is_nothing_beyond(self, table: _Table, k: Array, ref: Array) -> NDArray[np.bool_]:
        """Whether what a tent has beyond all panels is nothing beside what it has of most of the prior."""
        (below, above), (first, last) = self._beyond(table)
        at, bulk = self.away(ref), self.away(self._bulk)
        least = -np.abs(k) * np.maximum(np.abs(at - bulk[0]), np.abs(at - bulk[1])) + _NOTHING
        # What lies between an end and the peak is nearer to it than what lies beyond that end.
        low = (below - k * np.maximum(at - first, 0.0) <= least) | ((below <= _TINY) & (ref >= self._bulk[0]))
        high = (above - k * np.maximum(last - at, 0.0) <= least) | ((above <= _TINY) & (ref <= self._bulk[1]))
        return (low & high) | (k < 0)

    # Integrals.

    def masses(self, left: Ends, right: Ends) -> Array:
        """∫f over pieces on the left and on the right, to about 1e−15."""
        with self._turn:
            table, ends = self._table(None), (*left, *right)
        assert table is not None
        x = np.concatenate(ends, axis=1)
        value = table.upto(np.zeros((1, 1), dtype=np.int64), x)
        value -= self._tails[0] * (x == -np.inf)
        value += self._tails[1] * (x == np.inf)
        return _differences(ends, value, np.ones(4))

    def halves(self, k: Array, lo: Array, hi: Array) -> tuple[Array, Array]:
        """∫e^{k(ψ−ψ₀)}f below lo and ∫e^{−k(ψ−ψ₀)}f above hi for rates above 0, and by which shares they may be off.

        Both begin where their tilt is least and add up what is not below 0: they keep all digits but for what lies
        beyond all panels, of which no more is known than how much it is at most, and where a panel has much more than
        lies before it. Off by inf where nothing is known.
        """
        with self._turn:
            return self._halves(k, np.stack([lo, hi]))

    def _halves(self, k: Array, x: Array) -> tuple[Array, Array]:
        group, row = self.places(k)
        found, off, (low, high) = np.zeros(x.shape), np.full(x.shape, np.inf), self.prior.support
        for g in np.unique(group[group > _NONE]):
            table, some = self._table(int(g)), np.flatnonzero(group == g)
            assert table is not None
            (below, above), (first, last) = self._beyond(table)
            panel, u = table.on_panels(x[:, some])
            at = (row[some] + np.array([[0], [1]])) * table.panels + panel
            told = table.polynomial(at, u) * np.array([[1.0], [-1.0]])
            with np.errstate(all="ignore"):
                missed = np.exp(np.stack([below + k[some] * first, above - k[some] * last]))
                share = (table.off.take(at) + missed) / told
            inside = np.clip(x[:, some], low, high) == np.clip(x[:, some], *table.edges[[0, -1]])
            found[:, some], off[:, some] = told, np.where(inside & (told > 0), share, np.inf)
        # Beyond the support there is nothing: that is known.
        nothing = (np.array([[1.0], [-1.0]]) * x) <= np.array([[low], [-high]])
        return np.where(nothing, 0.0, found), np.where(nothing, 0.0, off)

    def told(self, k: Array, left: Ends, right: Ends, ref: Array) -> tuple[Array, NDArray[np.bool_]]:
        """∫e^{k(ψ−ψ(ref))}f over pieces on the left and with −k over those on the right; for which rows that is known.

        Each row has a rate and a point of reference. Ends that all of a row have in common may be one column. Beyond
        all panels the side on which the tilt vanishes is nothing, the other one is not known.
        """
        with self._turn:
            return self._told(k, left, right, ref)

    def _told(self, k: Array, left: Ends, right: Ends, ref: Array) -> tuple[Array, NDArray[np.bool_]]:
        (group, row), ends = self.places(np.abs(k)), (*left, *right)
        x, backwards = np.concatenate(ends, axis=1), k < 0
        sizes = [end.shape[1] for end in ends]
        falls = np.repeat([False, False, True, True], sizes) != backwards[:, None]
        known, found = group > _NONE, np.zeros(np.broadcast_shapes(*(e.shape for e in ends)))
        with np.errstate(over="ignore"):
            rise = np.exp(-k * self.away(ref))
            fall = np.exp(k * self.away(ref))
            heights = np.stack([rise, rise, fall, fall])[..., None]
        low, high = self.prior.support
        for g in np.unique(group[known]):
            table, some = self._table(int(g)), np.flatnonzero(group == g)
            assert table is not None
            first, last, at, down = table.edges[0], table.edges[-1], x[some], falls[some]
            far = np.any(np.where(down, (at < first) & (at > low), (at > last) & (at < high)), axis=1)
            told = ~far & self._is_nothing_beyond(table, k[some], ref[some])
            known[some] = told
            if not told.all():
                some, at, down = some[told], at[told], down[told]
            rows = row[some, None] + down
            value = self._with_heavy_ends(table, rows, at, table.upto(rows, at))
            found[some] = _differences([end[some] for end in ends], value, heights[:, some])
        return found, known


def _differences(ends: Sequence[Array], value: Array, heights: Array) -> Array:
    """From the values at all ends, side by side, those of the pieces between them; nothing where they are empty."""
    cuts = np.cumsum([end.shape[1] for end in ends])[:-1]
    v = np.split(value, cuts, axis=1)
    with np.errstate(invalid="ignore", over="ignore"):
        sides = [np.where(ends[i + 1] > ends[i], np.maximum(v[i + 1] - v[i], 0.0) * heights[i], 0.0) for i in (0, 2)]
    return sides[0] + sides[1]
