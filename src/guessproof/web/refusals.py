"""Errors as the page gets them: the same words as on the command line, in one shape."""

from __future__ import annotations

from pydantic import BaseModel, Field

from guessproof import errors
from guessproof.plain import plain_lines

UNEXPECTED = "something unexpected happened; its text is not shown, since it might quote data"


class Refusal(BaseModel):
    """What was refused, and what to do instead."""

    kind: str = Field(description="what went wrong, in one word: plan, query, budget, …")
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
    """An error of the library, as programs get it everywhere, with its text and the place in the query."""
    return Refusal(**error.to_dict(), message=plain_lines(str(error)), place=getattr(error, "place", None))


def status_of(error: errors.GuessproofError) -> int:
    """The code of HTTP for an error."""
    if isinstance(error, WebError):
        return error.status
    if isinstance(error, errors.LedgerError) or error.charged:
        return 409
    return 422


def unexpected() -> Refusal:
    """What is said of an error that nobody thought of."""
    return Refusal(kind="unexpected", message=UNEXPECTED, problem=UNEXPECTED)
