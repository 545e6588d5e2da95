"""Mistakes that people make between dialects, planted one at a time: the contract must see each."""

from __future__ import annotations

from typing import Any

import pytest
from engines.harnesses import PostgresHarness
from servers import Place
from sqlglot import Expr, exp

from guessproof.errors import EngineError, SourceError
from guessproof.sql.targets.postgres import PostgresTarget
from guessproof.testing.same import (
    BORN,
    COLUMNS,
    HARD,
    LABELS,
    NUMBERS,
    ODD,
    TEXTS,
    draw_rows,
    same_answers,
    same_answers_of_texts,
)

# What a translation between dialects would have written.


def truncated(self: PostgresTarget, x: Expr) -> Expr:
    return exp.Cast(this=exp.Anonymous(this="TRUNC", expressions=[x]), to=exp.DataType(this=exp.DType.BIGINT))


def half_to_even(self: PostgresTarget, a: Expr, digits: int) -> Expr:
    shift = self.double(10.0**digits)
    found = exp.Round(this=exp.Mul(this=exp.paren(a), expression=shift))
    return exp.paren(exp.Div(this=found, expression=shift.copy()))


def whole_division(self: PostgresTarget, a: Expr, b: Expr) -> Expr:
    kind = exp.DataType(this=exp.DType.BIGINT)
    quotient = exp.Div(this=exp.Cast(this=a, to=kind), expression=exp.Cast(this=b, to=kind.copy()), typed=True)
    return exp.Cast(this=exp.paren(quotient), to=exp.DataType(this=exp.DType.DOUBLE))


def failing_cast(self: PostgresTarget, column: Any) -> Expr:
    return exp.TryCast(this=self.name(column.name), to=exp.DataType(this=exp.DType.DOUBLE))


def ignoring_case(self: PostgresTarget, name: str) -> Expr:
    """What a collation without case would say."""
    return exp.Lower(this=exp.Cast(this=self.name(name), to=exp.DataType(this=exp.DType.TEXT)))


def plain_product(self: PostgresTarget, a: Expr, b: Expr) -> Expr:
    return exp.paren(exp.Mul(this=a, expression=b))


def plain_exponential(self: PostgresTarget, a: Expr) -> Expr:
    return exp.Exp(this=a)


def endless_numeric(self: PostgresTarget, value: float) -> Expr:
    return exp.Literal.number(value) if value >= 0 else exp.Neg(this=exp.Literal.number(-value))


PLANTED = [
    ("whole", truncated, same_answers),
    ("rounded", half_to_even, same_answers),
    ("divide", whole_division, same_answers),
    ("number", failing_cast, same_answers_of_texts),
    ("_text", ignoring_case, same_answers),
    ("times", plain_product, same_answers),
    ("exponential", plain_exponential, same_answers),
    ("double", endless_numeric, same_answers),
]


@pytest.mark.parametrize(("method", "mistake", "check"), PLANTED, ids=lambda v: getattr(v, "__name__", v))
def test_a_planted_mistake_is_seen(
    method: str, mistake: Any, check: Any, postgres: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(PostgresTarget, method, mistake)
    with pytest.raises((AssertionError, SourceError, EngineError)):  # another answer, or none
        check(PostgresHarness(postgres))


def test_the_declaration_covers_the_table() -> None:
    assert {*COLUMNS, "card"} == {*NUMBERS, *TEXTS}
    assert set(LABELS) < set(TEXTS)


@pytest.mark.parametrize("of_texts", [False, True])
def test_every_column_holds_each_of_its_hard_values(of_texts: bool) -> None:
    columns = dict(zip((*NUMBERS, *TEXTS), zip(*draw_rows(of_texts), strict=True), strict=True))
    for name in NUMBERS:
        assert {*HARD, *(ODD if of_texts else ())} < set(columns[name])
    assert {name: set(held) for name, held in (LABELS | {"born": BORN}).items()} == {n: set(columns[n]) for n in TEXTS}
