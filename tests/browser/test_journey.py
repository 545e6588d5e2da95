"""The whole way: from a CSV file to a report, in the browser."""

from __future__ import annotations

import copy
import re
from collections.abc import Callable
from pathlib import Path

from playwright.sync_api import Page, expect
from web.running import CAFETERIA, CALCULATION, Served, serving

from browser.conftest import TABLE
from browser.pages import drawn, held, load, press, reach, settled, write
from guessproof.ledger import Ledger

Tab = Callable[..., Page]
OPEN = "document.querySelectorAll('details').forEach((node) => { node.open = true; })"


def test_from_a_file_to_a_report(tmp_path: Path, tab: Tab) -> None:
    """With the keyboard alone; only the dialog in which a file is chosen is the browser's own."""
    with serving(tmp_path, state=CALCULATION) as found:
        page = tab(found.address)
        reach(page, "upload")
        page.locator("#upload").set_input_files(TABLE)
        expect(page.locator("#pick-table")).to_have_value("cafeteria.csv")
        press(page, "show-columns")
        expect(page.locator("[data-chip=time]")).to_be_visible()
        write(page, "data-rows", "120")
        page.keyboard.press("Enter")
        write(page, "sql", "SELECT AVG(time) AS mean_time FROM t WHERE faculty = 'math'")
        expect(page.locator("#sql-said")).to_contain_text("one person moves it")
        reach(page, "within-on")
        page.keyboard.press("Space")
        write(page, "within-number", "1.5")
        settled(page)
        assert held(page)["data"]["source"] == "cafeteria.csv"
        write(page, "budget-amount", "5")
        press(page, "open-budget")
        press(page, "offer")
        expect(page.locator("#confirm-title")).to_contain_text("charges ε = 1.99716 to cafeteria")
        assert Ledger(tmp_path / "guessproof.ledger").standing("cafeteria").epsilon == 0
        press(page, "confirm")
        expect(page.locator("#answer")).to_contain_text("mean_time = ")
        assert float(Ledger(tmp_path / "guessproof.ledger").standing("cafeteria").epsilon) > 1.9
        press(page, "start-audit")
        expect(page.locator("#verdict")).to_contain_text("Nothing more was found")
        press(page, "write-report")
        with page.context.expect_page() as opened:
            press(page, "see-report")
        opened.value.wait_for_load_state()
        assert re.search("cafeteria", opened.value.content())
        uploads = found.shop.folder.uploads
        assert (uploads / "cafeteria.csv").exists()
    assert not uploads.exists()


def test_the_refused_part_is_underlined_while_typing(page_served: Served, tab: Tab) -> None:
    page = tab(page_served.address)
    load(page, CAFETERIA)
    settled(page)
    page.locator("#sql").fill("SELECT AVG(RANDOM() * time) AS m FROM t")
    expect(page.locator(".sql mark")).to_contain_text("RANDOM()")
    expect(page.locator("#sql")).to_have_attribute("aria-invalid", "true")
    page.locator("#sql").fill(CAFETERIA["query"]["sql"])
    expect(page.locator("#sql")).to_have_attribute("aria-invalid", "false")
    assert page.locator(".sql mark").count() == 0


def test_two_tabs_have_one_budget(page_served: Served, tab: Tab) -> None:
    mine, other = copy.deepcopy(CAFETERIA), copy.deepcopy(CAFETERIA)
    mine["data"]["name"] = other["data"]["name"] = "shared"
    other["accuracy"]["within"] = 1.4
    page_served.ask("POST", "/api/budget/open", {"state": mine, "name": "shared", "budget": "5"})
    first, second = tab(page_served.address), tab(page_served.address)
    for page, state in ((first, mine), (second, other)):
        load(page, state)
        settled(page)
        page.locator("#offer").click()
        expect(page.locator("#confirm")).to_be_visible()
    first.locator("#confirm").click()
    expect(first.locator("#answer")).to_contain_text("mean_time = ")
    ledger = Ledger(page_served.shop.folder.root / "guessproof.ledger")
    spent = ledger.standing("shared").epsilon
    second.locator("#confirm").click()
    expect(second.locator("#release-error")).to_contain_text("nothing was charged")
    assert ledger.standing("shared").epsilon == spent > 0


def test_it_is_accessible_in_light_and_dark(page_served: Served, tab: Tab) -> None:
    axe = (Path(__file__).parent / "vendor" / "axe.min.js").read_text(encoding="utf-8")
    page = tab(page_served.address, bypass_csp=True)
    load(page, CAFETERIA)
    settled(page)
    drawn(page)
    page.evaluate(OPEN)
    page.evaluate(axe)
    expect(page.locator("#chart-room th")).to_contain_text(["from ε", "to ε", "limit", "allows", "because"])
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
        found = page.evaluate("axe.run(document, { resultTypes: ['violations'] })")
        serious = [v for v in found["violations"] if v["impact"] in ("serious", "critical")]
        assert [(v["id"], [n["target"] for n in v["nodes"]][:4]) for v in serious] == []
