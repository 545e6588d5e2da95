"""Find certificates: the question in plain numbers, cuts of the attributes, and a flow that proves the bound.

The flow is the prices of a linear program over the nodes, repaired until every row holds. Attributes are cut as in
`risk.joint`. Everything here may err: `certify` checks the result before it is returned.
"""

from __future__ import annotations

import math
from dataclasses import asdict
from itertools import product
from typing import Any

import numpy as np

from guessproof.errors import NotCertifiedError
from guessproof.risk.certify import LAWS, PRECISION, Certificate, NodeGrid, flint
from guessproof.risk.combinations import axis_labels
from guessproof.risk.finite.linear import Couplings, best_odds
from guessproof.risk.joint.cells import cut_grid
from guessproof.risk.joint.formula import BeliefShift, blocks, product_shift
from guessproof.risk.joint.joint_attack import JointAttack, places
from guessproof.risk.limits import posterior_of
from guessproof.world import (
    And,
    Attribute,
    Finite,
    Goal,
    LineForm,
    LinePrior,
    Mixture,
    Near,
    Not,
    Or,
    Truncated,
    joint_of,
)

BY_PRODUCT = 1e-9  # relative difference up to which a bound is that of the product rule
FINER = 0.3  # times as many cells as are usual where one attribute is cut
LOOSEST = 4e-3  # relatively; nothing looser than the printed bound is worth a certificate
MOST_EDGES = 500_000  # of a program
TAIL_OFFSETS = 1, 2, 3, 5, 8, 13, 21  # cells that an edge passes; beyond 2 only beside labels
ROUNDED = 1e-11  # relative: masses and gains of the program are worse by as much, so that rows hold when rounded
# What is left of a metric whose distances are a table.
TABLE: dict[str, Any] = asdict(LineForm()) | {"cap": None}


def certificate_of(
    attack: Any, epsilon: float, bound: float
) -> Certificate | tuple[Certificate, ...]:
    """Return what proves a posterior belief; one certificate for each attribute where they multiply."""
    if not bound < 1:
        raise NotCertifiedError("the bound is 1, which needs no proof")
    if attack.several is None:
        attribute: Attribute = attack.attribute
        alone = JointAttack({attribute.name: attribute}, attack.at or {}, "linf")
        return _prove(alone, attack.asked, epsilon, bound)
    engine = attack.several.engine
    asked, singles = engine.question, blocks(engine.tree)
    if all(block.is_single for block in singles):
        shifts = {block: engine.part(block.goal).shift(epsilon, 1) for block in singles}
        whole = product_shift(engine.tree, epsilon, lambda block, _: shifts[block])
        if _belief(whole) <= bound * (1 + BY_PRODUCT):
            return tuple(
                _prove(asked, block.goal, epsilon, _belief(own))
                for block, own in shifts.items()
            )
    return _prove(asked, engine.goal, epsilon, bound)


def _belief(shift: BeliefShift) -> float:
    return float(posterior_of(shift.log_p, shift.log_q, shift.gain))


def _prove(asked: JointAttack, goal: Goal, epsilon: float, bound: float) -> Certificate:
    """Return a certificate that proves about the bound and that the checker agrees with."""
    members = asked.members(goal)
    question = {
        "epsilon": epsilon,
        "norm": asked.norm,
        "axes": [_axis_of(attribute, len(members) == 1) for attribute in members],
        "goal": _goal_of(goal, asked, [member.name for member in members]),
    }
    cuts: list[list[float]] = [[] for _ in members]
    if any(isinstance(a.prior, LinePrior) for a in members):
        axes = cut_grid(asked, goal, FINER if len(members) == 1 else 1).axes
        cuts = [axis.low[1:].tolist() if axis.is_split else [] for axis in axes]
    found = _by_program(question, cuts)
    if not found.posterior <= bound * (1 + LOOSEST):
        raise NotCertifiedError(
            "no certificate was found near the bound; please report the question"
        )
    found.check()
    return found


def _prior_of(prior: Any) -> dict[str, Any]:
    if isinstance(prior, Mixture):
        return {
            "family": "mixture",
            "weights": prior.shares,
            "parts": [_prior_of(part) for part in prior.parts],
        }
    if isinstance(prior, Truncated):
        return {
            "family": "truncated",
            "base": _prior_of(prior.base),
            "low": prior.low,
            "high": prior.high,
        }
    if isinstance(prior, Finite):
        return {"family": "finite", "values": places(prior).tolist(), "weights": prior.weights}
    if prior.name not in LAWS:
        raise NotCertifiedError(
            f"{prior!r} is only known by what it computes: no checker can recompute it"
        )
    return {
        "family": prior.name,
        **{name: getattr(prior, name) for name in prior.__match_args__},
    }


def _axis_of(attribute: Attribute, is_alone: bool) -> dict[str, Any]:
    if joint_of(attribute) is not None:
        raise NotCertifiedError(
            f"{attribute.name} depends on other attributes: certificates need independent ones"
        )
    prior, form = attribute.prior, attribute.distance.line_form
    if isinstance(prior, Finite) and not (
        is_alone and form and (form.is_flat or prior.is_line)
    ):
        labels = axis_labels(prior)
        table = attribute.distance.distance(labels[:, None], labels).tolist()
        return {"prior": _prior_of(prior), "metric": TABLE | {"table": table}}
    if form is None:
        raise NotCertifiedError(
            f"{attribute.distance!r} is no distance along a line, which certificates need"
        )
    return {"prior": _prior_of(prior), "metric": asdict(form) | {"cap": _end(form.cap)}}


def _goal_of(goal: Goal, asked: JointAttack, names: list[str]) -> dict[str, Any]:
    if len(goal.attributes) == 1:
        intervals = [[_end(a), _end(b)] for a, b in asked.intervals(goal)]
        return {"axis": names.index(goal.attributes[0].name), "intervals": intervals}
    if isinstance(goal, Near):
        return {"near": asked.point(goal), "radius": goal.radius, "by": goal.by}
    if isinstance(goal, (And, Or, Not)):
        parts = [_goal_of(part, asked, names) for part in goal.parts]
        if isinstance(goal, Not):
            return {"not": parts[0]}
        return {"all" if isinstance(goal, And) else "any": parts}
    raise NotCertifiedError(
        f"certificates are not found for {goal!r}: combine goals about one attribute each"
    )


def _end(x: float) -> float | None:
    return x if math.isfinite(x) else None


def _by_program(question: dict[str, Any], cuts: list[list[float]]) -> Certificate:
    """Return what a linear program over the cells proves."""
    with flint.ctx.workprec(PRECISION):
        grid = NodeGrid(question, cuts)
        edges = _edges_of(grid)
        inside, outside = (np.array([*map(float, x), 0.0]) for x in (grid.goal, grid.rest))
        inside, outside = inside * (1 + ROUNDED), outside * (1 - ROUNDED)
        found = best_odds(inside, outside, edges)
        flow = np.zeros(edges.cost.size) if found.flow is None else found.flow
        inverse = math.exp(-found.bound)
        # Also where 1 − q is tiny.
        q = math.nextafter(max(1 / (1 + inverse), 1 - inverse / (1 + inverse)), 1)
        ends = edges.rows.tolist(), edges.cols.tolist()
        triples = zip(*ends, (flow * q * inverse).tolist(), strict=True)
        return Certificate(question, cuts, [edge for edge in triples if edge[2] > 0], q)


def _edges_of(grid: NodeGrid) -> Couplings:
    """Edges between near nodes and between any labels, and by way of the hub."""
    shape, size = [len(axis.cells) for axis in grid.axes], len(grid.goal)
    has_labels = any(axis.table for axis in grid.axes)
    near = [n for k in TAIL_OFFSETS[: None if has_labels else 2] for n in (-k, k)]
    offsets = [
        range(1 - n, n) if axis.table else [0, *near]
        for axis, n in zip(grid.axes, shape, strict=True)
    ]
    start, sides = np.indices(shape).reshape(len(shape), -1), np.reshape(shape, (-1, 1))
    pairs: list[tuple[int, int]] = []
    for step in product(*offsets):
        end = start + np.reshape(step, (-1, 1))
        valid = np.flatnonzero(np.all((end >= 0) & (end < sides), axis=0))
        target: Any = np.ravel_multi_index(tuple(end[:, valid]), shape)
        pairs += [
            (i, j) for i, j in zip(valid.tolist(), target.tolist(), strict=True) if i != j
        ]
    if len(pairs) > MOST_EDGES:
        raise NotCertifiedError(
            f"a program over {size} values is too large: certificates are for fewer"
        )
    if grid.gain(size, 0).is_finite():
        pairs += [edge for i in range(size) for edge in ((i, size), (size, i))]
    rows, cols = np.array(pairs).T
    cost = np.array([_log_gain(grid, i, j) for i, j in pairs])
    some = np.isfinite(cost)
    return Couplings(rows[some], cols[some], cost[some] + ROUNDED)


def _log_gain(grid: NodeGrid, i: int, j: int) -> float:
    try:
        return float(grid.gain(i, j).log())
    except NotCertifiedError:  # cells without finite ends, or without mass
        return math.inf
