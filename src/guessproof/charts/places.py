"""Two numbers as a map: how likely each pair is, and which pairs count as a correct guess.

Both are regions of the plane, drawn the same way: upright lines are cut where they enter and leave a region, and what
lies between two neighbours is an area with straight edges. The goal's cuts are those that its prior is computed from.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import pairwise
from typing import Any

import altair as alt
import numpy as np

from guessproof.charts.rows import data_of
from guessproof.risk.attack import Attack
from guessproof.risk.several.joint_attack import JointAttack
from guessproof.risk.several.slices import marks, sections
from guessproof.world.attributes import Attribute, joint_of
from guessproof.world.checks import Array
from guessproof.world.formulas import Given
from guessproof.world.goals import And, Goal, Not
from guessproof.world.line import LinePrior

INK, GOAL, LIKELY, RULED_OUT = "#1f3a5f", "#d1495b", "#4f78ad", "#8a94a3"
SHADES = 10  # each a veil over those below, so that the map fits light and dark pages
_VEIL = 0.15
_TAIL = 1.7  # more of the shades are for what is less likely
_LINES = 96  # upright lines over the width of a map
_FINER = 4
_STEEP = 0.04  # of the height of a map
_BEYOND = 0.1  # more than a region turns between two lines
_HAIR = 1e-6
Row = dict[str, Any]
Ends = tuple[float, float]
Parts = list[tuple[float, float]]  # of one upright line, where each part begins and ends


def place_map(attack: Attack, size: int, named: Callable[[str], str] = str) -> Any:
    """The map of two numbers: darker is likelier, red is right, grey is ruled out, a cross is the true place."""
    first, second = (attack.conditioned[a.name] for a in attack.asked.attributes)
    across, up = window(first, attack), window(second, attack)
    joint_attack = JointAttack(attack.conditioned, dict(attack.at or {}), attack.norm)
    whole = attack.asked
    lines = _beside(across, [*marks(joint_attack, (whole,), first), *line_of(first).breaks])
    x, y = (
        encoded(f"{axis}:Q", title=named(a.name), scale=alt.Scale(domain=list(ends), nice=False), axis=axis_of(a))
        for axis, encoded, a, ends in (("x", alt.X, first, across), ("y", alt.Y, second, up))
    )
    room = _BEYOND * (up[1] - up[0])
    tall = (up[0] - room, up[1] + room)  # regions go on beyond the frame, which cuts them: their corners are its own
    layers = [_drawn(_shaded(first, second, lines, tall), x, y, LIKELY, _VEIL)]
    regions: list[tuple[Goal, str, float]] = [(whole, GOAL, 0.45)]
    if isinstance(whole, Given):
        regions = [(Not(whole.region), RULED_OUT, 0.6), (And((whole.goal, whole.region)), GOAL, 0.45)]
    for region, colour, opacity in regions:
        if attack.at or not region.depends_on_truth:
            within = partial(_region, joint_attack, region, first, second, tall)
            layers.append(_drawn(areas(*_followed(within, lines, tall)), x, y, colour, opacity))
    layers += _truth(attack, first, second, x, y)
    return alt.layer(*layers).properties(width=size, height=size)


def _truth(attack: Attack, first: Attribute, second: Attribute, x: Any, y: Any) -> list[Any]:
    """The true place, or a line where only one of its numbers matters."""
    at = {key: (attack.at or {}).get(a.name) for key, a in (("x", first), ("y", second))}
    found = [{key: float(value) for key, value in at.items() if value is not None}]
    if len(found[0]) == 2:
        mark = alt.Chart(data_of(found)).mark_point(shape="cross", color=INK, filled=True, opacity=1, size=90)
        return [mark.encode(x=x, y=y)]
    line = alt.Chart(data_of(found)).mark_rule(color=INK, strokeDash=[4, 3])
    return [line.encode(**{key: x if key == "x" else y}) for key in found[0]]


def window(attribute: Attribute, attack: Attack) -> Ends:
    """What is drawn of a number: where nearly all values lie, and the true one."""
    prior = line_of(attribute)
    low, high = (float(e) for e in prior.quantile([0.003, 0.997]))
    near = 0.05 * (high - low)
    least, most = (float(e) for e in prior.support)
    low, high = least if low - least < near else low, most if most - high < near else high
    t = (attack.at or {}).get(attribute.name)
    room = 0.1 * (high - low)
    return (low, high) if t is None else (min(low, float(t) - room), max(high, float(t) + room))


def line_of(attribute: Attribute) -> LinePrior:
    """The prior of a number that has a density."""
    if not isinstance(attribute.prior, LinePrior):
        raise ValueError(f"{attribute.name} has no density that could be drawn")
    return attribute.prior


def axis_of(attribute: Attribute) -> Any:
    """An axis of numbers, or of days that are shown as dates."""
    dates: dict[str, Any] = {"labelExpr": "utcFormat(datum.value * 864e5, '%Y-%m-%d')"} if attribute.is_time else {}
    return alt.Axis(grid=False, tickCount=4 if dates else 6, labelOverlap=True, labelSeparation=8, **dates)


def areas(x: Array, parts: list[Parts], name: str = "") -> list[Row]:
    """The parts of upright lines joined to areas: rows x, y, y2, and the area that they belong to.

    A part goes on in that of the next line which overlaps it alone; where parts begin, end, fork or meet, areas do so
    halfway, upright. What goes on beside them is not cut: an edge would be seen through a veil.
    """
    rows: list[Row] = []
    area: list[int] = []  # of each part of the line before
    count = 0
    for i, own in enumerate(parts):
        before = parts[i - 1] if i else []
        goes_on = _matched(before, own)
        middle = 0.5 * float(x[i - 1] + x[i]) if i else float(x[0])
        ended = [j for j in range(len(before)) if j not in goes_on.values()]
        rows += [_row(middle, before[j], f"{name}{area[j]}") for j in ended]
        begun = {k: count + n for n, k in enumerate(k for k in range(len(own)) if k not in goes_on)}
        count += len(begun)
        area = [area[goes_on[k]] if k in goes_on else begun[k] for k in range(len(own))]
        if i:
            rows += [_row(middle, own[k], f"{name}{area[k]}") for k in begun]
        rows += [_row(float(x[i]), part, f"{name}{area[k]}") for k, part in enumerate(own)]
    return rows


def _row(x: float, part: tuple[float, float], area: str) -> Row:
    return {"x": x, "y": part[0], "y2": part[1], "area": area}


def _matched(before: Parts, after: Parts) -> dict[int, int]:
    """Which parts go on: those that overlap one of the other line and are its only one."""
    beside = [[j for j, a in enumerate(before) if a[0] <= b[1] and b[0] <= a[1]] for b in after]
    found = [j for one in beside for j in one]
    return {k: one[0] for k, one in enumerate(beside) if len(one) == 1 and found.count(one[0]) == 1}


def _joins(before: Parts, after: Parts, far: float = np.inf) -> bool:
    """Whether parts of two lines are as many and overlap, and none of their ends moves far."""
    return len(before) == len(after) and all(
        a[0] <= b[1] and b[0] <= a[1] and abs(a[0] - b[0]) <= far and abs(a[1] - b[1]) <= far
        for a, b in zip(before, after, strict=True)
    )


def _drawn(rows: list[Row], x: Any, y: Any, colour: str, opacity: float) -> Any:
    short = [{k: float(f"{v:.6g}") if isinstance(v, float) else v for k, v in row.items()} for row in rows]
    shape = alt.Chart(data_of(short)).mark_area(color=colour, opacity=opacity, clip=True)
    return shape.encode(x=x, y=y, y2="y2:Q", detail="area:N")


def _beside(ends: Ends, jumps: list[float]) -> Array:
    """Evenly spaced places, and both sides of wherever something may jump."""
    hair = _HAIR * (ends[1] - ends[0])
    places = [np.linspace(*ends, _LINES + 1), *([j - hair, j + hair] for j in jumps)]
    return np.unique(np.clip(np.concatenate(places), *ends))


def _followed(parts_of: Callable[[Array], list[Parts]], x: Array, ends: Ends) -> tuple[Array, list[Parts]]:
    """The parts of upright lines, with further lines where a region begins, ends, forks or turns steeply."""
    found = dict(zip(x.tolist(), parts_of(x), strict=True))
    far = _STEEP * (ends[1] - ends[0])
    for _ in range(_FINER):
        places = sorted(found)
        new = [0.5 * (a + b) for a, b in pairwise(places) if not _joins(found[a], found[b], far)]
        found.update(zip(new, parts_of(np.array(new)), strict=True) if new else ())
    places = sorted(found)
    return np.array(places), [found[place] for place in places]


def _region(
    joint_attack: JointAttack, goal: Goal, first: Attribute, last: Attribute, ends: Ends, x: Array
) -> list[Parts]:
    """The parts of upright lines that lie in the region of a goal."""
    cuts, (met,) = sections(joint_attack, (goal,), [first], last, [x])
    low, high = np.clip(cuts[:, :-1], *ends), np.clip(cuts[:, 1:], *ends)
    return [
        _merged(a[m].tolist(), b[m].tolist())
        for a, b, m in zip(low, high, np.logical_and(met, high > low), strict=True)
    ]


def _merged(low: list[float], high: list[float]) -> Parts:
    found: Parts = []
    for a, b in zip(low, high, strict=True):
        if found and a <= found[-1][1]:
            found[-1] = (found[-1][0], b)
        else:
            found.append((a, b))
    return found


def _shaded(first: Attribute, second: Attribute, x: Array, ends: Ends) -> list[Row]:
    """Where the density is above each of several shares of its largest value, one upon the other."""
    y = _beside(ends, [*line_of(second).breaks])
    density = _density(first, second, x, y)
    top = float(np.max(density[np.isfinite(density)], initial=1e-300))
    rows: list[Row] = []
    for k in range(SHADES):
        level = top * ((k + 0.5) / SHADES) ** _TAIL

        def parts_of(places: Array, level: float = level) -> list[Parts]:
            own = density if places is x else _density(first, second, places, y)
            return [_above(line, y, level) for line in np.minimum(own, top)]

        rows += areas(*_followed(parts_of, x, ends), f"{k}.")
    return rows


def _above(height: Array, y: Array, level: float) -> Parts:
    """Where a curve through points lies above a level."""
    turns = np.flatnonzero((height[1:] >= level) != (height[:-1] >= level))
    rise = height[turns + 1] - height[turns]
    at = (y[turns] + (level - height[turns]) / rise * (y[turns + 1] - y[turns])).tolist()
    if height[0] >= level:
        at.insert(0, float(y[0]))
    if height[-1] >= level:
        at.append(float(y[-1]))
    return list(zip(at[0::2], at[1::2], strict=True))


def _density(first: Attribute, second: Attribute, x: Array, y: Array) -> Array:
    """How likely pairs are, but for a factor."""
    own = np.exp(line_of(first).log_density(x))
    joint: Any = joint_of(first)
    if joint is None or second.name not in joint.names:
        return np.multiply.outer(own, np.exp(line_of(second).log_density(y)))
    narrow = 0.5 * _HAIR * float(y[-1] - y[0])
    ends = (np.broadcast_to(y + side, (x.size, y.size)) for side in (-narrow, narrow))
    return own[:, None] * joint.slice_mass(first.name, x, *ends)
