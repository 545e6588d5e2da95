"""What is asked of a curve whose attack answers arrays: never below it, and near it, both ways."""

from __future__ import annotations

import numpy as np

import guessproof as gp


def check_near(curve: gp.Curve, random: np.random.Generator) -> None:
    """At drawn ε, for drawn limits, for beliefs and for what they move by."""
    attack = curve.attack
    assert curve.within <= 1e-3
    low, high = curve.rise.epsilon[0], curve.rise.epsilon[-1]
    epsilon = np.sort(np.exp(random.uniform(np.log(low), np.log(high), 60)))
    for both in (False, True):
        exact = attack.advantage(epsilon, both=both)
        found = np.array([curve.advantage(float(e), both=both) for e in epsilon])
        assert np.all(found >= exact.bound - 1e-15)
        assert np.all(np.diff(found) >= 0)
    believed = np.array([curve.posterior(float(e)) for e in epsilon])
    assert np.all(believed >= attack.posterior(epsilon).attack - 1e-15)
    top = float(curve.rise.bound[-1])
    for share in (0.02, 0.2, 0.6, 0.9):
        for both in (False, True):
            limit = share * top
            largest = attack.epsilon(advantage=limit, both=both)
            assert 0.999 * largest <= curve.epsilon(advantage=limit, both=both) <= largest
