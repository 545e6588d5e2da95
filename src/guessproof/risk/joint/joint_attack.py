"""What is asked: attributes with their true values, a norm that joins their distances, and the axes behind it.

Attributes with priors of their own are axes themselves. Of two that are jointly normal, the second is t times the first
plus an independent rest: x = u, y = v + t·u. Distances along u and v at once are a norm of (|du|, |dv + t·du|), convex
in (du, dv), so that bounds at the corners of a box of displacements hold inside it. Where a distance is not straight,
its steepest slope bounds it from above.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from guessproof.errors import NotCertifiedError, ParameterError, TrueValueError
from guessproof.risk.combinations import true_value
from guessproof.risk.joint.formula import BeliefShift
from guessproof.risk.single import Pair, belief_of, true_values
from guessproof.world.attributes import Attribute, joint_of
from guessproof.world.checks import Array, Mask
from guessproof.world.finite import Finite
from guessproof.world.goals import Compound, Conditional, Goal, Norm, Not, Together, combine
from guessproof.world.joint import Joint, JointHistogram, JointNormal
from guessproof.world.line import LinePrior

LEAST_SLOPE = 1e-200  # stands for that of a distance that is 0 everywhere

Box = tuple[Any, Any]  # least and largest values
Gain = Callable[[float], Pair]  # k = +ε: the largest gain; k = −ε: the smallest


@dataclass(frozen=True)
class Part:
    """A block's prior, and its gain at k = ±ε."""

    log_p: float
    log_q: float
    gain: Gain

    def shift(self, k: float, which: int) -> BeliefShift:
        """The attack (0) or the bound (1) as a shift of belief; none where the goal is empty or certain."""
        is_open = k and min(self.log_p, self.log_q) > -np.inf
        return BeliefShift(self.log_p, self.log_q, self.gain(k)[which] if is_open else 0.0)


@dataclass(frozen=True)
class JointAttack:
    """The attributes of a goal, where the truth lies, and how distances join."""

    attributes: Mapping[str, Attribute]
    truth: Mapping[str, Any]
    norm: Norm
    kept: dict[Any, Any] = field(default_factory=dict[Any, Any], repr=False, compare=False)

    def __post_init__(self) -> None:
        for name, attribute in self.attributes.items():
            prior, value = attribute.prior, self.truth.get(name)
            if not isinstance(prior, (LinePrior, Finite)):
                problem = f"{name} has no prior, which several attributes need"
                raise ParameterError("prior", prior, problem, "give it one")
            if isinstance(value, (list, np.ndarray)) and np.ndim(value):
                problem = "several attributes need one true value each"
                raise TrueValueError(f"at[{name!r}]", value, problem, "ask one at a time")
            if name in self.truth:
                if isinstance(prior, Finite):
                    attribute.check_true(value)
                else:
                    true_values(attribute, prior, value)

    def once(self, key: Any, compute: Callable[[], Any]) -> Any:
        """What does not depend on epsilon, computed once."""
        if key not in self.kept:
            self.kept[key] = compute()
        return self.kept[key]

    def members(self, goal: Goal) -> tuple[Attribute, ...]:
        """The attributes of a goal as they stand in this joint attack, conditioned on what is known."""
        return tuple(self.attributes[a.name] for a in goal.attributes)

    def point(self, goal: Together) -> list[float] | None:
        """The true values of a goal about several numbers, or None where they do not matter."""
        if not goal.depends_on_truth:
            return None
        return [float(self.truth[a.name]) for a in goal.members]

    def single(self, goal: Goal) -> Part:
        """The exact answer for a goal about one attribute."""
        return self.once(("single", goal), lambda: self._single(goal))

    def _single(self, goal: Goal) -> Part:
        (attribute,), at = self.members(goal), true_value(goal, self.truth)
        prior = attribute.prior
        if isinstance(prior, Finite):
            chosen = goal.chosen(prior, at)
            shares = [chosen @ prior.mass, (1 - chosen) @ prior.mass]
        else:
            assert isinstance(prior, LinePrior)
            ends = np.array([-np.inf, *np.ravel(self.intervals(goal)), np.inf])
            mass = np.asarray(prior.mass(ends[:-1], ends[1:]))
            shares = [np.sum(mass[1::2]), np.sum(mass[::2])]
        if not np.all(shares):
            right, wrong = (0.0 if share > 0 else -np.inf for share in shares)
            return Part(right, wrong, lambda k: (0.0, 0.0))
        belief = belief_of(attribute, goal, at)

        def gain(k: float) -> Pair:
            attack, bound = belief.gain(np.asarray(float(k)))
            return float(attack), float(bound)

        return Part(float(belief.log_p), float(belief.log_q), gain)

    def intervals(self, goal: Goal) -> list[tuple[float, float]]:
        """The correct guesses of a goal about one attribute; of listed values, intervals that end between them."""
        prior, t = self.members(goal)[0].prior, true_value(goal, self.truth)
        if not isinstance(prior, Finite):
            return [(float(a), float(b)) for a, b in goal.edges(0.0 if t is None else t)]
        values, chosen = places(prior)[prior.mass > 0], goal.chosen(prior, t)[prior.mass > 0]
        ends = np.concatenate([[-np.inf], 0.5 * values[1:] + 0.5 * values[:-1], [np.inf]])
        turns = np.flatnonzero(np.diff(chosen > 0, prepend=False, append=False))
        return list(zip(ends[turns[::2]].tolist(), ends[turns[1::2]].tolist(), strict=True))

    def diameter(self, goal: Goal) -> float:
        """The largest distance between any two possible values."""
        return float(combine(self.norm, [span(a) for a in self.members(goal)]))


def span(attribute: Attribute) -> float:
    """Return an upper bound on the distance between two values of an attribute."""
    prior: Any = attribute.prior
    metric = attribute.distance
    if isinstance(prior, Finite) or getattr(prior, "values", ()):
        labels = np.array([*prior.values, None], dtype=object)[:-1]
        return float(np.max(metric.distance(labels[:, None], labels)))
    return metric.diameter(*prior.support)


def places(prior: Finite) -> Array:
    """Return the numbers of a finite prior, or the positions of its labels."""
    return prior.points if prior.is_line else np.arange(prior.mass.size, dtype=np.float64)


@dataclass(frozen=True, eq=False)
class Frame:
    """Axes that stand for attributes; all but the tilted ones are attributes themselves."""

    question: JointAttack
    axes: tuple[Attribute, ...]
    turn: Array  # takes signed distances along axes to distances of attributes
    tilts: tuple[
        tuple[int, int, float], ...
    ]  # (i, j, t): attribute i is axis i plus t times axis j
    is_straight: bool  # distances are exact, and not only bounds

    @property
    def lines(self) -> dict[int, LinePrior]:
        """The axes that are intervals, and not listed values."""
        priors = [axis.prior for axis in self.axes]
        return {i: prior for i, prior in enumerate(priors) if isinstance(prior, LinePrior)}

    @property
    def histogram(self) -> JointHistogram | None:
        """The joint histogram of both axes, where they depend on each other."""
        found = [j for j in shared_joints(self.axes) if isinstance(j, JointHistogram)]
        return found[0] if found else None

    def marks(self, goal: Goal, name: str) -> list[float]:
        """Values of an axis at which a goal begins or ends; none of tilted ones, along which it is not upright."""
        if name in [self.axes[i].name for i, _, _ in self.tilts]:
            return []
        found: list[float] = []
        for leaf in leaves(goal):
            names = [a.name for a in leaf.attributes]
            if name in names and isinstance(leaf, Together):
                found += leaf.marks(names.index(name), self.question.point(leaf))
            elif name in names:
                found += np.ravel(self.question.intervals(leaf)).tolist()
        return [x for x in found if np.isfinite(x)]

    def distance(self, parts: Sequence[Any]) -> Any:
        """The distance of a step whose signed length along each axis is given."""
        return combine(self.question.norm, [np.abs(row) for row in _rows(self.turn, parts)])

    def reach(self, parts: Sequence[Any]) -> Any:
        """The largest distance of a step of at most these lengths, either way."""
        return combine(self.question.norm, _rows(np.abs(self.turn), parts))

    def decided(self, goal: Goal, boxes: Any) -> tuple[Mask, Mask]:
        """Which boxes hold right guesses only, and which may hold any; least and largest values for each axis."""
        if isinstance(goal, Compound):
            found = [self.decided(part, boxes) for part in goal.parts]
            wholly, partly = (
                np.asarray(goal.rule(side, axis=0)) for side in zip(*found, strict=True)
            )
            return (partly, wholly) if isinstance(goal, Not) else (wholly, partly)
        names, values = [a.name for a in self.axes], list[Any](boxes)
        for i, j, tilt in self.tilts:
            ends = np.multiply(tilt, boxes[j])
            values[i] = boxes[i][0] + np.min(ends, axis=0), boxes[i][1] + np.max(ends, axis=0)
        lows, highs = zip(*(values[names.index(a.name)] for a in goal.attributes), strict=True)
        if isinstance(goal, Together):
            return goal.decided(lows, highs, self.question.point(goal))
        low, high = lows[0], highs[0]
        wholly = partly = np.zeros(np.shape(low), dtype=bool)
        for a, b in self.question.intervals(goal):
            wholly = wholly | ((low >= a) & (high <= b))
            partly = partly | ((high > a) & (low < b))  # an end that is shared has no mass
        return wholly, partly | wholly


def leaves(goal: Goal) -> list[Goal]:
    """Return the goals that a compound is made of, each once; what is known besides among them."""
    parts: Sequence[Goal] = ()
    if isinstance(goal, Conditional):
        parts = goal.goal, goal.region
    elif isinstance(goal, Compound):
        parts = goal.parts
    return list(dict.fromkeys(leaf for part in parts for leaf in leaves(part))) or [goal]


def shared_joints(members: Sequence[Attribute]) -> list[Joint]:
    """Return the joint priors that at least two of some attributes have in common."""
    found = [joint for a in members if (joint := joint_of(a)) is not None]
    return [
        joint for i, joint in enumerate(found) if any(joint is other for other in found[:i])
    ]


def frame_of(question: JointAttack, goal: Goal) -> Frame:
    """Return the axes behind the attributes of a goal."""
    members = question.members(goal)
    axes, names = list(members), [a.name for a in members]
    turn, tilts = np.eye(len(axes)), list[tuple[int, int, float]]()
    straight = all(isinstance(a.prior, Finite) or a.distance.line_form for a in members)
    for joint in shared_joints(members):
        if not isinstance(joint, JointNormal):
            continue
        j, i = (names.index(name) for name in joint.names)
        forms = [members[k].distance.line_form for k in (j, i)]
        known = [form for form in forms if form and not form.step and not any(form.jumps)]
        if len(known) < 2:
            raise NotCertifiedError(
                "distances with steps are not answered for jointly normal attributes; give a joint histogram"
            )
        straight &= all(form.is_straight and np.isinf(form.cap) for form in known)
        first, second = (max(*form.slopes, LEAST_SLOPE) for form in known)
        own, rest, tilt = joint.apart(joint.names[0])
        along = float(combine(question.norm, [first, second * abs(tilt)]))
        axes[j] = Attribute(members[j].name, own, 1 / along)
        axes[i] = Attribute(members[i].name, rest, 1 / second)
        turn[j, j], turn[i, j] = first / along, second * tilt / along
        tilts.append((i, j, tilt))
    return Frame(question, tuple(axes), turn, tuple(tilts), straight)


def _rows(turn: Array, parts: Sequence[Any]) -> list[Any]:
    """A matrix times a column of arrays; where it is 0, nothing is added for an infinite part."""
    return [
        sum(t * part for t, part in zip(row, parts, strict=True) if t) for row in turn.tolist()
    ]
