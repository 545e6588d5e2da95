"""How much work an answer may take."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from guessproof.errors import ParameterError
from guessproof.world.checks import positive

USUAL_TOLERANCE = 0.02
USUAL_SECONDS = 10.0


@dataclass(frozen=True)
class Progress:
    """Where a refinement stands: cells and seconds so far, and the width of the bracket in odds."""

    cells: int
    seconds: float
    width: float


@dataclass(frozen=True)
class Effort:
    """Refine until the bracket's odds are within `tolerance` of each other, or until the time is up."""

    tolerance: float
    seconds: float
    progress: Callable[[Progress], Any] | None = None


def checked_effort(tolerance: Any, time_limit: Any, progress: Any) -> Effort | None:
    """None where nothing was asked beyond the cheap bracket."""
    if progress is not None and not callable(progress):
        raise ParameterError("progress", progress, "cannot be called", "give a function of one Progress")
    if tolerance is None and time_limit is None:
        return None
    wanted = USUAL_TOLERANCE if tolerance is None else positive(ParameterError, "tolerance", tolerance)
    seconds = USUAL_SECONDS if time_limit is None else positive(ParameterError, "time_limit", time_limit)
    return Effort(min(wanted, 1e6), seconds, progress)


def width_in_odds(attack: float, bound: float) -> float:
    """How much larger the bound's odds are than the attack's, relatively."""
    return float(np.expm1(min(abs(bound - attack), 700.0)))
