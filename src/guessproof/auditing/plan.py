"""Everything of an audit that is not noise: synthetic tables, the real engine's answers, the attacker's rule."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from guessproof.addresses import is_elsewhere
from guessproof.auditing.beliefs import (
    BeliefBlock,
    BeliefPoints,
    Guesser,
    as_array,
    blocks_of,
    draw_victims,
    points_of,
    train_guesser,
    truths_of,
)
from guessproof.auditing.cases import AuditCase, join_answers, make_cases
from guessproof.auditing.columns import Field, Row, Storage, fields_of, own_types, storages, stored_types
from guessproof.auditing.tables import Cell, Group, PlainAnswer, TableFactory, form_of
from guessproof.choosing import Choice, attacker_of
from guessproof.exposure import Attacker
from guessproof.noise import Noise

VICTIMS = 200  # drawn from the prior for each case
MOST_BATCHED = 400_000  # rows of the one file that holds a case's copies
POINTS, GUESSES = 1000, 300


@dataclass(frozen=True)
class Strategy:
    """The attacker against one measurement: his rule, and for each victim where it is right and how often exactly."""

    guesser: Guesser
    right: Any  # victims × cells
    success: Any  # by victim; NaN for victims that are not his
    overall: float  # over the whole prior


@dataclass(frozen=True)
class ExpectedAnswers:
    """What the attacker reckons with: values that he holds for possible, and the real engine's answer for each."""

    points: BeliefPoints
    rows: tuple[Row, ...]
    alone: tuple[list[Cell], ...]  # by point: the engine's answer for a table of this record alone
    answers: tuple[Any, ...]  # measurements × points: with the other records


@dataclass(frozen=True)
class CaseAttack:
    """One case with its victims. Trial i meets victim turns[i mod len(turns)]."""

    case: AuditCase
    victims: tuple[Row | None, ...]
    turns: Any
    cells: tuple[list[Cell], ...]  # the real engine's answers, by victim
    truths: tuple[tuple[PlainAnswer, ...], ...]  # measurements × victims: the same by plain arithmetic
    pairs: Mapping[int, tuple[list[Cell], list[Cell]]]  # the same query on the two most distant tables
    strategies: Mapping[int, Strategy]
    base: Row  # what the attacker knows of the victim
    blocks: tuple[BeliefBlock, ...]  # what he believes of the rest; empty without a prior
    expected: ExpectedAnswers | None  # None without a prior

    @cached_property
    def plain(self) -> Any:
        """measurements × victims: answers without noise."""
        return np.array([[p.value for p in row] for row in self.truths])


@dataclass(frozen=True)
class AuditPlan:
    """All cases of an audit."""

    choice: Choice
    attacker: Attacker | None
    attacks: tuple[CaseAttack, ...]
    fields: Mapping[str, Field]
    tables: int
    rows: int
    form: str
    factory: TableFactory
    storages: tuple[Storage, ...]

    @property
    def asked(self) -> str:
        """Through which engine the tables are asked, in words."""
        elsewhere = not isinstance(self.choice.plan.source, str) or is_elsewhere(self.choice.plan.source)
        return "DuckDB in place of the plan's own database" if elsewhere else "the engine"

    @property
    def protected(self) -> frozenset[str]:
        """The columns, keys among them, that one record may change."""
        return frozenset(n for n in self.fields if self.choice.question.declared.column(n).protected)

    @property
    def has_belief(self) -> bool:
        """Whether the plan says what the attacker believes beforehand."""
        return all(attack.blocks for attack in self.attacks)


Progress = Callable[[float, str], None]


def make_audit_plan(choice: Choice, folder: Path, rng: Any, progress: Progress) -> AuditPlan:
    """Build every table in the folder and ask the real engine."""
    question = choice.question
    fields = fields_of(choice.plan, question)
    steps = tuple(n.grid.step for n in choice.noises)
    form = form_of(choice.plan.data.source or "")
    exponents = tuple(n.grid.exponent for n in choice.noises)
    known = stored_types(choice.plan)
    factory = TableFactory(folder, form, choice.plan.data.table, fields, own_types(fields, known), question, exponents)
    attacker = attacker_of(choice.plan)
    secret = frozenset(f.name for f in fields.values() if f.secret)
    # A goal about the group itself moves the victim between groups; one group is audited, so two tables take its place.
    reachable = attacker is not None and set(attacker.names) <= secret
    blocks = blocks_of(attacker, question.columns & secret) if attacker is not None and reachable else None
    cases = make_cases(question, fields, steps, rng)
    attacks: list[CaseAttack] = []
    for number, case in enumerate(cases):
        progress(number / len(cases), "building tables, asking the engine")
        attacks.append(_make_attack(choice, case, factory, attacker, blocks, rng, number))
    tables = sum(len(attack.victims) + 2 * len(attack.pairs) for attack in attacks)
    rows = sum((len(attack.victims) + 2 * len(attack.pairs)) * (len(attack.case.others) + 1) for attack in attacks)
    return AuditPlan(
        choice, attacker, tuple(attacks), fields, tables, rows, form, factory, tuple(storages(fields, known))
    )


def _make_attack(
    choice: Choice,
    case: AuditCase,
    factory: TableFactory,
    attacker: Attacker | None,
    blocks: list[BeliefBlock] | None,
    rng: Any,
    number: int,
) -> CaseAttack:
    believing = attacker is not None and bool(blocks)
    base = _base(case, factory.fields, blocks or [], rng) if believing else dict(case.frame)
    victims, turns, drawn_values = _cast(case, factory.fields, blocks if believing else None, base, rng)
    batch = factory.ask_all(case.others, victims, f"case{number}")
    cells = tuple(_of_group(found, case.group, len(choice.noises)) for found in batch)
    pairs = {
        index: (
            _of_group(factory.ask(case.rows(near), f"near{number}-{index}"), case.group, len(choice.noises)),
            _of_group(factory.ask(case.rows(far), f"far{number}-{index}"), case.group, len(choice.noises)),
        )
        for index, (near, far) in case.pairs.items()
    }
    answers = tuple(tuple(case.plain(j, victim) for victim in victims) for j in range(len(choice.noises)))
    plain = np.array([[p.value for p in row] for row in answers])
    strategies: dict[int, Strategy] = {}
    expected: ExpectedAnswers | None = None
    if believing and attacker is not None and blocks:
        points = points_of(blocks, POINTS, rng, cuts_of(case, blocks))
        truths = truths_of(attacker, blocks, GUESSES)
        expected = expected_of(choice, case, factory, points, base, f"points{number}")
        for index in case.pairs:
            asked = expected.answers[index]
            strategies[index] = _make_strategy(
                choice.noises[index], attacker, points, truths, asked, plain[index], drawn_values
            )
    else:
        for place, index in enumerate(case.pairs):
            strategies[index] = _two_tables(choice.noises[index], plain[index], 2 * place, len(victims))
    kept = tuple(blocks or ()) if believing else ()
    return CaseAttack(case, victims, turns, cells, answers, pairs, strategies, base, kept, expected)


def expected_of(
    choice: Choice, case: AuditCase, factory: TableFactory, points: BeliefPoints, base: Row, name: str
) -> ExpectedAnswers:
    """Each possible victim asked by himself: sums and extremes of a table are those of its parts."""
    rows = complete_rows(points, base, factory.fields)
    asked = factory.ask_each([case.others, *([row] for row in rows)], name)
    rest, *alone = (_of_group(found, case.group, len(choice.noises)) for found in asked)
    answers: list[Any] = []
    for j, noise in enumerate(choice.noises):
        if noise.measurement.kind == "distinct":
            answers.append(case.answers(j, rows))
            continue
        others, own = value_of(noise, rest[j]), np.array([value_of(noise, cells[j]) for cells in alone])
        answers.append(join_answers(noise.measurement.kind, others, own))
    return ExpectedAnswers(points, tuple(rows), tuple(alone), tuple(answers))


def value_of(noise: Noise, cell: Cell) -> float:
    """An answer of the engine as a number; nothing at all is what it adds up to."""
    return noise.measurement.contribution.absent if cell[0] is None else noise.grid.value(cell[0])


def _of_group(found: Mapping[Group, list[Cell]], group: Group, width: int) -> list[Cell]:
    return found.get(group, [(None, None)] * width)


def _base(case: AuditCase, fields: Mapping[str, Field], blocks: Sequence[BeliefBlock], rng: Any) -> Row:
    """What is fixed of the victim: his public side, and for secrets without a prior whatever lets most through."""
    tried = [{**_complete(v, fields)} for pair in case.pairs.values() for v in pair if v is not None]
    sample = draw_victims(blocks, 60, rng)

    def spread(row: Row) -> float:
        rows = [store_row({**row, **values}, fields) for values in sample]
        return sum(float(np.ptp(case.answers(index, rows))) for index in case.pairs)

    return max([{**row, **case.frame} for row in tried], key=spread)


def _complete(row: Row, fields: Mapping[str, Field]) -> Row:
    return {name: row.get(name) for name in fields}


def store_row(row: Row, fields: Mapping[str, Field]) -> Row:
    """A row as the table holds it."""
    return {name: fields[name].to_stored(value) if name in fields else value for name, value in row.items()}


def complete_rows(points: BeliefPoints, base: Row, fields: Mapping[str, Field]) -> list[Row]:
    """A victim's row for each point."""
    return [store_row({**base, **row}, fields) for row in points.rows()]


def _cast(
    case: AuditCase, fields: Mapping[str, Field], blocks: list[BeliefBlock] | None, base: Row, rng: Any
) -> tuple[tuple[Row | None, ...], Any, dict[str, Any]]:
    """The victims (each once), in which order trials meet them, and their believed values as columns."""
    most = int(np.clip(MOST_BATCHED // (len(case.others) + 1), 4, VICTIMS))
    if blocks is None:
        ends = tuple(victim for pair in case.pairs.values() for victim in pair)
        return ends, np.arange(len(ends)), {}
    sample = draw_victims(blocks, most, rng)
    places: dict[str, int] = {}
    unique: list[dict[str, Any]] = []
    turns: list[int] = []
    for values in sample:
        key = repr(sorted(values.items()))
        if key not in places:
            places[key] = len(unique)
            unique.append(values)
        turns.append(places[key])
    victims = tuple(store_row({**base, **values}, fields) for values in unique)
    columns = {name: as_array([values[name] for values in unique]) for name in unique[0]}
    return victims, np.array(turns), columns


def cuts_of(case: AuditCase, blocks: Sequence[BeliefBlock]) -> dict[str, list[float]]:
    """Where the answer may jump or bend, on each believed column."""
    found: dict[str, list[float]] = {}
    for name in (n for b in blocks for n in b.names):
        cuts = {c for m in case.question.measurements for c in m.contribution.cuts(name)}
        found[name] = sorted(c for c in cuts if np.isfinite(c))
    return found


def _make_strategy(
    noise: Noise,
    attacker: Attacker,
    points: BeliefPoints,
    truths: Sequence[Row],
    asked: Any,
    plain: Any,
    values: dict[str, Any],
) -> Strategy:
    guesser = train_guesser(noise.mechanism, attacker.goal, points, asked, truths)
    right = guesser.right(values)
    overall = float(points.weights @ guesser.success(asked, guesser.right(points.values)))
    return Strategy(guesser, right, guesser.success(plain, right), overall)


def _two_tables(noise: Noise, plain: Any, first: int, count: int) -> Strategy:
    """Without a prior: which of the two most distant tables it is, both equally likely."""
    points = BeliefPoints({"table": np.array([0.0, 1.0])}, np.array([0.5, 0.5]), 0.0)
    guesser = train_guesser(noise.mechanism, None, points, plain[first : first + 2], ({"table": 0.0}, {"table": 1.0}))
    right = guesser.right(points.values)
    success = guesser.success(plain[first : first + 2], right)
    everyone = np.full(count, np.nan)
    everyone[first : first + 2] = success
    placed = np.zeros((count, right.shape[1]), dtype=bool)
    placed[first : first + 2] = right
    return Strategy(guesser, placed, everyone, float(success.mean()))
