"""What stands in for SciPy where reading it would take longer than the answer: the same digits."""

from __future__ import annotations

import numpy as np
from scipy.special import expit

from guessproof.world import line


def test_beliefs_from_odds_are_scipys() -> None:
    odds = np.concatenate([np.linspace(-800, 800, 4001), [-np.inf, np.inf, -1e300, 1e300]])
    assert np.allclose(line.expit(odds), expit(odds), rtol=4e-16, atol=0)
    assert np.isnan(line.expit(np.nan))
