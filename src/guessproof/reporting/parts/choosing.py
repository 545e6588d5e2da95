"""The choice: what each limit and target allows, the recommendation and its reason, what one change would do."""

from __future__ import annotations

import math

from guessproof.charts import plan as charts
from guessproof.charts.truths import by_truth, truths
from guessproof.choosing import Limit
from guessproof.choosing.profiles import profile_words, times_words
from guessproof.reporting.facts import Facts
from guessproof.reporting.figures import figure
from guessproof.reporting.markup import Markup, Piece, join, paragraph, table, tag
from guessproof.reporting.parts.guesses import guesses
from guessproof.reporting.parts.opening import LIMITS, changed, epsilon, given, target_words, why_not
from guessproof.reporting.words import allowed, change_name, change_value, listed, taken
from guessproof.rounded import near, percent_short, points, round_digits
from guessproof.world import show_time


def choosing(facts: Facts) -> Markup:
    """Limits and targets on one line of ε, and what follows."""
    return join(
        [
            _reason(facts),
            _interval(facts),
            _limits(facts),
            _changes(facts),
            _profile(facts),
            guesses(facts),
            _truths(facts),
        ]
    )


def _reason(facts: Facts) -> Markup:
    choice = facts.choice
    needed, highest = choice.interval
    parts: list[Piece] = []
    if not choice.feasible:
        parts.append(tag("strong", "No ε fits. "))
        parts.append(why_not(facts))
        best = min(choice.changes, key=lambda c: c.factor, default=None)
        if best is not None:
            parts.append(f" The cheapest way out: {changed(facts, best)}.")
    elif facts.plan.release.epsilon is not None:
        parts.append(f"ε = {epsilon(facts)} is fixed by the plan. It keeps every limit and target below.")
    elif not facts.is_noisy:
        parts.append(choice.explanation)
    elif needed:
        parts.append(tag("strong", f"Recommended: ε = {epsilon(facts)}. "))
        parts.append("Less would miss the accuracy that is asked for; more would tell more than is needed.")
        if math.isfinite(highest):
            parts.append(
                f" The limits would allow up to {allowed(highest)}, {near(highest / needed, 3)} times as much."
            )
    else:
        parts.append(tag("strong", f"Recommended: ε = {epsilon(facts)}. "))
        parts.append(
            "No accuracy is asked for, so this is the most that the limits allow: the answer is as accurate as it may "
            "be."
        )
    if choice.data_dependent:
        parts.append(
            " The exposure of the records was looked at before this choice was made (the ledger has a note of it), so "
            "the choice may depend on the data."
        )
    return paragraph(*parts)


def _interval(facts: Facts) -> Markup | None:
    choice = facts.choice
    if not any(0 < b.epsilon < math.inf for b in choice.limits):
        return None  # nothing to draw: the limits allow no ε, or every one
    rows = [charts.Span(_short(b), *_ends(b)) for b in choice.limits]
    needed, highest = choice.interval
    if len(rows) > 1:
        words = "all together" if choice.feasible else "all together: nothing is left"
        rows.append(charts.Span(words, needed, highest))
    chosen = choice.epsilon if facts.is_noisy else None
    told = "; ".join(f"{_short(b)}" for b in choice.limits)
    label = f"Room for epsilon. {told}." + (f" Chosen: {epsilon(facts)}." if chosen else " Nothing is chosen.")
    caption = "Each bar shows the ε that one limit or target allows."
    caption += f" The dashed line is the ε of this release, {given(facts)}." if chosen else " No ε lies in all of them."
    return figure("room", lambda width: charts.spans(rows, chosen, width, feasible=choice.feasible), label, caption)


def _ends(bound: Limit) -> tuple[float, float]:
    return (0.0, bound.epsilon) if bound.side == "at most" else (bound.epsilon, math.inf)


NAMES = {
    "attacker": "attacker",
    "risk": "risk profile",
    "budget": "budget left",
    "accuracy": "accuracy",
    "fixed": "fixed by the plan",
}


def _short(bound: Limit) -> str:
    name = NAMES.get(bound.name, bound.name)
    if bound.side == "at least":
        return f"{name}: needs ε ≥ {taken(bound.epsilon)}"
    return f"{name}: any ε" if math.isinf(bound.epsilon) else f"{name}: ε ≤ {allowed(bound.epsilon)}"


def _limits(facts: Facts) -> Markup:
    rows: list[list[Piece]] = []
    for bound in facts.choice.limits:
        value = (allowed if bound.side == "at most" else taken)(bound.epsilon)
        binds = " (binds)" if bound.name in facts.choice.binding.split(" and ") else ""
        rows.append(
            [f"{_sentence(LIMITS.get(bound.name, bound.name))}{binds}", _asks(facts, bound), f"{bound.side} {value}"]
        )
    return table("Limits and targets", ["from", "what it asks", "ε"], rows, numbers=(2,))


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:]


def _asks(facts: Facts, bound: Limit) -> str:
    attacker, limits = facts.plan.attacker, facts.plan.limits
    if bound.name == "attacker" and attacker is not None and bound.epsilon > 0:
        word = "rise or fall" if limits.both else "rise"
        parts = [f"{word} by {points(limits.advantage)} at most"] if limits.advantage is not None else []
        parts += [f"reach {percent_short(limits.posterior, 'near')} at most"] if limits.posterior is not None else []
        each = " (each alternative on its own)" if attacker.or_ == "each" else ""
        return f"the belief in “{attacker.goal}”{each} may {listed(parts)}"
    if bound.name == "accuracy":
        return "; ".join(target_words(facts, ", with"))
    if bound.name == "risk" and facts.plan.file.risk is not None:
        return profile_words(facts.plan.file.risk)
    return bound.how


def _changes(facts: Facts) -> Markup | None:
    choice = facts.choice
    changes = sorted(choice.changes, key=lambda c: (c.factor, c.what))
    if not changes:
        return None
    if choice.feasible:
        lead = "How much room there is: each line alone could be made this strict, everything else as it is."
        heads = ["in the plan", "now", "could be"]
    else:
        lead = "Ways out, the cheapest first: each change alone makes the plan feasible, everything else as it is."
        heads = ["in the plan", "now", "would have to be"]
    label, timely = facts.plan.label, choice.timely
    rows = [
        [change_name(c.what, label), *(change_value(c.what, value, timely) for value in (c.present, c.proposed))]
        for c in changes
    ]
    return join([paragraph(lead), table("One change at a time", heads, rows, numbers=(1, 2))])


def _profile(facts: Facts) -> Markup | None:
    profile = facts.plan.risk
    if profile is None:
        return None
    binding = profile.binding()
    asked = "" if facts.plan.file.risk is None else profile_words(facts.plan.file.risk)
    said = f"{_sentence(asked)}."
    if binding is None:
        said += " It never binds: no ε is too large for it."
    else:
        limit = next((b.epsilon for b in facts.choice.limits if b.name == "risk"), None)
        noun = facts.plan.unit.noun
        ratio = times_words(float(round_digits(binding.ratio, 3, "up")))
        record = "" if limit is None or not facts.plan.unit.hides_presence else f", {allowed(limit)} for changing one"
        said += (
            f" It is tightest for somebody held to be in the data with probability {near(binding.p, 3)} and then to "
            f"have the value in question with probability {near(binding.q, 3)}: there the release may make it "
            f"{ratio} as probable, {percent_short(binding.posterior, 'near')} at most. This "
            f"allows ε = {allowed(profile.epsilon())} for adding or removing one {noun}{record}."
        )
    label = f"The ratio of posterior to prior that the risk profile allows, and the epsilon that it implies. {said}"
    caption = "Above: how many times as probable a release may make a disclosure. Below: the largest ε that keeps this."
    drawn = charts.profile(profile)
    picture = None
    if drawn is not None:
        picture = figure("profile", lambda width: charts.fitted(drawn, width, 80), label, caption)
    return join([tag("h3", "The risk profile"), paragraph(said), picture])


def _truths(facts: Facts) -> Markup | None:
    choice = facts.choice
    found = truths(choice)
    if found is None or choice.advantage is None:
        return None
    attacker = facts.plan.attacker
    at = None if attacker is None or attacker.at is None else attacker.at.get(found.name)
    marked = at if at is not None else choice.advantage.worst_at
    top = max(range(len(found.values)), key=lambda i: found.after[i] - found.before[i])
    where = found.values[top]
    shown = show_time(where) if found.is_time else f"{where:.4g}" if isinstance(where, float) else str(where)
    label = (
        f"The attacker's belief in a right guess for each true value of {found.title}, before and at most after the "
        f"release. The largest rise shown is {points(found.after[top] - found.before[top])}, at {shown}."
    )
    if found.is_line:
        caption = (
            f"How probable a right guess is for each true value of {found.title}: today (dashed) and at most after the "
            "release (line). Below: how far it rises at most, in percentage points"
            f"{', and how far it may (red)' if found.is_limit_near else ''}. Shown are the values of 99 in 100 people, "
            "by what is believed of them."
        )
        if isinstance(marked, (int, float)):
            which = "the plan’s true value" if at is not None else "the true value at which most can be learnt"
            caption += f" The vertical line is {which}."
    else:
        caption = (
            "How probable a right guess is for each true combination: today (open circle) and at most after (dot)."
        )
    picture = figure("truths", lambda width: by_truth(found, marked, width), label, caption)
    return join([tag("h3", "What can be learnt about whom"), picture])
