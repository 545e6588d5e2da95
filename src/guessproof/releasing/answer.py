"""From what the table adds up to to what is shown: noise for every number of every declared group, and its error."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any

from guessproof.choosing import Choice
from guessproof.errors import ParameterError
from guessproof.noise import Noise
from guessproof.plain import table_html
from guessproof.releasing.table import arrow_of, pandas_of, polars_of
from guessproof.rounded import beside_error, margin, up
from guessproof.sql import AnalyzedQuery, Asked, AskedPart, Output
from guessproof.sql import formula as formulas
from guessproof.sql.measurement import EXTREMES, Measurement
from guessproof.sql.rewrite import Cell, Group
from guessproof.world import show_time

MOST_SHOWN = 4  # numbers of an answer, in one line
Row = tuple[Group, dict[int, float]]  # noisy numbers of a group, by their measurements
Found = Mapping[Group, Sequence[Cell]]  # for each measurement what the engine found
# Left out where there are none, as in answers recorded before they came.
LATER = ("ranks", "time", "question", "nearest")


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
    question: str | None = None  # which of several it answers
    nearest: float | None = None  # the possible value that is nearest: a count is not below 0, an average in its bounds

    @property
    def shown(self) -> str:
        """The number with its error, for people."""
        value = "none" if self.value is None else self.time or beside_error(self.value, self.error)
        error = "" if self.error is None else f" {margin(self.error)}{' days' if self.time else ''}"
        return value + (f" {margin(self.ranks)} ranks" if self.ranks is not None else error)

    def __float__(self) -> float:
        return math.nan if self.value is None else self.value

    @property
    def called(self) -> str:
        """Its group, its question and its name."""
        return " ".join([*_levels(self), self.name if self.question is None else f"{self.question}.{self.name}"])

    def to_dict(self) -> dict[str, Any]:
        """Ready for JSON."""
        return {k: v for k, v in vars(self).items() if k not in LATER or v is not None}


@dataclass(frozen=True)
class Answer:
    """A noisy answer, what it cost, what an attacker can learn from it, and what is left.

    Of a plan with several questions `answer["mean_stay"]` is the answer to one; the rest is about all of them.
    """

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
    questions: tuple[str, ...] = ()  # the names of several questions
    bias_note: str | None = None  # what is said of the bias of max_rows, where that is not known

    def __getitem__(self, question: str) -> Answer:
        """The answer to one of several questions."""
        if question not in self.questions:
            known = ", ".join(self.questions) or "none: the plan asks one question"
            raise ParameterError("question", question, "is not a question of this answer", f"its questions are {known}")
        return replace(self, answers=tuple(a for a in self.answers if a.question == question), questions=())

    @property
    def value(self) -> float | None:
        """The number, where there is only one."""
        if len(self.answers) != 1:
            raise ParameterError("value", len(self.answers), "the answer has several numbers", "use .answers")
        return self.answers[0].value

    def __repr__(self) -> str:
        shown = [f"{a.called}={a.shown}" for a in self.answers[:MOST_SHOWN]]
        more = ["…"] if len(self.answers) > MOST_SHOWN else []
        return f"Answer({', '.join([*shown, *more])}, ε={up(self.epsilon)}{', replayed' if self.replayed else ''})"

    def __float__(self) -> float:
        """The number, where there is only one; NaN where it is none."""
        value = self.value
        return math.nan if value is None else value

    def __format__(self, spec: str) -> str:
        return format(float(self), spec) if spec else repr(self)

    def _repr_html_(self) -> str:
        if self.questions:
            return "".join(self[name]._repr_html_() for name in self.questions)
        keys = tuple(self.answers[0].group) if self.answers else ()
        rows = [(*_levels(a), a.name, a.shown, f"{a.confidence:.0%}") for a in self.answers]
        asked = "".join(f"{name}: " for name in dict.fromkeys(a.question for a in self.answers) if name)
        caption = f"{asked}ε = {up(self.epsilon)} charged{', before: the recorded answer' if self.replayed else ''}"
        return table_html(caption, (*keys, "answer", "value", "confidence"), rows)

    def record(self) -> dict[str, Any]:
        """What the ledger keeps."""
        return {k: v for k, v in self._table().items() if k not in ("remaining", "head", "replayed")}

    def to_dict(self) -> dict[str, Any]:
        """Ready for JSON; of several questions the answers also by their names."""
        if not self.questions:
            return self._table()
        named = {name: {"answers": [a.to_dict() for a in self[name].answers]} for name in self.questions}
        return {**self._table(), "questions": named}

    def _table(self) -> dict[str, Any]:
        """Every field; numbers and questions only where there are several."""
        table = {**vars(self), "answers": [a.to_dict() for a in self.answers]}
        once = ("number", "times") if self.times == 1 else ()
        alone = (*(() if self.questions else ("questions",)), *(() if self.bias_note else ("bias_note",)))
        lists = {k: list(v) for k, v in table.items() if isinstance(v, tuple)}
        return {k: v for k, v in {**table, **lists}.items() if k not in (*once, *alone)}

    def to_arrow(self) -> Any:
        """An Arrow table: one row for each group, beside each number its error."""
        return arrow_of(self._one())

    def to_pandas(self) -> Any:
        """The same as a pandas frame."""
        return pandas_of(self._one())

    def to_polars(self) -> Any:
        """The same as a polars frame."""
        return polars_of(self._one())

    def _one(self) -> tuple[Released, ...]:
        """The numbers of one table."""
        if self.questions:
            problem = "the answer has a table for each question"
            raise ParameterError("question", list(self.questions), problem, f'use answer["{self.questions[0]}"]')
        return self.answers

    @staticmethod
    def from_record(table: Mapping[str, Any], remaining: dict[str, Any], head: str) -> Answer:
        """The answer that was given before."""
        told: dict[str, Any] = {"remaining": remaining, "head": head, "replayed": True}
        for name in (f.name for f in fields(Answer) if f.name in table):
            told[name] = tuple(table[name]) if isinstance(table[name], list) else table[name]
        told["answers"] = tuple(Released(**a) for a in table["answers"])
        return Answer(**told)


def add_noise(choice: Choice, found: Mapping[str, Found]) -> Answer:
    """Noise for every measurement of every declared group, and the outputs computed from it.

    `found` is what the engine found for each question, by its name.
    """
    return make_answer(choice, draw_numbers(choice, found))


def draw_numbers(choice: Choice, found: Mapping[str, Found]) -> dict[str, list[Row]]:
    """The noisy numbers of every declared group of each question; what two questions share is drawn once."""
    drawn: dict[int, list[float]] = {}
    rows: dict[str, list[Row]] = {}
    for part in choice.asked.parts:
        groups, cells = list_groups(part.query), found.get(part.name, {})
        for index, place in enumerate(part.places):
            if place not in drawn:
                drawn[place] = draw_column(choice.noises[place], index, groups, cells)
        rows[part.name] = numbers_by_group(groups, [drawn[place] for place in part.places])
    return rows


def numbers_by_group(groups: Sequence[Group], columns: Sequence[Sequence[float]]) -> list[Row]:
    """Each group with its noisy number of every measurement."""
    return [(g, {index: column[i] for index, column in enumerate(columns)}) for i, g in enumerate(groups)]


def make_answer(choice: Choice, rows: Mapping[str, list[Row]]) -> Answer:
    """The outputs computed from the noisy numbers of each question, by its name, and all that is said beside them."""
    answers = [a for part in choice.asked.parts for a in PartAnswer(choice, part).read(rows[part.name])]
    advantage, posterior = choice.advantage, choice.posterior
    return Answer(
        answers=tuple(answers),
        epsilon=choice.cost,
        delta=choice.delta,
        epsilon_add_remove=choice.epsilon_add_remove,
        epsilon_per_unit=choice.epsilon_per_unit,
        noise_scale=choice.noise_scale,
        noise=tuple(choice.noise_tables),
        learned={
            "prior": choice.prior,
            "advantage": None if advantage is None else advantage.to_dict(),
            "posterior": None if posterior is None else posterior.to_dict(),
        },
        sampling=sampling_error(choice),
        assumptions=choice.assumptions,
        data_dependent=choice.data_dependent,
        times=choice.times,
        questions=tuple(part.name for part in choice.asked.parts if part.name),
        bias_note=choice.bias_note,
    )


def list_groups(question: AnalyzedQuery) -> list[Group]:
    """Every declared group, whether the table has rows of it or not."""
    return [tuple(combination) for combination in itertools.product(*(k.levels for k in question.keys))]


def draw_column(noise: Noise, index: int, groups: list[Group], found: Found) -> list[float]:
    """One noisy number per group, whether it has rows or not."""
    return noise.numbers([found[g][index] if g in found else (None, None) for g in groups])


def measured_outputs(asked: Asked) -> list[Output]:
    """The outputs that hold a number of the table, keys of groups left out."""
    return [o for o in asked.outputs if o.measured]


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


@dataclass(frozen=True)
class PartAnswer:
    """The answer to one question, read off the noisy numbers."""

    choice: Choice
    part: AskedPart

    def read(self, rows: list[Row]) -> Iterator[Released]:
        """Its outputs for every group that is shown."""
        query = self.part.query
        for group, numbers in _filter_and_sort(query, rows):
            for output in measured_outputs(query):
                yield self._make_number(group, numbers, output)

    def _noise(self, index: int) -> Noise:
        return self.choice.noises[self.part.places[index]]

    def _confidence(self, output: Output) -> float:
        return self.choice.targets.get(self.part.label(output.name), (0.0, 0.95))[1]

    def _make_number(self, group: Group, numbers: Mapping[int, float], output: Output) -> Released:
        value = float(formulas.evaluate(output.formula, numbers, group))
        # How sure each number behind an output must be, so that they fail together no more often than one may.
        level = 1 - (1 - self._confidence(output)) / max(len(output.measured), 1)
        ranges = {index: self._noise(index).enclose(numbers[index], level) for index in output.measured}
        enclosed = formulas.enclose(output.formula, ranges)
        low, high = _finite(enclosed.low), _finite(enclosed.high)
        error = None
        if low is not None and high is not None and math.isfinite(value):  # the root of a noisy -0.3 is no number
            error = max(high - value, value - low)
        ranks = None
        if output.is_plain:
            noise = self._noise(output.measured[0])
            error, ranks = (None, noise.error(level)) if noise.unit else (noise.error(level), None)
        keys = {key.name: level_name for key, level_name in zip(self.part.query.keys, group, strict=True)}
        return Released(
            name=output.name,
            group=keys,
            value=_finite(value),
            error=error,
            confidence=self._confidence(output),
            low=low,
            high=high,
            ranks=ranks,
            time=show_time(value) if output.is_time and math.isfinite(value) else None,
            question=self.part.name or None,
            nearest=self._nearest(output, value),
        )

    def _nearest(self, output: Output, value: float) -> float | None:
        """The value itself, or the end of what is possible that is nearest to it; None where nobody knows the ends."""
        if not output.is_plain or not math.isfinite(value):
            return None
        low, high = _possible(self.part.query.measurements[output.measured[0]])
        return None if math.isinf(low) and math.isinf(high) else min(max(value, low), high)


def _levels(row: Released) -> list[str]:
    return ["(missing)" if level is None else level for level in row.group.values()]


def _possible(measurement: Measurement) -> tuple[float, float]:
    """Between which numbers an answer lies, whatever the table holds."""
    if measurement.kind in ("count", "distinct"):
        return 0.0, math.inf
    own = measurement.range
    if measurement.kind in EXTREMES or measurement.divisor != 1:
        return own.low, own.high
    if measurement.kind != "sum":
        return -math.inf, math.inf
    return (0.0 if own.low >= 0 else -math.inf), (0.0 if own.high <= 0 else math.inf)


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None


def sampling_error(choice: Choice) -> dict[str, Any]:
    """How far an average of a random sample strays by itself: from the declared prior and the public count only."""
    found: dict[str, Any] = {}
    attributes = choice.plan.attributes()
    for output in measured_outputs(choice.asked):
        measurement = choice.asked.measurements[output.measured[0]]
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
