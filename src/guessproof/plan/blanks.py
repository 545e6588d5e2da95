"""Blanks that `guessproof init` leaves for the owner: each is named with its line and its question."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from typing import Any

from guessproof.plan.positions import Key, lines
from guessproof.plan.refusals import Place
from guessproof.plan.words import dotted

BLANK = "?"


def question(path: Key) -> str:
    """What is asked for at a place of the plan.

    >>> question(("columns", "time", "bounds"))
    'the smallest and largest time that can occur, from public knowledge'
    """
    name = "".join(map(str, path[1:2]))
    key = next((str(part) for part in reversed(path) if isinstance(part, str)), "")
    if path[:1] == ("columns",):
        if "bounds" in path:
            return f"the smallest and largest {name} that can occur, from public knowledge"
        if "levels" in path:
            return f"every {name} that can occur, from public knowledge and not from the table"
        if "prior" in path:
            return f"what an attacker believes about {name} before the release, from public knowledge"
    if path[:2] in (("attacker", "at"), ("attacker", "knows")):
        return f"a hypothetical true value of {key}" if name == "at" else f"what he knows about {key}"
    return _QUESTIONS.get(key, "a value for it")


_QUESTIONS = {
    "rows": "how many rows the query reads; it must be public knowledge, otherwise delete the line",
    "goal": "which guesses count as correct, as: time within 2",
    "sql": "the question, as: SELECT AVG(time) AS mean_time FROM t",
    "p": "the probability that a person is in the data, as 0.05 if one in twenty was asked",
    "q": "the probability that the person has the value, given that the person is in the data",
    "within": "how far the answer may be off",
    "source": "the file that holds the table, or env:NAME",
    "name": "the ledger's name for this data",
    "person": "the column that names the person",
    "max_rows": "the most rows that one person may have",
}


def find_blanks(text: str) -> list[tuple[int | None, str, str]]:
    """Line, key and question of every blank of a plan's text.

    >>> find_blanks('[columns.time]\\nbounds = "?"')
    [(2, 'columns.time.bounds', 'the smallest and largest time that can occur, from public knowledge')]
    """
    where = lines(text)
    found = [(where.find(path), dotted(path), question(path)) for path in _blanks(tomllib.loads(text), ())]
    return sorted(found, key=lambda blank: blank[0] or 0)


def refuse_blanks(raw: Mapping[str, Any], place: Place) -> None:
    """One error that lists every blank."""
    found = sorted(_blanks(raw, ()), key=lambda path: place.lines.find(path) or 0)
    if not found:
        return
    first, *others = found
    more = "".join(f"\n  line {place.lines.find(p)}: fill in {dotted(p)}: {question(p)}" for p in others)
    raise place.error(first, BLANK, "is blank", f"fill in {first[-1]}: {question(first)}{more}")


def _blanks(value: Any, path: Key) -> Iterator[Key]:
    if isinstance(value, Mapping):
        for key, item in value.items():
            yield from _blanks(item, (*path, key))
    elif isinstance(value, (list, tuple)):
        asked = path[:1] == ("columns",) and path[-1] in ("bounds", "levels")
        if (asked and not value) or any(item == BLANK for item in value):
            yield path  # a list with blanks in it is one blank
        else:
            for i, item in enumerate(value):
                yield from _blanks(item, (*path, i))
    elif isinstance(value, str) and value.strip() == BLANK:
        yield path
