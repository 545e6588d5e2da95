"""`guessproof bounds`: how many rows a person may count with, chosen from the table itself, privately and charged.

Every person is counted once, in the class of the number of rows that pass the filters: at most 1, 2, 3, 5 … A person
who comes or goes moves one of these counts by 1, one who changes moves two. Each count gets whole noise; the smallest
candidate that enough persons keep within is computed from the noisy counts, which costs nothing more.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

from sqlglot import Expr, exp

from guessproof.choosing import only_question
from guessproof.choosing.bias import PaidBounds, bounds_request
from guessproof.engines import Engine, open_engine
from guessproof.errors import EngineError, ParameterError
from guessproof.guarantee import Guarantee, PrivacyUnit, guarantee_to_dict
from guessproof.ledger import Charged, Cost, Failed, Ledger, Recorded
from guessproof.mechanisms import BEST_WHOLE, Mechanism
from guessproof.mechanisms.base import Grid, check_drawable, checked_positive, checked_probability
from guessproof.mechanisms.sampling import sampler
from guessproof.plan import Plan, check_plan
from guessproof.releasing.run import after_charge, check_joins, list_types, make_judge, naming_source, protection_of
from guessproof.rounded import up
from guessproof.sql import AnalyzedQuery, SqlTarget, find_target
from guessproof.sql.units import write_unit_rows

CANDIDATES = (1, 2, 3, 5, 7, 10, 15, 20, 30, 50, 70, 100, 150, 200, 300, 500, 700, 1000)
SHARE, CONFIDENCE = 0.95, 0.95
CHANGE, PRESENCE = 2, 1  # how far a person moves all counts together


@dataclass(frozen=True)
class RowsBound:
    """How many persons have how many rows, with noise, and what follows for `max_rows`."""

    candidates: tuple[int, ...]
    persons: tuple[int, ...]  # noisy: up to the first candidate, up to the second, …, above the last
    epsilon: float
    epsilon_add_remove: float
    error: float  # of each of these counts, with 95 % confidence
    remaining: dict[str, Any]
    head: str
    replayed: bool = False

    def beyond(self) -> list[float]:
        """For each candidate the share of persons who have more rows, as far as the noise lets one see."""
        return PaidBounds(self.candidates, self.persons).beyond()

    def choose(self, share: float = SHARE) -> int | None:
        """The smallest candidate within which this share of persons is; None where the largest is too small."""
        checked_probability("share", share)
        pairs = zip(self.candidates, self.beyond(), strict=True)
        return next((rows for rows, more in pairs if 1 - more >= share), None)

    def to_dict(self, share: float = SHARE) -> dict[str, Any]:
        """Ready for JSON."""
        beyond = self.beyond()
        return {
            "max_rows": self.choose(share),
            "share": share,
            "candidates": [
                {"rows": rows, "persons": count, "share_with_more": more}
                for rows, count, more in zip(self.candidates, self.persons, beyond, strict=False)
            ],
            "persons_beyond": self.persons[-1],
            "error": self.error,
            "confidence": CONFIDENCE,
            "epsilon": self.epsilon,
            "epsilon_add_remove": self.epsilon_add_remove,
            "remaining": self.remaining,
            "head": self.head,
            "replayed": self.replayed,
        }


def bound_rows(
    plan: Plan,
    *,
    epsilon: float,
    candidates: Sequence[int] = CANDIDATES,
    ledger: str | Path | Ledger | None = None,
    key: bytes | None = None,
    timeout: float | None = None,
) -> RowsBound:
    """Charge ε, count persons by their number of rows, add noise, record. The same request gives the same counts."""
    check_plan(plan)
    rows = _checked(candidates)
    noise = BEST_WHOLE(sensitivity=CHANGE, epsilon=checked_positive("epsilon", epsilon))
    check_drawable(noise, Grid(0))
    question = only_question(plan)
    if question.declared.unit.identity is None:
        problem = "a bound on rows is needed only where a person has several"
        raise plan.error(("data", "protects"), plan.data.protects, problem, 'use protects = "persons"')
    book = ledger if isinstance(ledger, Ledger) else Ledger(ledger or plan.ledger_path, key)
    request = bounds_request(plan, rows, noise.epsilon)
    settled = book.settled(plan.data.name, frozenset({request}))
    if isinstance(settled, Recorded):
        return _shown(book, settled, plan.data.name)
    joined = plan.public_sources if question.joins else {}
    with naming_source(plan):
        opened = open_engine(plan.source, plan.data.table, timeout=timeout, public=joined)
    with opened as engine:
        if joined:
            check_joins(engine, plan, question)
        target = find_target(engine.dialect, list_types(engine, question))
        sql = target.sql(_write(question, rows, target))
        engine.check(question.stored)
        engine.prepare(sql)
        charged = _charge(book, plan, question, request, noise, rows)
        if not isinstance(charged, Charged):
            if isinstance(charged, Failed):
                raise EngineError
            return _shown(book, charged, plan.data.name)
        with after_charge():
            counts = _run(book, charged, engine, sql, noise, len(rows) + 1)
    kept = {"candidates": list(rows), "persons": counts, "epsilon": noise.epsilon}
    with after_charge():
        head = book.record(charged, kept)
        return _made(kept, book.remaining(plan.data.name).to_dict(), head, replayed=False)


def _checked(candidates: Sequence[int]) -> tuple[int, ...]:
    found = tuple(candidates)
    rising = all(a < b for a, b in itertools.pairwise(found))
    if not found or not all(isinstance(c, int) and c >= 1 for c in found) or not rising or len(found) > 100:
        problem = "are not rising numbers of rows"
        raise ParameterError("candidates", list(found), problem, "give up to 100, as 1, 2, 5, 10")
    return found


def _write(question: AnalyzedQuery, rows: tuple[int, ...], target: SqlTarget) -> exp.Select:
    """How many persons are in each class of numbers of rows."""
    found = exp.case()
    for place, most in enumerate(rows):
        few = exp.LTE(this=exp.column("gp_rows"), expression=exp.Literal.number(most))
        found = found.when(few, exp.Literal.number(place))
    kind: Expr = found.else_(exp.Literal.number(len(rows)))
    asked = question if question.inner is None else question.inner.query
    counted = write_unit_rows(asked, target).subquery("gp_cells", copy=False)
    select = exp.select(exp.alias_(kind, "gp_class"), exp.alias_(exp.Count(this=exp.Star()), "gp_units"), copy=False)
    return select.from_(counted, copy=False).group_by(kind.copy(), copy=False)


def _charge(
    book: Ledger, plan: Plan, question: AnalyzedQuery, request: str, noise: Mechanism, rows: tuple[int, ...]
) -> Charged | Recorded | Failed:
    unit: PrivacyUnit = question.declared.unit
    guarantee = Guarantee(unit, {}, {}, noise.epsilon, noise.epsilon * PRESENCE / CHANGE, None)
    describe = {
        "query": f"how many persons have how many rows, for: {plan.query.sql}",
        "protects": plan.data.protects,
        "candidates": list(rows),
        "noise": [{"mechanism": noise.name, "epsilon": noise.epsilon, "sensitivity": CHANGE}],
    }
    return book.charge(
        plan.data.name,
        request,
        Cost(Fraction(noise.epsilon), 0.0),
        guarantee_to_dict(guarantee),
        describe,
        make_judge(plan, book),
        protection=protection_of(question),
    )


def _run(book: Ledger, charged: Charged, engine: Engine, sql: str, noise: Mechanism, width: int) -> list[int]:
    """Count and add noise; whatever fails is noted in constant words, and the charge stays."""
    try:
        found = {int(place): int(count) for place, count in engine.aggregates(sql)}
        return [int(n) for n in sampler(noise, Grid(0)).release_units([found.get(place, 0) for place in range(width)])]
    except Exception:  # any text of it might quote data
        book.failed(charged)
        raise EngineError from None


def _shown(book: Ledger, settled: Recorded | Failed, name: str) -> RowsBound:
    if isinstance(settled, Failed):
        raise EngineError
    return _made(settled.answer, book.remaining(name).to_dict(), settled.head, replayed=True)


def _made(kept: Mapping[str, Any], remaining: dict[str, Any], head: str, *, replayed: bool) -> RowsBound:
    epsilon = float(kept["epsilon"])
    error = BEST_WHOLE(sensitivity=CHANGE, epsilon=epsilon).error(confidence=CONFIDENCE)
    counts, rows = tuple(kept["persons"]), tuple(kept["candidates"])
    return RowsBound(rows, counts, epsilon, epsilon * PRESENCE / CHANGE, error, remaining, head, replayed)


def describe_bound(found: RowsBound, share: float) -> str:
    """The recommendation in words."""
    rows = found.choose(share)
    if rows is None:
        return (
            f"More than {1 - share:.0%} of the persons seem to have more than {found.candidates[-1]} rows: give larger "
            "candidates, which is a new request."
        )
    more = found.beyond()[found.candidates.index(rows)]
    return (
        f"max_rows = {rows}: about {up(100 * more, 2)} % of the persons have more rows than that, and what they have "
        f"beyond is cut off. Noise grows in proportion to max_rows."
    )
