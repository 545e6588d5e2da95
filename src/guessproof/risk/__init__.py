"""ε → what the attacker gains, and back.

A release gives the attacker a likelihood; privacy says that its logarithm is Lipschitz; the rest is Bayes.
Every solver returns the *gain*: the largest increase of the goal's log-odds, which is the logarithm of the largest
Bayes factor that a release may give. The loss is the gain of the complement.

Other packages import from here, not from the modules.
"""

# What is imported here is what the package offers.
# ruff: noqa: F401
# pyright: reportUnusedImport=false

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
from guessproof.risk.finite.worlds import FiniteWorld, finite_belief
from guessproof.risk.joint.formula import alternatives
from guessproof.risk.limits import (
    Belief,
    checked_epsilon,
    largest_epsilon,
)
from guessproof.risk.noise.reading import (
    GainLimits,
    GaussianAttack,
    GaussianReading,
    least_noise,
)
from guessproof.risk.noise.view import (
    NORMAL,
    NoiseLaw,
    View,
    atom_cells,
    cells_of,
    quantile,
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
