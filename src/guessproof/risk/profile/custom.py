"""Risk profiles given as any function r*(p, q), with the infimum of ε over a region from below.

Two ways, and the answer says which was used:

* followed: the function is a formula that can be bounded over whole cells (``enclosure``). Proven, whatever
  the function does inside a cell; a jump counts with its lower side.
* stated slope: the caller promises that ln r* changes by at most ``lipschitz`` per unit of p and of q.
  Proven from point values, on the caller's word.

No number of points can rule out a narrow dip between two: a function that can only be sampled is refused.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from guessproof.errors import InfeasibleError, NotCertifiedError, ParameterError
from guessproof.intervals import IntervalArray
from guessproof.risk.profile import enclosure, search
from guessproof.risk.profile.answer import Binding, ProfileAnswer, Status
from guessproof.risk.profile.checks import EVERYTHING, ROUNDING, Array, Span, number, span
from guessproof.risk.profile.search import TOLERANCE, Know, Knowledge, PriorCells, PriorPoint

Function = Callable[[Any, Any], Any]

_FOLLOWED = "branch and bound over enclosures of the function"
_STATED = "branch and bound with the stated slope of ln r*"
_ZERO = "somewhere the posterior may not exceed the prior, so ε is 0"

_NEAR_ZERO = 1e-13


@dataclass(frozen=True)
class Custom:
    """Any function of p and q, ∞ where it promises nothing; elsewhere than in the region no limit."""

    function: Function
    p: Span = EVERYTHING
    q: Span = EVERYTHING
    lipschitz: float | tuple[float, float] | None = None

    def __post_init__(self) -> None:
        if not callable(self.function):
            raise ParameterError("function", self.function, "cannot be called", "give a function of p and q")
        object.__setattr__(self, "p", span("p", self.p))
        object.__setattr__(self, "q", span("q", self.q))
        if self.lipschitz is not None:
            object.__setattr__(self, "lipschitz", _slopes(self.lipschitz))

    @property
    def inclusion(self) -> Span:
        return self.p

    def allowed(self, p: Array, q: Array) -> Array:
        """r*, with a prior of 0 standing for its limit."""
        p, q = np.broadcast_arrays(p, q)
        inside = (p >= self.p[0]) & (p <= self.p[1]) & (q >= self.q[0]) & (q <= self.q[1])
        result = np.full(p.shape, np.inf)
        if inside.any():
            points = np.maximum(p[inside], _NEAR_ZERO), np.maximum(q[inside], _NEAR_ZERO)
            result[inside] = _evaluate(self.function, *points)
        return result

    def solve(self) -> ProfileAnswer:
        def evaluate(p: Array, q: Array) -> Array:
            return _evaluate(self.function, p, q)

        starts = search.sample(evaluate, self.p, self.q)
        best = search.descend(evaluate, self.p, self.q, starts[0], *self._steps)
        if best.epsilon <= TOLERANCE:
            return self._answer(0.0, "proven", _ZERO, best)
        for how, know in self._knowledge(evaluate):
            proof = _attempt(evaluate, know, self.p, self.q, best)
            if proof is not None:
                return self._answer(proof.epsilon, "proven", how, proof.best)
        raise NotCertifiedError(
            f"{self.describe()} cannot be followed between the points at which it is called: no ε is known to keep it "
            f"(at p={best.p:.6g}, q={best.q:.6g} it allows {best.epsilon:.6g}, elsewhere perhaps less); state how fast "
            "ln r* changes with lipschitz=…, or write it with arithmetic and numpy's exp, log, where, …"
        )

    def _knowledge(self, evaluate: search.Evaluate) -> Iterator[tuple[str, Know]]:
        """What can be said of ln r* over a cell, the strongest first."""
        yield _FOLLOWED, _followed(self.function, evaluate)
        if self.lipschitz is not None:
            slopes = _slopes(self.lipschitz)
            _check_slopes(evaluate, self.p, self.q, slopes)
            yield _STATED, _stated(evaluate, *slopes)

    @property
    def _steps(self) -> tuple[float, float]:
        return (self.p[1] - self.p[0]) / 50, (self.q[1] - self.q[0]) / 50

    def _answer(self, epsilon: float, status: Status, how: str, best: PriorPoint) -> ProfileAnswer:
        if math.isinf(epsilon):
            return ProfileAnswer(math.inf, status, how, None)
        ratio = float(_evaluate(self.function, np.array([best.p]), np.array([best.q]))[0])
        p, q = _limit(best.p, self.p), _limit(best.q, self.q)
        binding = Binding(p, q, ratio, max(0.0, best.epsilon))
        return ProfileAnswer(max(0.0, epsilon), status, how, binding)

    def describe(self) -> str:
        name = getattr(self.function, "__name__", type(self.function).__name__)
        name = "function" if name == "<lambda>" else name
        region = f"p=({self.p[0]:g}, {self.p[1]:g}), q=({self.q[0]:g}, {self.q[1]:g})"
        return f"RiskProfile.custom({name}, {region})"

    def to_dict(self) -> dict[str, Any]:
        name = getattr(self.function, "__name__", type(self.function).__name__)
        slopes = None if self.lipschitz is None else list(_slopes(self.lipschitz))
        return {"kind": "custom", "function": name, "p": list(self.p), "q": list(self.q), "lipschitz": slopes}


def _limit(value: float, ends: Span) -> float:
    """0 for a prior that was followed down towards 0."""
    return 0.0 if value < 1e-11 and ends[0] == 0 else value


def _slopes(value: Any) -> tuple[float, float]:
    try:
        pair = tuple(value)
    except TypeError:
        pair = (value, value)
    if len(pair) != 2:
        raise ParameterError("lipschitz", value, "is not a pair", "give one bound, or one for p and one for q")
    slopes = number("lipschitz", pair[0]), number("lipschitz", pair[1])
    if min(slopes) < 0:
        raise ParameterError("lipschitz", value, "is negative", "give bounds of 0 or more")
    return slopes


def _check_slopes(evaluate: search.Evaluate, p: Span, q: Span, slopes: tuple[float, float]) -> None:
    """Refuse a statement that two neighbours on a grid contradict."""
    axes = [np.linspace(max(low, _NEAR_ZERO), high, 25 if low < high else 1) for low, high in (p, q)]
    grid_p, grid_q = np.meshgrid(*axes, indexing="ij")
    log = _log(evaluate(grid_p.ravel(), grid_q.ravel())).reshape(grid_p.shape)
    for axis, values in enumerate(axes):
        allowance = np.expand_dims(slopes[axis] * np.diff(values), 1 - axis)
        with np.errstate(all="ignore"):
            broken = np.abs(np.diff(log, axis=axis)) > allowance * (1 + 1e-9) + 1e-9
        if broken.any():
            raise ParameterError(
                "lipschitz",
                slopes,
                f"ln r* changes faster with {'pq'[axis]} between two points",
                "state a larger bound, or none",
            )


def _attempt(evaluate: search.Evaluate, know: Know, p: Span, q: Span, best: PriorPoint) -> search.Proof | None:
    try:
        return search.prove(evaluate, know, p, q, best)
    except enclosure.Untraceable:
        return None


def _followed(function: Function, evaluate: search.Evaluate) -> Know:
    """Enclosures of the function, as long as they hold what calling it returns."""

    def know(cells: PriorCells) -> Knowledge:
        whole = enclosure.bound(function, cells.p, cells.q)
        p, q = cells.centre
        low, high = enclosure.bound(function, IntervalArray(p, p), IntervalArray(q, q), slopes=False).value
        called = evaluate(p, q)
        if not np.all((low <= called) & (called <= high)):
            raise enclosure.Untraceable("the function does something else when it is followed")
        with np.errstate(all="ignore"):
            inverse = whole.value.reciprocal()
            return Knowledge(
                lowest=_log(whole.value.low),
                centre=_log(low),
                slope_p=whole.slope_p * inverse,
                slope_q=whole.slope_q * inverse,
            )

    return know


def _stated(evaluate: search.Evaluate, slope_p: float, slope_q: float) -> Know:
    def know(cells: PriorCells) -> Knowledge:
        centre = _log(evaluate(*cells.centre))
        half_p, half_q = cells.half_widths
        every = np.ones(len(cells))
        return Knowledge(
            lowest=centre - slope_p * half_p - slope_q * half_q,
            centre=centre,
            slope_p=IntervalArray(-slope_p * every, slope_p * every),
            slope_q=IntervalArray(-slope_q * every, slope_q * every),
        )

    return know


def _log(ratio: Array) -> Array:
    with np.errstate(all="ignore"):
        return np.where(ratio > 0, np.log(np.maximum(ratio, 0.0)), -np.inf)


def _evaluate(function: Function, p: Array, q: Array) -> Array:
    """r* at each point, from one call with arrays if the function takes them, else from many."""
    with np.errstate(all="ignore"):
        try:
            given = np.asarray(function(p, q))
            ratio = given.astype(np.float64) if given.dtype.kind in "iuf" else np.empty(0)
        except Exception:  # whatever it raises, it may still take one pair at a time
            ratio = np.empty(0)
        if ratio.shape not in ((), p.shape):
            ratio = np.array([_one(function, a, b) for a, b in zip(p.tolist(), q.tolist(), strict=True)])
    ratio = np.broadcast_to(ratio, p.shape)
    _check(ratio, p, q)
    return ratio


def _one(function: Function, p: float, q: float) -> float:
    try:
        value = function(p, q)
    except Exception as error:
        problem = f"raised {type(error).__name__}: {error}"
        raise ParameterError("function", (p, q), problem, "let it return a ratio for every p and q") from error
    return number("function", value, infinite=True) if not _is_nan(value) else math.nan


def _is_nan(value: Any) -> bool:
    return isinstance(value, (float, np.floating)) and bool(value != value)


def _check(ratio: Array, p: Array, q: Array) -> None:
    wrong = ~(ratio >= 1 - ROUNDING)
    if not wrong.any():
        return
    first = int(np.argmax(wrong))
    value, where = float(ratio[first]), f"at p={p[first]:.6g}, q={q[first]:.6g}"
    if not value >= 0:
        raise ParameterError("function", value, f"is not a ratio, {where}", "return a ratio of at least 1")
    raise InfeasibleError(
        f"function: allows a posterior below the prior {where} (got {value:.6g}); "
        "no release can promise that, return a ratio of at least 1"
    )
