"""What one change of the plan would do."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING

from guessproof.choosing.choice import Change
from guessproof.errors import GuessproofError
from guessproof.exposure import Exposure
from guessproof.noise import Noise
from guessproof.rounded import down, up

if TYPE_CHECKING:
    from guessproof.choosing.chooser import Chooser


def changes(chooser: Chooser, exposure: Exposure | None, interval: tuple[float, float]) -> Iterator[Change]:
    """Single changes of the plan, each of which alone would make targets and limits meet, or would still let them."""
    needed, highest = interval
    if not chooser.needs or not math.isfinite(highest) or highest <= 0:
        return
    ratio = needed / highest
    noises = chooser.noises(highest)
    for output in chooser.question.outputs:
        if output.name in chooser.targets:
            yield from _accuracy_changes(chooser, output.name, noises[output.measured[0]])
    if chooser.plan.data.rows is not None and all(m.divisor != 1 for m in chooser.question.measurements):
        rows = math.ceil(chooser.plan.data.rows * ratio)
        yield Change("data.rows", f"{chooser.plan.data.rows}", f"{rows}", ratio)
    if exposure is not None:
        yield from _risk_changes(chooser, exposure, needed)


def _accuracy_changes(chooser: Chooser, name: str, noise: Noise) -> Iterator[Change]:
    within, confidence = chooser.targets[name]
    there = noise.error(confidence)
    if there > 0:  # whole noise can be so small that the answer is exact, and there is nothing to ask for
        yield Change(f"accuracy of {name}: within", f"{within:g}", f"{up(there)}", max(there / within, within / there))
    surely = noise.confidence(within)
    if surely > 0.01:
        yield Change(
            f"accuracy of {name}: confidence",
            f"{confidence:g}",
            f"{down(surely)}",
            _odds_ratio(confidence, surely),
        )


def _risk_changes(chooser: Chooser, exposure: Exposure, needed: float) -> Iterator[Change]:
    limits = chooser.plan.limits
    try:
        if limits.advantage is not None:
            there = float(exposure.advantage(needed, limits.both).bound)
            yield Change("attacker: advantage", f"{limits.advantage:g}", up(there), there / limits.advantage)
        if limits.posterior is not None:
            there = float(exposure.posterior(needed).bound)
            yield Change("attacker: posterior", f"{limits.posterior:g}", up(there), there / limits.posterior)
    except GuessproofError:
        return


def _odds_ratio(a: float, b: float) -> float:
    one, other = a / (1 - a), b / (1 - b) if b < 1 else math.inf
    return max(one / other, other / one)
