"""How far one record moved the engine's answers, against every form of the guarantee: no chance is involved."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from guessproof.auditing.columns import Row
from guessproof.auditing.forms import forms
from guessproof.auditing.neighbours import Answered
from guessproof.auditing.result import Check
from guessproof.choosing import Choice
from guessproof.guarantee import Guarantee
from guessproof.sql.question import Measurement


@dataclass(frozen=True)
class Move:
    """A change of one record, how far the answer moved, how far it may have, and which form says so."""

    what: str
    form: str
    moved: float
    allowed: float
    storage: str

    @property
    def share(self) -> float:
        """Above 1 is too far."""
        if self.moved <= 0:
            return 0.0
        return self.moved / self.allowed if self.allowed > 0 else math.inf

    @property
    def words(self) -> str:
        """In one line."""
        return (
            f"stored as {self.storage}, one record moved {self.what} by {self.moved:.6g} where at most "
            f"{self.allowed:.6g} was promised ({self.form})"
        )


def storage_check(choice: Choice, played: Sequence[Answered]) -> Check:
    """The largest share of what any form of the guarantee allows, over all storages, families and companies."""
    whole = _whole_moves(choice, choice.guarantee, played)
    best = max(itertools.chain(_moves(choice, played), whole), key=lambda m: m.share, default=None)
    kinds = len({a.storage.shown for a in played})
    pairs = sum(math.comb(len(a.family.victims), 2) * len(a.values) for a in played)
    done = f"{pairs} pairs of neighbouring tables, stored in {kinds} ways"
    if best is None:
        return Check("storage", 0.0, None, 1.0, "pass", f"{done}: no record moved any answer")
    verdict = "pass" if best.share <= 1 + 1e-9 else "fail"
    return Check("storage", best.share, None, 1.0, verdict, f"{done}: {best.words}")


def together_check(choice: Choice, both: Guarantee, played: Sequence[Answered]) -> Check:
    """Two releases of the same plan, its columns spelt in two ways: the ledger must add up what each of them tells."""
    once = choice.guarantee
    best = max(_twice(choice, once, both, played), key=lambda m: m.share, default=None)
    start = "two releases whose plans spell the columns differently"
    if best is None:
        return Check("together", 0.0, None, 1.0, "pass", f"{start}: no record moved any answer")
    verdict = "pass" if best.share <= 1 + 1e-9 else "fail"
    return Check("together", best.share, None, 1.0, verdict, f"{start}: {best.words}")


def _twice(choice: Choice, once: Guarantee, both: Guarantee, played: Sequence[Answered]) -> Iterator[Move]:
    """What one release moved, within what it promised, moves two of them twice as far."""
    for answered, before, after, moved in _whole(choice, played):
        single = dict(_promised(choice, once, before, after))
        for form, most in _promised(choice, both, before, after):
            told = _told("the two answers", before, after)
            yield Move(told, form, 2 * min(moved, single.get(form, 0.0)), most, answered.storage.shown)


def _moves(choice: Choice, played: Sequence[Answered]) -> Iterator[Move]:
    for answered in played:
        for one, other in answered.pairs:
            for j, distance in enumerate(answered.moved[one, other]):
                if distance > 0:
                    yield from _of_measurement(choice, answered, j, float(distance), one, other)
        yield from _counts(choice, answered)


def _of_measurement(
    choice: Choice, answered: Answered, j: int, distance: float, one: int, other: int
) -> Iterator[Move]:
    noise = choice.noises[j]
    measurement = noise.measurement
    before, after = (answered.family.victims[i] for i in (one, other))
    if measurement.divisor != 1 and _has_missing(choice, before, after):
        return  # behind a public count it is assumed known who has a value
    distance = max(0.0, distance - _rounding(choice, j, len(answered.values[0, 0, 0])))
    for form, most in _allowed(choice, measurement, before, after):
        yield Move(_told(measurement.text, before, after), form, distance, most, answered.storage.shown)


def _allowed(choice: Choice, measurement: Measurement, before: Row | None, after: Row | None) -> Any:
    """Every form of one measurement's guarantee, in units of its sum."""
    if before is None or after is None:
        yield "presence", measurement.guarantee.presence
        return
    yield "any change", measurement.guarantee.change
    old, new = _secrets(choice, before), _secrets(choice, after)
    if any(old[k.column] != new[k.column] for k in choice.question.keys if k.column in old):
        return  # it leaves one group and enters another
    yield "between the two", measurement.guarantee.between(old, new)
    yield from forms(measurement.guarantee, old, new)


def _whole_moves(choice: Choice, promised: Guarantee, played: Sequence[Answered]) -> Iterator[Move]:
    """All measurements together, in log-likelihood."""
    for answered, before, after, moved in _whole(choice, played):
        for form, most in _promised(choice, promised, before, after):
            yield Move(_told("the answer", before, after), form, moved, most, answered.storage.shown)


def _whole(choice: Choice, played: Sequence[Answered]) -> Iterator[tuple[Answered, Row, Row, float]]:
    """Neighbours that moved something, and how far in all, in units of the noise."""
    if any(n.mechanism.has_delta for n in choice.noises):
        return
    rates = [n.mechanism.epsilon / n.mechanism.sensitivity for n in choice.noises]
    public = any(n.measurement.divisor != 1 for n in choice.noises)
    for answered in played:
        victims, groups = answered.family.victims, len(answered.values[0, 0, 0])
        for one, other in answered.pairs:
            before, after, moved = victims[one], victims[other], answered.moved[one, other]
            if before is None or after is None or (public and _has_missing(choice, before, after)):
                continue
            parts = (max(0.0, float(d) - _rounding(choice, j, groups)) * rates[j] for j, d in enumerate(moved))
            yield answered, before, after, math.fsum(parts)


def _promised(choice: Choice, promised: Guarantee, before: Row, after: Row) -> Iterator[tuple[str, float]]:
    yield "any change", promised.change
    yield from forms(promised, _secrets(choice, before), _secrets(choice, after))


def _counts(choice: Choice, answered: Answered) -> Iterator[Move]:
    """Behind a public count, nobody who has a value may change how many rows are counted."""
    victims = answered.family.victims
    for j, noise in enumerate(choice.noises):
        if noise.measurement.divisor == 1:
            continue
        there = [i for i, v in enumerate(victims) if v is not None and not _has_missing(choice, v)]
        counts = answered.counts[:, there, j]
        if counts.size and (apart := int((counts.max(axis=1) - counts.min(axis=1)).max())):
            yield Move(f"the rows behind {noise.measurement.text}", "public count", apart, 0.0, answered.storage.shown)


def _rounding(choice: Choice, j: int, groups: int) -> float:
    """What rounding contributions to the grid may add; whole numbers are not rounded."""
    noise = choice.noises[j]
    return 0.0 if noise.measurement.is_whole else 2 * noise.grid.step * min(groups, 2) * noise.measurement.copies


def _secrets(choice: Choice, row: Row) -> Row:
    declared = choice.question.declared
    return {n: v for n, v in row.items() if declared.column(n).protected}


def _has_missing(choice: Choice, *rows: Row | None) -> bool:
    return any(v is None for row in rows if row is not None for v in _secrets(choice, row).values())


def _told(text: str, before: Row | None, after: Row | None) -> str:
    if before is None or after is None:
        return f"{text} by being there"
    changed = [n for n in before if before[n] != after[n]]
    return f"{text} when {', '.join(f'{n} went from {before[n]!r} to {after[n]!r}' for n in changed)}"
