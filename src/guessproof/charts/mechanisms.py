"""Noise, its error against ε, and the room between accuracy and risk."""

from __future__ import annotations

import math
from typing import Any

import altair as alt
import numpy as np

from guessproof.charts.rows import data_of
from guessproof.mechanisms import MECHANISMS, Mechanism
from guessproof.rounded import down, up

INK, QUIET, SAFE, ALARM = "#1f3a5f", "#8a94a3", "#2a9d8f", "#c8553d"
SHADES = [INK, SAFE, "#e9a23b", "#7a5c99", ALARM]
WIDTH, HEIGHT = 460, 280


def noise_density(mechanism: Mechanism, *, confidence: float = 0.95, title: str = "", unit: str = "") -> Any:
    """How the noise is spread, with the band that holds it with the given confidence.

    >>> from guessproof.mechanisms.laplace import Laplace
    >>> noise_density(Laplace(1, 0.5)).to_dict()["width"]
    460
    """
    error = mechanism.error(confidence=confidence)
    reach = max(1.9 * error, 3 * mechanism.scale)
    end = float(np.ceil(reach)) if mechanism.is_whole else reach
    name = f"noise ({unit})" if unit else "noise"
    x = alt.X("z:Q", title=name, scale=alt.Scale(domain=[-end, end], nice=False))
    draw = _bars if mechanism.is_whole else _curve
    picture = draw(mechanism, error, end, x)
    subtitle = f"{100 * confidence:.4g} % of the noise lies within ±{error:.3g} {unit}".strip()
    name = f"{type(mechanism).__name__} noise, ε = {mechanism.epsilon:g}, sensitivity {mechanism.sensitivity:g}"
    heading = alt.TitleParams(title or name, subtitle=subtitle, subtitleColor=SAFE, anchor="start")
    return picture.properties(width=WIDTH, height=HEIGHT, title=heading)


def _curve(mechanism: Any, error: float, end: float, x: Any) -> Any:
    z = np.unique(np.concatenate([np.linspace(-end, end, 401), [-error, 0.0, error]]))
    rows = [{"z": float(a), "density": float(d)} for a, d in zip(z, mechanism.density(z), strict=True)]
    inside = [row for row in rows if abs(row["z"]) <= error]
    y = alt.Y("density:Q", title="density", axis=alt.Axis(tickCount=4))
    band = alt.Chart(data_of(inside)).mark_area(color=SAFE, opacity=0.25).encode(x=x, y=y)
    edges = alt.Chart(data_of([inside[0], inside[-1]])).mark_rule(color=SAFE).encode(x=x, y=y)
    line = alt.Chart(data_of(rows)).mark_line(color=INK, strokeWidth=2.5).encode(x=x, y=y)
    return alt.layer(band, edges, line)


def _bars(mechanism: Any, error: float, end: float, x: Any) -> Any:
    k = np.arange(-end, end + 1)
    rows = [
        {"z": float(a), "mass": float(m), "inside": bool(abs(a) <= error)}
        for a, m in zip(k, mechanism.mass(k), strict=True)
    ]
    colour = alt.condition("datum.inside", alt.value(SAFE), alt.value(QUIET))
    size = max(1.0, 0.7 * WIDTH / len(rows))
    return (
        alt.Chart(data_of(rows))
        .mark_bar(size=size)
        .encode(x=x, y=alt.Y("mass:Q", title="probability", axis=alt.Axis(tickCount=4)), color=colour)
    )


def error_curves(
    *,
    sensitivity: float = 1.0,
    confidence: float = 0.95,
    delta: float = 1e-6,
    epsilons: tuple[float, float] = (0.05, 5.0),
    within: float | None = None,
    points: int = 80,
) -> Any:
    """The error at a confidence against ε, one line a mechanism; ``within`` marks the accuracy that is wanted.

    >>> len(error_curves(points=5).to_dict()["layer"])
    2
    """
    grid = np.geomspace(*epsilons, points)
    kinds = _kinds(sensitivity, delta)
    rows: list[dict[str, Any]] = [
        {"epsilon": e, "error": kind(sensitivity, e, **options).error(confidence=confidence), "noise": name}
        for name, (kind, options) in kinds.items()
        for e in map(float, grid)
    ]
    rows = [row for row in rows if row["error"] > 0]
    sizes = [row["error"] for row in rows]
    x = _log("x", "epsilon", "ε", epsilons)
    y = _log("y", "error", f"error at {100 * confidence:.4g} % confidence", (0.8 * min(sizes), 1.5 * max(sizes)))
    names = list(kinds)
    colour = alt.Color(
        "noise:N",
        title=None,
        scale=alt.Scale(domain=names, range=SHADES[: len(names)]),
        legend=alt.Legend(orient="top-right", fillColor="white", padding=6, symbolStrokeWidth=3),
    )
    lines = alt.Chart(data_of(rows)).mark_line(strokeWidth=2.5).encode(x=x, y=y, color=colour)
    whole = [name for name, (kind, _) in kinds.items() if kind.is_whole]
    layers = [lines.transform_filter(alt.FieldOneOfPredicate("noise", [n for n in names if n not in whole]))]
    if whole:
        steps = lines.mark_line(strokeWidth=1.5, interpolate="step-after")
        layers.insert(0, steps.transform_filter(alt.FieldOneOfPredicate("noise", whole)))
    if within is not None:
        layers += _wanted(within, epsilons[0], x, y)
    title = f"How far the answer may be off (sensitivity {sensitivity:g})"
    return alt.layer(*layers).properties(width=WIDTH, height=HEIGHT, title=alt.TitleParams(title, anchor="start"))


def _kinds(sensitivity: float, delta: float) -> dict[str, tuple[Any, dict[str, float]]]:
    """Every mechanism that suits this sensitivity, by its label, with its options; those for whole numbers first."""
    found: dict[str, tuple[Any, dict[str, float]]] = {}
    for kind in sorted(MECHANISMS.values(), key=lambda kind: not kind.is_whole):
        if kind.is_whole and sensitivity != round(sensitivity):
            continue
        label = f"{kind.chart_label}, δ = {delta:g}" if kind.has_delta else kind.chart_label
        found[label] = kind, {"delta": delta} if kind.has_delta else {}
    return found


def _wanted(within: float, left: float, x: Any, y: Any) -> list[Any]:
    data = data_of([{"error": within, "epsilon": left, "text": f"wanted: within {within:g}"}])
    rule = alt.Chart(data).mark_rule(color=QUIET, strokeDash=[4, 4]).encode(y=y)
    label = alt.Chart(data).mark_text(color=QUIET, align="left", dx=6, dy=-8).encode(x=x, y=y, text="text:N")
    return [rule, label]


def _log(channel: str, field: str, title: str, ends: tuple[float, float]) -> Any:
    """A logarithmic axis with ticks at 1, 2 and 5."""
    ticks = [m * 10.0**k for k in range(-9, 12) for m in (1, 2, 5)]
    kind = alt.X if channel == "x" else alt.Y
    return kind(
        f"{field}:Q",
        title=title,
        scale=alt.Scale(type="log", domain=list(ends), nice=False),
        axis=alt.Axis(values=ticks, format="~g", labelOverlap=True),
    )


def feasible_interval(*, accuracy: float, risk: float, chosen: float | None = None, title: str = "") -> Any:
    """The ε that the accuracy needs, the ε that the risk allows (infinite: no limit), and what lies between.

    >>> feasible_interval(accuracy=0.2, risk=0.9).to_dict()["height"]
    110
    """
    fits, limited = accuracy <= risk, math.isfinite(risk)
    low, high = min(accuracy, risk), max(accuracy, risk) if limited else 30 * accuracy
    x = _log("x", "epsilon", "ε", (low / 3, high * 3 if limited else high))
    colour = SAFE if fits else ALARM
    band = data_of([{"epsilon": low, "to": high}])
    room = alt.Chart(band).mark_rect(color=colour, opacity=0.25).encode(x=x, x2="to:Q")
    ends = [{"epsilon": accuracy, "text": f"accuracy needs ≥ {up(accuracy, 3)}"}]
    if limited:
        ends.append({"epsilon": risk, "text": f"risk allows ≤ {down(risk, 3)}"})
    rules = alt.Chart(data_of(ends)).mark_rule(color=colour, strokeWidth=2).encode(x=x)
    roomy = high > 6 * low  # then the words stand inside the band
    layers = [room, rules]
    for row in ends:
        at_low = row["epsilon"] == low and low < high
        layers.append(_end_label(row, at_low != roomy, x, colour, 30 if at_low else 52))
    if chosen is not None:
        layers += _chosen(chosen, x)
    words = "any ε in the shaded range will do" if fits else f"no ε fits: {up(accuracy / risk, 3)} × too much is asked"
    heading = alt.TitleParams(title or "Room for ε", subtitle=words, subtitleColor=colour, anchor="start")
    return alt.layer(*layers).properties(width=WIDTH, height=110, title=heading)


def _end_label(row: dict[str, Any], before: bool, x: Any, colour: str, height: float) -> Any:
    side, gap = ("right", -6) if before else ("left", 6)
    return (
        alt.Chart(data_of([row]))
        .mark_text(color=colour, align=side, dx=gap, fontWeight="bold")
        .encode(x=x, y=alt.value(height), text="text:N")
    )


def _chosen(epsilon: float, x: Any) -> list[Any]:
    data = data_of([{"epsilon": epsilon, "text": f"chosen {epsilon:.3g}"}])
    rule = alt.Chart(data).mark_rule(color=INK, strokeWidth=2.5).encode(x=x)
    label = (
        alt.Chart(data)
        .mark_text(color=INK, align="left", dx=6, fontWeight="bold")
        .encode(x=x, y=alt.value(92), text="text:N")
    )
    return [rule, label]
