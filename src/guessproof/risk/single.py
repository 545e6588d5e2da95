"""One attribute, one goal, one (or an array of) true values: which engine answers.

| prior            | metric                         | goal          | engine                                   |
|------------------|--------------------------------|---------------|------------------------------------------|
| any              | only a 0/1 step                | any           | two-valued: the odds change by e^{±ε·step} |
| density          | |ψ(x) − ψ(x')| (+ step)        | one interval  | tent                                     |
| density          | |ψ(x) − ψ(x')| (+ step)        | several       | zigzag                                   |
| density          | min(|ψ(x) − ψ(x')|, cap) (+ step) | one interval | table mountain                         |
| density          | anything else                  | anything      | certified cells                          |
| numbers          | |ψ(x) − ψ(x')| (+ step)        | one interval, or all but one | tent on atoms             |
| numbers          | |ψ(x) − ψ(x')| (+ step)        | any other     | zigzag on atoms (few numbers: few runs)  |
| numbers          | min(|ψ(x) − ψ(x')|, cap) (+ step) | one interval, or all but one | capped tent on atoms   |
| finite           | anything else                  | anything      | linear program                           |

A step w between any two different values multiplies the odds by exactly e^{εw}: a likelihood obeys the metric with
the step if and only if its logarithm lies within w of one that obeys the metric without it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from guessproof.errors import GoalError, TrueValueError
from guessproof.risk.limits import Belief, Gain
from guessproof.risk.sweep import Memory
from guessproof.risk.tent import log_prior, tent
from guessproof.risk.zigzag import region_log_prior, signed_zigzag
from guessproof.world.attributes import Attribute
from guessproof.world.checks import LARGEST, Array
from guessproof.world.finite import Finite
from guessproof.world.goals import Goal
from guessproof.world.line import LinePrior
from guessproof.world.line_form import LineForm

if TYPE_CHECKING:
    from guessproof.risk.zigzag_atoms import AtomZigzag


def belief_of(attribute: Attribute, goal: Goal, at: Any, *, remembers: bool = False) -> Belief:
    """The goal's prior and gains for a known true value (None for a goal that does not depend on it).

    One that remembers is asked about many ε, one after the other: zigzags are followed from one to the next.
    """
    if isinstance(attribute.prior, Finite):
        return _finite_belief(attribute, attribute.prior, goal, at, remembers)
    assert isinstance(attribute.prior, LinePrior)
    return _line_belief(attribute, attribute.prior, goal, at, remembers)


def _line_belief(attribute: Attribute, prior: LinePrior, goal: Goal, at: Any, remembers: bool) -> Belief:
    t = None if at is None else true_values(attribute, prior, at)
    intervals = goal.edges(np.asarray(0.0) if t is None else t)
    form = attribute.distance.line_form
    if all(np.all(lo == hi) for lo, hi in intervals):
        raise GoalError(
            "goal",
            goal,
            "single numbers have probability 0 under a continuous prior",
            "use within(attribute, radius)",
        )
    if len(intervals) == 1:
        lo, hi = intervals[0]
        log_p, log_q = log_prior(prior, lo, hi)
        if form is not None and np.isinf(form.cap):
            return Belief(log_p, log_q, *_tent_gain(prior, form, lo, hi, (log_p, log_q)))
        if form is not None:
            return Belief(log_p, log_q, *_capped_gain(prior, form, lo, hi, (log_p, log_q)))
    elif t is not None and t.ndim:
        raise TrueValueError("at", at, "an array of true values needs a goal of one interval", "ask one at a time")
    region = [(float(a), float(b)) for a, b in intervals] if np.ndim(intervals[0][0]) == 0 else None
    if region is None:
        raise TrueValueError("at", at, "this metric answers one true value at a time", "ask one at a time")
    log_p, log_q = region_log_prior(prior, region)
    if form is not None and np.isinf(form.cap):
        return Belief(log_p, log_q, *_zigzag_gain(prior, form, region, remembers))
    return Belief(log_p, log_q, *_cells_gain(attribute, prior, region))


def _tent_gain(prior: LinePrior, form: LineForm, lo: Array, hi: Array, before: tuple[Array, Array]) -> tuple[Gain, str]:
    def gain(k: Array) -> tuple[Array, Array]:
        if form.is_flat:
            flat = np.broadcast_to(k * form.step, np.broadcast_shapes(k.shape, lo.shape))
            return flat, flat
        attack, bound = tent(prior, form, lo, hi, k, before)
        return attack + k * form.step, bound + k * form.step

    if form.is_flat:
        return gain, "two-valued distance: the odds change by at most e^(ε·step), and some release does it"
    # Closed forms carry their rounding in the bracket; quadrature has an error that is checked but not proven.
    means = ", integrals by quadrature" if prior.by_quadrature else ""
    return gain, f"tent: the balance of both sides is bound and attack at once{means}"


def _capped_gain(
    prior: LinePrior, form: LineForm, lo: Array, hi: Array, before: tuple[Array, Array]
) -> tuple[Gain, str]:
    from guessproof.risk.capped import best_mountains  # few distances have a cap

    def gain(k: Array) -> tuple[Array, Array]:
        found = best_mountains(prior, form, lo, hi, k, before)
        return found.attack + k * form.step, found.bound + k * form.step

    means = ", integrals by quadrature" if prior.by_quadrature else ""
    return gain, f"table mountain or basin: plateau, slope and floor of the capped distance{means}"


def _zigzag_gain(
    prior: LinePrior, form: LineForm, region: list[tuple[float, float]], remembers: bool
) -> tuple[Gain, str]:
    memories = (Memory(), Memory()) if remembers else None

    def gain(k: Array) -> tuple[Array, Array]:
        if form.is_flat:
            return k * form.step, k * form.step
        attack, bound = signed_zigzag(prior, form, region, np.asarray(k), memories)
        return attack + k * form.step, bound + k * form.step

    return gain, "zigzag: peaks in the goal, valleys outside, carried along the line"


def _cells_gain(attribute: Attribute, prior: LinePrior, region: list[tuple[float, float]]) -> tuple[Gain, str]:
    from guessproof.risk.cells import cells_gain  # few distances are of no form at all

    def one(k: float) -> tuple[float, float]:
        return cells_gain(prior, attribute.distance, region, k)

    return _each(one), "certified cells: averages coupled quantile to quantile, bound re-checked from the dual"


def _each(one: Any, *fixed: Array) -> Gain:
    each = np.vectorize(one, otypes=[np.float64, np.float64])

    def gain(k: Array) -> tuple[Array, Array]:
        attack, bound = each(k, *fixed)
        return np.asarray(attack), np.asarray(bound)

    return gain


def _finite_belief(attribute: Attribute, prior: Finite, goal: Goal, at: Any, remembers: bool) -> Belief:
    chosen, shape = _chosen(attribute, prior, goal, at)
    return _belief_in(attribute, prior, chosen, shape, remembers)


def _belief_in(
    attribute: Attribute, prior: Finite, chosen: Array, shape: tuple[int, ...], remembers: bool = False
) -> Belief:
    """The belief in some of finitely many values, one row of them for each true value."""
    form = attribute.distance.line_form
    with np.errstate(divide="ignore"):
        log_p, log_q = (
            np.log(chosen @ prior.mass).reshape(shape),
            np.log((1 - chosen) @ prior.mass).reshape(shape),
        )
    if form is not None and form.is_flat:
        return Belief(log_p, log_q, *_flat_gain(form, shape))
    contiguous = prior.is_line and all(_is_run(row, prior.mass) for row in chosen)
    if form is not None and prior.is_line and not contiguous and all(_is_run(1 - row, prior.mass) for row in chosen):
        return _belief_in(attribute, prior, 1 - chosen, shape).turned
    if form is not None and np.isinf(form.cap) and contiguous:
        from guessproof.risk.atoms import atoms_log_prior

        lo, hi = _ends(prior, chosen)
        log_p, log_q = atoms_log_prior(prior, lo, hi)
        gain, how = _atoms_gain(prior, form, lo.reshape(shape), hi.reshape(shape))
        return Belief(log_p.reshape(shape), log_q.reshape(shape), gain, how)
    if form is not None and contiguous:
        from guessproof.risk.capped_atoms import capped_gain, told_apart  # few distances have a cap

        if told_apart(prior, form):
            lo, hi = _ends(prior, chosen)
            return Belief(log_p, log_q, *capped_gain(prior, form, lo.reshape(shape), hi.reshape(shape)))
    if form is not None and np.isinf(form.cap) and prior.is_line:
        zigzags = _zigzags_among(prior, form, chosen)
        if all(each.is_quick for each in zigzags):
            return Belief(log_p, log_q, *_atom_zigzag_gain(zigzags, form, shape, remembers))
    from guessproof.risk.combinations import axis_labels
    from guessproof.risk.finite import finite_belief

    labels = axis_labels(prior)
    table = attribute.distance.distance(labels[:, None], labels[None, :])
    return finite_belief(prior.mass, table, chosen.reshape((*shape, prior.mass.size)))


def _flat_gain(form: LineForm, shape: tuple[int, ...]) -> tuple[Gain, str]:
    def gain(k: Array) -> tuple[Array, Array]:
        flat = np.broadcast_to(k * form.step, np.broadcast_shapes(k.shape, shape))
        return flat, flat

    return gain, "two-valued distance: the odds change by at most e^(ε·step), and some release does it"


def _atoms_gain(prior: Finite, form: LineForm, lo: Array, hi: Array) -> tuple[Gain, str]:
    from guessproof.risk.atoms import atoms_tent

    def gain(k: Array) -> tuple[Array, Array]:
        attack, bound = atoms_tent(prior, form, lo, hi, k)
        return attack + k * form.step, bound + k * form.step

    return gain, "tent on the prior's own values"


def _zigzags_among(prior: Finite, form: LineForm, chosen: Array) -> list[AtomZigzag]:
    from guessproof.risk.atoms import Atoms
    from guessproof.risk.zigzag_atoms import AtomZigzag

    atoms = Atoms.of(prior, form)
    return [AtomZigzag(atoms, row[prior.mass > 0] > 0) for row in chosen]


def _atom_zigzag_gain(
    zigzags: list[AtomZigzag], form: LineForm, shape: tuple[int, ...], remembers: bool
) -> tuple[Gain, str]:
    places = np.arange(len(zigzags)).reshape(shape)
    memories = [(Memory(), Memory()) if remembers else None for _ in zigzags]

    def gain(k: Array) -> tuple[Array, Array]:
        k, which = np.broadcast_arrays(k, places)
        found = np.empty((2, *k.shape))
        for i, one in enumerate(zigzags):
            some = which == i
            found[:, some] = np.stack(one.signed_gain(k[some], memories[i]))
        return found[0] + k * form.step, found[1] + k * form.step

    return gain, "zigzag on the prior's own values: peaks in the goal, valleys outside, carried along the line"


def _chosen(attribute: Attribute, prior: Finite, goal: Goal, at: Any) -> tuple[Array, tuple[int, ...]]:
    """One row of correct values per true value, and the shape of the true values."""
    if at is None:
        return goal.chosen(prior, at)[None, :], ()
    labels = np.asarray(at) if isinstance(at, (list, np.ndarray)) else None
    truths = [at] if labels is None else labels.ravel().tolist()
    for value in truths:
        attribute.check_true(value, f"at[{attribute.name!r}]")
    return np.array([goal.chosen(prior, v) for v in truths]), () if labels is None else labels.shape


def _is_run(row: Array, mass: Array) -> bool:
    marks = np.flatnonzero(row[mass > 0])
    return marks.size > 0 and marks[-1] - marks[0] + 1 == marks.size


def _ends(prior: Finite, chosen: Array) -> tuple[Array, Array]:
    last = chosen.shape[1] - 1
    return prior.points[np.argmax(chosen, axis=1)], prior.points[last - np.argmax(chosen[:, ::-1], axis=1)]


def true_values(attribute: Attribute, prior: LinePrior, at: Any) -> Array:
    """The stated true values, each of which must be possible."""
    try:
        t = np.asarray(at, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        raise TrueValueError(f"at[{attribute.name!r}]", at, "is not a number", "give a number") from None
    if isinstance(at, (bool, str)) or not np.all(np.abs(t) <= LARGEST):
        raise TrueValueError(f"at[{attribute.name!r}]", at, "is not a finite number", "give a finite number")
    low, high = prior.support
    if np.any((t < low) | (t > high)) or np.any(prior.log_density(t) == -np.inf):
        raise TrueValueError(
            f"at[{attribute.name!r}]",
            at,
            "lies outside the prior",
            f"give a value that can occur, in {low:g} … {high:g}",
        )
    return t
