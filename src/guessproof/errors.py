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
    │   └── ParameterError      an ε, a limit or an option outside its range
    ├── InfeasibleError         no ε, however small, keeps the limit
    ├── NotCertifiedError       an answer exists but cannot be certified as asked
    └── MissingExtraError (also an ImportError)     an optional part is not installed; gives the pip command
"""

from __future__ import annotations

from typing import Any


class GuessproofError(Exception):
    """Base of all exceptions that guessproof raises on purpose."""


class InputError(GuessproofError, ValueError):
    """A value that cannot be meant.

    >>> raise PriorError("weights", [0.5, 0.6], "they sum to 1.1", "make them sum to 1")
    Traceback (most recent call last):
    ...
    guessproof.errors.PriorError: weights: they sum to 1.1 (got [0.5, 0.6]); make them sum to 1
    """

    def __init__(self, field: str, value: Any, problem: str, remedy: str) -> None:
        self.field = field
        self.value = value
        self.problem = problem
        self.remedy = remedy
        super().__init__(f"{field}: {problem} (got {_short(value)}); {remedy}")


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


class InfeasibleError(GuessproofError):
    """No ε, however small, keeps the limit."""


class NotCertifiedError(GuessproofError):
    """An answer exists but cannot be certified as asked."""


class MissingExtraError(GuessproofError, ImportError):
    """An optional part is not installed."""

    def __init__(self, package: str, extra: str) -> None:
        self.package = package
        self.extra = extra
        super().__init__(f"{package} is not installed; run: pip install 'guessproof[{extra}]'")


def _short(value: Any, limit: int = 120) -> str:
    text = repr(value)
    return text if len(text) <= limit else text[: limit - 1] + "…"
