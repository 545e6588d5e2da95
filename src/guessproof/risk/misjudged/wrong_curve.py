"""The worst true value under a prior that may be wrong: a curve of all ε answers for one, where there is one.

It takes as long as one proof by boxes at one ε and is closer; where bounds bend the distance or integrals are
quadratures, it takes a tenth of it. Every further question is looked up.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from guessproof.risk.misjudged.at_one_epsilon import AtOneEpsilon
from guessproof.risk.misjudged.looked_up import CLOSE, LookedUp
from guessproof.risk.misjudged.lumped_runs import MisjudgedAlongLumps
from guessproof.risk.misjudged.tents import Move
from guessproof.risk.misjudged.truth_curve import along_truths, curve_of_truths, proven_at
from guessproof.risk.misjudged.wrong_prior import WrongAnywhere
from guessproof.risk.rising import Rising
from guessproof.risk.truth_search import TruthSearch


def moves_on_a_line(search: TruthSearch, move: Move) -> bool:
    """Whether a curve of all true values is worth its time.

    Where integrals are quadratures, boxes are worth theirs only if the density and its slope are known everywhere; and
    in tails that are heavy a valley has no integral.
    """
    if not search.moves_forwards:
        return False
    if not search.fixed_radius and not (math.isfinite(search.low) and math.isfinite(search.high)):
        return False
    prior = search.prior
    known = [prior.density_range(*prior.support)[1], *prior.density_slopes(*prior.quantile([0.1, 0.9]))]
    flat = search.form.slopes[0] == 0, search.form.slopes[-1] == 0  # beyond a bound a valley is no deeper
    ends = [end for end, level in zip(prior.support, flat, strict=True) if not level]
    known += [np.asarray(ends)] if move < 0 else []
    return not prior.by_quadrature or all(np.all(np.isfinite(v)) for v in known)


@dataclass(frozen=True)
class WrongCurve(LookedUp, WrongAnywhere):
    """The same as `WrongAnywhere`, looked up where a curve knows it."""

    attacks: dict[tuple[float, float, Move], float] = field(
        default_factory=dict[tuple[float, float, Move], float], kw_only=True, repr=False, compare=False
    )  # what those that a curve starts from reach, by factor, ε and move

    def reached(self, epsilon: float, move: Move) -> float:
        found = super().reached(epsilon, move)
        if math.isinf(self.factor) or not moves_on_a_line(self.search, move):
            return found
        key = self.factor, epsilon, move
        if key not in self.attacks:
            along = along_truths(self.search, self.factor, move)
            self.attacks[key] = float(along.rough(np.array([epsilon]))[0])
        return max(found, self.attacks[key])

    def limit(self, epsilon: float, move: Move) -> float:
        least, most = self.bounds(epsilon, move)
        whatever = math.tanh(epsilon * self.widths.across / 4)
        if least == most:
            return min(least, whatever)
        closer = self._on_cells(epsilon, move)
        found = super().limit(epsilon, move) if closer is None else closer
        return min(max(found, least), most, whatever)

    def _on_cells(self, epsilon: float, move: Move) -> float | None:
        """What bounds one ε beyond a curve where a distance only jumps; None where it is not proven."""
        if epsilon == 0 or math.isinf(self.factor) or not moves_on_a_line(self.search, move):
            return None
        along = along_truths(self.search, self.factor, move)
        bound = proven_at(along, epsilon)[1] if isinstance(along, MisjudgedAlongLumps) else 1.0
        return bound if bound < 1 else None

    def largest_factor(self, epsilon: float, limit: float, move: Move) -> float:
        """What is proven at once, or more where boxes prove it within a second or two."""
        quick, form = self.quick_factor(epsilon, limit, move), self.search.form
        slow = any(form.jumps) or (self.search.prior.by_quadrature and not form.is_straight)
        if math.isinf(quick) or slow or not moves_on_a_line(self.search, move):
            return quick
        alone = AtOneEpsilon(lambda factor: along_truths(self.search, factor, move), epsilon, limit)
        return max(quick, alone.largest_factor(quick))

    def has_curve(self, move: Move) -> bool:
        return moves_on_a_line(self.search, move)

    def made(self, move: Move, after: float) -> Rising | None:
        found = curve_of_truths(self.search, self.factor, move, self.start, after=after or None)
        return None if found is None else found.close(CLOSE)
