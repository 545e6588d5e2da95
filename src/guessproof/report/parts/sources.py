"""The works that this page rests on; only those that were used."""

from __future__ import annotations

from guessproof.papers.verdict import KR, LP, MXK, Work
from guessproof.report.facts import Facts
from guessproof.report.markup import Markup, Piece, join, paragraph, tag

DMNS = "Dwork, McSherry, Nissim & Smith, Calibrating Noise to Sensitivity in Private Data Analysis, TCC 2006."
METRICS = (
    "Chatzikokolakis, Andrés, Bordenabe & Palamidessi, Broadening the Scope of Differential Privacy Using Metrics, "
    "PETS 2013."
)
GEOMETRIC = "Ghosh, Roughgarden & Sundararajan, Universally Utility-Maximizing Privacy Mechanisms, STOC 2009."
GAUSSIAN = "Balle & Wang, Improving the Gaussian Mechanism for Differential Privacy, ICML 2018."
CAUCHY = "Nissim, Raskhodnikova & Smith, Smooth Sensitivity and Sampling in Private Data Analysis, STOC 2007."
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
    kinds = {noise.name for noise in facts.choice.noises}
    for kind, cited, use in (
        ("geometric", GEOMETRIC, "geometric noise"),
        ("gaussian", GAUSSIAN, "the exact curve of Gaussian noise"),
        ("cauchy", CAUCHY, "generalised Cauchy noise"),
    ):
        if kind in kinds:
            items.append(_cited(cited, use))
    if kinds - {"cauchy"}:
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
