"""Beliefs at the worst true value beside a prior that may be wrong: a curve of them takes half a minute."""

from __future__ import annotations

from typing import Any

import pytest
from web.running import CAFETERIA, CALCULATION, Served
from web.test_answers import changed, check_beliefs


@pytest.mark.parametrize("state", [CAFETERIA, CALCULATION], ids=["plan", "calculation"])
def test_beliefs_side_by_side_are_of_the_stated_prior_at_the_worst_true_value(
    served: Served, state: dict[str, Any]
) -> None:
    asked = changed(state, "attacker", "prior_factor", to=1.5)
    del asked["attacker"]["at"]
    check_beliefs(served, asked)
