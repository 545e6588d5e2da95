"""A density under a distance that only jumps: cells of values, which are as good as one, make it a sample.

Between two jumps all values are equally far from any other. So cells that end at the edges of some goals are numbers,
and these goals are runs of them (`along_runs`). A true value between two of these has a goal between two runs: as in
`sample_boxes` it is told by how far its edges are off the chord of what both have passed. With strips of masses Z and
Z', of which they have passed the shares u and u', that is Z·Z'·|u − u'|/(Z + Z'). Along a strip whose density lies
between b and B, a share u differs from that of the way by (√B − √b)/(√B + √b) at most.
"""

from __future__ import annotations

import math

import numpy as np

from guessproof.risk.atoms import Atoms
from guessproof.risk.misjudged.along_runs import MisjudgedAlongRuns
from guessproof.risk.misjudged.odds import with_odds_of
from guessproof.risk.misjudged.tents import Move
from guessproof.risk.misjudged.truth_boxes import SLIVER
from guessproof.risk.truth_search import TruthSearch
from guessproof.risk.worst_atoms import Runs
from guessproof.world.checks import Array

_CELLS = 3000  # of even mass, at whose ends goals begin or end
_TAIL, _RATIO = 1e-13, 1.1  # of the prior: the least that a goal holds at first, and by how much that grows
_FEWEST = 8  # goals
_ROUNDING = 1e-14  # of masses


class MisjudgedAlongLumps(MisjudgedAlongRuns):
    """All true values of a search, under a distance that only jumps."""

    def __init__(self, runs: Runs, between: Array, beyond: float, factor: float, move: Move) -> None:
        super().__init__(runs, factor, move, between)
        self._beyond = beyond

    @classmethod
    def of(cls, search: TruthSearch, factor: float, move: Move) -> MisjudgedAlongLumps | None:
        """None where some goal between two others is empty or certain."""
        prior, form = search.prior, search.form
        even = np.linspace(0.0, 1.0, _CELLS + 1)[1:-1]
        tail = _TAIL * _RATIO ** np.arange(math.ceil(math.log(even[0] / _TAIL) / math.log(_RATIO)))
        known = np.array([b for b in (*prior.breaks, *form.cuts, *prior.support) if np.isfinite(b)])
        places = np.concatenate([prior.quantile(np.concatenate([tail, even])), prior.quantile(1 - tail), known])
        t = search.truths_with_edges_at(places)
        ends = [end for end in (search.low, search.high) if np.isfinite(end)]
        t = np.unique(np.concatenate([t[(t >= search.low) & (t <= search.high)], ends]))
        lo, hi = (np.clip(edge, *prior.support) for edge in search.edges(t))
        cells = np.unique(np.concatenate([prior.support, form.cuts, lo, hi]))
        cells = cells[(cells >= prior.support[0]) & (cells <= prior.support[1])]
        mass = np.asarray(prior.mass(cells[:-1], cells[1:]))
        below = np.append(0, np.cumsum(mass > 0))  # how many cells that hold something begin before each end
        first, last = below[np.searchsorted(cells, lo)], below[np.searchsorted(cells, hi)] - 1
        some = np.flatnonzero((last >= first) & (prior.mass(lo, hi) >= _TAIL))
        whole = (first == 0) & (last == below[-1] - 1)
        if some.size < _FEWEST or np.any(np.diff(some) > 1) or whole.any():
            return None
        atoms = Atoms(cells[1:][mass > 0], mass[mass > 0] / np.sum(mass), form.psi(cells[1:][mass > 0]))
        t, lo, hi, first, last = t[some], lo[some], hi[some], first[some], last[some]
        new = np.append(True, (np.diff(first) != 0) | (np.diff(last) != 0))
        between = _between(search, lo[new], hi[new])
        runs = Runs(atoms, form.step, t[new], first[new], last[new])
        # Goals further out lie below the upper edge of the first one, or above the lower edge of the last.
        outer = float(prior.mass(prior.support[0], hi[0])) if t[0] != search.low else 0.0
        outer = max(outer, float(prior.mass(lo[-1], prior.support[1])) if t[-1] != search.high else 0.0)
        return cls(runs, between, outer, factor, move)

    def range_of(self, epsilon: Array, line: Array) -> tuple[float, float] | None:
        """All runs, where goals further out hold too little to exceed a line."""
        if self._beyond > 0:
            told = math.exp(min(float(epsilon[-1]) * (self.world.across + self.world.step), 700.0))
            most = float(with_odds_of(min(self._beyond, 0.5), self.factor * (told if self.move > 0 else 1.0)))
            if most > line[0]:
                return None
        return super().range_of(epsilon, line)


def _between(search: TruthSearch, lo: Array, hi: Array) -> Array:
    """By how much an edge of a goal between two others may be off its chord."""
    prior, strips = search.prior, [(edge[:-1], edge[1:]) for edge in (lo, hi)]
    masses, uneven = [prior.mass(a, b) for a, b in strips], np.zeros(lo.size - 1)
    for a, b in strips:
        hidden = SLIVER * (np.abs(a) + np.abs(b))  # strips end where a density jumps: rounding must not pass that
        least, most = (np.sqrt(v) for v in prior.density_range(np.minimum(a + hidden, b), np.maximum(b - hidden, a)))
        with np.errstate(all="ignore"):
            share = (most - least) / (most + least)
        uneven += np.where(a < b, np.where(np.isnan(share), 1.0, share), 0.0)
    with np.errstate(all="ignore"):
        both = masses[0] * masses[1] / (masses[0] + masses[1])
    return np.nan_to_num(both) * np.minimum(uneven, 1.0) + _ROUNDING
