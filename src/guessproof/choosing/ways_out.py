"""Ways out of a plan that nothing fulfils: each is tried as it will be printed, against every limit and the budget."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from guessproof.calculate import Limits
from guessproof.choosing.choice import Change
from guessproof.errors import GuessproofError
from guessproof.plan import Plan
from guessproof.rounded import rounded_down, rounded_up

if TYPE_CHECKING:
    from guessproof.choosing.chooser import Chooser

MOST_LOOSENED, LOOSER = 4, (1.25, 1.6, 2.5, 4.0, 8.0)  # one target of several, beyond which it is none any more
WIDER = (1.02, 1.5, 2.5, 5.0, 10.0)  # whole noise does not shrink in proportion to ε


def ways_out(chooser: Chooser, proposed: tuple[Change, ...], interval: tuple[float, float]) -> Iterator[Change]:
    """Those of the proposed changes that help as they stand there, and what else one could do."""
    if chooser.plan.release.epsilon is not None:
        return  # what the plan fixes is its own to change, and the explanation says between what
    yield from (change for change in proposed if _helps(chooser, change))
    needed, highest = interval
    if not chooser.required_epsilon or not 0 < highest < math.inf:
        return
    ratio = needed / highest
    if len(chooser.targets) > 1:
        yield from _single_targets(chooser)
        wider = (Change("accuracy of every output: times", 1, rounded_up(f * ratio, 3), f * ratio) for f in WIDER)
        yield from itertools.islice((change for change in wider if _helps(chooser, change)), 1)
    if chooser.remaining is not None:
        left, enough = chooser.remaining * chooser.times, needed * chooser.times * (1 + 1e-6)
        change = Change(
            "budget: ε that is left", rounded_down(left), rounded_up(enough), math.inf
        )  # its owner's to raise, so last
        yield from [change] if _helps(chooser, change) else []


def _single_targets(chooser: Chooser) -> Iterator[Change]:
    """One target by itself, loosened while the others stay. Not every ε tells the attacker alike, so each is tried."""
    for name in list(chooser.taken)[:MOST_LOOSENED]:
        (within, confidence), unit = chooser.targets[name], chooser.units.get(name, "within")
        for factor in LOOSER:
            then = rounded_up(within * factor, 3)
            if _keeps_limits(_with_targets(chooser, {**chooser.targets, name: (then, confidence)})):
                yield Change(f"accuracy of {name}: {unit}", within, then, factor)
                break


def _with_targets(chooser: Chooser, targets: dict[str, tuple[float, float]]) -> Chooser:
    return chooser.tried(chooser.plan, chooser.remaining, targets)


def _keeps_limits(chooser: Chooser) -> bool:
    """Whether the ε that the targets need, and a hair more, keeps every limit: nothing is searched for."""
    needed = chooser.needed * (1 + 2e-3)
    try:
        return chooser.keeps_all(needed)
    except GuessproofError:
        return False


def _helps(chooser: Chooser, change: Change) -> bool:
    tried = _changed(chooser, change)
    return tried is not None and _is_feasible(tried)


def _is_feasible(chooser: Chooser) -> bool:
    try:
        exposure = chooser.exposure()
        return chooser.verdict(exposure, chooser.bounds(exposure))[3]
    except GuessproofError:
        return False


def _changed(chooser: Chooser, change: Change) -> Chooser | None:
    """The same choice after one change, with the numbers as they are printed."""
    plan, targets, remaining = chooser.plan, dict(chooser.targets), chooser.remaining
    (place, _, key), value = change.what.rpartition(": "), change.proposed
    if place == "attacker":
        plan = _with_limit(plan, key, value)
    elif place == "accuracy of every output":
        targets = {name: (within * value, confidence) for name, (within, confidence) in targets.items()}
    elif place.startswith("accuracy of "):
        name = place.removeprefix("accuracy of ")
        within, confidence = targets[name]
        targets[name] = (within, value) if key == "confidence" else (value, confidence)
    elif place == "budget":
        remaining = math.nextafter(value / chooser.times, 0.0)
    elif change.what == "release.times":
        remaining = None if remaining is None else remaining * chooser.times / value * (1 - 1e-12)
        release = plan.release.model_copy(update={"times": int(value)})
        plan = replace(plan, file=plan.file.model_copy(update={"release": release}))
    else:
        return None
    return chooser.tried(plan, remaining, targets)


def _with_limit(plan: Plan, key: str, value: float) -> Plan:
    limits: Limits = replace(plan.limits, **{key: value})
    return replace(plan, limits=limits)
