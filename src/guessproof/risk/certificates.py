"""Find certificates: the question in plain numbers, cuts of the attributes, and a flow that proves the bound.

The flow is the prices of a linear program over the nodes, repaired until every row holds. One attribute is cut anew
where the program's likelihood turns; several are cut as in `risk.joint`. Everything here may err: `certify` checks the
result before it is returned.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from itertools import product
from typing import Any

import numpy as np

from guessproof.errors import NotCertifiedError
from guessproof.risk.certify import LAWS, PRECISION, Certificate, NodeGrid, flint
from guessproof.risk.finite.linear import Couplings, best_flow
from guessproof.risk.joint.cells import cut_grid
from guessproof.risk.joint.formula import blocks
from guessproof.risk.joint.product import product_shift
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
LOOSEST = 4e-3  # relatively; nothing looser than the printed bound is worth a certificate
CLOSE_ENOUGH = 1e-6  # the same up to which cuts are not made finer
ROUNDS = 16  # of programs over one attribute; cells over which L turns are divided in each
MOST_TURNS = 100  # of one round; L is no longer known where it seems to turn more often
STEPS = 8  # cells as far as the cap on each side of an end of the goal, before turns are known
FINE = 1000  # quantiles among which the cap is looked up
STRAIGHT = 1e-4  # of the steepest change of ln L over a cell: less than this counts as none, all but this as all
MOST_EDGES = 500_000  # of a program
TAIL_OFFSETS = 1, 2, 3, 5, 8, 13, 21  # cells that an edge passes; beyond 2 only beside labels
EXACT_UP_TO = 400  # nodes for the simplex method, which leaves little to mend
ROUNDED = 1e-11  # relative: masses and gains of the program are worse by as much, so that rows hold when rounded
# What is left of a metric whose distances are a table.
TABLE: dict[str, Any] = asdict(LineForm()) | {"cap": None}


def certificate_of(
    attack: Any, epsilon: float, bound: float
) -> Certificate | tuple[Certificate, ...]:
    """Return what proves a posterior belief; one certificate for each attribute where they multiply."""
    if not bound < 1:
        raise NotCertifiedError("the bound is 1, which needs no proof")
    at = attack.at or {}
    if attack.several is None:
        return _of_one(attack.attribute, attack.asked, at, epsilon, bound)
    engine = attack.several.engine
    asked, singles = engine.question, blocks(engine.tree)
    if all(block.is_single for block in singles):
        shift = product_shift(
            engine.tree, epsilon, lambda block, k: engine.part(block.goal).shift(k, 1)
        )
        if float(posterior_of(shift.log_p, shift.log_q, shift.gain)) <= bound * (
            1 + BY_PRODUCT
        ):
            shifts = [engine.part(block.goal).shift(epsilon, 1) for block in singles]
            beliefs = [float(posterior_of(own.log_p, own.log_q, own.gain)) for own in shifts]
            return tuple(
                _of_one(asked.members(block.goal)[0], block.goal, at, epsilon, belief)
                for block, belief in zip(singles, beliefs, strict=True)
            )
    members, grid = asked.members(engine.goal), cut_grid(asked, engine.goal)
    cuts = [
        [] if isinstance(a.attribute.prior, Finite) else a.low[1:].tolist() for a in grid.axes
    ]
    return _prove(question_of(members, engine.goal, at, epsilon, asked.norm), cuts, bound)


def _of_one(
    attribute: Attribute, goal: Goal, at: Mapping[str, Any], epsilon: float, bound: float
) -> Certificate:
    question = question_of([attribute], goal, at, epsilon, "linf")
    return _prove(question, [_first_cuts(attribute, question["goal"])], bound)


def question_of(
    members: Sequence[Attribute], goal: Goal, at: Mapping[str, Any], epsilon: float, norm: str
) -> dict[str, Any]:
    """Return a question in plain numbers."""
    axes = [_axis_of(attribute, len(members) == 1) for attribute in members]
    return {"epsilon": epsilon, "norm": norm, "axes": axes, "goal": _goal_of(goal, members, at)}


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
        return {"family": "finite", "values": _values(prior), "weights": prior.weights}
    if prior.name not in LAWS:
        raise NotCertifiedError(
            f"{prior!r} is only known by what it computes: no checker can recompute it"
        )
    return {
        "family": prior.name,
        **{name: getattr(prior, name) for name in prior.__match_args__},
    }


def _values(prior: Finite) -> list[Any]:
    """The values of a prior, or the positions of labels."""
    return list(prior.values if prior.is_line else range(len(prior.values)))


def _axis_of(attribute: Attribute, is_alone: bool) -> dict[str, Any]:
    if joint_of(attribute) is not None:
        raise NotCertifiedError(
            f"{attribute.name} depends on other attributes: certificates need independent ones"
        )
    prior, form = attribute.prior, attribute.distance.line_form
    if isinstance(prior, Finite) and not (
        is_alone and form and (form.is_flat or prior.is_line)
    ):
        names = np.array([*prior.values, None], dtype=object)[:-1]
        labels = prior.points if prior.is_line else names
        table = attribute.distance.distance(labels[:, None], labels).tolist()
        return {"prior": _prior_of(prior), "metric": TABLE | {"table": table}}
    if form is None:
        raise NotCertifiedError(
            f"{attribute.distance!r} is no distance along a line, which certificates need"
        )
    return {"prior": _prior_of(prior), "metric": asdict(form) | {"cap": _end(form.cap)}}


def _goal_of(goal: Goal, members: Sequence[Attribute], at: Mapping[str, Any]) -> dict[str, Any]:
    if len(goal.attributes) == 1:
        name = goal.attributes[0].name
        position = [member.name for member in members].index(name)
        prior, t = members[position].prior, at.get(name)
        if isinstance(prior, Finite):
            values, chosen = _values(prior), goal.chosen(prior, t) > 0
            runs: Any = np.flatnonzero(np.diff(chosen, prepend=False, append=False)).reshape(
                -1, 2
            )
            intervals = [[values[start], values[stop - 1]] for start, stop in runs]
        else:
            intervals = [
                [_end(float(x)) for x in ends] for ends in goal.edges(0.0 if t is None else t)
            ]
        return {"axis": position, "intervals": intervals}
    if isinstance(goal, Near):
        return {
            "near": [float(at[a.name]) for a in members],
            "radius": goal.radius,
            "by": goal.by,
        }
    if isinstance(goal, (And, Or, Not)):
        parts = [_goal_of(part, members, at) for part in goal.parts]
        return (
            {"not": parts[0]}
            if isinstance(goal, Not)
            else {"all" if isinstance(goal, And) else "any": parts}
        )
    raise NotCertifiedError(
        f"certificates are not found for {goal!r}: combine goals about one attribute each"
    )


def _end(x: float) -> float | None:
    return x if math.isfinite(x) else None


def _prove(question: dict[str, Any], cuts: list[list[float]], bound: float) -> Certificate:
    """Return a certificate that proves about the bound and that the checker agrees with."""
    proven: list[Certificate] = []
    for _ in range(ROUNDS):
        certificate, turns = _by_program(question, cuts)
        proven.append(certificate)
        if not 0 < len(turns) <= MOST_TURNS or certificate.posterior <= bound * (
            1 + CLOSE_ENOUGH
        ):
            break
        cuts = [sorted({*cuts[0], *turns})]
    best = min(proven, key=lambda certificate: certificate.posterior)
    if not best.posterior <= bound * (1 + LOOSEST):
        raise NotCertifiedError(
            "no certificate was found near the bound; please report the question"
        )
    best.check()
    return best


def _first_cuts(attribute: Attribute, goal: Mapping[str, Any]) -> list[float]:
    """Where the goal ends, where the distance bends, and as far as the cap from there."""
    prior, form = attribute.prior, attribute.distance.line_form
    if not isinstance(prior, LinePrior) or form is None:
        return []
    ends = {x for pair in goal["intervals"] for x in pair if x is not None} | set(form.cuts)
    if math.isfinite(form.cap):
        steps = form.cap * np.linspace(-1, 1, 2 * STEPS + 1)[:, None]
        line = np.sort([*ends, *prior.quantile(np.linspace(0, 1, FINE + 1)[1:-1])])
        heights = form.psi(sorted(ends)) + steps
        ends |= set(np.interp(heights, form.psi(line), line).ravel().tolist())
    low, high = prior.support
    return sorted(x for x in ends if low < x < high)


def _by_program(
    question: dict[str, Any], cuts: list[list[float]]
) -> tuple[Certificate, list[float]]:
    """A certificate over given cuts, and where to cut one attribute next."""
    with flint.ctx.workprec(PRECISION):
        grid = NodeGrid(question, cuts)
        edges = _edges_of(grid)
        inside, outside = (np.array([*map(float, x), 0.0]) for x in (grid.goal, grid.rest))
        inside, outside = inside * (1 + ROUNDED), outside * (1 - ROUNDED)
        found = best_flow(inside, outside, edges, exact=inside.size <= EXACT_UP_TO)
        flow = np.zeros(edges.cost.size) if found.flow is None else found.flow
        inverse = math.exp(-found.bound)
        q = math.nextafter(
            max(1 / (1 + inverse), 1 - inverse / (1 + inverse)), 1
        )  # also where 1 − q is tiny
        triples = zip(
            edges.rows.tolist(), edges.cols.tolist(), (flow * q * inverse).tolist(), strict=True
        )
        return Certificate(
            question, cuts, [edge for edge in triples if edge[2] > 0], q
        ), _turns(grid, found.log_m)


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


def _turns(grid: NodeGrid, log_m: Any) -> list[float]:
    """The middles of cells over which ln L neither stays nor changes as fast as it may."""
    middles: list[float] = []
    for k, (low, high) in enumerate(grid.axes[0].cells):
        if 0 < k < len(grid.goal) - 1 and low < high and len(grid.axes) == 1:
            most = float(grid.gain(k - 1, k + 1).log())
            change = abs(log_m[k + 1] - log_m[k - 1])
            is_flat = max(change, abs(log_m[k] - log_m[k - 1])) <= STRAIGHT * most
            if not is_flat and change < (1 - STRAIGHT) * most:
                middles.append(0.5 * (low + high))
    return middles
