"""The browser of tests/browser."""

from browser.conftest import browser, page_served, tab

__all__ = ["browser", "page_served", "tab"]
