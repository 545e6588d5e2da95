"""How each measurement is made noisy: the mechanism, the grid it lives on, and what that costs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

from guessproof.errors import ParameterError
from guessproof.guarantee import Guarantee
from guessproof.intervals import Interval
from guessproof.mechanisms import BEST, BEST_WHOLE, FOLLOWING, MECHANISMS, Mechanism
from guessproof.mechanisms.base import WIDEST, Grid, check_drawable, grid_for
from guessproof.mechanisms.sampling import pick, sampler
from guessproof.mechanisms.selection import Selection
from guessproof.sql.distances import bound_sensitivity
from guessproof.sql.measurement import Measurement
from guessproof.sql.places import RankContribution
from guessproof.sql.rewrite import Cell

if TYPE_CHECKING:
    from guessproof.sql.aggregates.steep import SteepContribution

WHOLE_BITS = 52  # a contribution in grid steps stays a whole number that a double holds exactly


@dataclass(frozen=True)
class Noise:
    """Noise for one measurement, in the units of its sum; `divisor` of them make one unit of the answer."""

    measurement: Measurement
    mechanism: Mechanism
    grid: Grid

    unit: ClassVar[str] = ""  # of its error, where that is not the answer's own

    @property
    def name(self) -> str:
        """The mechanism in one word."""
        return self.mechanism.name

    @property
    def scale(self) -> float:
        """The noise scale b in units of the answer."""
        return self.mechanism.scale / self.measurement.divisor

    @cached_property
    def guarantee(self) -> Guarantee:
        """What one protected unit can do to the log-likelihood of this answer: the measurement's, over the noise."""
        return self.measurement.guarantee.scaled(self.mechanism.epsilon / self.mechanism.sensitivity)

    @property
    def step(self) -> float:
        """What rounding contributions to the grid adds to the metric between any two different values."""
        if self._is_exact:
            return 0.0
        return self.grid.step * self._rounded_apart * self.mechanism.epsilon / self.mechanism.sensitivity

    @property
    def _rounded_apart(self) -> int:
        """How many numbers are rounded by themselves: each of a record's rows, and what it leaves behind in a group.

        A sum of nothing is 0, which lies on every grid; a smallest value of nothing is the end of the range.
        """
        extreme = self.measurement.kind in ("min", "max")
        several = self.measurement.copies * self.measurement.declared.linked
        return several * (2 if extreme and self.measurement.keys else 1)

    @property
    def _is_exact(self) -> bool:
        """Whether contributions lie on the grid, so that nothing is rounded."""
        return not self.measurement.is_rounded or (self.measurement.is_whole and self.grid.exponent <= 0)

    @property
    def cost(self) -> tuple[float, float]:
        """(ε, δ) of one answer as it is really drawn."""
        return self.mechanism.cost_on_grid(self.grid.step, self._rounded_apart, is_exact=self._is_exact)

    def error(self, confidence: float) -> float:
        """The a-priori error of the answer: it is exceeded with probability 1 − confidence at most."""
        return self.mechanism.error(confidence=confidence) / self.measurement.divisor

    def confidence(self, within: float) -> float:
        """How surely the answer lies this near."""
        return self.mechanism.confidence(within=within * self.measurement.divisor)

    def enclose(self, number: float, confidence: float) -> Interval:
        """Where the true number lies, as surely, when this one came out."""
        error = self.error(confidence)
        return Interval(number - error, number + error)

    def numbers(self, cells: Sequence[Cell]) -> list[float]:
        """A noisy number for each cell; one without rows gets noise around what nothing adds up to."""
        measurement = self.measurement
        empty = self.grid.units(measurement.contribution.absent)
        units = self.draw([empty if unit is None else unit for unit, _ in cells])
        sizes = [float(count or measurement.divisor) if measurement.divisor != 1 else 1.0 for _, count in cells]
        return [self.grid.value(unit) / size for unit, size in zip(units, sizes, strict=True)]

    def check(self) -> None:
        """Refuse noise that could not be drawn: before anything is charged."""
        check_drawable(self.mechanism, self.grid)

    def draw(self, units: list[int]) -> list[int]:
        """Whole numbers of grid steps with noise."""
        return sampler(self.mechanism, self.grid).release_units(units)

    def to_dict(self) -> dict[str, Any]:
        """Ready for JSON."""
        return {
            "measurement": self.measurement.text,
            "account": self.measurement.account,
            "mechanism": self.name,
            "sensitivity": self.measurement.per_answer.sensitivity,
            "epsilon": self.mechanism.epsilon,
            "delta": self.cost[1],
            "noise_scale": self.scale,
            "grid": self.grid.exponent,
            **self.mechanism.shape,
        }


@dataclass(frozen=True)
class RankNoise(Noise):
    """A value of a public grid, picked by its rank; its scale and its error are in ranks."""

    unit = "ranks"

    @property
    def step(self) -> float:
        """Scores are whole numbers: nothing is rounded."""
        return 0.0

    @property
    def cost(self) -> tuple[float, float]:
        """(ε, δ) of one answer as it is really drawn."""
        return self.mechanism.epsilon, 0.0

    @property
    def _places(self) -> RankContribution:
        found = self.measurement.contribution
        assert isinstance(found, RankContribution)
        return found

    def enclose(self, number: float, confidence: float) -> Interval:
        """Anywhere on the grid: how far apart two ranks are, only the data tell."""
        values = self._places.grid.values
        return Interval(values[0], values[-1])

    def numbers(self, cells: Sequence[Cell]) -> list[float]:
        """The value picked for each cell; where there are no rows all are alike."""
        grid, aim = self._places.grid, self._places.aim
        parts, fine, nobody = aim.level.denominator, self.measurement.fine, (0,) * len(grid.values)
        scale = math.nextafter(self.scale * parts * fine, math.inf)
        return [grid.values[pick(scale, aim.scores(counts or nobody, fine))] for counts, _ in cells]

    def check(self) -> None:
        """Refuse a scale that does not fit beside whole ranks."""
        if not 2.0**-200 < self.scale < 2.0**60:
            problem = f"a scale of {self.scale:.3g} ranks cannot be drawn"
            raise ParameterError("noise", self.name, problem, "use a more moderate epsilon")

    def to_dict(self) -> dict[str, Any]:
        """Ready for JSON."""
        values = self._places.grid.values
        picked = {"values": len(values), "lowest": values[0], "highest": values[-1]}
        return {**super().to_dict(), "unit": self.unit, "picked_from": picked}


@dataclass(frozen=True)
class FollowingNoise(Noise):
    """Cauchy noise on an extreme, whose scale follows the data: smaller where the rows near the extreme move it less.

    What is stated is the largest scale and its error; which one was used is told nowhere.
    """

    @property
    def step(self) -> float:
        """What rounding adds between any two different values.

        Rows that move least feel a step of the grid most; what floating point does to a scale comes on top.
        """
        rounded = self.grid.step + 2 * bound_sensitivity(self._rows, self.measurement.declared).error
        return rounded / self._rows.least * self.mechanism.epsilon / self.mechanism.sensitivity + 2.0**-44

    @property
    def cost(self) -> tuple[float, float]:
        """(ε, δ) of one answer as it is really drawn."""
        return math.nextafter(self.mechanism.epsilon + self.step, math.inf), 0.0

    @property
    def _rows(self) -> SteepContribution:
        from guessproof.sql.aggregates.steep import SteepContribution

        found = self.measurement.contribution
        assert isinstance(found, SteepContribution)
        return found

    def numbers(self, cells: Sequence[Cell]) -> list[float]:
        """A noisy extreme for each cell, from the extremes of its classes of rows."""
        largest, value = self.measurement.kind == "max", self.grid.value
        nobody, end = self.grid.units(self.measurement.contribution.absent), max if largest else min
        units, scales = list[int](), list[float]()
        for extremes, _ in cells:
            known = [x for x in extremes or () if x is not None]
            units.append(end(known, default=nobody))
            scales.append(self.scale_of([None if x is None else value(x) for x in extremes or ()], largest))
        drawn: Any = sampler(self.mechanism, self.grid)
        return [value(unit) for unit in drawn.release_units(units, scales)]

    def scale_of(self, extremes: Sequence[float | None], largest: bool) -> float:
        """The scale for these extremes: a secret."""
        assert isinstance(self.mechanism, FOLLOWING)
        relative = self._rows.relative(extremes, self.mechanism.beta / self.mechanism.sensitivity, largest=largest)
        return replace(self.mechanism, sensitivity=relative * self.mechanism.sensitivity).scale

    def likely_error(self, confidence: float) -> float:
        """The error on tables whose columns are spread evenly over what is declared of them, on average."""
        share = _following_share(self._rows, self.mechanism, self.measurement)
        return share * self.error(confidence)

    def to_dict(self) -> dict[str, Any]:
        """Ready for JSON."""
        return {**super().to_dict(), "follows_data": True}


def _following_share(rows: SteepContribution, mechanism: Mechanism, measurement: Measurement) -> float:
    """What the scale is of the largest one, on average over made-up tables."""
    assert isinstance(mechanism, FOLLOWING)
    falling, largest = mechanism.beta / mechanism.sensitivity, measurement.kind == "max"
    tables = rows.typical(min(measurement.declared.rows or 100, 100))
    return math.fsum(rows.relative(table, falling, largest=largest) for table in tables) / len(tables)


BETAS = (0.25, 0.15, 0.1, 0.06, 0.03, 0.01)  # of ε: the first one's noise is the widest, at its worst


def _following(measurement: Measurement, epsilon: float, confidence: float) -> FollowingNoise:
    """With the β and γ that likely need the least noise."""
    from guessproof.sql.aggregates.steep import SteepContribution

    rows, most = measurement.contribution, measurement.guarantee.sensitivity
    assert isinstance(rows, SteepContribution)
    made = [FOLLOWING.following(most, epsilon, share=share, confidence=confidence) for share in BETAS]
    best = min(made, key=lambda m: _following_share(rows, m, measurement) * m.error(confidence=confidence))
    finer = math.ceil(-math.log2(rows.least))
    exponent = max(grid_for(best.scale).exponent - finer, math.frexp(measurement.size)[1] - WHOLE_BITS)
    return FollowingNoise(measurement, best, Grid(exponent))


def noise_for(
    measurement: Measurement,
    epsilon: float,
    mechanism: str | None = None,
    *,
    delta: float = 0.0,
    confidence: float = 0.95,
) -> Noise:
    """Noise that costs ε for the most that one record can do to the measurement."""
    if measurement.picks:
        return RankNoise(measurement, _selection(measurement, epsilon), Grid(0))
    if measurement.follows:
        return _following(measurement, epsilon, confidence)
    kind = _kind_of(measurement, mechanism)
    options = kind.options(delta=delta, confidence=confidence)
    made: Any = kind  # its options are its own
    noise: Mechanism = made(sensitivity=_most(measurement, kind), epsilon=epsilon, **options)
    return Noise(measurement, noise, Grid(0) if kind.is_whole else _grid(noise.scale, measurement))


def epsilon_needed(
    measurement: Measurement,
    within: float,
    confidence: float,
    mechanism: str | None,
    delta: float,
    *,
    shaped_for: float | None = None,
) -> float:
    """The least ε at which one answer lies this near, this surely; `shaped_for`: Cauchy noise with a γ for that.

    Where a value is picked by its rank, `within` is a number of ranks.
    """
    if measurement.picks:
        made = _selection(measurement, 1.0)
        most, places = made.sensitivity, made.candidates
        return Selection.epsilon_for(sensitivity=most, within=within, confidence=confidence, candidates=places)
    if measurement.follows:  # with the β that needs most: enough for every other
        shaped, most = shaped_for or confidence, measurement.guarantee.sensitivity
        return FOLLOWING.epsilon_following(
            sensitivity=most, within=within, confidence=confidence, share=BETAS[0], shaped_for=shaped
        )
    kind: Any = _kind_of(measurement, mechanism)
    options = kind.options(delta=delta, confidence=shaped_for or confidence)
    near = within * measurement.divisor
    return kind.epsilon_for(sensitivity=_most(measurement, kind), within=near, confidence=confidence, **options)


def _selection(measurement: Measurement, epsilon: float) -> Selection:
    found = measurement.contribution
    assert isinstance(found, RankContribution)
    return Selection(measurement.guarantee.sensitivity, epsilon, len(found.grid.values))


def _kind_of(measurement: Measurement, name: str | None) -> type[Mechanism]:
    """The mechanism that a plan names, or the best one."""
    if name is None:
        return BEST_WHOLE if measurement.is_whole else BEST
    kind = MECHANISMS[name]
    if kind.is_whole and not measurement.is_whole:
        problem, remedy = f"{measurement.text} is no whole number", f'say mechanism = "{BEST.name}"'
        raise ParameterError("mechanism", name, problem, remedy)
    return kind


def _most(measurement: Measurement, kind: type[Mechanism]) -> float:
    """The most that one record can do to the measurement."""
    most = measurement.euclidean if kind.is_euclidean else measurement.guarantee.sensitivity
    return _ceiling(most) if kind.is_whole else most


def _grid(scale: float, measurement: Measurement) -> Grid:
    """A grid as fine as the noise wants and 64-bit whole numbers allow; a whole answer sits on it without rounding.

    Noise so wide that it would not fit into 64-bit steps of 1 gets a coarser grid, and the rounding is charged.
    """
    fine = grid_for(scale).exponent
    size = measurement.size
    coarsest = math.frexp(size)[1] - WHOLE_BITS if size else fine
    exponent = max(fine, coarsest)
    return Grid(min(exponent, 0) if measurement.is_whole and scale < 2.0**WIDEST else exponent)


def _ceiling(value: float) -> float:
    """Whole contributions move by whole numbers; what floating point added to the bound is dropped."""
    return float(round(value)) if abs(value - round(value)) < 1e-6 else float(math.ceil(value))
