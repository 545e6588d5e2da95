"""How many cases are drawn: a few, the same for everyone; HYPOTHESIS_PROFILE=explore draws ten times as many."""

from __future__ import annotations

import os

PROFILE = os.environ.get("HYPOTHESIS_PROFILE", "steady")
DEPTH = 10 if PROFILE == "explore" else 1


def cases(number: int) -> int:
    """So many drawn cases; the first ones are those of every day."""
    return number * DEPTH
