"""How an answer depends on one number, where it is exactly that: a curve, and not only a bound on its moves.

A metric says that φ moves no further than ψ does. Where φ reaches that between any two neighbouring cuts, always in the
same direction, it is ψ itself but for its sign and a constant: nothing between two cuts could catch up.
"""

from __future__ import annotations

import math
from dataclasses import replace

from guessproof.sql.measurement import Measurement
from guessproof.world import LineForm


def answer_curve(measurement: Measurement) -> tuple[str, LineForm, float] | str:
    """(column, ψ in units of the measured sum, what floating point adds), or why there is none."""
    contribution, declared = measurement.contribution, measurement.declared
    text = measurement.text
    if declared.linked > 1:
        return "records that tell of each other move an answer by more than one of them"
    if measurement.kind not in ("sum", "count"):
        return f"{text} is a smallest or largest value, which is no function of one record"
    secret = [n for n in contribution.columns if declared.column(n).protected]
    if len(secret) != 1 or contribution.term.columns != frozenset(secret):
        return f"{text} does not depend on one protected column alone"
    name = secret[0]
    if name in contribution.condition.columns or any(declared.column(k.column).protected for k in measurement.keys):
        return f"in {text} a protected column decides which rows or groups count"
    line = measurement.guarantee.lines.get(name)
    if line is None or not line.form.cuts or math.isfinite(line.form.cap):
        return f"how far {name} moves {text} is known only as a bound"
    form, unit = replace(line.form, step=0.0), float(measurement.copies)
    if not _is_met(measurement, name, form.times(1 / unit)):
        return f"{text} is no straight line in {name} between its bounds"
    return name, form, line.form.step


def _is_met(measurement: Measurement, name: str, form: LineForm) -> bool:
    """Whether the term moves by as much as the form, from each cut to the next, in one direction."""
    places = [p for cut in form.cuts for p in (cut, math.nextafter(cut, math.inf))]
    values = [measurement.contribution.term.at({name: place}) for place in places]
    if any(v is None for v in values):
        return False
    sign, whole = 0, float(form.psi(places[-1]) - form.psi(places[0]))
    for (a, x), (b, y) in zip(zip(places, values, strict=True), zip(places[1:], values[1:], strict=True), strict=False):
        moved, allowed = float(y or 0.0) - float(x or 0.0), float(form.psi(b) - form.psi(a))
        if abs(abs(moved) - allowed) > 1e-12 * whole:
            return False
        if allowed > 1e-12 * whole:
            sign = sign or (1 if moved > 0 else -1)
            if moved * sign <= 0:
                return False
    return sign != 0
