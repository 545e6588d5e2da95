"""Risk profiles in pictures: the ratio that is allowed, the ε that it implies, and where it binds.

After Figures 1-3 of Kazan & Reiter, draft of 23 April 2023.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Literal

import altair as alt
import numpy as np
from numpy.typing import NDArray

from guessproof.charts.rows import data_of
from guessproof.errors import ParameterError
from guessproof.risk import Binding, PointProfile, ProfileLimits, RiskProfile
from guessproof.rounded import down

INK, QUIET, SAFE, ALARM, NOTHING = "#1f3a5f", "#8a94a3", "#2a9d8f", "#d1495b", "#e9ecf0"
Along = Literal["p", "q", "prior"]
Floats = NDArray[np.float64]

_WORDS = {
    "p": "p, prior probability of being in the data",
    "q": "q, prior probability of the value, if in the data",
    "prior": "pq, prior probability of the disclosure",
}


@dataclass(frozen=True)
class _Line:
    """A line through the square of priors on which a profile is drawn."""

    along: Along
    fixed: float
    """p, or q where p runs."""

    def place(self, t: Any) -> tuple[Any, Any]:
        if self.along == "p":
            return t, np.full_like(t, self.fixed)
        return np.full_like(t, self.fixed), np.minimum(t / self.fixed, 1) if self.along == "prior" else t

    def position(self, binding: Binding) -> float:
        return {"p": binding.p, "q": binding.q, "prior": binding.prior}[self.along]

    @property
    def title(self) -> str:
        return f"{_WORDS[self.along]} ({'q' if self.along == 'p' else 'p'} = {self.fixed:.3g})"

    def grid(self, count: int) -> Floats:
        """From near 0 to the end: evenly, or on a logarithmic scale for priors."""
        end = self.fixed if self.along == "prior" else 1.0
        if self.along == "prior":
            return end * np.logspace(-4, 0, count)
        return np.linspace(0, end, count + 1)[1:]


@dataclass(frozen=True)
class _Curve:
    """A profile along a line, with everything that a panel needs."""

    line: _Line
    at: Floats
    ratio: Floats
    epsilon: Floats
    certain: Floats
    """The ratio that certainty would have."""
    lowest: float
    binding: Binding | None

    @property
    def limits(self) -> bool:
        return bool(np.isfinite(self.epsilon).any())

    @property
    def highest_ratio(self) -> float:
        """How far the axis of ratios reaches: a dozen times the smallest, to a round number."""
        wanted = min(float(np.max(self.ratio)), 12 * float(np.min(self.ratio)))
        return 1.1 * max(wanted, 1.5)

    @property
    def highest_epsilon(self) -> float:
        finite = self.epsilon[np.isfinite(self.epsilon)]
        return 1.05 * min(float(finite.max()), 3 * self.lowest + 0.5) if finite.size else 1.0

    def x(self, *, labels: bool = True) -> alt.X:
        scale = alt.Scale(type="log", nice=False) if self.line.along == "prior" else alt.Scale(domain=[0, 1])
        if self.line.along == "prior":
            axis = alt.Axis(labels=labels, format="~g", values=[10.0**k for k in range(-6, 1)])
        else:
            axis = alt.Axis(labels=labels, tickCount=6)
        return alt.X("at:Q", title=self.line.title if labels else None, scale=scale, axis=axis)


def profile_chart(
    profile: RiskProfile,
    *,
    along: Along | None = None,
    at: float | None = None,
    title: str | None = None,
    points: int = 400,
) -> Any:
    """The allowed ratio above and the ε that it implies below, with the binding point marked (Figure 1).

    The line runs along the prior that the profile leaves free, else along q through the binding point;
    ``along`` and ``at`` (the other prior) choose another. The dashed line is the ratio of certainty.
    """
    curve = _curve(profile, along, at, points)
    top = curve.highest_ratio
    y = alt.Y(
        "ratio:Q",
        title=["allowed ratio", "of posterior to prior"],
        scale=alt.Scale(type="log", domain=[1, top], nice=False),
        axis=alt.Axis(format="~g", values=_round_ratios(top)),
    )
    rows = _rows(curve, top)
    above = alt.Chart(data_of(rows))
    allowed = above.mark_line(color=INK, strokeWidth=2.5, clip=True).encode(x=curve.x(labels=False), y=y)
    certain = above.mark_line(color=QUIET, strokeDash=[4, 4], clip=True).encode(
        x=curve.x(labels=False), y=alt.Y("certain:Q", scale=alt.Scale(type="log", domain=[1, top], nice=False))
    )
    layers = certain + _certainty(curve, top) + allowed + _marks(curve, "ratio", None)
    upper = layers.properties(width=460, height=170)

    y = alt.Y(
        "epsilon:Q",
        title="largest ε",
        scale=alt.Scale(domain=[0, curve.highest_epsilon], nice=False),
        axis=alt.Axis(tickCount=5),
    )
    implied = (
        alt.Chart(data_of([row for row in rows if row["epsilon"] is not None]))
        .mark_line(color=INK, strokeWidth=2.5, clip=True)
        .encode(x=curve.x(), y=y)
    )
    marks = _marks(curve, "epsilon", _words(curve)) if curve.limits else _no_limit(curve)
    lower = (implied + marks).properties(width=460, height=190)
    stacked = alt.vconcat(upper, lower, spacing=12).resolve_scale(x="shared")
    return stacked.properties(title=_title(title or repr(profile), _subtitle(profile)))


def profile_curve(
    profile: RiskProfile,
    *,
    along: Along | None = None,
    at: float | None = None,
    title: str | None = None,
    points: int = 240,
) -> Any:
    """The allowed ratio as one line, coloured by the ε that it implies (Figures 2 and 3).

    Grey where the ratio is above certainty, so that nothing is limited.
    """
    curve = _curve(profile, along, at, points)
    top = curve.highest_ratio
    segments = [
        {
            "at": float(curve.at[i]),
            "end": float(curve.at[i + 1]),
            "ratio": min(float(curve.ratio[i]), top),
            "to": min(float(curve.ratio[i + 1]), top),
            "epsilon": _number(curve.epsilon[i]),
        }
        for i in range(len(curve.at) - 1)
        if min(curve.ratio[i], curve.ratio[i + 1]) < top
    ]
    y = alt.Y(
        "ratio:Q",
        title=["allowed ratio", "of posterior to prior"],
        scale=alt.Scale(type="log", domain=[1, top], nice=False),
        axis=alt.Axis(format="~g", values=_round_ratios(top)),
    )
    base = alt.Chart(data_of(segments)).mark_rule(strokeWidth=4, strokeCap="round")
    places: dict[str, Any] = {"x": curve.x(), "x2": "end:Q", "y": y, "y2": "to:Q"}
    free = base.transform_filter("datum.epsilon === null").encode(color=alt.value(QUIET), **places)
    bound = base.transform_filter("datum.epsilon !== null").encode(
        color=_colour(curve.lowest, curve.highest_epsilon), **places
    )
    layers = free + bound + _marks(curve, "ratio", _words(curve))
    return layers.properties(
        width=460, height=240, title=_title(title or repr(profile), _subtitle(profile))
    ).resolve_scale(color="independent")


def epsilon_map(profile: RiskProfile, *, title: str | None = None, count: int = 60) -> Any:
    """The ε that each pair of priors allows, with the binding pair marked; pale where nothing is limited."""
    if isinstance(profile.shape, ProfileLimits) and profile.shape.fixed:
        raise ParameterError("profile", profile, "promises something on one line only", "draw it with profile_chart")
    edges = np.linspace(0, 1, count + 1)
    middle = (edges[:-1] + edges[1:]) / 2
    p, q = np.meshgrid(middle, middle, indexing="ij")
    epsilon = profile.implied(p, q)
    half = 0.5 / count
    # Each rectangle reaches a little under the next, so that no seams show.
    reach = 1.2 * half
    cells = [
        {"p": a - half, "p2": min(a + reach, 1.0), "q": b - half, "q2": min(b + reach, 1.0), "epsilon": _number(e)}
        for a, b, e in zip(p.ravel().tolist(), q.ravel().tolist(), epsilon.ravel().tolist(), strict=True)
    ]
    finite = epsilon[np.isfinite(epsilon)]
    lowest = profile.epsilon() if math.isfinite(profile.epsilon()) else 0.0
    top = min(float(finite.max()), 4 * lowest + 0.5) if finite.size else 1.0
    x = alt.X("p:Q", title=_WORDS["p"], scale=alt.Scale(domain=[0, 1]), axis=alt.Axis(tickCount=6, grid=False))
    y = alt.Y("q:Q", title=_WORDS["q"], scale=alt.Scale(domain=[0, 1]), axis=alt.Axis(tickCount=6, grid=False))
    base = alt.Chart(data_of(cells)).mark_rect()
    places: dict[str, Any] = {"x": x, "x2": "p2:Q", "y": y, "y2": "q2:Q"}
    free = base.transform_filter("datum.epsilon === null").encode(color=alt.value(NOTHING), **places)
    bound = base.transform_filter("datum.epsilon !== null").encode(color=_colour(lowest, top), **places)
    layers = free + bound
    binding = profile.binding()
    if binding is not None:
        left = binding.p > 0.5
        place = [{"p": binding.p, "q": binding.q, "text": f"ε = {down(profile.epsilon(), 4)}"}]
        mark = alt.Chart(data_of(place)).encode(x=x, y=y)
        layers += mark.mark_point(color="white", fill=ALARM, size=130, strokeWidth=2, opacity=1, clip=False)
        words: dict[str, Any] = {
            "fontSize": 13,
            "fontWeight": "bold",
            "align": "right" if left else "left",
            "dx": -12 if left else 12,
            "dy": -10 if binding.q < 0.5 else 12,
        }
        # White behind red stays readable on every colour of the map.
        layers += mark.mark_text(color="white", stroke="white", strokeWidth=4, strokeJoin="round", **words).encode(
            text="text:N"
        )
        layers += mark.mark_text(color=ALARM, **words).encode(text="text:N")
    return layers.properties(
        width=380, height=340, title=_title(title or repr(profile), f"{_subtitle(profile)}; pale: no limit")
    ).resolve_scale(color="independent")


def _curve(profile: RiskProfile, along: Along | None, at: float | None, count: int) -> _Curve:
    line = _line(profile, along, at)
    grid = line.grid(count)
    binding = profile.binding()
    if binding is not None and 0 < line.position(binding) < 1 and line.fixed > 0:
        grid = np.unique(np.append(grid, line.position(binding)))
    p, q = line.place(grid)
    ratio = profile.allowed(p, q)
    promised = np.isfinite(ratio)
    if not promised.any():
        raise ParameterError("at", line.fixed, "the profile promises nothing there", "choose another line")
    grid, p, q, ratio = grid[promised], p[promised], q[promised], ratio[promised]
    epsilon = profile.implied(p, q)
    lowest = profile.epsilon() if math.isfinite(profile.epsilon()) else 0.0
    shown = binding if binding is not None and _on(line, binding) else None
    return _Curve(line, grid, ratio, epsilon, 1 / (p * q), lowest, shown)


def _line(profile: RiskProfile, along: Along | None, at: float | None) -> _Line:
    """The line to draw: the one asked for, else the profile's own, else along q through its binding point."""
    if along not in (None, "p", "q", "prior"):
        raise ParameterError("along", along, "is not an axis", 'give "p", "q" or "prior"')
    shape, binding = profile.shape, profile.binding()
    if along is None:
        along = "prior" if isinstance(shape, PointProfile) else "q"
        if isinstance(shape, ProfileLimits) and shape.fixed == "q":
            along = "p"
    if at is None:
        if isinstance(shape, ProfileLimits) and shape.fixed:
            at = shape.at
        elif binding is None:
            at = shape.p[1]
        else:
            at = binding.q if along == "p" else binding.p
    if not 0 < at <= 1:
        raise ParameterError("at", at, "is not a prior on which a line can be drawn", "give at, above 0 up to 1")
    return _Line(along, float(at))


def _on(line: _Line, binding: Binding) -> bool:
    other = binding.q if line.along == "p" else binding.p
    return abs(other - line.fixed) < 1e-6


def _no_limit(curve: _Curve) -> Any:
    place = [{"at": float(curve.at[-1]), "epsilon": 0.5, "text": "no ε is too large here"}]
    label = alt.Chart(data_of(place)).mark_text(color=QUIET, fontSize=13, align="right", dx=-8)
    return label.encode(x=alt.X("at:Q"), y=alt.Y("epsilon:Q"), text="text:N")


def _certainty(curve: _Curve, top: float) -> Any:
    """The name of the dashed line, where there is room for it."""
    inside = np.flatnonzero((curve.certain < 0.85 * top) & (curve.certain > 1.05))
    if not inside.size:
        return alt.layer()
    # At its right end if it stays well above the axis, else where it enters the panel.
    ends_high = bool(curve.certain[inside[-1]] > 1.5)
    at = int(inside[-1] if ends_high else inside[0])
    place = [{"at": float(curve.at[at]), "ratio": float(curve.certain[at]), "text": "certainty"}]
    base = alt.Chart(data_of(place)).encode(x=alt.X("at:Q"), y=alt.Y("ratio:Q"), text="text:N")
    end: dict[str, Any] = (
        {"align": "right", "dx": -4, "dy": -12} if ends_high else {"align": "left", "dx": 10, "dy": -2}
    )
    return base.mark_text(color="white", stroke="white", strokeWidth=5, **end) + base.mark_text(color=QUIET, **end)


def _rows(curve: _Curve, top: float) -> list[dict[str, float | None]]:
    """The curves as rows; what leaves the panel is cut a little above it, so that lines stay lines."""
    return [
        {"at": float(t), "ratio": min(float(r), 2 * top), "certain": min(float(c), 2 * top), "epsilon": _number(e)}
        for t, r, c, e in zip(curve.at, curve.ratio, curve.certain, curve.epsilon, strict=True)
    ]


def _marks(curve: _Curve, field: str, text: str | None) -> Any:
    """The binding point, the ε through it, and its label on whichever side has room."""
    binding = curve.binding
    if binding is None:
        return alt.layer()
    position = curve.line.position(binding)
    if curve.line.along == "prior":
        position = max(position, float(curve.at[0]))
        share = 1 + math.log10(position / curve.line.fixed) / 4
    else:
        share = position
    height = binding.ratio if field == "ratio" else curve.lowest
    place = [{"at": position, field: height, "text": text or ""}]
    base = alt.Chart(data_of(place))
    x, y = alt.X("at:Q"), alt.Y(f"{field}:Q")
    layers = base.mark_rule(color=SAFE, strokeDash=[2, 3]).encode(x=x)
    if field == "epsilon":
        layers += base.mark_rule(color=SAFE, strokeDash=[2, 3]).encode(y=y)
    layers += base.mark_point(color=SAFE, filled=True, size=110, opacity=1).encode(x=x, y=y)
    if text is None:
        return layers
    right = share > 0.5
    label = base.mark_text(
        color=SAFE,
        fontWeight="bold",
        fontSize=12,
        align="right" if right else "left",
        dx=-10 if right else 10,
        dy=14,
        baseline="middle",
    )
    return layers + label.encode(x=x, y=y, text="text:N")


def _words(curve: _Curve) -> str:
    binding = curve.binding
    if binding is None:
        return ""
    where = f"{'prior' if curve.line.along == 'prior' else curve.line.along} = {curve.line.position(binding):.3g}"
    return f"ε = {down(curve.lowest, 4)} at {where}, ratio {binding.ratio:.3g}"


def _colour(low: float, high: float) -> alt.Color:
    scale = alt.Scale(scheme="viridis", domain=[low, max(high, low + 0.1)], clamp=True)
    return alt.Color("epsilon:Q", title="largest ε", scale=scale, legend=alt.Legend(format=".2~f", tickCount=5))


def _subtitle(profile: RiskProfile) -> str:
    epsilon = profile.epsilon()
    return f"ε = {down(epsilon, 4)} ({profile.status})" if math.isfinite(epsilon) else "never binds: no limit on ε"


def _title(text: str, subtitle: str) -> alt.TitleParams:
    return alt.TitleParams(text, subtitle=subtitle, anchor="start", subtitleColor=QUIET, offset=10)


def _round_ratios(top: float) -> list[float]:
    steps = [1, 1.2, 1.5, 2, 3, 5, 7, 10, 15, 20, 30, 50, 70, 100, 200, 500, 1000, 10_000, 100_000]
    shown = [step for step in steps if step <= top]
    # A narrow axis keeps the fine steps, a wide one the round ones.
    return [s for s in shown if top < 6 or s not in (1.2, 1.5, 7, 15, 70)] if top < 200 else [1, 10, 100, 1000]


def _number(value: Any) -> float | None:
    return float(value) if math.isfinite(value) else None
