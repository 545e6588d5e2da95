"""ε → what the attacker gains, and back.

A release gives the attacker a likelihood; privacy says that its logarithm is Lipschitz; the rest is Bayes.
Every solver returns the *gain*: the largest increase of the goal's log-odds, which is the logarithm of the largest
Bayes factor that a release may give. The loss is the gain of the complement.

Other packages import from here, not from the modules. Each module is imported when one of its names is first used.
"""

# What is imported here is what the package offers.
# ruff: noqa: F401
# pyright: reportUnusedImport=false

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from guessproof.risk.attack import Attack, cumulative_advantage
    from guessproof.risk.bracket import Bracket, joined
    from guessproof.risk.certify import Certificate
    from guessproof.risk.combinations import (
        Combinations,
        OpenTruths,
        count_combinations,
        open_truths,
        true_combinations,
        values_along,
    )
    from guessproof.risk.curve import Curve
    from guessproof.risk.finite import FiniteWorld, finite_belief
    from guessproof.risk.joint.formula import alternatives
    from guessproof.risk.limits import (
        Belief,
        advantage_bracket,
        checked_epsilon,
        largest_epsilon,
        posterior_bracket,
        safe_epsilon,
    )
    from guessproof.risk.line.worst import TrueValues
    from guessproof.risk.noise.cells import NORMAL, NoiseLaw, atom_cells, cells_of
    from guessproof.risk.noise.outputs import View, quantile
    from guessproof.risk.noise.reading import (
        GainLimits,
        GaussianAttack,
        GaussianReading,
        least_noise,
    )
    from guessproof.risk.prior_error.answer import MisspecifiedPrior, prior_error_in
    from guessproof.risk.prior_error.odds import (
        as_declared,
        factor_between,
        posterior_before,
        rounded_down,
        with_factor,
    )
    from guessproof.risk.prior_free import worst_advantage, worst_distance, worst_prior
    from guessproof.risk.profile.formulas import (
        ASSUMPTIONS,
        absolute_risk,
        epsilon_for_relative_risk,
        relative_risk,
    )
    from guessproof.risk.profile.risk_profile import RiskProfile, aware_epsilon
    from guessproof.risk.profile.shapes import Binding, PointProfile, ProfileLimits
    from guessproof.risk.worst_truth import advantage_over

_HOMES = {
    "attack": ("Attack", "cumulative_advantage"),
    "bracket": ("Bracket", "joined"),
    "certify": ("Certificate",),
    "combinations": (
        "Combinations",
        "OpenTruths",
        "count_combinations",
        "open_truths",
        "true_combinations",
        "values_along",
    ),
    "curve": ("Curve",),
    "finite": ("FiniteWorld", "finite_belief"),
    "joint.formula": ("alternatives",),
    "limits": (
        "Belief",
        "advantage_bracket",
        "checked_epsilon",
        "largest_epsilon",
        "posterior_bracket",
        "safe_epsilon",
    ),
    "line.worst": ("TrueValues",),
    "noise.cells": ("NORMAL", "NoiseLaw", "atom_cells", "cells_of"),
    "noise.outputs": ("View", "quantile"),
    "noise.reading": ("GainLimits", "GaussianAttack", "GaussianReading", "least_noise"),
    "prior_error.answer": ("MisspecifiedPrior", "prior_error_in"),
    "prior_error.odds": (
        "as_declared",
        "factor_between",
        "posterior_before",
        "rounded_down",
        "with_factor",
    ),
    "profile.formulas": (
        "ASSUMPTIONS",
        "absolute_risk",
        "epsilon_for_relative_risk",
        "relative_risk",
    ),
    "profile.risk_profile": ("RiskProfile", "aware_epsilon"),
    "profile.shapes": ("Binding", "ProfileLimits", "PointProfile"),
    "worst_truth": ("advantage_over",),
    "prior_free": ("worst_advantage", "worst_distance", "worst_prior"),
}
_HOME = {name: module for module, names in _HOMES.items() for name in names}


def __getattr__(name: str) -> Any:
    """Import the module of a name when it is first used."""
    if name not in _HOME:
        raise AttributeError(f"module 'guessproof.risk' has no attribute {name!r}")
    value = getattr(import_module(f"guessproof.risk.{_HOME[name]}"), name)
    globals()[name] = value
    return value
