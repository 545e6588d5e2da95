"""What an audit found: one line a check, and the points of the calibration plot."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any, Literal

Verdict = Literal["pass", "fail", "not computed"]


@dataclass(frozen=True)
class Check:
    """One comparison. An audit passes if none of its checks fails."""

    name: str
    measured: float | None
    interval: tuple[float, float] | None
    expected: float | None
    verdict: Verdict
    words: str


@dataclass(frozen=True)
class PlotPoint:
    """A probability that was predicted, and how often the event was seen, with its interval."""

    series: str
    predicted: float
    measured: float
    low: float
    high: float
    trials: int


@dataclass(frozen=True)
class Audit:
    """The outcome. A release that keeps its promises fails with probability `false_alarm` at most."""

    passed: bool
    checks: tuple[Check, ...]
    false_alarm: float
    tests: int
    trials: int
    seconds: float
    seed: int
    epsilon: float
    points: tuple[PlotPoint, ...]
    notes: tuple[str, ...]

    def note(self, request: str) -> str:
        """The verdict as a remark in a ledger, with the request that it is about."""
        verdict = "passed" if self.passed else f"FAILED ({', '.join(c.name for c in self.failures)})"
        about = f"request {request[:16]}"
        return f"audit {verdict}: {self.tests} tests on {self.trials} draws at ε = {self.epsilon:.6g}, {about}"

    @property
    def failures(self) -> tuple[Check, ...]:
        """The checks that failed."""
        return tuple(c for c in self.checks if c.verdict == "fail")

    def to_dict(self) -> dict[str, Any]:
        """Ready for JSON; a number that is not finite is null."""
        return _finite({**asdict(self), "failures": [c.name for c in self.failures]})


def _finite(value: Any) -> Any:
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {k: _finite(v) for k, v in value.items()}
    return [_finite(v) for v in value] if isinstance(value, (list, tuple)) else value
