"""Making a release: charge, run, record, show.

Everything that can be wrong is found before the charge. After it, a failure of the engine gives one constant message,
and the charge stays.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from guessproof.choosing import Choice, attacker_of, choose
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
from guessproof.exposure import Exposure
from guessproof.guarantee import guarantee_to_dict, total_of_dicts
from guessproof.intervals import Interval
from guessproof.ledger import Charged, Cost, Failed, Ledger, Protection, Recorded
from guessproof.ledger.entry import canonical
from guessproof.noise import Noise
from guessproof.plan import Plan
from guessproof.plan.identity import first_requests, request_of
from guessproof.sql import AnalyzedQuery, DeclaredTable, RewrittenQuery, find_target, rewrite
from guessproof.sql import formula as formulas

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
    settled = book.settled(name, _requests(book, plan, choice))
    if settled is not None:  # what was paid for is given whatever has become of the table
        return _given_again(book, settled)
    choice = choice or choose(plan)
    choice = replace(choice, data_dependent=book.scanned(name))
    if not choice.feasible or not choice.noises:
        raise InfeasibleError(choice.explanation)
    rehearse(choice)
    exponents = [n.grid.exponent for n in choice.noises]
    with open_engine(plan.source, plan.data.table, timeout=timeout) as engine:
        rewritten = prepared(engine, choice.question, exponents)
        charged = _charge(book, plan, choice)
        if not isinstance(charged, Charged):
            return _given_again(book, charged)
        answer = _answered(book, charged, engine, rewritten, choice)
    head = book.record(charged, answer.record())
    return replace(answer, remaining=_left(book, name), head=head)


def rehearse(choice: Choice) -> None:
    """All that follows the charge, on an empty table: what can fail for its own sake fails before anything is paid."""
    canonical("answer", noisy(choice, {}).record())


def _given_again(book: Ledger, settled: Recorded | Failed) -> Answer:
    """The answer that was recorded, or the failure that would come again."""
    if isinstance(settled, Failed):
        raise RowsError
    return Answer.from_record(settled.answer, _left(book, settled.name), settled.head)


def prepared(engine: Engine, question: AnalyzedQuery, exponents: Sequence[int]) -> RewrittenQuery:
    """The query to run, tried on an empty table first: nothing about it can fail later for its own sake."""
    check_rows(engine, question.declared)
    rewritten = rewrite(question, exponents, find_target(engine.dialect, engine.types()))
    engine.check()
    engine.prepare(rewritten.sql)
    return rewritten


def check_rows(engine: Engine, declared: DeclaredTable) -> None:
    """A row is a record only where rows are stored; of anything else the plan must say how many repeat one."""
    if not engine.is_stored and declared.copies is None:
        raise SourceError(
            f"{declared.table} is a view, and several of its rows may repeat one record; write copies = N under "
            "[data], where one record is in N of its rows at most, or ask the table behind it"
        )


def request_digest(plan: Plan, choice: Choice | None = None) -> str:
    """The same for the same plan; a choice that what is left of a budget decided on is a request of its own."""
    limited = choice is not None and choice.binding == "budget"
    return request_of(plan, choice.epsilon if choice is not None and limited else None)


def _requests(book: Ledger, plan: Plan, choice: Choice | None) -> frozenset[str]:
    """The names under which this request may have been charged."""
    request = request_digest(plan, choice)
    earlier = first_requests(plan, book.account(plan.data.name)) if request == request_of(plan) else frozenset[str]()
    return earlier | {request}


def _charge(book: Ledger, plan: Plan, choice: Choice) -> Charged | Recorded | Failed:
    guarantee = guarantee_to_dict(choice.guarantee)
    describe = {
        "query": plan.query.sql,
        "protects": plan.data.protects,
        "noise": [n.to_dict() for n in choice.noises],
        "data_dependent": choice.data_dependent,
    }
    judge = _judge(plan, book)
    cost = Cost(choice.exact_cost, choice.delta)
    request, aliases = request_digest(plan, choice), _requests(book, plan, choice)
    protection = protection_of(choice.question)
    try:
        return book.charge(
            plan.data.name, request, cost, guarantee, describe, judge, protection=protection, aliases=aliases
        )
    except BudgetError as error:
        left = _left(book, plan.data.name)["epsilon"]
        if not 0 < left < choice.cost or choice.targets:
            raise
        raise BudgetError(
            f"{error}. To release with what is left, write epsilon = {left:.6g} under [release]"
        ) from None


def protection_of(question: AnalyzedQuery) -> Protection:
    """What the ledger pins: the unit, the protected columns, and what the query takes to be known."""
    declared = question.declared
    read = {name: declared.column(name) for name in question.columns}
    # An average over a public number of rows takes it as known who has a value.
    counted = {n for m in question.measurements if m.divisor != 1 for n in m.contribution.columns | m.filter.columns}
    known = {name for name, column in read.items() if column.protected and (not column.missing or name in counted)}
    chosen = not declared.unit.hides_presence
    return Protection(
        declared.unit.name,
        tuple(sorted(name for name, column in declared.columns.items() if column.protected and chosen)),
        tuple(sorted(name for name, column in read.items() if not column.protected)),
        tuple(sorted(name for name, column in read.items() if column.protected and name not in known)),
        tuple(sorted(known)),
    )


def _judge(plan: Plan, book: Ledger) -> Any:
    """The attacker's cumulative advantage over all releases; metrics add."""
    attacker = attacker_of(plan)
    if book.account(plan.data.name).budget.advantage is None:
        return None
    if attacker is None:
        raise LedgerError(
            f"{plan.data.name} has a budget of the attacker's advantage, but the plan has no [attacker] with a limit; "
            "add one, so that it can be judged"
        )
    both = plan.limits.both

    def judge(guarantees: list[dict[str, Any]]) -> float:
        kept = total_of_dicts(guarantees, tuple(plan.columns))
        return float(Exposure(attacker, kept).advantage(1.0, both).bound)

    return judge


def _answered(book: Ledger, charged: Charged, engine: Engine, rewritten: RewrittenQuery, choice: Choice) -> Answer:
    """Run and add noise; whatever fails is noted in constant words, and the charge stays."""
    try:
        found = rewritten.read(engine.aggregates(rewritten.sql))
        answer = noisy(choice, found) if _has_rows(choice, found) else None
    except Exception:  # any text of it might quote data
        book.failed(charged)
        raise EngineError from None
    if answer is None:
        book.failed(charged, final=True)
        raise RowsError
    return answer


def _has_rows(choice: Choice, found: Mapping[Group, list[tuple[int | None, int | None]]]) -> bool:
    """The public count behind an average must be there, or the noise would be too small."""
    return all(
        ((found[group][index][1] if group in found else 0) or 0) >= measurement.divisor
        for group in _groups(choice.question)
        for index, measurement in enumerate(choice.question.measurements)
        if measurement.divisor != 1
    )


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


def _groups(question: AnalyzedQuery) -> list[Group]:
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


def _values(question: AnalyzedQuery) -> list[Any]:
    return [o for o in question.outputs if o.measured]


def _after(question: AnalyzedQuery, rows: list[tuple[Group, dict[int, float]]]) -> list[tuple[Group, dict[int, float]]]:
    """HAVING, ORDER BY and LIMIT on the noisy numbers."""
    if question.having is not None:
        rows = [row for row in rows if formulas.evaluate(question.having, row[1], row[0])]
    for formula, descending in reversed(question.order):
        rows = sorted(rows, key=lambda row: _sortable(formulas.evaluate(formula, row[1], row[0])), reverse=descending)
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
    value = float(formulas.evaluate(output.formula, numbers, group))
    ranges = {index: Interval(numbers[index] - error, numbers[index] + error) for index, error in errors.items()}
    enclosed = formulas.enclose(output.formula, ranges)
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
