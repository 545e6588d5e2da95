"""The page: its head, its parts in order, and nothing from outside."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from importlib import resources

from guessproof.reporting.facts import Facts
from guessproof.reporting.markup import Markup, Piece, join, paragraph, tag
from guessproof.reporting.parts.accuracy import accuracy
from guessproof.reporting.parts.appendix import appendix
from guessproof.reporting.parts.assumptions import assumptions, unprotected
from guessproof.reporting.parts.board import board
from guessproof.reporting.parts.choosing import choosing
from guessproof.reporting.parts.glossary import glossary
from guessproof.reporting.parts.guarantee import guarantee
from guessproof.reporting.parts.nist import nist
from guessproof.reporting.parts.opening import opening, title
from guessproof.reporting.parts.plain import plain
from guessproof.reporting.parts.prior import sensitivity
from guessproof.reporting.parts.proofs import proofs
from guessproof.reporting.parts.releases import releases
from guessproof.reporting.parts.sources import sources
from guessproof.reporting.parts.tests_of_privacy import in_other_words

POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"

PARTS: tuple[tuple[str, str, Callable[[Facts], Markup]], ...] = (
    ("plain", "In plain words", plain),
    ("board", "For the board", board),
    ("choice", "The choice", choosing),
    ("prior", "If the prior is wrong", sensitivity),
    ("accuracy", "Accuracy", accuracy),
    ("releases", "Releases and budget", releases),
    ("proofs", "How each number was proven", proofs),
    ("assumptions", "Assumptions", assumptions),
    ("unprotected", "What is not protected", unprotected),
    ("nist", "The questions of NIST SP 800-226", nist),
    ("guarantee", "The guarantee in mathematics", guarantee),
    ("tests", "In the field’s other words", in_other_words),
    ("glossary", "Glossary", glossary),
    ("sources", "Sources", sources),
    ("appendix", "Plan, versions, data", appendix),
)


def page(facts: Facts) -> str:
    """The whole document. The same facts give the same bytes."""
    sections = [_section(name, heading, part(facts)) for name, heading, part in PARTS]
    contents = tag(
        "nav",
        paragraph("Contents", class_="kicker"),
        tag("ol", *(tag("li", tag("a", heading, href=f"#{name}")) for name, heading, _ in PARTS)),
        aria_label="Contents",
    )
    body = tag("body", tag("div", contents, tag("main", opening(facts), *sections, _ending(facts)), class_="frame"))
    return f"<!DOCTYPE html>\n{tag('html', _head(facts), body, lang='en')}\n"


def _head(facts: Facts) -> Markup:
    return tag(
        "head",
        tag("meta", charset="utf-8"),
        tag("meta", http_equiv="Content-Security-Policy", content=POLICY),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("meta", name="referrer", content="no-referrer"),
        tag("title", f"{title(facts)} · guessproof report"),
        tag("style", Markup(_style())),
    )


def _section(name: str, heading: str, content: Piece) -> Markup:
    return Markup(
        "\n" + tag("section", tag("h2", heading, id=f"{name}-title"), content, id=name, aria_labelledby=f"{name}-title")
    )


def _ending(facts: Facts) -> Markup:
    made = "Made by guessproof from the plan"
    source = f"{made} and the ledger {facts.ledger_name}" if facts.head else f"{made} alone; there is no ledger yet"
    parts: list[Piece] = [paragraph(f"{source}. The table was not opened.")]
    if facts.head is not None:
        parts.append(paragraph("Head of the ledger: ", tag("code", facts.head, class_="hash")))
    return tag("footer", join(parts))


@cache
def _style() -> str:
    return resources.files("guessproof.reporting").joinpath("style.css").read_text(encoding="utf-8")
