"""The whole way: from a CSV file to a report, in the browser."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from threading import Event

from playwright.sync_api import Page, Route, expect
from web.running import CALCULATION, serving

from browser.conftest import TABLE
from browser.pages import held, press, reach, settled, write
from guessproof.ledger import Ledger

Tab = Callable[..., Page]


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


def test_numbers_of_an_earlier_state_are_marked(tmp_path: Path, tab: Tab) -> None:
    """What was answered before a change is not read as the answer to it, however long the new one takes."""
    with serving(tmp_path, state=CALCULATION) as found:
        page = tab(found.address)
        settled(page)
        decision = page.locator(".decision")
        expect(decision).to_have_css("opacity", "1")
        waiting, answered = list[Route](), Event()
        page.route(
            re.compile("/api/(live|jobs)"),
            lambda route: route.continue_() if answered.is_set() else waiting.append(route),
        )
        write(page, "advantage-number", "10")
        expect(decision).to_have_css("opacity", "0.4")
        answered.set()
        while waiting:
            waiting.pop().continue_()
        settled(page)
        expect(decision).to_have_css("opacity", "1")
        expect(page.locator("#facts")).to_have_css("opacity", "1")
