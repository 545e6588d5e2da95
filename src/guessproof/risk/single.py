"""One attribute, one goal, one (or an array of) true values: which engine answers.

| prior            | metric                         | goal          | engine                                   |
|------------------|--------------------------------|---------------|------------------------------------------|
| any              | only a 0/1 step                | any           | two-valued: the odds change by e^{±ε·step} |
| density, numbers | |ψ(x) − ψ(x')| (+ step)        | any           | recursion along the line                 |
| density          | min(|ψ(x) − ψ(x')|, cap) (+ step) | one interval | table mountain                         |
| density          | anything else                  | anything      | certified cells                          |
| numbers          | min(|ψ(x) − ψ(x')|, cap) (+ step) | one interval, or all but one | capped tent on atoms   |
| finite           | anything else                  | anything      | linear program                           |

A step w between any two different values multiplies the odds by exactly e^{εw}: a likelihood obeys the metric with
the step if and only if its logarithm lies within w of one that obeys the metric without it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from guessproof.errors import GoalError, TrueValueError
from guessproof.risk.limits import Belief
from guessproof.risk.line.capped import CappedTilts, binding_form, capped_ends, is_run
from guessproof.risk.line.recursion import (
    EPS,
    LineQuestion,
    LineTables,
    atom_question,
    density_question,
)
from guessproof.world.attributes import Attribute
from guessproof.world.checks import LARGEST, Array, Mask
from guessproof.world.distances import LineForm
from guessproof.world.finite import Finite
from guessproof.world.goals import Goal
from guessproof.world.line import LinePrior
from guessproof.world.pieces import spread

RECURSION = "piecewise-exponential likelihood by a recursion along the line"
CAPPED = "flat and sloped parts of the best likelihood under a cap"
CHECKED = ", with a density that is checked at samples"
WIDTH = 3e-5  # width of a gain, relative where it is below 1, up to which pieces are not divided further
DIVISIONS = 12  # rounds of halving pieces
MOST = 20_000  # pieces; more would be a question that no prior at hand asks
Pair = tuple[float, float]  # (attack, bound) of a signed gain


def belief_of(attribute: Attribute, goal: Goal, at: Any) -> Belief:
    """The goal's prior and gains for a known true value (None for a goal that does not depend on it)."""
    if isinstance(attribute.prior, Finite):
        return _finite_belief(attribute, attribute.prior, goal, at)
    assert isinstance(attribute.prior, LinePrior)
    return _line_belief(attribute, attribute.prior, goal, at)


def _line_belief(attribute: Attribute, prior: LinePrior, goal: Goal, at: Any) -> Belief:
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
    ends = np.stack(
        [np.stack(np.broadcast_arrays(a, b), axis=-1) for a, b in intervals], axis=-2
    )
    shape = ends.shape[:-2]
    bare = LineForm() if form is None else binding_form(prior, form)
    regions = ends.reshape(-1, *ends.shape[-2:])
    questions = [
        density_question(prior, bare, region, capped_ends(bare, region)) for region in regions
    ]
    if form is not None and (answer := _of_questions(questions, shape)) is not None:
        return answer
    if t is not None and t.ndim:
        raise TrueValueError(
            "at", at, "this metric answers one true value at a time", "ask one at a time"
        )
    from guessproof.risk.cells import cells_gain  # few distances are of no form at all

    region = [(float(a), float(b)) for a, b in intervals]
    return _belief(
        np.array(questions[0].log_prior),
        lambda k, _: cells_gain(prior, attribute.distance, region, k),
        "certified cells: averages coupled quantile to quantile, bound re-checked from the dual",
    )


def _of_questions(questions: list[LineQuestion], shape: tuple[int, ...]) -> Belief | None:
    """The belief in goals on a line, where an engine of the line answers."""
    form = questions[0].form
    before = np.array([question.log_prior for question in questions]).T.reshape(2, *shape)
    if form.is_flat:
        return _flat_belief(before, form.step)
    runs = all(is_run(question.goal) or is_run(~question.goal) for question in questions)
    if np.isfinite(form.cap) and not runs:
        return None
    sides = [(question, question.complement) for question in questions]
    how = RECURSION if np.isinf(form.cap) else CAPPED

    def one(k: float, i: int) -> Pair:
        attack, bound = line_gain(sides[i][int(k < 0)], abs(float(k)))
        sign, extra = (1 if k >= 0 else -1), abs(k) * form.step
        return sign * (attack + extra), sign * (bound + extra)

    return _belief(before, one, how if questions[0].pieces.proven else how + CHECKED)


def _flat_belief(before: Array, step: float) -> Belief:
    how = "two-valued distance: the odds change by at most e^(ε·step), and some release does it"
    return _belief(before, lambda k, _: (k * step, k * step), how)


def _belief(before: Array, one: Callable[[float, int], Pair], how: str) -> Belief:
    """A belief whose gain is asked one by one: of k = ±ε and the number of the true value."""
    which = np.arange(before[0].size).reshape(before[0].shape)
    each = np.vectorize(one, otypes=[np.float64, np.float64])

    def gain(k: Array) -> tuple[Array, Array]:
        attack, bound = each(k, which)
        return np.asarray(attack), np.asarray(bound)

    return Belief(before[0], before[1], gain, how)


def line_gain(question: LineQuestion, epsilon: float) -> Pair:
    """Attack and bound of ln(posterior odds / prior odds); pieces are divided where these would be too far apart."""
    attack = bound = 0.0
    for _ in range(DIVISIONS if epsilon > 0 and not question.flat else 0):
        attack, bound, heights = _bracket(question, epsilon)
        room = WIDTH * min(bound, 1.0)
        if bound - attack <= room or np.isinf(bound):
            break
        coarse = _coarse(question, epsilon, heights, room)
        if not coarse.any() or question.goal.size + coarse.sum() > MOST:
            break
        question = question.on(question.pieces.halved(coarse))
    return max(attack, 0.0), bound


def _bracket(question: LineQuestion, epsilon: float) -> tuple[float, float, Array]:
    """Attack and bound of a gain, rounding included, and about ln L on each piece."""
    cap = question.form.cap
    if np.isinf(cap):
        tables = LineTables(question, epsilon, bound=False)
        attack, bound = tables.log_odds(), LineTables(question, epsilon).log_odds()
        heights = tables.heights(attack)
    else:
        rises = is_run(question.goal)
        first, last = np.flatnonzero(question.goal == rises)[[0, -1]]
        sign = 1 if rises else -1
        found = CappedTilts(question, epsilon).bracket(
            np.array([first]), np.array([last + 1]), rises
        )
        attack, bound = (sign * float(odds[0]) for odds in found)
        left, right = question.position
        outwards = np.maximum(left[first] - left, right - right[last])
        heights = -sign * epsilon * np.clip(outwards, -cap, cap)
    before = question.log_prior[0] - question.log_prior[1]
    size = abs(before) + (abs(bound) if np.isfinite(bound) else 0.0)
    slack = EPS * (8 + question.goal.size / 8 + 4 * size)
    return attack - before - slack, bound - before + slack, heights


def _coarse(question: LineQuestion, epsilon: float, heights: Array, room: float) -> Mask:
    """Which pieces to divide so that the bracket gets that narrow."""
    goal, pieces, (left, right) = question.goal, question.pieces, question.position
    share = pieces.log_mass + heights
    for some in (goal, ~goal):
        share[some] -= np.logaddexp.reduce(share[some])
    errors = 2 * np.exp(share) * spread(epsilon * (right - left), pieces.osc)
    allowed = 0.25 * room / max(1, int(np.count_nonzero(errors > EPS)))
    return errors > allowed


def _finite_belief(attribute: Attribute, prior: Finite, goal: Goal, at: Any) -> Belief:
    """The belief in some of finitely many values, one row of them for each true value."""
    chosen, shape = _chosen(attribute, prior, goal, at)
    form = attribute.distance.line_form
    if form is not None and prior.is_line:
        bare = binding_form(prior, form)
        answer = _of_questions([atom_question(prior, bare, row) for row in chosen], shape)
        if answer is not None:
            return answer
    elif form is not None and form.is_flat:
        with np.errstate(divide="ignore"):
            before = np.log(
                np.array([chosen @ prior.mass, (1 - chosen) @ prior.mass]).reshape(2, *shape)
            )
        return _flat_belief(before, form.step)
    from guessproof.risk.combinations import axis_labels
    from guessproof.risk.finite import finite_belief

    labels = axis_labels(prior)
    table = attribute.distance.distance(labels[:, None], labels[None, :])
    return finite_belief(prior.mass, table, chosen.reshape((*shape, prior.mass.size)))


def _chosen(
    attribute: Attribute, prior: Finite, goal: Goal, at: Any
) -> tuple[Array, tuple[int, ...]]:
    """One row of correct values per true value, and the shape of the true values."""
    if at is None:
        return goal.chosen(prior, at)[None, :], ()
    labels = np.asarray(at) if isinstance(at, (list, np.ndarray)) else None
    truths = [at] if labels is None else labels.ravel().tolist()
    for value in truths:
        attribute.check_true(value, f"at[{attribute.name!r}]")
    return np.array(
        [goal.chosen(prior, v) for v in truths]
    ), () if labels is None else labels.shape


def true_values(attribute: Attribute, prior: LinePrior, at: Any) -> Array:
    """The stated true values, each of which must be possible."""
    try:
        t = np.asarray(at, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        raise TrueValueError(
            f"at[{attribute.name!r}]", at, "is not a number", "give a number"
        ) from None
    if isinstance(at, (bool, str)) or not np.all(np.abs(t) <= LARGEST):
        raise TrueValueError(
            f"at[{attribute.name!r}]", at, "is not a finite number", "give a finite number"
        )
    low, high = prior.support
    if np.any((t < low) | (t > high)) or np.any(prior.log_density(t) == -np.inf):
        raise TrueValueError(
            f"at[{attribute.name!r}]",
            at,
            "lies outside the prior",
            f"give a value that can occur, in {low:g} … {high:g}",
        )
    return t
