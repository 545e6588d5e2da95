"""Making a release: charge, run, record, show.

Everything that can be wrong is found before the charge. After it, a failure of the engine gives one constant message,
and the charge stays.
"""

from __future__ import annotations

import hashlib
import itertools
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from guessproof.choosing import Choice, Chooser, aim_of, choose
from guessproof.engines import open_engine
from guessproof.errors import (
    BudgetError,
    EngineError,
    InfeasibleError,
    LedgerError,
    ParameterError,
    RowsError,
    SourceError,
)
from guessproof.exposure import Exposure, Pledge
from guessproof.exposure.pledges import pledge_from, pledge_to_dict, times
from guessproof.ledger import Charged, Cost, Ledger, Recorded
from guessproof.noise import Noise
from guessproof.plan import Plan
from guessproof.sql import Declared, Question, Rewritten, rewrite
from guessproof.sql import formula as formulas
from guessproof.sql.kinds import kinds_of
from guessproof.sql.ranges import Range

if TYPE_CHECKING:
    from guessproof.engines.base import Engine

Group = tuple[str, ...]


@dataclass(frozen=True)
class Released:
    """One number of the answer, with its error: exceeded with probability 1 − confidence at most."""

    name: str
    group: dict[str, str]
    value: float | None
    error: float | None
    confidence: float
    low: float | None
    high: float | None


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
            "answers": [vars(a) for a in self.answers],
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
        )


def release(
    plan: Plan,
    *,
    choice: Choice | None = None,
    ledger: str | Path | Ledger | None = None,
    key: bytes | None = None,
    timeout: float | None = None,
) -> Answer:
    """Charge the ledger, ask the table, add noise, record, and give the answer.

    The same request gives the recorded answer without a new charge. `choice` is one made for this very plan, where it
    is at hand already; `timeout` is in seconds.
    """
    book = ledger if isinstance(ledger, Ledger) else Ledger(ledger or plan.ledger_path, key)
    name = plan.data.name
    if choice is not None and choice.plan is not plan:
        raise ParameterError("choice", "…", "was made for another plan", "choose for this plan, or leave it out")
    choice = choice or choose(plan)
    choice = replace(choice, data_dependent=book.scanned(name))
    if not choice.feasible or not choice.noises:
        raise InfeasibleError(choice.explanation)
    exponents = [n.grid.exponent for n in choice.noises]
    with open_engine(plan.source, plan.data.table, timeout=timeout, kinds=kinds_of(choice.question)) as engine:
        rewritten = prepared(engine, choice.question, exponents)
        noisy(choice, {})  # all that follows the charge, once without any data: what cannot be done is found now
        charged = _charge(book, plan, choice)
        if isinstance(charged, Recorded):
            return Answer.from_record(charged.answer, _left(book, name), charged.head)
        answer = _answered(book, charged, engine, rewritten, choice)
    head = book.record(charged, answer.record())
    return replace(answer, remaining=_left(book, name), head=head)


def prepared(engine: Engine, question: Question, exponents: Sequence[int]) -> Rewritten:
    """The query to run, tried on an empty table first: nothing about it can fail later for its own sake."""
    check_rows(engine, question.declared)
    schema = engine.schema()
    known = {name.casefold() for name in schema}
    for column in sorted(question.columns):
        if column.casefold() not in known:  # what it has is not told: a CSV file without a header would show a record
            raise SourceError(f"the table has no column {column}; compare the plan with the names in the table")
    rewritten = rewrite(question, exponents, schema, engine.dialect)
    engine.check()
    engine.prepare(rewritten.sql)
    return rewritten


def check_rows(engine: Engine, declared: Declared) -> None:
    """A row is a record only where rows are stored; of anything else the plan must say how many repeat one."""
    if not engine.is_stored and declared.copies is None:
        raise SourceError(
            f"{declared.table} is a view, and several of its rows may repeat one record; write copies = N under "
            "[data], where one record is in N of its rows at most, or ask the table behind it"
        )


def request_digest(plan: Plan, choice: Choice) -> str:
    """The same for the same canonical plan, query, noise and data name."""
    noise = [[n.name, repr(n.mechanism), n.grid.exponent] for n in choice.noises]
    body = json.dumps([plan.data.name, plan.canonical(), choice.question.sql, noise], ensure_ascii=False)
    return hashlib.sha256(body.encode()).hexdigest()


def _charge(book: Ledger, plan: Plan, choice: Choice) -> Charged | Recorded:
    guarantee = pledge_to_dict(total_pledge(choice))
    describe = {
        "query": plan.query.sql,
        "protects": plan.data.protects,
        "noise": [n.to_dict() for n in choice.noises],
        "data_dependent": choice.data_dependent,
    }
    judge = _judge(plan, book)
    cost = Cost(choice.exact_cost, choice.delta)
    try:
        return book.charge(plan.data.name, request_digest(plan, choice), cost, guarantee, describe, judge)
    except BudgetError as error:
        left = _left(book, plan.data.name)["epsilon"]
        if not 0 < left < choice.cost or choice.targets:
            raise
        raise BudgetError(
            f"{error}. To release with what is left, write epsilon = {left:.6g} under [release]"
        ) from None


def total_pledge(choice: Choice) -> Pledge:
    """D/b of the whole release, with what rounding adds."""
    pledge = Chooser(choice.plan, choice.question, None, False).pledge()
    return times(pledge, choice.epsilon, math.fsum(n.step for n in choice.noises))


def _judge(plan: Plan, book: Ledger) -> Any:
    """The attacker's cumulative advantage over all releases; metrics add."""
    aim = aim_of(plan)
    if book.account(plan.data.name).budget.advantage is None:
        return None
    if aim is None:
        raise LedgerError(
            f"{plan.data.name} has a budget of the attacker's advantage, but the plan has no [attacker] with a limit; "
            "add one, so that it can be judged"
        )
    both = plan.limits.both

    def judge(guarantees: list[dict[str, Any]]) -> float:
        return float(Exposure(aim, pledge_from(guarantees)).advantage(1.0, both).bound)

    return judge


def _answered(book: Ledger, charged: Charged, engine: Engine, rewritten: Rewritten, choice: Choice) -> Answer:
    """Run and add noise; whatever fails is noted, and the charge stays."""
    try:
        rows = engine.aggregates(rewritten.sql)
        found = rewritten.read(rows)
    except EngineError:
        book.failed(charged)
        raise
    short = _short_of_rows(choice, found)
    if short is not None:
        book.failed(charged)
        raise RowsError(short)
    return noisy(choice, found)


def _short_of_rows(choice: Choice, found: Mapping[Group, list[tuple[int | None, int | None]]]) -> str | None:
    """The public count behind an average must be there, or the noise would be too small."""
    rows = choice.plan.data.rows
    for group in _groups(choice.question):
        for index, measurement in enumerate(choice.question.measurements):
            if measurement.divisor == 1:
                continue
            count = found[group][index][1] if group in found else 0
            if (count or 0) < measurement.divisor:
                where = f" in the group {', '.join(group)}" if group else ""
                return (
                    f"fewer rows match{where} than data.rows = {rows} declares to be public knowledge, so the noise "
                    "would be too small; the charge stays. Declare a number that is surely reached"
                )
    return None


def noisy(choice: Choice, found: Mapping[Group, list[tuple[int | None, int | None]]]) -> Answer:
    """Noise for every measurement of every declared group, and the outputs computed from it."""
    groups = _groups(choice.question)
    columns = [_drawn(noise, index, groups, found) for index, noise in enumerate(choice.noises)]
    rows: list[tuple[Group, dict[int, float]]] = []
    for position, group in enumerate(groups):
        numbers = {index: column[position] for index, column in enumerate(columns)}
        rows.append((group, numbers))
    shown, outputs = _after(choice.question, rows), _values(choice.question)
    errors = [_errors(choice, output) for output in outputs]  # the same for every group
    answers = tuple(
        _released(choice, group, numbers, output, error)
        for group, numbers in shown
        for output, error in zip(outputs, errors, strict=True)
    )
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
    )


def _groups(question: Question) -> list[Group]:
    return [tuple(combination) for combination in itertools.product(*(k.levels for k in question.keys))]


def _drawn(
    noise: Noise, index: int, groups: list[Group], found: Mapping[Group, list[tuple[int | None, int | None]]]
) -> list[float]:
    """One noisy number per group; a group without rows gets noise around what nothing adds up to."""
    measurement = noise.measurement
    empty = noise.grid.units(measurement.contribution.absent)
    cells = [found[g][index] if g in found else (None, None) for g in groups]
    units = noise.drawn([empty if unit is None else unit for unit, _ in cells])
    sizes = [float(count or measurement.divisor) if measurement.divisor != 1 else 1.0 for _, count in cells]
    return [noise.grid.value(unit) / size for unit, size in zip(units, sizes, strict=True)]


def _values(question: Question) -> list[Any]:
    return [o for o in question.outputs if o.measured]


def _after(question: Question, rows: list[tuple[Group, dict[int, float]]]) -> list[tuple[Group, dict[int, float]]]:
    """HAVING, ORDER BY and LIMIT on the noisy numbers."""
    if question.having is not None:
        rows = [row for row in rows if formulas.value(question.having, row[1], row[0])]
    for formula, descending in reversed(question.order):
        rows = sorted(rows, key=lambda row: _sortable(formulas.value(formula, row[1], row[0])), reverse=descending)
    return rows if question.limit is None else rows[: question.limit]


def _sortable(value: Any) -> tuple[int, Any]:
    return (1, 0.0) if isinstance(value, float) and math.isnan(value) else (0, value)


def _errors(choice: Choice, output: Any) -> dict[int, float]:
    """The error of each number behind an output, at a level at which they fail together no more often than one may."""
    level = 1 - (1 - _confidence(choice, output)) / max(len(output.measured), 1)
    return {index: choice.noises[index].error(level) for index in output.measured}


def _confidence(choice: Choice, output: Any) -> float:
    return choice.targets.get(output.name, (0.0, 0.95))[1]


def _released(
    choice: Choice, group: Group, numbers: Mapping[int, float], output: Any, errors: Mapping[int, float]
) -> Released:
    value = float(formulas.value(output.formula, numbers, group))
    ranges = {index: Range(numbers[index] - error, numbers[index] + error) for index, error in errors.items()}
    enclosed = formulas.enclosed(output.formula, ranges)
    low, high = _plain(enclosed.low), _plain(enclosed.high)
    if output.is_plain:
        error = errors[output.measured[0]]
    else:
        error = None if low is None or high is None else max(high - value, value - low)
    keys = {key.name: level_name for key, level_name in zip(choice.question.keys, group, strict=True)}
    return Released(output.name, keys, _plain(value), error, _confidence(choice, output), low, high)


def _plain(value: float) -> float | None:
    return value if math.isfinite(value) else None


def sampling_error(choice: Choice) -> dict[str, Any]:
    """How far an average of a random sample strays by itself: from the declared prior and the public count only."""
    found: dict[str, Any] = {}
    attributes = choice.plan.attributes()
    for output in _values(choice.question):
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


def _left(book: Ledger, name: str) -> dict[str, Any]:
    return book.remaining(name).to_dict()
