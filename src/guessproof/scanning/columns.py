"""From the values of a column to codes, fast: cells of a grid for numbers, positions for labels.

A code below `size` is a place where the advantage is known; the three after it are what cannot be placed.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Protocol

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from guessproof.errors import EngineError
from guessproof.risk import values_along
from guessproof.world import LARGEST, Array, Attribute, Finite, Goal, LinePrior, PartlyKnown, Unknown, label_of

Codes = NDArray[np.int64]
Mask = NDArray[np.bool_]

MISSING, INFINITE, OUTSIDE = range(3)  # after the last place
SPECIAL = 3

CELLS = 1 << 14
FAR = 48  # cells beyond each open end of the grid, each twice as wide as the one before


class ScanColumn(Protocol):
    """One column of the goal, cut into places."""

    @property
    def name(self) -> str:
        """Its name in the table."""
        ...

    @property
    def kind(self) -> str:
        """What engines are to read it as."""
        ...

    @property
    def size(self) -> int:
        """How many places there are."""
        ...

    def codes(self, values: pa.Array) -> Codes:
        """The place of each value."""
        ...


@dataclass(frozen=True)
class GridColumn:
    """Numbers with a density, or any number of a range: equal cells where the probability is, wider ones beyond.

    Rounding may put a value within `slack` of an edge into the cell beside it; enclosures allow for that.
    """

    name: str
    low: float
    high: float
    support: tuple[float, float]
    prior: LinePrior | None = None
    count: int = CELLS
    kind: str = "number"
    _room: dict[str, Any] = field(default_factory=dict[str, Any], repr=False, compare=False)

    @staticmethod
    def of(name: str, prior: LinePrior | Unknown | PartlyKnown, bounds: tuple[float, float] | None) -> GridColumn:
        """A grid over the bulk of a prior and the declared bounds, as far as they are not much wider than it."""
        if isinstance(prior, LinePrior):
            support = prior.support
            bulk = [float(q) for q in prior.quantile(np.array([1e-9, 0.5, 1 - 1e-9]))]
        else:
            support = prior.low, prior.high
            bulk = [max(prior.low, -LARGEST), 0.0, min(prior.high, LARGEST)]
        reach = 4 * (bulk[2] - bulk[0])
        low, high = bulk[0], bulk[2]
        if bounds is not None:
            low, high = (
                max(min(low, bounds[0]), low - reach, support[0]),
                min(max(high, bounds[1]), high + reach, support[1]),
            )
        pad = 1e-9 * (high - low) + 4e-16 * max(abs(low), abs(high))
        found = GridColumn(name, low - pad, high + pad, support, prior if isinstance(prior, LinePrior) else None)
        most = (found.high - found.low) / (8 * found.slack)  # finer cells than rounding can tell apart are of no use
        return replace(found, count=int(min(max(most, 16), CELLS)))

    @property
    def width(self) -> float:
        """The width of a cell."""
        return (self.high - self.low) / self.count

    @property
    def slack(self) -> float:
        """How far rounding can carry a value across an edge."""
        return 1e-15 * (abs(self.low) + abs(self.high) + 4 * (self.high - self.low))

    @property
    def far(self) -> tuple[int, int]:
        """How many wider cells lie to the left and to the right."""
        left, right = self.support
        return FAR if left < self.low else 0, FAR if right > self.high else 0

    @property
    def size(self) -> int:
        return self.count + sum(self.far)

    def edges(self) -> Array:
        """The edges of the equal cells; the outermost are put a cell further out, to hold what rounding adds."""
        found = self.low + self.width * np.arange(self.count + 1, dtype=np.float64)
        found[0], found[-1] = self.low - self.width, self.high + self.width
        return found

    def beyond(self) -> tuple[Array, Array]:
        """The wider cells as (from, to), those on the left first: where there are none, empty."""
        steps = self.width * 2.0 ** np.arange(FAR)
        left, right = self.far
        out = np.append(np.cumsum(np.append(0.0, steps[:-1])), np.inf)
        parts: list[tuple[Array, Array]] = []
        if left:
            parts.append((self._held(self.low - out[1:] - self.width), self._held(self.low - out[:-1] + self.width)))
        if right:
            parts.append((self._held(self.high + out[:-1] - self.width), self._held(self.high + out[1:] + self.width)))
        if not parts:
            return np.empty(0), np.empty(0)
        first, last = (np.concatenate(side) for side in zip(*parts, strict=True))
        return first, last

    def _held(self, t: Array) -> Array:
        return np.clip(t, max(self.support[0], -LARGEST), min(self.support[1], LARGEST))

    def codes(self, values: pa.Array) -> Codes:
        x = numbers(values)
        place, cell = self._rooms(x.size)
        with np.errstate(over="ignore", invalid="ignore"):
            np.subtract(x, self.low, out=place)
            np.multiply(place, 1 / self.width, out=place)
        start, end = self._clean
        least, most = (place.min(), place.max()) if x.size else (0.0, 0.0)
        if least >= 0 and most < self.count:  # NaN fails both
            np.copyto(cell, place, casting="unsafe")
        else:
            self._place(x, place, cell)
        if not (least >= start and most < end):
            self._drop_impossible(x, cell)
        return cell

    def _rooms(self, size: int) -> tuple[Array, Codes]:
        """Room that every batch uses again."""
        if self._room.get("size", -1) < size:
            self._room.update(size=size, place=np.empty(size), cell=np.empty(size, dtype=np.int64))
        return self._room["place"][:size], self._room["cell"][:size]

    def _place(self, x: Array, place: Array, cell: Codes) -> None:
        """The same where some values are missing or lie beyond the equal cells."""
        within = (place >= 0) & (place < self.count)
        cell[within] = place[within].astype(np.int64)
        rest = np.flatnonzero(~within)
        value, codes = x[rest], np.full(rest.size, self.size + OUTSIDE)
        left, right = self.far
        with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
            for start, far, gap in (
                (self.count, left, self.low - value),
                (self.count + left, right, value - self.high),
            ):
                step = np.floor(np.log2(np.maximum(gap / self.width, 0.0) + 1)).clip(0, FAR - 1)
                here = (gap >= 0) & (far > 0)
                codes[here] = start + step[here].astype(np.int64)
        # What rounding leaves between the two belongs to the last equal cell on that side.
        codes[(value < self.low + self.width) & (value >= self.low)] = 0
        codes[(value > self.high - self.width) & (value < self.high)] = self.count - 1
        codes[np.abs(value) > LARGEST] = self.size + OUTSIDE
        codes[np.isinf(value)] = self.size + INFINITE
        codes[np.isnan(value)] = self.size + MISSING
        cell[rest] = codes

    def _drop_impossible(self, x: Array, cell: Codes) -> None:
        """Values that the prior rules out, in cells that hold such values."""
        rows = np.flatnonzero(self._mixed[cell])
        if rows.size:
            gone = rows[~self.possible(x[rows])]
            cell[gone] = self.size + OUTSIDE

    def possible(self, x: Array) -> Mask:
        """Which values can be true under the prior."""
        found = (x >= self.support[0]) & (x <= self.support[1])
        if self.prior is not None:
            found &= self.prior.log_density(x) > -np.inf
        return found

    @cached_property
    def _mixed(self) -> Mask:
        """Which places may hold values that cannot be true."""
        mixed = np.zeros(self.size + SPECIAL, dtype=bool)
        edges = self.edges()
        mixed[: self.count] = (edges[:-1] <= self.support[0]) | (edges[1:] >= self.support[1])
        if self.prior is not None:  # a density is 0 at an end or beside a break, or nowhere
            gone, breaks = np.isneginf(self.prior.log_density(edges)), np.asarray(self.prior.breaks)
            between = np.diff(np.searchsorted(breaks, edges)) > 0
            mixed[: self.count] |= gone[:-1] | gone[1:] | between
        mixed[self.count : self.size] = True
        return mixed

    @cached_property
    def _clean(self) -> tuple[int, int]:
        """A stretch of equal cells without such values: most batches lie within it."""
        cuts = np.flatnonzero(self._mixed[: self.count])
        gaps = np.diff(np.concatenate([[-1], cuts, [self.count]]))
        widest = int(np.argmax(gaps))
        start = int(cuts[widest - 1]) + 1 if widest else 0
        return start, start + int(gaps[widest]) - 1


@dataclass(frozen=True)
class ListedColumn:
    """Finitely many values: labels, or numbers that must be met exactly; beside a sample also all between them.

    Beside a sample the values at even positions are where the correct guesses change, and those at odd positions stand
    for everything between their neighbours.
    """

    name: str
    values: tuple[Any, ...]
    kind: str
    sampled: bool = False

    @staticmethod
    def of(attribute: Attribute, goal: Goal) -> ListedColumn:
        """Every value that has a probability; beside a sample, every one that the goal can tell from others."""
        prior = attribute.prior
        assert isinstance(prior, Finite)
        if prior.between is not None:
            return ListedColumn(attribute.name, tuple(values_along(attribute, goal).tolist()), "number", sampled=True)
        values = tuple(v for v, w in zip(prior.values, prior.weights, strict=True) if w > 0)
        return ListedColumn(attribute.name, values, "number" if prior.is_line else "text")

    def shown(self, place: int) -> Any:
        """A value as it is listed: the two ends where it stands for what is between them."""
        return self.values[place - 1 : place + 2 : 2] if self.sampled and place % 2 else self.values[place]

    @property
    def size(self) -> int:
        return len(self.values)

    def codes(self, values: pa.Array) -> Codes:
        return self._of_numbers(numbers(values)) if self.kind == "number" else self._of_labels(values)

    def _of_numbers(self, x: Array) -> Codes:
        points = np.asarray(self.values, dtype=np.float64)
        if self.sampled:
            found, hit = _placed(points[::2], x)
        else:
            found = np.searchsorted(points, x).clip(0, self.size - 1)
            hit = points[found] == x
        if not hit.all():
            found = np.where(hit, found, self.size + np.where(np.isinf(x), INFINITE, OUTSIDE))
            found[np.isnan(x)] = self.size + MISSING
        return found.astype(np.int64, copy=False)

    def _of_labels(self, values: pa.Array) -> Codes:
        labels = pa.array([label_of(v) for v in self.values], pa.string())
        found = pc.call_function("index_in", [texts(values)], pc.SetLookupOptions(labels))
        code = pc.fill_null(found, self.size + OUTSIDE).to_numpy(zero_copy_only=False).astype(np.int64)
        if values.null_count:
            code[values.is_null().to_numpy(zero_copy_only=False)] = self.size + MISSING
        return code


def _placed(cuts: Array, x: Array) -> tuple[Codes, Mask]:
    """Twice the position of the cut that a number is, up to rounding, or one more where it lies between two of them."""
    after = np.searchsorted(cuts, x).clip(0, cuts.size - 1)
    before = np.maximum(after - 1, 0)
    with np.errstate(invalid="ignore"):
        near = [np.abs(x - cuts[c]) <= 4 * np.spacing(np.abs(cuts[c])) for c in (before, after)]
        inside = (x > cuts[0]) & (x < cuts[-1])
    code = np.where(near[1], 2 * after, np.where(near[0], 2 * before, 2 * before + 1))
    return code.astype(np.int64), near[0] | near[1] | inside


def numbers(values: pa.Array) -> Array:
    """A column as floats; what is missing as NaN."""
    if not pa.types.is_float64(values.type):
        try:
            values = pc.cast(values, pa.float64(), safe=False)
        except pa.ArrowException:  # its message may quote a value
            values = None
        if values is None:
            raise EngineError(charged=False)
    if values.null_count == 0:
        return values.to_numpy(zero_copy_only=True)
    return values.to_numpy(zero_copy_only=False)


def texts(values: pa.Array) -> pa.Array:
    """A column as texts; true and false are spelt so."""
    if pa.types.is_dictionary(values.type):
        values = values.dictionary_decode()
    return values if pa.types.is_string(values.type) else pc.cast(values, pa.string())
