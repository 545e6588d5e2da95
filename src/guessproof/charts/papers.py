"""The works' figures, redrawn from recomputed data."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import altair as alt
import vl_convert

from guessproof.charts.rows import data_of
from guessproof.errors import ParameterError
from guessproof.papers import figures

INK, QUIET, SAFE, ALARM = "#1f3a5f", "#8a94a3", "#2a9d8f", "#c8553d"
SHADES = ["#9fc4e0", "#6fa3cc", "#4682b0", "#2f6290", "#1f3a5f"]
WIDTH, HEIGHT = 460, 280


def slides_plot() -> Any:
    """[slides] ε against advantage for priors 0.01 to 0.3, and the worst case.

    >>> slides_plot().to_dict()["width"]
    460
    """
    rows = figures.slides_plot()
    order = ["worst-case", "0.3", "0.2", "0.1", "0.05", "0.01"]
    colour = alt.Color(
        "prior:N", title="prior", sort=order, scale=alt.Scale(domain=order, range=[ALARM, *reversed(SHADES)])
    )
    return (
        alt.Chart(data_of(rows))
        .mark_line(strokeWidth=2, clip=True)
        .encode(
            x=alt.X("advantage:Q", title="advantage allowed", scale=alt.Scale(domain=[0, 1])),
            y=alt.Y("epsilon:Q", title="largest ε (values R = 1 apart)", scale=alt.Scale(domain=[0, 9])),
            color=colour,
            strokeDash=alt.condition("datum.prior == 'worst-case'", alt.value([6, 3]), alt.value([1, 0])),
        )
        .properties(width=WIDTH, height=HEIGHT, title="The largest safe ε for a given advantage")
    )


def _boxes(rows: list[figures.Row], domain: list[float], parts: list[str], colours: list[str], title: str) -> Any:
    """Rectangles on a square canvas without axes."""
    scale = alt.Scale(domain=domain, nice=False)
    return (
        alt.Chart(data_of(rows), title=title)
        .mark_rect(stroke="white", strokeWidth=1)
        .encode(
            x=alt.X("x:Q", axis=None, scale=scale),
            x2="x2:Q",
            y=alt.Y("y:Q", axis=None, scale=scale),
            y2="y2:Q",
            color=alt.Color(
                "part:N", title=None, scale=alt.Scale(domain=parts, range=colours), legend=alt.Legend(orient="bottom")
            ),
        )
        .properties(width=230, height=230)
    )


def lp_figure_1() -> Any:
    """[LP] Figure 1: the ball around the true value, in the middle and in a corner of a uniform prior."""
    data = figures.lp_figure_1()
    parts = ["all values", "values compared with", "correct guesses"]
    colours = ["#e8ecf1", "#9fc4e0", SAFE]
    panels = []
    for point in data["points"]:
        boxes = [row for row in data["boxes"] if row["place"] == point["place"]]
        drawing = _boxes(boxes, [-0.06, 1.06], parts, colours, f"true value {point['place']}")
        scale = alt.Scale(domain=[-0.06, 1.06], nice=False)
        x, y = alt.X("x:Q", axis=None, scale=scale), alt.Y("y:Q", axis=None, scale=scale)
        dot = alt.Chart(data_of([point])).mark_point(filled=True, color=INK, size=70, opacity=1).encode(x=x, y=y)
        reach = alt.Chart(data_of([point])).mark_rule(color=ALARM, strokeWidth=2).encode(x=x, x2="far:Q", y=y)
        words = "a" if point["distance"] < 0.4 else "2a"
        middle = [{"x": (point["x"] + point["far"]) / 2, "y": point["y"], "text": words}]
        label = (
            alt.Chart(data_of(middle))
            .mark_text(color=ALARM, dy=-9, fontSize=13, fontWeight="bold")
            .encode(x=x, y=y, text="text:N")
        )
        panels.append(drawing + reach + dot + label)
    return alt.hconcat(*panels).properties(title="From a corner the same weight reaches twice as far")


def lp_figure_2a() -> Any:
    """[LP] Figure 2a: a square for AND, a cross for OR."""
    rows = figures.lp_figure_2a()
    panels = [
        _boxes(
            [row for row in rows if row["goal"] == goal],
            [-4.2, 4.2],
            ["all values", "correct guesses"],
            ["#e8ecf1", SAFE],
            f"guess both within r ({goal})" if goal == "AND" else f"guess one within r ({goal})",
        )
        for goal in ("AND", "OR")
    ]
    return alt.hconcat(*panels).properties(title="Correct guesses: 2r across, or as far apart as all values")


def lp_figure_2b() -> Any:
    """[LP] Figure 2b: the cross cut into blocks, each with its neighbours."""
    parts = ["correct guesses", "their neighbours", "not needed"]
    return (
        _boxes(
            figures.lp_figure_2b(), [-9.3, 9.3], parts, [SAFE, "#9fc4e0", "#e8ecf1"], "An OR cut into blocks of side 2a"
        )
        .mark_rect(stroke="white", strokeWidth=2)
        .properties(width=320, height=320)
    )


def kr_figure_1() -> Any:
    """[KR] Figure 1: each agency's profile above, the implied ε below, the binding point marked."""
    data = figures.kr_figure_1()
    columns = []
    for mark in data["binding"]:
        rows = [row for row in data["curves"] if row["agency"] == mark["agency"]]
        prior = "q, the prior of the value" if "p = 0.05" in mark["agency"] else "p, the prior of being in the data"
        x = alt.X("prior:Q", title=prior, scale=alt.Scale(domain=[0, 1]))
        upper = _curve(rows, mark, x, alt.Y("ratio:Q", title="ratio allowed", scale=alt.Scale(domain=[0, 12])))
        lower = _curve(rows, mark, x, alt.Y("epsilon:Q", title="ε implied", scale=alt.Scale(domain=[0, 4])))
        words = [{**mark, "text": f"ε = {mark['epsilon']:.2f}"}]
        label = (
            alt.Chart(data_of(words))
            .mark_text(color=SAFE, align="left", dx=8, dy=14, fontWeight="bold")
            .encode(x="prior:Q", y="epsilon:Q", text="text:N")
        )
        lines = mark["agency"].split(": ")
        title = alt.TitleParams(lines[0], subtitle=lines[1], anchor="start")
        columns.append(alt.vconcat(upper.properties(title=title), lower + label))
    return alt.hconcat(*columns)


def _curve(rows: list[figures.Row], mark: figures.Row, x: Any, y: Any) -> Any:
    line = alt.Chart(data_of(rows)).mark_line(color=INK, strokeWidth=2.5, clip=True).encode(x=x, y=y)
    point = alt.Chart(data_of([mark])).mark_point(color=SAFE, filled=True, size=90, opacity=1).encode(x=x, y=y)
    return (line + point).properties(width=260, height=150)


def kr_figure_2() -> Any:
    """[KR] Figure 2: Example 1's profiles, coloured by the ε that they imply, with the bindings of Table 3."""
    return _coloured(figures.kr_figure_2(), "p, the prior of being in the data (q = 1)", "posterior ≤ 0.25 or ratio ≤ ")


def kr_figure_3() -> Any:
    """[KR] Figure 3: Example 2's profiles, coloured by the ε that they imply, with the bindings of Table 4."""
    return _coloured(figures.kr_figure_3(), "q, the prior of the value (p = 0.05)", "ratio ≤ 3 or posterior ≤ ")


def _coloured(data: dict[str, list[figures.Row]], prior: str, asks: str) -> Any:
    """One panel an agency, all on the same scales; grey where certainty itself keeps the ratio."""
    top, most = 40.0, 3.0
    x = alt.X("prior:Q", title=prior, scale=alt.Scale(domain=[0, 1]), axis=alt.Axis(tickCount=5))
    y = alt.Y(
        "ratio:Q",
        title="ratio allowed",
        scale=alt.Scale(type="log", domain=[1, top], nice=False),
        axis=alt.Axis(values=[1, 2, 3, 6, 10, 20, 40], format="~g"),
    )
    colour = alt.Color(
        "epsilon:Q",
        title="ε implied",
        scale=alt.Scale(domain=[0.5, most], scheme="viridis", reverse=True, clamp=True),
        legend=alt.Legend(values=[0.5, 1, 1.5, 2, 2.5, 3], labelExpr=f"datum.value == {most:g} ? '≥ 3' : datum.label"),
    )
    panels = []
    for mark in data["binding"]:
        rows = [row for row in data["curves"] if row["agency"] == mark["agency"] and row["ratio"] <= top]
        free, bound = ([row for row in rows if (row["epsilon"] is None) is idle] for idle in (True, False))
        ends = [{"prior": row["end"], "ratio": row["to"]} for row in free[-1:]]
        grey = alt.Chart(data_of(free + ends)).mark_line(color=QUIET, strokeWidth=4).encode(x=x, y=y)
        pieces = alt.Chart(data_of(bound)).mark_rule(strokeWidth=4, strokeCap="round", clip=True)
        line = pieces.encode(x=x, x2="end:Q", y=y, y2="to:Q", color=colour)
        panels.append((grey + line + _binding(mark, x, y)).properties(width=200, height=220, title=_agency(mark, asks)))
    drawn = alt.hconcat(*panels).resolve_scale(color="shared")
    idle = any(row["epsilon"] is None for row in data["curves"])
    return drawn.properties(title="Grey: even certainty keeps the ratio, so that no ε is asked for") if idle else drawn


def _agency(mark: figures.Row, asks: str) -> Any:
    noise = f"noise sd {mark['standard_deviation']:.2f}, exact {mark['exact_probability']:.0%}"
    return alt.TitleParams(mark["agency"], subtitle=[f"{asks}{mark['parameter']:g}", noise], anchor="start")


def _binding(mark: figures.Row, x: Any, y: Any) -> Any:
    """The point that binds, with its ε as the table prints it."""
    place = alt.Chart(data_of([{**mark, "text": f"ε = {mark['epsilon']:.2f}"}])).encode(x=x, y=y)
    left = mark["prior"] > 0.5
    words = place.mark_text(
        color=ALARM, fontWeight="bold", align="right" if left else "left", dx=-8 if left else 9, dy=14
    ).encode(text="text:N")
    return place.mark_point(color="white", fill=ALARM, size=110, strokeWidth=1.5, opacity=1, clip=False) + words


def mxk_figure_1() -> Any:
    """[MXK] Figure 1: the ratio of the two ε, and beside it what the second one delivers."""
    data = figures.mxk_figure_1()
    x = alt.X("p:Q", title="confidence wanted, p", scale=alt.Scale(domain=[0, 1]))
    y = alt.Y("ratio:Q", title="ε₂ / ε₃", scale=alt.Scale(domain=[0, 1.8]))
    line = alt.Chart(data_of(data["ratio"])).mark_line(color=INK, strokeWidth=2.5, clip=True).encode(x=x, y=y)
    mark = data["threshold"]
    level = alt.Chart(data_of(mark)).mark_rule(color=QUIET, strokeDash=[4, 4]).encode(y=y)
    point = alt.Chart(data_of(mark)).mark_point(color=ALARM, filled=True, size=90, opacity=1).encode(x=x, y=y)
    words = [{**mark[0], "text": f"p = {mark[0]['p']:.4f}"}]
    label = (
        alt.Chart(data_of(words))
        .mark_text(color=ALARM, align="right", dx=-10, dy=-10, fontWeight="bold")
        .encode(x=x, y=y, text="text:N")
    )
    left = (line + level + point + label).properties(width=260, height=220, title="Theorem 2's ε over Theorem 3's")
    shown = [row for row in data["delivered"] if row["p"] >= 0.8]
    near = alt.X("p:Q", title="confidence wanted, p", scale=alt.Scale(domain=[0.8, 1], nice=False))
    up = alt.Y("delivered:Q", title="confidence delivered", scale=alt.Scale(domain=[0.8, 1], nice=False))
    given = alt.Chart(data_of(shown)).mark_line(color=ALARM, strokeWidth=2.5).encode(x=near, y=up)
    wanted = (
        alt.Chart(data_of([{"p": 0.8, "delivered": 0.8}, {"p": 1.0, "delivered": 1.0}]))
        .mark_line(color=QUIET, strokeDash=[4, 4])
        .encode(x=near, y=up)
    )
    right = (wanted + given).properties(width=260, height=220, title="What Theorem 3 delivers (Laplace noise)")
    return alt.hconcat(left, right)


ALL = {
    "slides-plot": slides_plot,
    "lp-figure-1": lp_figure_1,
    "lp-figure-2a": lp_figure_2a,
    "lp-figure-2b": lp_figure_2b,
    "kr-figure-1": kr_figure_1,
    "kr-figure-2": kr_figure_2,
    "kr-figure-3": kr_figure_3,
    "mxk-figure-1": mxk_figure_1,
}


def save(folder: str | Path) -> list[Path]:
    """Draw every figure into a folder, as SVG and as PNG; each file whole or not at all."""
    target = Path(folder)
    written: list[Path] = []
    try:
        target.mkdir(parents=True, exist_ok=True)
        for name, draw in ALL.items():
            spec = draw().configure_view(stroke=None).to_json()
            for ending, content in (
                ("svg", vl_convert.vegalite_to_svg(spec).encode()),
                ("png", vl_convert.vegalite_to_png(spec, scale=2)),
            ):
                written.append(_put(target / f"{name}.{ending}", content))
    except OSError as error:
        problem = f"cannot be written ({error.strerror or 'no reason is known'})"
        raise ParameterError("figures", str(folder), problem, "name a folder that you may write to") from None
    return written


def _put(path: Path, content: bytes) -> Path:
    scratch = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        scratch.write_bytes(content)
        os.replace(scratch, path)
    finally:
        scratch.unlink(missing_ok=True)
    return path
