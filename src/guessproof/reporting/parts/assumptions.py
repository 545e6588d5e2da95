"""What must hold for the numbers to mean what they say, and what is not protected at all."""

from __future__ import annotations

from guessproof.reporting.facts import Facts
from guessproof.reporting.markup import Markup, bullets, join, paragraph
from guessproof.reporting.words import listed
from guessproof.risk import ASSUMPTIONS as PROFILE_ASSUMPTIONS


def assumptions(facts: Facts) -> Markup:
    """The assumptions behind every number of this page."""
    items = list(facts.choice.assumptions)
    attacker = facts.plan.attacker
    if attacker is not None and attacker.at is not None:
        items.append(
            "The limit is worked out for one true value, which the plan states hypothetically; somebody with another "
            "true value can be more exposed."
        )
    if attacker is not None and attacker.knows:
        known = listed([f"{name}: {_known(value)}" for name, value in attacker.knows.items()])
        items.append(f"The attacker knows beforehand, besides: {known}.")
    rows = facts.plan.data.rows
    if rows is not None:
        items.append(
            f"At least {rows:,} rows match the query, as everybody knows. The release refuses if there are fewer, "
            "since the noise would be too small."
        )
    bounds = [n for n, c in facts.plan.columns.items() if c.bounds is not None]
    if bounds:
        items.append(
            f"Values outside the declared bounds ({listed(bounds)}) are moved to the nearest bound before they count, "
            "which can bias the answer. Bounds, levels and priors come from public knowledge."
        )
    if facts.plan.risk is not None:
        items += [f"[KR]: {text}." for text in PROFILE_ASSUMPTIONS]
    if facts.choice.data_dependent:
        items.append(
            "The choice was made after the exposure of the records was looked at, so it may itself depend on the data."
        )
    return bullets(items)


def _known(value: object) -> str:
    if isinstance(value, (list, tuple)) and len(value) == 2 and all(isinstance(v, (int, float)) for v in value):
        return f"between {value[0]:g} and {value[1]:g}"
    items = sorted(map(str, value)) if isinstance(value, (list, tuple, set, frozenset)) else [str(value)]
    return listed(items, "or")


def _beyond(linked: int) -> str:
    if linked == 1:
        return "Records count as independent of each other."
    return f"Up to {linked} records that tell of each other are counted together; those beyond are not."


def unprotected(facts: Facts) -> Markup:
    """What nobody should read into the guarantee."""
    items = list[str]()
    if not facts.plan.unit.hides_presence:
        items.append("Who is in the table, and how many rows it has: both count as known.")
        public = [n for n, c in facts.plan.columns.items() if c.public]
        also = f", {listed(public)} included" if public else ""
        items.append(
            f"Columns that the plan does not declare, or declares public{also}: they count as known for every person."
        )
    else:
        items.append(facts.plan.unit.open)
    items += [
        "Facts about groups. That the average is high, or that a habit is harmful, can be learnt about everybody, "
        "also about those who are not in the data; that is what the release is for.",
        "What follows about one person from the records of others: relatives, colleagues, or several records of the "
        f"same person. {_beyond(facts.plan.data.linked_records)}",
        "Other releases. What other systems, other ledgers or earlier publications tell about the same people comes "
        "on top; only what this ledger has recorded is added up.",
        "The time that an answer takes, and everything else but the answer. Those who can measure or watch the "
        "computer may learn more.",
        "The table itself, its copies and backups, and what the people who handle it know.",
    ]
    if facts.plan.attacker is not None:
        items.append(
            f"Other goals. The limit is set for “{facts.plan.attacker.goal}”; for other goals ε still bounds what can "
            "be learnt, but by another number."
        )
    return join([paragraph("Not protected by this release:"), bullets(items)])
