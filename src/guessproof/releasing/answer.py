"""From what the table adds up to to what is shown: noise for every number of every declared group, and its error."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from guessproof.choosing import Choice
from guessproof.errors import ParameterError
from guessproof.noise import Noise
from guessproof.releasing.table import arrow_of, pandas_of, polars_of
from guessproof.sql import AnalyzedQuery
from guessproof.sql import formula as formulas
from guessproof.sql.rewrite import Cell, Group
from guessproof.world.times import show_time

Row = tuple[Group, dict[int, float]]  # noisy numbers of a group, by their measurements
Found = Mapping[Group, Sequence[Cell]]  # for each measurement what the engine found


@dataclass(frozen=True)
class Released:
    """One number of the answer, with its error: exceeded with probability 1 − confidence at most.

    `ranks` is the error of a quantile, whose error in its own unit only the data could tell.
    """

    name: str
    group: dict[str, str | None]  # None: a key that is missing
    value: float | None
    error: float | None
    confidence: float
    low: float | None
    high: float | None
    ranks: float | None = None
    time: str | None = None  # the value as a time, where it is one: value, low and high are days since 1970 then

    def to_dict(self) -> dict[str, Any]:
        """Ready for JSON; `ranks` and `time` only where there are some, as in answers recorded before they came."""
        return {k: v for k, v in vars(self).items() if k not in ("ranks", "time") or v is not None}


@dataclass(frozen=True)
class Answer:
    """A noisy answer, what it cost, what an attacker can learn from it, and what is left."""

    answers: tuple[Released, ...]
    epsilon: float
    delta: float
    epsilon_add_remove: float | None
    epsilon_per_unit: dict[str, float]
    noise_scale: float | None
    noise: tuple[dict[str, Any], ...]
    learned: dict[str, Any]
    sampling: dict[str, Any]
    assumptions: tuple[str, ...]
    data_dependent: bool
    remaining: dict[str, Any] = field(default_factory=dict[str, Any])
    head: str = ""
    replayed: bool = False
    number: int | None = None  # which of the plan's releases this is, where it has several
    times: int = 1

    @property
    def value(self) -> float | None:
        """The number, where there is only one."""
        if len(self.answers) != 1:
            raise ParameterError("value", len(self.answers), "the answer has several numbers", "use .answers")
        return self.answers[0].value

    def record(self) -> dict[str, Any]:
        """What the ledger keeps."""
        kept = replace(self, remaining={}, head="", replayed=False)
        return {k: v for k, v in kept.to_dict().items() if k not in ("remaining", "head", "replayed")}

    def to_dict(self) -> dict[str, Any]:
        """Ready for JSON."""
        return {
            "answers": [a.to_dict() for a in self.answers],
            **({} if self.times == 1 else {"number": self.number, "times": self.times}),
            "epsilon": self.epsilon,
            "delta": self.delta,
            "epsilon_add_remove": self.epsilon_add_remove,
            "epsilon_per_unit": self.epsilon_per_unit,
            "noise_scale": self.noise_scale,
            "noise": list(self.noise),
            "learned": self.learned,
            "sampling": self.sampling,
            "assumptions": list(self.assumptions),
            "data_dependent": self.data_dependent,
            "remaining": self.remaining,
            "head": self.head,
            "replayed": self.replayed,
        }

    def to_arrow(self) -> Any:
        """An Arrow table: one row for each group, beside each number its error."""
        return arrow_of(self.answers)

    def to_pandas(self) -> Any:
        """The same as a pandas frame."""
        return pandas_of(self.answers)

    def to_polars(self) -> Any:
        """The same as a polars frame."""
        return polars_of(self.answers)

    @staticmethod
    def from_record(table: Mapping[str, Any], remaining: dict[str, Any], head: str) -> Answer:
        """The answer that was given before."""
        return Answer(
            tuple(Released(**a) for a in table["answers"]),
            table["epsilon"],
            table["delta"],
            table["epsilon_add_remove"],
            dict(table["epsilon_per_unit"]),
            table["noise_scale"],
            tuple(table["noise"]),
            dict(table["learned"]),
            dict(table["sampling"]),
            tuple(table["assumptions"]),
            table["data_dependent"],
            remaining,
            head,
            True,
            table.get("number"),
            table.get("times", 1),
        )


def add_noise(choice: Choice, found: Found) -> Answer:
    """Noise for every measurement of every declared group, and the outputs computed from it."""
    groups = list_groups(choice.question)
    columns = [draw_column(noise, index, groups, found) for index, noise in enumerate(choice.noises)]
    return make_answer(choice, numbers_by_group(groups, columns))


def numbers_by_group(groups: Sequence[Group], columns: Sequence[Sequence[float]]) -> list[Row]:
    """Each group with its noisy number of every measurement."""
    return [(g, {index: column[i] for index, column in enumerate(columns)}) for i, g in enumerate(groups)]


def make_answer(choice: Choice, rows: list[Row]) -> Answer:
    """The outputs computed from noisy numbers, and all that is said beside them."""
    shown, outputs = _filter_and_sort(choice.question, rows), measured_outputs(choice.question)
    answers = tuple(_make_number(choice, group, numbers, output) for group, numbers in shown for output in outputs)
    advantage, posterior = choice.advantage, choice.posterior
    learned = {
        "prior": choice.prior,
        "advantage": None if advantage is None else advantage.to_dict(),
        "posterior": None if posterior is None else posterior.to_dict(),
    }
    return Answer(
        answers,
        choice.cost,
        choice.delta,
        choice.epsilon_add_remove,
        choice.epsilon_per_unit,
        choice.noise_scale,
        tuple(n.to_dict() for n in choice.noises),
        learned,
        sampling_error(choice),
        choice.assumptions,
        choice.data_dependent,
        times=choice.times,
    )


def list_groups(question: AnalyzedQuery) -> list[Group]:
    """Every declared group, whether the table has rows of it or not."""
    return [tuple(combination) for combination in itertools.product(*(k.levels for k in question.keys))]


def draw_column(noise: Noise, index: int, groups: list[Group], found: Found) -> list[float]:
    """One noisy number per group, whether it has rows or not."""
    return noise.numbers([found[g][index] if g in found else (None, None) for g in groups])


def measured_outputs(question: AnalyzedQuery) -> list[Any]:
    """The outputs that hold a number of the table, keys of groups left out."""
    return [o for o in question.outputs if o.measured]


def _filter_and_sort(question: AnalyzedQuery, rows: list[Row]) -> list[Row]:
    """HAVING, ORDER BY and LIMIT on the noisy numbers."""
    if question.having is not None:
        rows = [row for row in rows if formulas.evaluate(question.having, row[1], row[0])]
    for formula, descending in reversed(question.order):
        rows = sorted(rows, key=lambda row: _sort_key(_sort_value(question, formula, row)), reverse=descending)
    return rows if question.limit is None else rows[: question.limit]


def _sort_value(question: AnalyzedQuery, formula: Any, row: Row) -> Any:
    group = tuple(key.rank(level) for key, level in zip(question.keys, row[0], strict=True))
    return formulas.evaluate(formula, row[1], group)


def _sort_key(value: Any) -> tuple[int, Any]:
    return (1, 0.0) if isinstance(value, float) and math.isnan(value) else (0, value)


def _level(choice: Choice, output: Any) -> float:
    """How sure each number behind an output must be, so that they fail together no more often than one may."""
    return 1 - (1 - _confidence(choice, output)) / max(len(output.measured), 1)


def _confidence(choice: Choice, output: Any) -> float:
    return choice.targets.get(output.name, (0.0, 0.95))[1]


def _make_number(choice: Choice, group: Group, numbers: Mapping[int, float], output: Any) -> Released:
    value = float(formulas.evaluate(output.formula, numbers, group))
    level = _level(choice, output)
    ranges = {index: choice.noises[index].enclose(numbers[index], level) for index in output.measured}
    enclosed = formulas.enclose(output.formula, ranges)
    low, high = _finite(enclosed.low), _finite(enclosed.high)
    error = None if low is None or high is None else max(high - value, value - low)
    ranks = None
    if output.is_plain:
        noise = choice.noises[output.measured[0]]
        error, ranks = (None, noise.error(level)) if noise.unit else (noise.error(level), None)
    keys = {key.name: level_name for key, level_name in zip(choice.question.keys, group, strict=True)}
    time = show_time(value) if output.is_time and math.isfinite(value) else None
    return Released(output.name, keys, _finite(value), error, _confidence(choice, output), low, high, ranks, time)


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None


def sampling_error(choice: Choice) -> dict[str, Any]:
    """How far an average of a random sample strays by itself: from the declared prior and the public count only."""
    found: dict[str, Any] = {}
    attributes = choice.plan.attributes()
    for output in measured_outputs(choice.question):
        measurement = choice.question.measurements[output.measured[0]]
        name = next(iter(measurement.contribution.term.columns), None)
        is_bare = output.is_plain and measurement.divisor != 1 and not measurement.contribution.term.parts
        if is_bare and name in attributes:
            deviation = _deviation(attributes[name].prior)
            if deviation is not None:
                found[output.name] = 1.96 * deviation / math.sqrt(measurement.divisor)
    return found


def _deviation(prior: Any) -> float | None:
    """The standard deviation of a prior, where it has one in closed form."""
    deviation = getattr(prior, "sd", None)
    return float(deviation) if isinstance(deviation, (int, float)) else None


def has_declared_rows(question: AnalyzedQuery, found: Found) -> bool:
    """The public count behind an average must be there, or the noise would be too small."""
    return all(
        ((found[group][index][1] if group in found else 0) or 0) >= measurement.divisor
        for group in list_groups(question)
        for index, measurement in enumerate(question.measurements)
        if measurement.divisor != 1
    )
