"""What the attacker believes before and after, as ε grows."""

from __future__ import annotations

from typing import Any

import altair as alt
import numpy as np

from guessproof.charts.rows import data_of
from guessproof.risk import Attack
from guessproof.rounded import percent_up

INK, QUIET, SAFE = "#1f3a5f", "#8a94a3", "#2a9d8f"


def belief_curve(attack: Attack, epsilon: float, *, title: str, unit: str = "", points: int = 200) -> Any:
    """The exact belief after the worst output against ε, with the chosen ε marked on it.

    The attack must name its true value. The marked point's label gives both beliefs in percent.
    """
    end = max(3 * epsilon, attack.epsilon(posterior=max(0.8, 0.5 * (1 + attack.prior))))
    grid = np.linspace(0, end, points)
    bound = np.asarray(attack.posterior(epsilon=grid).bound)
    curve = [{"epsilon": float(e), "belief": float(b)} for e, b in zip(grid, bound, strict=True)]
    chosen = float(np.asarray(attack.posterior(epsilon=epsilon).bound))
    mark = [{"epsilon": epsilon, "belief": chosen, "before": attack.prior}]
    name = f"ε per {unit}" if unit else "ε"
    x = alt.X("epsilon:Q", title=name, axis=alt.Axis(tickCount=6), scale=alt.Scale(domain=[0, end], nice=False))
    y = alt.Y("belief:Q", title="belief in the goal", axis=alt.Axis(format="%"), scale=alt.Scale(domain=[0, 1]))
    line = alt.Chart(data_of(curve)).mark_line(color=INK, strokeWidth=2.5).encode(x=x, y=y)
    before = alt.Chart(data_of(mark)).mark_rule(color=QUIET, strokeDash=[4, 4]).encode(y="before:Q")
    named = (
        alt.Chart(data_of([{"epsilon": end, "belief": attack.prior, "text": "before the release"}]))
        .mark_text(color=QUIET, align="right", dx=-4, dy=12)
        .encode(x=x, y=y, text="text:N")
    )
    drop = alt.Chart(data_of(mark)).mark_rule(color=SAFE).encode(x="epsilon:Q")
    point = alt.Chart(data_of(mark)).mark_point(color=SAFE, filled=True, size=90, opacity=1).encode(x=x, y=y)
    text = f"ε = {epsilon:.4g}: {attack.prior:.0%} becomes at most {percent_up(chosen, 0)}"
    words = [{"epsilon": epsilon, "belief": chosen, "text": text}]
    label = (
        alt.Chart(data_of(words))
        .mark_text(color=SAFE, align="left", dx=10, dy=38, fontWeight="bold")
        .encode(x=x, y=y, text="text:N")
    )
    return alt.layer(line, before, named, drop, point, label).properties(width=460, height=280, title=title)
