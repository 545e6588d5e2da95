"""How the records of a plan are judged: from its attacker to columns of codes and an enclosure for every code.

- One column of numbers: cells of a grid.
- Finitely many values, also of several columns: one number for each combination.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache
from typing import Any

import numpy as np

from guessproof.errors import NotCertifiedError, PlanError
from guessproof.exposure import Attacker, Exposure
from guessproof.guarantee import Guarantee
from guessproof.plan import Plan
from guessproof.scanning.cells import enclosed
from guessproof.scanning.columns import SPECIAL, GridColumn, ListedColumn, Mask
from guessproof.scanning.judged import Judged, RecordJudge
from guessproof.scanning.single import curve_of, each_value, one_value
from guessproof.world import Array, Attribute, Finite, JointTable, Unknown, conditioned, joint_of

MOST_VALUES = 40_000  # of one column; beside a sample, every place where the correct guesses change
MOST_COMBINATIONS = 1000  # of several


def records_of(plan: Plan, exposure: Exposure, epsilon: float, worst: float, limit: float | None) -> RecordJudge:
    """How the records of a plan are judged at an ε; `worst` is what no true value within the bounds exceeds."""
    attacker, both = exposure.attacker, plan.limits.both
    plain = replace(exposure, step=0.0)  # what rounding adds is added once, below
    if attacker.knows_formulas:
        raise _refused(plan)
    known = {n: v for n, v in (attacker.knows or {}).items() if v is not None}
    priors = conditioned(attacker.goal.attributes, known)
    attributes = {name: priors[name] for name in attacker.names}
    found: RecordJudge
    if all(isinstance(a.prior, Finite) for a in attributes.values()):
        try:
            found = ListedJudge(plan, plain, attributes, epsilon, both)
        except NotCertifiedError:
            raise _refused(plan) from None
    elif any(a.is_category and isinstance(a.prior, Unknown) for a in attributes.values()):
        problem = "a scan compares what is believed of each record, and nothing is assumed of what is"
        remedy = (
            "declare a prior for the column, as weights of its labels; the limits of this plan hold for every record"
        )
        raise plan.error(("attacker", "goal"), plan.attacker and plan.attacker.goal, problem, remedy)
    elif not _is_one_number(attacker, attributes):
        raise _refused(plan)
    elif attacker.prior_factor > 1:
        problem = "a scan of numbers judges each record by the priors of the plan, not by others within this factor"
        remedy = "scan a copy of the plan without it; the limits of this one hold for every record under all of them"
        raise plan.error(("attacker", "prior_factor"), attacker.prior_factor, problem, remedy)
    else:
        try:
            decide = limit if limit is not None and worst > limit else None
            found = LineJudge(plain, attributes[attacker.names[0]], epsilon, both, decide)
        except NotCertifiedError:
            raise _refused(plan) from None

    return BoundedJudge(found, attributes, exposure.step / 4, worst)


class BoundedJudge(RecordJudge):
    """Another's judgement, with what rounding adds, and never above what no true value within the bounds exceeds."""

    def __init__(self, found: RecordJudge, attributes: Mapping[str, Attribute], rounding: float, worst: float) -> None:
        self.columns = found.columns
        self._found, self._attributes, self._rounding, self._worst = found, attributes, rounding, worst

    def judge(self, occupied: Mask | None) -> Judged:
        judged = self._found.judge(occupied)
        upper = np.minimum(judged.upper + self._rounding, 1.0)
        if self._worst < 1:
            upper = np.where(_within_bounds(self._attributes, judged), np.minimum(upper, self._worst), upper)
        return replace(judged, lower=np.minimum(judged.lower, upper), upper=upper)


def _within_bounds(attributes: Mapping[str, Attribute], judged: Judged) -> Mask:
    """The cells that lie within the declared bounds, which is where a worst case looks for the true value."""
    bounded = [a for a in attributes.values() if a.bounds is not None]
    if not bounded:
        return np.ones(judged.upper.shape, dtype=bool)
    if len(attributes) > 1:
        return np.zeros(judged.upper.shape, dtype=bool)
    low, high = bounded[0].range
    ends = [judged.values(i)[bounded[0].name] for i in range(judged.upper.size)]
    return np.asarray([low <= min(e) and max(e) <= high for e in (e if isinstance(e, tuple) else (e,) for e in ends)])


def _refused(plan: Plan) -> PlanError:
    problem = "a scan supports an interval around one number, or finitely many values of one or several columns"
    remedy = (
        "scan a plan with such a goal about each column, or ask choose for one record with at; no scan answers for "
    )
    remedy += "a location, a formula or several intervals of one column"
    return plan.error(("attacker", "goal"), plan.attacker and plan.attacker.goal, problem, remedy)


def _is_one_number(attacker: Attacker, attributes: Mapping[str, Attribute]) -> bool:
    """Whether the goal is about one number that depends on no other column."""
    return len(attributes) == 1 and joint_of(attacker.attributes[attacker.names[0]]) is None


class LineJudge(RecordJudge):
    """One column of numbers: cells of a grid, as fine as the tolerance needs, and where the limit is in question."""

    def __init__(
        self, exposure: Exposure, attribute: Attribute, epsilon: float, both: bool, limit: float | None
    ) -> None:
        prior = attribute.prior
        assert not isinstance(prior, Finite)
        self._grid, self._limit = GridColumn.of(attribute.name, prior, attribute.bounds), limit
        self.columns = (self._grid,)
        self._curve, self._how = curve_of(exposure, attribute.name, epsilon, both)

    def judge(self, occupied: Mask | None) -> Judged:
        cells = enclosed(self._grid, self._curve, occupied, self._limit)
        return Judged(
            names=(self._grid.name,),
            cells=(cells,),
            nodes=(cells.node,),
            sizes=(cells.size,),
            lower=cells.lower,
            upper=cells.upper,
            line=True,
            how=self._how,
        )


class ListedJudge(RecordJudge):
    """Finitely many values, also of several columns: one number for each combination."""

    def __init__(
        self, plan: Plan, exposure: Exposure, attributes: Mapping[str, Attribute], epsilon: float, both: bool
    ) -> None:
        self._listed = tuple(ListedColumn.of(a, exposure.attacker.goal) for a in attributes.values())
        self.columns = self._listed
        self._sizes = tuple(c.size for c in self._listed)
        most = MOST_VALUES if len(self._listed) == 1 else MOST_COMBINATIONS
        if math.prod(self._sizes) > most:
            problem = (
                f"its columns have {math.prod(self._sizes)} combinations of values, more than the {most} of a scan"
            )
            remedy = "scan a plan with a goal about fewer values"
            raise plan.error(("attacker", "goal"), plan.attacker and plan.attacker.goal, problem, remedy)
        self._exposure = replace(exposure, guarantee=_remembering(exposure.guarantee))
        self._attributes, self._epsilon, self._both = attributes, epsilon, both

    def judge(self, occupied: Mask | None) -> Judged:
        lower, upper = self._enclosures()
        return Judged(
            names=tuple(c.name for c in self._listed),
            cells=self._listed,
            nodes=tuple(np.arange(size + SPECIAL) for size in self._sizes),
            sizes=self._sizes,
            lower=lower,
            upper=upper,
            line=False,
            how="each combination of values by itself",
            impossible=_impossible(self._attributes, self._listed),
        )

    def _enclosures(self) -> tuple[Array, Array]:
        if len(self._listed) == 1:
            return each_value(self._exposure, self._listed[0], self._epsilon, self._both)
        names = [c.name for c in self._listed]
        combinations = itertools.product(*(c.values for c in self._listed))
        rows = [dict(zip(names, values, strict=True)) for values in combinations]
        pairs = [one_value(self._exposure, row, self._epsilon, self._both) for row in rows]
        return np.asarray([p[0] for p in pairs]), np.asarray([p[1] for p in pairs])


def _impossible(attributes: Mapping[str, Attribute], columns: tuple[ListedColumn, ...]) -> Mask | None:
    """Combinations that no row of a joint table has; beside a sample any values may go together."""
    names = [c.name for c in columns]
    found_joints = [joint_of(a) for a in attributes.values()]
    joints = {j.names: j for j in found_joints if isinstance(j, JointTable) and not j.sampled}
    if not joints:
        return None
    allowed: list[tuple[list[str], set[tuple[Any, ...]]]] = []
    for joint in joints.values():
        shared = [n for n in joint.names if n in names]
        places = [joint.names.index(n) for n in shared]
        rows = (row for row, weight in zip(joint.rows, joint.weights, strict=True) if weight > 0)
        allowed.append((shared, {tuple(row[i] for i in places) for row in rows}))
    found: list[bool] = []
    for combination in itertools.product(*(c.values for c in columns)):
        at = dict(zip(names, combination, strict=True))
        found.append(not all(tuple(at[n] for n in shared) in rows for shared, rows in allowed))
    return np.asarray(found)


class _Remembering:
    """A guarantee's own moves; the distance between two combinations is computed once."""

    def __init__(self, guarantee: Guarantee) -> None:
        self._moved = lru_cache(maxsize=1 << 18)(lambda a, b: guarantee.between(dict(a), dict(b)))

    def between(self, before: Mapping[str, Any], after: Mapping[str, Any]) -> float:
        return self._moved(tuple(before.items()), tuple(after.items()))

    @property
    def reads(self) -> None:
        """All that the guarantee's own numbers read, together."""
        return None


def _remembering(guarantee: Guarantee) -> Guarantee:
    if guarantee.responses is None:
        return guarantee
    return replace(guarantee, responses=((1.0, _Remembering(guarantee)),))
