"""Priors with the right guesses marked, noise before it is paid for, and charts that are drawn once."""

from __future__ import annotations

import copy
import itertools
from typing import Any

import altair as alt
import numpy as np
import pytest
import vl_convert

import guessproof as gp
from guessproof.charts.live import apart
from guessproof.web.live import Scaled
from guessproof.web.pictures import reached
from web.running import CAFETERIA, CALCULATION, Served


def asked(served: Served, door: str, state: Any) -> Any:
    status, found = served.ask("POST", f"/api/{door}", {"state": state})
    assert status == 200, found
    return found


def test_an_attack_that_works_at_one_epsilon_works_at_every_larger_one() -> None:
    """What is reached is an exact attack at a smaller ε, and never falls."""
    attack = gp.Attack(gp.within(gp.Attribute("x", prior=gp.normal(0, 1)), 0.3), at={"x": 0.5})
    scaled = Scaled(gp.Curve(attack), 2.0)
    found = [reached(scaled, e) or 0.0 for e in (0.0, 0.05, 0.15, 0.2, 0.31)]
    assert found == sorted(found)
    for e, value in zip((0.05, 0.15, 0.2, 0.31), found[1:], strict=True):
        assert value == pytest.approx(float(attack.advantage(2 * e).attack), rel=0.03)


def area(rows: list[Any]) -> float:
    return float(np.trapezoid([r["density"] for r in rows], [r["x"] for r in rows]))


def test_the_marked_guesses_weigh_what_the_library_says(served: Served) -> None:
    found = asked(served, "shape", CALCULATION)
    assert (found["kind"], found["at"]) == ("line", 20)
    rows = found["rows"]["before"]
    marked = area([r for r in rows if r["inside"]]) / area(rows)
    assert marked == pytest.approx(0.2499, abs=0.0005)
    assert all((abs(r["x"] - 20) <= 2) == r["inside"] for r in rows)
    assert {18.0, 22.0} <= {r["x"] for r in rows}


def test_labels_and_two_columns_are_drawn_too(served: Served) -> None:
    state = copy.deepcopy(CALCULATION)
    state["columns"]["faculty"] = {"prior": {"categorical": {"math": 0.5, "cs": 0.3, "law": 0.2}}}
    state["attacker"] = {"goal": "faculty exactly", "advantage": 0.1, "at": {"faculty": "cs"}}
    labels = asked(served, "shape", state)
    assert [r["value"] for r in labels["rows"]["before"] if r["inside"]] == ["cs"]
    state["columns"]["wait"] = {"prior": {"normal": {"mean": 5, "sd": 2}}}
    state["columns"]["walk"] = {"prior": {"uniform": {"low": 0, "high": 9}}}
    goals = ("time within 2 and wait within 1", "time within 2 or wait within 1", "time / wait within 1")
    for goal in (*goals, "time + wait + walk within 3"):
        state["attacker"] = {"goal": goal, "advantage": 0.1}
        found = asked(served, "shape", state)
        assert found["kind"] == "map", goal
        vl_convert.vegalite_to_svg({**found["spec"], "width": 300, "datasets": found["rows"]})
    state["attacker"] = {"goal": "time + wait within 2", "advantage": 0.1, "knows": {"time - wait": [10, 20]}}
    assert len(asked(served, "shape", state)["rows"]) == 2  # strips in three colours, the true place
    state["attacker"]["goal"] = "time within 2 and wait within 1 and walk within 1"
    assert asked(served, "shape", state)["kind"] == "none"  # three numbers have no map


@pytest.mark.parametrize(("word", "alone"), [("and", False), ("or", True)])
def test_a_number_and_a_label_are_strips(served: Served, word: str, alone: bool) -> None:
    """An AND is red where both are right; an OR is a cross."""
    state = copy.deepcopy(CALCULATION)
    state["columns"]["faculty"] = {"prior": {"categorical": {"math": 0.5, "cs": 0.3, "law": 0.2}}}
    truth = {"time": 20, "faculty": "cs"}
    state["attacker"] = {"goal": f"faculty exactly {word} time within 2", "advantage": 0.1, "at": truth}
    found = asked(served, "shape", state)
    rows = next(rows for rows in found["rows"].values() if "colour" in rows[0])
    for label, x in itertools.product(("math", "cs", "law"), (5.0, 20.1, 30.0)):
        cell = next(r for r in rows if r["label"] == label and r["x"] <= x <= r["x2"])
        both, any_ = label == "cs" and x == 20.1, label == "cs" or x == 20.1
        red, _, blue = (int(cell["colour"][k : k + 2], 16) for k in (1, 3, 5))
        assert (red > blue) == (any_ if alone else both), (label, x, cell)


def test_noise_is_seen_before_it_is_paid_for(served: Served) -> None:
    found = asked(served, "sketch", CAFETERIA)
    assert found["names"] == ["mean_time"]
    assert len(found["tables"]) == 5
    drawn = np.array(found["tables"], dtype=float)
    assert len(np.unique(drawn)) > 1
    assert not (served.shop.folder.root / "guessproof.ledger").exists()


def test_every_chart_is_a_drawing_and_its_rows(served: Served) -> None:
    served.work("beliefs", CAFETERIA)
    found = asked(served, "charts", CAFETERIA)
    assert set(found["charts"]) == {"gains", "room", "noise", "errors"}
    moved = copy.deepcopy(CAFETERIA)
    moved["attacker"]["advantage"] = 0.11
    later = asked(served, "live", moved)["rows"]
    for name, chart in found["charts"].items():
        assert "values" not in str(chart["spec"].get("data", {}))
        assert set(later[name]) <= set(chart["rows"])  # what changes has a place in the drawing
        vl_convert.vegalite_to_svg({**chart["spec"], "width": 300, "datasets": chart["rows"]})
    curve = found["charts"]["gains"]["rows"]["curve"]
    assert all(row["reached"] <= row["gain"] + 1e-9 for row in curve)  # no bound lies below an attack
    assert all(a["belief"] <= b["belief"] for a, b in itertools.pairwise(curve))


def test_rows_are_taken_out_of_any_chart() -> None:
    one = alt.Chart(alt.Data(values=[{"x": 1}])).mark_point().encode(x="x:Q")
    two = alt.Chart(alt.InlineData(values=[{"x": 2}], name="named")).mark_point().encode(x="x:Q")
    found = apart(one + two)
    assert sorted(found.rows.values(), key=str) == [[{"x": 1}], [{"x": 2}]]
    assert found.rows["named"] == [{"x": 2}]
    assert "values" not in str(found.spec)


def test_a_picture_is_drawn_for_the_truth_that_is_counted(served: Served) -> None:
    """The stated one, else the most exposed as soon as it is known, else one in the middle; and it says which."""
    state = copy.deepcopy(CALCULATION)
    del state["attacker"]["at"]
    state["columns"]["wait"] = {"prior": {"normal": {"mean": 5, "sd": 2}}}
    state["attacker"]["goal"] = "time + wait within 3"
    middle = asked(served, "shape", state)["drawn_for"]
    assert middle == {"truth": "middle", "at": {"time": pytest.approx(20), "wait": pytest.approx(5)}}
    status, found = served.ask("POST", "/api/shape", {"state": state, "worst": {"time + wait": 31.5}})
    assert status == 200
    drawn_for = found["drawn_for"]
    assert drawn_for["truth"] == "worst"
    assert sum(drawn_for["at"].values()) == pytest.approx(31.5)
    red = [r for r in next(rows for rows in found["rows"].values() if "y2" in rows[0]) if r["inside"]]
    assert all(r["x2"] + r["y2"] >= 28.4 for r in red)  # 31.5 − 3, and what digits are left of it
    one = copy.deepcopy(CALCULATION)
    assert served.ask("POST", "/api/shape", {"state": one, "worst": 25.0})[1]["drawn_for"]["truth"] == "stated"
    del one["attacker"]["at"]
    found = served.ask("POST", "/api/shape", {"state": one, "worst": 25.0})[1]
    assert (found["drawn_for"]["truth"], found["at"]) == ("worst", 25.0)


def test_a_picture_is_of_what_is_believed_by_somebody_who_knows_something(served: Served) -> None:
    state = copy.deepcopy(CALCULATION)
    state["attacker"]["knows"] = {"time": [15, 40]}
    rows = asked(served, "shape", state)["rows"]["before"]
    assert min(r["x"] for r in rows) >= 15
    state["columns"]["wait"] = {"prior": {"normal": {"mean": 5, "sd": 2}}}
    state["attacker"]["knows"] = {"time + wait": [20, 30]}
    found = asked(served, "shape", state)
    assert found["kind"] == "map"
    assert ["quiet", "ruled out by what he knows"] in found["legend"]
