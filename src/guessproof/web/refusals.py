"""Errors as the page gets them: the same words as on the command line, in one shape."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, Field

from guessproof import errors
from guessproof.plain import plain_lines

UNEXPECTED = "something unexpected happened; its text is not shown, since it might quote data"


class Refusal(BaseModel):
    """What was refused, and what to do instead."""

    kind: str = Field(description="the class of the error, as PlanError")
    message: str = Field(description="everything in one text, as the command line prints it")
    field: str | None = Field(default=None, description="the key of the plan that is meant")
    line: int | None = Field(default=None, description="the line of the plan, counted from 1")
    problem: str | None = None
    remedy: str | None = None
    place: tuple[int, int] | None = Field(default=None, description="which characters of the query are meant")
    charged: bool = Field(default=False, description="whether the budget was charged")


class RefusalBody(BaseModel):
    """How every refusal is wrapped."""

    error: Refusal


class WebError(errors.GuessproofError):
    """A request that this page does not answer; `status` is the code of HTTP."""

    def __init__(self, status: int, problem: str, remedy: str = "", field: str | None = None) -> None:
        self.status = status
        self.problem = problem
        self.remedy = remedy
        self.field = field
        super().__init__(f"{problem}; {remedy}" if remedy else problem)


def refusal_of(error: errors.GuessproofError) -> Refusal:
    """An error of the library in the page's shape."""
    return Refusal(
        kind=type(error).__name__,
        message=plain_lines(str(error)),
        field=_text(getattr(error, "field", None)),
        line=getattr(error, "line", None),
        problem=_text(getattr(error, "problem", None)),
        remedy=_text(getattr(error, "remedy", None)),
        place=getattr(error, "place", None),
        charged=is_charged(error),
    )


def is_charged(error: errors.GuessproofError) -> bool:
    """Whether the budget was charged before this happened."""
    return isinstance(error, (errors.EngineError, errors.RowsError, errors.UnsureError))


def status_of(error: errors.GuessproofError) -> int:
    """The code of HTTP for an error."""
    if isinstance(error, WebError):
        return error.status
    if isinstance(error, errors.LedgerError) or is_charged(error):
        return 409
    return 422


def unexpected() -> Refusal:
    """What is said of an error that nobody thought of."""
    return Refusal(kind="UnexpectedError", message=UNEXPECTED)


def _text(value: Any) -> str | None:
    return None if not value else plain_lines(value)
