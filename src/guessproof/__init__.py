"""guessproof chooses the ε of differential privacy from what people can judge.

A release gives the attacker a likelihood; privacy says that its logarithm is Lipschitz; the rest is Bayes.

>>> import guessproof as gp
>>> salary = gp.Attribute("salary", prior=gp.normal(mean=2000, sd=235.7))
>>> attack = gp.Attack(gp.within(salary, 100), at={"salary": 2000})
>>> print(f"{attack.prior:.4f} {attack.epsilon(advantage=0.1):.7f}")
0.3286 0.0022236
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from guessproof._version import __version__

if TYPE_CHECKING:
    from guessproof.auditing import audit
    from guessproof.checking import check
    from guessproof.choosing import choose
    from guessproof.ledger import Budget, Ledger
    from guessproof.mechanisms.awareness import Awareness
    from guessproof.mechanisms.cauchy import Cauchy
    from guessproof.mechanisms.composition import split_budget
    from guessproof.mechanisms.gaussian import Gaussian
    from guessproof.mechanisms.geometric import Geometric
    from guessproof.mechanisms.laplace import Laplace
    from guessproof.mechanisms.words import OtherWords, other_words, relative_risk_between
    from guessproof.papers.earlier import Published, lee_clifton, wood
    from guessproof.plan import Plan, load_plan, loads_plan, plan_of
    from guessproof.releasing import release
    from guessproof.releasing.row_bounds import bound_rows
    from guessproof.reporting import report
    from guessproof.risk import (
        Attack,
        Bracket,
        Curve,
        FiniteWorld,
        GaussianAttack,
        RiskProfile,
        cumulative_advantage,
        relative_risk,
    )
    from guessproof.scanning import scan
    from guessproof.world import (
        Absolute,
        Attribute,
        Clamped,
        Discrete,
        Matrix,
        Outcome,
        Threshold,
        among,
        beta,
        categorical,
        empirical,
        exactly,
        exponential,
        from_scipy,
        gamma,
        half_between,
        histogram,
        inside,
        joint_histogram,
        joint_normal,
        joint_sample,
        joint_table,
        laplace,
        lognormal,
        minimum,
        mixture,
        near,
        normal,
        partly_known,
        student_t,
        truncated,
        uniform,
        unknown,
        within,
    )


_HOMES = {
    "guessproof.auditing": ("audit",),
    "guessproof.checking": ("check",),
    "guessproof.choosing": ("choose",),
    "guessproof.ledger": ("Budget", "Ledger"),
    "guessproof.mechanisms.composition": ("split_budget",),
    "guessproof.mechanisms.awareness": ("Awareness",),
    "guessproof.mechanisms.cauchy": ("Cauchy",),
    "guessproof.mechanisms.gaussian": ("Gaussian",),
    "guessproof.mechanisms.geometric": ("Geometric",),
    "guessproof.mechanisms.laplace": ("Laplace",),
    "guessproof.mechanisms.words": ("OtherWords", "other_words", "relative_risk_between"),
    "guessproof.papers.earlier": ("Published", "lee_clifton", "wood"),
    "guessproof.plan": ("Plan", "load_plan", "loads_plan", "plan_of"),
    "guessproof.releasing": ("release",),
    "guessproof.releasing.row_bounds": ("bound_rows",),
    "guessproof.reporting": ("report",),
    "guessproof.risk": (
        "Attack",
        "Bracket",
        "Curve",
        "FiniteWorld",
        "GaussianAttack",
        "RiskProfile",
        "cumulative_advantage",
        "relative_risk",
    ),
    "guessproof.scanning": ("scan",),
    "guessproof.world": (
        "Absolute",
        "Attribute",
        "Clamped",
        "Discrete",
        "Matrix",
        "Outcome",
        "Threshold",
        "among",
        "beta",
        "categorical",
        "empirical",
        "exactly",
        "exponential",
        "from_scipy",
        "gamma",
        "half_between",
        "histogram",
        "inside",
        "joint_histogram",
        "joint_normal",
        "joint_sample",
        "joint_table",
        "laplace",
        "lognormal",
        "minimum",
        "mixture",
        "near",
        "normal",
        "partly_known",
        "student_t",
        "truncated",
        "uniform",
        "unknown",
        "within",
    ),
}
_HOME = {name: module for module, names in _HOMES.items() for name in names}

__all__ = [
    "Absolute",
    "Attack",
    "Attribute",
    "Awareness",
    "Bracket",
    "Budget",
    "Cauchy",
    "Clamped",
    "Curve",
    "Discrete",
    "FiniteWorld",
    "Gaussian",
    "GaussianAttack",
    "Geometric",
    "Laplace",
    "Ledger",
    "Matrix",
    "OtherWords",
    "Outcome",
    "Plan",
    "Published",
    "RiskProfile",
    "Threshold",
    "__version__",
    "among",
    "audit",
    "beta",
    "bound_rows",
    "categorical",
    "check",
    "choose",
    "cumulative_advantage",
    "empirical",
    "exactly",
    "exponential",
    "from_scipy",
    "gamma",
    "half_between",
    "histogram",
    "inside",
    "joint_histogram",
    "joint_normal",
    "joint_sample",
    "joint_table",
    "laplace",
    "lee_clifton",
    "load_plan",
    "loads_plan",
    "lognormal",
    "minimum",
    "mixture",
    "near",
    "normal",
    "other_words",
    "partly_known",
    "plan_of",
    "relative_risk",
    "relative_risk_between",
    "release",
    "report",
    "scan",
    "split_budget",
    "student_t",
    "truncated",
    "uniform",
    "unknown",
    "within",
    "wood",
]


def __getattr__(name: str) -> Any:
    """Import a public name's room when it is first asked for, so that `import guessproof` stays light."""
    if name not in _HOME:
        raise AttributeError(f"module 'guessproof' has no attribute {name!r}")
    value = getattr(import_module(_HOME[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
