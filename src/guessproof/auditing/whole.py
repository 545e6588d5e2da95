"""The audit of questions that one made-up table cannot play: databases that differ in one unit are asked whole.

What the attacker achieves follows from how far one unit moves the answers and from the law of the noise, so both are
held to what was promised: the first with the engine's own answers, the second with the release's own draws. Where the
plan states what he believes, that is played as well.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from guessproof.auditing.certain import ledger_check
from guessproof.auditing.counts import Compared, Counted
from guessproof.auditing.databases import Answers, make_factory, read_schema
from guessproof.auditing.neighbours import (
    NeighbourCase,
    cells_of,
    centre_of,
    measure_move,
    movement_checks,
    play_neighbours,
)
from guessproof.auditing.plan import Progress
from guessproof.auditing.result import Audit, Check
from guessproof.auditing.trials import GLANCE, LEAST, TrialCounts, Turn, Watch, agreements, bins, count_pair, fit_of
from guessproof.auditing.verdicts import pair_checks, points_of_plot
from guessproof.auditing.whole_beliefs import whole_belief_checks
from guessproof.choosing import Choice
from guessproof.noise import FollowingNoise, Noise
from guessproof.releasing import add_noise
from guessproof.sql.places import RankContribution
from guessproof.sql.rewrite import Cell

ANSWERS = 400  # whole releases of which each number is compared with its noise
RARE = 1e-3  # values that are picked less often are counted together
SHARE = 0.8  # of the time that goes to the noise of each number by itself


def audit_whole(
    choice: Choice, folder: Path, rng: Any, trials: int, seconds: float, false_alarm: float, progress: Progress
) -> Audit:
    """Neighbouring databases through the engine, then noise through the release's own functions."""
    schema = read_schema(choice)
    with make_factory(choice, schema, folder, rng) as factory:
        cases = play_neighbours(factory, rng, progress)
        beliefs = whole_belief_checks(factory, cases, rng, progress)
    watch = Watch(seconds, time.monotonic, progress)
    counts = _draw(choice, cases, trials, watch)
    _draw_answers(choice, cases[-1].answers[-1], watch, counts)
    tests = counts.tests + len(list(_thresholds(choice, cases, 0)))
    level = false_alarm / max(tests, 1)
    answers: Answers = {} if choice.asked.finds_groups else cases[-1].answers[-1]
    checks = (
        *movement_checks(choice, schema, cases),
        *pair_checks(choice.noises, counts, level),
        *_threshold_checks(choice, cases, min(trials, 20_000), level),
        *beliefs,
        ledger_check(choice, answers, folder),
    )
    progress(1.0, "done")
    drawn = sum(c.trials for c in (facts[0] for facts in counts.bins.values()))
    points = points_of_plot(choice.noises, counts)
    passed = all(check.verdict != "fail" for check in checks)
    notes = tuple(_notes(choice, factory.public))
    return Audit(passed, checks, false_alarm, tests, drawn, 0.0, 0, choice.cost, points, notes)


def _notes(choice: Choice, public: Any) -> Iterator[str]:
    yield "No value of the plan's source was read; databases and ledger were made up and are deleted."
    if public:
        yield (
            "Public tables were made up as the plan declares them, with as many matches as it allows; one in which a "
            "protected label is looked up was copied."
        )
    yield (
        "Real: reading the plan, choosing ε, rewriting the queries, DuckDB, the sampler, the step from numbers to "
        "noisy answers, the ledger. Columns are stored plainly, as numbers and texts."
    )


# Noise -------------------------------------------------------------------------------------------------------------


def _draw(choice: Choice, cases: Sequence[NeighbourCase], trials: int, watch: Watch) -> TrialCounts:
    counts = TrialCounts({}, {}, {}, {}, {}, {}, [], {}, {}, 0)
    for place, noise in enumerate(choice.noises):
        span = SHARE * place / len(choice.noises), SHARE * (place + 1) / len(choice.noises)
        turn, pair = Turn(place, trials, watch, span), telling_pair(choice, place, cases)
        if isinstance(noise, FollowingNoise):
            _draw_following(noise, pair, turn, counts)
        elif noise.measurement.picks:
            _draw_ranks(noise, pair, turn, counts)
        else:
            absent = noise.grid.units(noise.measurement.contribution.absent)
            units = [absent if cell[0] is None else int(cell[0]) for cell in pair]
            tables = [(unit, noise.grid.value(unit)) for unit in units]
            count_pair(noise, tables, turn, counts)
    return counts


def telling_pair(choice: Choice, place: int, cases: Sequence[NeighbourCase]) -> tuple[Cell, Cell]:
    """One group of two neighbours in which the answers are about a noise scale apart, where there is such a one."""
    noise, nothing = choice.noises[place], (None, None)
    scale = noise.mechanism.scale if not isinstance(noise, FollowingNoise) else noise.mechanism.sensitivity
    best: tuple[float, Cell, Cell] = (np.inf, nothing, nothing)
    for case in cases:
        found = [cells_of(choice, answers, place) for answers in case.answers]
        for one, other in case.pairs:
            for group in {*found[one], *found[other]}:
                cells = found[one].get(group, nothing), found[other].get(group, nothing)
                apart = measure_move(noise, {0: cells[0]}, {0: cells[1]}) / scale
                off = abs(np.log(apart)) if 0 < apart <= GLANCE else 1e3 + apart
                if off < best[0]:
                    best = (float(off), *cells)
    return best[1:]


def _draw_ranks(noise: Noise, pair: tuple[Cell, Cell], turn: Turn, counts: TrialCounts) -> None:
    """How often each value is picked, on both tables and against each other."""
    index, places, fine = turn.number, noise.measurement.contribution, noise.measurement.fine
    assert isinstance(places, RankContribution)
    values, parts = list(places.grid.values), places.aim.level.denominator * fine
    drawn: list[list[float]] = [[], []]
    for size in turn.chunks(max(LEAST, turn.trials // 4), "picking values by their ranks"):
        for side, cell in enumerate(pair):
            drawn[side] += noise.numbers([cell] * size)
    nobody = (0,) * len(values)
    hits = [[seen.count(value) for value in values] for seen in drawn]
    scores = [np.array(places.aim.scores(cell[0] or nobody, fine), dtype=float) / parts for cell in pair]
    chances: list[Any] = [noise.mechanism.chances(s) for s in scores]  # pyright: ignore[reportAttributeAccessIssue]
    common = [k for k in range(len(values)) if max(c[k] for c in chances) >= RARE]
    rest = [k for k in range(len(values)) if k not in common]
    epsilon = noise.mechanism.epsilon * measure_move(noise, {0: pair[0]}, {0: pair[1]}) / noise.mechanism.sensitivity
    counts.bins[index], counts.ratios[index] = [], []
    for name, kept in ((f"{values[k]:g}", [k]) for k in common):
        _count_value(name, kept, hits, chances, epsilon, index, counts)
    if rest:
        _count_value("any other", rest, hits, chances, epsilon, index, counts)


def _count_value(
    name: str, kept: list[int], hits: Any, chances: Any, epsilon: float, index: int, counts: TrialCounts
) -> None:
    seen, sizes = [sum(side[k] for k in kept) for side in hits], tuple(sum(side) for side in hits)
    for side in (0, 1):
        chance = float(min(max(sum(chances[side][k] for k in kept), 0.0), 1.0))
        if 0 < chance < 1:
            counts.bins[index].append(Counted(f"value {name}", seen[side], sizes[side], chance))
    for here, there in ((0, 1), (1, 0)):
        found = Compared(f"value {name}", seen[here], seen[there], (sizes[here], sizes[there]), epsilon + 1e-9)
        counts.ratios[index].append(found)


def _draw_following(noise: FollowingNoise, pair: tuple[Cell, Cell], turn: Turn, counts: TrialCounts) -> None:
    """Around each extreme, noise of the scale that its own table gives."""
    index = turn.number
    counts.bins[index], counts.fits[index], counts.bits[index] = [], [], []
    sizes = list(turn.chunks(max(LEAST, turn.trials // 20), "drawing noise that follows the data"))
    for side, cell in enumerate(pair):
        centre, law = centre_of(noise, cell[0])
        own = replace(noise, mechanism=law)
        seen = np.concatenate([noise.numbers([cell] * size) for size in sizes]) - centre
        counts.bins[index] += bins(own, seen)
        counts.fits[index].append(fit_of(f"table {side + 1}", own, seen))


def _draw_answers(choice: Choice, answers: Answers, watch: Watch, counts: TrialCounts) -> None:
    """Whole releases: each number has the noise that is its own, and no two of them the same."""
    plain = list(_plain_outputs(choice, answers))
    if not plain:
        return
    drawn: list[list[float]] = [[] for _ in plain]
    while len(drawn[0]) < ANSWERS and (len(drawn[0]) < LEAST or watch.clock() - watch.started < watch.seconds):
        found = {
            (a.question or "", a.name, tuple(a.group.values())): a.value for a in add_noise(choice, answers).answers
        }
        for seen, (_, spot, truth) in zip(drawn, plain, strict=True):
            value = found[spot]
            assert value is not None
            seen.append(value - truth)
    kept = [np.array(seen) for seen in drawn]
    for seen, (place, _, _) in zip(kept, plain, strict=True):
        counts.fits[place].append(fit_of("noise of whole answers", choice.noises[place], seen))
    for i in range(1, len(plain)):
        one, other = choice.noises[plain[i - 1][0]], choice.noises[plain[i][0]]
        name = f"{one.measurement.text} and {other.measurement.text}"
        counts.apart.extend(agreements(name, (one, kept[i - 1]), (other, kept[i])))


def _plain_outputs(choice: Choice, answers: Answers) -> Iterator[tuple[int, Any, float]]:
    """Outputs that are one noisy number: its place, where the answer shows it, and what it is without noise."""
    for part in choice.asked.parts:
        query = part.query
        if query.having is not None or query.limit is not None or query.finds_groups:
            continue
        group = tuple(key.levels[0] for key in query.keys)
        for output in (o for o in query.outputs if o.is_plain):
            place = part.places[output.measured[0]]
            noise = choice.noises[place]
            if noise.measurement.is_apart or noise.measurement.divisor != 1:
                continue
            cell = cells_of(choice, answers, place).get((_first(choice, place), group), (None, None))
            absent = noise.measurement.contribution.absent
            yield place, (part.name, output.name, group), absent if cell[0] is None else noise.grid.value(cell[0])


def _first(choice: Choice, place: int) -> str:
    return next(part.name for part in choice.asked.parts if place in part.places)


# Groups that are found ---------------------------------------------------------------------------------------------


def _thresholds(choice: Choice, cases: Sequence[NeighbourCase], trials: int) -> Iterator[tuple[int, Compared]]:
    """The groups in which one unit is alone, where one has come: how many are shown of so many releases."""
    if choice.threshold is None:
        return
    from guessproof.releasing.frequent import draw_frequent

    name = choice.asked.parts[0].name
    for case in cases:
        if not any(
            victim is None and not answers[name] for victim, answers in zip(case.victims, case.answers, strict=True)
        ):
            continue  # there are others, or nobody comes
        for answers in case.answers:
            alone = list(answers[name].items())
            if alone:
                many = [((str(turn), *group), cells) for turn in range(trials) for group, cells in alone]
                shown = len({row[0][0] for row in draw_frequent(choice, choice.threshold, many)})
                yield len(alone), Compared("a group of one is shown", shown, 0, (trials, trials), 0.0, choice.delta)
                return


def _threshold_checks(choice: Choice, cases: Sequence[NeighbourCase], trials: int, level: float) -> Iterator[Check]:
    for groups, compared in _thresholds(choice, cases, trials):
        low = max(0.0, compared.least_ratio(level))
        broken = low > 0
        rate = compared.here / trials
        words = (
            f"{groups} groups that only one {choice.plan.unit.noun} is in: any of them was shown in {compared.here} of "
            f"{trials} releases; δ = {choice.delta:.6g} was promised"
        )
        yield Check("found groups", rate, None, choice.delta, "fail" if broken else "pass", words)
