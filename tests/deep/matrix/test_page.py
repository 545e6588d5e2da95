"""All ordinary tables go once through the page: question, outcome, budget, offer, release and replay."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from matrix.project import Project, assert_readable
from web.running import serving

from guessproof.ledger import Budget, Ledger


def list_texts(document: Any) -> Iterator[str]:
    """Every text of a document of the page; pictures are drawn from numbers and left out."""
    if isinstance(document, dict):
        for value in document.values():
            yield from list_texts(value)
    elif isinstance(document, list):
        for value in document:
            yield from list_texts(value)
    elif isinstance(document, str) and not document.lstrip().startswith("<svg"):
        yield document


def test_the_page_gives_the_epsilon_of_the_commands(project: Project) -> None:
    written = Path("plan.toml").read_text(encoding="utf-8")
    choice = project.document("choose")
    with serving(Path.cwd()) as page:
        state = page.ask("POST", "/api/plan/read", {"toml": written})[1]["state"]
        state["data"]["name"] = "by_page"
        outcome = page.work("outcome", state)
        assert outcome["state"] == "done", outcome["error"]
        assert_readable("\n".join(list_texts(outcome["result"])))
        Ledger.create("guessproof.ledger", "by_page", Budget("1000", "0.001"))
        status, offer = page.ask("POST", "/api/release/offer", {"state": state})
        assert status == 200, offer
        assert choice["epsilon_charged"] <= float(offer["cost"]) <= choice["epsilon_charged"] * (1 + 1e-5)
        status, answer = page.ask("POST", "/api/release", {"state": state, "offer": offer["offer"]})
        assert status == 200, answer
        assert_readable("\n".join(list_texts(answer["shown"])))
        assert answer["epsilon"] == choice["epsilon_charged"]
        again = page.ask("POST", "/api/release/offer", {"state": state})[1]
        assert again["answered_before"] is True
