"""What the guarantee says, held against every variant of a record. A fault is a sentence; none is what we want."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

import numpy as np

from guessproof.sql import Measurement, Question
from guessproof.world.metrics import Matrix
from sql.grammar import POOL
from sql.neighbours import EXPONENT, Array, Bench, allowed

UNIT = 2.0**EXPONENT
PAIRS = 25  # random pairs for `between`, beside the worst one


def faults(bench: Bench, question: Question, random: Random) -> list[str]:
    """Every way in which some measurement moves further than its guarantee says."""
    used, results = bench.answers(question)
    found: list[str] = []
    for measurement, answers in zip(question.measurements, results, strict=True):
        seen = _Seen(question, measurement, used, answers)
        found += [f"{measurement.text}: {fault}" for fault in seen.faults(random)]
    return found


class _Seen:
    """One measurement's whole numbers for all variants that may occur."""

    def __init__(self, question: Question, measurement: Measurement, used: tuple[str, ...], answers: Array) -> None:
        self.question, self.measurement, self.used = question, measurement, used
        declared = question.declared
        self.kept = allowed(declared, used, complete=measurement.divisor != 1)
        self.answers = answers[np.ix_(*self.kept)] if used else answers
        self.protected = [i for i, name in enumerate(used) if declared.column(name).protected]
        self.records = declared.protects == "records"

    def faults(self, random: Random) -> Iterator[str]:
        """Everything that is wrong."""
        yield from self._change()
        if self.records:
            yield from self._presence()
        for axis in self.protected:
            yield from self._column(axis)
        yield from self._between(random)
        yield from self._euclidean(random)

    def _room(self, bound: float) -> float:
        """A bound in units, with one step of the grid for rounding to it."""
        return bound * self.measurement.divisor / UNIT * (1 + 1e-12) + 1 + 1e-6

    def _moving(self) -> list[int]:
        keys = {key.column for key in self.question.keys}
        return [i for i in self.protected if self.used[i] not in keys]

    def _change(self) -> Iterator[str]:
        axes = tuple(self._moving())
        far = np.max(self.answers, axis=axes) - np.min(self.answers, axis=axes) if axes else np.zeros(1)
        most = float(np.max(far))
        if most > self._room(self.measurement.guarantee.change / self.measurement.divisor):
            yield f"moves by {most * UNIT}, change says {self.measurement.guarantee.change}"
        if self.records and self.question.keys:
            away = np.abs(self.answers - round(self.measurement.contribution.absent / UNIT))
            by_group = away.reshape(-1, away.shape[-1]).max(axis=0)  # the key g is the last axis
            moved = float(np.sum(np.sort(by_group)[-2:]))
            if moved > self._room(self.measurement.change) + 1:
                yield f"two groups move by {moved * UNIT}, change says {self.measurement.change}"

    def _presence(self) -> Iterator[str]:
        most = float(np.max(np.abs(self.answers - round(self.measurement.contribution.absent / UNIT))))
        if most > self._room(self.measurement.presence):
            yield f"coming or going moves by {most * UNIT}, presence says {self.measurement.presence}"

    def _column(self, axis: int) -> Iterator[str]:
        name = self.used[axis]
        metric = self.measurement.guarantee.columns.get(name)
        if metric is None:
            if name in self.measurement.contribution.columns:
                yield f"{name} has no metric"
            return
        values = [POOL[name][i] for i in self.kept[axis]]
        places = [i for i, v in enumerate(values) if v is not None and v == v]
        if isinstance(metric, Matrix):
            places = [i for i in places if self._label(values[i]) in metric.values]
        flat = np.moveaxis(self.answers, axis, 0)[places].reshape(len(places), -1)
        moved = np.abs(flat[:, None, :] - flat[None, :, :]).max(axis=2)
        points = [values[i] if isinstance(values[i], float) else self._label(values[i]) for i in places]
        for a, b in zip(*np.nonzero(moved), strict=True):
            pass
        table = np.array([[float(metric.distance(p, q)) for q in points] for p in points])
        line = self.measurement.guarantee.lines.get(name)
        room = table / UNIT * (1 + 1e-9) + 1 + 1e-6
        for a, b in np.argwhere(moved > room):
            yield f"{name} from {points[a]} to {points[b]} moves by {moved[a, b] * UNIT}, its metric says {table[a, b]}"
            return
        if line is not None:
            simple = np.array([[float(line.distance(p, q)) for q in points] for p in points])
            if np.any(simple < table * (1 - 1e-12)):
                yield f"the line form of {name} is smaller than its metric"

    @staticmethod
    def _label(value: object) -> str:
        return str(value).lower() if isinstance(value, bool) else str(value)

    def _between(self, random: Random) -> Iterator[str]:
        axes = self._moving()
        if not axes:
            return
        for first, second in self._pairs(axes, random):
            before, after = ({self.used[i]: self._value(i, spot[i]) for i in axes} for spot in (first, second))
            moved = abs(float(self.answers[first]) - float(self.answers[second])) * UNIT
            says = self.measurement.guarantee.between(before, after)
            if moved > says * (1 + 1e-12) + UNIT * (1 + 1e-6):
                yield f"from {before} to {after} moves by {moved}, between says {says}"
                return

    def _value(self, axis: int, place: int) -> object:
        return POOL[self.used[axis]][self.kept[axis][place]]

    def _pairs(self, axes: list[int], random: Random) -> Iterator[tuple[tuple[int, ...], tuple[int, ...]]]:
        shape = self.answers.shape
        for _ in range(PAIRS):
            first = [random.randrange(n) for n in shape]
            second = list(first)
            for axis in random.sample(axes, random.randint(1, len(axes))):
                second[axis] = random.randrange(shape[axis])
            yield tuple(first), tuple(second)

    def _euclidean(self, random: Random) -> Iterator[str]:
        steep = self.measurement.guarantee.euclidean
        if steep is None:
            return
        axes = [i for i in self._moving() if self.used[i] in self.measurement.guarantee.lines]
        for first, second in self._pairs(axes, random) if axes else ():
            ends = [[self._value(i, spot[i]) for i in axes] for spot in (first, second)]
            if not all(isinstance(v, float) and np.isfinite(v) for end in ends for v in end):
                continue
            apart = float(np.linalg.norm(np.subtract(*ends)))
            moved = abs(float(self.answers[first]) - float(self.answers[second])) * UNIT
            if moved > steep * apart * (1 + 1e-9) + UNIT + self.measurement.guarantee.error:
                yield f"from {ends[0]} to {ends[1]} moves by {moved}, euclidean says {steep * apart}"
                return
