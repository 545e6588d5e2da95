"""Where leaves improve on the product: gates over single intervals of log-concave attributes."""

from __future__ import annotations

import numpy as np

from guessproof.risk.several.formula import Block, Gate, Tree
from guessproof.risk.several.leaf import Side, and_leaves, is_log_concave, or_leaves
from guessproof.risk.several.scene import Scene, join
from guessproof.risk.several.shift import Shift
from guessproof.world.line import LinePrior

_MOST = {"and": 8, "or": 5}


def gate_bound(scene: Scene, gate: Gate, parts: list[Shift], k: float) -> float | None:
    """A bound on the gate's gain from leaves over those parts that are intervals (or all complements of some)."""
    stretch = {"linf": 1.0, "l2": 0.0, "l1": 0.0}[scene.norm]
    best: float | None = None
    for turned in (False, True):
        sides = [_side(scene, part, turned) for part in gate.parts]
        own = [i for i, side in enumerate(sides) if side is not None]
        kind = gate.kind if not turned else ("or" if gate.kind == "and" else "and")
        if not 2 <= len(own) <= _MOST[kind]:
            continue
        factor = stretch or float(np.sqrt(len(own)) if scene.norm == "l2" else len(own))
        leaves = and_leaves if kind == "and" else or_leaves
        chosen = [s for s in sides if s is not None]
        log_odds = leaves(chosen, -k * factor) * -1.0 if turned else leaves(chosen, k * factor)
        group = join(gate, [Shift(parts[i].log_p, parts[i].log_q) for i in own])
        shift = Shift(group.log_p, group.log_q, log_odds - (group.log_p - group.log_q))
        whole = join(gate, [shift, *(p for i, p in enumerate(parts) if i not in own)]).gain
        best = whole if best is None else (min(best, whole) if k > 0 else max(best, whole))
    return best


def _side(scene: Scene, part: Tree, turned: bool) -> Side | None:
    if not isinstance(part, Block) or not part.is_single:
        return None
    goal = ~part.goal if turned else part.goal
    (attribute,) = scene.members(goal)
    prior, form = attribute.prior, attribute.distance.line_form
    if not isinstance(prior, LinePrior) or form is None or not is_log_concave(prior):
        return None
    if not form.is_straight or form.step or np.isfinite(form.cap) or form.slopes[0] <= 0:
        return None
    region = scene.intervals(goal)
    if len(region) != 1:
        return None
    lo, hi = max(region[0][0], prior.support[0]), min(region[0][1], prior.support[1])
    return Side(prior, lo, hi, form.slopes[0]) if np.isfinite(hi - lo) and lo < hi else None
