"""Goals drawn on the prior: what is red is right, and weighs what the library says."""

from __future__ import annotations

import math
from typing import Any

import altair as alt
import numpy as np
import pytest

import guessproof as gp
from guessproof.charts.exposed import exposed_place
from guessproof.charts.goals import goal_on_prior, goal_picture
from guessproof.charts.numbers import combinations, value_rows

RENT = gp.Attribute("rent", prior=gp.normal(mean=700, sd=200))
LOAN = gp.Attribute("loan", prior=gp.exponential(scale=300))
EXTRA = gp.Attribute("extra", prior=gp.uniform(0, 300))
SPENT = gp.Attribute("spent", prior=gp.histogram([0, 200, 400, 800, 1600], [0.2, 0.4, 0.3, 0.1]))
LON, LAT = gp.joint_normal(("lon", "lat"), mean=(0, 0), sd=(3, 4), correlation=0.6).attributes()
TWO: dict[str, gp.Attack] = {
    "sum": gp.Attack(gp.within(RENT + LOAN, 50), at={"rent": 700, "loan": 300}),
    "ratio": gp.Attack(gp.within(RENT / (LOAN + 500), 0.1), at={"rent": 650, "loan": 200}),
    "product": gp.Attack(gp.within(SPENT * LOAN, 30_000), at={"spent": 500, "loan": 200}),
    "ring": gp.Attack(gp.inside((RENT - 700) ** 2 + (LOAN - 300) ** 2, (100.0**2, 200.0**2))),
    "place": gp.Attack(gp.near((LON, LAT), 2), at={"lon": 2, "lat": -3}),
    "cross": gp.Attack(gp.within(RENT, 50) | gp.within(SPENT, 40), at={"rent": 700, "spent": 300}),
    "not": gp.Attack(~gp.within(RENT + LOAN, 50), at={"rent": 700, "loan": 300}),
}


def drawn(chart: Any) -> list[Any]:
    """The rectangles of a map."""
    spec = chart.to_dict(validate=False)
    return (spec["layer"][0].get("data") or spec["data"])["values"]


def row_at(rows: list[Any], x: float, y: float) -> Any:
    """The rectangle in which a point lies; the later ones lie on top."""
    return [r for r in rows if r["x"] <= x <= r["x2"] and r["y"] <= y <= r["y2"]][-1]


def is_drawn(rows: list[Any], x: Any, y: Any) -> Any:
    """Whether points lie in a red rectangle."""
    found = np.zeros(np.shape(x), dtype=bool)
    for row in rows:
        found[(row["x"] <= x) & (x <= row["x2"]) & (row["y"] <= y) & (y <= row["y2"])] = row["inside"]
    return found


@pytest.mark.parametrize("name", TWO)
def test_what_is_red_is_right(name: str) -> None:
    """Points spread as the prior is, against the goal's own words; as many are red as its prior says."""
    attack = TWO[name]
    rows = drawn(goal_picture(attack))
    first, second = (a.name for a in attack.goal.attributes)
    points = combinations(list(attack.conditioned.values()))
    x, y = points[first][:4000], points[second][:4000]
    reach = [0.02 * (np.quantile(v, 0.99) - np.quantile(v, 0.01)) for v in (x, y)]
    near = np.array([  # what lies on an edge may be drawn either way
        _met(attack.goal, {first: x + a * reach[0], second: y + b * reach[1]}, attack.at)
        for a in (-1, 0, 1)
        for b in (-1, 0, 1)
    ])  # fmt: skip
    ends = [[f(row[k] for row in rows) for f in (min, max)] for k in ("x", "y", "x2", "y2")]
    seen = (ends[0][0] < x) & (x < ends[2][1]) & (ends[1][0] < y) & (y < ends[3][1])
    sure = seen & (np.all(near, axis=0) | ~np.any(near, axis=0))
    found = is_drawn(rows, x, y)
    assert np.count_nonzero(sure) > 2000
    assert np.array_equal(found[sure], near[4][sure])
    assert np.mean(found) == pytest.approx(attack.prior, abs=0.03)


def _met(goal: Any, point: dict[str, Any], at: Any) -> Any:
    if parts := getattr(goal, "parts", None):
        found = [_met(p, point, at) for p in parts]
        return ~found[0] if len(found) == 1 else found[0] | found[1]
    names = [a.name for a in goal.attributes]
    if len(names) == 1:
        ((low, high),) = goal.edges(float(at[names[0]]))
        return (low <= point[names[0]]) & (point[names[0]] <= high)
    return goal.holds([point[n] for n in names], [float(at[n]) for n in names] if at else None)


def test_the_density_is_darkest_where_it_is_largest() -> None:
    rows = drawn(goal_picture(TWO["place"]))
    places = ((0.0, 0.0), (2.0, 2.7), (3.0, -4.0), (7.5, -10.0))
    depth = [row_at(rows, *at)["height"] for at in places]
    assert depth[0] > 0.9
    assert depth == sorted(depth, reverse=True)
    assert depth[1] > depth[2] > depth[3]  # along the correlation, and across it


def test_values_of_three_columns_are_marked_between_the_goals_ends() -> None:
    truth = {"rent": 700, "loan": 300, "extra": 100}
    attack = gp.Attack(gp.within(RENT + LOAN + EXTRA, 100), at=truth)
    rows = value_rows(attack)
    red = [row for row in rows if row["inside"]]
    assert (red[0]["x"], red[-1]["x2"]) == (1000.0, 1200.0)
    assert math.fsum(r["density"] * (r["x2"] - r["x"]) for r in red) == pytest.approx(attack.prior, abs=0.003)
    known = gp.Attack(gp.within(RENT + LOAN + EXTRA, 100), at=truth, knows={RENT + LOAN: (900, 1100)})
    assert math.fsum(r["density"] * (r["x2"] - r["x"]) for r in value_rows(known) if r["inside"]) > 0.55


def test_tied_columns_are_spread_as_they_depend() -> None:
    points = combinations([LON, LAT])
    assert np.corrcoef(points["lon"], points["lat"])[0, 1] == pytest.approx(0.6, abs=0.005)
    assert np.std(points["lat"]) == pytest.approx(4, rel=0.01)


def test_what_he_rules_out_is_neither_red_nor_white() -> None:
    attack = gp.Attack(gp.within(RENT, 50), at={"rent": 700}, knows={RENT + LOAN: (900, 1100)})
    rows = drawn(goal_picture(attack))
    for point, is_grey, is_red in (((700, 300), False, True), ((700, 600), True, False), ((850, 150), False, False)):
        row = row_at(rows, *point)
        assert (row["inside"], "height" not in row) == (is_red, is_grey), point


def test_every_number_of_columns_has_its_picture() -> None:
    """One column, a number beside listed values (the true one among them), and the refusal of what cannot be drawn."""
    listed = gp.Attribute("people", prior=gp.empirical([1, 2, 2, 3]))
    strip = goal_on_prior(gp.Attack(gp.within(RENT * listed, 300), at={"rent": 700, "people": 2}), title="rent a head")
    spec = strip.to_dict(validate=False)
    labels = {str(row.get("label")) for layer in spec["layer"] for row in layer["data"]["values"]}
    assert labels == {"1.0", "2.0", "3.0"}
    one = goal_picture(gp.Attack(gp.within(RENT, 50), at={"rent": 800})).to_dict(validate=False)
    marked = [row["x"] for row in one["layer"][0]["data"]["values"] if row["inside"]]
    assert (min(marked), max(marked)) == (750, 850)
    whole = gp.within(RENT, 50) & gp.within(LOAN, 50) & gp.within(EXTRA, 50)
    with pytest.raises(ValueError, match="no interval of one number"):
        goal_picture(gp.Attack(whole, at={"rent": 700, "loan": 300, "extra": 100}))
    assert isinstance(goal_picture(TWO["cross"]), alt.LayerChart)


def test_the_most_exposed_value_of_a_formula_has_a_place_on_the_map() -> None:
    ratio = gp.within(RENT / (LOAN + 500), 0.1)
    found = exposed_place(ratio, {"rent / (loan + 500)": 1.4})
    assert found is not None
    assert found["rent"] / (found["loan"] + 500) == pytest.approx(1.4, rel=1e-6)
    assert found["rent"] > 700  # a larger ratio, by both: each as unusual as the other
    assert found["loan"] < 300 * math.log(2)  # the middle one
    assert exposed_place(ratio, {"rent": 700.0, "loan": 9.0}) == {"rent": 700.0, "loan": 9.0}
    assert exposed_place(gp.within(RENT, 50), 812.0) == {"rent": 812.0}
    assert exposed_place(ratio, None) is exposed_place(ratio, 3.0) is None
    assert exposed_place(gp.within(EXTRA + SPENT, 5), {"extra + spent": 1e9}) is None  # no such place


def test_what_is_grey_is_said() -> None:
    other = gp.Attribute("loan", prior=gp.normal(mean=300, sd=150))
    known = gp.Attack(gp.within(RENT, 50), at={"rent": 700}, knows={RENT + other: (900, 1100)})
    note = goal_on_prior(known, title="rent").to_dict(validate=False)["title"]["subtitle"]
    assert note.endswith("; grey: ruled out")
    assert "grey" not in goal_on_prior(TWO["sum"], title="sum").to_dict(validate=False)["title"]["subtitle"]
