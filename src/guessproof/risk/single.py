"""One attribute, one goal, one (or an array of) true values: which engine answers.

| prior            | metric                         | goal          | engine                                   |
|------------------|--------------------------------|---------------|------------------------------------------|
| density, numbers | |ψ(x) − ψ(x')| (+ step)        | any           | recursion along the line                 |
| density, numbers | min(|ψ(x) − ψ(x')|, cap) (+ step) | one interval, or all but one | ramps and a plateau    |
| labels           | only a 0/1 step                | any           | recursion: all gains are ε·step          |
| density          | anything else                  | any           | linear program on cells                  |
| finite           | anything else                  | any           | linear program                           |

A step w between any two different values multiplies the odds by exactly e^{εw}: a likelihood obeys the metric with
the step if and only if its logarithm lies within w of one that obeys the metric without it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from guessproof.errors import GoalError, TrueValueError
from guessproof.risk.bracket import agreed
from guessproof.risk.combinations import axis_labels
from guessproof.risk.finite.worlds import finite_belief, solve
from guessproof.risk.limits import Belief
from guessproof.risk.line.recursion import (
    EPS,
    LineQuestion,
    LineTables,
    atom_question,
    density_question,
)
from guessproof.risk.line.tent import CappedTilts, binding_form, capped_ends, is_run
from guessproof.world.attributes import Attribute
from guessproof.world.checks import LARGEST, Array, quiet
from guessproof.world.distances import LineForm, Metric
from guessproof.world.finite import Finite
from guessproof.world.goals import Goal
from guessproof.world.line import LinePrior
from guessproof.world.pieces import pieces_of, spread

RECURSION = "piecewise-exponential likelihood by a recursion along the line"
CAPPED = "flat and sloped parts of the best likelihood under a cap"
CHECKED = ", with a density that is checked at samples"
WIDTH = 3e-5  # width of a gain, relative where it is below 1, up to which pieces are not divided further
DIVISIONS = 12  # rounds of halving pieces
NARROW = 1e-5  # of a gain: by how much the masses of one piece may be off before it is halved
ROUNDING = 1e-12  # of a gain: what no division helps against
CELLS = 300  # of a line; programs on them take about 0.1 s
PARTS = 8  # of a cell: distances from its middle are off by a part's width at most
FAR = 1e-7  # mass on each side that lies beyond the cells of equal width
Pair = tuple[float, float]  # (attack, bound) of a signed gain


def belief_of(attribute: Attribute, goal: Goal, at: Any) -> Belief:
    """The goal's prior and gains for a known true value (None for a goal that does not depend on it)."""
    if isinstance(attribute.prior, Finite):
        return _finite_belief(attribute, attribute.prior, goal, at)
    assert isinstance(attribute.prior, LinePrior)
    return _line_belief(attribute, attribute.prior, goal, at)


def _line_belief(attribute: Attribute, prior: LinePrior, goal: Goal, at: Any) -> Belief:
    t = np.asarray(0.0) if at is None else true_values(attribute, prior, at)
    intervals, metric = goal.edges(t), attribute.distance
    if all(np.all(lo == hi) for lo, hi in intervals):
        raise GoalError(
            "goal",
            goal,
            "single numbers have probability 0 under a continuous prior",
            "use within(attribute, radius)",
        )
    pairs = [np.stack(np.broadcast_arrays(a, b), axis=-1) for a, b in intervals]
    ends = np.stack(pairs, axis=-2)
    regions = ends.reshape(-1, *ends.shape[-2:])
    form = binding_form(prior, metric.line_form or LineForm())
    questions = [
        density_question(prior, form, region, capped_ends(form, region)) for region in regions
    ]
    if metric.line_form is not None and _has_path(questions):
        return _of_questions(questions, ends.shape[:-2])
    return _belief(
        questions,
        ends.shape[:-2],
        lambda k, i: cells_gain(prior, metric, regions[i], k),
        "a finite world of cells, bound re-checked from its dual",
    )


def _has_path(questions: list[LineQuestion]) -> bool:
    """Whether an engine of the line answers: under a cap only goals of one interval, or all but one."""
    return np.isinf(questions[0].form.cap) or all(
        is_run(question.goal) or is_run(~question.goal) for question in questions
    )


def _of_questions(questions: list[LineQuestion], shape: tuple[int, ...]) -> Belief:
    """The belief in goals on a line."""
    form = questions[0].form
    sides = [(question, question.complement) for question in questions]
    how = RECURSION if np.isinf(form.cap) else CAPPED

    def one(k: float, i: int) -> Pair:
        attack, bound = line_gain(sides[i][int(k < 0)], abs(float(k)))
        sign, extra = (1 if k >= 0 else -1), abs(k) * form.step
        return sign * (attack + extra), sign * (bound + extra)

    return _belief(questions, shape, one, how if questions[0].pieces.proven else how + CHECKED)


def _belief(
    questions: list[LineQuestion],
    shape: tuple[int, ...],
    one: Callable[[float, int], Pair],
    how: str,
) -> Belief:
    """A belief whose gain is asked one by one: of k = ±ε and the number of the true value."""
    before = np.array([question.log_prior for question in questions]).T.reshape(2, *shape)
    which = np.arange(len(questions)).reshape(shape)
    each = np.vectorize(one, otypes=[np.float64, np.float64])

    def gain(k: Array) -> tuple[Array, Array]:
        attack, bound = each(k, which)
        return np.asarray(attack), np.asarray(bound)

    return Belief(before[0], before[1], gain, how)


def cells_gain(prior: LinePrior, metric: Metric, ends: Array, k: float) -> Pair:
    """Attack and bound of the signed gain at k = ±ε of a line cut into cells, for any metric.

    With x_j a value in cell j, e^{−ε·d(x, x_j)} ≤ L(x)/L(x_j) ≤ e^{ε·d(x, x_j)}. So no odds exceed those in a finite
    world of all x_j, with masses tilted upwards in the goal and downwards outside. The attack exchanges both.
    """
    if k == 0:
        return 0.0, 0.0
    x, plain, up, down = _cells(prior, metric, ends, abs(k))
    goal = np.any([(a < x) & (x < b) for a, b in ends], axis=0) == (k > 0)
    weight = np.where(goal, np.minimum(up, LARGEST), down)
    share = np.empty(x.size)
    for side in (goal, ~goal):
        share[side] = np.exp(weight[side] - np.max(weight[side]))
    some, apart = share > 0, abs(k) * metric.distance(x[:, None], x)
    marks = goal[some].astype(np.float64)
    _, bound, height = solve(share[some], marks, apart[np.ix_(some, some)])
    height = np.max(height - apart[:, some], axis=1)

    def odds(inside: Array, outside: Array) -> float:
        return float(np.logaddexp.reduce(inside[goal]) - np.logaddexp.reduce(outside[~goal]))

    before, most = odds(plain, plain), abs(k) * metric.diameter(*prior.support)
    bound = float(np.fmin(bound + odds(weight, weight) - before, most))
    attack = odds(down + height, np.minimum(up + height, plain + np.max(height))) - before
    attack, bound = agreed(float(np.fmax(attack, 0.0)), bound)
    return (attack, bound) if k > 0 else (-attack, -bound)


def _cells(
    prior: LinePrior, metric: Metric, ends: Array, rate: float
) -> tuple[Array, Array, Array, Array]:
    """A value in each cell, and ln of the cell's mass: plain, and tilted upwards and downwards from that value."""
    (low, high), (slope, offset) = prior.support, metric.tail
    fixed = np.concatenate([prior.quantile([FAR, 1 - FAR]), ends.ravel()])
    fixed, breaks = ([x for x in part if low < x < high] for part in (fixed, metric.breaks))
    cuts = np.union1d([*fixed, *breaks], np.linspace(np.min(fixed), np.max(fixed), CELLS + 1))
    places = np.arange(PARTS * (cuts.size - 1) + 1) / PARTS
    pieces = pieces_of(prior).cut(np.interp(places, np.arange(cuts.size), cuts))
    cell = np.searchsorted(cuts, pieces.left, side="right")
    x = np.concatenate([cuts[:1], 0.5 * (cuts[1:] + cuts[:-1]), cuts[-1:]])
    x[0], x[-1] = np.nextafter(cuts[0], low), np.nextafter(cuts[-1], high)
    away = rate * metric.spread((pieces.left, pieces.right), (x[cell], x[cell]))
    tilted: list[Array] = []
    for sign in (0, 1, -1):
        with quiet():  # no mass that may be infinitely far away
            part = pieces.log_mass + (sign * away if sign else 0.0)
        for i, near, side in ((0, pieces.right[0], -1), (-1, pieces.left[-1], 1)):
            if sign and pieces.tails[i] is not None:
                beyond = metric.distance(np.nextafter(near, side * np.inf), x[i]) + offset
                tail = pieces.end_tilt(sign * side * rate * slope)[sign > 0][i]
                part[i] = sign * np.fmin(sign * part[i], sign * tail + rate * beyond)
        tilted.append(np.logaddexp.reduceat(part, np.searchsorted(cell, np.arange(x.size))))
    return x, tilted[0], tilted[1], tilted[2]


def line_gain(question: LineQuestion, epsilon: float) -> Pair:
    """Attack and bound of ln(posterior odds / prior odds); pieces are divided where these would be too far apart."""
    attack = bound = 0.0
    for _ in range(DIVISIONS if epsilon * question.reach > 0 else 0):
        attack, bound = _bracket(question, epsilon)
        if bound - attack <= WIDTH * min(bound, 1.0) + ROUNDING or np.isinf(bound):
            break
        left, right = question.position
        apart = spread(epsilon * (right - left), question.pieces.osc)
        pieces = question.pieces.halved(apart > NARROW * min(bound, 1.0))
        if pieces is question.pieces:
            break
        inherited = np.searchsorted(question.pieces.left, pieces.left, side="right") - 1
        question = LineQuestion(pieces, question.goal[inherited], question.form)
    return max(attack, 0.0), bound


def _bracket(question: LineQuestion, epsilon: float) -> Pair:
    """Attack and bound of a gain, rounding included."""
    if np.isinf(question.form.cap):
        attack, bound = (
            LineTables(question, epsilon, bound=side).log_odds() for side in (False, True)
        )
    else:
        rises = is_run(question.goal)
        sign = 1 if rises else -1
        first, last = np.flatnonzero(question.goal == rises)[[0, -1]]
        found = CappedTilts(question, epsilon).bracket(
            np.array([first]), np.array([last + 1]), rises
        )
        attack, bound = (sign * float(odds[0]) for odds in found)
    before = question.log_prior[0] - question.log_prior[1]
    size = abs(before) + (abs(bound) if np.isfinite(bound) else 0.0)
    slack = EPS * (8 + question.goal.size / 8 + 4 * size)
    return attack - before - slack, bound - before + slack


def _finite_belief(attribute: Attribute, prior: Finite, goal: Goal, at: Any) -> Belief:
    """The belief in some of finitely many values, one row of them for each true value."""
    chosen, shape = _chosen(attribute, prior, goal, at)
    form = attribute.distance.line_form
    if form is not None and (prior.is_line or form.is_flat):
        numbers = prior.values if prior.is_line else tuple(range(prior.mass.size))
        places = Finite(numbers, prior.weights)
        bare = binding_form(places, form)
        questions = [atom_question(places, bare, row) for row in chosen]
        if _has_path(questions):
            return _of_questions(questions, shape)
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
