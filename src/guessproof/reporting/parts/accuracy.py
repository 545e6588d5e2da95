"""How accurate the answer is: the error by the noise, known beforehand, and sampling error apart from it."""

from __future__ import annotations

import math

from guessproof.charts import plan as charts
from guessproof.choosing.bias import describe_bias
from guessproof.noise import Noise
from guessproof.releasing import sampling_error
from guessproof.reporting.facts import Facts
from guessproof.reporting.figures import figure
from guessproof.reporting.markup import Markup, Piece, join, paragraph, table
from guessproof.rounded import near, percent_short, up_grouped
from guessproof.sql.formula import Output

MOST_PICTURES = 2
LEVELS = (0.5, 0.8, 0.95, 0.99)


def accuracy(facts: Facts) -> Markup:
    """Errors of every output, a picture of the noise, and sampling error."""
    if not facts.is_noisy:
        return paragraph(
            "Nothing is released, so there is no error." if not facts.choice.feasible else "No noise is chosen yet."
        )
    lead = (
        "The noise is drawn anew, independently of the data, and its law is public. So the error it causes is known "
        "before the table is opened, and is the same whatever the true answer is."
    )
    parts = [paragraph(lead), _errors(facts), *_bias(facts), *_pictures(facts), _targets(facts), _sampling(facts)]
    return join(parts)


def _bias(facts: Facts) -> list[Markup]:
    """What is cut off on one side, beside the noise on both."""
    if not facts.choice.bias:
        return []
    lead = (
        "What a person has beyond the bound on the rows that count is cut off, on top of the noise and always on the "
        "same side. How much that is depends on the data, which were not looked at for it."
    )
    rows: list[list[Piece]] = [[facts.plan.label(name), said] for name, said in describe_bias(facts.choice)]
    return [paragraph(lead), table("What max_rows likely cuts off", ["output", "share"], rows)]


def _errors(facts: Facts) -> Markup:
    rows: list[list[Piece]] = []
    for output in facts.outputs:
        name = facts.plan.label(output.name)
        if output.is_plain:
            noise = facts.choice.noises[output.measured[0]]
            rows.append([name, *(_plus_minus(noise.error(level), _unit(output, noise)) for level in LEVELS)])
        else:
            rows.append([name, *(["with the answer"] * len(LEVELS))])
    heads = ["output", *(f"{percent_short(level, 'near')} of answers" for level in LEVELS)]
    caption = "Error by the noise alone: so many answers lie this near to the true one"
    found = table(caption, heads, rows, numbers=range(1, len(heads)))
    if all(o.is_plain for o in facts.outputs):
        return found
    note = (
        "Where an output is computed from several noisy numbers its error depends on them, so it is given with the "
        "answer only."
    )
    return join([found, paragraph(note, class_="note")])


def _unit(output: Output, noise: Noise) -> str:
    """Of an error, where it has one."""
    return noise.unit or "days" * output.is_time


def _plus_minus(error: float, unit: str, digits: int = 4) -> str:
    return "exact" if error == 0 else f"± {up_grouped(error, digits)}{' ' * bool(unit)}{unit}"


def _pictures(facts: Facts) -> list[Markup]:
    added = [o for o in facts.outputs if o.is_plain and facts.choice.noises[o.measured[0]].mechanism.adds_noise]
    plain = added[:MOST_PICTURES]
    return [_picture(facts, output, index) for index, output in enumerate(plain)]


def _picture(facts: Facts, output: Output, index: int) -> Markup:
    noise = facts.choice.noises[output.measured[0]]
    level = facts.choice.targets.get(output.name, (0.0, 0.95))[1]
    error, days = noise.error(level), " days" * output.is_time
    name = facts.plan.label(output.name)
    share, far = percent_short(level, "near"), f"{up_grouped(error)}{days}"
    label = f"How the error of {name} is spread: {share} of answers lie within {far} of the true one."
    shade = "dark bars" if noise.mechanism.is_whole else "shaded"
    caption = f"How the error of {name} is spread; {share} of answers lie within ± {far} ({shade})."
    drawn = charts.error_spread(noise, level, f"{name}, in days" if output.is_time else name)
    return figure(f"error-{index}", lambda width: charts.fitted(drawn, width, 20), label, caption)


def _targets(facts: Facts) -> Markup | None:
    if not facts.choice.targets:
        return paragraph("The plan asks for no particular accuracy.")
    rows: list[list[Piece]] = []
    for name, (within, confidence) in facts.choice.targets.items():
        output = next(o for o in facts.outputs if o.name == name)
        noise = facts.choice.noises[output.measured[0]]
        reached = noise.confidence(within) if output.is_plain else confidence  # an average's two numbers share it
        unit = _unit(output, noise)
        asked = f"{near(within)}{' ' * bool(unit)}{unit}"
        rows.append([facts.plan.label(name), asked, percent_short(confidence, "near"), _surely(reached, confidence)])
    return table(
        "Targets of the plan", ["output", "within", "confidence asked", "confidence reached"], rows, numbers=(1, 2, 3)
    )


def _surely(reached: float, asked: float) -> str:
    """Rounded down, but never below what was asked for by rounding alone."""
    if math.isclose(reached, asked, rel_tol=1e-9):
        return percent_short(asked, "near")
    return percent_short(reached, "down")


def _sampling(facts: Facts) -> Markup:
    found = sampling_error(facts.choice)
    if not found:
        return paragraph(
            "Sampling error is another matter: if the people in the table are a sample of more people, the true "
            "answer itself would differ from sample to sample. It cannot be told here without looking at the data."
        )
    timely = facts.choice.timely
    rows = [
        [facts.plan.label(name), _plus_minus(error, "days" * (name in timely), 3)]
        for name, error in sorted(found.items())
    ]
    lead = (
        "Apart from the noise: if the people in the table are a random sample of more people, the true answer itself "
        "would differ from sample to sample by about this much. It is worked out from the stated prior and the public "
        "number of rows, never from the data."
    )
    return join([paragraph(lead), table("Sampling error (95 %)", ["output", "by sampling alone"], rows, numbers=(1,))])
