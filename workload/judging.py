"""What becomes of a question: accepted with so much noise and so much error, or refused for a reason."""

from __future__ import annotations

import statistics
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb

from guessproof.choosing import Choice, choose
from guessproof.errors import GuessproofError
from guessproof.ledger import Budget, Ledger
from guessproof.plan import Plan, plan_of
from guessproof.releasing import Answer, release
from workload.questions import Question

EPSILON = 1.0
DRAWS = 5
Cell = tuple[tuple[str, ...], str]  # a group and an output


@dataclass(frozen=True)
class Verdict:
    """One line of the table; `error` is None until releases were made."""

    title: str
    accepted: bool
    scales: tuple[tuple[str, float], ...] = ()
    reason: str = ""
    error: float | None = None

    def to_dict(self) -> dict[str, Any]:
        """Ready for JSON."""
        return {**vars(self), "scales": [list(pair) for pair in self.scales]}

    @staticmethod
    def from_dict(table: Mapping[str, Any]) -> Verdict:
        """As it was written."""
        return Verdict(**{**table, "scales": tuple((text, scale) for text, scale in table["scales"])})


def chosen(question: Question, source: Path, epsilon: float = EPSILON) -> Choice:
    """The noise at an ε; a question that is refused raises."""
    return choose(plan_of(question.plan(source, epsilon)))


def analysed(question: Question, source: Path) -> Verdict:
    """What is known without the table."""
    try:
        choice = chosen(question, source)
    except GuessproofError as error:
        return Verdict(question.title, False, reason=_reason(error))
    scales = tuple((str(n["measurement"]), float(n["noise_scale"])) for n in choice.to_dict()["noise"])
    return Verdict(question.title, True, scales)


def measured(question: Question, source: Path, draws: int = DRAWS) -> Verdict:
    """The same with the error of real releases: the middle one over all numbers and draws, beside the plain answer."""
    found = analysed(question, source)
    if not found.accepted:
        return found
    truth = plain_answer(question, source)
    try:
        plan = plan_of(question.plan(source))
        choice = choose(plan)
        answers = [_released(plan, choice) for _ in range(draws)]
    except GuessproofError as error:  # what only the table itself shows, as a key that is not unique
        return Verdict(question.title, False, reason=_reason(error))
    misses = [abs(v - truth[cell]) / max(abs(truth[cell]), 1) for a in answers for cell, v in cells(a) if cell in truth]
    return Verdict(question.title, True, found.scales, error=statistics.median(misses))


def released(question: Question, source: Path, epsilon: float = EPSILON) -> Answer:
    """One release."""
    plan = plan_of(question.plan(source, epsilon))
    return _released(plan, choose(plan))


def _released(plan: Plan, choice: Choice) -> Answer:
    """From a book of its own: the same request would be answered from the record."""
    with tempfile.TemporaryDirectory() as folder:
        book = Path(folder) / "workload.ledger"
        Ledger.create(book, plan.data.name, Budget(10 * choice.cost))
        return release(plan, choice=choice, ledger=book)


def cells(answer: Answer) -> Iterator[tuple[Cell, float]]:
    """Each number of an answer with its place."""
    for number in answer.answers:
        if number.value is not None:
            yield (tuple(number.group.values()), number.name), number.value


def plain_answer(question: Question, source: Path) -> dict[Cell, float]:
    """What the database itself says, noise and bounds unheard of. Outputs are numbers, keys of groups are not."""
    with duckdb.connect(str(source), read_only=True) as con:
        found = con.execute(question.plain)
        names = [column[0] for column in found.description or ()]
        rows = found.fetchall()
    answer: dict[Cell, float] = {}
    for row in rows:
        group = tuple(value for value in row if isinstance(value, str))
        answer |= {(group, n): float(v) for n, v in zip(names, row, strict=True) if isinstance(v, (int, float))}
    return answer


def _reason(error: GuessproofError) -> str:
    """Why, and what to do instead, on one line; no value that depends on this machine."""
    problem, remedy = getattr(error, "problem", None), getattr(error, "remedy", "")
    if problem is None:
        return str(error)
    return f"{problem}; {remedy}" if remedy else str(problem)
