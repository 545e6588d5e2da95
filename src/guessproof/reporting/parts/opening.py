"""The title, the decision in one sentence, and the four numbers that are asked for first."""

from __future__ import annotations

import math

from guessproof.choosing import Change, Choice
from guessproof.ledger.amounts import rest_of
from guessproof.reporting.facts import Facts
from guessproof.reporting.markup import Markup, Piece, join, paragraph, tag
from guessproof.reporting.parts.answers import answers
from guessproof.reporting.words import allowed, change_name, change_value, left, listed, taken
from guessproof.risk import as_declared
from guessproof.rounded import near, percent_short, points, up_grouped


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
    first = asked.split()[0]
    is_name = "_" in first or len(first) == 1  # it stays as it is written
    return f"{asked if is_name else asked[:1].upper() + asked[1:]} from “{facts.plan.data.name}”"


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
    parts = [f"{'Released' if facts.own else 'Can be released'} with ε = {given(facts)}"]
    error = accuracy_words(facts)
    if error:
        parts.append(error)
    learnt = learnt_words(facts)
    if learnt:
        parts.append(learnt)
    if choice.waits_for_budget and not facts.own:
        parts.append(f"for this the plan must say so: epsilon = {given(facts)} under [release]")
    note = facts.choice.bias_note
    return f"{'; '.join(parts)}.{'' if note is None else f' {note}.'}"


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
        f"The accuracy that is asked for needs ε of {taken(needed)} or more, and {limit_name(facts)} allows "
        f"{allowed(highest)} at most: {up_grouped(needed / highest, 3)} times less."
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


def epsilon(facts: Facts) -> str:
    """The recommended ε, rounded away from what binds it: typed in again, it still keeps and meets everything."""
    choice = facts.choice
    return (taken if choice.binding == "accuracy" else allowed)(choice.epsilon)


def given(facts: Facts) -> str:
    """The ε of the release: once it is charged a cost, which is never told too low; before, as it is recommended."""
    return taken(facts.choice.epsilon) if facts.own else epsilon(facts)


def accuracy_words(facts: Facts) -> str:
    """The error of the answers, where it is known beforehand."""
    choice = facts.choice
    ranks = choice.rank_errors()
    known = {name: error for name, error in {**choice.errors(), **ranks}.items() if error is not None}
    said: dict[str, list[str]] = {}  # what is alike is said once
    for name, error in known.items():
        unit = " days" * (name in choice.timely)
        far = (
            f"{up_grouped(error)} ranks of the one that is asked for"
            if name in ranks
            else f"{up_grouped(error)}{unit} of the truth"
        )
        sure = percent_short(choice.targets.get(name, (0.0, 0.95))[1], "near")
        near = "is exact" if error == 0 else f"lies within {far} with {sure} confidence"
        said.setdefault(near, []).append(name)
    if not said or len(said) > 2:
        return ""
    if len(said) == 1 and len(known) == len(facts.outputs):
        several = choice.asked.groups > 1 or len(known) > 1
        return f"{'each answer' if several else 'the answer'} {next(iter(said))}"
    parts = [f"{listed([_quoted(facts.plan.label(n)) for n in names])} {near}" for near, names in said.items()]
    return listed([p if len(n) == 1 else f"each of {p}" for p, n in zip(parts, said.values(), strict=True)])


def target_words(facts: Facts, before: str) -> list[str]:
    """Each target of the plan; `before` stands before its confidence."""
    choice, found = facts.choice, list[str]()
    for name, (within, confidence) in choice.targets.items():
        far = " ranks" if name in choice.rank_errors() else f"{' days' * (name in choice.timely)} of the truth"
        sure = f"{before} {percent_short(confidence, 'near')} confidence"
        found.append(f"{facts.plan.label(name)} within {near(within)}{far}{sure}")
    return found


def changed(facts: Facts, change: Change) -> str:
    """One change of the plan within a sentence."""
    now, then = (change_value(change.what, value, facts.choice.timely) for value in (change.present, change.proposed))
    return f"{change_name(change.what, facts.plan.label)} {then} instead of {now}"


def learnt_words(facts: Facts) -> str:
    """What an attacker gains."""
    choice = facts.choice
    if choice.advantage is not None:
        word = "moves" if facts.plan.limits.both else "rises"
        rise = points(float(choice.advantage.bound))
        failure = None if facts.plan.attacker is None else facts.plan.attacker.failure
        failing = "" if failure is None else f", except with probability {up_grouped(failure)}"
        return f"an attacker’s belief about one person {word} by at most {rise}{failing}"
    shift = facts.shift
    if choice.plan.risk is not None and shift is not None and shift.before > 0:
        return (
            f"a person’s risk of disclosure grows from {percent_short(shift.before, 'near')} to at most "
            f"{percent_short(shift.after)} where the risk profile is tightest"
        )
    return ""


def _easiest(choice: Choice) -> list[tuple[Piece, Piece]]:
    """The highest belief, where that is another true value's: `guessproof choose` says it first."""
    high, risen = choice.posterior, choice.advantage
    if high is None or high.worst_prior is None or (risen is not None and high.worst_at == risen.worst_at):
        return []
    after = as_declared(float(high.bound), choice.plan.prior_factor)
    rise = f"{percent_short(float(high.worst_prior), 'near')} → {percent_short(after)}"
    return [("a right guess, where it is easiest", rise)]


def _at_a_glance(facts: Facts) -> Markup | None:
    choice, account = facts.choice, facts.account
    rows: list[tuple[Piece, Piece]] = []
    if facts.is_noisy:
        rows.append(("ε of this release", given(facts)))
        rows.append(("noise", _noise(facts)))
    elif not choice.feasible:
        needed, highest = choice.interval
        if needed:
            rows.append(("ε needed", taken(needed)))
        rows.append(("ε allowed", "none" if highest <= 0 else allowed(highest)))
    if choice.delta:
        rows.append(("δ", up_grouped(choice.delta, 2)))
    shift = facts.shift
    if facts.is_noisy and shift is not None and not shift.is_example:
        most = ", where most is learnt" if shift.is_largest_gain else ""
        rows.append((f"a right guess{most}", f"{percent_short(shift.before, 'near')} → {percent_short(shift.after)}"))
        rows += _easiest(choice) if most else []
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
        return join([f"{kinds}, scale {near(noises[0].scale)}"])
    return join([kinds])
