"""The bias of a bound on a person's rows: from what is declared or was paid for, never from the table.

Noise is on both sides and is stated exactly; what lies beyond a bound is lost on one side, and how much that is depends
on the data. So it is worked out on persons drawn from the declared numbers of rows and the declared priors, always the
same ones, as if every row passed the filters. Otherwise the ledger may hold what `guessproof bounds` was paid for;
where it does not, the bias is said to be unknown.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from guessproof.rounded import percent_near
from guessproof.sql.measurement import EXTREMES, Measurement, OncePresent
from guessproof.sql.rules.values import NumberColumn
from guessproof.world import Attribute, Finite, LinePrior

if TYPE_CHECKING:
    from guessproof.choosing.choice import Choice
    from guessproof.ledger import Ledger
    from guessproof.plan import Plan
    from guessproof.sql import Asked

PERSONS, MOST_ROWS = 20_000, 2_000_000
UNKNOWN = "Bias from max_rows: unknown, may exceed the stated error"
FORMAT = "guessproof bounds 1"


@dataclass(frozen=True)
class PaidBounds:
    """What `guessproof bounds` was paid for: noisy numbers of persons with at most so many rows, and with more."""

    candidates: tuple[int, ...]
    persons: tuple[int, ...]

    def beyond(self) -> list[float]:
        """For each candidate the share of persons who have more rows, as far as the noise lets one see."""
        counts = [max(count, 0) for count in self.persons]
        everybody = max(sum(counts), 1)
        return [sum(counts[place + 1 :]) / everybody for place in range(len(self.candidates))]

    def beyond_bound(self, max_rows: int) -> float | None:
        """The share with more than `max_rows` rows, or a larger one; None where no candidate is that small."""
        shares = [share for rows, share in zip(self.candidates, self.beyond(), strict=True) if rows <= max_rows]
        return shares[-1] if shares else None


def bounds_request(plan: Plan, candidates: Sequence[int], epsilon: float) -> str:
    """The same for the same persons, filters and candidates, whatever bound the plan has now."""
    data = plan.data.model_dump(exclude={"max_rows", "max_groups", "engine"}, exclude_defaults=True)
    columns = {n: c.model_dump(exclude={"prior"}, exclude_defaults=True) for n, c in plan.columns.items()}
    parts = [FORMAT, data, plan.query.sql, columns, dict(plan.digests), list(candidates), epsilon.hex()]
    return hashlib.sha256(json.dumps(parts, sort_keys=True, default=str).encode()).hexdigest()


def paid_bounds(plan: Plan, ledger: Ledger | None = None) -> PaidBounds | None:
    """The numbers of rows that the ledger holds for this plan, the latest of them; None where nobody paid for any."""
    from guessproof.errors import LedgerError
    from guessproof.ledger import Ledger as Book
    from guessproof.ledger import is_there

    if plan.unit.identity is None or plan.file.query is None:
        return None
    try:
        if ledger is None and not is_there(plan.ledger_path):
            return None
        book, name = ledger or Book(plan.ledger_path), plan.data.name
        charges = book.account(name).charges.values() if name in book.names else ()
    except LedgerError:  # a ledger that does not open is the release's business
        return None
    for charge in reversed(list(charges)):
        kept = charge.answer or {}
        if "candidates" not in kept or "persons" not in kept:
            continue
        if charge.request == bounds_request(plan, kept["candidates"], float(kept["epsilon"])):
            return PaidBounds(tuple(kept["candidates"]), tuple(kept["persons"]))
    return None


def bias_note(plan: Plan, asked: Asked, paid: PaidBounds | None) -> str | None:
    """What is said of the bias beside every error; None where no bound can cut, or by what is declared cuts nothing."""
    lost = likely_bias(plan, asked)
    if plan.data.rows_each is not None:
        parts = [f"{name} {_declared_words(plan, share)}" for name, share in lost.items() if share]
        averages = [name for name, share in lost.items() if share is None]
        if averages:
            parts.append(f"{', '.join(averages)} {_declared_words(plan, None)}")
        return f"Bias from max_rows: {', '.join(parts)}, by what is declared" if parts else None
    if not lost:
        return None
    share = None if paid is None else paid.beyond_bound(plan.data.max_rows or 1)
    if share is None:
        return UNKNOWN
    return (
        f"Bias from max_rows: about {percent_near(share)} of the persons have more rows, as guessproof bounds counted"
    )


def _declared_words(plan: Plan, lost: float | None) -> str:
    """What an output loses if persons have as many rows as is declared: of an average that depends on the values."""
    if lost is not None:
        return f"loses about {percent_near(lost)} of it"
    beyond = sum(share for rows, share in plan.data.rows_each or () if rows > (plan.data.max_rows or 1))
    return f"may be off by an unknown amount as about {percent_near(beyond)} of the persons have more rows"


def likely_bias(plan: Plan, asked: Asked) -> dict[str, float | None]:
    """For each output that a bound can cut the share of it that is likely lost; None where that cannot be said."""
    found: dict[str, float | None] = {}
    nested = any(part.query.inner is not None for part in asked.parts)
    for output in asked.outputs:
        measurement = asked.measurements[output.measured[0]] if output.measured else None
        if measurement is None or measurement.total is None or not _is_cut(measurement):
            continue
        each = plan.data.rows_each
        if nested and measurement.kind != "sum":  # each person once
            continue
        if each is not None and not nested and all(rows <= (plan.data.max_rows or 1) for rows, _ in each):
            found[output.name] = 0.0  # nobody has more rows than may count
            continue
        is_sum = output.is_plain and measurement.kind in ("count", "sum")
        told = is_sum and each is not None and not nested
        found[output.name] = _lost(measurement, each or (), plan.attributes()) if told else None
    return found


def describe_bias(choice: Choice) -> list[tuple[str, str]]:
    """What max_rows likely cuts off each output, in words; nothing is advised that was declared or paid for."""
    found = list[tuple[str, str]]()
    for name, lost in choice.bias.items():
        if choice.plan.data.rows_each is not None:
            said = "loses nothing" if lost == 0 else _declared_words(choice.plan, lost)
            said += ", by what is declared"
        elif choice.bias_note in (None, UNKNOWN):
            said = "unknown, may exceed the stated error: declare rows_each, or pay for it: guessproof bounds"
        else:
            said = str(choice.bias_note).partition(": ")[2]
        found.append((name, said))
    return found


def _is_cut(measurement: Measurement) -> bool:
    """An extreme is never cut, and one who counts once counts."""
    return measurement.kind not in EXTREMES and not isinstance(measurement.contribution.term, OncePresent)


def _lost(
    measurement: Measurement, each: tuple[tuple[int, float], ...], attributes: Mapping[str, Attribute]
) -> float | None:
    rows = np.array([number for number, _ in each], dtype=float)
    shares = np.array([share for _, share in each])
    total = measurement.total
    assert total is not None
    if measurement.kind == "count":
        most = total.presence
        return float(shares @ np.maximum(rows - most, 0.0) / (shares @ rows))
    term = measurement.contribution.term
    attribute = attributes.get(term.column.name) if isinstance(term, NumberColumn) else None
    if attribute is None or not isinstance(term, NumberColumn):
        return None
    drawn = np.random.default_rng(0)
    persons = int(min(PERSONS, MOST_ROWS / max(float(shares @ rows), 1.0)))
    counts = drawn.choice(rows.astype(int), size=persons, p=shares / shares.sum())
    values = _draw(attribute.prior, int(counts.sum()), drawn)
    if values is None:
        return None
    sums = np.add.reduceat(np.clip(values, term.low, term.high), np.append(0, np.cumsum(counts)[:-1]))
    ends = (-total.most, total.most) if total.most is not None else (total.low, total.high)
    size = float(np.abs(sums).sum())
    return float(np.abs(sums - np.clip(sums, *ends)).sum() / size) if size else 0.0


def _draw(prior: Any, count: int, drawn: np.random.Generator) -> Any:
    if isinstance(prior, Finite) and prior.is_line:
        return drawn.choice(np.asarray(prior.points, dtype=float), size=count, p=np.asarray(prior.weights))
    return np.asarray(prior.quantile(drawn.random(count)), dtype=float) if isinstance(prior, LinePrior) else None
