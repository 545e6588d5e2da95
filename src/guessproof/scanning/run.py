"""Scanning: which records are most exposed at an ε. For the owner of the table alone.

The scan is noted in the ledger before the first row is read, so that every later choice is marked as depending on the
data; without a ledger that knows the data there is no scan. Rows are streamed and only counted.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from guessproof.choosing import Chooser, asked, choose
from guessproof.engines import open_engine
from guessproof.engines.protocol import TallyingEngine
from guessproof.errors import GuessproofError, InfeasibleError, ParameterError, SourceError
from guessproof.exposure import Exposure
from guessproof.ledger import Ledger
from guessproof.names import folded
from guessproof.plan import Plan, check_plan
from guessproof.releasing import check_rows, naming_source, source_of
from guessproof.risk import checked_epsilon
from guessproof.scanning import tally
from guessproof.scanning.columns import INFINITE, MISSING, OUTSIDE, SPECIAL, ListedColumn
from guessproof.scanning.judged import Judged, RecordJudge
from guessproof.scanning.records import records_of
from guessproof.scanning.result import LEVELS, Bin, Enclosed, Exposed, Group, Identified, Scan
from guessproof.scanning.single import one_value
from guessproof.sql import Asked, DeclaredTable, find_target
from guessproof.sql.rewrite import write_listing
from guessproof.sql.rules.time import write_days
from guessproof.sql.rules.values import write_number
from guessproof.world import Array, label_of, show_time

if TYPE_CHECKING:
    from sqlglot import Expr

    from guessproof.engines.base import Engine

NOTE = "the records' exposure was scanned without noise; later choices may depend on the data"
BATCH = 1 << 16
BINS = 40
JOINED = 0.02  # neighbouring cells are shown as one while their advantages differ by no more, against the largest

Progress = Callable[[int], Any]


def scan(
    plan: Plan,
    *,
    epsilon: float | None = None,
    top: int = 10,
    by: str | None = None,
    identities: str | None = None,
    ledger: str | Path | Ledger | None = None,
    key: bytes | None = None,
    progress: Progress | None = None,
    source: Any = None,
) -> Scan:
    """Every record's own advantage at an ε (the plan's, unless given), counted.

    `by` names a column whose groups are compared, `identities` one that names the most exposed rows. `progress` is
    called with the number of rows read so far. `source` is a frame, read instead of what the plan names.
    """
    check_plan(plan)
    if plan.unit.identity is not None:
        problem = "a scan judges each row by itself, and a person has several that tell together"
        remedy = 'scan a copy of the plan with protects = "records"; the limits of this one hold for every person'
        raise plan.error(("data", "protects"), plan.data.protects, problem, remedy)
    if isinstance(top, bool) or not isinstance(top, int) or top < 0:
        raise ParameterError("top", top, "is not a number of rows", "give 0 or more")
    name = plan.data.name
    book = ledger if isinstance(ledger, Ledger) else Ledger(ledger or plan.ledger_path, key)
    book.account(name)  # a scan that cannot be noted is not made
    questions = asked(plan)
    if questions.joins or any(part.query.inner is not None for part in questions.parts):
        what = "joins others" if questions.joins else "puts groups of it together"
        raise InfeasibleError(f"the scan reads one table, and this query {what}; scan the query without that")
    exposure, epsilon, worst = _exposed(plan, questions, epsilon)
    declared = questions.parts[0].query.declared
    if not exposure.judges_records:
        problem = "a scan judges records by distances, and Gaussian noise bounds no answer by them"
        remedy = 'scan a copy of the plan with mechanism = "laplace"; the limits of this one hold for every record'
        raise plan.error(("release", "mechanism"), plan.release.mechanism, problem, remedy)
    limit = plan.limits.advantage
    records = records_of(plan, exposure, epsilon, worst, limit)
    with naming_source(plan):
        opened = open_engine(source_of(plan, source), plan.data.table)
    with opened as engine:
        check_rows(engine, declared)
        columns = _columns(engine, records, by, identities)
        sql = _listing(engine, declared, records, columns)
        book.note(name, NOTE, scan=True)
        engine.check()
        counted = _count(engine, sql, records, columns, top, by, identities, progress)
    return _told(
        plan=plan, exposure=exposure, epsilon=epsilon, limit=limit, records=records, counted=counted, top=top, by=by
    )


def _exposed(plan: Plan, questions: Asked, epsilon: float | None) -> tuple[Exposure, float, float]:
    """What the attacker can learn, the ε, and what no possible value within the declared bounds exceeds at it."""
    if epsilon is not None:
        exposure = Chooser(plan, questions, None, False).exposure()
        if exposure is None:
            raise _no_attacker(plan)
        return exposure, float(checked_epsilon(epsilon)), 1.0
    choice = choose(plan)
    if choice.exposure is None:
        raise _no_attacker(plan)
    if not choice.feasible or not math.isfinite(choice.epsilon):
        raise InfeasibleError(f"the plan chooses no ε to scan at; give one: --epsilon. {choice.explanation}")
    worst = choice.advantage if choice.exposure.attacker.at is None else None
    if worst is None:
        return choice.exposure, choice.epsilon, 1.0
    limit = math.inf if plan.limits.advantage is None else plan.limits.advantage  # proven for the ε that was chosen
    return choice.exposure, choice.epsilon, min(float(worst.bound), limit)


def _no_attacker(plan: Plan) -> GuessproofError:
    problem = "a scan judges every record by what the plan's attacker learns, and the plan has none"
    return plan.error(("attacker",), None, problem, 'add [attacker] with goal = "…" and advantage = …')


def _listing(engine: Engine, declared: DeclaredTable, records: RecordJudge, columns: Sequence[str]) -> str:
    """The rows as the query sees them: the goal's columns as its priors need them, the others as they are stored."""
    target = find_target(engine.dialect, engine.types())
    kinds = {column.name: column.kind for column in records.columns}
    found: list[tuple[str, Expr]] = []
    for name in _unique(columns):
        column = declared.column(name)
        if name not in kinds:
            found.append((name, target.held(column)))
        elif kinds[name] != "number":
            found.append((name, target.label(column)))
        elif column.kind == "time":
            found.append((name, write_days(column, target)))
        else:
            found.append((name, target.number(column) if column.missing else write_number(column, target)))
    return write_listing(found, declared, target)


def _columns(engine: Engine, records: RecordJudge, by: str | None, identities: str | None) -> list[str]:
    """The columns to read, each once; they must exist."""
    schema = {folded(name) for name in engine.schema()}
    wanted = [c.name for c in records.columns] + [c for c in (by, identities) if c is not None]
    for name in wanted:
        if folded(name) not in schema:
            raise SourceError(f"the table has no column {name}; compare it with the names in the table")
    return wanted


class _Counted:
    """What came out of the pass: how many records each cell has, and who else counted."""

    def __init__(self, judged: Judged, counts: Any, groups: tally.Groups | None, top: tally.Top | None) -> None:
        self.judged, self.groups, self.top = judged, groups, top
        self.counts, special = counts[:-SPECIAL], counts[-SPECIAL:]
        self.missing, self.infinite, self.outside = (int(special[i]) for i in (MISSING, INFINITE, OUTSIDE))
        self.rows = int(counts.sum())


def _count(
    engine: Engine,
    sql: str,
    records: RecordJudge,
    columns: Sequence[str],
    top: int,
    by: str | None,
    identities: str | None,
    progress: Progress | None,
) -> _Counted:
    place = {name: i for i, name in enumerate(_unique(columns))}
    if len(records.columns) == 1 and by is None and identities is None:
        return _plain(engine, sql, records, progress)
    judged = records.judge(None)
    groups = None if by is None else tally.Groups(by, tally.Classes.from_judged(judged), place[by])
    upper = np.append(judged.upper, np.full(SPECIAL, -1.0))
    names = tuple(c.name for c in records.columns)
    best = None if identities is None else tally.Top(top, upper, names, place[identities])
    counter = tally.RowCounter(tally.CellCounts(records.columns, judged), groups, best if top else None)
    _pass_over(engine, sql, counter, progress)
    return _Counted(judged, counter.cells.counts, groups, best)


def _plain(engine: Engine, sql: str, records: RecordJudge, progress: Progress | None) -> _Counted:
    """One column: places are counted first, and only those that hold records are judged."""
    places = tally.Places(records.columns[0])
    _pass_over(engine, sql, places, progress)
    judged = records.judge(places.counts[:-SPECIAL] > 0)
    counts = np.zeros(judged.upper.size + SPECIAL, dtype=np.int64)
    np.add.at(counts, judged.nodes[0], places.counts)
    return _Counted(judged, counts, None, None)


def _pass_over(engine: Engine, sql: str, counter: tally.PassCounter, progress: Progress | None) -> None:
    """All rows once: on the engine's workers, where it has such, and otherwise here as they stream by."""
    said = progress or (lambda rows: None)
    rows = 0
    if isinstance(engine, TallyingEngine):
        for found in engine.tally(sql, counter.count):
            rows += counter.merge(found)
            said(rows)
        return
    for batch in engine.batches(sql, BATCH):
        counter.add(batch)
        rows += batch.num_rows
        said(rows)


def _unique(names: Sequence[str]) -> list[str]:
    return list(dict.fromkeys(names))


# What is told.


def _told(
    plan: Plan,
    exposure: Exposure,
    epsilon: float,
    limit: float | None,
    records: RecordJudge,
    counted: _Counted,
    top: int,
    by: str | None,
) -> Scan:
    judged, counts = counted.judged, counted.counts
    held = np.flatnonzero(counts)
    lower, upper, number = judged.lower[held], judged.upper[held], counts[held]
    exceeding = None
    if limit is not None:
        exceeding = int(number[lower > limit].sum()), int(number[upper > limit].sum())
    return Scan(
        name=plan.data.name,
        goal=plan.attacker.goal if plan.attacker else "",
        columns=tuple(c.name for c in records.columns),
        epsilon=epsilon,
        both=plan.limits.both,
        rows=counted.rows,
        missing=counted.missing,
        infinite=counted.infinite,
        outside=counted.outside,
        mean=_mean(lower, upper, number),
        quantiles=_quantiles(lower, upper, number, LEVELS),
        histogram=_histogram(upper, number, limit),
        exposed=tuple(_with_times(plan, e) for e in _most_exposed(judged, counts, top)),
        limit=limit,
        exceeding=exceeding,
        by=by,
        groups=None if counted.groups is None else tuple(_groups(counted.groups)),
        identified=None if counted.top is None else tuple(_identified(exposure, epsilon, plan, records, counted.top)),
        how=judged.how,
    )


def _with_times(plan: Plan, exposed: Exposed) -> Exposed:
    """The same with the values of columns of times as times."""
    known = plan.attributes()
    timely = {name for name in exposed.values if name in known and known[name].is_time}
    if not timely:
        return exposed
    shown = {n: _shown(v) for n, v in exposed.values.items() if n in timely}
    return replace(exposed, values={**exposed.values, **shown})


def _shown(value: Any) -> Any:
    return (show_time(value[0]), show_time(value[1])) if isinstance(value, tuple) else show_time(float(value))


def _mean(lower: Array, upper: Array, number: Any) -> Enclosed | None:
    total = int(number.sum())
    return (float(lower @ number) / total, float(upper @ number) / total) if total else None


def _quantiles(lower: Array, upper: Array, number: Any, levels: Sequence[float]) -> dict[float, Enclosed]:
    """What a share of the records does not exceed: quantiles of the lower ends, and of the upper ends."""
    total = int(number.sum())
    if not total:
        return {}
    ranks = [max(1, math.ceil(level * total - 1e-9)) for level in levels]
    sides: list[list[float]] = []
    for values in (lower, upper):
        order = np.argsort(values, kind="stable")
        places = np.searchsorted(np.cumsum(number[order]), ranks)
        sides.append([float(v) for v in values[order][places]])
    return {level: (low, high) for level, low, high in zip(levels, *sides, strict=True)}


def _histogram(upper: Array, number: Any, limit: float | None) -> tuple[Bin, ...]:
    """Equal bins from 0 to the largest advantage, by upper ends; the limit is an edge."""
    top = float(np.max(upper, initial=0.0))
    if not number.size or top <= 0:
        return (Bin(0.0, 0.0, int(number.sum())),) if number.size else ()
    edges = np.linspace(0.0, top, BINS + 1)
    if limit is not None and top / BINS < limit < top:
        width = limit / round(limit / top * BINS)
        edges = width * np.arange(1.0 + math.ceil(top / width))
        edges[round(limit / width)] = limit
    bins = edges.size - 1
    place = np.clip(np.searchsorted(edges, upper, side="left") - 1, 0, bins - 1)
    counts = np.bincount(place, weights=number, minlength=bins).astype(np.int64)
    return tuple(Bin(float(a), float(b), int(n)) for a, b, n in zip(edges[:-1], edges[1:], counts, strict=True))


def _most_exposed(judged: Judged, counts: Any, top: int) -> list[Exposed]:
    """The cells with the largest advantage; records side by side on the line that hardly differ are told as one."""
    held = np.flatnonzero(counts)
    if not held.size or not top:
        return []
    runs = _runs(judged, held) if judged.line else [[int(i)] for i in held]
    found = [
        (float(judged.upper[run].max()), float(judged.lower[run].min()), int(counts[run].sum()), run) for run in runs
    ]
    found.sort(key=lambda f: (-f[0], -f[1]))
    return [Exposed(_values(judged, run), count, (low, high)) for high, low, count, run in found[:top]]


def _runs(judged: Judged, held: Any) -> list[list[int]]:
    step = JOINED * float(judged.upper[held].max())
    runs: list[list[int]] = []
    low = high = 0.0
    for i in held.tolist():
        below, above = float(judged.lower[i]), float(judged.upper[i])
        alike = max(high, above) - min(low, below) <= step
        if runs and alike and _adjoin(judged, runs[-1][-1], i):
            runs[-1].append(i)
            low, high = min(low, below), max(high, above)
        else:
            runs.append([i])
            low, high = below, above
    return runs


def _adjoin(judged: Judged, before: int, cell: int) -> bool:
    """Whether a cell lies to the right of the one before it: those beyond the grid are listed after it."""
    ((first, _),), ((start, _),) = judged.values(before).values(), judged.values(cell).values()
    return first < start


def _values(judged: Judged, run: list[int]) -> dict[str, Any]:
    first, last = judged.values(run[0]), judged.values(run[-1])
    return {n: (v[0], last[n][1]) if isinstance(v, tuple) else v for n, v in first.items()}


def _groups(groups: tally.Groups) -> list[Group]:
    """Every group, the one with the largest mean first."""
    found: list[Group] = []
    lower, upper = groups.classes.lower, groups.classes.upper
    for name, number in groups.names.items():
        counts = groups.counts[number]
        held = np.flatnonzero(counts[:-SPECIAL])
        low, high, many = lower[held], upper[held], counts[held]
        quantiles = _quantiles(low, high, many, (0.95, 1.0))
        rows, judged = int(counts.sum()), int(many.sum())
        mean = _mean(low, high, many)
        found.append(Group(name, rows, judged, mean, quantiles.get(0.95), quantiles.get(1.0)))
    return sorted(found, key=lambda g: (-(g.mean[1] if g.mean else -1.0), g.value))


def _identified(
    exposure: Exposure, epsilon: float, plan: Plan, records: RecordJudge, top: tally.Top
) -> list[Identified]:
    """The most exposed rows, each judged by its own values where that is quick."""
    found: list[Identified] = []
    for upper, identity, at in top.kept:
        own = 0.0, upper
        if len(records.columns) == 1:
            own = one_value(exposure, _truth(records, at), epsilon, plan.limits.both)
        found.append(Identified(identity, (own[0], min(own[1], upper))))
    return sorted(found, key=lambda i: -i.advantage[1])


def _truth(records: RecordJudge, at: dict[str, Any]) -> dict[str, Any]:
    """A row's values as its prior names them."""
    (column,) = records.columns
    value = at[column.name]
    if isinstance(column, ListedColumn) and column.kind == "text":
        labels = {label_of(v): v for v in column.values}
        return {column.name: labels.get(label_of(value), value)}
    return {column.name: float(value)}
