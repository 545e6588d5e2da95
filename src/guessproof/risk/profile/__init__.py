"""Risk profiles after Kazan & Reiter: from the ratio of posterior to prior that is acceptable to ε."""

from guessproof.risk.profile.answer import Binding, ProfileAnswer
from guessproof.risk.profile.earlier import Published, lee_clifton, wood
from guessproof.risk.profile.formulas import (
    ASSUMPTIONS,
    RiskSplit,
    absolute_from_relative,
    absolute_risk,
    epsilon_for_relative_risk,
    naive_epsilon,
    relative_from_absolute,
    relative_risk,
    split_risk,
    survey_inclusion,
)
from guessproof.risk.profile.neighbours import (
    Differences,
    lee_clifton_differences,
    lee_clifton_epsilon,
    wood_epsilon,
    wood_posterior,
)
from guessproof.risk.profile.risk_profile import Releases, RiskProfile, remaining

__all__ = [
    "ASSUMPTIONS",
    "Binding",
    "Differences",
    "ProfileAnswer",
    "Published",
    "Releases",
    "RiskProfile",
    "RiskSplit",
    "absolute_from_relative",
    "absolute_risk",
    "epsilon_for_relative_risk",
    "lee_clifton",
    "lee_clifton_differences",
    "lee_clifton_epsilon",
    "naive_epsilon",
    "relative_from_absolute",
    "relative_risk",
    "remaining",
    "split_risk",
    "survey_inclusion",
    "wood",
    "wood_epsilon",
    "wood_posterior",
]
