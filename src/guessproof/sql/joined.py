"""Two parts of a FROM joined: what both offer together, and which conditions decide on a row or on a match."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from sqlglot import Expr, exp

from guessproof.names import folded
from guessproof.sql.flatten import Refusal, Scope, split_conjunction

KINDS = ("", "INNER", "CROSS", "OUTER")
SIDES = ("", "LEFT", "RIGHT")


def check_rows(join: exp.Join, ctes: Mapping[str, exp.Select], refuse: Refusal) -> None:
    """What is joined has rows of a table, not values that all rows of a group have made."""
    what = join.this
    inner = ctes.get(folded(what.name)) if isinstance(what, exp.Table) else what.this
    if isinstance(inner, exp.Select) and inner.args.get("group") is not None:
        problem = "an inner value that is joined back to rows moves all of them when one record changes"
        raise refuse(problem, join.this, "ask for the inner values first, and write them as constants")


def join_scopes(
    left: Scope, right: Scope, join: exp.Join, seen: Callable[[Expr, Scope], Expr], bare: set[str]
) -> Scope:
    """What a join of two offers; `seen` resolves the names in its ON."""
    side, kind = str(join.side or "").upper(), str(join.kind or "").upper()
    if join.args.get("method") or side not in SIDES or kind not in KINDS:
        word = " ".join(filter(None, (str(join.args.get("method") or ""), side, kind)))
        raise left.refuse(f"{word} JOIN is not supported", join.this, "write JOIN or LEFT JOIN, with ON or USING")
    if side == "RIGHT":
        left, right = right, left
    both = _beside(left, right, join.this)
    using = [exp.column(exp.to_identifier(name.name)) for name in join.args.get("using") or []]
    # The names of USING stand for the same on both sides, so for the left one.
    both = replace(both, merged={**both.merged, **{folded(n.name): left.find(n, bare) for n in using}})
    on = join.args.get("on")
    conditions = list(split_conjunction(seen(on, both))) if on is not None else []
    for name in using:
        conditions.append(exp.EQ(this=both.merged[folded(name.name)].copy(), expression=right.find(name, bare)))
    if not side:
        return replace(both, where=(*both.where, *conditions))
    return _join_outer(left, right, both, conditions, join)


def _beside(left: Scope, right: Scope, place: Expr) -> Scope:
    """Both: every row of one with every row of the other."""
    if left.table is not None and right.table is not None:
        problem = "the protected table is joined with itself, so that one record could meet all others"
        raise left.refuse(problem, place, "join it with public tables, declared as [tables.NAME]")
    taken = {folded(item.alias) for item in left.items} & {folded(item.alias) for item in right.items}
    if taken:
        raise left.refuse(f"two tables are called {min(taken)}", place, "name one of them with AS")
    table = left.table if right.table is None else right.table
    joins, where = (*left.joins, *right.joins), (*left.where, *right.where)
    merged = {**left.merged, **right.merged}
    return Scope((*left.items, *right.items), left.refuse, table, joins, where, merged)


def _join_outer(left: Scope, right: Scope, both: Scope, on: list[Expr], join: exp.Join) -> Scope:
    """A LEFT JOIN: conditions decide on the match, not on the row."""
    if right.table is not None:
        problem = f"{right.table} is joined to a public table, whose rows without a record would be counted too"
        raise left.refuse(problem, join.this, f"write FROM {right.table} LEFT JOIN …, or JOIN")
    computed = [n for item in right.items for n in (item.names or {}).values() if not isinstance(n, exp.Column)]
    if len(right.joins) != 1 or right.joins[0].outer or computed:
        problem = "a LEFT JOIN with a subquery that computes or joins is not supported"
        raise left.refuse(problem, join.this, "join the public tables one after the other")
    joined = replace(right.joins[0], outer=True, on=(*right.where, *on))
    return replace(both, joins=(*left.joins, joined), where=left.where)
