"""What an audit found: one line a check, and the points of the calibration plot."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal

# Every kind of check, and what its measured number means. A check of another kind cannot be made.
MEANINGS: Mapping[str, str] = {
    "engine": "largest difference from plain arithmetic, which may come from rounding alone",
    "movement": "what one record moved, as a share of the guarantee",
    "guesser": "how often the best guess was right",
    "two tables": "how often two neighbours were told apart",
    "ratios": "ln of the likelihood ratio of two neighbours",
    "noise": "share of the draws where they fit their law least",
    "independence": "how often two noises agree",
    "advantage": "largest rise of a belief",
    "belief": "largest belief",
    "storage": "what one record moved, however it is stored, as a share of each form of the guarantee",
    "two releases": "what two releases tell, as a share of what the ledger adds up",
    "together": "what one record moved all numbers of a release, as a share of the guarantee",
    "many rows": "difference between very many rows and as many times one",
    "exact advantage": "largest rise of a belief over all outputs",
    "exact belief": "largest belief over all outputs",
    "ledger": "ε charged",
    "failure": "share of the answers that told more than the limit",
    "found groups": "share of the releases that showed a group of one",
}

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

    def __post_init__(self) -> None:
        if self.kind not in MEANINGS:
            raise ValueError(f"{self.kind} is no kind of check; add its meaning to MEANINGS")

    @property
    def kind(self) -> str:
        """Its name without the number that it is about."""
        return self.name.split(",", maxsplit=1)[0]

    @property
    def meaning(self) -> str:
        """What is measured."""
        return MEANINGS[self.kind]


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
