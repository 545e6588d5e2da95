"""The released numbers themselves, where they are looked for first: on the first screen, and for the board."""

from __future__ import annotations

from typing import Any

from guessproof.reporting.facts import Facts
from guessproof.reporting.markup import Markup, paragraph, tag
from guessproof.reporting.words import listed, minus, when
from guessproof.rounded import beside_error, margin, percent_short, up_grouped
from guessproof.world import show_time

MOST_SHOWN = 9
MOST_SAID = 4


def answers(facts: Facts) -> Markup | None:
    """What the latest release of this plan gave; nothing where it has made none."""
    rows = _latest(facts)
    if not rows:
        return None
    shown = rows[:MOST_SHOWN]
    numbers = [tag("div", tag("dt", _name(facts, row)), tag("dd", valued(row))) for row in shown]
    return tag("dl", *numbers, _more(len(rows) - len(shown)), class_="glance answers", aria_label="Released")


def answer_words(facts: Facts) -> str:
    """The same as a sentence, for those who paste it."""
    rows = _latest(facts)
    if not rows:
        return ""
    shown = rows[: MOST_SHOWN if len(rows) <= MOST_SHOWN else MOST_SAID]
    said = [f"{_name(facts, row)} = {valued(row)}" for row in shown]
    more = len(rows) - len(shown)
    said += [f"{more} more number{'s' * (more > 1)} below"] if more else []
    levels = sorted({float(row["confidence"]) for row in rows})
    sure = " or ".join(percent_short(level, "near") for level in levels)
    held = "The error holds" if len(rows) == 1 else "Each error holds"
    return f"Released {when(facts.own[-1].time)}: {listed(said)}. {held} with {sure} confidence."


def valued(row: dict[str, Any]) -> str:
    """A released number beside its error, with no digits that the error drowns.

    >>> valued({"value": 2000010.25, "error": 26.0}), valued({"value": 6.0847, "error": 0.5})
    ('2,000,010 ± 26', '6.085 ± 0.5')
    """
    value, error, ranks = row.get("value"), row.get("error"), row.get("ranks")
    if value is None:
        return "none"
    if row.get("time"):
        return show_time(float(value), error) + ("" if not error else f" {margin(float(error))} days")
    off = "" if ranks is None else f" ± {up_grouped(float(ranks), 3)} ranks"
    if not error:
        return f"{minus(beside_error(float(value), None))}{off}"
    return f"{minus(beside_error(float(value), float(error)))} {margin(float(error))}"


def _latest(facts: Facts) -> list[dict[str, Any]]:
    answer = facts.own[-1].answer if facts.own else None
    return [] if answer is None else list(answer.get("answers", ()))


def _name(facts: Facts, row: dict[str, Any]) -> str:
    """What a number is called: its question, its output, its group."""
    question = row.get("question")
    label = facts.plan.label
    name = label(f"{question}.{row['name']}" if question else str(row["name"]))
    levels = row.get("group", {}).items()
    group = ["(missing)" if level is None else label(key, str(level)) for key, level in levels]
    return f"{name} ({', '.join(group)})" if group else name


def _more(count: int) -> Markup | None:
    return None if count <= 0 else paragraph(f"and {count} more below", class_="note")
