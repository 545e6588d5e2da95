"""A wrong prior and a likelihood, cell by cell: the products of their means as the unknowns of a linear program.

Cells as in `several.cells`: M_j = E[L | cell j] obeys M_j ≤ e^{c_jk}·M_k for every private L. Let H_i = E[h | cell i],
1 ≤ H_i ≤ κ, and θ_i = (H_i − 1)/(κ − 1). The attack is bilinear in θ and M. Unknowns are M_j and some of the products
m_i(j) = θ_i·M_j. As θ_i ≥ 0 and 1 − θ_i ≥ 0, every inequality of M holds for m_i and for M − m_i:

    m_i(j) ≤ e^{c_jk}·m_i(k)        M_j − m_i(j) ≤ e^{c_jk}·(M_k − m_i(k)).

Of the cell itself, u_i = E[(h−1)·L | cell i]/(κ−1) is θ_i·M_i up to how unevenly L lies there: a share s holds at most
α + β·s of it (`cell_shares`), so u_i ≤ α·M_i + β·m_i(i) in the goal, and M_i − u_i ≤ α·M_i + β·(M_i − m_i(i)) outside.
The belief after is Σ_goal F·(M + (κ−1)u) over the same sum of all cells, which is set to 1. That the belief before is p
says Σ_goal F·H = p·Σ F·H, also times M_o, the mean of M over some middle cells. With z = Σ F·H·M_o, any price π and any
q, what the program allows bounds every attack from any belief p:

    after + π·(q − p)·z ≤ B(q, π) = max Σ_goal F·(M + (κ−1)u) + π·(q·Σ F·H·M_o − Σ_goal F·H·M_o).

**Two beliefs q₁ < q₂ with their prices prove all p between**: weights λ and 1 − λ with λ·π₁·(p − q₁) =
(1 − λ)·π₂·(q₂ − p) remove z, and after ≤ λ·B₁ + (1 − λ)·B₂. In p this is a fraction of linear functions, whose largest
distance from p is a formula. The best price of one belief is the program's own, where the equation is one of its rows.

The program is homogeneous in L, so that a likelihood beside the same one at another scale gains nothing. Products with
cells near i and with the middle are enough; leaving the others out only loosens the bound. Where masses and goal are
their own mirror images, unknowns are means over the mirror images.

Nothing of the solver is trusted but its prices y ≥ 0: what Aᵀy + P·whole − gain lacks at an unknown v is added to P
times the most that v can be, v ≤ M_j ≤ 1/Σ_k F_k·e^{−c_jk}.
"""

from __future__ import annotations

import itertools
import math
import warnings
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from guessproof.risk.misjudged.cell_shares import lines_above
from guessproof.risk.several.lattice import Lattice
from guessproof.risk.several.program import Edges
from guessproof.world.checks import Array, Mask

Index = NDArray[np.int64]
_LIGHT = 0.03  # of the mass, in the lightest cells, is only multiplied with the middle
_SAME = 1e-12  # masses of mirror images
_LEAST_PRICE = 0.02
_AT_END = 1e-6  # so near the least or largest belief the equation is met by one prior only, and is no row
_CLOSE = 2e-3  # of a rise: intervals are cut until they prove that nearly what their ends do
_NARROW = 1e-3  # an interval that is not cut further
_FRAMES = 6  # intervals, about, that say where a finer program is needed
_INNER = 0.2  # of an interval, on either side, is left where it is cut


@dataclass(frozen=True, eq=False)
class Mirrored:
    """Cells up to mirror images: permutations that change nothing, one cell of each orbit, and each cell's orbit."""

    images: list[Index]
    first: Index
    orbit: Index

    @classmethod
    def of(cls, cells: Lattice, correct: Mask, way: Array) -> Mirrored:
        """All axes along which masses, ways and goal are their own mirror image."""
        n = cells.mass.size
        images = [np.arange(n).reshape(cells.shape)] if n == math.prod(cells.shape) else []
        for axis in range(len(cells.shape)) if images else ():
            flipped = np.flip(images[0], axis).ravel()
            same = np.all(np.abs(cells.mass[flipped] - cells.mass) <= _SAME * cells.mass)
            if same and np.array_equal(correct[flipped], correct) and _alike(way[np.ix_(flipped, flipped)], way):
                images += [np.flip(image, axis) for image in images]
        flat = [image.ravel() for image in images] or [np.arange(n)]
        first, orbit = np.unique(np.min(flat, axis=0), return_inverse=True)
        return cls(flat, first, orbit)


def _alike(one: Array, other: Array) -> bool:
    return bool(np.allclose(one, other, rtol=1e-9, atol=1e-12))


@dataclass(frozen=True)
class PricedBelief:
    """B(belief, price), or more."""

    belief: float
    price: float
    bound: float

    @property
    def rise(self) -> float:
        return self.bound - self.belief

    def between(self, other: PricedBelief) -> tuple[float, float]:
        """The most that beliefs between this and a higher one rise by, and the one that does."""
        wide, more = other.belief - self.belief, other.bound - self.bound
        bend, ends = self.price - other.price, [0.0, 1.0]
        if more > 0 and bend != 0:
            steep = math.sqrt(more * self.price * other.price / wide)
            ends.append(min(max((steep - other.price) / bend, 0.0), 1.0))
        found = [self.rise + more * self.price * t / (other.price + bend * t) - t * wide for t in ends]
        place = int(np.argmax(found))
        return found[place] + 1e-12, self.belief + ends[place] * wide


@dataclass(frozen=True, eq=False)
class Products:
    """The program: rows·v ≤ 0, what is believed, all of it, the goal's prior times M_o, and all of that."""

    rows: Any
    goal: Array
    whole: Array
    goal_before: Array
    whole_before: Array
    most: Array  # of each unknown, where `whole` is 1
    beliefs: tuple[float, float]  # before, under any prior within the factor

    def best(self, belief: float, seconds: float) -> PricedBelief | None:
        """The least B there, with its price; None without an answer."""
        low, high = self.beliefs
        if not low + _AT_END < belief < high - _AT_END:
            return None
        found = self._solved(self.goal, [self.whole, self.goal_before - belief * self.whole_before], seconds)
        if found is None:
            return None
        value, prices, (_, price) = found
        if price < _LEAST_PRICE:
            return self.at(belief, _LEAST_PRICE, seconds)
        return PricedBelief(belief, price, self.certified(self._gain(belief, price), prices, value))

    def at(self, belief: float, price: float, seconds: float) -> PricedBelief | None:
        """B there at a price; None without an answer."""
        gain = self._gain(belief, price)
        found = self._solved(gain, [self.whole], seconds)
        return None if found is None else PricedBelief(belief, price, self.certified(gain, found[1], found[0]))

    def _gain(self, belief: float, price: float) -> Array:
        return self.goal + price * (belief * self.whole_before - self.goal_before)

    def _solved(self, gain: Array, equations: list[Array], seconds: float) -> tuple[float, Array, Array] | None:
        """What the solver says: the value, the prices of all rows, and those of the equations (of which one is 1)."""
        from scipy.optimize import linprog  # heavy, and only needed where a bracket is narrowed

        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found: Any = linprog(
                -gain, A_ub=self.rows, b_ub=np.zeros(self.rows.shape[0]), A_eq=np.stack(equations),
                b_eq=np.eye(len(equations))[0], bounds=(0, None), method="highs-ipm",
                options={"time_limit": max(seconds, 0.05)},
            )  # fmt: skip
        if found.x is None or found.ineqlin is None or found.ineqlin.marginals is None:
            return None
        prices = np.maximum(-np.asarray(found.ineqlin.marginals), 0.0)
        return float(-found.fun), prices, -np.asarray(found.eqlin.marginals, dtype=np.float64)

    def certified(self, gain: Array, prices: Array, guess: float) -> float:
        """What `gain` never exceeds where `whole` is 1, whatever prices ≥ 0 these are."""
        back = self.rows.T
        hair = 1e-14 * (abs(back) @ prices + abs(guess) * self.whole + np.abs(gain))
        slack = back @ prices + guess * self.whole - gain - hair
        return guess + float(np.sum(np.maximum(-slack, 0.0) * self.most)) * (1 + 1e-9) + 1e-11


def products(
    cells: Lattice,
    edges: Edges,
    correct: Mask,
    epsilon: float,
    factor: float,
    rings: tuple[tuple[int, ...], tuple[int, ...]],
) -> Products:
    """The program of some cells, each correct or wrong as a whole, with products at so many cells from each.

    `rings` says at how many: where there are mirror images, and where there are none.
    """
    way = _ways(cells.mass.size, edges)
    mirrored = Mirrored.of(cells, correct, way)
    # Of what differs by rounding between mirror images, the mean (it is added up) or the worst (it is an inequality).
    mass = np.mean([cells.mass[image] for image in mirrored.images], axis=0)
    way = np.max([way[np.ix_(image, image)] for image in mirrored.images], axis=0)
    build = _Program(mirrored, way, mass, correct, factor)
    build.private(edges)
    around = rings[0] if len(mirrored.images) > 1 else rings[1]
    build.multiplied(_sites(cells, mirrored, mass, around), _middle(cells, mirrored))
    build.uneven(lines_above(cells, epsilon))
    return build.done()


def _ways(n: int, edges: Edges) -> Array:
    """c_jk: along the cheapest way from cell to cell."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import dijkstra

    graph = csr_array((np.maximum(edges.cost, 1e-300), (edges.rows, edges.cols)), shape=(n, n))
    return np.asarray(dijkstra(graph, directed=True)) * (1 + 1e-12)


def _middle(cells: Lattice, mirrored: Mirrored) -> list[int]:
    """The cells on both sides of the medians, and their mirror images."""
    near = np.ones(cells.mass.size, dtype=bool)
    for axis, index in zip(cells.axes, cells.index, strict=True):
        ends = np.cumsum(axis.mass) / axis.mass.sum()
        edge = int(np.argmin(np.abs(ends[:-1] - 0.5))) if axis.size > 1 else 0
        near &= (index == edge) | (index == edge + 1)
    some = np.flatnonzero(near) if near.any() else np.array([int(np.argmax(cells.mass))])
    return sorted({int(image[k]) for image in mirrored.images for k in some})


def _sites(cells: Lattice, mirrored: Mirrored, mass: Array, rings: tuple[int, ...]) -> list[list[int]]:
    """For one cell of each orbit: itself, and unless it is light the cells of some rings around it."""
    position = np.full(cells.shape, -1, dtype=np.int64)
    position[cells.index] = np.arange(mass.size)
    order = np.argsort(mass)
    light = np.zeros(mass.size, dtype=bool)
    light[order] = np.cumsum(mass[order]) <= _LIGHT * mass.sum()
    index = np.stack(cells.index, axis=1)
    turns = [t for t in itertools.product((-1, 0, 1), repeat=len(cells.shape)) if any(t)]
    found: list[list[int]] = []
    for i in mirrored.first.tolist():
        around = [index[i] + r * np.array(t) for r in rings for t in turns] if not light[i] else []
        inside = [tuple(a) for a in around if np.all(a >= 0) and np.all(a < cells.shape)]
        found.append([i, *(int(position[a]) for a in inside if position[a] >= 0)])
    return found


@dataclass(eq=False)
class _Program:
    """Rows that are put together one family after the other."""

    mirrored: Mirrored
    way: Array
    mass: Array
    correct: Mask
    factor: float
    entries: list[tuple[Any, Any, Any]] = field(default_factory=list[tuple[Any, Any, Any]])
    cell_of: list[int] = field(default_factory=list[int])  # of each unknown
    height: int = 0
    own: Index = field(default_factory=lambda: np.zeros(0, dtype=np.int64))  # m_i(i)
    middle: Index = field(default_factory=lambda: np.zeros((0, 0), dtype=np.int64))  # m_i(o)
    told: Index = field(default_factory=lambda: np.zeros(0, dtype=np.int64))  # u_i
    middle_orbits: Index = field(default_factory=lambda: np.zeros(0, dtype=np.int64))

    def __post_init__(self) -> None:
        self.cell_of += self.mirrored.first.tolist()

    @property
    def _share(self) -> Array:
        """The mass of each orbit."""
        return np.asarray(np.bincount(self.mirrored.orbit, self.mass), dtype=np.float64)

    def _rows(self, *terms: tuple[Any, Any]) -> None:
        """Rows Σ coefficient·unknown ≤ 0."""
        size = np.size(terms[0][0])
        at = self.height + np.arange(size)
        self.entries += [(at, np.broadcast_to(c, size), np.broadcast_to(v, size)) for c, v in terms]
        self.height += size

    def private(self, edges: Edges) -> None:
        """M_j ≤ e^{c}·M_k."""
        m = self.mirrored
        one, other = m.orbit[edges.rows], m.orbit[edges.cols]
        some = (m.first[one] == edges.rows) & (one != other)
        self._rows((one[some], np.exp(-self.way[edges.rows[some], edges.cols[some]])), (other[some], -1.0))

    def multiplied(self, sites: list[list[int]], middle: list[int]) -> None:
        """The same for m_i and for M − m_i, on the cells where there are products with cell i."""
        self.middle_orbits = self.mirrored.orbit[middle]
        own: list[int] = []
        with_middle: list[list[int]] = []
        for around in sites:
            cells = np.array(list(dict.fromkeys([*around, *middle])))
            at = len(self.cell_of) + np.arange(cells.size)
            self.cell_of += cells.tolist()
            own.append(int(at[0]))
            with_middle.append([int(at[np.flatnonzero(cells == o)[0]]) for o in middle])
            one, other, ratio = self._between(cells)
            whole = self.mirrored.orbit[cells]
            self._rows((at[one], ratio), (at[other], -1.0))
            self._rows((whole[one], ratio), (at[one], -ratio), (whole[other], -1.0), (at[other], 1.0))
        self.own, self.middle = np.array(own), np.array(with_middle)
        self._rows((self.own, 1.0), (np.arange(len(own)), -1.0))

    def _between(self, cells: Index) -> tuple[Any, Any, Array]:
        """Pairs of cells that no other cell of these lies between, and e^{−c}."""
        way = self.way[np.ix_(cells, cells)]
        k = np.arange(cells.size)
        via = way[:, :, None] + way[None, :, :]
        via[k, k, :] = np.inf
        via[:, k, k] = np.inf
        keep = (np.min(via, axis=1) > way * (1 + 1e-9)) & np.isfinite(way)
        np.fill_diagonal(keep, False)
        one, other = np.nonzero(keep)
        return one, other, np.exp(-way[one, other])

    def uneven(self, lines: list[tuple[Array, Array]]) -> None:
        """What h·L is on a cell, beside the product of their means."""
        first = self.mirrored.first
        self.told = len(self.cell_of) + np.arange(first.size)
        self.cell_of += first.tolist()
        inside, outside = np.flatnonzero(self.correct[first]), np.flatnonzero(~self.correct[first])
        for above, slope in lines:
            b = slope[first]
            each = [image[first] for image in self.mirrored.images]
            a = np.max([above[i] + np.maximum(slope[i] - b, 0.0) for i in each], axis=0)
            self._rows((self.told[inside], 1.0), (inside, -a[inside]), (self.own[inside], -b[inside]))
            self._rows((outside, 1 - (a + b)[outside]), (self.told[outside], -1.0), (self.own[outside], b[outside]))

    def done(self) -> Products:
        """All of it."""
        from scipy.sparse import csr_array

        size, first, more, share = len(self.cell_of), self.mirrored.first, self.factor - 1, self._share
        at, columns, values = (np.concatenate(part) for part in zip(*self.entries, strict=True))
        rows = csr_array((values, (at, columns)), shape=(self.height, size))
        inner = share * self.correct[first]
        sums: list[Array] = []
        for part in (inner, share):
            after, before = np.zeros(size), np.zeros(size)
            after[: first.size], after[self.told] = part, more * part
            np.add.at(before, self.middle_orbits, part.sum() / self.middle_orbits.size)
            each = np.broadcast_to((more / self.middle.shape[1] * part)[:, None], self.middle.shape)
            np.add.at(before, self.middle, each)
            sums += [after, before]
        with np.errstate(divide="ignore"):
            most = 1 / np.sum(self.mass * np.exp(-self.way), axis=1)
        odds = inner.sum() / (share.sum() - inner.sum())
        low, high = (odds * f / (1 + odds * f) for f in ((1 - 1e-12) / self.factor, self.factor * (1 + 1e-12)))
        return Products(rows, sums[0], sums[2], sums[1], sums[3], most[self.cell_of], (float(low), float(high)))


@dataclass(eq=False)
class Search:
    """Some beliefs with their best prices, and more of them where what they prove of those between is furthest off."""

    program: Products
    seconds: float
    clock: Callable[[], float]
    low: float
    high: float
    nodes: list[PricedBelief] = field(default_factory=list[PricedBelief])

    def most_risen(self, enough: float, *, finer: bool = False) -> float:
        """What no belief rises by: until that is `enough`, time is up, or hardly less can be proven; 1 without time.

        With a `finer` program to come, intervals are not cut further than to say which ones it is needed for, and not
        where it is needed at both ends.
        """
        end = self.clock() + self.seconds
        narrow = (self.high - self.low) / _FRAMES if finer else _NARROW
        if not self._begun(end):
            return 1.0
        while True:
            inner = self.nodes[1:-1]  # at their best prices
            open_ = [
                (*one.between(other), other)
                for one, other in itertools.pairwise(self.nodes)
                if other.belief - one.belief > narrow
                and not (finer and one in inner and other in inner and min(one.rise, other.rise) > enough)
            ]
            settled = enough if finer else max(enough, *(node.rise * (1 + _CLOSE) for node in inner))
            rise, belief, above = max(open_, key=lambda found: found[0], default=(0.0, 0.0, None))
            if rise <= settled or above is None or not self._cut(belief, above, end):
                return max(one.between(other)[0] for one, other in itertools.pairwise(self.nodes))

    def above(self, enough: float) -> tuple[tuple[float, float] | None, float]:
        """Between which beliefs more than `enough` is left open, and what is proven of all others."""
        pairs = list(itertools.pairwise(self.nodes))
        rises = [one.between(other)[0] for one, other in pairs]
        left = [k for k, rise in enumerate(rises) if rise > enough]
        if not left:
            return None, max(rises)
        rest = max((r for k, r in enumerate(rises) if k < left[0] or k > left[-1]), default=0.0)
        return (pairs[left[0]][0].belief, pairs[left[-1]][1].belief), rest

    def _begun(self, end: float) -> bool:
        """The middle and both ends."""
        middle = self.program.best(0.5 * (self.low + self.high), end - self.clock())
        if middle is None:
            return False
        ends = [self._end(belief, middle.price, end) for belief in (self.low, self.high)]
        if ends[0] is None or ends[1] is None:
            return False
        self.nodes = [ends[0], middle, ends[1]]
        return True

    def _end(self, belief: float, price: float, end: float) -> PricedBelief | None:
        """At its best price, or at a given one where there is none."""
        left = end - self.clock()
        if left <= 0:
            return None
        return self.program.best(belief, left) or self.program.at(belief, price, end - self.clock())

    def _cut(self, belief: float, above: PricedBelief, end: float) -> bool:
        """One more belief below `above`, not too near to its neighbours; False where time is up."""
        at = self.nodes.index(above)
        below = self.nodes[at - 1]
        inner = _INNER * (above.belief - below.belief)
        belief, left = min(max(belief, below.belief + inner), above.belief - inner), end - self.clock()
        found = self.program.best(belief, left) if left > 0 else None
        if found is None:
            return False
        self.nodes.insert(at, found)
        # An end without a best price of its own takes that of its new neighbour.
        if self.nodes[1] is found and below.belief == self.program.beliefs[0]:
            again = self._end(below.belief, found.price, end)
            self.nodes[0] = below if again is None else min(below, again, key=lambda n: n.between(found))
        if self.nodes[-2] is found and above.belief == self.program.beliefs[1]:
            again = self._end(above.belief, found.price, end)
            self.nodes[-1] = above if again is None else min(above, again, key=lambda n: found.between(n))
        return True


def stage_by_stage(
    programs: Iterable[tuple[Products, bool]], enough: float, seconds: float, clock: Callable[[], float]
) -> float:
    """What no belief rises by: each program (and whether it is the last) is asked what the one before left open."""
    end, found, left, settled = clock() + seconds, 1.0, None, 0.0
    for program, is_last in programs:
        search = Search(program, end - clock(), clock, *(left or program.beliefs))
        found = min(found, max(settled, search.most_risen(enough, finer=not is_last)))
        if found <= enough or not search.nodes:
            break
        left, rest = search.above(enough)
        settled = max(settled, rest)
    return found
