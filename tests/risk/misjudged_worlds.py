"""Priors, distances and lines that tests of the worst true value under a wrong prior share."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

import guessproof as gp
from guessproof.risk.misjudged.along_truths import MisjudgedAlongTruths
from guessproof.risk.misjudged.truth_curve import ProvenLine
from guessproof.world.line_form import LineForm

STRAIGHT, STEP = LineForm(slopes=(1.0,)), LineForm(slopes=(1.0,), step=0.5)


BENT = LineForm((0.5, 4.0), (0.0, 1.0, 0.3), (0.0, 0.0))


PRIORS: dict[str, Any] = {
    "normal": gp.normal(2, 3),
    "bounded": gp.normal(2, 3).given(-1, 6),
    "uniform": gp.uniform(-4, 7),
    "laplace": gp.laplace(1, 2).given(-4, 9),
    "histogram": gp.histogram([-3, -1, 0, 4, 5], [0.1, 0.4, 0.2, 0.3]),
    "exponential": gp.exponential(2),
    "lognormal": gp.lognormal(2, 0.6),
    "beta": gp.beta(2, 3, -2, 6),
}


def drawn(name: str, radius: float, factor: float, move: Any, form: LineForm = STRAIGHT) -> MisjudgedAlongTruths:
    bounds = (0, 9) if name == "lognormal" else None
    search = gp.Attack(gp.within(gp.Attribute("x", PRIORS[name], bounds=bounds), radius)).truth_search
    low = search.low if form.is_straight else PRIORS[name].support[0]
    return MisjudgedAlongTruths(replace(search, form=form, low=low), factor, move)


def proven(along: MisjudgedAlongTruths, epsilon: Any) -> ProvenLine:
    """The line through some ε, all of it proven."""
    line = ProvenLine(along, np.asarray(epsilon))
    line.prove()
    assert not line.open.any(), along
    return line
