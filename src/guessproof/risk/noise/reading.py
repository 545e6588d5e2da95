"""What one answer with normal noise, beside releases with a pure guarantee, lets an attacker believe of one number.

Given a true value t, answers are drawn around ψ(t). `failure` is how probable an answer may be that breaks what is
said, given the worst true value; without it everything holds for every answer. A pure guarantee |s(x) − s(x′)| of other
releases multiplies likelihoods by a tent e^{−|s(x)−s(c)|} at worst, whatever the prior; its logarithm changes the
log-odds by at most twice what s(c) does, so a grid of peaks bounds all of them.

For true values from t₁ to t₂ the belief is at most that in the union of their goals, the belief before at least that in
their intersection, and every answer at most as probable as for the true value nearest to it. Cells of true values that
cannot beat the best one found are left alone, the others divided.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal

import numpy as np

from guessproof.errors import (
    GoalError,
    InfeasibleError,
    MetricError,
    NotCertifiedError,
    ParameterError,
)
from guessproof.risk.attack import Attack
from guessproof.risk.bracket import Bracket
from guessproof.risk.limits import checked_limits, largest_epsilon
from guessproof.risk.noise.view import NORMAL, Cells, View, cells_of
from guessproof.world import Attribute, Finite, Goal, Inside, LineForm, LinePrior, Within
from guessproof.world.checks import Array, positive, real
from guessproof.world.special import expit

FLAT = LineForm()
HOW = "normal noise, outputs in cells"
PEAKS = 24  # of the tents of a pure guarantee
WIDTH = 0.2  # of cells of values, in units of the noise
FIRST = 48  # cells of true values
DIVIDED = 4  # into which one is divided
MOST_CELLS = 1000  # of true values at once
BESIDE = 64.0  # spacings of numbers: how far beside a value the goal no longer holds it
CLOSE = 0.01  # relative, for the worst true value
WIDEST = 400.0  # answers that vary by more, in units of the noise: no belief is promised

BULK = np.array(
    [0.1, 0.9]
)  # quantiles: the search for noise starts where this is about one unit wide
NARROW = 1e-4  # relative, of the least noise
HOPELESS = 1e6  # noise, in units of the first guess, that no limit needs
LEAST_FAILURE = 1e-30
LEAST = 1e-300  # a limit that is as good as 0

What = Literal["rise", "both", "posterior"]


@dataclass(frozen=True)
class GaussianReading:
    """One number, what is believed of it, and an answer ψ(x) + normal noise of standard deviation 1."""

    attribute: Attribute
    goal: Goal
    at: float | None
    response: LineForm
    pure: LineForm = FLAT
    slack: float = 0.0  # how far rounding may move a belief

    def __post_init__(self) -> None:
        prior, goal = self.attribute.prior, self.goal
        if not isinstance(prior, LinePrior) and not (
            isinstance(prior, Finite) and prior.is_line
        ):
            problem = "what Gaussian noise tells depends on the whole prior of a number"
            raise ParameterError(
                "prior", prior, problem, "give a full prior, or use laplace noise"
            )
        if not isinstance(goal, (Within, Inside)) or len(goal.edges(0.0)) > 1:
            problem = "with Gaussian noise only a goal that is one interval of one number can be judged"
            raise GoalError("goal", goal, problem, "write it as within, or use laplace noise")

    def advantage(self, failure: float = 0.0, *, both: bool = False) -> Bracket:
        """How far the belief rises (with both: moves) but with this probability, given the worst true value."""
        return self._measured("both" if both else "rise", failure)

    def posterior(self, failure: float = 0.0) -> Bracket:
        """How high the belief gets but with this probability, given the worst true value."""
        return self._measured("posterior", failure)

    def failure(self, *, advantage: float, under_prior: bool = False) -> Bracket:
        """How probable an answer is that lifts the belief by more: given the stated truth, or with it drawn anew."""
        if self.at is None:
            problem = "this probability is about one true value"
            raise ParameterError("at", None, problem, "give the true value: at")
        view, _ = self._views(np.array([self.at]), np.array([self.at]))
        if under_prior:
            view = replace(view, is_drawn=True)
        low, high = view.failing(float(view.prior[0]) + advantage, self.slack)
        return Bracket.meet(low, max(low, high), HOW)

    def _views(self, left: Array, right: Array) -> tuple[View, View]:
        """The goals of true values from `left` to `right` through the noise: their union, and their intersection."""
        ends = *self.goal.edges(left)[0], *self.goal.edges(right)[0], left
        a, b, c, d = edges = np.broadcast_arrays(*ends)[:-1]
        cuts = *self.response.cuts, *self.pure.cuts
        prior: Any = self.attribute.prior
        cells = cells_of(prior, self.response.psi, edges, [left, right], cuts, WIDTH)
        first, past = cells.positions(a, d)
        least, most = self.response.psi([left, right])
        tilts, room = self._tents(cells, first, past)
        union = View(NORMAL, cells, first, past, least, most, tilts=tilts, room=room)
        first, past = cells.positions(c, b)
        return union, replace(union, first=first, past=past)

    def _tents(self, cells: Cells, first: Any, past: Any) -> tuple[Array, float]:
        """Tents with peaks at knots over the goals, and how much more the log-odds can be between them."""
        first, past = np.min(first), np.max(past)
        knots = self.pure.psi([*cells.left[first:past], *cells.right[past - 1 : past]])
        knots = np.unique(knots[np.isfinite(knots)])
        peaks = knots[np.linspace(0, knots.size - 1, min(knots.size, PEAKS + 1)).astype(int)]
        room = float(np.max(np.diff(peaks), initial=0.0))
        return -np.abs(self.pure.psi(cells.place) - peaks[:, None, None]), room

    def _measured(self, what: What, failure: float) -> Bracket:
        """How far the belief rises or moves, or how high it gets."""
        if self.at is None and (self.goal.depends_on_truth or failure):
            return self._worst(what, failure)
        at = np.array([self.at or 0.0])
        reached, bound = self._measure(at, at, what, failure)[:, 0]
        return Bracket.meet(np.clip(reached, 0.0, bound), bound, HOW)

    def _worst(self, what: What, failure: float) -> Bracket:
        """Branch and bound over true values: a cell that cannot beat the best one found is left alone."""
        (low, high), prior, goal = self.attribute.range, self.attribute.prior, self.goal
        if not np.isfinite(high - low):
            raise NotCertifiedError(
                "the worst true value may lie at infinity; declare bounds, or say at"
            )
        if self.response.psi(high) - self.response.psi(low) > WIDEST:
            return Bracket.meet(0.0, 1.0, HOW)
        left, right = _parts(np.array([low]), np.array([high]), FIRST)
        if isinstance(prior, Finite) and isinstance(goal, Within):
            # Between two values at which one becomes correct, or ceases to be, the goal holds the same.
            turns = np.clip(goal.turning_points(prior.points), low, high)
            turns = np.unique([low, high, *turns])
            gap = BESIDE * np.spacing(np.max(np.abs([low, high, *prior.points])))
            left, right = np.append(turns, turns[:-1] + gap), np.append(turns, turns[1:] - gap)
        worst, attack, closed = self, -1.0, 0.0
        while left.size:
            bounds = self._measure(left, right, what, failure)[1]
            most = np.argmax(bounds)
            tried = replace(self, at=float((left[most] + right[most]) / 2))
            reached = tried._measured(what, failure).attack
            if reached > attack:
                worst, attack = tried, float(reached)
            is_open = (bounds > max(attack * (1 + CLOSE), closed)) & (right > left)
            is_open &= DIVIDED * np.sum(is_open) <= MOST_CELLS
            closed = float(np.max(bounds[~is_open], initial=closed))
            left, right = _parts(left[is_open], right[is_open], DIVIDED)
        at = np.array([worst.at])
        before = float(worst._views(at, at)[0].prior[0])
        return Bracket.meet(
            min(attack, closed), closed, HOW, worst_at=worst.at, worst_prior=before
        )

    def _measure(self, left: Array, right: Array, what: What, failure: float) -> Array:
        """What is reached, if `left` is `right`, and never exceeded for true values between them."""
        union, meet = self._views(left, right)
        before = 0.0 if what == "posterior" else meet.prior
        found = expit(union.exceeded(failure)) - before
        if what == "both" and failure and self.pure.is_flat:
            missed = expit(replace(meet, is_missed=True).exceeded(failure))
            found = np.maximum(found, missed - 1 + union.prior)
        elif what == "both":
            # Some answer, or another release, tells that the goal is missed.
            found[1] = np.maximum(found[1], union.prior)
        return np.minimum(np.add(found, [[0.0], [self.slack]]), 1.0)


def _parts(left: Array, right: Array, parts: int) -> tuple[Array, Array]:
    """Divide intervals."""
    corners = np.linspace(left, right, parts + 1)
    return corners[:-1].ravel(), corners[1:].ravel()


@dataclass(frozen=True)
class GaussianAttack:
    """One attribute, and an answer that is linear in it but for what its metric clamps, plus normal noise.

    σ is in units of the attribute's distance. No figure holds for every answer where the goal holds an end of what the
    answer can be; `failure` then says how probable an answer that breaks it may be, given the worst true value.

    >>> from guessproof.world import Attribute, normal, within
    >>> alice = GaussianAttack(within(Attribute("time", prior=normal(20, 6.28)), 2), at={"time": 20})
    >>> round(alice.sigma(advantage=0.05), 3)
    9.238
    >>> round(alice.failure(sigma=3.73, advantage=0.05).bound, 2)
    0.76
    """

    goal: Goal
    at: Mapping[str, Any] | None = None
    knows: Mapping[str, Any] | None = None

    def __post_init__(self) -> None:
        if len(self.goal.attributes) > 1:
            problem = "speaks of several attributes, and Gaussian noise is judged for one"
            raise GoalError(
                "goal", self.goal, problem, "ask for one at a time, or use an ε (gp.Attack)"
            )
        if any(
            isinstance(a.prior, Finite) and not a.prior.is_line for a in self.goal.attributes
        ):
            problem = "speaks of labels, and Gaussian noise is judged for numbers"
            remedy = "give each label the number that it adds to the answer, such as 0 and 1, or use an ε (gp.Attack)"
            raise GoalError("goal", self.goal, problem, remedy)
        self._reading(1.0)

    @cached_property
    def _attack(self) -> Attack:
        return Attack(self.goal, self.at, self.knows)

    @property
    def prior(self) -> float:
        """The belief before the release."""
        return float(self._attack.prior)

    def posterior(self, *, sigma: float, failure: float = 0.0) -> Bracket:
        """How high the belief can get."""
        return self._reading(sigma).posterior(_checked_failure(failure))

    def advantage(self, *, sigma: float, failure: float = 0.0, both: bool = False) -> Bracket:
        """How far the belief can rise, or with both move."""
        return self._reading(sigma).advantage(_checked_failure(failure), both=both)

    def failure(self, *, sigma: float, advantage: float, under_prior: bool = False) -> Bracket:
        """How probable an answer is that lifts the belief by more than `advantage`, given the true value of `at`.

        `under_prior`: the truth is drawn from the prior, while the goal stays.
        """
        gain = real(ParameterError, "advantage", advantage)
        return self._reading(sigma).failure(advantage=gain, under_prior=under_prior)

    def sigma(
        self,
        *,
        advantage: float | None = None,
        posterior: float | None = None,
        failure: float = 0.0,
        both: bool = False,
    ) -> float:
        """The least standard deviation at which every limit is proven to hold; 0 where no answer can break them."""
        checked_limits(advantage, posterior)
        if self.at is not None:
            if advantage is not None and not both and advantage >= 1 - self.prior:
                advantage = 1.0  # no belief rises further
            if posterior is not None and self.prior >= posterior:
                before = f"posterior: the belief before any release is {self.prior:.6g}"
                raise InfeasibleError(f"{before}; allow more")
        limits = GainLimits(advantage, posterior, both, _checked_failure(failure))
        reading = self._reading(1.0)
        prior: Any = reading.attribute.prior
        bulk = prior.points if isinstance(prior, Finite) else prior.quantile(BULK)
        low, *_, high = reading.response.psi(bulk)
        return least_noise(self._reading, limits, max(float(high - low), LEAST))

    def _reading(self, sigma: Any) -> GaussianReading:
        attribute, at = self._attack.attribute, self.at or {}
        form = attribute.distance.line_form
        if form is None or form.step or np.isfinite(form.cap):
            problem = "Gaussian noise needs an answer that is a rising function of the number"
            remedy = "use Absolute(…) or Clamped(…)"
            raise MetricError("metric", attribute.distance, problem, remedy)
        truth = at.get(attribute.name, next(iter(at.values()), None))
        if truth is not None:
            truth = real(ParameterError, f"at[{attribute.name!r}]", truth)
        form = form.times(1 / positive(ParameterError, "sigma", sigma))
        return GaussianReading(attribute, self.goal, truth, form)


def _checked_failure(value: Any) -> float:
    """A probability of failing: 0, or between 0 and 1."""
    number = real(ParameterError, "failure", value)
    if not 0 <= number < 1 or 0 < number < LEAST_FAILURE:
        raise ParameterError(
            "failure",
            value,
            "is no probability from 1e-30, or 0, to 1",
            "give for instance 1e-6",
        )
    return number


@dataclass(frozen=True)
class GainLimits:
    """What the attacker may gain, and with which probability an answer may break that."""

    advantage: float | None = None
    posterior: float | None = None
    both: bool = False
    failure: float = 0.0


def least_noise(
    reading: Callable[[float], GaussianReading], limits: GainLimits, start: float
) -> float:
    """The least noise, near enough and on the private side; `reading` says what the attacker sees at one."""
    rise, most = limits.advantage, limits.posterior
    if (rise is None or rise >= 1) and (most is None or most >= 1):
        return 0.0

    def broken(epsilon: Array) -> Array:
        """The proven figures over the limits."""
        noise, found = 1 / float(epsilon), [0.0]
        if noise > HOPELESS * start:
            raise InfeasibleError(
                "no amount of Gaussian noise keeps these limits; say how probable an answer that breaks them may be "
                "(failure = 1e-6) or allow a larger failure, state the true value (at), or loosen the limit"
            )
        if noise * HOPELESS < start:
            return np.asarray(2.0)  # more noise than that is no loss
        seen = reading(noise)
        if rise is not None:
            bracket = seen.advantage(limits.failure, both=limits.both)
            found.append(float(bracket.bound) / max(rise, LEAST))
        if most is not None:
            found.append(float(seen.posterior(limits.failure).bound) / max(most, LEAST))
        return np.asarray(max(found))

    epsilon = largest_epsilon(broken, np.asarray(1.0), start=1 / start, relative=NARROW)
    return 1 / float(epsilon)
