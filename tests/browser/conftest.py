"""A real Chromium, one for each process of a run, and the page of a folder of its own."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect, sync_playwright
from web.running import CALCULATION, Served, serving

QUIET = ("--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking")
ALONE = ("--disable-component-update", "--disable-sync")
TABLE = Path(__file__).parents[2] / "src/guessproof/cli/story/cafeteria.csv"
PATIENCE = 120_000  # milliseconds: machines that run tests are busy
expect.set_options(timeout=PATIENCE)


def chromium() -> str | None:
    """The browser of the machine; None for the one that Playwright keeps."""
    names = (os.environ.get("CHROMIUM", ""), "chromium", "chromium-browser", "google-chrome")
    return next((path for name in names if name and (path := shutil.which(name))), None)


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """One browser; as root it has no sandbox of its own."""
    sandbox = ("--no-sandbox",) if hasattr(os, "geteuid") and os.geteuid() == 0 else ()
    with sync_playwright() as play:
        found = play.chromium.launch(executable_path=chromium(), args=[*QUIET, *ALONE, *sandbox])
        yield found
        found.close()


@pytest.fixture(scope="session")
def page_served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """The page in a folder with the cafeteria's table; it begins with a plan that is quickly answered."""
    folder = tmp_path_factory.mktemp("browser")
    shutil.copy(TABLE, folder / "cafeteria.csv")
    with serving(folder, state=CALCULATION) as found:
        yield found


def is_complaint(said: Any) -> bool:
    """Whether something went wrong; a refusal by the server is an answer, which the browser notes."""
    return said.type in ("error", "warning") and not said.text.startswith("Failed to load resource")


@pytest.fixture
def tab(browser: Browser) -> Iterator[Callable[..., Page]]:
    """Opens tabs; whatever a page complains about fails the test."""
    complaints: list[str] = []
    with ExitStack() as opened:

        def open_tab(address: str, **options: Any) -> Page:
            context = browser.new_context(reduced_motion="reduce", **options)
            opened.callback(context.close)
            context.set_default_timeout(PATIENCE)
            page = context.new_page()
            page.on("pageerror", lambda error: complaints.append(str(error)))
            page.on("console", lambda said: complaints.append(said.text) if is_complaint(said) else None)
            page.goto(address)
            page.wait_for_selector("body[data-ready]")
            return page

        yield open_tab
    assert not complaints
