"""The guarantee in mathematics: what each measurement depends on, its noise, its grid."""

from __future__ import annotations

import math

from guessproof.noise import Noise
from guessproof.reporting.facts import Facts
from guessproof.reporting.markup import Markup, Piece, bullets, join, paragraph, table, tag
from guessproof.rounded import down_grouped, near, up_grouped


def guarantee(facts: Facts) -> Markup:
    """D/b for each measurement, and what it adds up to."""
    noun = facts.plan.unit.noun
    accounts = tag("h3", f"What one {noun} can do"), bullets(m.account for m in facts.choice.asked.measurements)
    if not facts.is_noisy:
        return join(accounts)
    choice = facts.choice
    parts: list[Piece] = [_promise(facts), *accounts, tag("h3", "The noise"), _noises(facts)]
    rows: list[list[Piece]] = [[f"ε, changing one {noun}", up_grouped(choice.cost, 6)]]
    if choice.epsilon_add_remove is not None:
        rows.append([f"ε, adding or removing one {noun}", up_grouped(choice.epsilon_add_remove, 6)])
    per_unit = sorted(choice.epsilon_per_unit.items())
    rows.extend([f"ε per unit of {name}", up_grouped(value, 6)] for name, value in per_unit if value)
    if choice.delta:
        rows.append(["δ", up_grouped(choice.delta, 3)])
    parts.append(table("In all", ["guarantee", "value"], rows, numbers=(1,)))
    return join(parts)


def _promise(facts: Facts) -> Markup:
    unit = facts.plan.unit
    pair = (
        f"that differ by one {unit.noun}"
        if unit.hides_presence
        else "that differ in the protected values of one record, x in the one and x′ in the other"
    )
    has_delta = bool(facts.choice.delta)
    power = "ε" if has_delta else "D(T, T′)"
    formula = join(["P(Y ∈ S | T) ≤ e", tag("sup", power), f" · P(Y ∈ S | T′){' + δ' if has_delta else ''}"])
    return join(
        [
            paragraph(
                f"Let Y be everything that is released. For any two tables T and T′ {pair}, and any set S of answers,"
            ),
            paragraph(tag("span", formula, class_="formula"), class_="display"),
            paragraph(_added(facts)),
        ]
    )


def _added(facts: Facts) -> str:
    if facts.choice.delta:
        return f"where ε and δ are the sums of those of the measurements.{_apart(facts)}"
    text = (
        "where D(T, T′) is the sum over the measurements of (how far the true number moves) / b, with b the scale of "
        f"its noise. ε is the largest D.{_apart(facts)}"
    )
    if facts.choice.exposure is not None:
        text += (
            " Where a move depends on the distance |x − x′|, close values are told apart less than far ones; this is "
            "the metric with which the attacker’s belief was worked out."
        )
    return text


def _apart(facts: Facts) -> str:
    return "".join(f" {words}" for words in facts.choice.exclusions)


def _noises(facts: Facts) -> Markup:
    rows = [_row(noise) for noise in facts.choice.noises]
    heads = ["measurement", "noise", "scale b", "grid g", "ε", "law"]
    found = table("Noise of each measurement, in units of the answer", heads, rows, numbers=(2, 3, 4))
    note = (
        "Sums are taken in whole multiples of the grid, so that nothing is lost in floating point; what rounding a "
        "contribution to the grid can tell is part of ε. Noise comes from a cryptographic source."
    )
    return join([found, paragraph(note, class_="note")])


def _row(noise: Noise) -> list[Piece]:
    cost = up_grouped(noise.cost[0], 6)
    kind, what = noise.name.capitalize(), tag("code", noise.measurement.text)
    return [what, kind, near(noise.scale, 6), _grid(noise), cost, _law(noise)]


def _grid(noise: Noise) -> Markup:
    divisor = noise.measurement.divisor
    power = tag("sup", f"{noise.grid.exponent}".replace("-", "−"))
    step = join(["1"] if noise.grid.exponent == 0 else ["2", power])
    return step if divisor == 1 else join([step, f" / {near(divisor)}"])


def _law(noise: Noise) -> str:
    law = noise.mechanism.density_words
    for option, value in noise.mechanism.shape.items():
        symbol = noise.mechanism.symbols[option]
        law = law.replace(symbol, f"{symbol} = {down_grouped(value, 3)}", 1) if math.isfinite(value) else law
    return law
