"""One aggregate that gets noise."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from guessproof.sql.contribution import Contribution
from guessproof.sql.guarantee import Guarantee
from guessproof.sql.ranges import Range
from guessproof.sql.term import Condition

Kind = Literal["count", "sum", "min", "max"]


@dataclass(frozen=True)
class Measurement:
    """One aggregate that gets noise, and the guarantee of one record for it (per unit of noise scale 1).

    `divisor` is the public count behind an average: the guarantee and the noise are those of sum/divisor.
    `filter` is the aggregate's own FILTER, beside the query's WHERE.
    """

    text: str
    kind: Kind
    contribution: Contribution
    filter: Condition
    guarantee: Guarantee
    divisor: float
    grouped: bool
    account: str = ""

    @property
    def is_whole(self) -> bool:
        """Whether the answer is a whole number, so that whole noise fits."""
        return self.contribution.is_whole and self.divisor == 1

    @property
    def copies(self) -> int:
        """How many rows of one record are added up in it."""
        return self.guarantee.copies

    @property
    def range(self) -> Range:
        """What one row can contribute, rounding of floating-point arithmetic included."""
        return self.contribution.follow(self.guarantee.declared.at_rest(self.contribution.columns)).hull

    @property
    def change(self) -> float:
        """By changing one record's protected values: at most this."""
        protects = self.guarantee.declared.protects
        if protects == "records" and self.grouped:  # it may leave one group and enter another
            return 2 * self.guarantee.presence / self.divisor
        return self.guarantee.change / self.divisor

    @property
    def presence(self) -> float:
        """By adding or removing one record: at most this."""
        return self.guarantee.presence / self.divisor

    @property
    def sensitivity(self) -> float:
        """By whatever is protected: at most this."""
        return max(self.change, self.presence) if self.guarantee.declared.protects == "records" else self.change
