"""What the attacker knows and wants: priors, distances, attributes and goals, as frozen values.

Other packages import from here, not from the modules.
"""

# What is imported here is what the package offers.
# ruff: noqa: F401
# pyright: reportUnusedImport=false

from guessproof.world.attributes import Arithmetic, Attribute, conditioned, joint_of
from guessproof.world.checks import (
    DAY,
    EPOCH,
    EXACT,
    HOLDS,
    KINDS,
    LARGEST,
    MICROSECONDS,
    UNITS,
    Array,
    Kind,
    days_of,
    label_of,
    length_of,
    moment_of,
    ordered,
    real,
    show_time,
    spells,
)
from guessproof.world.distances import (
    Absolute,
    Binned,
    Clamped,
    Discrete,
    LineForm,
    LineMetric,
    Matrix,
    Metric,
    Multiple,
    Outcome,
    Sum,
    Threshold,
    minimum,
)
from guessproof.world.finite import Finite, is_number
from guessproof.world.formulas import (
    FUNCTIONS,
    Formula,
    FormulaGoal,
    FormulaInside,
    FormulaWithin,
    applied,
    combined,
    formula_of,
    inside,
    known_formula,
    within,
)
from guessproof.world.goals import (
    Among,
    And,
    Compound,
    Exactly,
    Given,
    Goal,
    Inside,
    Near,
    Norm,
    Not,
    Or,
    Together,
    Within,
    among,
    combine,
    exactly,
    is_norm,
    near,
)
from guessproof.world.joint import (
    Joint,
    JointHistogram,
    JointTable,
    joint_histogram,
    joint_normal,
    joint_sample,
    joint_table,
)
from guessproof.world.line import LinePrior, Mixture, Truncated
from guessproof.world.pieces import pieces_of
from guessproof.world.priors import (
    QUARTILE,
    Beta,
    ExponentialPrior,
    Gamma,
    Histogram,
    LaplacePrior,
    LogNormal,
    Normal,
    PartlyKnown,
    Prior,
    StudentT,
    Uniform,
    Unknown,
    beta,
    categorical,
    empirical,
    exponential,
    from_scipy,
    gamma,
    half_between,
    histogram,
    laplace,
    lognormal,
    mixture,
    normal,
    partly_known,
    read_half,
    student_t,
    truncated,
    uniform,
    unknown,
)
