"""Without data the page is a calculator."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import pytest
from browser.pages import drawn, held, load, settled, shown
from playwright.sync_api import Page, expect
from web.running import CALCULATION, Served

import guessproof as gp
from guessproof.rounded import down

Tab = Callable[..., Page]
ANOTHER = "t => document.getElementById('ask-title').innerText !== t || !document.querySelector('#ask-dialog[open]')"
DRAG = """async () => {
  const slider = document.getElementById("advantage-slider"), send = window.fetch, told = document.body.dataset;
  const { chart } = await import("/static/js/board.js");
  chart("gains").node.scrollIntoView(); // what cannot be seen is not drawn
  while (!chart("gains").seen) await new Promise((go) => setTimeout(go, 10));
  const { onAnswer } = await import("/static/js/engine.js");
  onAnswer(() => new Promise((go) => setTimeout(go, 60))); // drawing takes longer than asking
  const marked = () => chart("gains").view.data("mark")[0], rows = new Set([marked()]);
  let now = 0, most = 0;
  window.fetch = async (...asked) => {
    if (!String(asked[0]).endsWith("/live")) return send(...asked);
    most = Math.max(most, now += 1);
    try { return await send(...asked); } finally { now -= 1; }
  };
  for (let i = 0; i < 40; i += 1) {
    slider.value = String(300 + 7 * i);
    slider.dispatchEvent(new Event("input", { bubbles: true }));
    await new Promise((go) => setTimeout(go, 8));
    rows.add(marked());
  }
  for (let i = 0; i < 1000 && told.answered !== told.asked; i += 1) await new Promise((go) => setTimeout(go, 10));
  window.fetch = send;
  return { most, asked: Number(told.asked), drawn: marked().epsilon, rows: rows.add(marked()).size };
}"""
BOTH = {
    "columns": {
        "faculty": {"prior": {"categorical": {"math": 0.5, "cs": 0.3, "law": 0.2}}},
        "smoker": {"prior": {"categorical": {"yes": 0.2, "no": 0.8}}},
    },
    "attacker": {"goal": "faculty exactly and smoker exactly", "advantage": 0.05},
}
TIME = gp.Attribute("time", prior=gp.normal(20, 6.28))


def test_each_slider_gives_the_library_s_number(page_served: Served, tab: Tab) -> None:
    page = tab(page_served.address)
    load(page, CALCULATION)
    settled(page)
    attack = gp.Attack(gp.within(TIME, 2), at={"time": 20})
    assert shown(page) == down(attack.epsilon(advantage=0.05))
    page.locator("#advantage-number").fill("12")
    expect(page.locator("#advantage-words")).to_contain_text("12 in 100")
    settled(page)
    assert shown(page) == down(attack.epsilon(advantage=0.12))
    page.locator("#posterior-on").check()
    page.locator("#posterior-slider").fill("850")
    settled(page)
    state = held(page)
    assert shown(page) == down(attack.epsilon(advantage=0.12, posterior=state["attacker"]["posterior"]))
    page.locator("#advantage-on").uncheck()
    settled(page)
    assert shown(page) == down(attack.epsilon(posterior=state["attacker"]["posterior"]))
    page.locator("#undo").click()
    settled(page)
    assert held(page) == state
    drawn(page)
    for name in ("gains", "room", "noise", "errors"):
        expect(page.locator(f"#chart-{name} canvas")).to_be_visible()


def test_charts_that_come_late_are_not_drawn_over_those_of_another_attack(page_served: Served, tab: Tab) -> None:
    page = tab(page_served.address)
    load(page, CALCULATION)
    settled(page)
    drawn(page)
    held_back: list[Any] = []
    page.route("**/charts", lambda route: held_back.append(route))
    with page.expect_request("**/charts"):
        page.locator("#posterior-on").check()
    page.locator("#undo").click()
    settled(page)
    drawn(page)
    with page.expect_response("**/charts"):
        held_back[0].continue_()
    page.evaluate("new Promise((done) => setTimeout(done, 300))")
    assert page.locator("body[data-charts]").count() == 1


def test_a_drag_ends_in_a_drawing_of_its_last_state(page_served: Served, tab: Tab) -> None:
    """Requests do not pile up, and an event that came while something was asked or drawn is not forgotten."""
    page = tab(page_served.address)
    load(page, CALCULATION)
    drawn(page)
    before = int(page.evaluate("document.body.dataset.asked"))
    found = page.evaluate(DRAG)
    assert (found["most"], found["asked"]) == (1, before + 40)
    rows = page_served.ask("POST", "/api/live", {"state": held(page)})[1]["rows"]
    assert found["drawn"] == rows["gains"]["mark"][0]["epsilon"]
    assert found["rows"] <= 2  # Vega keeps a note of every new row; exact charts may come once while we drag


def test_an_infeasible_limit_is_said_in_words(page_served: Served, tab: Tab, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(page_served.shop, "start", None)
    page = tab(page_served.address)
    expect(page.locator("#goal-words")).to_contain_text("time to within 2")  # without a plan: an example
    state: dict[str, Any] = copy.deepcopy(CALCULATION)
    state["attacker"]["posterior"] = 0.1
    load(page, state)
    page.wait_for_selector("#epsilon.none")
    expect(page.locator("#headline")).to_contain_text("No ε")
    broken = copy.deepcopy(CALCULATION)
    broken["columns"]["time"]["prior"]["normal"]["sd"] = -1
    load(page, broken)
    expect(page.locator("#refusal")).to_contain_text("sd")
    page.context.set_offline(True)
    load(page, CALCULATION)
    expect(page.locator("#refusal")).to_contain_text("the server does not answer")


def test_a_reload_keeps_everything_and_a_link_carries_it(page_served: Served, tab: Tab) -> None:
    page = tab(page_served.address)
    load(page, CALCULATION)
    page.locator("#advantage-number").fill("7")
    settled(page)
    before, state = shown(page), held(page)
    page.wait_for_timeout(400)
    page.reload()
    page.wait_for_selector("body[data-ready]")
    settled(page)
    assert (shown(page), held(page)) == (before, state)
    page.locator("#copy").click()
    link = page.locator("#copy-link").inner_text()
    assert "guessproof choose --name time" in page.locator("#copy-command").inner_text()
    other = tab(link)
    settled(other)
    assert (shown(other), held(other)) == (before, state)
    assert "#" not in other.url
    assert other.evaluate("[...Object.keys(localStorage), ...Object.keys(sessionStorage)]") == ["guessproof-desk"]


@pytest.mark.parametrize("width", [375])
def test_it_is_readable_on_a_phone(page_served: Served, tab: Tab, width: int) -> None:
    page = tab(page_served.address, viewport={"width": width, "height": 800})
    load(page, BOTH)
    settled(page)
    drawn(page)
    expect(page.locator("#facts")).to_contain_text("faculty = ")  # who is most exposed, column by column
    page.evaluate("document.querySelectorAll('details').forEach((node) => { node.open = true; })")
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    expect(page.locator("#brief")).to_contain_text("ε")
    page.locator("#certainty").evaluate("node => { node.className = 'state busy'; }")
    moving = "getComputedStyle(document.getElementById('certainty'), '::before').animationName"
    assert page.evaluate(moving) == "none"  # the tests' browser asks for less motion
    page.emulate_media(reduced_motion="no-preference")
    assert page.evaluate(moving) == "pulse"


def test_the_keyboard_is_enough(page_served: Served, tab: Tab) -> None:
    page = tab(page_served.address)
    load(page, CALCULATION)
    settled(page)
    before = held(page)["attacker"]["advantage"]
    reached: list[str] = []
    for _ in range(60):
        page.keyboard.press("Tab")
        reached.append(page.evaluate("document.activeElement.id"))
        if reached[-1] == "advantage-slider":
            break
    assert reached[-1] == "advantage-slider"
    assert reached.index("copy") < reached.index("pick-table") < len(reached) - 1  # in the order in which they stand
    page.keyboard.press("ArrowRight")
    settled(page)
    assert held(page)["attacker"]["advantage"] > before
    assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") != "none"


def test_script_in_every_name_stays_text(page_served: Served, tab: Tab) -> None:
    page = tab(page_served.address)
    nasty = "<img src=x onerror=document.title='x'>"
    state = copy.deepcopy(CALCULATION)
    state["columns"] = {
        "a": {"prior": {"categorical": {nasty: 0.5, "</script>": 0.5}}},
        nasty: state["columns"]["time"],
    }
    state["attacker"] = {"goal": "a exactly", "advantage": 0.1}
    load(page, state)
    settled(page)
    load(
        page, {**state, "labels": {nasty: nasty}, "data": {"name": nasty, "source": f"{nasty}.csv", "protects": nasty}}
    )
    page.wait_for_timeout(800)
    assert page.title() == "guessproof"
    assert page.locator("img[src=x]").count() == 0


def test_questions_an_epsilon_and_published_methods(page_served: Served, tab: Tab) -> None:
    """The questions of init, answered with the keyboard; then an ε is typed, and published methods are laid over."""
    page = tab(page_served.address)
    page.locator("#ask-me").click()
    for said in ("", "time", "", "", "0 and 120", "120", "half between 10 and 30", "wrong", "2", "5 %", ""):
        title = page.locator("#ask-title").inner_text()
        if said:
            page.locator("#ask-answer").fill(said)
        page.keyboard.press("Enter")
        if said == "wrong":
            expect(page.locator("#ask-error")).to_contain_text("write for instance 2")
        else:
            page.wait_for_function(
                ANOTHER,
                arg=title,
            )
    page.locator("#truth").fill("20")  # the curve of the worst true value takes seconds
    page.keyboard.press("Enter")
    settled(page)
    assert held(page)["attacker"] == {"goal": "time within 2", "advantage": 0.05, "at": {"time": 20}}
    assert held(page)["data"]["rows"] == 120
    drawn(page)
    page.locator("#meaning-number").fill("7")
    expect(page.locator("#meaning-words")).to_contain_text("At ε = 7 at most")
    expect(page.locator("#meaning-said")).to_contain_text("final answer · proven: no attacker gets further")
    page.locator("#published-on").check()
    expect(page.locator("[data-method=slides-ring-integral]")).to_contain_text("does not hold")
    assert page.evaluate("import('/static/js/board.js').then((b) => b.chart('gains').rows.published.length)") > 20
