"""Whole plans, drawn: every flag of the plan file, in any combination."""

from __future__ import annotations

import itertools
from typing import Any

from hypothesis import strategies as st

from road import query as q
from road.plans import Attacker, Goal, Joint, Road
from road.query import ALWAYS, Column, Item, Term, Test

Draw = Any
OFFSETS = (0.0, 0.0, 0.0, 0.0, 1e14)  # far from 0 doubles are coarse, and so is the grid of the noise
NUMBERS = (0.0, 4.0, 10.0, 10.015625, 10.5, 22.0, 40.0)
LABELS = {"g": ("a", "b", "c"), "h": ("u", "v")}


@st.composite
def number(draw: Draw, name: str) -> Column:
    offset = draw(st.sampled_from(OFFSETS))
    values = draw(st.lists(st.sampled_from(NUMBERS), min_size=2, max_size=3, unique=True))
    weights = draw(st.lists(st.integers(1, 5), min_size=len(values), max_size=len(values)))
    missing = draw(st.booleans()) and not offset
    believed = draw(st.integers(0, 5)) > 0
    bounds = (offset, offset + 40.0)
    return Column(name, tuple(offset + v for v in sorted(values)), tuple(weights), bounds, missing, believed)


@st.composite
def label(draw: Draw, name: str) -> Column:
    weights = draw(st.lists(st.integers(1, 6), min_size=len(LABELS[name]), max_size=len(LABELS[name])))
    return Column(name, LABELS[name], tuple(weights), None, draw(st.booleans()), draw(st.integers(0, 7)) > 0)


@st.composite
def joint(draw: Draw, columns: tuple[Column, ...]) -> Joint:
    """Some combinations more likely than others; each column keeps two values at least."""
    combinations = list(itertools.product(*(c.values for c in columns)))
    weights = draw(st.lists(st.integers(0, 6), min_size=len(combinations), max_size=len(combinations)))
    found = {c: w for c, w in zip(combinations, weights, strict=True) if w > 0}
    for place, column in enumerate(columns):
        for value in column.values:
            if not any(c[place] == value for c in found):
                found[next(c for c in combinations if c[place] == value)] = 1
    return Joint(columns, found)


@st.composite
def tests(draw: Draw, numbers: tuple[Column, ...], labels: tuple[Column, ...]) -> Test:
    simple: list[st.SearchStrategy[Test]] = []
    for c in numbers:
        assert c.bounds is not None
        low = c.bounds[0]
        simple += [st.sampled_from([3.0, 10.0, 15.0]).map(lambda k, c=c, low=low: q.above(c, low + k))]
        simple += [st.just(q.between(c, low + 4, low + 12)), *([st.just(q.given(c))] if c.missing else [])]
    for c in labels:
        simple += [st.just(q.one_of(c, c.values[:1])), st.just(q.one_of(c, c.values[:2]))]
        simple += [st.just(q.unlike(c, c.values[-1])), *([st.just(q.given(c))] if c.missing else [])]
    one = draw(st.one_of(simple))
    shape = draw(st.sampled_from(["one", "one", "not", "and", "or"]))
    if shape == "one":
        return one
    if shape == "not":
        return one if one.sql.endswith("IS NOT NULL") else q.negated(one)
    return (q.all_of if shape == "and" else q.any_of)(one, draw(st.one_of(simple)))


@st.composite
def terms(draw: Draw, numbers: tuple[Column, ...], labels: tuple[Column, ...], kind: str) -> Term:
    column = draw(st.sampled_from(numbers))
    makers = [q.plain, q.plain, q.twice, q.shifted, q.bent, q.capped]
    if not column.missing:
        makers.append(q.far)
    if kind not in ("min", "max"):
        makers.append(q.filled)
        if draw(st.booleans()):
            return q.cased(draw(tests(numbers, labels)), column)
    if len(numbers) > 1 and draw(st.integers(0, 3)) == 0:
        return q.summed(numbers[0], numbers[1])
    return draw(st.sampled_from(makers))(column)


@st.composite
def items(draw: Draw, numbers: tuple[Column, ...], labels: tuple[Column, ...], kinds: tuple[str, ...]) -> list[Item]:
    found: list[Item] = []
    for place in range(draw(st.integers(1, 3))):
        if found and draw(st.integers(0, 2)) == 0:  # the same number under another name
            again = draw(st.sampled_from(found))
            found.append(Item(f"o{place}", again.kind, again.term, again.test))
            continue
        kind = draw(st.sampled_from(kinds)) if numbers else "count"
        term = draw(terms(numbers, labels, kind)) if numbers and (kind != "count" or draw(st.booleans())) else None
        test = draw(tests(numbers, labels)) if kind == "count" or draw(st.integers(0, 2)) == 0 else ALWAYS
        found.append(Item(f"o{place}", kind, term, test))
    return found


# Goals.


def _atom(draw: Draw, column: Column) -> Goal:
    name = column.name
    if column.bounds is not None:
        low = column.bounds[0]
        if draw(st.integers(0, 5)) == 0:
            inside = (low + 3.0, low + 12.0)
            text = f"{name} inside {inside[0]!r} {inside[1]!r}"
            return Goal(text, lambda row, truth: inside[0] <= row[name] <= inside[1], (name,), ())
        radius = draw(st.sampled_from([0.25, 1.0, 6.25]))
        return Goal(
            f"{name} within {radius!r}", lambda r, t: abs(r[name] - t[name]) <= radius, (name,), (name,), (), (radius,)
        )
    if draw(st.integers(0, 5)) == 0:
        chosen = column.values[:1]
        return Goal(f"{name} among {', '.join(chosen)}", lambda row, truth: row[name] in chosen, (name,), ())
    return Goal(f"{name} exactly", lambda row, truth: row[name] == truth[name], (name,), (name,))


@st.composite
def goals(draw: Draw, columns: tuple[Column, ...]) -> Goal:
    first = _atom(draw, draw(st.sampled_from(columns)))
    if draw(st.integers(0, 4)) == 0:
        inner = first
        first = Goal(
            f"not {inner.text}", lambda r, t: not inner.met(r, t), inner.columns, inner.moving, (), inner.radii
        )
    rest = [c for c in columns if c.name not in first.columns]
    shape = draw(st.sampled_from(["alone", "and", "or", "or"]))
    if not rest or shape == "alone":
        return first
    other = _atom(draw, draw(st.sampled_from(rest)))
    names, moving = first.columns + other.columns, first.moving + other.moving
    radii = first.radii + other.radii
    if shape == "and":
        return Goal(
            f"{first.text} and {other.text}", lambda r, t: first.met(r, t) and other.met(r, t), names, moving, (), radii
        )
    met = lambda r, t: first.met(r, t) or other.met(r, t)  # noqa: E731
    return Goal(f"{first.text} or {other.text}", met, names, moving, (first, other), radii)


def _knowledge(draw: Draw, candidates: list[Column]) -> dict[str, list[Any]] | None:
    if draw(st.integers(0, 2)):
        return None
    column = draw(st.sampled_from(candidates))
    if column.bounds is None:
        kept = draw(st.integers(2, len(column.values)))
        return {column.name: list(column.values[-kept:])}
    low, high = sorted(draw(st.lists(st.sampled_from(range(len(column.values))), min_size=2, max_size=2, unique=True)))
    return {column.name: [column.values[low] - 0.5, column.values[high] + 0.5]}


@st.composite
def attackers(draw: Draw, road: Road) -> Attacker:
    believed = tuple(c for c in road.columns if c.believed and not (c == road.key and road.key_is_public))
    tied = {c.name for c in road.joint.columns} if road.joint else set()
    told = tuple(c for c in believed if c.name in road.read | tied)
    goal = draw(goals(told if told and draw(st.integers(0, 5)) else believed))
    reach = set(goal.columns) | (tied if tied & set(goal.columns) else set())
    advantage = draw(st.sampled_from([None, 0.02, 0.05, 0.1, 0.1, 0.25]))
    posterior = draw(st.sampled_from([None, None, 0.95])) if advantage else draw(st.sampled_from([0.9, 0.98]))
    found = Attacker(
        goal,
        advantage,
        posterior,
        draw(st.booleans()) and advantage is not None,
        draw(st.sampled_from(["any", "each"])) if goal.alternatives else "any",
        None,
        _knowledge(draw, [c for c in believed if c.name in reach]),
    )
    if not goal.moving or draw(st.booleans()):
        return found
    allowed = [row for row, _ in Road.states(_with(road, found))]
    if not allowed:
        return found
    truth = draw(st.sampled_from(allowed))
    return Attacker(**{**vars(found), "at": {n: truth[n] for n in goal.moving}})


def _with(road: Road, attacker: Attacker) -> Road:
    return Road(**{**vars(road), "attacker": attacker})


# Plans.


@st.composite
def roads(draw: Draw, *, attacked: bool = True) -> Road:
    """Under "values" or "records", with or without groups, targets, a public count, dependent columns."""
    protects = draw(st.sampled_from(["values", "values", "values", "records"]))
    averaged = protects == "values" and draw(st.integers(0, 2)) == 0
    numbers, labels = _columns(draw, averaged, attacked)
    tied = _tied(draw, numbers, labels)
    key, public = _key(draw, protects, labels)
    columns = (*numbers, *labels, *((key,) if key is not None and public else ()))
    hidden = draw(st.sampled_from([None, *tied]))  # the query may read only what goes together with the goal
    seen = [tuple(c for c in kind if c != hidden) for kind in (numbers, labels)]
    found = draw(items(*seen, ("avg", "sum") if averaged else ("count", "sum", "sum", "min", "max", "avg")))
    where = draw(tests(*seen)) if any(seen) and draw(st.integers(0, 2)) == 0 else ALWAYS
    rows = st.fixed_dictionaries({c.name: st.sampled_from(_usual(c)) for c in columns})
    others = draw(st.lists(rows, min_size=1, max_size=3))
    counted = averaged and key is None
    exact = [i for i in found if i.kind != "avg" or (counted and i.test is where is ALWAYS)]
    road = Road(
        columns,
        tuple(found),
        where,
        tuple(others),
        draw(joint(tied)) if tied else None,
        key,
        public,
        protects,
        len(others) + 1 if counted else None,
        mechanism=draw(st.sampled_from([None, None, "laplace", "cauchy"])),
        targets=_targets(draw, exact),
    )
    return _with(road, draw(attackers(road))) if attacked else road


def _columns(draw: Draw, averaged: bool, attacked: bool) -> tuple[tuple[Column, ...], tuple[Column, ...]]:
    numbers = tuple(draw(number(n)) for n in ("x", "y")[: draw(st.sampled_from([1, 1, 2]))])
    labels = tuple(draw(label(n)) for n in ("g", "h")[: draw(st.sampled_from([1, 1, 2]))])
    if averaged:  # which values are missing is taken as known behind an average
        numbers, labels = (tuple(_with_(c, missing=False) for c in kind) for kind in (numbers, labels))
    if attacked and not any(c.believed for c in (*numbers, *labels)):
        labels = (_with_(labels[0], believed=True), *labels[1:])
    return numbers, labels


def _tied(draw: Draw, numbers: tuple[Column, ...], labels: tuple[Column, ...]) -> tuple[Column, ...]:
    """Two columns that depend on each other, or none."""
    pair = draw(st.sampled_from([(), (numbers[0], labels[0]), labels, numbers]))
    fits = len(pair) == 2 and all(c.believed and (c.bounds is None or c.bounds[0] == 0) for c in pair)
    return pair if fits else ()


@st.composite
def quiet_roads(draw: Draw) -> Road:
    """Without an attacker: a fixed ε, and noise of any kind."""
    road = draw(roads(attacked=False))
    mechanism = draw(st.sampled_from([None, "laplace", "cauchy", "gaussian", "gaussian"]))
    delta = draw(st.sampled_from([1e-9, 1e-6, 1e-4])) if mechanism == "gaussian" else None
    epsilon = None if road.targets else draw(st.sampled_from([0.3, 1.0, 2.5]))
    return Road(**{**vars(road), "mechanism": mechanism, "delta": delta, "epsilon": epsilon})


@st.composite
def several_roads(draw: Draw) -> list[Road]:
    """Two or three questions about one table, asked one after another, with one attacker in mind."""
    first = draw(roads().filter(lambda r: r.rows is None and r.key is None))
    numbers = tuple(c for c in first.columns if c.is_number)
    labels = tuple(c for c in first.columns if not c.is_number)
    attacker = Attacker(**{**vars(first.attacker), "advantage": 0.95, "posterior": None})
    asked: list[Road] = []
    for place in range(draw(st.integers(2, 3))):
        own = draw(items(numbers, labels, ("count", "sum", "max")))[:2]
        own = [Item(f"r{place}{item.name}", item.kind, item.term, item.test) for item in own]
        epsilon = draw(st.sampled_from([0.2, 0.5, 1.0]))
        changes = {"items": tuple(own), "where": ALWAYS, "attacker": attacker, "epsilon": epsilon, "targets": None}
        asked.append(Road(**{**vars(first), **changes, "mechanism": None}))
    return asked


@st.composite
def profiled_roads(draw: Draw) -> tuple[Road, list[tuple[float, float, float]]]:
    """Records, with a profile and the ratios that it allows: (p, q, most)."""
    road = draw(roads(attacked=False).filter(lambda r: r.protects == "records"))
    relative = draw(st.sampled_from([1.5, 3.0, 8.0]))
    absolute, share = draw(st.sampled_from([0.05, 0.25, 0.6])), draw(st.sampled_from([0.05, 0.3, 1.0]))
    grid = [k / 20 for k in range(1, 21)]
    kind = draw(st.sampled_from(["constant", "box", "fixed_inclusion", "fixed_value"]))
    if kind == "constant":
        text, allowed = f"constant = {relative}", [(p, q, relative) for p in grid for q in grid]
    elif kind == "box":
        text = f"box = {{ relative = {relative}, p = [0.1, 0.6], q = [0.2, 0.9] }}"
        allowed = [(p, q, relative) for p in grid for q in grid if 0.1 <= p <= 0.6 and 0.2 <= q <= 0.9]
    elif kind == "fixed_inclusion":
        text = f"fixed_inclusion = {{ p = {share}, absolute = {absolute}, relative = {relative} }}"
        allowed = [(share, q, max(relative, absolute / (share * q))) for q in grid]
    else:
        text = f"fixed_value = {{ q = {share}, absolute = {absolute}, relative = {relative} }}"
        allowed = [(p, share, max(relative, absolute / (p * share))) for p in grid]
    road = Road(**{**vars(road), "targets": None, "risk": text})
    return road, allowed


def _with_(column: Column, **changes: Any) -> Column:
    return Column(**{**vars(column), **changes})


def _usual(column: Column) -> list[Any]:
    return [*column.values, *([None] if column.missing else [])]


def _key(draw: Draw, protects: str, labels: tuple[Column, ...]) -> tuple[Column | None, bool]:
    if draw(st.integers(0, 3)):
        return None, False
    if protects == "records":
        return labels[0], False
    return Column("d", ("north", "south"), (1, 1)), True


def _targets(draw: Draw, found: list[Item]) -> dict[str, tuple[float, float]] | None:
    """Wide ones, so that most can be met; one number may have two names and two targets."""
    if draw(st.booleans()):
        return None
    wide = {"count": 60.0, "avg": 3000.0, "sum": 9000.0, "min": 9000.0, "max": 9000.0}
    return {
        i.name: (
            wide[i.kind] * draw(st.sampled_from([0.05, 0.3, 1.0, 4.0])),
            draw(st.sampled_from([0.5, 0.9, 0.95, 0.99])),
        )
        for i in found
        if draw(st.booleans())
    }
