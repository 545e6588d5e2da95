"""A paragraph ready to paste, for those who must decide."""

from __future__ import annotations

from collections.abc import Callable

from guessproof.choosing.profiles import profile_words
from guessproof.ledger.amounts import rest_of
from guessproof.plan import PlanQuestion
from guessproof.reporting.facts import Facts
from guessproof.reporting.markup import Markup, join, paragraph, tag
from guessproof.reporting.parts.answers import answer_words
from guessproof.reporting.parts.opening import LIMITS, changed, given, learnt_words, limit_name, target_words
from guessproof.reporting.words import allowed, left, listed, spent, taken
from guessproof.rounded import near, percent_short, points, up_grouped

LONGEST_QUERY = 240


def board(facts: Facts) -> Markup:
    """What was asked, what is protected, from whom, the level, why, what binds, what is left, and a line to sign."""
    said = " ".join(part for part in _sentences(facts) if part)
    lines = [
        tag("div", tag("span", "Decided by", class_="field"), tag("span", "", class_="rule"), class_="sign"),
        tag("div", tag("span", "Date", class_="field"), tag("span", "", class_="rule short"), class_="sign"),
    ]
    return join([tag("blockquote", paragraph(said)), tag("div", *lines, class_="signature")])


def _sentences(facts: Facts) -> list[str]:
    return [
        _asked(facts),
        answer_words(facts),
        _protected(facts),
        _from_whom(facts),
        _level(facts),
        _why(facts),
        _left(facts),
    ]


def _asked(facts: Facts) -> str:
    query = listed([_worded(question, facts.plan.label) for question in facts.plan.questions])
    if len(query) > LONGEST_QUERY:
        query = (
            listed([f"{facts.plan.label(o.name)} = {_measured(facts, o.measured)}" for o in facts.outputs[:4]])
            + " (the query is in the plan below)"
        )
    groups = facts.choice.asked.groups
    by = f", which gives {groups} groups" if groups > 1 else ""
    by = ", of which the frequent groups are shown" if facts.choice.asked.finds_groups else by
    return f"Asked of the data “{facts.plan.data.name}”: {query}{by}."


def _worded(question: PlanQuestion, label: Callable[[str], str]) -> str:
    sql = " ".join(question.sql.split()).rstrip("; ")
    return f"{label(question.name)} ({sql})" if question.name else sql


def _measured(facts: Facts, indices: tuple[int, ...]) -> str:
    texts = [facts.choice.asked.measurements[i].text for i in indices]
    return " / ".join(texts)


def _protected(facts: Facts) -> str:
    if facts.plan.unit.shown:
        return facts.plan.unit.shown
    names = [facts.plan.label(n) for n, c in facts.plan.columns.items() if not c.public]
    return (
        f"Protected {'is' if len(names) == 1 else 'are'} each person’s {listed(names)}; who is in the table and how "
        "many rows it has count as known."
    )


def _from_whom(facts: Facts) -> str:
    attacker, parts = facts.plan.attacker, list[str]()
    if attacker is not None and facts.plan.wanted is not None:
        parts.append(
            f"The attacker considered wants to guess {facts.goal('a person’s')}, may know every other record, and "
            "knows how the noise is made."
        )
    if facts.plan.file.risk is not None:
        parts.append(f"The risk that is accepted: {profile_words(facts.plan.file.risk)}.")
    if not parts:
        parts.append("No particular attacker is considered; ε bounds what anybody can learn.")
    return " ".join(parts)


def _level(facts: Facts) -> str:
    choice = facts.choice
    if not choice.feasible and choice.interval[1] <= 0:
        return "No level of noise keeps the limit, so nothing is released."
    if not choice.feasible:
        return "No level of noise meets both the limits and the accuracy that is asked for, so nothing is released."
    if not facts.is_noisy:
        return "The limits allow any level of noise."
    kinds = listed(dict.fromkeys(n.name.capitalize() for n in choice.noises))
    scale = f" of scale {near(choice.noises[0].scale)}" if len(choice.noises) == 1 else ""
    delta = f", δ = {up_grouped(choice.delta, 2)}" if choice.delta else ""
    added, noun = choice.epsilon_add_remove, facts.plan.unit.noun
    more = "" if added is None else f" ({taken(added)} for adding or removing one)"
    text = f"{kinds} noise{scale} is added, which gives ε = {given(facts)}{delta} for a change of one {noun}{more}."
    if choice.advantage is None:
        learnt = learnt_words(facts)
        text += f" With it, {learnt}." if learnt else ""
    if choice.advantage is not None:
        rise = points(float(choice.advantage.bound))
        word = "move" if facts.plan.limits.both else "rise"
        text += f" The attacker’s belief in a right guess can then {word} by at most {rise}"
        shift = facts.shift
        if shift is not None and not shift.is_example:
            text += "; it can rise" if facts.plan.limits.both else ","
            text += f" from {percent_short(shift.before, 'near')} to at most {percent_short(shift.after)}"
            text += f" {shift.who}" if shift.who else ""
            if shift.misjudged is not None:
                text += (
                    f" (with odds misjudged by up to ×{facts.plan.prior_factor:g}, {percent_short(shift.misjudged)})"
                )
        text += "."
    return text


def _why(facts: Facts) -> str:
    choice = facts.choice
    needed, highest = choice.interval
    targets = "; ".join(target_words(facts, " with"))
    if not choice.feasible:
        if not needed or highest <= 0 or facts.plan.release.epsilon is not None:
            return choice.explanation
        most = f"{limit_name(facts)} allows {allowed(highest)} at most"
        text = f"The accuracy ({targets}) needs ε ≥ {taken(needed)}; {most}."
        best = min(choice.changes, key=lambda c: c.factor, default=None)
        help_ = f" The smallest change that would help: {changed(facts, best)}." if best else ""
        return text + help_
    if facts.plan.release.epsilon is not None:
        return "This level is fixed by the plan, and keeps every limit and target in it."
    if needed:
        room = "" if highest == float("inf") else f"; {limit_name(facts)} would have allowed {allowed(highest)}"
        return f"This is the least ε that gives the accuracy asked for ({targets}){room}. The accuracy binds."
    if not facts.is_noisy:
        return ""
    return (
        "No accuracy was asked for, so this is the most that is allowed; "
        f"{LIMITS.get(choice.binding, choice.binding)} binds."
    )


def _left(facts: Facts) -> str:
    account = facts.account
    if account is None:
        return "No budget is open for these data yet."
    budget, rest = account.budget, account.left
    text = (
        f"Of the budget of ε = {left(budget.epsilon)} for these data, {spent(account.epsilon)} is spent and "
        f"{rest_of(rest.epsilon, budget.epsilon)} is left"
    )
    if budget.advantage is not None and rest.advantage is not None:
        text += f"; of the attacker’s cumulative advantage of {left(budget.advantage)}, {left(rest.advantage)} is left"
    return f"{text}."
