"""How far above a straight line a curve can lie between two ε, by what is known of likelihoods and of the belief.

Tents, at one true value, beside a density or finitely many numbers; all peaks, at the worst true value of a sample;
elsewhere only how far apart two values can be, which holds for every likelihood and every prior.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from guessproof.risk.atom_gaps import gap_of_peaks, gap_of_rest
from guessproof.risk.atoms import Atoms, correct_run
from guessproof.risk.attack import Attack
from guessproof.risk.capped import Hills
from guessproof.risk.capped_gaps import Part, gap_of_hills
from guessproof.risk.gaps import gap_across, gap_of_tents, room_of_beliefs
from guessproof.risk.misjudged.answer import farthest
from guessproof.risk.misjudged.odds import with_odds_of
from guessproof.risk.misjudged.tents import Move
from guessproof.risk.ramp import Ramp
from guessproof.risk.rising import Room
from guessproof.risk.tent import TiltedIntegrals
from guessproof.risk.truth_search import Direction
from guessproof.risk.zigzag import components, left_out
from guessproof.risk.zigzag_atoms import AtomZigzag
from guessproof.risk.zigzag_gaps import ZigzagPart, atom_parts, density_parts, gap_of_zigzags
from guessproof.world.checks import Array
from guessproof.world.finite import Finite
from guessproof.world.goals import combine
from guessproof.world.line import LinePrior
from guessproof.world.line_form import LineForm
from guessproof.world.priors import PartlyKnown, Unknown


def by_tents(attack: Attack) -> bool:
    """Whether the best likelihoods are tents: one number with a density, one interval, a distance without a cap."""
    cap = _cap_beside_interval(attack)
    return cap is not None and math.isinf(cap)


def by_hills(attack: Attack) -> bool:
    """Whether they are mountains: the same with a cap."""
    cap = _cap_beside_interval(attack)
    return cap is not None and math.isfinite(cap)


def _cap_beside_interval(attack: Attack) -> float | None:
    """The cap of the distance, for one number with a density and one interval; None elsewhere."""
    if attack.several is not None or not isinstance(attack.attribute.prior, LinePrior):
        return None
    form = attack.attribute.distance.line_form
    if form is None or form.is_flat or len(attack.goal.edges(np.asarray(0.0))) != 1:
        return None
    return form.cap


def room_of(attack: Attack, direction: Direction) -> Room:
    """How far above the straight line: for the belief itself or for the advantage, and for both ways where asked."""
    across = _across(attack)
    if attack.several is not None or isinstance(attack.attribute.prior, (Unknown, PartlyKnown)):
        return lambda first, second, bound: gap_across(across, first, second)  # a belief is at most 1
    gaps = gaps_of(attack, across)
    rooms = [_RoomOfBelief(attack, gaps, direction, sign) for sign in ((1, -1) if direction == "fall" else (1,))]

    def room(first: Array, second: Array, bound: tuple[Array, Array]) -> Array:
        found = np.max([each.between(first, second, bound) for each in rooms], axis=0)
        return np.minimum(found, gap_across(across, first, second))

    return room


Gaps = Callable[[Array, Array, int], tuple[Array, Array]]  # two ε, a rise or a fall → g of all values, g of the rest


def gaps_of(attack: Attack, across: float) -> Gaps:
    """What is known of the best likelihoods: that they are tents, or only how far apart two values are."""
    peaks, factor = peaks_of(attack), attack.prior_factor
    run = run_of(attack) if math.isfinite(factor) else None
    ramp = ramp_of(attack) if math.isfinite(factor) else None
    if ramp is not None and ramp.beyond is None:  # where a goal ends, other likelihoods may tell most
        return lambda first, second, sign: (ramp if sign > 0 else ramp.rest).gaps(first, second, factor)
    if peaks is not None:
        lo, hi = peaks.ends

        def of_densities(first: Array, second: Array, sign: int) -> tuple[Array, Array]:
            parts = (peaks.world, np.asarray(lo), np.asarray(hi), first, second, sign * peaks.way, factor)
            return gap_of_tents(*parts), gap_of_tents(*parts, (lo, hi))

        return of_densities

    if by_hills(attack) and attack.known_truth and math.isfinite(factor):
        return _gaps_of_hills(attack, across)
    zigzags = zigzags_of(attack) if math.isfinite(factor) else None
    if zigzags is not None:
        return _gaps_of_zigzags(zigzags, factor, across)

    def of_run(first: Array, second: Array, sign: int) -> tuple[Array, Array]:
        assert run is not None
        ends = run.atoms, run.ends, first, second
        rest = gap_of_rest(*ends) if sign * run.way > 0 else gap_of_peaks(*ends, -1)
        return np.full(first.shape, np.inf), factor * rest

    runs = None if attack.known_truth or factor > 1 or not isinstance(attack.attribute.prior, Finite) else attack.runs

    def of_runs(first: Array, second: Array, sign: int) -> tuple[Array, Array]:
        assert runs is not None
        everyone = 0, runs.atoms.mass.size - 1
        return gap_of_peaks(runs.atoms, everyone, first, second, sign, runs.step), gap_across(across, first, second)

    def of_distances(first: Array, second: Array, sign: int) -> tuple[Array, Array]:
        _ = sign
        gap = gap_across(across, first, second)  # whatever the prior is
        return gap, gap

    return of_run if run is not None else of_distances if runs is None else of_runs


def _gaps_of_hills(attack: Attack, across: float) -> Gaps:
    """What mountains tell, or how far apart two values are where that is less."""
    prior, form = attack.attribute.prior, attack.attribute.distance.line_form
    assert isinstance(prior, LinePrior)
    assert form is not None
    hills, edges = Hills.of(prior, form), _goal_ends(attack, prior)
    if not all(math.isfinite(e) for e in edges) or any(form.jumps) or form.step:

        def of_distances(first: Array, second: Array, sign: int) -> tuple[Array, Array]:
            del sign
            gap = gap_across(across, first, second)
            return gap, gap

        return of_distances

    def of_hills(first: Array, second: Array, sign: int) -> tuple[Array, Array]:
        goal, gap = (np.full(first.shape, edges[0]), np.full(first.shape, edges[1])), gap_across(across, first, second)
        found = (gap_of_hills(hills, goal, (first, second), sign, part, goal) for part in ("all", _compared(sign)))
        whole, rest = (np.fmin(gap, attack.prior_factor * each) for each in found)
        return whole, rest

    return of_hills


def zigzags_of(attack: Attack) -> list[ZigzagPart] | None:
    """Where goal and rest are, if the best likelihoods are zigzags; None elsewhere."""
    prior, form = attack.attribute.prior, attack.attribute.distance.line_form
    if attack.several is not None or not attack.known_truth:
        return None
    if form is None or form.is_flat or not math.isinf(form.cap):
        return None
    if isinstance(prior, Finite):
        return _zigzags_among(attack, prior, form)
    if not isinstance(prior, LinePrior):
        return None
    if by_tents(attack) and all(math.isfinite(end) for end in _goal_ends(attack, prior)):
        return None  # tents are told more of; but one that goes on without an end may peak anywhere
    pieces = components(prior, _edges(attack))
    return density_parts(TiltedIntegrals(prior, form), pieces) if len({goal for *_, goal in pieces}) > 1 else None


def _zigzags_among(attack: Attack, prior: Finite, form: LineForm) -> list[ZigzagPart] | None:
    if not prior.is_line or run_of(attack) is not None:
        return None
    marks = attack.goal.chosen(prior, attack.true_value)[prior.mass > 0] > 0
    among = AtomZigzag(Atoms.of(prior, form), marks)
    return atom_parts(among) if marks.any() and not marks.all() and among.is_quick else None


def _gaps_of_zigzags(parts: list[ZigzagPart], factor: float, across: float) -> Gaps:
    """What zigzags tell of the rest (of the goal, where it falls), or how far apart two values are if that is less."""

    def of_zigzags(first: Array, second: Array, sign: int) -> tuple[Array, Array]:
        gap = gap_across(across, first, second)
        return gap, np.fmin(gap, factor * gap_of_zigzags(parts, first, second, sign))

    return of_zigzags


def _compared(sign: int) -> Part:
    """What a belief is compared with: the rest where it rises, the goal itself where it falls."""
    return "rest" if sign > 0 else "goal"


class Run(NamedTuple):
    """The first and the last of a run of numbers; way −1 where the goal is all others."""

    atoms: Atoms
    ends: tuple[int, int]
    way: Move


def run_of(attack: Attack) -> Run | None:
    """The correct ones among finitely many numbers, or the others, where they are a run and the best likelihoods are
    tents."""
    prior, form = attack.attribute.prior, attack.attribute.distance.line_form
    if attack.several is not None or not attack.known_truth or form is None or not math.isinf(form.cap) or form.is_flat:
        return None
    if isinstance(prior, LinePrior):
        return None if any(form.slopes) or not by_tents(attack) else _lumped(prior, form, *_goal_ends(attack, prior))
    if not isinstance(prior, Finite) or not prior.is_line:
        return None
    marks = attack.goal.chosen(prior, attack.true_value)
    for chosen, way in ((marks, 1), (1 - marks, -1)):
        run = correct_run(prior, chosen)
        if run is not None:
            return Run(Atoms.of(prior, form), run, 1 if way > 0 else -1)
    return None


def _lumped(prior: LinePrior, form: LineForm, lo: float, hi: float) -> Run | None:
    """A density where ψ only jumps: all values of goal or rest between two jumps are as good as one."""
    cuts = np.unique(np.clip([*prior.support, *form.cuts, lo, hi], *prior.support))
    left, right = cuts[:-1], cuts[1:]
    mass = np.asarray(prior.mass(left, right))
    some = mass > 0
    inside = np.flatnonzero((left[some] >= lo) & (right[some] <= hi))
    if not inside.size:
        return None
    # ψ at the right end of a part is that within it: jumps are taken just above their cuts.
    return Run(Atoms(right[some], mass[some], form.psi(right[some])), (int(inside[0]), int(inside[-1])), 1)


@dataclass(frozen=True)
class _RoomOfBelief:
    """Between two ε: what is known of likelihoods, and of the belief before, for a rise or a fall (sign −1)."""

    attack: Attack
    gaps: Gaps
    direction: Direction
    sign: int

    def between(self, first: Array, second: Array, bound: tuple[Array, Array]) -> Array:
        whole, rest = self.gaps(first, second, self.sign)
        top = 1 - self.before[0]
        bound = np.minimum(bound[0], top), np.minimum(bound[1], top)
        most = self._most(first, bound[0]), self._most(second, bound[1])
        return room_of_beliefs(whole, rest, self.before, bound, most)

    @cached_property
    def before(self) -> tuple[float, float]:
        """Between which beliefs a rise starts; where it is no rise but the belief itself, from 0."""
        if self.direction == "posterior":
            return 0.0, 0.0
        attack, factor = self.attack, self.attack.prior_factor
        if attack.known_truth:
            low, high = (float(with_odds_of(float(attack.prior), f)) for f in (1 / factor, factor))
        else:
            low, high = 0.0, self._most_before
        return (low, high) if self.sign > 0 else (1 - high, 1 - low)

    @property
    def _most_before(self) -> float:
        """The largest belief before, over all true values; of runs those that are certain have nothing to rise."""
        attack = self.attack
        runs = attack.runs if isinstance(attack.attribute.prior, Finite) and attack.prior_factor == 1 else None
        if runs is not None and runs.at.size and self.sign > 0:
            return min(float(np.exp(np.max(runs.log_prior[0]))) * (1 + 1e-12), 1.0)
        return float(attack.posterior(0.0).bound)

    def _most(self, epsilon: Array, bound: Array) -> Array:
        """The belief after it at most."""
        attack = self.attack
        if attack.prior_factor == 1 or not attack.known_truth:
            return np.minimum(self.before[1] + bound, 1.0)
        side = "upper" if self.sign > 0 else "lower"
        found = np.asarray(attack.posterior(epsilon, side).bound)
        return found if self.sign > 0 else 1 - found


def ramp_of(attack: Attack) -> Ramp | None:
    """The goal at one true value, where it reaches to an end of what is possible; None elsewhere."""
    prior, form = attack.attribute.prior, attack.attribute.distance.line_form
    if not by_tents(attack) or not attack.known_truth or not isinstance(prior, LinePrior) or form is None:
        return None
    return Ramp.of(prior, form, *_goal_ends(attack, prior))


@dataclass(frozen=True)
class PeakRange:
    """Between which values tents peak at one true value; way −1 where the goal is all but these."""

    world: TiltedIntegrals
    ends: tuple[float, float]
    way: Move


def peaks_of(attack: Attack) -> PeakRange | None:
    """The one interval that is the goal at one true value, or all but the goal; None elsewhere."""
    prior, form = attack.attribute.prior, attack.attribute.distance.line_form
    if attack.several is not None or not isinstance(prior, LinePrior) or not attack.known_truth:
        return None
    if form is None or not any(form.slopes) or math.isfinite(form.cap):
        return None
    between = left_out(prior, _edges(attack))
    low, high = _goal_ends(attack, prior) if between is None else between
    finite = math.isfinite(low) and math.isfinite(high) and (between is not None or by_tents(attack))
    return PeakRange(TiltedIntegrals(prior, form), (low, high), 1 if between is None else -1) if finite else None


def _edges(attack: Attack) -> list[tuple[float, float]]:
    """The intervals of correct guesses at one true value."""
    truth = attack.true_value
    return [(float(a), float(b)) for a, b in attack.goal.edges(np.asarray(0.0 if truth is None else float(truth)))]


def _goal_ends(attack: Attack, prior: LinePrior) -> tuple[float, float]:
    """One interval of correct guesses at one true value, as far as the prior reaches."""
    (lo, hi), *_ = _edges(attack)
    return max(lo, prior.support[0]), min(hi, prior.support[1])


def _across(attack: Attack) -> float:
    sizes = [farthest(a) for a in attack.conditioned.values()]
    return float(combine(attack.norm, sizes))
