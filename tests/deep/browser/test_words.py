"""What the page says beside its numbers: about whom, how certain, for which true value, and what is still to come."""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Callable
from typing import Any

from browser.pages import drawn, held, load, settled
from playwright.sync_api import Page, expect
from web.running import CAFETERIA, CALCULATION, LABELS, Served

Tab = Callable[..., Page]
EXACT = """async () => {
  const rooms = ["steps/outcome", "engine"].map((n) => import(`/static/js/${n}.js`));
  const [{ outcome }, { tell }] = await Promise.all(rooms);
  const advantage = { ...outcome().advantage, status: "exact" };
  tell({ kind: "exact", outcome: { ...outcome(), exact: true, answer: {}, advantage } });
}"""
NOT_YET = json.dumps({"ready": False, "coming": True, "outcome": None, "rows": None})


def asked(state: dict[str, Any], **attacker: Any) -> dict[str, Any]:
    """The same with another attacker; what is None is left out."""
    found = copy.deepcopy(state)
    found["attacker"] = {k: v for k, v in {**found["attacker"], **attacker}.items() if v is not None}
    return found


def test_a_promise_about_a_stated_value_is_not_said_of_everybody(page_served: Served, tab: Tab) -> None:
    page = tab(page_served.address)
    load(page, asked(CALCULATION, at=None))
    expect(page.locator("#advantage-words")).to_contain_text("whoever is asked about")
    settled(page)
    expect(page.locator("#whom")).to_contain_text("whoever is easiest to guess")
    expect(page.locator("#drawn-for")).to_contain_text(
        re.compile(r"most exposed true value: time = (25\.1|14\.[89])")
    )  # as far above as below the mean
    page.locator("#truth").fill("20")
    page.keyboard.press("Tab")
    expect(page.locator("#advantage-words")).to_contain_text("about somebody whose true value is time = 20")
    expect(page.locator("#advantage-words")).not_to_contain_text("whoever")
    settled(page)
    expect(page.locator("#whom")).to_contain_text("somebody with time = 20")
    expect(page.locator("#drawn-for")).to_contain_text("stated true value: time = 20")


def test_true_values_of_several_columns_are_shown_and_changed_together(page_served: Served, tab: Tab) -> None:
    page = tab(page_served.address)
    stated = {"faculty": "cs", "smoker": "yes"}
    load(page, asked(LABELS, at=stated))
    expect(page.locator("#truth-faculty")).to_have_value("cs")
    expect(page.locator("#advantage-words")).to_contain_text("faculty = cs, smoker = yes")
    page.locator("#truth-faculty").fill("")
    page.locator("#truth-smoker").focus()
    expect(page.locator("#truth-said")).to_contain_text("State faculty too, or none")
    assert held(page)["attacker"]["at"] == stated  # half a truth is not asked about
    page.locator("#truth-smoker").fill("")
    page.keyboard.press("Tab")
    expect(page.locator("#advantage-words")).to_contain_text("whoever is asked about")
    assert "at" not in held(page)["attacker"]


def test_nothing_is_missing_of_a_public_column(page_served: Served, tab: Tab) -> None:
    page = tab(page_served.address)
    state = copy.deepcopy(CAFETERIA)
    state["columns"] |= {"speed": {"bounds": [10, 30], "public": True}, "age": {"bounds": [0, 99]}}
    load(page, state)
    public = page.locator("[data-column=speed]")
    expect(public).to_contain_text("everybody knows it")
    assert public.locator("select").count() == 0
    expect(page.locator("[data-column=age] select")).to_contain_text("no guess is about it")


def test_final_and_certain_are_two_things(page_served: Served, tab: Tab) -> None:
    """An answer is read off a curve, or final; a bound is exact, or proven: one word for both misleads."""
    page = tab(page_served.address)
    load(page, asked(CALCULATION))
    settled(page)
    drawn(page)
    certainty = page.locator("#certainty")
    expect(certainty).to_have_text("final answer · proven: no attacker gets further")
    page.route("**/api/jobs", lambda route: None)  # no final answer comes
    page.locator("#advantage-number").fill("8")
    expect(certainty).to_contain_text("read off a curve; the final one follows")
    expect(page.locator("#epsilon-value")).to_contain_text("≥\u00a0")
    assert page.evaluate("document.getElementById('outcome').getBoundingClientRect().height") < 225
    page.evaluate(EXACT)
    expect(certainty).to_have_text("final answer · exact: some attacker gets this far, none further")


def test_charts_that_are_still_computed_say_so_in_their_place(page_served: Served, tab: Tab) -> None:
    page = tab(page_served.address)
    page.route("**/api/live", lambda route: route.fulfill(body=NOT_YET, content_type="application/json"))
    load(page, LABELS)
    expect(page.locator("#chart-gains .coming")).to_contain_text("being computed")
    settled(page)
    expect(page.locator("#certainty")).to_contain_text("pictures are still being computed")
    for name in ("room", "noise", "errors"):  # those that need no curve are there
        expect(page.locator(f"#chart-{name} canvas")).to_be_visible()
        expect(page.locator(f"#chart-{name} .coming")).to_be_hidden()
    assert page.locator("#chart-beliefs .picture.pale").count() == 0
    expect(page.locator("#chart-noise h3")).to_have_text("The noise on n")
    page.unroute("**/api/live")
    drawn(page)
    expect(page.locator("#chart-gains canvas")).to_be_visible()
    expect(page.locator("#chart-gains .coming")).to_be_hidden()
    expect(page.locator("#certainty")).not_to_contain_text("pictures")
    final = page.evaluate("import('/static/js/board.js').then((b) => b.chart('gains').rows.mark[0].epsilon)")
    assert final == page_served.work("outcome", LABELS)["result"]["epsilon"]  # no quick answer is drawn over it
