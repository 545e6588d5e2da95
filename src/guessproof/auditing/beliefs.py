"""What the attacker believes of the victim, and the best guesser that this makes of him.

Weighted points for reckoning, and true draws from the prior. Against one measurement the rule is fixed beforehand:
outputs are cut into cells, and for each cell the attacker names the guess whose correct values hold most of his belief,
reckoned with the exact probability of the cell for each possible victim. Whatever the victim is, the rule is right with
probability Σ P(cell | victim) over the cells whose guess fits him: a sum of differences of the noise's distribution
function, exact to the digits of a float. On average over the prior no rule does better on these cells.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from guessproof.errors import GoalError
from guessproof.exposure import Attacker
from guessproof.risk import alternatives
from guessproof.world import (
    Among,
    Compound,
    Exactly,
    Finite,
    Goal,
    JointHistogram,
    JointTable,
    LinePrior,
    Not,
    Or,
    PartlyKnown,
    Together,
    Unknown,
    conditioned,
    joint_of,
)

MOST_CELLS = 600

Values = dict[str, Any]  # column → array of values, one entry a point
TAIL = np.geomspace(1e-9, 1e-3, 13)


@dataclass(frozen=True)
class BeliefBlock:
    """Columns that are believed in together: true draws, and cells at any fineness."""

    names: tuple[str, ...]
    draw: Callable[[Any, int], list[tuple[Any, ...]]]
    cells: Callable[[int, Mapping[str, Sequence[float]]], tuple[list[tuple[Any, ...]], Any]]
    size: int | None  # how many values there are; None on a continuum

    @property
    def lines(self) -> int:
        """The dimension of the continuum."""
        return 0 if self.size is not None else len(self.names)


@dataclass(frozen=True)
class BeliefPoints:
    """Weighted values of the victim; a belief computed on them is off by `tolerance` at most, by the rule of thumb."""

    values: Values
    weights: Any
    tolerance: float

    def __len__(self) -> int:
        return len(self.weights)

    def rows(self) -> list[dict[str, Any]]:
        """One row a point."""
        names = list(self.values)
        return [dict(zip(names, row, strict=True)) for row in zip(*self.values.values(), strict=True)]


def blocks_of(attacker: Attacker, read: frozenset[str]) -> list[BeliefBlock] | None:
    """The independent parts of what the attacker believes; None where the plan states no belief to start from."""
    if attacker.knows_formulas:
        problem = "an audit does not play an attacker who knows the value of a formula"
        raise GoalError(
            "knows", next(iter(attacker.knows or {})), problem, "leave it out of a copy of the plan to audit"
        )
    needed = {*attacker.names, *(n for n in attacker.attributes if n in read)}
    for name in tuple(needed):
        joint = joint_of(attacker.attributes[name])
        needed |= set(joint.names) if joint is not None else set()
    believed = conditioned(
        [attacker.attributes[n] for n in attacker.attributes if n in needed], dict(attacker.knows or {})
    )
    found: list[BeliefBlock] = []
    seen: set[str] = set()
    for name, attribute in believed.items():
        if name in seen:
            continue
        prior, joint = attribute.prior, joint_of(attribute)
        if isinstance(prior, (Unknown, PartlyKnown)):
            if name in attacker.names:
                return None
            continue
        if joint is not None and not isinstance(joint, (JointTable, JointHistogram)):
            problem = "an audit draws made-up people from tables and histograms only"
            raise GoalError("prior", joint, problem, "give it as a joint histogram in a copy of the plan")
        block = (
            _table(joint)
            if isinstance(joint, JointTable)
            else _rectangles(joint)
            if isinstance(joint, JointHistogram)
            else _listed(name, prior)
            if isinstance(prior, Finite)
            else _line(name, prior)
        )
        seen.update(block.names)
        found.append(block)
    return found


def _listed(name: str, prior: Finite) -> BeliefBlock:
    values = [(v,) for v in prior.values]
    return _finite((name,), values, np.asarray(prior.mass))


def _table(joint: JointTable) -> BeliefBlock:
    return _finite(joint.names, list(joint.rows), np.asarray(joint.mass))


def _finite(names: tuple[str, ...], rows: list[tuple[Any, ...]], mass: Any) -> BeliefBlock:
    possible = [(row, w) for row, w in zip(rows, mass / np.sum(mass), strict=True) if w > 0]
    kept, weights = [row for row, _ in possible], np.array([w for _, w in possible])

    def draw(rng: Any, count: int) -> list[tuple[Any, ...]]:
        return [kept[i] for i in rng.choice(len(kept), size=count, p=weights / weights.sum())]

    return BeliefBlock(names, draw, lambda _k, _f: (kept, weights), len(kept))


def _line(name: str, prior: LinePrior) -> BeliefBlock:
    def draw(rng: Any, count: int) -> list[tuple[Any, ...]]:
        return [(float(x),) for x in np.atleast_1d(prior.quantile(rng.random(count)))]

    def cells(fine: int, forced: Mapping[str, Sequence[float]]) -> tuple[list[tuple[Any, ...]], Any]:
        """Cells of about equal probability, finer in the tails, with the forced edges; each at its median."""
        inner = np.unique(np.concatenate([TAIL, np.linspace(0, 1, fine + 1)[1:-1], 1 - TAIL]))
        low, high = prior.support
        edges = np.asarray(prior.quantile(inner), dtype=float)
        extra = [e for e in forced.get(name, ()) if low < e < high]
        edges = np.unique(np.concatenate([[low], edges, extra, [high]]))
        mass = np.asarray(prior.mass(edges[:-1], edges[1:]), dtype=float)
        some = mass > 0
        left, right, mass = edges[:-1][some], edges[1:][some], mass[some]
        below = np.concatenate([[0.0], np.cumsum(mass)[:-1]]) / mass.sum()
        middle = np.asarray(prior.quantile(np.clip(below + mass / 2 / mass.sum(), 0.0, 1.0)), dtype=float)
        return [(float(x),) for x in np.clip(middle, left, right)], mass / mass.sum()

    return BeliefBlock((name,), draw, cells, None)


def _rectangles(joint: JointHistogram) -> BeliefBlock:
    mass = np.asarray(joint.mass)
    sides = [np.asarray(e) for e in joint.edges]

    def draw(rng: Any, count: int) -> list[tuple[Any, ...]]:
        flat = rng.choice(mass.size, size=count, p=(mass / mass.sum()).ravel())
        places = np.unravel_index(flat, mass.shape)
        spots = [s[i] + rng.random(count) * np.diff(s)[i] for s, i in zip(sides, places, strict=True)]
        return list(zip(*(spot.tolist() for spot in spots), strict=True))

    def cells(fine: int, _forced: Mapping[str, Sequence[float]]) -> tuple[list[tuple[Any, ...]], Any]:
        parts = [max(1, fine // n) for n in mass.shape]
        middles = [
            (s[:-1, None] + np.diff(s)[:, None] * (np.arange(p) + 0.5) / p).ravel()
            for s, p in zip(sides, parts, strict=True)
        ]
        spread = np.repeat(np.repeat(mass, parts[0], axis=0), parts[1], axis=1)
        places = [m.ravel() for m in np.meshgrid(*middles, indexing="ij")]
        some = spread.ravel() > 0
        rows = list(zip(*(p[some].tolist() for p in places), strict=True))
        weights = spread.ravel()[some]
        return rows, weights / weights.sum()

    return BeliefBlock(joint.names, draw, cells, None)


def points_of(
    blocks: Sequence[BeliefBlock], most: int, rng: Any, forced: Mapping[str, Sequence[float]]
) -> BeliefPoints:
    """All combinations of the blocks' cells, or a sample where they would be too many."""
    listed = math.prod(b.size for b in blocks if b.size is not None)
    lines = sum(b.lines for b in blocks)
    fine = int((most / listed) ** (1 / lines)) if lines else most
    if listed > most or (lines and fine < 12):
        rows = draw_victims(blocks, most, rng)
        return BeliefPoints(_columns(rows), np.full(most, 1 / most), 5 / math.sqrt(most))
    parts = [b.cells(fine, forced) for b in blocks]
    rows, weights = [{}], np.ones(1)
    for block, (cells, mass) in zip(blocks, parts, strict=True):
        rows = [{**row, **dict(zip(block.names, cell, strict=True))} for row in rows for cell in cells]
        weights = np.outer(weights, mass).ravel()
    tolerance = 1e-9 if not lines else 1e-7 + 10 / fine**2 if lines == 1 else 1 / fine
    return BeliefPoints(_columns(rows), weights / weights.sum(), tolerance)


def draw_victims(blocks: Sequence[BeliefBlock], count: int, rng: Any) -> list[dict[str, Any]]:
    """Victims, drawn from what the attacker believes."""
    parts = [(b.names, b.draw(rng, count)) for b in blocks]
    return [{n: v for names, rows in parts for n, v in zip(names, rows[i], strict=True)} for i in range(count)]


def _columns(rows: Sequence[Mapping[str, Any]]) -> Values:
    return {name: as_array([row[name] for row in rows]) for name in rows[0]} if rows else {}


def as_array(values: Sequence[Any]) -> Any:
    """Numbers as floats, anything else as it is."""
    if all(isinstance(v, (int, float, np.number)) and not isinstance(v, bool) for v in values):
        return np.asarray(values, dtype=float)
    kept = np.empty(len(values), dtype=object)
    kept[:] = list(values)
    return kept


# Goals.


def holds(goal: Goal, values: Values, truth: Mapping[str, Any]) -> Any:
    """Which points are correct guesses when `truth` is the centre of the goal."""
    if isinstance(goal, Not):
        return ~holds(goal.part, values, truth)
    if isinstance(goal, Compound):
        parts = [holds(part, values, truth) for part in goal.parts]
        return np.any(parts, axis=0) if isinstance(goal, Or) else np.all(parts, axis=0)
    if isinstance(goal, Together):
        names = [a.name for a in goal.members]
        return goal.holds([values[n] for n in names], [truth[n] for n in names] if goal.depends_on_truth else None)
    name = goal.attribute.name
    if isinstance(goal, Exactly):
        return values[name] == truth[name]
    if isinstance(goal, Among):
        return np.isin(values[name], as_array(goal.values))
    points = np.asarray(values[name], dtype=float)
    return np.any([(points >= lo) & (points <= hi) for lo, hi in goal.edges(truth.get(name, math.nan))], axis=0)


def goal_edges(goal: Goal, truth: Mapping[str, Any]) -> dict[str, list[float]]:
    """Where a goal begins and ends on each line of numbers."""
    if isinstance(goal, Compound):
        found: dict[str, list[float]] = {}
        for part in goal.parts:
            for name, ends in goal_edges(part, truth).items():
                found.setdefault(name, []).extend(ends)
        return found
    if isinstance(goal, (Together, Exactly, Among)):
        return {}
    name = goal.attribute.name
    return {name: [float(end) for pair in goal.edges(truth.get(name, math.nan)) for end in pair]}


def goals_of(attacker: Attacker) -> list[Goal]:
    """The goal, or each of its alternatives where each is protected on its own."""
    return list(alternatives(attacker.goal)) if attacker.or_ == "each" else [attacker.goal]


def truths_of(attacker: Attacker, blocks: Sequence[BeliefBlock], most: int) -> list[dict[str, Any]]:
    """Values to guess: all of them where they are few, else a grid of quantiles; the stated truth among them."""
    if not attacker.goal.depends_on_truth:
        return [{}]
    wanted = [b for b in blocks if set(b.names) & set(attacker.names)]
    listed = math.prod(b.size for b in wanted if b.size is not None)
    lines = sum(b.lines for b in wanted)
    fine = max(4, int((most / min(listed, most)) ** (1 / lines))) if lines else 1
    rows: list[dict[str, Any]] = [{}]
    for block in wanted:
        cells, mass = block.cells(fine, {})
        if len(cells) > most:
            cells = [cells[i] for i in np.argsort(mass)[::-1][:most]]
        rows = [{**row, **dict(zip(block.names, cell, strict=True))} for row in rows for cell in cells]
        if len(rows) > 4 * most:
            rows = rows[:: len(rows) // most]
    stated = [] if attacker.at is None else [{**rows[0], **attacker.at}]
    return [*stated, *rows]


@dataclass(frozen=True)
class Guesser:
    """For each cell of outputs the guess, as a place in `truths`; a goal that is fixed is bet on or against."""

    mechanism: Any
    goal: Goal | None  # None: naming one of two tables
    truths: Sequence[Mapping[str, Any]]
    edges: Any
    guess: Any
    bets: bool

    def right(self, values: Values) -> Any:
        """victims × cells: whether the cell's guess is right about the victim."""
        return correct(self.goal, values, self.truths, self.bets)[:, self.guess]

    def success(self, answers: Any, right: Any) -> Any:
        """The exact probability of being right, for each victim whose table answers this without noise."""
        return np.sum(cell_chances(self.mechanism, self.edges, answers) * right, axis=1)

    def cell(self, outputs: Any) -> Any:
        """The cell of each output; an edge belongs to the cell below it."""
        return np.searchsorted(self.edges, outputs, side="left")


def correct(goal: Goal | None, values: Values, truths: Sequence[Mapping[str, Any]], bets: bool) -> Any:
    """victims × guesses: whether the guess is right."""
    if goal is None:
        named = next(iter(values.values()))
        return np.stack([named == t["table"] for t in truths], axis=1)
    if bets:
        inside = np.asarray(holds(goal, values, truths[0]), dtype=bool)
        return np.stack([~inside, inside], axis=1)
    return np.stack([np.asarray(holds(goal, values, t), dtype=bool) for t in truths], axis=1)


def train_guesser(
    mechanism: Any, goal: Goal | None, points: BeliefPoints, answers: Any, truths: Sequence[Mapping[str, Any]]
) -> Guesser:
    """The rule that is right most often, for an attacker who believes in `points`."""
    bets = goal is not None and not goal.depends_on_truth
    edges = output_edges(mechanism, float(np.min(answers)), float(np.max(answers)))
    fits = correct(goal, points.values, truths, bets).astype(np.float32)
    chances = cell_chances(mechanism, edges, answers) * points.weights[:, None]  # points × cells
    scores = chances.T.astype(np.float32) @ fits
    if bets:  # for or against, whichever became more likely than it was: more telling than the likelier one
        scores = scores / np.maximum(points.weights @ fits, 1e-30)
    return Guesser(mechanism, goal, truths, edges, np.argmax(scores, axis=1), bets)


def output_edges(mechanism: Any, low: float, high: float) -> Any:
    """Inner edges of the cells: dense where answers lie, thinning out with the noise."""
    tails = np.array([mechanism.error(confidence=1 - p) for p in np.geomspace(1e-3, 0.9, 24)])
    count = int(np.clip(8 * (high - low) / mechanism.scale, 40, MOST_CELLS))
    edges = np.concatenate([low - tails, np.linspace(low, high, count), high + tails])
    if mechanism.is_whole:
        edges = np.floor(edges) + 0.5
    return np.unique(edges)


def cell_chances(mechanism: Any, edges: Any, answers: Any) -> Any:
    """answers × cells: the probability of each cell, the first and last without end."""
    inner = np.asarray(mechanism.cdf(edges[None, :] - np.asarray(answers, dtype=float)[:, None]), dtype=float)
    ends = np.ones((len(inner), 1))
    return np.diff(np.concatenate([0 * ends, inner, ends], axis=1), axis=1)


def log_likelihood(mechanism: Any, outputs: Any, answers: Any) -> Any:
    """outputs × answers: ln of the noise's density, but for a constant, safe far out."""
    return mechanism.log_density(np.abs(outputs[:, None] - answers[None, :]))


def update_beliefs(
    mechanisms: Sequence[Any], outputs: Any, answers: Sequence[Any], weights: Any, fits: Any
) -> tuple[Any, Any]:
    """Belief in each guess after each output of all measurements together, and before any."""
    joint = point_beliefs(mechanisms, outputs, answers, weights)
    return joint @ fits, weights @ fits


def point_beliefs(mechanisms: Sequence[Any], outputs: Any, answers: Sequence[Any], weights: Any) -> Any:
    """outputs × points: the belief in each point after each output of all measurements together."""
    logs = sum(log_likelihood(m, outputs[:, j], answers[j]) for j, m in enumerate(mechanisms))
    joint = np.exp(logs - np.max(logs, axis=1, keepdims=True)) * weights
    return joint / joint.sum(axis=1, keepdims=True)


def grid_guesses(most: int, count: int) -> Any:
    """Places of at most `most` of `count` guesses, the first (a stated truth) among them."""
    return np.unique(np.concatenate([[0], np.linspace(0, count - 1, min(most, count)).round()]).astype(int))
