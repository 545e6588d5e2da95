"""What must fit together in a plan: no blanks left, one kind a column, tables that do not contradict each other."""

from __future__ import annotations

import datetime
import re
from collections.abc import Iterable, Iterator, Mapping
from fractions import Fraction
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from guessproof.errors import InputError, PlanError
from guessproof.guarantee.unit import UNITS
from guessproof.mechanisms import MECHANISMS
from guessproof.names import folded
from guessproof.plan.places import Key, Place, hide_secrets, is_secret
from guessproof.plan.table import given_keys
from guessproof.plan.tables import (
    AccuracyTable,
    AttackerTable,
    ColumnTable,
    DataTable,
    PlanFile,
    ReleaseTable,
    RiskTable,
    TargetTable,
)
from guessproof.world import HOLDS, LARGEST, Attribute, Finite, Kind, label_of, show_time

if TYPE_CHECKING:
    from guessproof.risk import RiskProfile

MOST_EDGES = 1001

_ENV = re.compile(r"env:[A-Za-z_][A-Za-z0-9_]*\Z")
_ODDS = re.compile(r"\s*([0-9]+(?:\.[0-9]+)?)\s+in\s+([0-9]+(?:\.[0-9]+)?)\s*\Z")
_BETTING = re.compile(r"\s*([0-9.]+)\s*(?::|to|/|-)\s*([0-9.]+)\s*\Z")


def check_tables(file: PlanFile, place: Place) -> None:
    """Everything that needs neither priors nor goals."""
    _check_names(file, place)
    _check_source(file.data, place)
    _check_address(("release", "ledger"), file.release.ledger, place)
    _check_protects(file, place)
    for name, column in file.columns.items():
        _check_column(name, column, file.data.protects, place)
    _check_protected(file, place)
    check_accuracy(("accuracy",), file.accuracy, place)
    _check_release(file.release, file.data.protects, place)


def _check_names(file: PlanFile, place: Place) -> None:
    data = file.data
    texts: list[tuple[Key, str | None]] = [
        (("data", "name"), data.name),
        (("data", "source"), data.source),
        (("data", "table"), data.table),
        (("data", "person"), data.person),
        (("release", "ledger"), file.release.ledger),
        *((("columns", name), name) for name in file.columns),
        *((("columns", name, "prior", "from"), c.prior.from_) for name, c in file.columns.items() if c.prior),
        *((("prior", key, "from"), joint.from_) for key, joint in file.prior.items()),
    ]
    for path, text in texts:
        if text is not None and (not text.strip() or text != text.strip()):
            problem = "is empty" if not text.strip() else "begins or ends with a space"
            raise place.error(path, text, problem, "give a name")
        if text is not None and not text.isprintable():
            raise place.error(path, text, "holds a character that cannot be printed", "remove it")
    _check_distinct(file.columns, place)
    _check_questions(file, place)


def _check_questions(file: PlanFile, place: Place) -> None:
    """One question, or several with names; each says something."""
    if file.query is None and not file.queries:
        given = [key for key in PlanFile.model_fields if key in file.model_fields_set]
        raise place.error(("query",), given, "is missing", "add the table [query]: the question")
    if file.query is not None and file.queries:
        problem, remedy = "stands beside [query]", "ask either one question or several: move [query] to [queries.NAME]"
        raise place.error(("queries",), list(file.queries), problem, remedy)
    asked: dict[Key, str] = {("queries", name, "sql"): question.sql for name, question in file.queries.items()}
    if file.query is not None:
        asked[("query", "sql")] = file.query.sql
    for path, sql in asked.items():
        if not sql.strip():
            raise place.error(path, sql, "is empty", "write the question as one SELECT")
    if file.queries:
        from guessproof.plan.several import check_several

        check_several(file, place)


def _check_distinct(names: Iterable[str], place: Place) -> None:
    seen: dict[str, str] = {}
    for name in names:
        other = seen.setdefault(folded(name), name)
        if other != name:
            problem = f"differs from {other} in case only, and SQL does not tell them apart"
            raise place.error(("columns", name), name, problem, "rename one of the columns")


def _check_address(path: Key, source: str, place: Place) -> None:
    remedy = f'put it into an environment variable and write {path[-1]} = "env:NAME"'
    if is_secret(source):
        raise place.error(path, source, "a connection string must not stand in a plan", remedy)
    if source.startswith("env:") and not _ENV.match(source):
        example = {"source": "DATABASE_URL"}.get(str(path[-1]), "LEDGER_URL")
        raise place.error(path, source, "does not name an environment variable", f"write for instance env:{example}")


def _check_source(data: DataTable, place: Place) -> None:
    """What is read must be said, and be what the engine reads."""
    if data.engine == "spark":
        _check_spark(data, place)
        return
    if data.remote is not None:
        raise place.error(("data", "remote"), data.remote, "has a meaning only with Spark", 'add engine = "spark"')
    if data.source is None:
        remedy = 'add source = "…", the file that holds the table, or env:NAME'
        raise place.error(("data", "source"), None, "is missing", remedy)
    _check_address(("data", "source"), data.source, place)
    _check_engine(data.source, data.engine, place)


def _check_spark(data: DataTable, place: Place) -> None:
    """Spark reads files, by addresses of a cluster too, or its catalogue; where it runs is kept in the environment."""
    source, remote = data.source, data.remote
    if source is not None and (source.startswith("env:") or hide_secrets(source) != source):
        problem = "names a database" if source.startswith("env:") else "a password must not stand in a plan"
        remedy = "name files or a folder, or leave it out for a table of the catalogue"
        raise place.error(("data", "source"), source, problem, remedy)
    if remote is not None and not _ENV.match(remote):
        problem = "where Spark runs must not stand in a plan: an address may hold a token"
        remedy = 'put it into an environment variable and write remote = "env:SPARK_REMOTE"'
        raise place.error(("data", "remote"), hide_secrets(remote), problem, remedy)


def _check_engine(source: str, engine: str | None, place: Place) -> None:
    """An engine that is named must be one that reads such a source."""
    own = "postgres" if source.startswith("env:") else "duckdb"
    if engine not in (None, own):
        remedy = f'write engine = "{own}", or leave it out'
        problem = "reads a database named by env:NAME, not a file" if own == "duckdb" else "reads files, not a database"
        raise place.error(("data", "engine"), engine, problem, remedy)


def _check_protects(file: PlanFile, place: Place) -> None:
    data = file.data
    if data.rows is not None and _hides_presence(data.protects):
        problem = f"the number of rows is secret where {data.protects} are protected"
        raise place.error(("data", "rows"), data.rows, problem, 'leave it out, or use protects = "values"')
    own = UNITS[data.protects]
    for unit in UNITS.values():
        for key in (*unit.needs, *unit.takes, *unit.told):
            value = getattr(data, key)
            if value is not None and key not in (*own.needs, *own.takes, *own.told):
                remedy = f'leave it out, or use protects = "{unit.name}"'
                raise place.error(("data", key), value, f"has a meaning only where {unit.name} are protected", remedy)
            if value is None and key in own.needs:
                remedy = f"write for instance {' and '.join(f'{k} = {example}' for k, example in own.needs.items())}"
                raise place.error(("data", "protects"), data.protects, f"needs {key} beside it", remedy)
    if own.needs and data.linked_records > 1:
        problem = f"records that tell of each other are not joined to {own.name} yet"
        raise place.error(("data", "linked_records"), data.linked_records, problem, "leave it out")
    _check_rows_each(data.rows_each or (), place)
    if own.needs and data.copies is not None:
        problem = f"all rows of one of the {own.name} are bounded together, those that repeat each other included"
        raise place.error(("data", "copies"), data.copies, problem, "leave it out")


def _check_rows_each(each: tuple[tuple[int, float], ...], place: Place) -> None:
    """How many rows persons have: numbers that rise, and shares that make a whole."""
    rows, path = [number for number, _ in each], ("data", "rows_each")
    if any(number < 1 for number in rows) or any(a >= b for a, b in pairwise(rows)):
        raise place.error(path, rows, "these numbers of rows do not rise from 1", "list each once, as [[1, 0.7], …]")
    whole = sum(share for _, share in each)
    if each and abs(whole - 1) > 1e-6:
        raise place.error(path, whole, "the shares of persons do not add up to 1", "give all of them")


def _hides_presence(protects: str) -> bool:
    return UNITS[protects].hides_presence


def _check_column(name: str, column: ColumnTable, protects: str, place: Place) -> None:
    path: Key = ("columns", name)
    check_column(path, column, place)
    if column.public and _hides_presence(protects):
        problem = f"no column is public where {protects} are protected"
        raise place.error((*path, "public"), True, problem, "leave it out")
    if column.public and column.prior is not None:
        raise place.error((*path, "prior"), "public", "what is public needs no prior", "leave out public or prior")


def check_column(path: Key, column: ColumnTable, place: Place) -> None:
    """Bounds in order, levels that fit them."""
    if column.bounds is not None:
        low, high = column.bounds
        if max(abs(low), abs(high)) > LARGEST:
            raise place.error((*path, "bounds"), [low, high], "is too large to compute with", "change the unit")
        if not low < high:
            problem = "the lower bound must be below the upper one"
            what = "date" if column.kind == "time" else "number"
            first = "earlier" if column.kind == "time" else "smaller"
            remedy = f"give two different {what}s" if low == high else f"write the {first} {what} first"
            shown = [show_time(low), show_time(high)] if column.kind == "time" else [low, high]
            raise place.error((*path, "bounds"), shown, problem, remedy)
    if column.step is not None:
        _check_step(path, column, column.step, place)
    if column.edges is not None:
        _check_edges(path, column, column.edges, place)
    if column.levels is not None:
        _check_levels(path, column, place)


def _check_step(path: Key, column: ColumnTable, step: float, place: Place) -> None:
    if column.bounds is None:
        raise place.error((*path, "step"), step, "there are no bounds to step between", "declare bounds as well")
    low, high, width = (Fraction(repr(float(x))) for x in (*column.bounds, step))
    if high == low or (high - low) % width:
        problem = f"the bounds {column.bounds[0]:g} … {column.bounds[1]:g} are no whole number of steps apart"
        raise place.error((*path, "step"), step, problem, "choose bounds or step so that they are")


def _check_edges(path: Key, column: ColumnTable, edges: tuple[float, ...], place: Place) -> None:
    if column.levels is not None or column.kind in ("label", "truth"):
        raise place.error((*path, "edges"), list(edges), "only numbers and times have edges", "leave out one of them")
    if not 2 <= len(edges) <= MOST_EDGES:
        problem = f"two edges make a bin, and at most {MOST_EDGES} are taken"
        raise place.error((*path, "edges"), list(edges[:3]), problem, "write for instance [0, 10, 20]")
    for i, (edge, after) in enumerate(pairwise(edges)):
        if max(abs(edge), abs(after)) > LARGEST:
            raise place.error((*path, "edges"), [edge, after], "is too large to compute with", "change the unit")
        if not edge < after:
            raise place.error((*path, "edges", i + 1), after, f"does not lie above {edge:g}", "write them in order")


def _check_levels(path: Key, column: ColumnTable, place: Place) -> None:
    levels: tuple[Any, ...] = column.levels or ()
    spelled = set[str]()
    for i, level in enumerate(levels):
        text = label_of(level)
        if text in spelled:
            raise place.error((*path, "levels", i), level, "is named twice", "name each level once")
        spelled.add(text)
        if column.bounds is not None and (isinstance(level, (str, bool)) or not _inside(level, column.bounds)):
            low, high = column.bounds
            problem = f"lies outside the bounds {low:g} … {high:g}"
            raise place.error((*path, "levels", i), level, problem, "widen the bounds, or leave one of them out")


def _inside(value: float, bounds: tuple[float, float]) -> bool:
    return bounds[0] <= value <= bounds[1]


def _check_protected(file: PlanFile, place: Place) -> None:
    if not _hides_presence(file.data.protects) and all(column.public for column in file.columns.values()):
        problem = "no column is declared, so that nothing would be protected"
        remedy = "declare each column to protect as [columns.NAME]"
        raise place.error(("data", "protects"), file.data.protects, problem, remedy)


def check_accuracy(path: Key, accuracy: AccuracyTable, place: Place) -> None:
    """Targets that do not contradict themselves."""
    _check_target(path, accuracy, place, alone=not _has_error(accuracy) and not accuracy.outputs)
    for name, target in accuracy.outputs.items():
        _check_target((*path, name), target, place, alone=not (_has_error(accuracy) or _has_error(target)))


def _has_error(target: TargetTable) -> bool:
    return target.error is not None or target.ranks is not None


def _check_target(path: Key, target: TargetTable, place: Place, *, alone: bool) -> None:
    if target.relative is not None and target.magnitude is None:
        problem = "a relative error needs a size that it is relative to, and the true answer is secret"
        raise place.error((*path, "relative"), target.relative, problem, "add magnitude, the public size of the answer")
    if target.magnitude is not None and target.relative is None:
        raise place.error((*path, "magnitude"), target.magnitude, "serves relative only", "add relative, as 0.05")
    if target.within is not None and target.relative is not None:
        raise place.error((*path, "relative"), target.relative, "says again what within says", "leave one of them out")
    if alone and target.confidence is not None:
        raise place.error(
            (*path, "confidence"), target.confidence, "no error is given that it belongs to", "add within"
        )


def _check_release(release: ReleaseTable, protects: str, place: Place) -> None:
    if release.mechanism is None:
        return
    has_delta = MECHANISMS[release.mechanism].has_delta
    if has_delta and release.delta is None:
        raise place.error(("release", "mechanism"), release.mechanism, "needs delta", "add for instance delta = 1e-6")
    if not has_delta and release.delta is not None and not _hides_presence(protects):
        raise refuse_delta(release, place)


def refuse_delta(release: ReleaseTable, place: Place) -> PlanError:
    """A δ that serves nothing: other noise never fails, and every group has its public list."""
    problem = f"{release.mechanism or 'this'} noise never fails and takes no delta"
    other = next(name for name, kind in MECHANISMS.items() if kind.has_delta)
    return place.error(("release", "delta"), release.delta, problem, f'leave it out, or use mechanism = "{other}"')


def check_failure(file: PlanFile, place: Place) -> None:
    """A probability of failing is about noise that has no bound for every answer."""
    attacker, mechanism = file.attacker, file.release.mechanism
    if attacker is None or attacker.failure is None:
        return
    if mechanism is None or not MECHANISMS[mechanism].has_delta:
        other = next(name for name, kind in MECHANISMS.items() if kind.has_delta)
        problem = "this noise keeps the limits for every answer"
        raise place.error(
            ("attacker", "failure"), attacker.failure, problem, f'leave it out, or use mechanism = "{other}"'
        )


def read_posterior_limit(attacker: AttackerTable, place: Place) -> float | None:
    """The stricter of posterior and odds, "1 in 3" being the probability 1/3."""
    if attacker.odds is None:
        return attacker.posterior
    path: Key = ("attacker", "odds")
    found = _ODDS.match(attacker.odds)
    if found is None:
        betting = _BETTING.match(attacker.odds)
        if betting is None:
            raise place.error(path, attacker.odds, "is not understood", 'write for instance "1 in 3"')
        a, b = betting.groups()
        problem = "can be read in two ways"
        raise place.error(path, attacker.odds, problem, f'write "{a} in {b}" for the probability {a}/{b}')
    part, whole = float(found[1]), float(found[2])
    if not 0 < part <= whole or not part / whole > 0:
        raise place.error(path, attacker.odds, "is not a probability above 0 and at most 1", 'write "1 in 3"')
    odds = part / whole
    return odds if attacker.posterior is None else min(odds, attacker.posterior)


def check_limits(file: PlanFile, place: Place) -> None:
    """An attacker without a limit is one that nothing protects from."""
    attacker = file.attacker
    if attacker is None or given_keys(attacker, ("advantage", "posterior", "odds")):
        return
    if file.risk is None and file.release.epsilon is None:
        problem = "no limit says how much he may learn"
        raise place.error(("attacker",), attacker.goal, problem, "add advantage = 0.05, posterior or odds")


def read_profile(risk: RiskTable | None, protects: str, place: Place) -> RiskProfile | None:
    """The profile that keeps everything that [risk] holds."""
    if risk is None:
        return None
    kinds = given_keys(risk, tuple(RiskTable.model_fields))
    if not kinds:
        raise place.error(("risk",), {}, "says nothing", f"give one of {', '.join(RiskTable.model_fields)}")
    whole: RiskProfile | None = None
    for kind in kinds:
        try:
            profile = _profile(kind, getattr(risk, kind))
        except InputError as error:
            raise place.about(("risk", kind), error) from None
        if not _hides_presence(protects) and profile.shape.p[0] < 1:
            raise _present(kind, place)
        whole = profile if whole is None else whole & profile
    return whole


def _profile(kind: str, value: Any) -> RiskProfile:
    from guessproof.risk import RiskProfile  # few plans have a profile

    if kind == "constant":
        return RiskProfile.constant(value)
    if kind == "box":
        return RiskProfile.box(value.relative, p=value.p, q=value.q)
    if kind == "fixed_inclusion":
        return RiskProfile.fixed_inclusion(value.p, value.absolute, value.relative)
    if kind == "fixed_value":
        return RiskProfile.fixed_value(value.q, value.absolute, value.relative)
    return RiskProfile.points(value.pairs, p=value.p, q=value.q)


def _present(kind: str, place: Place) -> PlanError:
    problem = 'protects = "values" takes membership as known, and this profile is about attackers who doubt it'
    return place.error(("risk", kind), kind, problem, 'use protects = "records", or a profile with p = 1')


def find_timely(raw: Mapping[str, Any]) -> set[str]:
    """The columns that hold times, by their kind or by a date among their values, before the tables are read."""
    columns = raw.get("columns")
    return {name for name, column in columns.items() if _is_timely(column)} if isinstance(columns, Mapping) else set()


def find_timely_joined(raw: Mapping[str, Any]) -> dict[str, set[str]]:
    """The same for the columns of tables that may be joined, by table."""
    beside = raw.get("tables")
    tables = beside.items() if isinstance(beside, Mapping) else ()
    found = {name: find_timely(table) for name, table in tables if isinstance(table, Mapping)}
    return {name: columns for name, columns in found.items() if columns}


def find_mixed(columns: Mapping[str, Any], timely: set[str]) -> Iterator[tuple[Key, Any]]:
    """Where numbers stand beside dates: bounds or edges of a column that holds times."""
    for name in timely:
        for key in ("bounds", "edges"):
            ends = columns[name].get(key)
            is_dated = columns[name].get("kind") != "time" or _has_date(ends)  # of kind "time" all may be days
            if isinstance(ends, list) and is_dated and any(isinstance(e, (int, float)) for e in ends):
                yield (name, key), ends


def _is_timely(column: Any) -> bool:
    if not isinstance(column, Mapping):
        return False
    told = column.get("kind") == "time" or _has_date(column.get("bounds")) or _has_date(column.get("edges"))
    return told or (column.get("kind") is None and _has_date(column.get("prior")))


def _has_date(value: Any) -> bool:
    if isinstance(value, Mapping):
        return any(map(_has_date, value.values()))
    if isinstance(value, (list, tuple)):
        return any(map(_has_date, value))
    return isinstance(value, datetime.date)


def kind_of(column: ColumnTable, attribute: Attribute | None) -> Kind | None:
    """The kind that is declared, or that bounds, levels and prior tell; None for texts, which may be truth values."""
    if column.kind is not None:
        return column.kind
    if column.true is not None or column.false is not None:
        return "truth"
    return _kind_from_values(column, attribute)


def _kind_from_values(column: ColumnTable, attribute: Attribute | None) -> Kind | None:
    if column.bounds is not None or column.edges is not None:
        return "number"
    if attribute is not None and not attribute.is_category and not isinstance(attribute.prior, Finite):
        return "number"
    values = _values(column, attribute)
    if values and all(isinstance(v, bool) for v in values):
        return "truth"
    return "number" if values and all(map(_is_number, values)) else None


def _values(column: ColumnTable, attribute: Attribute | None) -> list[Any]:
    if column.levels is not None:
        return list(column.levels)
    return list(attribute.prior.values) if attribute is not None and isinstance(attribute.prior, Finite) else []


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def check_kind(path: Key, column: ColumnTable, attribute: Attribute | None, place: Place) -> None:
    """One kind a column: what contradicts it is refused."""
    kind, told = kind_of(column, attribute), _kind_from_values(column, attribute)
    values = _values(column, attribute)
    if (column.true is None) != (column.false is None):
        key, other = ("true", "false") if column.false is None else ("false", "true")
        raise place.error((*path, key), getattr(column, key), f"needs {other} beside it", f"list the labels of {other}")
    if column.true is not None and kind != "truth":
        problem = f"the column holds {HOLDS[kind or 'label']}"
        raise place.error(
            (*path, "true"), list(column.true), problem, 'leave out true and false, or say kind = "truth"'
        )
    if column.kind == "time" and (column.levels is not None or not all(map(_is_number, values))):
        remedy = "write dates, as bounds = [1920-01-01, 2025-12-31], and no levels"
        problem = "levels and prior hold labels, and the column is one of times"
        raise place.error((*path, "kind"), "time", problem, remedy)
    if column.kind == "number" and told != "number" and (values or told is not None):
        raise place.error((*path, "kind"), "number", "levels or prior hold labels", "list numbers, without quotes")
    if column.kind in ("label", "truth") and told == "number":
        remedy = 'write labels in quotes, as "1", or say kind = "number"'
        raise place.error((*path, "kind"), column.kind, "bounds, levels or prior hold numbers", remedy)
    _check_truth(path, column, values, place)


def _check_truth(path: Key, column: ColumnTable, values: list[Any], place: Place) -> None:
    """Which labels are true and which false: each once, each one that can occur."""
    known, seen = [label_of(v) for v in values], set[str]()
    for key, labels in (("true", column.true), ("false", column.false)):
        if labels == ():
            raise place.error((*path, key), [], "names no label", "list at least one")
        for i, label in enumerate(labels or ()):
            if label_of(label) in seen:
                raise place.error((*path, key, i), label, "is named twice", "name each label once")
            seen.add(label_of(label))
            if known and label_of(label) not in known:
                raise place.error((*path, key, i), label, "is not among the levels or the prior", "add it there")


BLANK = "?"
UNNAMED = ("?", "? 2")  # in place of the names of columns that are not known yet


def list_blanks(value: Any, path: Key = ()) -> Iterator[Key]:
    """Where something is left to be filled in."""
    if isinstance(value, Mapping):
        for key, item in value.items():
            if path == ("columns",) and key in UNNAMED:
                yield (*path, key)
            yield from list_blanks(item, (*path, key))
    elif isinstance(value, (list, tuple)):
        asked = path[:1] == ("columns",) and path[-1] in ("bounds", "levels")
        if (asked and not value) or any(item == BLANK for item in value):
            yield path  # a list with blanks in it is one blank
        else:
            for i, item in enumerate(value):
                yield from list_blanks(item, (*path, i))
    elif isinstance(value, str) and value.strip() == BLANK:
        yield path
