"""Reading a page back: its elements, headings, text and data, by Python's own parser."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from html.parser import HTMLParser
from typing import Any

VOID = {"meta", "br", "hr", "img", "link", "input"}


@dataclass
class Element:
    """An element with its attributes, its text and what encloses it."""

    tag: str
    attributes: dict[str, str | None]
    parents: tuple[str, ...]
    text: str = ""


@dataclass
class Page(HTMLParser):
    """All elements of a document, in order; complains about tags that do not close."""

    source: str
    elements: list[Element] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[Element] = []
        self.feed(self.source)
        self.close()
        assert [e.tag for e in self.open] == [], "elements are left open"

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        names = [name for name, _ in attrs]
        assert len(names) == len(set(names)), f"an attribute of {tag} stands twice"
        element = Element(tag, dict(attrs), tuple(e.tag for e in self.open))
        self.elements.append(element)
        if tag not in VOID:
            self.open.append(element)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append(Element(tag, dict(attrs), tuple(e.tag for e in self.open)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open, f"</{tag}> closes nothing"
        assert self.open[-1].tag == tag, f"</{tag}> closes <{self.open[-1].tag}>"
        self.open.pop()

    def handle_data(self, data: str) -> None:
        for element in self.open:
            element.text += data.replace("\xa0", " ")  # where a line may end is no matter of words

    def all(self, *tags: str) -> list[Element]:
        return [e for e in self.elements if e.tag in tags]

    def one(self, tag: str, **attributes: str) -> Element:
        found = [e for e in self.all(tag) if all(e.attributes.get(k) == v for k, v in attributes.items())]
        assert len(found) == 1, f"{len(found)} <{tag}> with {attributes}"
        return found[0]

    def part(self, name: str) -> str:
        return self.one("section", id=name).text

    @property
    def data(self) -> dict[str, Any]:
        return json.loads(self.one("script", id="guessproof").text)

    @property
    def visible(self) -> str:
        """The text of the page without styles and data."""
        body = self.one("body").text
        return body.replace(self.one("script").text, "")
