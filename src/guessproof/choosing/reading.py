"""From a plan to what is asked: the declared table, the query, the attacker."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from guessproof.exposure import Attacker
from guessproof.plan import Plan
from guessproof.sql import AnalyzedQuery, DeclaredColumn, DeclaredTable, analyze
from guessproof.world.finite import Finite
from guessproof.world.kinds import label_of


def asked(plan: Plan) -> AnalyzedQuery:
    """The plan's query, understood."""
    return analyze(plan.query.sql, declared(plan))


def declared(plan: Plan) -> DeclaredTable:
    """What the plan says of its table, as the query reader needs it."""
    unit = plan.unit  # refused here, where there is one that cannot be protected
    columns = {name: _column(plan, name) for name in plan.columns}
    return DeclaredTable(plan.data.table, columns, unit, plan.data.rows, copies=plan.data.copies)


def _column(plan: Plan, name: str) -> DeclaredColumn:
    column, attribute = plan.columns[name], plan.attributes().get(name)
    values: list[Any] = list(column.levels or ())
    if attribute is not None and isinstance(attribute.prior, Finite) and not attribute.prior.is_line:
        values += [v for v in attribute.prior.values if v not in values]
    kind = plan.kind(name)
    levels = tuple(label_of(v) for v in values) or None
    protected = plan.unit.protects(declared=True, public=bool(column.public))
    told = DeclaredColumn(name, column.bounds, levels, kind, column.missing, protected)
    if column.true is None or column.false is None:
        return told
    return replace(told, true=tuple(map(label_of, column.true)), false=tuple(map(label_of, column.false)))


def attacker_of(plan: Plan) -> Attacker | None:
    """The plan's attacker, if it has one with limits."""
    attacker, limits = plan.attacker, plan.limits
    if attacker is None or (limits.advantage is None and limits.posterior is None):
        return None
    return Attacker(plan.attributes(), plan.goal, attacker.at, attacker.knows, attacker.or_)
