"""One column by itself: a curve along its numbers, or a bracket for each of its values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from guessproof.errors import GoalError, GuessproofError, NotCertifiedError
from guessproof.exposure import Exposure
from guessproof.guarantee import Guarantee
from guessproof.risk import Attack
from guessproof.scanning.columns import ListedColumn
from guessproof.scanning.curve import FlatCurve, IntervalCurve, RangeCurve, TruthCurve
from guessproof.world import Array, Finite, LineForm, LineMetric, LinePrior, PartlyKnown, Unknown, Within

_AT_ONCE = 1 << 20  # values asked about × values of the prior
_FEW = 64


def curve_of(exposure: Exposure, name: str, epsilon: float, both: bool) -> tuple[TruthCurve, str]:
    """The advantage along one column of numbers, and how it is enclosed."""
    attacker, attribute = exposure.attacker, exposure.attacker.attributes[name]
    if isinstance(attribute.prior, (Unknown, PartlyKnown)):
        exposure.advantage(epsilon, both)  # refuses where there is no answer
        return RangeCurve(exposure, name, epsilon, both), "no prior: at most what the ends of each cell allow"
    goal = attacker.goal
    if not goal.depends_on_truth:
        found = exposure.advantage(epsilon, both)
        return FlatCurve(float(found.attack), float(found.bound)), "the same for every record"
    form, capped = line_form_of(exposure.guarantee, name)
    known = (attacker.knows or {}).get(name)
    if form is None or not isinstance(goal, Within):
        raise NotCertifiedError("the goal is no interval around the true value")
    along = replace(goal, attribute=replace(attribute, metric=LineMetric(form), scale=1.0))
    attack = Attack(along, None, None if known is None else {name: known})
    if not isinstance(attack.attribute.prior, LinePrior):
        raise NotCertifiedError("the goal is no interval around the true value")
    change = epsilon * exposure.guarantee.change if capped else np.inf
    how = "from above: a cap on changes is left out" if capped else "exact at the ends of cells, enclosed between them"
    return IntervalCurve(attack, epsilon, both, change), how


def line_form_of(guarantee: Guarantee, name: str) -> tuple[LineForm | None, bool]:
    """What a column's change lets through as |ψ(x) − ψ(x')|, and whether a cap was left out for that."""
    metric = guarantee.columns.get(name)
    form = LineForm() if metric is None else metric.line_form
    if form is not None and np.isinf(form.cap):
        return form, False
    if name in guarantee.lines:
        form = guarantee.lines[name].form
    if form is None:
        return None, False
    return LineForm(form.cuts, form.slopes, form.jumps, form.step), True


def each_value(exposure: Exposure, column: ListedColumn, epsilon: float, both: bool) -> tuple[Array, Array]:
    """(at least, at most) for all values of one column, many at a time where they are many."""
    lower, upper = np.zeros(column.size), np.zeros(column.size)
    rows = _open(exposure, column)
    many = column.kind == "number" and rows.size > _FEW
    size = max(1, _AT_ONCE // column.size) if many else 1
    for start in range(0, rows.size, size):
        part = rows[start : start + size]
        values = [column.values[int(i)] for i in part]
        found = _together(exposure, column.name, values, epsilon, both) if many else None
        if found is None:
            pairs = [one_value(exposure, {column.name: v}, epsilon, both) for v in values]
            found = np.asarray([p[0] for p in pairs]), np.asarray([p[1] for p in pairs])
        lower[part], upper[part] = found
    return lower, upper


def _open(exposure: Exposure, column: ListedColumn) -> NDArray[np.int64]:
    """The values at which the goal is neither certain nor impossible: at the others nothing is to be learnt."""
    attacker = exposure.attacker
    if len(attacker.names) != 1 or attacker.or_ == "each":  # each alternative may be open where their whole is certain
        return np.arange(column.size)
    attribute = Attack(attacker.goal, None, attacker.knows).attribute
    prior = attribute.prior
    assert isinstance(prior, Finite)
    before = np.array([attacker.goal.chosen(prior, v) @ prior.mass for v in column.values])
    return np.flatnonzero((before > 0) & (before < 1 - 1e-15))


def _together(
    exposure: Exposure, name: str, values: list[Any], epsilon: float, both: bool
) -> tuple[Array, Array] | None:
    """Several values in one question; None where they must be asked one by one."""
    at = np.asarray(values, dtype=np.float64)
    try:
        reading = replace(exposure, attacker=replace(exposure.attacker, at={name: at})).views[0]
        bracket = reading.advantage(epsilon, both)
    except GuessproofError:
        return None
    attack, bound = np.asarray(bracket.attack), np.asarray(bracket.bound)
    return (attack, bound) if reading.tight and attack.shape == at.shape else None


def one_value(exposure: Exposure, at: Mapping[str, Any], epsilon: float, both: bool) -> tuple[float, float]:
    """(at least, at most) for one combination of true values."""
    try:
        bracket = replace(exposure, attacker=replace(exposure.attacker, at=dict(at))).advantage(epsilon, both)
    except GoalError:  # certain or impossible for it: nothing to be learnt
        return 0.0, 0.0
    except GuessproofError:
        return 0.0, 1.0
    return float(bracket.attack), float(bracket.bound)
