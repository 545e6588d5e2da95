"""Without data the page is a calculator."""

from __future__ import annotations

from collections.abc import Callable

from playwright.sync_api import Page, expect
from web.running import CALCULATION, Served

import guessproof as gp
from guessproof.rounded import down


def settled(page: Page) -> None:
    """The exact answer is there, and the charts are drawn."""
    page.wait_for_selector("#certainty.exact")
    page.wait_for_selector("body[data-charts]")


def test_a_slider_gives_the_library_s_number(page_served: Served, tab: Callable[..., Page]) -> None:
    page = tab(page_served.address)
    page.evaluate("history.replaceState(null, '', '/')")
    settled(page)
    assert page.locator("#chart-gains canvas").count() == 1
    page.locator("#advantage-number").fill("12")
    expect(page.locator("#advantage-words")).to_contain_text("12 in 100")
    settled(page)
    time = gp.Attribute("time", prior=gp.normal(20, 6.28))
    exact = down(gp.Attack(gp.within(time, 2)).epsilon(advantage=0.12))
    expect(page.locator("#epsilon-value")).to_have_text(exact)
    assert CALCULATION["attacker"]["goal"] == page.locator("#goal-text").input_value()
