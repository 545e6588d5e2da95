"""Further ways through the page."""

from __future__ import annotations

import copy
from pathlib import Path

import pytest
from browser.conftest import TABLE
from browser.pages import drawn, held, load, settled
from browser.test_journey import Tab
from playwright.sync_api import expect
from web.running import CAFETERIA, CALCULATION, Served, serving

from guessproof.ledger import Ledger

OPEN = "document.querySelectorAll('details').forEach((node) => { node.open = true; })"


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


@pytest.mark.parametrize(
    ("family", "keys"), [("lognormal", ["median", "sd_log"]), ("student_t", ["df", "mean", "scale"])]
)
def test_a_family_writes_the_keys_of_the_plan(page_served: Served, tab: Tab, family: str, keys: list[str]) -> None:
    page = tab(page_served.address)
    load(page, CAFETERIA)
    settled(page)
    chosen = page.locator("[data-column=time] select")
    assert family in chosen.locator("option").evaluate_all("options => options.map((one) => one.value)")
    chosen.select_option(family)
    settled(page)
    assert sorted(held(page)["columns"]["time"]["prior"][family]) == keys
    expect(page.locator("#attacker-error")).to_be_hidden()


def test_a_column_of_texts_is_guessed_exactly(tmp_path: Path, tab: Tab) -> None:
    with serving(tmp_path, state=CALCULATION) as found:
        page = tab(found.address)
        page.locator("#upload").set_input_files(TABLE)
        page.locator("#show-columns").click()
        page.locator("[data-chip=faculty]").click()
        page.get_by_text("and also").click()
        goal = held(page)["attacker"]["goal"]
        assert goal.endswith("faculty exactly"), goal
        offered = page.get_by_label("How near").last.locator("option")
        assert offered.evaluate_all("options => options.map((one) => one.value)") == ["exactly"]


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
    axe = (Path(__file__).parents[2] / "browser/vendor/axe.min.js").read_text(encoding="utf-8")
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
