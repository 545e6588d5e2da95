"""Verify a bound on a belief without trusting the solver that found it.

A question is ε, independent attributes (a prior and a distance each), the norm that joins their distances, and a goal.
Attributes are cut into cells; a node k is a product of cells, with a mass F_k of which at most c_k lies in the goal,
and M_k is the mean of a likelihood L over it (at the hub the supremum of L). Privacy gives
M_i ≤ g_ij·M_j. If for a flow y ≥ 0

    (1 − q)·c_k − q·(F_k − c_k) + Σ_i g_ik·y_ik − Σ_j y_kj ≤ 0      for every node k,

then multiplying by M_k and summing gives (1 − q)·∫_G L f ≤ q·∫_rest L f: no posterior exceeds q. MATHEMATICS 2.10.

A certificate holds the question, the cuts, the flow and q. Masses, gains and rows are computed here, from the names and
parameters of priors, in interval arithmetic (python-flint): nothing of `world` or of a solver is imported. Nodes are
all that lies between cuts, from −∞ to ∞, so they cover every prior; cells that the goal may touch count as the goal.

| edge               | gain g                                                                                 |
|--------------------|----------------------------------------------------------------------------------------|
| one attribute moves| E_i e^{+ε·d(x, end)} ÷ E_j e^{−ε·d(x, end)} · e^{ε·gap}, ends those that face each other |
| several move       | e^c, c = ε·E[d] + 4·artanh(tanh(ε·diam_i/4)·tanh(ε·osc d/4)), coupled by quantiles       |
| node → hub → node  | 1 and e^{ε·cap}, where all distances have a cap                                        |

Trusted: this module, python-flint, padded floating point where several attributes move, and the question itself.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, reduce
from importlib import import_module
from itertools import pairwise, product
from typing import Any

import numpy as np

from guessproof.errors import NotCertifiedError

flint: Any = import_module("flint")  # has no types
arb, acb = flint.arb, flint.acb
Table = Mapping[str, Any]  # of what JSON holds
Pair = tuple[Any, Any]

PRECISION = 128  # bits: tilted normal masses lose about 30 of them at a rate of 10^4 per standard deviation
CLOSE = 2.0**-50  # relative error of integrals: means of cells are small differences of them
TINY = 2.0**-1000  # absolute error of integrals that are nearly 0
SMALL_RATE = 1e-6  # rate per cell at which a tilted integral gives a mean, 1e-6 of the cell too large at most
FAR = 60.0  # of a falling exponent: what lies beyond is weighed by between 0 and e^-60
NEXT = (
    2.0**-30
)  # share of a cell that counts as next to an end of the support, where densities may be infinite
SLICES = 256  # of a cell, where its quantiles are compared with those of another or a goal runs through it
PAD = 1e-12  # relative rounding of sums of a few hundred products in floating point
STEEPEST = 1 - 1e-4  # argument of artanh up to which its rounding is below PAD
ROUNDED = 1e-9  # of a total probability: weights are given in floating point
INF = math.inf
MALFORMED = LookupError, TypeError, ValueError, ArithmeticError, AttributeError


@dataclass(frozen=True)
class Certificate:
    """What proves that no posterior exceeds `posterior`: a question, cuts of its attributes, and a flow (i, j, y).

    >>> axis = {"prior": {"family": "finite", "values": [0.0, 1.0], "weights": [0.5, 0.5]}}
    >>> axis["metric"] = {"cuts": [], "slopes": [1.0], "jumps": [], "cap": None, "step": 0.0}
    >>> question = {"epsilon": 1.0, "norm": "linf", "axes": [axis], "goal": {"axis": 0, "intervals": [[1, 1]]}}
    >>> Certificate(question, ((),), ((1, 0, 0.13446),), 0.7311).check()
    0.7311
    """

    question: Table
    cuts: Sequence[Any]
    flow: Sequence[Any]
    posterior: float

    def check(self, question: Table | None = None) -> float:
        """Return the proven posterior, or raise NotCertifiedError; `question` is the one that is to be answered."""
        if question is not None and json.dumps(question) != json.dumps(self.question):
            raise NotCertifiedError("the certificate answers another question")
        with flint.ctx.workprec(PRECISION):
            try:
                _verify(self)
            except MALFORMED as error:
                raise NotCertifiedError(f"the certificate is malformed: {error!r}") from None
        return self.posterior

    def to_json(self) -> str:
        """Return the certificate as text."""
        return json.dumps(vars(self))

    @classmethod
    def from_json(cls, text: str) -> Certificate:
        """Return the certificate that `to_json` wrote; nothing of it is believed before `check`."""
        return cls(**json.loads(text))


def _verify(certificate: Certificate) -> None:
    _require(0 < _number(certificate.posterior) < 1, "the posterior is no probability")
    grid = NodeGrid(certificate.question, certificate.cuts)
    q = arb(certificate.posterior)
    rows = [(1 - q) * goal - q * rest for goal, rest in zip(grid.goal, grid.rest, strict=True)]
    rows.append(arb(0))  # the hub
    for i, j, y in certificate.flow:
        _require(min(i, j, _number(y)) >= 0, "an edge has no such node, or a negative flow")
        rows[i] -= y
        rows[j] += grid.gain(i, j) * y
    for k, row in enumerate(rows):
        _require(row <= 0, f"node {k} receives more than it can hold")


def _require(holds: bool, problem: str) -> None:
    if not holds:
        raise NotCertifiedError(f"the certificate proves nothing: {problem}")


def _number(value: Any) -> float:
    _require(
        type(value) in (int, float) and math.isfinite(value), f"{value!r} is no finite number"
    )
    return value


class NodeGrid:
    """The nodes of a question: products of the cells of its axes, the last axis running fastest, and then the hub."""

    def __init__(self, question: Table, cuts: Sequence[Any]) -> None:
        self.norm, self.wanted = question["norm"], question["goal"]
        self.epsilon = _number(question["epsilon"])
        _require(self.epsilon >= 0, "epsilon is negative")
        self.axes = [
            Axis(spec, own, self.epsilon)
            for spec, own in zip(question["axes"], cuts, strict=True)
        ]
        self.nodes = list(
            product(*[[(axis, i) for i in range(len(axis.cells))] for axis in self.axes])
        )
        # With a step s between any two values, e^{−εs}·L ≤ L′ ≤ L for some L′ that is private without the step.
        raised = self._factor([axis.step for axis in self.axes])
        self.goal, self.rest = list[Any](), list[Any]()
        for node in self.nodes:
            mass: Any = math.prod([axis.masses[i] for axis, i in node], start=arb(1))
            share = arb(self._share(node)) if mass > 0 else arb(1)
            self.goal.append((mass * share * raised).upper())
            self.rest.append((mass * (1 - share)).lower())
        total = sum(self.rest, sum(self.goal, arb(0)) / raised)
        _require(abs(total - 1) < ROUNDED, "the masses do not add up to 1")

    def _factor(self, distances: Sequence[float]) -> Any:
        """How much larger L can be at a point than at another one whose values have these distances."""
        return (arb(self.epsilon) * norm_of(self.norm, distances)).exp().upper()

    def gain(self, i: int, j: int) -> Any:
        """Return a g for which M_i ≤ g·M_j holds, without a radius."""
        hub = len(self.nodes)
        if hub in (i, j):
            return arb(1) if j == hub else self._factor([axis.cap for axis in self.axes])
        moving = [
            (axis, a, b)
            for (axis, a), (_, b) in zip(self.nodes[i], self.nodes[j], strict=True)
            if a != b
        ]
        axis, a, b = moving[0]
        if len(moving) == 1 and not axis.table:
            return axis.gain(a, b).upper()
        # A norm is convex: its mean is at most that over the corners of the ranges, by weights that keep the means.
        least, mean, most = np.array([axis.move(a, b) for axis, a, b in moving]).T
        upward = np.clip((mean - least) / np.maximum(most - least, TINY), 0, 1)
        corners = np.array(list(product((False, True), repeat=len(moving))))
        weights = np.prod(np.where(corners, upward, 1 - upward), axis=1)
        norms = self.epsilon * norm_of(self.norm, np.where(corners, most, least).T)
        width = self.epsilon * norm_of(self.norm, [axis.diameters[a] for axis, a, _ in moving])
        second = math.tanh(width / 4) * math.tanh((norms[-1] - norms[0]) / 4)
        _require(second < STEEPEST, "a likelihood varies too much in a cell")
        shift = min(weights @ norms + 4 * math.atanh(second), norms[-1])
        return arb(shift * (1 + PAD) + PAD).exp().upper()

    def _share(self, node: Sequence[Any]) -> float:
        """What share of the likelihood of a node the goal can hold, at most."""
        wholly, partly = _decide(self.wanted, [axis.cells[i] for axis, i in node])
        width = self.epsilon * norm_of(self.norm, [axis.diameters[i] for axis, i in node])
        if wholly or not partly or len(node) == 1 or not math.isfinite(width):
            return float(partly)
        ends, below = zip(*[axis.slices(i) for axis, i in node], strict=True)
        boxes = zip(
            np.ix_(*[x[:-1] for x in ends]), np.ix_(*[x[1:] for x in ends]), strict=True
        )
        touched = _decide(self.wanted, list(boxes))[1] * reduce(
            np.multiply, np.ix_(*map(np.diff, below))
        )
        share = min(1.0, float(np.sum(touched)) + PAD)
        return min(1.0, share / (share + (1 - share) * math.exp(-width)) * (1 + PAD))


def norm_of(norm: str, parts: Sequence[Any]) -> Any:
    """Return a norm of distances, rounded up: "linf", or "l" and a number of at least 1."""
    power, largest = float(norm[1:]), reduce(np.maximum, parts)
    _require(power >= 1, "the norm is none")
    if power == INF:
        return largest
    unit = np.where((largest > 0) & (largest < INF), largest, 1.0)
    return unit * sum((part / unit) ** power for part in parts) ** (1 / power) * (1 + PAD)


def _decide(goal: Table, box: Sequence[Any]) -> Pair:
    """Whether boxes in a node lie wholly in a goal, and whether a part of them may."""
    if "not" in goal:
        wholly, partly = _decide(goal["not"], box)
        return np.logical_not(partly), np.logical_not(wholly)
    for key, join in ("all", np.logical_and), ("any", np.logical_or):
        if key in goal:
            wholly, partly = zip(*[_decide(part, box) for part in goal[key]], strict=True)
            return reduce(join, wholly), reduce(join, partly)
    if "near" in goal:
        sides = [
            (low - _number(t), t - high)
            for (low, high), t in zip(box, goal["near"], strict=True)
        ]
        near = norm_of(
            goal["by"], [np.maximum(np.maximum(below, above), 0.0) for below, above in sides]
        )
        far = norm_of(goal["by"], [np.maximum(-below, -above) for below, above in sides])
        return far <= _number(goal["radius"]), near * (1 - 3 * PAD) <= goal["radius"]
    low, high = box[goal["axis"]]
    ends = [
        (-INF if a is None else _number(a), INF if b is None else _number(b))
        for a, b in goal["intervals"]
    ]
    wholly = reduce(np.logical_or, [(a <= low) & (high <= b) for a, b in ends])
    return wholly, wholly | reduce(np.logical_or, [(a < high) & (low < b) for a, b in ends])


class Axis:
    """One attribute cut into cells; each value of a finite prior is one."""

    def __init__(self, spec: Table, cuts: Sequence[float], epsilon: float) -> None:
        prior, self.metric, self.epsilon = spec["prior"], spec["metric"], epsilon
        self.table, self.step = self.metric.get("table"), _number(self.metric["step"])
        self.cap = INF if self.metric["cap"] is None else _number(self.metric["cap"])
        bends = self.metric["cuts"]
        if prior["family"] == "finite":
            self.cells = [(value, value) for value in prior["values"]]
            self.masses = [arb(_number(weight)) for weight in prior["weights"]]
        else:
            self.laws = laws(prior)
            ends = [
                min(law.low for law in self.laws),
                *map(_number, cuts),
                max(law.high for law in self.laws),
            ]
            self.cells = list(pairwise(ends))
            _require(
                all(low < high for low, high in self.cells), "cuts do not rise within the prior"
            )
            inner = [x for x in bends if ends[0] < x < ends[-1]]
            _require(set(inner) <= set(cuts), "the distance bends inside a cell")
            self.masses = [self._tilted(0, low, high, 0.0) for low, high in self.cells]
        # ψ has a slope in each cell, 0 at a single value; distances are differences of ψ.
        self.slopes = [
            self.metric["slopes"][sum(bend <= low for bend in bends)] * (low < high)
            for low, high in self.cells
        ]
        # Rounded up; not a number where a cell is infinite and flat.
        self.diameters = [
            slope * (b - a) * (1 + PAD)
            for slope, (a, b) in zip(self.slopes, self.cells, strict=True)
        ]
        self.gain: Any = cache(self._gain)
        self.slices: Any = cache(self._slices)
        self.move: Any = cache(self._move)

    def _tilted(self, rate: Any, low: float, high: float, anchor: float) -> Any:
        return sum((law.tilted(arb(rate), low, high, anchor) for law in self.laws), arb(0))

    def _gap(self, i: int, j: int) -> Any:
        """The distance between two cells, of which the second lies above."""
        (_, low), (high, end) = self.cells[i], self.cells[j]
        _require(low <= high, "cells overlap")
        cuts, total = self.metric["cuts"], arb(0)
        for start, stop, slope in zip(
            [-INF, *cuts], [*cuts, INF], self.metric["slopes"], strict=True
        ):
            near, far = max(start, low), min(stop, high)
            if slope and near < far:
                total += arb(slope) * (arb(far) - near)
        for cut, jump in zip(cuts, self.metric["jumps"], strict=True):
            if low <= cut < high or (cut == high < end):  # a value at a jump lies below it
                total += jump
        return total

    def _tilt(self, i: int, rate: Any, is_right: bool) -> Any:
        """The mean over a cell of e^{rate·(ψ(x) − ψ(end))}, for its left or its right end."""
        if not self.slopes[i]:
            return arb(1)
        return (
            self._tilted(arb(rate) * self.slopes[i], *self.cells[i], self.cells[i][is_right])
            / self.masses[i]
        )

    def _gain(self, i: int, j: int) -> Any:
        """Enclose a g for which M_i ≤ g·M_j holds where this attribute alone differs."""
        rises = self.cells[i][1] <= self.cells[j][0]
        gap, rate = (
            (self._gap(i, j), -self.epsilon) if rises else (self._gap(j, i), self.epsilon)
        )
        return (
            self._tilt(i, rate, rises)
            / self._tilt(j, rate, not rises)
            * (self.epsilon * gap).exp()
        )

    def _slices(self, i: int) -> Pair:
        """Ends of equal slices of a cell, and the share of the cell below each; a value is its only slice."""
        low, high = self.cells[i]
        if low == high:
            return np.array(self.cells[i]), np.array([0.0, 1.0])
        _require(math.isfinite(high - low) and self.masses[i] > 0, "a cell without quantiles")
        ends = np.linspace(low, high, SLICES + 1)
        shares = [
            float(self._tilted(0, a, b, 0.0) / self.masses[i])
            for a, b in pairwise(ends.tolist())
        ]
        return ends, np.append(0.0, np.cumsum(shares))

    def _move(self, i: int, j: int) -> Sequence[float]:
        """Least, mean (at most) and most of the distances between equal quantiles of two cells."""
        if self.table:
            return [_number(self.table[i][j])] * 3
        if self.cells[j] < self.cells[i]:
            return self.move(j, i)
        (x, below), (y, other) = self.slices(i), self.slices(j)
        gap = float(self._gap(i, j).upper())
        x, y = self.slopes[i] * (x - x[-1])[:, None], gap + self.slopes[j] * (y - y[0])
        below = below[:, None]
        meet = (below[:-1] <= other[1:] + PAD) & (
            other[:-1] <= below[1:] + PAD
        )  # slices that share a quantile
        least = float(np.min(np.where(meet, y[:-1] - x[1:], INF)))
        most = float(np.max(np.where(meet, y[1:] - x[:-1], 0.0)))
        _require(least <= most, "a cell without quantiles")
        mean = gap + self._mean(i, True) + self._mean(j, False)
        return max(least, 0.0), min(max(mean, least), most), most

    def _mean(self, i: int, is_right: bool) -> float:
        """The mean distance from an end of a cell, at most."""
        rate = SMALL_RATE / (self.diameters[i] or 1.0)
        return float(self._tilt(i, -rate if is_right else rate, is_right).log().upper()) / rate


@dataclass(frozen=True)
class PriorLaw:
    """A share of a prior: `weight` times the law of start + scale·z, z of a standard family, between low and high."""

    family: str
    start: Any
    scale: Any
    shape: Sequence[Any]
    low: float = -INF
    high: float = INF
    weight: Any = 1

    def mass(self, low: float, high: float) -> Any:
        """The probability between two points, from the side on which less lies beyond."""
        (below, above), (until, beyond) = self._tails(low), self._tails(high)
        return above - beyond if below > above else until - below

    def _tails(self, x: float) -> Pair:
        if not math.isfinite(x):
            return arb(x > 0), arb(x < 0)
        tails = TAILS[self.family]((arb(x) - self.start) / self.scale, *map(arb, self.shape))
        return tails if self.scale > 0 else tails[::-1]

    def tilted(self, rate: Any, low: float, high: float, anchor: float) -> Any:
        """Enclose ∫ e^{rate·(x − anchor)} f(x) dx from low to high; what is infinite or unknown is not a number."""
        low, high = max(low, self.low), min(high, self.high)
        if not low < high:
            return arb(0)
        if rate == 0:
            return self.weight * self.mass(low, high)
        moment = rate * self.scale
        factor = self.weight * (rate * (self.start - arb(anchor))).exp()
        if self.family == "normal":  # tilting moves it
            moved = replace(self, start=self.start + moment * self.scale)
            return factor * (moment**2 / 2).exp() * moved.mass(low, high)
        if self.family == "gamma" and moment < 1:  # tilting stretches it
            stretched = replace(self, scale=self.scale / (1 - moment))
            return factor / (1 - moment) ** arb(self.shape[0]) * stretched.mass(low, high)
        return self.weight * self._integral(rate, low, high, anchor)

    def _integral(self, rate: Any, low: float, high: float, anchor: float) -> Any:
        """The same by rigorous quadrature; next to an end of the support, and far out, e^{rate·x} is at its ends."""

        def weight(x: float) -> Any:
            return (rate * (arb(x) - anchor)).exp()

        def density(x: Any, _: bool) -> Any:
            z = (x - self.start) / arb(self.scale)
            return (
                rate * (x - anchor) + LOG_DENSITIES[self.family](z, *map(arb, self.shape))
            ).exp()

        reach = FAR / float(abs(rate))
        near = low if math.isfinite(low) else high - reach
        far = high if math.isfinite(high) else near + reach
        margin = NEXT * (far - near)
        near, far = near + margin * (near == self.low), far - margin * (far == self.high)
        _require(low <= near < far <= high, "a cell is too wide or too narrow")
        total = acb.integral(density, near, far, rel_tol=CLOSE, abs_tol=TINY).real / abs(
            arb(self.scale)
        )
        for a, b in ((low, near), (far, high)):
            if a < b:
                total += self.mass(a, b) * weight(a).union(weight(b))
        return total


def _normal_tails(z: Any) -> Pair:
    z /= arb(2).sqrt()
    return (-z).erfc() / 2, z.erfc() / 2


def _student_tails(z: Any, df: Any) -> Pair:
    half = (df / (df + z * z)).beta_lower(df / 2, arb(1) / 2, 1) / 2
    return (1 - half, half) if z > 0 else (half, 1 - half)


def _log_power(z: Any, k: Any) -> Any:
    """ln z^{k − 1}, which is analytic everywhere if k = 1."""
    return (k - 1) * z.log(True) if k != 1 else acb(0)


# Of standard families: the probabilities below and above z, and ln of the density at a complex z, where it is needed.
TAILS: Table = {
    "normal": _normal_tails,
    "lognormal": lambda z, sd: _normal_tails(z.log() / sd) if z > 0 else (arb(0), arb(1)),
    "student_t": _student_tails,
    "gamma": lambda z, k: (z.gamma_lower(k, 1), z.gamma_upper(k, 1)),
    "beta": lambda z, a, b: (z.beta_lower(a, b, 1), (1 - z).beta_lower(b, a, 1)),
}
LOG_DENSITIES: Table = {
    "lognormal": lambda z, sd: (
        -((z.log(True) / sd) ** 2) / 2 - z.log(True) - (sd * (2 * arb.pi()).sqrt()).log()
    ),
    "student_t": lambda z, df: (
        ((df + 1) / 2).lgamma()
        - (df / 2).lgamma()
        - (df * arb.pi()).log() / 2
        - (df + 1) / 2 * (1 + z * z / df).log(True)
    ),
    "gamma": lambda z, k: _log_power(z, k) - z - k.lgamma(),
    "beta": lambda z, a, b: (
        _log_power(z, a) + _log_power(1 - z, b) + (a + b).lgamma() - a.lgamma() - b.lgamma()
    ),
}
# Families of priors in terms of standard ones.
LAWS: Table = {
    "normal": lambda p: [PriorLaw("normal", p["mean"], p["sd"], ())],
    "student_t": lambda p: [PriorLaw("student_t", p["mean"], p["scale"], (p["df"],))],
    "lognormal": lambda p: [PriorLaw("lognormal", 0.0, p["median"], (p["sd_log"],), 0.0)],
    "gamma": lambda p: [PriorLaw("gamma", 0.0, p["scale"], (p["shape"],), 0.0)],
    "exponential": lambda p: LAWS["gamma"]({**p, "shape": 1}),
    "laplace": lambda p: [
        PriorLaw("gamma", p["mean"], -p["scale"], (1,), high=p["mean"], weight=0.5),
        PriorLaw("gamma", p["mean"], p["scale"], (1,), low=p["mean"], weight=0.5),
    ],
    "beta": lambda p: [PriorLaw("beta", p["low"], arb(p["high"]) - p["low"], (p["a"], p["b"]), p["low"], p["high"])],
    "uniform": lambda p: LAWS["beta"]({**p, "a": 1, "b": 1}),
    "histogram": lambda p: laws({"family": "mixture", "weights": p["weights"], "parts": [
        {"family": "uniform", "low": a, "high": b} for a, b in pairwise(p["edges"])]}),
}  # fmt: skip


def laws(prior: Table) -> list[PriorLaw]:
    """Return the laws that a prior is a mixture of."""
    if prior["family"] == "mixture":
        parts = zip(prior["weights"], prior["parts"], strict=True)
        return [
            replace(law, weight=arb(law.weight) * weight)
            for weight, part in parts
            for law in laws(part)
        ]
    if prior["family"] != "truncated":
        return LAWS[prior["family"]](prior)
    low, high = prior["low"], prior["high"]
    inner = [
        replace(law, low=max(law.low, low), high=min(law.high, high))
        for law in laws(prior["base"])
    ]
    total = sum((law.tilted(arb(0), low, high, 0.0) for law in inner), arb(0))
    return [replace(law, weight=law.weight / total) for law in inner if law.low < law.high]
