"""Casts in the SQL that is run. The types are built, not parsed: that is most of the time of writing a query."""

from __future__ import annotations

from sqlglot import Expr, exp


def double(x: Expr) -> Expr:
    """As a double."""
    return exp.Cast(this=x, to=exp.DataType(this=exp.DType.DOUBLE))


def whole(x: Expr) -> Expr:
    """As a whole number, to the nearest."""
    return exp.Cast(this=x, to=exp.DataType(this=exp.DType.BIGINT))


def text(x: Expr) -> Expr:
    """As text."""
    return exp.Cast(this=x, to=exp.DataType(this=exp.DType.VARCHAR))


def try_double(x: Expr) -> Expr:
    """As a double; what is none is NULL, never an error."""
    return exp.TryCast(this=x, to=exp.DataType(this=exp.DType.DOUBLE))


def try_boolean(x: Expr) -> Expr:
    """As a truth value; what is none is NULL, never an error."""
    return exp.TryCast(this=x, to=exp.DataType(this=exp.DType.BOOLEAN))
