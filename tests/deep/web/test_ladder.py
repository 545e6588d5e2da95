"""Curves that take long: climbed knot by knot, safe at every moment, and looked at before they are done."""

from __future__ import annotations

import copy
from functools import partial
from typing import Any

import numpy as np
import pytest
from web.running import CAFETERIA, LABELS, Served

import guessproof as gp
from guessproof.calculate import Limits
from guessproof.choosing import Chooser, asked
from guessproof.exposure import Exposure
from guessproof.risk.bracket import Bracket
from guessproof.web import work
from guessproof.web.folder import Folder
from guessproof.web.live import FIRST, FLAT, HIGH, KNOTS, Ladder, curve_of
from guessproof.web.pictures import drawings, gain_rows


def exposure_of(state: Any) -> Exposure:
    plan = gp.plan_of(state)
    found = Chooser(plan, asked(plan), None, False).exposure()
    assert found is not None
    return found


@pytest.mark.parametrize("both", [False, True])
def test_a_ladder_is_safe_at_every_moment(both: bool) -> None:
    """Bounds never lie below the exact ones, attacks never above them; and an ε that keeps a limit keeps it."""
    exposure = exposure_of(LABELS)
    assert curve_of(exposure) is None
    made: list[Ladder] = []
    whole = Ladder.of(exposure, both, lambda ladder, share: made.append(ladder))
    early = next(ladder for ladder in made if len(ladder.epsilon) >= FIRST)
    assert len(whole.epsilon) == KNOTS
    for ladder in (early, whole):
        for epsilon in np.geomspace(0.01, 8, 25).tolist():
            exact = exposure.advantage(epsilon, both=both)
            assert ladder.advantage(epsilon, both) >= float(exact.bound) * (1 - 1e-12)
            assert ladder.posterior(epsilon) >= float(exposure.posterior(epsilon).bound) * (1 - 1e-12)
            reached = ladder.attack(epsilon)
            assert reached is not None
            assert reached <= float(exposure.advantage(epsilon).bound) * (1 + 1e-12)
        for advantage in (0.002, 0.05, 0.4):
            found = ladder.largest(Limits(advantage, None, both))
            assert float(exposure.advantage(found, both=both).bound) <= advantage


def test_knots_lie_where_limits_are_dragged() -> None:
    """No step between gains that are asked for is wide; most knots are not spent where nobody gains anything."""
    ladder = Ladder.of(exposure_of(LABELS), False)
    gains = np.array(ladder.rise)
    asked_for = (gains > 5 * FLAT) & (gains < HIGH)
    assert np.sum(asked_for) > 0.7 * KNOTS
    ratio = np.diff(np.log(np.array(ladder.epsilon)[asked_for]))
    assert np.max(ratio) < 0.4


def test_without_an_attack_there_is_no_line_and_no_number() -> None:
    """A bound of which no attack is known: the chart has no such column, which its legend goes by."""
    bounds = dict(zip([0.5, 1.0, 2.0], [0.1, 0.2, 0.5], strict=True))
    steps = {"rise": tuple(bounds.values()), "move": tuple(bounds.values()), "belief": tuple(bounds.values())}
    silent = Ladder(tuple(bounds), **steps, reached=(0.0, 0.0, 0.0))
    assert all("reached" not in row for row in gain_rows(silent))
    told = Ladder(tuple(bounds), **steps, reached=(0.0, 0.1, 0.1))
    rows = gain_rows(told)
    assert [row["reached"] for row in rows if row["epsilon"] in (0.5, 1.0)] == [0.0, 0.1]
    after = next(row for row in rows if row["epsilon"] > 0.5)  # a step is upright
    assert (after["epsilon"], after["gain"]) == (pytest.approx(0.5), 0.2)


def test_charts_that_need_no_curve_come_with_the_answer(served: Served) -> None:
    outcome = served.work("outcome", LABELS)["result"]
    assert set(outcome["charts"]) == {"room", "noise", "errors"}
    assert outcome["rows"]["gains"]["mark"][0]["epsilon"] == outcome["epsilon"]
    assert "charts" not in served.work("outcome", CAFETERIA)["result"]  # its curve is there as soon


def test_a_plan_without_a_curve_says_that_none_will_come(served: Served) -> None:
    """Gaussian noise: beliefs may be broken with a small probability, so that no curve bounds them."""
    state = copy.deepcopy(CAFETERIA)
    state["release"] = {"mechanism": "gaussian", "delta": 1e-6}
    state["attacker"]["failure"] = 1e-6
    del state["accuracy"]
    live = partial(served.ask, "POST", "/api/live", {"state": state})
    assert live()[1]["coming"]
    assert served.work("beliefs", state)["state"] == "done"
    assert live()[1]["coming"] is False
    assert {"room", "noise"} <= set(served.work("outcome", state)["result"]["charts"])


def test_a_ladder_can_be_looked_at_before_it_is_done(tmp_path: Any) -> None:
    told: list[Any] = []
    folder = Folder.opened(tmp_path)
    whole = work.make_beliefs(folder, LABELS, {}, lambda share, words, found=None: told.append((share, found)))
    folder.close()
    shares = [share for share, _ in told]
    assert shares == sorted(shares)
    assert shares[-1] <= 1
    lengths = [len(found.epsilon) for _, found in told if found is not None]
    assert lengths[0] == FIRST
    assert lengths[-1] == len(whole.epsilon) == KNOTS


def test_what_is_shown_says_of_which_answer() -> None:
    state = copy.deepcopy(CAFETERIA)
    state["columns"]["wait"] = {"bounds": [0, 30], "prior": {"normal": {"mean": 9, "sd": 3}}}
    state["query"] = {"sql": "SELECT AVG(time) AS mean_time, AVG(wait) AS mean_wait FROM t"}
    del state["accuracy"]
    choice = gp.choose(gp.plan_of(state))
    outcome = {"epsilon": choice.epsilon, "shown": {"epsilon": "1"}, "limits": []}
    found = drawings(outcome, choice, None)
    assert found["noise"]["title"] == "The noise on AVG(time) (the first of 2)"
    assert found["errors"]["title"] == "Error of AVG(time) (the first of 2), at every ε"


@pytest.mark.parametrize("status", ["exact", "proven"])
def test_a_meaning_says_how_certain_it_is(served: Served, status: str, monkeypatch: pytest.MonkeyPatch) -> None:
    from guessproof.web.meanings import exact_meaning

    bracket = Bracket(attack=0.05 if status == "exact" else 0.0, bound=0.05, status=status, how="")  # pyright: ignore[reportArgumentType]
    monkeypatch.setattr(Exposure, "advantage", lambda *_, **__: bracket)
    found = exact_meaning(served.shop.folder, CAFETERIA, 1.0)
    assert (found["exact"], found["status"]) == (True, status)
