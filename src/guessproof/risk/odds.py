"""Between log-odds gains and beliefs, without cancellation for tiny or nearly certain priors.

Throughout, p is the prior probability of the goal, q = 1 − p (computed on its own, so that it keeps its
digits when p is close to 1), and gain = ln(posterior odds / prior odds).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import expit

from guessproof.world.checks import Array


def posterior(log_p: ArrayLike, log_q: ArrayLike, gain: ArrayLike) -> Array:
    """The belief after a gain.

    >>> float(posterior(np.log(0.25), np.log(0.75), np.log(3)).round(12))
    0.5
    """
    return expit(np.subtract(log_p, log_q) + gain)


def advantage(log_p: ArrayLike, log_q: ArrayLike, gain: ArrayLike) -> Array:
    """Belief after minus belief before, p·q·(ρ−1)/(q + p·ρ) with ρ = e^gain.

    >>> float(advantage(np.log(0.25), np.log(0.75), np.log(3)).round(12))
    0.25
    """
    p, q, size = np.exp(log_p), np.exp(log_q), np.abs(np.asarray(gain, dtype=np.float64))
    rise = -np.expm1(-size)
    with np.errstate(invalid="ignore"):  # p/(p + q·e^{−|gain|}), and the same with p and q exchanged
        up = q * rise * expit(np.subtract(log_p, log_q) + size)
        down = -p * rise * expit(np.subtract(log_q, log_p) + size)
    return np.where(np.asarray(gain) >= 0, up, down)


def gain_of_advantage(log_p: ArrayLike, log_q: ArrayLike, advantage: ArrayLike) -> Array:
    """The gain that raises the belief by exactly this much; +inf where no gain does.

    >>> float(np.exp(gain_of_advantage(np.log(0.25), np.log(0.75), 0.25)).round(12))
    3.0
    """
    p, q, rise = np.exp(log_p), np.exp(log_q), np.asarray(advantage, dtype=np.float64)
    with np.errstate(divide="ignore", invalid="ignore"):
        gain = np.log1p(rise / p) - np.log1p(-np.minimum(rise / q, 1.0))
    return np.where(rise >= q, np.inf, gain)
