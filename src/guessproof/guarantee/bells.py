"""What a release with Gaussian noise tells of a number: the curve of its answer, in units of the noise.

No metric says it, since no ratio of likelihoods is bounded. Answers that are the same curve but for a factor add their
precisions: together they are one answer with less noise.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from guessproof.errors import LedgerError, MetricError
from guessproof.names import likeness
from guessproof.world import LineForm, LineMetric


@dataclass(frozen=True)
class Bell:
    """One column, ψ of it over the noise's standard deviation, what rounding adds to that, and the failure allowed."""

    column: str
    curve: LineForm
    rounding: float = 0.0
    failure: float = 0.0

    def repeated(self, times: int) -> Bell:
        """So many such answers about the same value: precisions add, as do what rounding adds and what may fail."""
        if times == 1:
            return self
        curve = self.curve.times(math.sqrt(times) * (1 + 1e-14))  # a hair above: never less than their sum
        return Bell(self.column, curve, self.rounding * times, self.failure * times)

    def to_dict(self) -> dict[str, Any]:
        """As a ledger keeps it."""
        curve = LineMetric(self.curve).to_dict()
        return {"column": self.column, "curve": curve, "rounding": self.rounding, "failure": self.failure}

    @staticmethod
    def from_dict(table: Mapping[str, Any], times: int = 1) -> Bell:
        """As it was written; one that was given several times has that much more precision."""
        try:
            failure, rounding = float(table["failure"]), float(table["rounding"])
            curve = LineMetric.from_dict(dict(table["curve"])).form
            if not 0 <= failure < 1 or not rounding >= 0 or curve.step or math.isfinite(curve.cap):
                raise ValueError
            return Bell(str(table["column"]), curve, rounding, failure).repeated(times)
        except (KeyError, TypeError, ValueError, MetricError):
            raise LedgerError(
                "what Gaussian noise told is not understood; was it written by another program?"
            ) from None


def joined_bell(bells: Sequence[Bell], column: str) -> Bell | None:
    """All answers about one column as one; None where their curves differ by more than a factor."""
    mine = [b for b in bells if likeness(b.column) == likeness(column) and not b.curve.is_flat]
    failure, rounding = math.fsum(b.failure for b in bells), math.fsum(b.rounding for b in mine)
    if not mine:
        return Bell(column, LineForm(), rounding, failure)
    first = mine[0].curve
    ratios = [_ratio(b.curve, first) for b in mine]
    if any(r is None for r in ratios):
        return None
    whole = math.hypot(*(r or 0.0 for r in ratios)) * (1 + 1e-12)
    return Bell(column, first.times(whole), rounding, failure)


def _ratio(one: LineForm, other: LineForm) -> float | None:
    """By what factor one curve is the other."""
    if one.cuts != other.cuts:
        return None
    mine, theirs = (*one.slopes, *one.jumps), (*other.slopes, *other.jumps)
    most = max(range(len(theirs)), key=lambda i: theirs[i])
    ratio = mine[most] / theirs[most]
    size = ratio * theirs[most]
    alike = all(abs(a - ratio * b) <= 1e-12 * size for a, b in zip(mine, theirs, strict=True))
    return ratio if alike else None
