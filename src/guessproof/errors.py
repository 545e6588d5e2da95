"""Every exception of guessproof.

::

    GuessproofError
    ├── InputError (also a ValueError): a value that cannot be meant; names field, value and remedy
    │   ├── PriorError          weights that do not sum to one, a NaN, an empty prior
    │   ├── MetricError         a distance that is negative, not symmetric, or of the wrong size
    │   ├── GoalError           an empty goal, a certain goal, a radius that is not positive
    │   ├── TrueValueError      a true value that its prior says cannot occur
    │   ├── KnowledgeError      knowledge that contradicts the prior
    │   ├── UnknownAttributeError   a name that no attribute of the goal has
    │   ├── ParameterError      an ε, a limit or an option outside its range
    │   └── PlanError           a plan file that cannot be meant; names the line
    ├── QueryError              SQL that is not understood; underlines the place and says what to write instead
    ├── SourceError             a table that cannot be opened; found before anything was charged
    ├── EngineError             the engine failed while it read the table; a constant message
    ├── LedgerError             a ledger that is missing, was edited, or is used against its rules
    │   ├── BudgetError         the budget does not allow this release; says what is left
    │   ├── EditedError         the ledger does not fit: it was edited, cut off or replaced
    │   └── UnsureError         a server was lost while it wrote: what was being written counts as written
    ├── RowsError               fewer rows than the plan declares to be public knowledge; found after the charge
    ├── InfeasibleError         no ε, however small, keeps the limit
    ├── NotCertifiedError       an answer exists but cannot be certified as asked
    └── MissingExtraError (also an ImportError)     an optional part is not installed; gives the pip command
"""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from typing import Any, Self

from guessproof.plain import plain, plain_lines

SCALARS = (str, bytes, bool, int, float, complex, Fraction, Decimal, type(None))
LEFT_OUT = object()  # the value of what was not given
MOST_ITEMS = 12  # of a list that is shown: what a plan holds, not what a table holds


class GuessproofError(Exception):
    """Base of all exceptions that guessproof raises on purpose. Its words are one line that steers no terminal.

    `charged` says whether the ledger was charged for what failed, and `field` and `line` where a plan is to be mended.
    """

    charged: bool = False
    field: str | None = None
    line: int | None = None
    file: str | None = None

    def __str__(self) -> str:
        return f"{self._where}{self.words}"

    @property
    def words(self) -> str:
        """What is said, without the place."""
        return plain(Exception.__str__(self))

    def at(self, field: str, line: int | None, file: str | None) -> Self:
        """The same error, with the place of the plan that is to be mended.

        >>> str(SourceError("no such file; mend the path").at("data.source", 3, "plan.toml"))
        'plan.toml, line 3: data.source: no such file; mend the path'
        """
        self.field, self.line, self.file = field, line, file
        return self

    @property
    def _where(self) -> str:
        if self.file is None or self.line is None:
            return ""
        return f"{plain(self.file)}, line {self.line}: {plain(self.field or 'plan')}: "

    @property
    def kind(self) -> str:
        """What went wrong, in one word for programs.

        >>> PlanError("data.rows", 0, "must be at least 1", "give a number").kind, LedgerError().kind
        ('plan', 'ledger')
        """
        name = type(self).__name__.removesuffix("Error")
        return "".join(f"_{c.lower()}" if c.isupper() else c for c in name).removeprefix("_")

    def to_dict(self) -> dict[str, Any]:
        """Ready for JSON: kind, field, line, problem, remedy, charged."""
        problem, _, remedy = self.words.partition("; ")
        return {
            "kind": self.kind,
            "field": self.field,
            "line": self.line,
            "problem": plain(getattr(self, "problem", problem)),
            "remedy": plain(getattr(self, "remedy", remedy)),
            "charged": self.charged,
        }


class InputError(GuessproofError, ValueError):
    """A value that cannot be meant.

    >>> raise PriorError("weights", [0.5, 0.6], "they sum to 1.1", "make them sum to 1")
    Traceback (most recent call last):
    ...
    guessproof.errors.PriorError: weights: they sum to 1.1 (got [0.5, 0.6]); make them sum to 1
    """

    def __init__(self, field: str, value: Any, problem: str, remedy: str) -> None:
        self.field: str = field  # pyright: ignore[reportIncompatibleVariableOverride]
        self.value = value
        self.problem = problem
        self.remedy = remedy
        got = "" if value is LEFT_OUT else f" (got {_short(value)})"
        super().__init__(f"{plain(field)}: {plain(problem)}{got}; {remedy}")

    def __str__(self) -> str:  # a remedy may show the place in a line of its own
        return plain_lines(Exception.__str__(self))


class PriorError(InputError):
    """A prior that is not a probability distribution."""


class MetricError(InputError):
    """A distance that is not one."""


class GoalError(InputError):
    """A goal that no attacker could have, or that is already certain."""


class TrueValueError(InputError):
    """A true value that its prior says cannot occur."""


class KnowledgeError(InputError):
    """Knowledge that contradicts the prior."""


class UnknownAttributeError(InputError):
    """A name that no attribute of the goal has."""


class ParameterError(InputError):
    """An ε, a limit or an option outside its range."""


class PlanError(InputError):
    """A plan file that cannot be meant. `line` counts from 1; None where the whole file is meant."""

    def __init__(
        self, field: str, value: Any, problem: str, remedy: str, *, line: int | None = None, file: str | None = None
    ) -> None:
        super().__init__(field, value, problem, remedy)
        self.line = line
        self.file = file

    def __str__(self) -> str:
        where = plain(self.file or "plan")
        place = where if self.line is None else f"{where}, line {self.line}"
        return f"{place}: {super().__str__()}"


class QueryError(GuessproofError):
    """SQL that is refused: why, where, and what to write instead.

    >>> raise QueryError("two statements", "SELECT 1; DROP TABLE t", (8, 22), "write one SELECT")
    Traceback (most recent call last):
    ...
    guessproof.errors.QueryError: two statements; write one SELECT
      SELECT 1; DROP TABLE t
              ^^^^^^^^^^^^^^
    """

    def __init__(self, problem: str, sql: str = "", place: tuple[int, int] | None = None, remedy: str = "") -> None:
        self.problem = problem
        self.field = "query.sql"
        self.sql = sql
        self.place = place
        self.remedy = remedy
        super().__init__(f"{problem}; {remedy}" if remedy else problem)

    def __str__(self) -> str:
        return super().__str__() + _underlined(self.sql, self.place)


class SourceError(GuessproofError):
    """A table that cannot be opened, or does not fit the plan; nothing was charged."""


class EngineError(GuessproofError):
    """The engine failed while it read the table. The message never depends on the data."""

    def __init__(self, *, charged: bool = True) -> None:
        answer = "the engine could not answer; the charge stays, and nothing about the data is told. "
        rows = "the engine could not read the rows; nothing about the data is told. "
        cause = "The owner of the table can look for the cause in the database itself"
        super().__init__((answer if charged else rows) + cause)
        self.charged = charged


class LedgerError(GuessproofError):
    """A ledger that is missing, was edited, or is used against its rules."""


class BudgetError(LedgerError):
    """The budget does not allow this release; says what is left."""


class EditedError(LedgerError):
    """The ledger does not fit: it was edited, cut off or replaced."""


class UnsureError(LedgerError):
    """A server was lost while it wrote, and does not answer: what was being written counts as written."""


class RowsError(GuessproofError):
    """Fewer rows than the plan declares to be public knowledge: the noise would be too small. A constant message."""

    charged = True
    field = "data.rows"

    def __init__(self) -> None:
        super().__init__(
            "fewer rows match than data.rows declares to be public knowledge, so the noise would be too small; the "
            "charge stays, and asking again neither runs nor charges. Declare a number that is surely reached"
        )


class InfeasibleError(GuessproofError):
    """No ε, however small, keeps the limit. Its words are sentences: the first says why, the others what would help."""

    def to_dict(self) -> dict[str, Any]:
        """Ready for JSON; what would help is the remedy."""
        found = super().to_dict()
        if not found["remedy"]:
            found["problem"], _, found["remedy"] = found["problem"].partition(". ")
        return found


class NotCertifiedError(GuessproofError):
    """An answer exists but cannot be certified as asked."""


class MissingExtraError(GuessproofError, ImportError):
    """An optional part is not installed."""

    def __init__(self, package: str, extra: str) -> None:
        self.package = package
        self.extra = extra
        super().__init__(f"{package} is not installed; run: pip install 'guessproof[{extra}]'")


def _short(value: Any, limit: int = 120) -> str:
    """A value as an error shows it: a plain one or a short list, never the rows of a table or an array.

    >>> _short([0.5, 0.6]), _short([["Ann", 41], ["Bob", 37]]), _short(range(9))
    ('[0.5, 0.6]', 'a list of 2', 'a range of 9')
    """
    text = _seen(value)
    if isinstance(value, float):
        text = text.replace("e+", "e")  # as people type it
    return text if len(text) <= limit else text[: limit - 1] + "…"


def _seen(value: Any) -> str:
    kind = type(value)
    if isinstance(value, SCALARS) or kind.__module__.split(".")[0] == "guessproof":
        return repr(value)
    if kind.__module__ == "datetime":
        return str(value)  # as a plan writes it
    if kind.__module__ == "numpy" and getattr(value, "ndim", None) == 0:
        return _seen(value.item())
    items = list(value.items()) if isinstance(value, dict) else value
    if isinstance(value, (list, tuple, set, frozenset, dict)) and len(value) <= MOST_ITEMS:
        parts = [part for item in items for part in (item if isinstance(value, dict) else (item,))]
        if all(isinstance(part, SCALARS) for part in parts):
            return repr(value)
        if isinstance(value, list) and all(isinstance(part, SCALARS) or _is_time(part) for part in parts):
            return f"[{', '.join(map(_seen, parts))}]"
    size = f" of {len(value)}" if isinstance(value, (list, tuple, set, frozenset, dict, range)) else ""
    return f"a {'table' if kind is dict else kind.__name__}{size}"


def _is_time(value: Any) -> bool:
    return type(value).__module__ == "datetime"


def _underlined(sql: str, place: tuple[int, int] | None) -> str:
    """The line of the query that is meant, with the place marked below it."""
    if not sql or place is None:
        return ""
    start, end = max(0, min(place[0], len(sql))), max(0, min(place[1], len(sql)))
    first = sql.rfind("\n", 0, start) + 1
    last = sql.find("\n", start)
    line = sql[first : len(sql) if last < 0 else last]
    width = max(1, min(end, first + len(line)) - start)
    return f"\n  {plain(line)}\n  {' ' * (start - first)}{'^' * width}"
