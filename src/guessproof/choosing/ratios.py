"""An average without a public count: its error beforehand, from a public minimum of rows.

The answer is (S + a)/(N + c) for noise a on the sum and c on the count, kept within the range of what is averaged.
With the true mean μ = S/N this is off by (a − μ·c)/(N + c), and kept within the range by no more. So where |a| ≤ A,
|c| ≤ C and N ≥ n > C, the error is at most (A + M·C)/(n − C), M the largest |μ|; deviations from a centre
make M the half width. Nothing of it is read from the table, and n is not checked against it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from guessproof.noise import Noise
from guessproof.sql.formula import Output, read_ratio
from guessproof.sql.measurement import Measurement


@dataclass(frozen=True)
class RatioError:
    """An average of at least `rows` values: which measurements are its sum and its count, and what it can be."""

    total: int
    count: int
    largest: float  # of the mean's distance from the centre
    width: float
    rows: int

    @staticmethod
    def of(output: Output, rows: int) -> RatioError | None:
        """None where an output is no average of noisy numbers."""
        parts = read_ratio(output.formula)
        if parts is None:
            return None
        total, count, low, high, centre = parts
        return RatioError(total, count, max(abs(low - centre), abs(high - centre)), high - low, rows)

    def error(self, noises: Sequence[Noise], confidence: float) -> float | None:
        """What is exceeded with probability 1 − confidence at most; None where the count's noise is too wide."""
        level = 1 - (1 - confidence) / 2
        total, count = noises[self.total].error(level), noises[self.count].error(level)
        if count >= self.rows:
            return None
        return min((total + self.largest * count) / (self.rows - count) * (1 + 1e-12), self.width)

    def split(
        self, measurements: Sequence[Measurement], within: float, confidence: float
    ) -> dict[int, tuple[float, float]]:
        """How near sum and count must be, at the least ε for both.

        With A = within·n and B = within + M the sum has A − B·C left, and s₁/(A − B·C) + s₂/C is least at
        C = A/(B + √(s₁B/s₂)).
        """
        level = 1 - (1 - confidence) / 2
        whole, each = within * self.rows, within + self.largest
        first, second = (measurements[j].guarantee.sensitivity for j in (self.total, self.count))
        best = whole / (each + math.sqrt(first * each / second))
        if not measurements[self.count].is_whole:
            return {self.total: ((whole - each * best) * (1 - 1e-12), level), self.count: (best * (1 - 1e-12), level)}
        # A count is whole, and so is its noise: no more than its whole part counts.
        tried = [float(c) for c in (math.floor(best), math.ceil(best)) if whole - each * c > 0]
        near = min(tried, key=lambda c: first / (whole - each * c) + second / (c + 1))
        return {self.total: ((whole - each * near) * (1 - 1e-12), level), self.count: (max(near, 0.5), level)}
