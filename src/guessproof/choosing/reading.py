"""From a plan to what is asked: the declared table, the query, the attacker."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from guessproof.exposure import Aim
from guessproof.plan import Plan
from guessproof.sql import Declared, DeclaredColumn, Question, ask
from guessproof.world.finite import Finite
from guessproof.world.kinds import label_of


def asked(plan: Plan) -> Question:
    """The plan's query, understood."""
    return ask(plan.query.sql, declared(plan))


def declared(plan: Plan) -> Declared:
    """What the plan says of its table, as the query reader needs it."""
    protects = plan.data.protects
    if protects == "persons":
        problem = "several rows of one person are not supported yet"
        raise plan.error(("data", "protects"), protects, problem, 'use "records" or "values"')
    columns = {name: _column(plan, name) for name in plan.columns}
    return Declared(plan.data.table, columns, protects, plan.data.rows)


def _column(plan: Plan, name: str) -> DeclaredColumn:
    column, attribute = plan.columns[name], plan.attributes().get(name)
    values: list[Any] = list(column.levels or ())
    if attribute is not None and isinstance(attribute.prior, Finite) and not attribute.prior.is_line:
        values += [v for v in attribute.prior.values if v not in values]
    kind = plan.kind(name)
    levels = tuple(label_of(v) for v in values) or None
    public = column.public and plan.data.protects == "values"
    told = DeclaredColumn(name, column.bounds, levels, kind, column.missing, not public)
    if column.true is None or column.false is None:
        return told
    return replace(told, true=tuple(map(label_of, column.true)), false=tuple(map(label_of, column.false)))


def aim_of(plan: Plan) -> Aim | None:
    """The plan's attacker, if it has one with limits."""
    attacker, limits = plan.attacker, plan.limits
    if attacker is None or (limits.advantage is None and limits.posterior is None):
        return None
    return Aim(plan.attributes(), plan.goal, attacker.at, attacker.knows, attacker.or_)
