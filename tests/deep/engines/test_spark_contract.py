"""Spark is held to the contract that every engine passes, all of it; planted mistakes are seen."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from engines.spark_harness import SparkHarness
from sqlglot import Expr, exp

from guessproof.engines.spark_session import stopped_after
from guessproof.errors import EngineError, SourceError
from guessproof.sql import analyze
from guessproof.sql.targets.spark import SparkTarget
from guessproof.testing import EngineContract, Harness
from guessproof.testing.same import EXPONENT, QUERIES, twins, whole_numbers


@pytest.fixture
def harness(spark: str) -> Iterator[SparkHarness]:
    made = SparkHarness(spark)
    yield made
    made.close()


class TestSpark(EngineContract):
    """All of it: no check is left out."""


class Tagged:
    """A session of a cluster that notes what is cancelled."""

    def __init__(self) -> None:
        self.tags: list[str] = []
        self.cancelled: list[str] = []

    def addTag(self, tag: str) -> None:
        self.tags.append(tag)

    def removeTag(self, tag: str) -> None:
        self.tags.remove(tag)

    def interruptTag(self, tag: str) -> None:
        self.cancelled.append(tag)
        raise ConnectionError  # a second failure changes nothing


def test_a_query_that_fails_is_cancelled_for_a_wire_that_broke_leaves_it_running() -> None:
    session = Tagged()
    with stopped_after(session, None):
        pass
    assert not session.cancelled
    for limit in (None, 60.0):
        with pytest.raises(KeyboardInterrupt), stopped_after(session, limit):
            raise KeyboardInterrupt
    assert len(set(session.cancelled)) == 2
    assert not session.tags


# Planted: what a translation between dialects would have written.


def truncated(self: SparkTarget, x: Expr) -> Expr:
    return exp.Cast(this=x, to=exp.DataType(this=exp.DType.BIGINT))


def half_to_even(self: SparkTarget, a: Expr, digits: int) -> Expr:
    shift = self.double(10.0**digits)
    found = exp.Anonymous(this="RINT", expressions=[exp.Mul(this=exp.paren(a), expression=shift)])
    return exp.paren(exp.Div(this=found, expression=shift.copy()))


def rounded_text(self: SparkTarget, a: Expr, digits: int) -> Expr:
    return exp.Round(this=a, decimals=exp.Literal.number(digits))


def whole_division(self: SparkTarget, a: Expr, b: Expr) -> Expr:
    kind = exp.DataType(this=exp.DType.BIGINT)
    quotient = exp.IntDiv(this=exp.Cast(this=a, to=kind), expression=exp.Cast(this=b, to=kind.copy()))
    return exp.Cast(this=quotient, to=exp.DataType(this=exp.DType.DOUBLE))


def failing_cast(self: SparkTarget, column: Any) -> Expr:
    return exp.TryCast(this=self.name(column.name), to=exp.DataType(this=exp.DType.DOUBLE))  # sqlglot writes CAST


def lax_cast(self: SparkTarget, column: Any) -> Expr:
    """Spark takes '12d' for a number."""
    return exp.TryCast(this=self.name(column.name), to=exp.DataType(this=exp.DType.DOUBLE), safe=True)


def ignoring_case(self: SparkTarget, name: str, stored: str) -> Expr:
    """What a collation without case would say."""
    return exp.Lower(this=self.name(name))


def narrow_sum(self: SparkTarget, x: Expr) -> Expr:
    return exp.Sum(this=x)


LARGE = "SELECT SUM(POWER(salary, 3)) AS a FROM t"
PLANTED = [
    ("whole", truncated, "double", QUERIES[11][0], EXPONENT),
    ("rounded", half_to_even, "double", "SELECT SUM(ROUND(time)) AS a FROM t", EXPONENT),
    ("rounded", rounded_text, "double", QUERIES[11][0], EXPONENT),
    ("divide", whole_division, "double", QUERIES[14][0], EXPONENT),
    ("number", failing_cast, "string", QUERIES[11][0], EXPONENT),
    ("number", lax_cast, "string", QUERIES[11][0], EXPONENT),
    ("_text", ignoring_case, "double", QUERIES[5][0], EXPONENT),
    ("total", narrow_sum, "double", LARGE, -26),
]


def test_planted_mistakes_are_seen(harness: Harness, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each is found by another answer than DuckDB's, or before any charge."""
    unseen: list[str] = []
    for storage, reference in (("double", "DOUBLE"), ("string", "VARCHAR")):
        with twins(harness, storage, reference) as (here, there):
            for method, mistake, own, sql, exponent in PLANTED:
                question = analyze(sql, QUERIES[11][1])
                if own != storage:
                    continue
                with monkeypatch.context() as planted:
                    planted.setattr(SparkTarget, method, mistake)
                    try:
                        found = whole_numbers(here, question, exponent)
                    except (SourceError, EngineError):
                        continue
                if found == whole_numbers(there, question, exponent):
                    unseen.append(mistake.__name__)
    assert not unseen
