"""If the prior is wrong: by how much it may be, the ε without any prior, and under narrower and wider ones."""

from __future__ import annotations

import math
from dataclasses import replace

from guessproof.errors import GuessproofError, InfeasibleError
from guessproof.reporting.facts import Facts
from guessproof.reporting.markup import Markup, Piece, join, paragraph, table, tag
from guessproof.reporting.words import allowed
from guessproof.rounded import misjudged_words


def sensitivity(facts: Facts) -> Markup:
    """How the allowed ε moves with what the attacker is assumed to believe."""
    if facts.choice.exposure is None:
        return paragraph(_without(facts))
    if not facts.choice.exposure.judges_wrong_priors:
        return paragraph(
            "What the attacker is assumed to believe beforehand is an assumption, and a wrong one is the largest real "
            "risk. With Gaussian noise the limit is not worked out for other beliefs; laplace noise would show them."
        )
    lead = (
        "What the attacker is assumed to believe beforehand is an assumption, and a wrong one is the largest real "
        "risk. So the limit is worked out again for other beliefs. Where the ε of this release is larger than the one "
        "in the table, the limit would be broken for such an attacker."
    )
    rows = [
        ["as the plan states", *_row(facts, _limit(facts), "")],
        ["no prior at all", *_row(facts, facts.choice.prior_free_epsilon, _no_prior(facts))],
    ]
    return join([_misjudged(facts), paragraph(lead), _table(rows), _verdict(facts)])


def other_widths(facts: Facts) -> Markup | None:
    """The same for priors of another width; a detail, as a wrong prior need not be wrong in its width."""
    exposure = facts.choice.exposure
    if exposure is None or not exposure.judges_wrong_priors:
        return None
    rows = [
        ["25 % narrower", *_row(facts, facts.choice.narrower_prior_epsilon, _reason(facts, 0.75))],
        ["25 % wider", *_row(facts, facts.choice.wider_prior_epsilon, _reason(facts, 1.25))],
    ]
    return join([tag("h3", "Priors of another width"), _table(rows)])


def _table(rows: list[list[str]]) -> Markup:
    heads: list[Piece] = ["belief beforehand", "ε at most", "this release"]
    return table("The largest ε that keeps the attacker’s limit", heads, rows, numbers=(1,))


def _misjudged(facts: Facts) -> Markup | None:
    """By how much the stated prior may be wrong, before anything else is said of it."""
    factor = facts.choice.largest_prior_factor
    if factor is None or not facts.is_noisy:
        return None
    words = misjudged_words(factor)
    return paragraph(f"{words[:1].upper()}{words[1:]}.")


def _without(facts: Facts) -> str:
    if facts.plan.attacker is not None and not facts.choice.feasible:
        return "Under the stated prior the limit is broken before any release, so no other prior was tried."
    if facts.plan.risk is not None:
        return (
            "The choice rests on no single prior: the risk profile ranges over attackers with different beliefs, and "
            "ε is the smallest that any of them calls for. Of attackers outside its range it says nothing."
        )
    return "The plan limits no attacker, so no prior was used: ε holds whatever anybody believes beforehand."


def _limit(facts: Facts) -> float | None:
    return next((b.epsilon for b in facts.choice.limits if b.name == "attacker"), None)


def _row(facts: Facts, value: float | None, otherwise: str) -> list[str]:
    if value is None:
        return ["none" if otherwise == BROKEN else "not defined", otherwise]
    needed = facts.choice.interval[0]
    if not facts.is_noisy:
        return [allowed(value), "" if not needed else "would do" if value >= needed else "too little for the accuracy"]
    if math.isinf(value):
        return ["any", "keeps the limit"]
    return [allowed(value), "keeps the limit" if facts.choice.epsilon <= value else "would break it"]


BROKEN = "broken before any release"


def _reason(facts: Facts, factor: float) -> str:
    """Why there is no number: no width, or a limit that such a belief breaks by itself."""
    exposure = facts.choice.exposure
    assert exposure is not None
    attacker = exposure.attacker.stretched(factor)
    if not exposure.attacker.has_prior:
        return "no prior is stated"
    if attacker is None:
        return "a list of categories has no width"
    if (facts.choice.narrower_prior_epsilon if factor < 1 else facts.choice.wider_prior_epsilon) is not None:
        return ""
    try:
        replace(exposure, attacker=attacker).epsilon(facts.plan.limits)
    except InfeasibleError:
        return BROKEN
    except GuessproofError:
        return "could not be certified"
    return ""


def _no_prior(facts: Facts) -> str:
    return (
        "only a limit on the rise of a belief can hold for every prior" if facts.plan.limits.advantage is None else ""
    )


def _verdict(facts: Facts) -> Markup | None:
    choice = facts.choice
    free = choice.prior_free_epsilon
    if not facts.is_noisy or free is None:
        return None
    if choice.needs_no_prior:
        return paragraph(
            "The ε of this release is small enough to keep the limit whatever the attacker believes: no prior is "
            "needed for it."
        )
    if facts.plan.limits.posterior is not None:
        return paragraph(
            "A belief that is above its limit before any release stays there. The choice therefore rests on the stated "
            "prior, and those who decide should agree with it."
        )
    return paragraph(
        f"Without any assumption on beliefs the limit would allow ε = {allowed(free)} only. The choice therefore rests "
        "on the stated prior, and those who decide should agree with it."
    )
