"""The questions of NIST SP 800-226, and what this page answers to each."""

from __future__ import annotations

from guessproof.ledger.amounts import rest_of
from guessproof.reporting.facts import Facts
from guessproof.reporting.markup import Markup, Piece, join, paragraph, table, tag
from guessproof.reporting.parts.opening import accuracy_words, given
from guessproof.reporting.words import listed
from guessproof.rounded import up_grouped


def nist(facts: Facts) -> Markup:
    """One row for each factor: what was decided, and where the page says it in full."""
    rows: list[list[Piece]] = [
        [what, said, tag("a", where, href=f"#{name}")] for what, said, name, where in _rows(facts)
    ]
    words = (
        "Guidelines for Evaluating Differential Privacy Guarantees (NIST SP 800-226, 2025) names what such a guarantee "
        "rests on. What this release answers to each, and what it leaves to its owner:"
    )
    return join([paragraph(words), table("Factors of NIST SP 800-226", ["factor", "here", "in full"], rows)])


def _rows(facts: Facts) -> list[tuple[str, str, str, str]]:
    choice, plan = facts.choice, facts.plan
    account = facts.account
    level = f"ε = {given(facts)}" if facts.is_noisy else "no level of noise is chosen"
    level += f", δ = {up_grouped(choice.delta, 2)}" if choice.delta else ""
    variant = "approximate differential privacy, with a δ" if choice.delta else "pure differential privacy"
    noise = listed(dict.fromkeys(n.name.capitalize() for n in choice.noises)) or "none"
    budget = "no budget is open"
    if account is not None:
        budget = f"{rest_of(account.left.epsilon, account.budget.epsilon)} of ε is left, over all releases"
    return [
        ("privacy parameters", level, "choice", "The choice"),
        ("unit of privacy", plan.unit.assumption, "unprotected", "What is not protected"),
        ("variant and neighbours", f"{variant}; ε counts changing one {plan.unit.noun}", "guarantee", "The guarantee"),
        (
            "mechanism",
            f"{noise} noise, in whole numbers on a grid, from a secure source",
            "proofs",
            "How it was proven",
        ),
        ("utility", accuracy_words(facts) or "each answer comes with its own error", "accuracy", "Accuracy"),
        ("bias", "values outside declared bounds count as the nearest bound", "assumptions", "Assumptions"),
        ("several releases", budget, "releases", "Releases and budget"),
        ("trust model", "central: whoever runs the release sees the table", "assumptions", "Assumptions"),
        (
            "side channels",
            "messages do not depend on data; running times are not hidden",
            "unprotected",
            "Not protected",
        ),
        ("data security and access", "not a matter of this page: its owner answers", "unprotected", "Not protected"),
        ("collection of data", "not a matter of this page: its owner answers", "unprotected", "Not protected"),
    ]
