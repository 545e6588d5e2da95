"""The noise of an audit: drawn by the real sampler through the functions that a release uses, and counted."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from guessproof.auditing.counts import Compared, Counted, Fitted, measure_fit
from guessproof.auditing.plan import AuditPlan, CaseAttack, Progress
from guessproof.auditing.tables import Cell
from guessproof.choosing import Choice
from guessproof.noise import Noise
from guessproof.releasing import draw_numbers
from guessproof.sql.formula import Key

CHUNK, LEAST = 2000, 200
SHARE = 0.6  # of the draws that go to the two most distant tables; the rest meets the guesser
GLANCE = 4.0  # noise scales
BITS = (0, 8, 16, 24)  # places of the noise, in grid steps, that must look like coin flips
TAILS = (1e-3, 1e-2, *(0.05 * k for k in range(1, 20)))  # two-sided probabilities beyond the edges of bins


@dataclass(frozen=True)
class TrialCounts:
    """All that was counted, by measurement where it belongs to one."""

    guesses: dict[int, Counted]
    distinguished: dict[int, Counted]
    bins: dict[int, list[Counted]]
    fits: dict[int, list[Fitted]]
    bits: dict[int, list[Counted]]
    ratios: dict[int, list[Compared]]
    apart: list[Counted]
    outputs: dict[int, Any]  # by attack: trials × measurements, in units of the sums
    groups: dict[int, list[Counted]]  # for the plot: victims of similar exposure
    trials: int

    @property
    def tests(self) -> int:
        """How many tests share the false-alarm rate."""
        many = (*self.bins.values(), *self.fits.values(), *self.bits.values(), *self.ratios.values())
        return len(self.guesses) + len(self.distinguished) + len(self.apart) + sum(map(len, many))


class Watch:
    """Stops drawing when its time is over; how much was drawn never depends on what was drawn."""

    def __init__(self, seconds: float, clock: Any, progress: Progress) -> None:
        self.seconds, self.clock, self.progress = seconds, clock, progress
        self.started = clock()

    def chunks(self, count: int, start: float, end: float, words: str) -> Iterator[int]:
        """Sizes of chunks up to `count` draws, the first always, the rest until `end` of the time is used."""
        done = 0
        while done < count:
            size = min(CHUNK, count - done)
            yield size
            done += size
            used = (self.clock() - self.started) / self.seconds
            self.progress(start + (end - start) * min(1.0, max(done / count, (used - start) / (end - start))), words)
            if used >= end:
                return


@dataclass(frozen=True)
class Turn:
    """What is drawn for one measurement or one attack: how often at most, within which share of the time."""

    number: int  # of the measurement, or of the attack
    trials: int
    watch: Watch
    span: tuple[float, float]

    def chunks(self, count: int, words: str) -> Iterator[int]:
        """Sizes of chunks up to `count` draws, while there is time."""
        return self.watch.chunks(count, *self.span, words)


def play(audit_plan: AuditPlan, trials: int, watch: Watch) -> TrialCounts:
    """Draw and count."""
    choice = audit_plan.choice
    pairs = [(attack, index) for attack in audit_plan.attacks for index in attack.pairs]
    counts = TrialCounts({}, {}, {}, {}, {}, {}, [], {}, {}, 0)
    total = 0
    for turn, (attack, index) in enumerate(pairs):
        start, end = (SHARE * (turn + side) / len(pairs) for side in (0, 1))
        total += _neighbours(choice.noises[index], attack, Turn(index, trials, watch, (start, end)), counts)
    for turn, attack in enumerate(audit_plan.attacks):
        start, end = (SHARE + (1 - SHARE) * (turn + side) / len(audit_plan.attacks) for side in (0, 1))
        count = max(LEAST, round(trials * (1 - SHARE) / len(audit_plan.attacks)))
        total += _trials(choice, attack, Turn(turn, count, watch, (start, end)), counts)
    return replace(counts, trials=total)


# Two neighbouring tables: the law of the noise, its low bits, likelihood ratios.


def _neighbours(noise: Noise, attack: CaseAttack, turn: Turn, counts: TrialCounts) -> int:
    tables = measured_pair(noise, attack, turn.number)
    return count_pair(noise, [(_unit(noise, cell), plain) for cell, plain in tables], turn, counts)


def count_pair(noise: Noise, tables: Sequence[tuple[int, float]], turn: Turn, counts: TrialCounts) -> int:
    """Noise on the engine's whole numbers of two tables, beside what each answer is by other means."""
    (near, _), (far, _) = tables
    centres = [plain for _, plain in tables]
    sizes = turn.chunks(max(LEAST, round(turn.trials * SHARE / 2)), "drawing noise on two tables")
    half = [(noise.draw([near] * size), noise.draw([far] * size)) for size in sizes]
    drawn = [[unit for chunk in half for unit in chunk[side]] for side in (0, 1)]
    outputs = [np.array([noise.grid.value(u) for u in units]) for units in drawn]
    noises = [
        _values(noise, [u - noise.grid.units(centre) for u in units])
        for units, centre in zip(drawn, centres, strict=True)
    ]
    seen, index = np.concatenate(noises), turn.number
    counts.bins[index] = bins(noise, seen)
    counts.fits[index] = [fit_of("noise alone", noise, seen)]
    steps = [u - near for u in drawn[0]] + [u - far for u in drawn[1]]
    counts.bits[index] = low_bits(noise, steps)
    counts.ratios[index] = ratios(noise, outputs, centres, [noise.grid.value(u) for u in (near, far)])
    counts.distinguished[index] = count_told_apart(noise, outputs, centres)
    counts.apart.extend(pair_draws(noise, seen, f"successive draws, {noise.measurement.text}"))
    return len(seen)


def measured_pair(noise: Noise, attack: CaseAttack, index: int) -> list[tuple[Cell, float]]:
    """The two tables that are compared: the most distant ones, unless they can be told apart at a glance.

    A likelihood ratio of e^10 is not measured in a few thousand draws, so a nearer pair of victims is taken then,
    the one whose distance is nearest to the noise scale.
    """
    ends = [
        (cells[index], attack.case.plain(index, victim).value)
        for cells, victim in zip(attack.pairs[index], attack.case.pairs[index], strict=True)
    ]
    scale = noise.mechanism.scale
    if abs(ends[0][1] - ends[1][1]) <= GLANCE * scale:
        return ends
    values = attack.plain[index]
    apart = np.abs(values[:, None] - values[None, :]) / scale
    with np.errstate(divide="ignore"):
        one, other = np.unravel_index(int(np.argmin(np.abs(np.log(apart)))), apart.shape)
    if not 0 < apart[one, other] <= GLANCE:
        return ends
    return [(attack.cells[i][index], float(values[i])) for i in (int(one), int(other))]


def fit_of(name: str, noise: Noise, seen: Any) -> Fitted:
    """How near noise comes to the law of its mechanism."""
    return measure_fit(name, seen, noise.mechanism, noise.mechanism.is_whole)


def _unit(noise: Noise, cell: Cell) -> int:
    return noise.grid.units(noise.measurement.contribution.absent) if cell[0] is None else cell[0]


def _values(noise: Noise, units: Sequence[int]) -> Any:
    return np.array([noise.grid.value(u) for u in units])


def noise_edges(noise: Noise) -> Any:
    """Edges of bins, chosen from the declared law alone."""
    reach = np.array([noise.mechanism.error(confidence=1 - p) for p in TAILS])
    if noise.mechanism.is_whole:
        return np.unique(np.concatenate([np.floor(reach) + 0.5, -np.floor(reach) - 0.5]))
    return np.unique(np.concatenate([reach, [0.0], -reach]))


def bins(noise: Noise, seen: Any) -> list[Counted]:
    """How much of the noise fell into each bin."""
    edges = noise_edges(noise)
    counts = np.bincount(np.searchsorted(edges, seen, side="left"), minlength=len(edges) + 1)
    chances = np.diff(np.concatenate([[0.0], np.asarray(noise.mechanism.cdf(edges), dtype=float), [1.0]]))
    shown = np.concatenate([[-np.inf], edges, [np.inf]])
    return [
        Counted(f"noise from {a:.4g} to {b:.4g}", int(n), len(seen), float(p))
        for a, b, n, p in zip(shown[:-1], shown[1:], counts, chances, strict=True)
        if 0 < p < 1
    ]


def low_bits(noise: Noise, steps: Sequence[int]) -> list[Counted]:
    """Whether each low place of the noise is 0 as often as it should: a gap there would tell answers apart."""
    width = noise.mechanism.scale / noise.grid.step
    found: list[Counted] = []
    for place in BITS:
        chance = 0.5 if width >= 2.0 ** (place + 12) else noise.mechanism.even_chance if place == 0 else None
        if chance is None:
            continue
        zeros = sum(1 for s in steps if not (s >> place) & 1)
        found.append(Counted(f"bit {place} of the noise is 0", zeros, len(steps), chance))
    return found


def count_told_apart(noise: Noise, outputs: Sequence[Any], centres: Sequence[float]) -> Counted:
    """How often the nearer of two equally likely tables is the right one: the best rule for two tables."""
    swap = centres[0] > centres[1]
    low, high = outputs[::-1] if swap else outputs
    edge = (centres[0] + centres[1]) / 2
    if noise.mechanism.is_whole:
        edge = np.floor(edge) + 0.5
    below = [float(noise.mechanism.cdf(edge - centre)) for centre in sorted(centres)]
    hits = int(np.sum(low <= edge)) + int(np.sum(high > edge))
    return Counted(noise.measurement.text, hits, len(low) + len(high), (below[0] + 1 - below[1]) / 2)


def ratios(noise: Noise, outputs: Sequence[Any], centres: Sequence[float], asked: Sequence[float]) -> list[Compared]:
    """Half-lines of outputs on both tables, in both directions.

    What is promised follows from D by plain arithmetic (`centres`); the half-lines begin where the engine's own
    answers (`asked`) lie, known before any noise is drawn, so that too large a move of the engine shows.
    """
    mechanism = noise.mechanism
    apart = abs(centres[0] - centres[1])
    by_distance = mechanism.epsilon * apart / mechanism.sensitivity + noise.step
    epsilon, delta = (mechanism.epsilon, noise.cost[1]) if mechanism.has_delta else (by_distance, 0.0)
    low, high = min(asked), max(asked)
    found: list[Compared] = []
    for away in (0.0, 0.7, 2.0):
        for name, seen in (
            (f"above {high + away * mechanism.scale:.6g}", [o >= high + away * mechanism.scale for o in outputs]),
            (f"below {low - away * mechanism.scale:.6g}", [o <= low - away * mechanism.scale for o in outputs]),
        ):
            hits = [int(s.sum()) for s in seen]
            sizes = (len(outputs[0]), len(outputs[1]))
            found.append(Compared(f"answers {name}", hits[0], hits[1], sizes, epsilon, delta))
            found.append(Compared(f"answers {name}", hits[1], hits[0], (sizes[1], sizes[0]), epsilon, delta))
    return found


# Independence.


def _marks(noise: Noise, seen: Any) -> list[tuple[str, Any, float]]:
    """Two yes-or-no readings of noise, with their probabilities: its side and its size."""
    mechanism = noise.mechanism
    middle = mechanism.error(confidence=0.5)
    inside = mechanism.confidence(within=middle)
    return [("side", seen <= 0, float(mechanism.cdf(0.0))), ("size", np.abs(seen) <= middle, float(inside))]


def agreements(name: str, one: tuple[Noise, Any], other: tuple[Noise, Any]) -> list[Counted]:
    """How often two noises have the same side, the same size; independent ones only by chance."""
    found: list[Counted] = []
    for (what, a, p), (_, b, q) in zip(_marks(*one), _marks(*other), strict=True):
        found.append(Counted(f"{name}: same {what}", int(np.sum(a == b)), len(a), p * q + (1 - p) * (1 - q)))
    return found


def pair_draws(noise: Noise, seen: Any, name: str) -> list[Counted]:
    """Draws in pairs that do not overlap, one after the other."""
    even = seen[: len(seen) // 2 * 2]
    return agreements(name, (noise, even[0::2]), (noise, even[1::2]))


# Trials: the release's own function, many answers a call.


def _trials(choice: Choice, attack: CaseAttack, turn: Turn, counts: TrialCounts) -> int:
    turns = np.resize(attack.turns, turn.trials)
    parts: list[Any] = []
    done = 0
    for size in turn.chunks(turn.trials, "playing the attacker"):
        parts.append(_release_batch(choice, attack, turns[done : done + size]))
        done += size
    outputs, turns = np.concatenate(parts), turns[:done]
    counts.outputs[turn.number] = outputs
    noises = choice.noises
    seen = [outputs[:, j] - attack.plain[j][turns] for j in range(len(noises))]
    for j in range(len(noises)):
        counts.apart.extend(pair_draws(noises[j], seen[j], f"successive answers, {noises[j].measurement.text}"))
        for k in range(max(0, j - 3), j):
            name = f"{noises[k].measurement.text} and {noises[j].measurement.text}"
            counts.apart.extend(agreements(name, (noises[k], seen[k]), (noises[j], seen[j])))
    for index in attack.strategies:
        counts.fits[index].append(fit_of("noise of whole answers", noises[index], seen[index]))
        _count_guesses(attack, index, outputs[:, index], turns, counts)
    return done * len(noises)


def _release_batch(choice: Choice, attack: CaseAttack, turns: Any) -> Any:
    """trials × measurements: noisy sums, drawn as a release draws them, with each trial as a group of its own."""
    names = tuple(map(str, range(len(turns))))
    question = replace(choice.question, keys=(Key("trial", "trial", names),))
    found = {(name,): attack.cells[turn] for name, turn in zip(names, turns, strict=True)}
    (rows,) = draw_numbers(replace(choice, asked=question), {"": found}).values()
    values = np.array([list(numbers.values()) for _, numbers in rows], dtype=float)
    for j, noise in enumerate(choice.noises):
        if noise.measurement.divisor != 1:  # an average: back to the sum, whose noise is declared
            counted = np.array([attack.cells[turn][j][1] or noise.measurement.divisor for turn in turns])
            values[:, j] *= counted
    return values


def _count_guesses(attack: CaseAttack, index: int, outputs: Any, turns: Any, counts: TrialCounts) -> None:
    strategy = attack.strategies[index]
    mine = ~np.isnan(strategy.success[turns])
    hits = strategy.right[turns[mine], strategy.guesser.cell(outputs[mine])]
    expected = strategy.success[turns[mine]]
    name = attack.case.question.measurements[index].text
    counts.guesses[index] = Counted(name, int(hits.sum()), len(hits), _inside(expected.mean()))
    order = np.argsort(expected, kind="stable")
    parts = np.array_split(order, min(10, len(np.unique(expected.round(12)))))
    counts.groups[index] = [Counted(name, int(hits[p].sum()), len(p), _inside(expected[p].mean())) for p in parts]


def _inside(chance: float) -> float:
    return float(min(max(chance, 0.0), 1.0))
