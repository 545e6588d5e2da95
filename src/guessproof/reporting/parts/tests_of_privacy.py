"""The field's other words: how well a test tells two neighbouring tables apart, of this release and of the ledger."""

from __future__ import annotations

from guessproof.charts.tradeoff import tradeoff_curves
from guessproof.guarantee.guarantee import list_moved
from guessproof.mechanisms.words import OtherWords, other_words, words_of_charges
from guessproof.reporting.facts import Facts
from guessproof.reporting.figures import figure
from guessproof.reporting.markup import Markup, Piece, join, paragraph, table
from guessproof.rounded import percent_up, up_grouped

THIS, ALL = "this release", "all releases in the ledger"
_MARGIN = 80


def in_other_words(facts: Facts) -> Markup:
    """A table of the words, and the curve behind them."""
    noun = facts.plan.unit.noun
    lead = (
        f"Others ask how well a test can tell two tables apart that differ by one {noun}, with no prior at all: how "
        "often it is right at a given rate of false alarms. These are other words for the same noise; the limits of "
        "this report are about beliefs."
    )
    found = _found(facts)
    if not found:
        return paragraph("Nothing is released, so a test has nothing to go by.")
    heads: list[Piece] = ["word", *found]
    rows = [[word, *(say(words) for words in found.values())] for word, say in _WORDS.items()]
    numbers = tuple(range(1, len(heads)))
    first = found[next(iter(found))]
    caption = "How often a test is right, at most, against how often it raises a false alarm; dashed: by guessing."
    label = f"{caption} At a false positive rate of 1 % it is at most {percent_up(first.tpr(0.01))}."
    drawn = tradeoff_curves(found).to_dict(validate=False)
    picture = figure("tests", lambda width: {**drawn, "width": width - _MARGIN, "title": ""}, label, caption)
    return join([paragraph(lead), table("At most", heads, rows, numbers=numbers), picture])


_WORDS = {
    "TPR at FPR 1 %": lambda w: percent_up(w.tpr(0.01)),
    "TPR at FPR 0.1 %": lambda w: percent_up(w.tpr(0.001)),
    "TPR − FPR (advantage of a test)": lambda w: percent_up(w.advantage),
    "μ-GDP": lambda w: up_grouped(w.gdp, 6),
    "ρ-zCDP": lambda w: up_grouped(w.zcdp, 6),
}


def _found(facts: Facts) -> dict[str, OtherWords]:
    """This release, and with others in the ledger all of them."""
    found: dict[str, OtherWords] = {}
    if facts.is_noisy:
        mechanisms = [n.mechanism for n in facts.choice.noises]
        found[THIS] = other_words(list_moved(mechanisms, facts.choice.asked.families, key=lambda m: m.epsilon))
    charges = [] if facts.account is None else list(facts.account.charges.values())
    described = [charge.describe.get("noise", ()) for charge in charges]
    if len(described) > (1 if found else 0) and all(described):
        paid = (float(charge.cost.epsilon) for charge in charges)
        found[ALL] = words_of_charges(zip(described, paid, strict=True))
    return found
