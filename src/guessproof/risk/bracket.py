"""An answer is a bracket: the best attack found, the bound proven, how they were obtained, how far to refine them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import wraps
from html import escape
from typing import TYPE_CHECKING, Any, Literal, TypeVar

import numpy as np

from guessproof.errors import NotCertifiedError, ParameterError
from guessproof.world.checks import Array, floats, positive

if TYPE_CHECKING:
    from guessproof.risk.certify import Certificate

Status = Literal["exact", "proven", "published"]
Direction = Literal["rise", "fall", "posterior"]  # what is to be as large as possible
Number = float | Array
Question = TypeVar("Question", bound=Callable[..., Any])

EXACT_WITHIN = 1e-8  # relative width up to which bound and attack are said to meet
CONTRADICTION = 1e-6  # in ln odds: far more than rounding, far less than an error
MOST_TOLERANCE = 1e6  # of odds; a wider bracket is as wide as any


@dataclass(frozen=True)
class Bracket:
    """What an attacker can reach (attack) and what no attacker can exceed (bound).

    On the upper side attack ≤ bound, on the lower side attack ≥ bound. Numbers, or arrays of one shape.
    The truth lies between the two; `status` is "exact" where they meet.
    """

    attack: Number
    bound: Number
    status: Status
    how: str = ""
    worst_at: Any = None
    worst_prior: Number | None = None
    _certify: Callable[[], Certificate | tuple[Certificate, ...]] | None = field(
        default=None, init=False, repr=False, compare=False
    )

    @classmethod
    def meet(cls, attack: Any, bound: Any, how: str, **more: Any) -> Bracket:
        """A bracket whose status follows from how close the two numbers are."""
        attack, bound = floats(attack), floats(bound)
        size = np.maximum(np.abs(attack), np.abs(bound))
        exact = bool(np.all(np.abs(attack - bound) <= EXACT_WITHIN * size + 1e-300))
        return cls(_plain(attack), _plain(bound), "exact" if exact else "proven", how, **more)

    @property
    def width(self) -> Number:
        """How far bound and attack are apart."""
        return _plain(np.abs(np.subtract(self.bound, self.attack)))

    def certificate(self) -> Certificate | tuple[Certificate, ...]:
        """Return what proves the posterior behind this bound to `risk.certify`, which trusts no solver.

        Where a product of attributes bounds it, there is one certificate for each of them.
        """
        if self._certify is None:
            raise NotCertifiedError(
                "certificates are for posteriors at one epsilon and stated true values: ask Attack.posterior for one"
            )
        return self._certify()

    def to_dict(self) -> dict[str, Any]:
        """The same as plain numbers and lists, ready for JSON."""
        names = "attack", "bound", "status", "how", "worst_at", "worst_prior"
        return {name: _listed(getattr(self, name)) for name in names}

    def __float__(self) -> float:
        """What no attacker exceeds: the side that is safe to compute with."""
        return float(self.bound)

    def __format__(self, spec: str) -> str:
        """The bound in digits of one's own, as f"{bracket:.2%}"; without any, all that there is to say."""
        return format(float(self.bound), spec) if spec else str(self)

    def __repr__(self) -> str:
        ends = f"attack={_shown(self.attack)}, bound={_shown(self.bound)}"
        at = "" if self.worst_at is None else f", worst_at={_shown(self.worst_at)}"
        return f"Bracket({ends}, {self.status!r}{at})"

    def __str__(self) -> str:
        if self.status == "exact":
            value = f"{_shown(self.bound)} (exact)"
        else:
            value = f"between {_shown(self.attack)} (attack) and {_shown(self.bound)} ({self.status})"
        at = "" if self.worst_at is None else f", worst at {_shown(self.worst_at)}"
        return f"{value}{at}; {self.how}" if self.how else value + at

    def _repr_html_(self) -> str:
        rows = [
            f"<tr><th style='text-align:left'>{name}</th><td>{escape(_shown(value))}</td></tr>"
            for name, value in self.to_dict().items()
            if value is not None
        ]
        return f"<table>{''.join(rows)}</table>"


@dataclass(frozen=True)
class Worst:
    """The best true value found for the attacker, what it gives, and what no true value exceeds."""

    at: Any  # of several attributes a table
    value: float
    bound: float
    prior: float


@dataclass(frozen=True)
class Progress:
    """Where a refinement stands: the number of cells, and the width of the bracket in odds."""

    cells: int
    width: float


@dataclass(frozen=True)
class Effort:
    """Refine with more cells until the bracket's odds are within `tolerance` of each other."""

    tolerance: float
    progress: Callable[[Progress], Any] | None = None


def checked_effort(tolerance: Any, progress: Any) -> Effort | None:
    """Return how far to refine; None for the bracket that is at hand at once."""
    if progress is not None and not callable(progress):
        raise ParameterError(
            "progress", progress, "cannot be called", "give a function of one Progress"
        )
    if tolerance is None:
        return None
    return Effort(
        min(positive(ParameterError, "tolerance", tolerance), MOST_TOLERANCE), progress
    )


def without_time_limit(question: Question) -> Question:
    """Refuse the keyword `time_limit`: an answer must be the same on every machine."""

    @wraps(question)
    def asked(*args: Any, **options: Any) -> Any:
        if "time_limit" in options:
            problem = "is not taken: an answer must not depend on how fast a machine is"
            remedy = "give tolerance=, the width in odds"
            raise ParameterError("time_limit", options["time_limit"], problem, remedy)
        return question(*args, **options)

    checked: Any = asked
    return checked


def agreed(attack: float, bound: float) -> tuple[float, float]:
    """Attack and bound of a gain in ln odds, rounding apart in order.

    An attack that exceeds a bound by more shows that the bound is wrong: nothing is answered then.
    """
    if attack - bound > CONTRADICTION:
        raise NotCertifiedError(
            f"an attack gains {attack:.6g} in ln odds where {bound:.6g} was proven to be the most; one of them is "
            "wrong, so nothing is answered: please report the question"
        )
    return min(attack, bound), bound


def width_in_odds(attack: float, bound: float) -> float:
    """How much larger the bound's odds are than the attack's, relatively."""
    return float(np.expm1(min(abs(bound - attack), 700.0)))


def _plain(value: Any) -> Number:
    array = floats(value)
    return float(array) if array.ndim == 0 else array


def _listed(value: Any) -> Any:
    return value.tolist() if isinstance(value, (np.ndarray, np.generic)) else value


def _shown(value: Any) -> str:
    if isinstance(value, np.ndarray):
        return np.array2string(value, precision=6, threshold=6)
    return f"{value:.7g}" if isinstance(value, float) else str(value)


def joined(brackets: list[Bracket], side: str = "upper") -> Bracket:
    """The most exposed of several alternatives, each protected on its own."""
    if len(brackets) == 1:
        return brackets[0]
    pick = np.max if side == "upper" else np.min
    ends: Any = [(b.attack, b.bound) for b in brackets]
    attack, bound = pick(ends, axis=0)
    return Bracket.meet(attack, bound, "each alternative on its own: the most exposed")
