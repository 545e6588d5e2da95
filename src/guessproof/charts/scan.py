"""How exposed the records are: a histogram of their advantages, with the plan's limit. Internal, like all of a scan."""

from __future__ import annotations

from typing import Any

import altair as alt

from guessproof.charts.rows import data_of
from guessproof.scanning.result import Scan

INK, ALARM, QUIET = "#1f3a5f", "#d1495b", "#8a94a3"
WIDTH, HEIGHT = 620, 260


def exposure_histogram(found: Scan) -> Any:
    """Records by the upper end of their advantage; those that may exceed the limit stand out."""
    rows = [
        {"low": b.low, "high": b.high, "count": b.count, "over": found.limit is not None and b.low >= found.limit}
        for b in found.histogram
        if b.count
    ]
    top = max((b.high for b in found.histogram), default=1.0) or 1.0
    if found.limit is not None:
        top = max(top, found.limit)
    x = alt.X(
        "low:Q",
        title="advantage of a record, at most",
        scale=alt.Scale(domain=[0, top * 1.04], nice=False),
        axis=alt.Axis(format="~%", grid=False, tickCount=8),
    )
    peak = max((r["count"] for r in rows), default=1)
    y = alt.Y("count:Q", title="records", scale=alt.Scale(domain=[0, peak * 1.15], nice=False))
    bars = (
        alt.Chart(data_of(rows))
        .mark_bar(stroke="white", strokeWidth=0.5)
        .encode(
            x=x,
            x2="high:Q",
            y=y,
            y2=alt.datum(0),
            color=alt.condition(alt.datum.over, alt.value(ALARM), alt.value(INK)),
            tooltip=[
                alt.Tooltip("low:Q", format=".3%", title="more than"),
                alt.Tooltip("high:Q", format=".3%", title="at most"),
                alt.Tooltip("count:Q", format=",", title="records"),
            ],
        )
    )
    layers = [bars, *(_limit(found.limit, x, found.limit < 0.25 * top) if found.limit is not None else [])]
    heading = alt.TitleParams(
        f"{found.judged:,} records, “{found.goal}” at ε = {found.epsilon:.4g}",
        subtitle=_subtitle(found),
        subtitleColor=ALARM,
        anchor="start",
    )
    return alt.layer(*layers).properties(width=WIDTH, height=HEIGHT, title=heading)


def _limit(limit: float, x: Any, near_zero: bool) -> list[Any]:
    data = data_of([{"low": limit, "text": f"limit {limit:.3g}"}])
    rule = alt.Chart(data).mark_rule(color=ALARM, strokeWidth=2).encode(x=x)
    label = (
        alt.Chart(data)
        .mark_text(color=ALARM, align="left" if near_zero else "right", dx=6 if near_zero else -6, fontWeight="bold")
        .encode(x=x, y=alt.value(10), text="text:N")
    )
    return [rule, label]


def _subtitle(found: Scan) -> list[str]:
    lines = [found.banner]
    if found.exceeding is not None:
        surely, possibly = found.exceeding
        count = f"{surely:,}" if surely == possibly else f"{surely:,} to {possibly:,}"
        lines.append(f"beyond the limit: {count}")
    return lines


def drawn(found: Scan, kind: str) -> bytes:
    """The histogram as the bytes of an .svg, .png or .html file."""
    import vl_convert as vlc

    chart = exposure_histogram(found).configure_view(stroke=None).to_json()
    if kind == ".png":
        return vlc.vegalite_to_png(chart, scale=2)
    if kind == ".html":
        picture = vlc.vegalite_to_svg(chart)
        return f'<!doctype html><html lang="en"><meta charset="utf-8"><title>{found.banner}</title>{picture}'.encode()
    return vlc.vegalite_to_svg(chart).encode()
