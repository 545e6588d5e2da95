"""One aggregate that gets noise."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from guessproof.guarantee import Guarantee
from guessproof.sql.contribution import Contribution
from guessproof.sql.declared import Declared
from guessproof.sql.ranges import Range
from guessproof.sql.term import Condition

Kind = Literal["count", "sum", "min", "max"]


@dataclass(frozen=True)
class Measurement:
    """One aggregate that gets noise, and the guarantee of one protected unit for what the engine adds up.

    `divisor` is the public count behind an average: the answer is the noisy sum over it.
    `filter` is the aggregate's own FILTER, beside the query's WHERE.
    """

    text: str
    kind: Kind
    contribution: Contribution
    filter: Condition
    guarantee: Guarantee
    declared: Declared
    divisor: float
    copies: int = 1  # how many rows of one record are added up in it
    account: str = ""

    @property
    def is_whole(self) -> bool:
        """Whether the answer is a whole number, so that whole noise fits."""
        return self.contribution.is_whole and self.divisor == 1

    @property
    def range(self) -> Range:
        """What one row can contribute, rounding of floating-point arithmetic included."""
        return self.contribution.follow(self.declared.at_rest(self.contribution.columns)).hull

    @property
    def per_answer(self) -> Guarantee:
        """The guarantee in units of the answer."""
        return self.guarantee.scaled(1 / self.divisor)
