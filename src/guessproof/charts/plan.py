"""The pictures of a plan: beliefs before and after, room for ε, error, budget. Each is drawn at a given width.

`inline` turns a chart into SVG for a page: without a browser, a network, or anything that differs from run to run.
"""

from __future__ import annotations

import math
import re
import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from html import escape
from typing import Any
from xml.etree import ElementTree

import altair as alt
import vl_convert

from guessproof.charts import mechanisms, profiles
from guessproof.charts.rows import data_of
from guessproof.errors import GuessproofError
from guessproof.noise import Noise
from guessproof.plain import plain
from guessproof.risk import RiskProfile

INK, QUIET, PALE, ACCENT, TINT, ALARM = "#24313d", "#5b6773", "#d9dfe3", "#1b6b63", "#cfe5e1", "#a33b20"
FORMER = "#a3afb9"
WIDE, NARROW = 716, 330
MOST_LETTERS = 0.11  # of an axis title, for each pixel of its chart
HOUSE = mechanisms.WIDTH  # how wide the other charts of the house are drawn

_SVG = "{http://www.w3.org/2000/svg}"
_SAFE_COLOURS = {  # the house's colours, darkened where they carry text
    mechanisms.SAFE: ACCENT,
    mechanisms.INK: INK,
    mechanisms.QUIET: QUIET,
    mechanisms.ALARM: ALARM,
    profiles.ALARM: ALARM,
}


def inline(chart: Any, name: str, label: str) -> str:
    """A chart as SVG to be put into a page. `name` is unique on the page, `label` says what is to be seen."""
    spec = chart if isinstance(chart, dict) else chart.to_dict(validate=False)
    drawn = vl_convert.vegalite_to_svg(_clean({**spec, "config": _CONFIG}))
    root = ElementTree.fromstring(drawn)  # noqa: S314 - made here from our own chart
    ids = {old: f"{name}-{index}" for index, old in enumerate(_ids(root))}
    for node in root.iter():
        node.tag = node.tag.removeprefix(_SVG)
        kept = {k: v for k, v in node.attrib.items() if not k.startswith("aria-") and k not in ("role", "class")}
        node.attrib.clear()
        node.attrib.update({k: _renamed(_SAFE_COLOURS.get(v, v), ids) for k, v in kept.items()})
    root.attrib.pop("version", None)
    root.attrib.update({"role": "img", "aria-label": _clean(label)})
    return ElementTree.tostring(root, encoding="unicode")


def _clean(value: Any) -> Any:
    """The same in characters that can be seen: none that no XML may hold, or that end a line of an expression."""
    if isinstance(value, str):
        return plain(value)
    if isinstance(value, dict):
        return {k: _clean(v) for k, v in value.items()}
    return [_clean(v) for v in value] if isinstance(value, list) else value


def _ids(root: ElementTree.Element) -> Iterator[str]:
    for node in root.iter():
        if "id" in node.attrib:
            yield node.attrib["id"]


def _renamed(value: str, ids: dict[str, str]) -> str:
    """Ids count up in one process, so they are given anew, and every reference follows."""
    if value in ids:
        return ids[value]
    return re.sub(r"#([A-Za-z_][\w-]*)", lambda m: f"#{ids.get(m[1], m[1])}", value) if "#" in value else value


_CONFIG: dict[str, Any] = {
    "background": None,
    "font": "sans-serif",
    "view": {"stroke": None},
    "axis": {
        "labelColor": QUIET,
        "titleColor": QUIET,
        "titleFontWeight": "normal",
        "labelFontSize": 12,
        "titleFontSize": 12,
        "titlePadding": 8,
        "gridColor": "#eef1f3",
        "domainColor": PALE,
        "tickColor": PALE,
    },
    "title": {"color": INK, "fontSize": 13, "anchor": "start", "fontWeight": "bold", "subtitleColor": QUIET},
    "text": {"fontSize": 12},
    "concat": {"spacing": 24},
}


# Before and after.


def dots(before: int, after: int, base: int, width: int, label: str, *, colour: str = ACCENT) -> str:
    """Two fields of dots as SVG, one dot a guess: those that are right today, and at most after the release.

    Written by hand: a dot is six characters of a path, where a mark of a chart would be two hundred.
    """
    side_by_side = width > 500
    across = (width - 40) // 2 if side_by_side else width
    columns = 20 if base <= 100 else 50
    step = across / columns
    height = 26 + math.ceil(base / columns) * step
    titles = (f"today: {before:,} of {base:,} right", f"after: at most {after:,} of {base:,}")
    shift = (across + 40, 0) if side_by_side else (0, height + 14)
    first, second = (
        _field(title, before, end, base, columns, step, colour)
        for title, end in zip(titles, (before, after), strict=True)
    )
    whole = (width, height) if side_by_side else (width, 2 * height + 14)
    size = " ".join(_place(v) for v in whole)
    return (
        f'<svg width="{_place(whole[0])}" height="{_place(whole[1])}" viewBox="0 0 {size}" role="img" '
        f'aria-label="{escape(label)}"><g>{first}</g>'
        f'<g transform="translate({_place(shift[0])},{_place(shift[1])})">{second}</g></svg>'
    )


def _field(title: str, before: int, after: int, base: int, columns: int, step: float, colour: str) -> str:
    parts = [
        f'<text x="0" y="13" font-family="sans-serif" font-size="13" font-weight="bold" fill="{INK}">{title}</text>'
    ]
    for start, end, shade in ((after, base, PALE), (0, min(before, after), FORMER), (before, after, colour)):
        places = ((step * (i % columns + 0.5), 26 + step * (i // columns + 0.5)) for i in range(start, end))
        path = "".join(f"M{_place(x)} {_place(y)}h0" for x, y in places)
        if path:
            parts.append(
                f'<path d="{path}" stroke="{shade}" stroke-width="{_place(0.74 * step)}" stroke-linecap="round"/>'
            )
    return "".join(parts)


def _place(value: float) -> str:
    return f"{value:.1f}".removesuffix(".0")


def bars(before: float, after: float, limit: float | None, width: int) -> Any:
    """Two bars for beliefs too small to count in dots, and the line that must not be passed."""
    top = 1.35 * max(before, after, limit or 0.0)
    rows = [{"what": "today", "belief": before}, {"what": "after, at most", "belief": after}]
    y = alt.Y("what:N", title=None, sort=None, axis=alt.Axis(ticks=False, domain=False, labelPadding=8))
    x = alt.X(
        "belief:Q",
        title="belief in a right guess",
        scale=alt.Scale(domain=[0, top], nice=False),
        axis=alt.Axis(format=".2~%", tickCount=4 if width < 500 else 7),
    )
    colour = alt.Color("what:N", scale=alt.Scale(domain=["today", "after, at most"], range=[INK, ACCENT]), legend=None)
    drawn = alt.Chart(data_of(rows)).mark_bar(height=22).encode(x=x, y=y, color=colour)
    layers = [drawn]
    if limit is not None:
        place = [{"belief": limit, "text": "allowed"}]
        layers.append(alt.Chart(data_of(place)).mark_rule(color=ALARM, strokeWidth=1.5).encode(x="belief:Q"))
        layers.append(
            alt.Chart(data_of(place))
            .mark_text(color=ALARM, align="left", dx=5, dy=-2, baseline="top")
            .encode(x="belief:Q", y=alt.value(0), text="text:N")
        )
    return alt.layer(*layers).properties(width=width - 110, height=70)


# Room for ε.


@dataclass(frozen=True)
class Span:
    """The ε that one limit or target allows, from `low` to `high` (0 and ∞ where it says nothing)."""

    text: str
    low: float
    high: float


def spans(rows: Sequence[Span], chosen: float | None, width: int, *, feasible: bool = True) -> Any:
    """What each limit and target allows, one bar a row on one axis of ε, and the ε that was chosen."""
    ends = [v for row in rows for v in (row.low, row.high) if 0 < v < math.inf] + ([chosen] if chosen else [])
    low, high = min(ends, default=0.1) / 3, max(ends, default=1.0) * 3
    high = max(high, 10 * low)
    x = alt.X(
        "from:Q",
        title="ε (larger: less noise, less protection)",
        scale=alt.Scale(type="log", domain=[low, high], nice=False),
        axis=alt.Axis(values=_ticks(low, high, 5 if width < 500 else 9), format="~g", grid=True),
    )
    height = 44
    bars: list[dict[str, Any]] = [
        {"row": i, "from": max(r.low, low), "to": min(r.high, high), "text": r.text, "left": low}
        for i, r in enumerate(rows)
    ]
    y = alt.Y("top:Q", axis=None, scale=alt.Scale(domain=[len(rows), 0], nice=False))
    colour = ACCENT if feasible else ALARM
    base = alt.Chart(data_of([{**b, "top": b["row"] + 0.5, "bottom": b["row"] + 0.82} for b in bars]))
    allowed = base.transform_filter("datum.from < datum.to").mark_rect(color=TINT if feasible else PALE)
    layers = [
        allowed.encode(x=x, x2="to:Q", y=y, y2="bottom:Q"),
        alt.Chart(data_of(list(_edges(rows, low, high))))
        .mark_rule(color=colour, strokeWidth=2.5)
        .encode(x="from:Q", y="top:Q", y2="bottom:Q"),
    ]
    if chosen is not None:
        marks = [{"from": chosen, "top": i + 0.42, "bottom": i + 0.96} for i in range(len(rows))]  # never through words
        rule = alt.Chart(data_of(marks)).mark_rule(color=INK, strokeWidth=1.5, strokeDash=[4, 3])
        layers.append(rule.encode(x="from:Q", y="top:Q", y2="bottom:Q"))
    words = base.transform_calculate(middle="datum.row + 0.24")
    halos: list[dict[str, Any]] = [{"stroke": "white", "strokeWidth": 5, "color": "white"}, {"color": INK}]
    for halo in halos:  # white behind the words
        text = words.mark_text(align="left", baseline="middle", dx=2, **halo)
        layers.append(text.encode(x=alt.X("left:Q"), y="middle:Q", text="text:N"))
    return alt.layer(*layers).properties(width=width - 20, height=height * len(rows))


def _edges(rows: Sequence[Span], low: float, high: float) -> Iterator[dict[str, float]]:
    for index, row in enumerate(rows):
        for end in (row.low, row.high):
            if low < end < high:
                yield {"from": end, "top": index + 0.5, "bottom": index + 0.82}


def _ticks(low: float, high: float, most: int) -> list[float]:
    """Round numbers, not more than there is room for."""
    decades = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    for steps in ((1, 2, 5), (1, 3), (1,)):
        found = [m * 10.0**k for k in decades for m in steps if low <= m * 10.0**k <= high]
        if len(found) <= most:
            return found
    every = -(-len(found) // most)
    return found[::every]


# Error, budget, profile.


def error_spread(noise: Noise, confidence: float, name: str) -> Any:
    """How far an answer can stray from the truth by its noise, in units of the answer; `fitted` gives it a width."""
    mechanism: Any = noise.mechanism
    if noise.measurement.divisor != 1:
        mechanism = replace(mechanism, sensitivity=mechanism.sensitivity / noise.measurement.divisor)
    spec: Any = mechanisms.noise_density(mechanism, confidence=confidence, title=name).to_dict(validate=False)
    spec.pop("title", None)
    spec["height"] = 170
    for layer in spec.get("layer", [spec]):
        axes = layer.get("encoding", {})
        axes.get("x", {})["title"] = f"error of {name}"
        whole = {"tickMinStep": 1} if noise.measurement.is_whole else {}
        axes.get("x", {})["axis"] = {"tickCount": 6, "format": ",~f", **whole}
        axes.get("y", {}).update(title=None, axis={"labels": False, "ticks": False, "domain": False, "grid": False})
    return spec


def profile(risk: RiskProfile) -> Any:
    """The ratio that a profile allows and the ε that it implies, on a line that can be drawn; None where none can."""
    binding = risk.binding()
    lines: list[dict[str, Any]] = [{}]
    if binding is not None:  # a binding point on the edge p = 0 has no line along q
        lines += [{"along": "p", "at": binding.q}, {"along": "q", "at": risk.shape.p[1]}]
    for line in lines:
        try:
            spec = profiles.profile_chart(risk, title=" ", **line).to_dict(validate=False)
        except GuessproofError:
            continue
        spec.pop("title", None)
        return spec
    return None


def fitted(spec: Any, width: int, margin: int) -> Any:
    """A chart of the house at another width, its bars in proportion; `margin` is left for the axis."""
    inner = width - margin
    if isinstance(spec, dict):
        long = spec.get("title")
        if isinstance(long, str) and len(long) > MOST_LETTERS * width:
            spec = {**spec, "title": textwrap.wrap(long, int(MOST_LETTERS * width))}
        found = {k: inner if k == "width" and v == HOUSE else fitted(v, width, margin) for k, v in spec.items()}
        if found.get("type") == "bar" and "size" in found:
            found["size"] *= inner / HOUSE
        return found
    return [fitted(v, width, margin) for v in spec] if isinstance(spec, list) else spec


def budget(parts: Sequence[tuple[str, float, str]], whole: float, width: int) -> Any:
    """What was spent of a budget, on what, and what is left: (label, amount, kind) with kind spent, this or left."""
    start, rows = 0.0, list[dict[str, Any]]()
    for label, amount, kind in parts:
        rows.append({"from": start, "to": start + amount, "kind": kind, "text": label})
        start += amount
    x = alt.X(
        "from:Q",
        title="ε",
        scale=alt.Scale(domain=[0, max(whole, start)], nice=False),
        axis=alt.Axis(tickCount=5 if width < 500 else 9, grid=False),
    )
    colour = alt.Color(
        "kind:N", scale=alt.Scale(domain=["spent", "this", "left"], range=[QUIET, ACCENT, "#eef1f3"]), legend=None
    )
    base = alt.Chart(data_of(rows))
    return (
        base.mark_rect(stroke="white", strokeWidth=1.5)
        .encode(x=x, x2="to:Q", color=colour, y=alt.value(0), y2=alt.value(26))
        .properties(width=width - 20, height=26)
    )
