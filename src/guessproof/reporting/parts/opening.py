"""The title, the decision in one sentence, and the four numbers that are asked for first."""

from __future__ import annotations

import math

from guessproof.reporting.facts import Facts
from guessproof.reporting.markup import Markup, Piece, join, paragraph, tag
from guessproof.reporting.parts.answers import answers
from guessproof.reporting.words import down, left, listed, number, percent, rest_of, up
from guessproof.rounded import points


def opening(facts: Facts) -> Markup:
    """The head of the page."""
    return tag(
        "header",
        paragraph("guessproof · report on one release", class_="kicker"),
        tag("h1", title(facts)),
        answers(facts),
        paragraph(decision(facts), class_="lead"),
        _at_a_glance(facts),
    )


def title(facts: Facts) -> str:
    """What is asked of which data."""
    names = [facts.plan.label(o.name) for o in facts.outputs]
    several = [facts.plan.label(question.name) for question in facts.plan.questions if question.name]
    many = f"{len(several)} questions" if several else f"{len(names)} numbers"
    asked = listed(several or names) if len(several or names) <= 3 else many
    return f"{asked} from “{facts.plan.data.name}”"


def decision(facts: Facts) -> str:
    """One sentence: what is decided, how accurate it is, what it lets an attacker learn."""
    choice = facts.choice
    if not choice.feasible:
        return f"As planned, nothing can be released. {why_not(facts)}"
    if not facts.is_noisy:
        return (
            "The limits of this plan allow any ε, so that they decide nothing: set an accuracy target or an ε before "
            "anything is released."
        )
    done = bool(facts.own)
    start = "was released" if done else "can be released"
    several = len(facts.outputs) > 1
    start = start.replace("was", "were") if several else start
    called = [_quoted(facts.plan.label(o.name)) for o in facts.outputs]
    names = listed(called) if len(called) <= 3 else "The answers"
    parts = [f"{names} {start} with ε = {epsilon(facts)}"]
    error = accuracy_words(facts)
    if error:
        parts.append(error)
    learnt = learnt_words(facts)
    if learnt:
        parts.append(learnt)
    return f"{'; '.join(parts)}."


def _quoted(name: str) -> str:
    """Words for an answer within a sentence: in quotes, so that it stays one answer whatever they say."""
    return f"“{name}”" if " " in name else name


def why_not(facts: Facts) -> str:
    """Why nothing fits, and by how much."""
    needed, highest = facts.choice.interval
    fixed = facts.plan.release.epsilon
    if fixed is not None:
        return facts.choice.explanation
    if highest <= 0 or not needed:
        return facts.choice.explanation
    return (
        f"The accuracy that is asked for needs ε of {up(needed)} or more, and {limit_name(facts)} allows "
        f"{down(highest)} at most: {up(needed / highest, 3)} times less."
    )


def limit_name(facts: Facts) -> str:
    """Which limit is the tightest, in words."""
    above = [b for b in facts.choice.limits if b.side == "at most"]
    name = min(above, key=lambda b: b.epsilon).name if above else ""
    return LIMITS.get(name, name)


LIMITS = {
    "attacker": "the limit on what an attacker may learn",
    "risk": "the risk profile",
    "budget": "what is left of the budget",
    "accuracy": "the accuracy that is asked for",
    "fixed": "the ε that the plan fixes",
}


def epsilon(facts: Facts, digits: int = 4) -> str:
    """The ε of the release, rounded away from what binds it."""
    choice = facts.choice
    return (up if choice.binding == "accuracy" else down)(choice.epsilon, digits)


def accuracy_words(facts: Facts) -> str:
    """The error of the answers, where it is known beforehand."""
    choice = facts.choice
    ranks = choice.rank_errors()
    known = {name: error for name, error in {**choice.errors(), **ranks}.items() if error is not None}
    if not known or len(known) > 2:
        return ""
    levels = {name: choice.targets.get(name, (0.0, 0.95))[1] for name in known}
    each = "each answer" if choice.asked.groups > 1 else "the answer"
    parts: list[str] = []
    for name, error in known.items():
        whose = each if len(facts.outputs) == 1 else _quoted(facts.plan.label(name))
        unit = " days" * (name in choice.timely)
        far = f"{up(error)} ranks of the one that is asked for" if name in ranks else f"{up(error)}{unit} of the truth"
        near = "is exact" if error == 0 else f"lies within {far}"
        sure = f" with {percent(levels[name], 'near')} confidence"
        parts.append(f"{whose} {near}{sure if len(set(levels.values())) > 1 else ''}")
    same = f" with {percent(max(levels.values()), 'near')} confidence" if len(set(levels.values())) == 1 else ""
    return f"{listed(parts)}{same}"


def learnt_words(facts: Facts) -> str:
    """What an attacker gains."""
    choice = facts.choice
    if choice.advantage is not None:
        word = "moves" if facts.plan.limits.both else "rises"
        rise = points(float(choice.advantage.bound))
        return f"an attacker’s belief about one person {word} by at most {rise}"
    shift = facts.shift
    if choice.plan.risk is not None and shift is not None and shift.before > 0:
        return (
            f"a person’s risk of disclosure grows from {percent(shift.before, 'near')} to at most "
            f"{percent(shift.after)} where the risk profile is tightest"
        )
    return ""


def _at_a_glance(facts: Facts) -> Markup | None:
    choice, account = facts.choice, facts.account
    rows: list[tuple[Piece, Piece]] = []
    if facts.is_noisy:
        rows.append(("ε of this release", epsilon(facts)))
        rows.append(("noise", _noise(facts)))
    elif not choice.feasible:
        needed, highest = choice.interval
        if needed:
            rows.append(("ε needed", up(needed)))
        rows.append(("ε allowed", "none" if highest <= 0 else down(highest)))
    if choice.delta:
        rows.append(("δ", up(choice.delta, 2)))
    shift = facts.shift
    if facts.is_noisy and shift is not None and not shift.is_example:
        rows.append(("a right guess", f"{percent(shift.before, 'near')} → {percent(shift.after)}"))
    if account is not None:
        whole = account.budget.epsilon
        rows.append(("budget left", f"{rest_of(account.left.epsilon, whole)} of ε = {left(whole)}"))
    if not rows:
        return None
    return tag("dl", *(tag("div", tag("dt", what), tag("dd", value)) for what, value in rows), class_="glance")


def _noise(facts: Facts) -> Markup:
    noises = facts.choice.noises
    kinds = listed(dict.fromkeys(n.name.capitalize() for n in noises))
    if len(noises) == 1 and math.isfinite(noises[0].scale):
        return join([f"{kinds}, scale {number(noises[0].scale)}"])
    return join([f"{kinds}, {len(noises)} numbers"])
