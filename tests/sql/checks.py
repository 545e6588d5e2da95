"""What the guarantee says, held against every variant of a record. A fault is a sentence; none is what we want."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

import numpy as np

from guessproof.sql import AnalyzedQuery, Measurement
from guessproof.world.distances import Matrix, Metric, Multiple, Sum
from sql.grammar import POOL
from sql.neighbours import EXPONENT, Answers, Bench, allowed

UNIT = 2.0**EXPONENT
PAIRS = 25  # random pairs for `between` and `euclidean`


def faults(bench: Bench, question: AnalyzedQuery, random: Random) -> list[str]:
    """Every way in which some measurement moves further than its guarantee says."""
    found: list[str] = []
    for measurement, answers in zip(question.measurements, bench.answers(question), strict=True):
        seen = _Seen(question, measurement, answers)
        found += [f"{measurement.text}: {fault}" for fault in seen.faults(random)]
    return found


class _Seen:
    """One measurement's whole numbers for all variants that may occur."""

    def __init__(self, question: AnalyzedQuery, measurement: Measurement, answers: Answers) -> None:
        self.question, self.measurement, self.used = question, measurement, answers.used
        declared = question.declared
        self.kept = allowed(declared, self.used, complete=measurement.divisor != 1)
        everywhere = range(answers.variants.shape[-1])
        self.answers = answers.variants[np.ix_(*self.kept, everywhere)]
        self.away = np.abs(self.answers - answers.without).sum(axis=-1)
        self.protected = [i for i, name in enumerate(self.used) if declared.column(name).protected]
        keys = {key.column for key in question.keys}
        self.moving = [i for i in self.protected if self.used[i] not in keys]
        self.records = declared.unit.name == "records"

    def faults(self, random: Random) -> Iterator[str]:
        """Everything that is wrong."""
        yield from self._change()
        if self.records:
            yield from self._presence()
        for axis in self.moving:
            yield from self._column(axis)
        yield from self._between(random)
        yield from self._euclidean(random)

    def _room(self, bound: float) -> float:
        """A bound in units, with one step of the grid for each row that is rounded to it."""
        return bound * self.measurement.divisor / UNIT * (1 + 1e-12) + self.measurement.copies + 1e-6

    def _change(self) -> Iterator[str]:
        # With the group as it is, only one group moves: the sum over groups is the largest move of one.
        axes = tuple(self.moving)
        most = float(np.max(np.max(self.answers, axis=axes) - np.min(self.answers, axis=axes))) if axes else 0.0
        if most > self._room(self.measurement.guarantee.change / self.measurement.divisor):
            yield f"moves by {most * UNIT}, change says {self.measurement.guarantee.change}"
        if most > self._room(self.measurement.per_answer.change):
            yield f"moves by {most * UNIT}, the measurement's change says {self.measurement.per_answer.change}"
        if self.records and self.question.keys:
            by_group = self.away.reshape(-1, self.away.shape[-1]).max(axis=0)  # the key g is the last axis
            moved = float(np.sum(np.sort(by_group)[-2:]))
            if moved > self._room(self.measurement.per_answer.change) + 1:
                yield f"two groups move by {moved * UNIT}, change says {self.measurement.per_answer.change}"

    def _presence(self) -> Iterator[str]:
        most = float(np.max(self.away))
        if most > self._room(self.measurement.per_answer.presence):
            yield f"coming or going moves by {most * UNIT}, presence says {self.measurement.per_answer.presence}"

    def _column(self, axis: int) -> Iterator[str]:
        name = self.used[axis]
        metric = self.measurement.guarantee.columns.get(name)
        if metric is None:
            if name in self.measurement.contribution.columns:
                yield f"{name} has no metric"
            return
        values = [POOL[name][i] for i in self.kept[axis]]
        places = [i for i, v in enumerate(values) if v is not None and v == v]
        for table in _matrices(metric):
            places = [i for i in places if _label(values[i]) in table.values]
        flat = np.moveaxis(self.answers, axis, 0)[places].reshape(len(places), -1)
        moved = np.array([np.abs(flat - row).max(axis=1) for row in flat])
        points = [v if isinstance(v := values[i], float) else _label(v) for i in places]
        says = np.array([np.broadcast_to(metric.distance(p, points), len(points)) for p in points])
        for a, b in np.argwhere(moved > says / UNIT * (1 + 1e-9) + self.measurement.copies + 1e-6):
            yield f"{name} from {points[a]} to {points[b]} moves by {moved[a, b] * UNIT}, its metric says {says[a, b]}"
            return
        line = self.measurement.guarantee.lines.get(name)
        if line is not None and any(
            np.any(line.distance(p, points) < s * (1 - 1e-12)) for p, s in zip(points, says, strict=True)
        ):
            yield f"the line form of {name} is smaller than its metric"

    def _between(self, random: Random) -> Iterator[str]:
        for first, second in self._pairs(self.moving, random):
            before, after = ({self.used[i]: self._value(i, spot[i]) for i in self.moving} for spot in (first, second))
            moved = float(np.abs(self.answers[first] - self.answers[second]).sum()) * UNIT
            says = self.measurement.guarantee.between(before, after)
            if moved > says * (1 + 1e-12) + UNIT * (self.measurement.copies + 1e-6):
                yield f"from {before} to {after} moves by {moved}, between says {says}"
                return

    def _value(self, axis: int, place: int) -> object:
        return POOL[self.used[axis]][self.kept[axis][place]]

    def _pairs(self, axes: list[int], random: Random) -> Iterator[tuple[tuple[int, ...], tuple[int, ...]]]:
        shape = self.answers.shape[:-1]
        for _ in range(PAIRS if axes else 0):
            first = [random.randrange(n) for n in shape]
            second = list(first)
            for axis in random.sample(axes, random.randint(1, len(axes))):
                second[axis] = random.randrange(shape[axis])
            yield tuple(first), tuple(second)

    def _euclidean(self, random: Random) -> Iterator[str]:
        steep = self.measurement.guarantee.slope
        axes = [i for i in self.moving if self.used[i] in self.measurement.guarantee.lines]
        for first, second in self._pairs(axes, random) if steep is not None else ():
            ends = [[self._value(i, spot[i]) for i in axes] for spot in (first, second)]
            if not all(isinstance(v, float) and abs(v) < 1e100 for end in ends for v in end):
                continue
            apart = float(np.linalg.norm(np.subtract(*ends)))
            moved = float(np.abs(self.answers[first] - self.answers[second]).sum()) * UNIT
            room = self.measurement.copies * UNIT + self.measurement.guarantee.rounding
            if moved > steep * apart * (1 + 1e-9) + room:
                yield f"from {ends[0]} to {ends[1]} moves by {moved}, euclidean says {steep * apart}"
                return


def _matrices(metric: Metric) -> Iterator[Matrix]:
    """The tables of distances that a metric is made of: they know their levels only."""
    if isinstance(metric, Matrix):
        yield metric
    parts = metric.parts if isinstance(metric, Sum) else [metric.metric] if isinstance(metric, Multiple) else []
    for part in parts:
        yield from _matrices(part)


def _label(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
