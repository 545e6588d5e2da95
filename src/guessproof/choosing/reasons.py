"""Why this ε: the choice in words, and which single change of the plan would help."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from guessproof.choosing.choice import Change, Choice, Limit, given_truth
from guessproof.errors import GuessproofError
from guessproof.exposure import Exposure
from guessproof.noise import FollowingNoise, Noise, noise_for
from guessproof.plan import Plan
from guessproof.plan.table import MOST_TIMES
from guessproof.risk import Bracket
from guessproof.rounded import down, margin, near, points, rounded_down, rounded_up, up, within_bounds

if TYPE_CHECKING:
    from guessproof.choosing.chooser import Chooser


SHORT = 3  # digits of what is proposed
LEAST_SURE, MOST_SURE = 0.5, 0.99  # a confidence beyond these is no proposal
MOST_LEARNT = 0.9
MOST_NAMED = 3  # targets of which it is said what they take
Learnt = tuple[float, Bracket | None, Bracket | None]  # ε, advantage, belief


def changes(
    chooser: Chooser, exposure: Exposure | None, interval: tuple[float, float], learnt: Learnt
) -> Iterator[Change]:
    """Single changes of what was wished for, each of which alone would still let targets and limits meet.

    `learnt` is what the attacker learns at the ε that was chosen, where that is worked out already. Facts, as the
    number of rows, are not for changing.
    """
    needed, highest = interval
    if not chooser.required_epsilon or not math.isfinite(highest) or highest <= 0:
        return
    ratio = needed / highest
    noises = chooser.noises(highest)
    for output in chooser.asked.outputs:
        if output.name in chooser.targets and output.is_plain:
            yield from _accuracy_changes(chooser, output.name, noises[output.measured[0]])
    others = () if ratio <= 1 else chooser.limits(None)  # another attacker is no way out of a budget that is too small
    if exposure is not None and all(limit.epsilon >= needed for limit in others):
        yield from _risk_changes(chooser, exposure, needed, learnt)
    fewer = min(math.floor(chooser.times / ratio * (1 - 1e-9)), MOST_TIMES)
    if chooser.times > 1 and fewer >= 1 and (exposure is None or exposure.is_shared_evenly):
        yield Change("release.times", chooser.times, fewer, max(ratio, 1 / ratio))


def _accuracy_changes(chooser: Chooser, name: str, noise: Noise) -> Iterator[Change]:
    within, confidence = chooser.targets[name]
    there = noise.error(confidence)
    if there > 0:  # whole noise can be so small that the answer is exact, and there is nothing to ask for
        unit, factor = noise.unit or "within", max(there / within, within / there)
        yield Change(f"accuracy of {name}: {unit}", within, rounded_up(there, SHORT), factor)
    surely = noise.confidence(within)
    if LEAST_SURE <= surely <= MOST_SURE:
        factor = _odds_ratio(confidence, surely)
        yield Change(f"accuracy of {name}: confidence", confidence, rounded_down(surely, SHORT), factor)


def _risk_changes(chooser: Chooser, exposure: Exposure, needed: float, learnt: Learnt) -> Iterator[Change]:
    limits = chooser.plan.limits
    at, advantage, posterior = learnt if learnt[0] == needed else (needed, None, None)
    try:
        if limits.advantage is not None:
            there = float((advantage or exposure.advantage(at, limits.both)).bound)
            yield from _limit_change("advantage", limits.advantage, there)
        if limits.posterior is not None:
            there = float((posterior or exposure.posterior(at)).bound)
            yield from _limit_change("posterior", limits.posterior, there)
    except GuessproofError:
        return


def _limit_change(name: str, now: float, there: float) -> Iterator[Change]:
    if there <= MOST_LEARNT:  # beyond it the limit would be none
        yield Change(f"attacker: {name}", now, rounded_up(there, SHORT), there / now)


def _odds_ratio(a: float, b: float) -> float:
    one, other = a / (1 - a), b / (1 - b) if b < 1 else math.inf
    return max(one / other, other / one)


def binding_name(bounds: list[Limit], feasible: bool, fixed: float | None) -> str:
    if fixed is not None and feasible:
        return "fixed"
    above = [b for b in bounds if b.side == "at most"]
    below = [b for b in bounds if b.side == "at least"]
    if not feasible:
        return " and ".join(b.name for b in [*below, min(above, key=lambda b: b.epsilon)]) if above else "accuracy"
    return below[0].name if below else min(above, key=lambda b: b.epsilon).name


def limit_words(plan: Plan) -> str:
    attacker, limits = plan.attacker, plan.limits
    assert attacker is not None
    parts: list[str] = []
    if limits.advantage is not None:
        moves = "move" if limits.both else "rise"
        parts.append(f"the belief in “{attacker.goal}” may {moves} by {points(limits.advantage)}")
    if limits.posterior is not None:
        parts.append(f"the belief in “{attacker.goal}” may reach {100 * limits.posterior:g} %")
    wrong = attacker.prior_factor
    failing = attacker.failure
    text = " and ".join(parts) + (f", with odds misjudged by up to ×{wrong:g}" if wrong > 1 else "")
    return text + (f", except with probability {failing:g} {given_truth(plan)}" if failing is not None else "")


def target_words(targets: Mapping[str, tuple[float, float]], units: Mapping[str, str]) -> str:
    return "; ".join(
        f"{name} within {w:g}{' ' * (name in units)}{units.get(name, '')} with {c:.0%} confidence"
        for name, (w, c) in targets.items()
    )


def explain_choice(
    plan: Plan,
    bounds: list[Limit],
    epsilon: float,
    feasible: bool,
    interval: tuple[float, float],
    noises: tuple[Noise, ...],
    advantage: Bracket | None,
    changes: tuple[Change, ...],
    taken: Mapping[str, float],
) -> str:
    above = [b for b in bounds if b.side == "at most"]
    if not feasible:
        return _way_out(above, interval, changes, plan.release.epsilon, taken)
    if not math.isfinite(epsilon):
        return "No release can break these limits: they do not decide on ε. Set an accuracy target or release.epsilon."
    parts = [_reason(bounds, epsilon, interval, plan.release.epsilon)]
    times = plan.release.times
    if times > 1:
        cost = times * math.fsum(n.cost[0] for n in noises)
        parts.append(f"That is each of {times} releases; all of them cost ε = {up(cost)}, and the budget must hold it.")
    if advantage is not None:
        failure = None if plan.attacker is None else plan.attacker.failure
        but = "" if failure is None else f", except with probability {failure:g} {given_truth(plan)}"
        when = "then" if times == 1 else f"after all {times}"
        risen = f"rises by at most {points(float(advantage.bound))} ({advantage.status}){but}"
        parts.append(f"The attacker's belief {when} {risen}.")
    if len(noises) == 1:
        noise = noises[0]
        most = "at most " * noise.mechanism.follows_data
        parts.append(f"Noise of scale {most}{near(noise.scale, 6)}{' ' * bool(noise.unit)}{noise.unit} ({noise.name}).")
    parts += [advice for noise in noises for advice in _extreme_advice(noise)]
    return " ".join(parts)


def _extreme_advice(noise: Noise) -> Iterator[str]:
    """Which of the ways to an extreme is of use: noise of one scale, noise that follows the data, or ranks inside."""
    measurement, error = noise.measurement, noise.error(0.95)
    if measurement.kind in ("min", "max"):
        yield from _following_advice(noise)
    if measurement.kind in ("min", "max"):
        width = measurement.range.width
        if error >= width / 2:
            yield (
                f"{measurement.text} is of little use so: its range is {width:g} wide and 95 % of answers lie within "
                f"{margin(error)}. Picked by rank it would be: declare step, and write ranks_inside = N under "
                "[release]."
            )
    inside = measurement.contribution.ranks_inside
    if inside and inside < error:
        yield (
            f"{measurement.text} aims {inside} ranks inside, and 95 % of answers lie within {margin(error)} ranks of "
            f"that: some will lie beyond every record. With ranks_inside = {math.ceil(error)} few would."
        )


def _following_advice(noise: Noise) -> Iterator[str]:
    """Which of two kinds of noise is likely the smaller one on an extreme, and at worst."""
    from guessproof.sql.aggregates.steep import flattened, steepened

    text = noise.measurement.text
    if noise.mechanism.follows_data:
        following, other = noise, noise_for(flattened(noise.measurement), noise.mechanism.epsilon)
    else:
        steep = steepened(noise.measurement)
        if steep is None:
            return
        following, other = noise_for(steep, noise.mechanism.epsilon), noise
    assert isinstance(following, FollowingNoise)
    likely, at_worst, fixed = (
        margin(e) for e in (following.likely_error(0.95), following.error(0.95), other.error(0.95))
    )
    smaller = following.likely_error(0.95) < other.error(0.95)
    compared = (
        f"on tables spread evenly over what is declared, 95 % of answers lie within {likely} with noise that follows "
        f"the data ({at_worst} at worst), and within {fixed} with {other.name} noise"
    )
    if smaller and not noise.mechanism.follows_data:
        yield f"{text}: {compared}. For the former write smooth = true under [release]."
    elif noise.mechanism.follows_data:
        yield f"{text}: {compared}.{'' if smaller else ' Leave smooth out for the latter.'}"


def _reason(bounds: list[Limit], epsilon: float, interval: tuple[float, float], fixed: float | None) -> str:
    shown = within_bounds(epsilon, *interval)
    if fixed is not None:
        return f"ε = {shown}, as the plan fixes it."
    if interval[0]:
        room = "" if math.isinf(interval[1]) else f"; the limits would allow {down(interval[1])}"
        return f"ε = {shown}: the least that meets the accuracy{room}."
    name = min((b for b in bounds if b.side == "at most"), key=lambda b: b.epsilon).name
    text = f"ε = {shown}: the most that the limits allow ({name} binds), as no accuracy is asked for."
    if name == "budget":  # a release never follows what happens to be left, or asking again would cost again
        others = min((b.epsilon for b in bounds if b.side == "at most" and b.name != name), default=math.inf)
        allowed = "nothing would limit ε" if math.isinf(others) else f"they would allow {down(others)}"
        text += f" Without it {allowed}. {take_what_is_left(shown)}."
    return text


def headline(choice: Choice) -> str:
    """The ε of a feasible choice and what decided on it, in a sentence or two."""
    return _reason(list(choice.limits), choice.epsilon, choice.interval, choice.plan.release.epsilon)


def take_what_is_left(shown: str) -> str:
    """How a plan gets the ε that its budget has left."""
    return f"To release with what is left, write epsilon = {shown} under [release]"


def _way_out(
    above: list[Limit],
    interval: tuple[float, float],
    changes: tuple[Change, ...],
    fixed: float | None,
    taken: Mapping[str, float],
) -> str:
    needed, highest = interval
    if fixed is not None:
        allowed = f"{down(needed)} … {down(highest)}"
        return f"release.epsilon = {fixed:g} lies outside what the limits and targets allow, {allowed}."
    if highest <= 0:
        return (
            "No noise is enough: the limit is already reached before any release. Allow more: under [risk] a ratio "
            "above 1, under [attacker] a higher belief or a narrower goal."
        )
    name = min(above, key=lambda b: b.epsilon).name
    text = (
        f"Nothing is feasible: the accuracy needs ε ≥ {up(needed)}, but {name} allows at most {down(highest)}, "
        f"{up(needed / highest)} times less."
    )
    if len(taken) > 1:
        most = [f"{name} takes {share:.0%}" for name, share in list(taken.items())[:MOST_NAMED]]
        text += f" Of the ε that is needed {', '.join(most)}."
    if changes:
        best = min(changes, key=lambda c: c.factor)
        return text + f" The smallest change that helps: {best.what} {best.then} instead of {best.now}."
    return text + " No single change of the plan helps: ask for a larger error and allow more together."
