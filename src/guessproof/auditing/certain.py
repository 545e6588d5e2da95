"""What needs no chance: storages, very many rows, columns spelt otherwise, and a release from charge to replay."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from guessproof.auditing.cases import AuditCase
from guessproof.auditing.exact_belief import belief_checks, certain_beliefs
from guessproof.auditing.movement import FamilyAnswers, ask_families, storage_check, together_check
from guessproof.auditing.plan import AuditPlan, Progress
from guessproof.auditing.result import Check
from guessproof.auditing.tables import Cell, Group, TableFactory
from guessproof.choosing import Choice, only_question
from guessproof.errors import EngineError
from guessproof.guarantee import Guarantee, guarantee_to_dict, total_of_dicts
from guessproof.ledger import Budget, Charged, Cost, Ledger, Recorded
from guessproof.noise import Noise
from guessproof.plan import Plan, plan_of
from guessproof.plan.grammar import read_names
from guessproof.releasing import add_noise, request_digest

WORD = 63  # bits of a signed whole number of most engines
FEW, MOST = 100_000, 1 << 24


def examine(audit_plan: AuditPlan, rng: Any, progress: Progress) -> Iterator[Check]:
    """Storage, spelling, size, and where the prior is a list of values the exact belief."""
    choice = audit_plan.choice
    played: list[FamilyAnswers] = []
    for number, storage in enumerate(audit_plan.storages):
        progress(number / len(audit_plan.storages), "storing the tables in other ways")
        played += ask_families(
            audit_plan.factory, storage, choice.noises, audit_plan.protected, rng, f"storage{number}"
        )
    yield storage_check(choice, played)
    yield together_check(choice, guarantee_of_both(choice), played)
    yield crowd_check(choice.noises, [attack.case for attack in audit_plan.attacks], audit_plan.factory)
    beliefs = (
        None
        if audit_plan.attacker is None
        else certain_beliefs(choice, audit_plan.attacker, audit_plan.factory, audit_plan.storages, rng)
    )
    if beliefs:
        yield from belief_checks(choice, beliefs)


def crowd_check(noises: Sequence[Noise], cases: Sequence[AuditCase], factory: TableFactory) -> Check:
    """One row, and the same row so often that the sum in grid steps would leave 64 bits, where that can be built."""
    rows = size_of(noises)
    said = f"{rows:,} equal rows against one of them"
    off = 0
    for number, case in enumerate(cases):
        row = next(v for pair in case.pairs.values() for v in reversed(pair) if v is not None)
        try:
            one, all_of_them = factory.ask_crowd(row, 1, f"one{number}"), factory.ask_crowd(row, rows, f"crowd{number}")
        except EngineError:
            words = f"{said}: the engine failed, so a release on many rows could fail and tell how many there are"
            return Check("many rows", None, None, 0.0, "fail", words)
        off = max(off, _off(noises, one, all_of_them, rows))
    words = f"{said}: {'every sum is that many times what one adds' if not off else 'a sum is not what they add up to'}"
    return Check("many rows", float(off), None, 0.0, "fail" if off else "pass", words)


def size_of(noises: Sequence[Noise]) -> int:
    """More rows than a 64-bit count of grid steps has room for; where nobody could build those, many."""
    single = [n.grid.exponent for n in noises if n.measurement.total is None]  # else what a unit adds is bounded first
    needed = [(1 << WORD + exponent) + 1 for exponent in single if -WORD < exponent < 0]
    return max([FEW, *(rows for rows in needed if rows <= MOST)])


def _off(noises: Sequence[Noise], one: dict[Group, list[Cell]], crowd: dict[Group, list[Cell]], rows: int) -> int:
    """How many steps, or rows behind an average, the whole is away from its parts."""
    if set(one) != set(crowd):
        return rows
    found = 0
    for group, cells in one.items():
        for noise, (unit, count), (units, counted) in zip(noises, cells, crowd[group], strict=True):
            times = rows if noise.measurement.kind in ("count", "sum") else 1
            found = max(found, abs((units or 0) - times * (unit or 0)), abs((counted or 0) - rows * (count or 0)))
    return found


def guarantee_of_both(choice: Choice) -> Guarantee:
    """What the ledger makes of two releases: this choice, and the same from a plan with other capitals."""
    plan = respell_plan(choice.plan)
    question = only_question(plan)
    pairs = zip(choice.noises, question.measurements, strict=True)
    other = replace(choice, plan=plan, asked=question, noises=tuple(replace(n, measurement=m) for n, m in pairs))
    return total_of_dicts([guarantee_to_dict(c.guarantee) for c in (choice, other)], tuple(choice.plan.columns))


def respell_plan(plan: Plan) -> Plan:
    """The same columns in other capitals, without the attacker: what a release promises does not depend on him."""
    written = plan.file.model_dump(by_alias=True, exclude_none=True, exclude_unset=True)
    columns: Mapping[str, Any] = written.get("columns", {})
    joints: Mapping[str, Any] = written.get("prior", {})
    tables = {name: written[name] for name in ("data", "query", "accuracy") if name in written}
    tables["columns"] = {_swap_capitals(name): column for name, column in columns.items()}
    tables["prior"] = {_list(read_names(names)): joint for names, joint in joints.items()}
    tables["release"] = {**written.get("release", {}), "epsilon": 1.0}
    return plan_of(tables, folder=plan.folder)


def _swap_capitals(name: str) -> str:
    """A name in other capitals that SQL takes for the same.

    >>> _swap_capitals("time"), _swap_capitals("TIME"), _swap_capitals("ß1")
    ('TIME', 'time', 'ß1')
    """
    found = name.upper() if name != name.upper() else name.lower()
    return found if found.casefold() == name.casefold() and len(found) == len(name) else name


def _list(names: tuple[str, ...]) -> str:
    return f"({', '.join(repr(_swap_capitals(name)) for name in names)})"


def ledger_check(choice: Choice, found: Mapping[str, Mapping[Group, list[Cell]]], folder: Path) -> Check:
    """Charge, run, record; then the same request must give the same answer and cost nothing."""
    name = "audit"
    cost = Cost(choice.cost, choice.delta)
    guarantee = guarantee_to_dict(choice.guarantee)
    book = Ledger.create(folder / "audit.ledger", name, Budget(2 * choice.cost, min(2 * choice.delta, 0.5)))
    request = request_digest(choice.plan, choice)
    charged = book.charge(name, request, cost, guarantee, {"audit": True}, None)
    if not isinstance(charged, Charged):
        return _fail("an answer was there before anything was asked")
    answer = add_noise(choice, found)
    book.record(charged, answer.record())
    spent = book.account(name).epsilon
    again = book.charge(name, request, cost, guarantee, {"audit": True}, None)
    if not isinstance(again, Recorded) or again.answer != answer.record():
        return _fail("the same request did not give the recorded answer")
    if book.account(name).epsilon != spent or spent < choice.cost * (1 - 1e-15):
        return _fail(f"the ledger shows ε = {spent} for a release of ε = {choice.cost:.6g}")
    words = f"charged ε = {choice.cost:.6g}, answered, recorded and given again without a new charge"
    return Check("ledger", float(spent), None, choice.cost, "pass", words)


def _fail(words: str) -> Check:
    return Check("ledger", None, None, None, "fail", words)
