"""In plain words, for a person in the data: odds, natural frequencies, and a picture."""

from __future__ import annotations

import math

from guessproof.charts import plan as charts
from guessproof.reporting.facts import Facts
from guessproof.reporting.figures import figure
from guessproof.reporting.markup import Markup, Piece, join, paragraph
from guessproof.reporting.shift import ShownShift
from guessproof.reporting.words import listed, simple_odds
from guessproof.risk import as_declared
from guessproof.rounded import base_for, count, count_up, percent_short, points, up_grouped

MOST_DOTS = 1000


def plain(facts: Facts) -> Markup:
    """What the release means to somebody whose data are in the table."""
    shift = facts.shift
    parts: list[Piece] = [_what_happens(facts)]
    if shift is None:
        parts.append(_without_belief(facts))
    else:
        parts.append(paragraph(sentence(facts, shift), class_="spoken"))
        parts.append(_picture(facts, shift))
        parts.append(_more(facts, shift))
    return join(parts)


def _what_happens(facts: Facts) -> Markup:
    choice = facts.choice
    if not choice.feasible and choice.interval[1] <= 0:
        return paragraph(
            "Somebody asked for numbers about a group of people, and you may be one of them. Guesses about you are "
            "better today, without any answer, than those responsible allow them to become. So nothing is released."
        )
    if not choice.feasible:
        return paragraph(
            "Somebody asked for numbers about a group of people, and you may be one of them. As the question stands, "
            "the answer would tell more about you than those responsible allow. So nothing is released."
        )
    if facts.plan.unit.hides_presence:
        hidden = "Nobody who sees it can tell well whether you are in the data at all."
    else:
        names = [facts.plan.label(n) for n, c in facts.plan.columns.items() if not c.public]
        secret = listed([f"your {n}" for n in names]) if 0 < len(names) <= 3 else "what the data say about you"
        hidden = f"That you are in the data may be known; {secret} must stay hard to guess."
    return paragraph(
        "Numbers about a group of people are made public, and you may be one of them. Chance noise is added to each "
        f"number first, so that the published number depends only a little on any one person. {hidden}"
    )


def sentence(facts: Facts, shift: ShownShift) -> str:
    """The change in natural frequencies, out of the same number of guesses before and after."""
    base = base_for(shift.before, shift.after)
    now, then = format(count(shift.before, base), ","), format(count_up(shift.after, base), ",")
    odds = simple_odds(shift.before)
    known = "" if odds is None or odds == f"{now} in {base:,}" else f" ({odds.replace(' ', chr(0xA0))})"
    may = "would be" if facts.choice.feasible else "would become"
    after = "After this release" if facts.choice.feasible else "With the answer that was asked for"
    if shift.is_example:
        what = "about you" if facts.choice.exposure is None else f"at {facts.goal()}"
        start = f"Suppose that today {now} in {base:,} guesses {what} are right."
        return f"{start} {after} at most {then} in {base:,} {may} right."
    about = shift.about or f"at {facts.goal()}"
    return f"Today {now} in {base:,} guesses {about} would be right{known}. {after} at most {then} in {base:,}."


def _picture(facts: Facts, shift: ShownShift) -> Markup:
    base = base_for(shift.before, shift.after)
    now, then = count(shift.before, base), count_up(shift.after, base)
    if base <= MOST_DOTS:
        label = f"Two fields of {base} dots, one a guess. Today {now} are right; after the release at most {then}."
        colour = charts.ACCENT if facts.choice.feasible else charts.ALARM
        shade = "dark" if facts.choice.feasible else "red"
        caption = (
            f"Each dot is one guess. Grey: right today. {shade.capitalize()}: right at most in addition, after the "
            "worst possible answer."
        )
        return figure(
            "guesses", lambda width: charts.dots(now, then, base, width, label, colour=colour), label, caption
        )
    today = percent_short(shift.before, "near")
    label = f"Belief in a right guess: today {today}, afterwards at most {percent_short(shift.after)}."
    caption = "How probable a right guess is today, and at most after the worst possible answer."
    return figure("guesses", lambda width: charts.bars(shift.before, shift.after, shift.limit, width), label, caption)


def _more(facts: Facts, shift: ShownShift) -> Markup | None:
    parts: list[str] = []
    if shift.who:
        parts.append(f"This is {shift.who}.")
    if shift.limit is not None and not shift.is_example:
        base = base_for(shift.before, shift.after)
        here = " there" if shift.who else ""
        allowed = count(shift.limit, base)
        if shift.after <= shift.limit:  # rounding alone must not make it look broken
            allowed = max(allowed, count_up(shift.after, base))
        parts.append(f"The limit that was set beforehand is {allowed:,} in {base:,}{here}.")
    if shift.misjudged is not None and facts.choice.feasible:
        misjudged_base, factor = base_for(shift.before, shift.after), facts.plan.prior_factor
        most = f"{count_up(shift.misjudged, misjudged_base):,}"
        parts.append(
            f"Should the odds of today’s guesses be misjudged by up to ×{factor:g}, at most {most} in "
            f"{misjudged_base:,} would be right, and the rise is within the limit still."
        )
    if shift.is_largest_gain and facts.choice.feasible:
        parts.append("For every other value the gain is no larger.")
        highest = facts.choice.posterior
        if highest is not None and facts.choice.prior is None:
            base, worst, factor = base_for(shift.before, shift.after), float(highest.bound), facts.plan.prior_factor
            stated, most = (format(count_up(v, base), ",") for v in (as_declared(worst, factor), worst))
            wrong = f" ({most} with odds misjudged by up to ×{factor:g})" if most != stated else ""
            parts.append(f"Whatever the true value, at most {stated} in {base:,} guesses would be right{wrong}.")
    if shift.is_example and facts.choice.advantage is not None:
        parts.append(
            "Nothing is assumed about how well it can be guessed today: this is the start from which most can be "
            "gained, and from any other the gain is no larger."
        )
    if facts.choice.feasible and facts.plan.limits.both and facts.choice.advantage is not None:
        parts.append(
            f"Nor can an answer lower such a belief by more than {points(float(facts.choice.advantage.bound))}."
        )
    if facts.choice.feasible:
        parts.append(
            "“At most” means: even for somebody who knows every other person’s data, who knows how the noise is made, "
            "and who is lucky with the one answer that helps most."
        )
    return paragraph(*[" ".join(parts)]) if parts else None


def _without_belief(facts: Facts) -> Markup | None:
    choice = facts.choice
    if not facts.is_noisy or not choice.delta:
        return None
    # (ε, δ): of people who are not meant, a share x is accused; of those who are, at most e^ε·x + δ.
    alarm = 0.01
    caught = min(1.0, math.exp(min(choice.epsilon, 700.0)) * alarm + choice.delta)
    base = base_for(alarm, caught)
    return join(
        [
            paragraph(
                "Suppose somebody suspects people of something, and looks at the released numbers to decide. If "
                f"their rule is wrong about {count(alarm, base)} in {base:,} people to whom it does not "
                f"apply, it is right about at most {count_up(caught, base)} in {base:,} to whom it does.",
                class_="spoken",
            ),
            paragraph(
                f"This kind of noise keeps its promise but for a small allowance, δ = {up_grouped(choice.delta, 2)}; "
                "for a single unlucky answer no limit on a belief can be given."
            ),
        ]
    )
