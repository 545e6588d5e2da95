"""The works that this page rests on; only those that were used."""

from __future__ import annotations

from guessproof.papers.verdict import KR, LP, MXK, Work
from guessproof.reporting.facts import Facts
from guessproof.reporting.markup import Markup, Piece, join, paragraph, tag

DMNS = "Dwork, McSherry, Nissim & Smith, Calibrating Noise to Sensitivity in Private Data Analysis, TCC 2006."
METRICS = (
    "Chatzikokolakis, Andrés, Bordenabe & Palamidessi, Broadening the Scope of Differential Privacy Using Metrics, "
    "PETS 2013."
)
OPENDP = "OpenDP Library: the samplers that draw the noise."
ODDS = (
    "Nanayakkara, Smart, Cummings, Kaptchuk & Redmiles, What Are the Chances? Explaining the Epsilon Parameter in "
    "Differential Privacy, USENIX Security 2023."
)


def sources(facts: Facts) -> Markup:
    """Citations with what each was used for."""
    items: list[Piece] = []
    if facts.plan.attacker is not None:
        items.append(_work(LP, "the attacker’s advantage in guessing"))
    if facts.plan.risk is not None:
        items.append(_work(KR, "risk profiles"))
    if facts.choice.targets:
        items.append(_work(MXK, "ε from a wanted accuracy"))
    items.append(_cited(DMNS, "differential privacy"))
    if facts.plan.attacker is not None:
        items.append(_cited(METRICS, "guarantees by distance"))
    used = {noise.name: noise.mechanism for noise in facts.choice.noises}
    items.extend(_cited(*m.citation) for m in used.values() if m.citation is not None)
    if any(m.integer_noise is not None for m in used.values()):
        items.append(_cited(OPENDP, "noise that is safe in floating point"))
    if facts.shift is not None:
        items.append(_cited(ODDS, "odds and frequencies instead of ε"))
    note = (
        "Formulas were worked out anew and checked; where a work differs, the documentation of guessproof says so "
        "with an example."
    )
    return join([tag("ol", *(tag("li", item) for item in items)), paragraph(note, class_="note")])


def _work(work: Work, use: str) -> Markup:
    return join([f"{work.key} {work.title}. ", tag("span", f"Used for {use}. Version: {work.version}.", class_="use")])


def _cited(text: str, use: str) -> Markup:
    return join([f"{text} ", tag("span", f"Used for {use}.", class_="use")])
