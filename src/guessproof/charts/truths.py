"""What can be learnt about whom: the belief before and at most after a release, and its rise, for every true value."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from datetime import date
from typing import Any, cast

import altair as alt
import numpy as np

from guessproof.charts.plan import ACCENT, ALARM, INK, QUIET, TINT
from guessproof.charts.rows import data_of
from guessproof.choosing import Choice
from guessproof.errors import GuessproofError
from guessproof.exposure import Exposure
from guessproof.world import And, Attribute, Finite, LinePrior, Or, Within, days_of, moment_of

MOST_ROWS = 12  # true values that are drawn one by one
STEPS = 61  # true values along a line
LETTER = 7.5  # pixels, in the widest of the usual fonts
TAIL = 0.005  # of people on each side, whose values are too rare to be shown


@dataclass(frozen=True)
class Truths:
    """Beliefs for many true values: a line of numbers, or a few combinations by name."""

    name: str
    values: tuple[Any, ...]
    before: tuple[float, ...]
    after: tuple[float, ...]
    is_time: bool = False  # the true values are days since 1970
    title: str = ""  # what people call it
    limit: float | None = None  # how far a belief may rise

    @property
    def is_line(self) -> bool:
        """Whether the true values are numbers along an axis."""
        return all(isinstance(v, float) for v in self.values)

    @property
    def largest_rise(self) -> float:
        """The largest rise that is shown."""
        return max(a - b for b, a in zip(self.before, self.after, strict=True))

    @property
    def is_limit_near(self) -> bool:
        """Whether the limit can be drawn beside the rises without making them flat."""
        return self.limit is not None and self.limit < 3 * self.largest_rise


def truths(choice: Choice) -> Truths | None:
    """The belief before and at most after, for each true value; None where there are too many to draw."""
    exposure = choice.exposure
    if exposure is None or not choice.feasible or not math.isfinite(choice.epsilon):
        return None
    found = _places(choice, exposure)
    if found is None:
        return None
    name, places = found
    rows: list[tuple[Any, float, float]] = []
    for shown, at in places:
        one = replace(exposure, attacker=replace(exposure.attacker, at=at))
        try:
            before, after = one.prior, float(one.posterior(choice.epsilon).bound)
        except GuessproofError:  # a true value that cannot occur
            continue
        if before is not None:
            rows.append((shown, before, max(before, after)))
    if len(rows) < 2:
        return None
    values, before, after = (tuple(column) for column in zip(*rows, strict=True))
    known = exposure.attacker.attributes.get(name)
    title = ", ".join(map(choice.plan.label, exposure.attacker.names))
    timely = known is not None and known.is_time
    return Truths(name, values, before, after, timely, title, choice.plan.limits.advantage)


def _places(choice: Choice, exposure: Exposure) -> tuple[str, list[tuple[Any, dict[str, Any]]]] | None:
    attacker, goal = exposure.attacker, exposure.attacker.goal
    attributes = [attacker.attributes[n] for n in attacker.names]
    only = attributes[0]
    if len(attributes) == 1 and isinstance(goal, Within) and isinstance(only.prior, LinePrior):
        return only.name, [(t, {only.name: t}) for t in _grid(choice, only)]
    plain = isinstance(goal, And | Or) or len(attributes) == 1
    if attacker.or_ == "each" or not plain or not goal.depends_on_truth:
        return None
    lists = [_possible(a.prior) for a in attributes if isinstance(a.prior, Finite)]
    if len(lists) < len(attributes):
        return None
    if math.prod(len(values) for values in lists) > MOST_ROWS:
        return None
    places: list[dict[str, Any]] = [{}]
    for attribute, values in zip(attributes, lists, strict=True):
        places = [{**place, attribute.name: value} for place in places for value in values]
    label = choice.plan.label
    named = [(", ".join(label(name, str(value)) for name, value in place.items()), place) for place in places]
    return ", ".join(attacker.names), named


def _grid(choice: Choice, only: Attribute) -> list[float]:
    """True values that people have, close together where many are: half of them by what is believed, half evenly."""
    prior = cast("LinePrior", only.prior)
    shares = np.linspace(TAIL, 1 - TAIL, STEPS // 2)
    likely = np.asarray(prior.quantile(shares), dtype=float)
    if only.bounds is not None:
        likely = np.clip(likely, *only.bounds)
    grid = {*likely.tolist(), *np.linspace(likely[0], likely[-1], STEPS - STEPS // 2).tolist()}
    worst = None if choice.advantage is None else choice.advantage.worst_at
    if isinstance(worst, float) and likely[0] < worst < likely[-1]:
        grid.add(worst)
    return sorted(map(float, grid)) if likely[0] < likely[-1] else []


def _possible(prior: Finite) -> list[Any]:
    return [value for value, weight in zip(prior.values, prior.mass, strict=True) if weight > 0]


def by_truth(found: Truths, chosen: Any, width: int) -> Any:
    """Beliefs before and after for every true value; `chosen` marks the one that the plan or the worst case names."""
    return _along(found, chosen, width) if found.is_line else _one_by_one(found, width)


def _along(found: Truths, chosen: Any, width: int) -> Any:
    rows = [{"t": t, "before": b, "after": a} for t, b, a in zip(found.values, found.before, found.after, strict=True)]
    top = 1.18 * max(found.after)
    axis = _axis(width, (min(found.values), max(found.values)) if found.is_time else None)
    below = alt.X("t:Q", title=f"true value of {found.title or found.name}", scale=alt.Scale(nice=False), axis=axis)
    x = alt.X("t:Q", title=None, scale=alt.Scale(nice=False), axis=alt.Axis(labels=False, ticks=False, grid=False))
    scale = alt.Scale(domain=[0, top], nice=False)
    y = alt.Y("before:Q", title="belief in a right guess", scale=scale, axis=alt.Axis(format="~%", tickCount=5))
    base = alt.Chart(data_of(rows))
    room = base.mark_area(color=TINT).encode(x=x, y=y, y2="after:Q")
    was = base.mark_line(color=INK, strokeWidth=1.5, strokeDash=[4, 3]).encode(x=x, y=y)
    may = base.mark_line(color=ACCENT, strokeWidth=2.5).encode(x=x, y=alt.Y("after:Q"))
    layers = [room, was, may]
    if isinstance(chosen, (int, float)) and min(found.values) <= chosen <= max(found.values):
        mark = [{"t": float(chosen)}]
        layers.append(alt.Chart(data_of(mark)).mark_rule(color=QUIET, strokeDash=[2, 2]).encode(x="t:Q"))
    upper = alt.layer(*layers).properties(width=width - 70, height=190)
    return alt.vconcat(upper, _rise(found, below, width), spacing=14).resolve_scale(x="shared")


def _rise(found: Truths, x: Any, width: int) -> Any:
    """How far the belief rises at most for every true value, in percentage points, and how far it may."""
    rises = [100 * (a - b) for b, a in zip(found.before, found.after, strict=True)]
    rows = [{"t": t, "rise": rise} for t, rise in zip(found.values, rises, strict=True)]
    limit = 100 * found.limit if found.limit is not None and found.is_limit_near else 0.0
    top = 1.2 * max(100 * found.largest_rise, limit)
    y = alt.Y(
        "rise:Q",
        title=["it rises by", "(points)"],
        scale=alt.Scale(domain=[0, top], nice=False),
        axis=alt.Axis(tickCount=3, format=",~f"),
    )
    base = alt.Chart(data_of(rows))
    layers = [base.mark_area(color=TINT, line={"color": ACCENT, "strokeWidth": 2}).encode(x=x, y=y)]
    if limit:
        mark = alt.Chart(data_of([{"rise": limit}]))
        layers.append(mark.mark_rule(color=ALARM, strokeWidth=1.5).encode(y="rise:Q"))
    return alt.layer(*layers).properties(width=width - 70, height=80)


def _one_by_one(found: Truths, width: int) -> Any:
    rows = [{"t": t, "before": b, "after": a} for t, b, a in zip(found.values, found.before, found.after, strict=True)]
    room = min(150, 8 + LETTER * max(len(str(t)) for t in found.values))  # a browser's letters may be wider than ours
    names = alt.Axis(ticks=False, domain=False, labelLimit=150, labelPadding=8, minExtent=room)
    y = alt.Y("t:N", title=None, sort=None, axis=names)
    top = min(1.0, 1.15 * max(found.after))
    x = alt.X(
        "before:Q",
        title="belief in a right guess",
        scale=alt.Scale(domain=[0, top], nice=False),
        axis=alt.Axis(format="~%", tickCount=4 if width < 500 else 8),
    )
    base = alt.Chart(data_of(rows))
    gap = base.mark_rule(color=ACCENT, strokeWidth=3).encode(y=y, x=x, x2="after:Q")
    was = base.mark_point(filled=True, fill="white", stroke=INK, strokeWidth=1.5, size=60, opacity=1).encode(y=y, x=x)
    may = base.mark_point(filled=True, color=ACCENT, size=70, opacity=1).encode(y=y, x="after:Q")
    return alt.layer(gap, may, was).properties(width=width - 150, height=alt.Step(26))


def _axis(width: int, days: tuple[float, float] | None = None) -> Any:
    """Few enough ticks for their labels; of days since 1970 from first to last, years or dates are shown."""
    if days is None:
        return alt.Axis(tickCount=5 if width < 500 else 9, grid=False)
    years = _years(*days, most=5 if width < 500 else 9)
    if len(years) < 3:
        return alt.Axis(tickCount=3 if width < 500 else 6, grid=False, labelExpr=_DATE.format("%Y-%m-%d"))
    return alt.Axis(values=years, grid=False, labelExpr=_DATE.format("%Y"))


_DATE = "utcFormat(datum.value * 86400000, '{}')"


def _years(first: float, last: float, most: int) -> list[float]:
    """The beginnings of round years between two days, as many as there is room for.

    >>> [moment_of(day).year for day in _years(days_of(date(1942, 8, 1)), days_of(date(2017, 1, 1)), 9)]
    [1950, 1960, 1970, 1980, 1990, 2000, 2010]
    """
    start, end = moment_of(first).year, moment_of(last).year
    for step in (1, 2, 5, 10, 20, 50, 100, 500, 1000):
        years = [days_of(date(y, 1, 1)) for y in range(start // step * step, end + 1, step) if y > 0]
        found = [day for day in years if first <= day <= last]
        if len(found) <= most:
            return found
    return []
