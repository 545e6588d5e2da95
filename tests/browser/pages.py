"""What the tests of the page do again and again."""

from __future__ import annotations

from typing import Any

from playwright.sync_api import Page


def settled(page: Page) -> None:
    """The exact answer to what stands there is shown."""
    page.wait_for_selector("#certainty.exact")  # a change takes the mark away at once


def drawn(page: Page) -> None:
    """The charts are drawn."""
    page.wait_for_selector("body[data-charts]")


def load(page: Page, state: Any) -> None:
    """Open a state as if its plan had been opened."""
    page.evaluate("state => import('/static/js/store.js').then((store) => store.replace(state))", state)


def held(page: Page) -> Any:
    """The state that the page holds."""
    return page.evaluate("import('/static/js/store.js').then((store) => store.get())")


def shown(page: Page) -> str:
    """The ε on the page."""
    return page.locator("#epsilon-value").inner_text()


def reach(page: Page, name: str) -> None:
    """Go to an element as somebody does who has no mouse."""
    for _ in range(250):
        if page.evaluate("document.activeElement.id") == name:
            return
        page.keyboard.press("Tab")
    raise AssertionError(f"the keyboard does not reach {name}")


def press(page: Page, name: str) -> None:
    """Go to a button, once it is there, and press it."""
    page.wait_for_selector(f"#{name}:visible")
    reach(page, name)
    page.keyboard.press("Enter")


def write(page: Page, name: str, text: str) -> None:
    """Go to a field and write something else into it."""
    page.wait_for_selector(f"#{name}:visible")
    reach(page, name)
    page.keyboard.press("Control+a")
    page.keyboard.type(text)
