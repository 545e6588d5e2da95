"""ε → what the attacker gains, and back.

A release gives the attacker a likelihood; privacy says that its logarithm is Lipschitz; the rest is Bayes.
Every solver returns the *gain*: the largest increase of the goal's log-odds, which is the logarithm of the largest
Bayes factor that a release may give. The loss is the gain of the complement.

Other packages import from here, not from the modules. Each module is imported when one of its names is first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from guessproof.risk.attack import Attack
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
    from guessproof.risk.cumulative import cumulative_advantage
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
    from guessproof.risk.noise.attack import GainLimits, GaussianAttack, least_noise
    from guessproof.risk.noise.cells import NORMAL, NoiseLaw, atom_cells, cells_of
    from guessproof.risk.noise.outputs import View, quantile
    from guessproof.risk.noise.reading import GaussianReading
    from guessproof.risk.over import advantage_over
    from guessproof.risk.prior_error.answer import MisspecifiedPrior, prior_error_in
    from guessproof.risk.prior_error.odds import (
        as_declared,
        factor_between,
        posterior_before,
        rounded_down,
        with_factor,
    )
    from guessproof.risk.profile.formulas import (
        ASSUMPTIONS,
        absolute_risk,
        epsilon_for_relative_risk,
        relative_risk,
    )
    from guessproof.risk.profile.risk_profile import RiskProfile, aware_epsilon
    from guessproof.risk.profile.shapes import Binding, PointProfile, ProfileLimits
    from guessproof.risk.two_valued import worst_advantage, worst_distance, worst_prior

__all__ = [
    "ASSUMPTIONS",
    "NORMAL",
    "Attack",
    "Belief",
    "Binding",
    "Bracket",
    "Certificate",
    "Combinations",
    "Curve",
    "FiniteWorld",
    "GainLimits",
    "GaussianAttack",
    "GaussianReading",
    "MisspecifiedPrior",
    "NoiseLaw",
    "OpenTruths",
    "PointProfile",
    "ProfileLimits",
    "RiskProfile",
    "TrueValues",
    "View",
    "absolute_risk",
    "advantage_bracket",
    "advantage_over",
    "alternatives",
    "as_declared",
    "atom_cells",
    "aware_epsilon",
    "cells_of",
    "checked_epsilon",
    "count_combinations",
    "cumulative_advantage",
    "epsilon_for_relative_risk",
    "factor_between",
    "finite_belief",
    "joined",
    "largest_epsilon",
    "least_noise",
    "open_truths",
    "posterior_before",
    "posterior_bracket",
    "prior_error_in",
    "quantile",
    "relative_risk",
    "rounded_down",
    "safe_epsilon",
    "true_combinations",
    "values_along",
    "with_factor",
    "worst_advantage",
    "worst_distance",
    "worst_prior",
]
_HOMES = {
    "attack": ("Attack",),
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
    "cumulative": ("cumulative_advantage",),
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
    "noise.attack": ("GainLimits", "GaussianAttack", "least_noise"),
    "noise.cells": ("NORMAL", "NoiseLaw", "atom_cells", "cells_of"),
    "noise.outputs": ("View", "quantile"),
    "noise.reading": ("GaussianReading",),
    "over": ("advantage_over",),
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
    "two_valued": ("worst_advantage", "worst_distance", "worst_prior"),
}
_HOME = {name: module for module, names in _HOMES.items() for name in names}


def __getattr__(name: str) -> Any:
    """Import the module of a name when it is first used."""
    if name not in __all__:
        raise AttributeError(f"module 'guessproof.risk' has no attribute {name!r}")
    value = getattr(import_module(f"guessproof.risk.{_HOME[name]}"), name)
    globals()[name] = value
    return value
